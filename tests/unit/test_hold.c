/* Holding an array that is extended. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cubed/run.h"
#include "remove_dir.h"

enum { SILENCE = 1, BEATS = 3, MOST_TRIES = 500 };

static char dir[64], record[128];
static cubed_context *ctx;

static int set_up(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/cubed-test-XXXXXX");
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

/* Each beat puts a new file. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_hold_gives_signs_of_life),
                                       cmocka_unit_test(test_a_forked_child_has_no_hold)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
