/* Tests the claim of a run on an array that the run extends. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cubed/new_file.h"
#include "cubed/run.h"
#include "remove_dir.h"
#include "test_path.h"

enum { SILENCE = 1, BEATS = 3, MOST_TRIES = 500 };

static char dir[64], record[160];
static cubed_context *ctx;

static int set_up(void **state)
{
    (void)state;
    test_path(dir, sizeof dir, "cubed-test-XXXXXX");
    if (!mkdtemp(dir)) return -1;
    snprintf(record, sizeof record, "%s/.cubed-append/.cubed-run", dir);
    return cubed_context_new(NULL, &ctx, NULL) == CUBED_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    cubed_context_unref(ctx);
    return remove_dir(dir);
}

/* Returns the inode of the record. It changes with each beat, because a beat writes a new file. */
static ino_t number(void)
{
    struct stat info;
    assert_int_equal(stat(record, &info), 0);
    return info.st_ino;
}

static void test_a_hold_gives_signs_of_life(void **state)
{
    cubed_hold *h, *other;
    (void)state;
    const cubed_takeover_options beating = {sizeof beating, SILENCE, false};
    assert_int_equal(cubed_place_hold(ctx, dir, &beating, &h, NULL), CUBED_OK);
    for (int beats = 0, tries = 0; beats < BEATS; tries++) {
        const ino_t before = number();
        usleep(10000);
        beats += number() != before;
        assert_true(tries < MOST_TRIES);
    }
    assert_int_equal(cubed_place_hold(ctx, dir, NULL, &other, NULL), CUBED_E_EXISTS);
    cubed_place_release(h);
    assert_int_equal(access(record, F_OK), -1);
    assert_int_equal(cubed_place_hold(ctx, dir, NULL, &other, NULL), CUBED_OK);
    cubed_place_release(other);
}

static void test_a_forked_child_has_no_hold(void **state)
{
    cubed_hold *h;
    int status;
    (void)state;
    assert_int_equal(cubed_place_hold(ctx, dir, NULL, &h, NULL), CUBED_OK);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        cubed_place_release(h);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(access(record, F_OK), 0);
    cubed_place_release(h);
    assert_int_equal(access(record, F_OK), -1);
}

/* The record of another process: a beat detects it, and the release keeps it. */
static void put_other_record(void)
{
    char temporary[160];
    snprintf(temporary, sizeof temporary, "%s/other", dir);
    FILE *f = fopen(temporary, "w");
    assert_non_null(f);
    assert_true(fputs("{}", f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rename(temporary, record), 0);
}

static void test_a_hold_that_another_process_took_is_released(void **state)
{
    cubed_hold *h;
    (void)state;
    const cubed_takeover_options beating = {sizeof beating, SILENCE, false};
    assert_int_equal(cubed_place_hold(ctx, dir, &beating, &h, NULL), CUBED_OK);
    put_other_record();
    usleep(BEATS * SILENCE * 100000);
    cubed_place_release(h);
    assert_int_equal(access(record, F_OK), 0);
    assert_int_equal(unlink(record), 0);
}

static void test_a_new_file_that_another_process_took_is_ended(void **state)
{
    char path[128];
    cubed_new_file *f;
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    const cubed_takeover_options beating = {sizeof beating, SILENCE, false};
    snprintf(path, sizeof path, "%s/x.zip", dir);
    snprintf(record, sizeof record, "%s.cubed-new/.cubed-run", path);
    assert_int_equal(cubed_new_file_begin(ctx, path, NULL, &beating, &f, &err), CUBED_OK);
    put_other_record();
    usleep(BEATS * SILENCE * 100000);
    assert_int_equal(cubed_new_file_publish(f, CUBED_FILE_ZIP, false, &err), CUBED_E_EXISTS);
    assert_non_null(strstr(err.message, "was taken over"));
    cubed_new_file_end(f);
    assert_int_equal(access(record, F_OK), 0);
    assert_int_equal(access(path, F_OK), -1);
}

static void test_options_of_another_size_are_refused(void **state)
{
    cubed_hold *h;
    cubed_new_file *f;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_takeover_options takeover = CUBED_TAKEOVER_OPTIONS_INIT;
    cubed_new_file_options options = CUBED_NEW_FILE_OPTIONS_INIT;
    (void)state;
    takeover.struct_size++;
    options.struct_size--;
    assert_int_equal(cubed_place_hold(ctx, dir, &takeover, &h, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "takeover: options.struct_size is "));
    assert_int_equal(cubed_new_file_begin(ctx, dir, &options, NULL, &f, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "new_file: options.struct_size is "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_hold_gives_signs_of_life),
        cmocka_unit_test(test_a_forked_child_has_no_hold),
        cmocka_unit_test(test_a_hold_that_another_process_took_is_released),
        cmocka_unit_test(test_a_new_file_that_another_process_took_is_ended),
        cmocka_unit_test(test_options_of_another_size_are_refused)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
