/* New files: who may write them, what is taken over, resumed or refused, and writes of which one allocation or system call after
 * the other fails. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/owner.h"
#include "cubed/cubed.h"
#include "fault_steps.h"
#include "remove_dir.h"
#include "test_path.h"
#include "text_file.h"

enum { N = 6 };

/* --- Calls that fail ----------------------------------------------------------------------------------- */

typedef enum call { CALL_NONE, CALL_WRITE, CALL_RENAME, CALL_LINK, CALL_SYNC, CALL_UNLINK } call;

/* Call number `nth` of the kind `which` fails. */
static struct {
    call which;
    int nth, calls;
} fault;

static bool fails(call which)
{
    if (fault.which != which || ++fault.calls != fault.nth) return false;
    errno = EIO;
    return true;
}

static void arm(call which, int nth)
{
    fault.which = which;
    fault.nth = nth;
    fault.calls = 0;
}

/* These functions replace those of the C library. */
ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
    return fails(CALL_WRITE) ? -1 : (ssize_t)syscall(SYS_pwrite64, fd, buf, n, offset);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    return fails(CALL_RENAME) ? -1 : (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    return fails(CALL_LINK) ? -1 : (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

int fsync(int fd) { return fails(CALL_SYNC) ? -1 : (int)syscall(SYS_fsync, fd); }

int unlinkat(int dir, const char *path, int flags)
{
    return fails(CALL_UNLINK) ? -1 : (int)syscall(SYS_unlinkat, dir, path, flags);
}

/* Records of this process count as those of a process that has ended. */
static bool processes_ended;

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker makes these names */
cb_owner_state __real_cb_owner_alive(const cb_owner *o);
cb_owner_state __wrap_cb_owner_alive(const cb_owner *o);

cb_owner_state __wrap_cb_owner_alive(const cb_owner *o)
{
    return processes_ended ? CB_OWNER_GONE : __real_cb_owner_alive(o);
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* --- A file with one array -------------------------------------------------------------------------------- */

typedef struct fixture {
    char dir[64], path[96], folder[112];
    cubed_context *ctx;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    test_path(f->dir, sizeof f->dir, "cubed-test-file-XXXXXX");
    if (!mkdtemp(f->dir)) return -1;
    snprintf(f->path, sizeof f->path, "%s/a.zip", f->dir);
    snprintf(f->folder, sizeof f->folder, "%s.cubed-new", f->path);
    if (cubed_context_new(NULL, &f->ctx, NULL) != CUBED_OK) return -1;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cubed_context_unref(f->ctx);
    const int rc = remove_dir(f->dir);
    free(f);
    return rc;
}

static cubed_status begin(const fixture *f, cubed_context *ctx, bool replace, const char *contents,
                          cubed_new_file **out, cubed_error *err)
{
    cubed_new_file_options o = CUBED_NEW_FILE_OPTIONS_INIT;
    o.replace = replace;
    o.resume = contents != NULL;
    o.contents = contents;
    *out = NULL;
    return cubed_new_file_begin(ctx, f->path, &o, NULL, out, err);
}

/* Stores first, first + 1, ... next to the file. */
static cubed_status store(const fixture *f, cubed_context *ctx, double first, cubed_error *err)
{
    char url[160];
    cubed_array *x = NULL;
    cubed_plan *plan = NULL;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    snprintf(url, sizeof url, "%s" CUBED_NEW_FILE_STORE "::x", f->path);
    cubed_status st = cubed_array_arange(ctx, first, first + N, 1, CUBED_FLOAT64, NULL, &x, err);
    const cubed_target t = {.array = x, .url = url, .overwrite = true};
    o.executor = "single-threaded";
    if (st == CUBED_OK) st = cubed_plan_new(ctx, &t, 1, NULL, &plan, err);
    if (st == CUBED_OK) st = cubed_run(plan, &o, NULL, err);
    if (plan) cubed_plan_unref(plan);
    cubed_array_unref(x);
    return st;
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static void expect_file(const fixture *f, double first)
{
    char url[128];
    double got[N] = {0};
    cubed_array *x;
    cubed_plan *plan;
    cubed_error err = CUBED_ERROR_INIT;
    snprintf(url, sizeof url, "%s::x", f->path);
    if (cubed_array_open(f->ctx, url, &x, &err) != CUBED_OK) fail_msg("%s", err.message);
    const cubed_target t = {.array = x, .data = got};
    assert_int_equal(cubed_plan_new(f->ctx, &t, 1, NULL, &plan, NULL), CUBED_OK);
    assert_int_equal(cubed_run(plan, NULL, NULL, NULL), CUBED_OK);
    for (int i = 0; i < N; i++) assert_true(got[i] == first + i);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
}

/* --- Faults -------------------------------------------------------------------------------------------------- */

/* Replaces the file, whose array begins at 0, by one that begins at 10. */
static cubed_status replace(void *state, const cubed_allocator *a, cubed_error *err)
{
    const fixture *f = state;
    cubed_context *ctx;
    cubed_new_file *file = NULL;
    cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
    o.allocator = a;
    CB_TRY(cubed_context_new(&o, &ctx, err));
    cubed_status st = begin(f, ctx, true, NULL, &file, err);
    if (st == CUBED_OK) {
        st = store(f, ctx, 10, err);
        if (st == CUBED_OK) st = cubed_new_file_publish(file, CUBED_FILE_ZIP, true, err);
        cubed_new_file_end(file);
    }
    cubed_context_unref(ctx);
    return st;
}

static void write_first(const fixture *f)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_new_file *file;
    if (begin(f, f->ctx, true, NULL, &file, &err) != CUBED_OK ||
        store(f, f->ctx, 0, &err) != CUBED_OK ||
        cubed_new_file_publish(file, CUBED_FILE_ZIP, false, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    cubed_new_file_end(file);
}

/* The file is the old or the new one. The next process can write it, and leaves nothing else. */
static void check_file(void *state, cubed_status st)
{
    const fixture *f = state;
    cubed_error err = CUBED_ERROR_INIT;
    expect_file(f, st == CUBED_OK ? 10 : 0);
    processes_ended = true;
    if (replace(state, NULL, &err) != CUBED_OK) fail_msg("%s", err.message);
    /* A temporary file that could not be removed stays. */
    if (exists(f->folder) && cubed_clean(f->ctx, f->folder, 0, NULL, NULL, NULL, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    processes_ended = false;
    (void)rmdir(f->folder);
    expect_file(f, 10);
    assert_false(exists(f->folder));
    write_first(f);
}

static void test_allocations(void **state)
{
    write_first(*state);
    assert_true(fail_each_allocation("replace", replace, check_file, *state) > 20);
}

static void test_system_calls(void **state)
{
    static const call calls[] = {CALL_WRITE, CALL_RENAME, CALL_SYNC, CALL_UNLINK};
    write_first(*state);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        for (int n = 1;; n++) {
            cubed_error err = CUBED_ERROR_INIT;
            arm(calls[c], n);
            const cubed_status st = replace(*state, NULL, &err);
            const bool failed = fault.calls >= n;
            arm(CALL_NONE, 0);
            if (st != CUBED_OK && (!failed || st != CUBED_E_IO || !*err.message))
                fail_msg("call %zu, %d: status %d, \"%s\"", c, n, st, err.message);
            /* If only the last sync fails, the file has its name. */
            if (calls[c] == CALL_SYNC && st != CUBED_OK)
                write_first(*state);
            else
                check_file(*state, st);
            if (!failed) break;
        }
    }
}

/* --- Rights ---------------------------------------------------------------------------------------------------- */

static void expect_begin(const fixture *f, cubed_status status, const char *part)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_new_file *file;
    const cubed_status st = begin(f, f->ctx, false, NULL, &file, &err);
    if (st != status || !strstr(err.message, part)) fail_msg("status %d, \"%s\"", st, err.message);
    cubed_new_file_end(file);
}

static void test_one_process_writes(void **state)
{
    const fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_new_file *first, *second;
    assert_int_equal(begin(f, f->ctx, false, NULL, &first, &err), CUBED_OK);
    expect_begin(f, CUBED_E_EXISTS, "is being written by process");
    /* Another process assumes that the first one has ended. */
    processes_ended = true;
    assert_int_equal(begin(f, f->ctx, false, NULL, &second, &err), CUBED_OK);
    processes_ended = false;
    assert_int_equal(cubed_new_file_publish(first, CUBED_FILE_NONE, false, &err), CUBED_E_EXISTS);
    assert_non_null(strstr(err.message, "was taken over while this process was writing it"));
    assert_int_equal(cubed_new_file_publish(first, CUBED_FILE_ZIP, false, &err), CUBED_E_EXISTS);
    cubed_new_file_end(first);
    assert_int_equal(store(f, f->ctx, 3, &err), CUBED_OK);
    assert_int_equal(cubed_new_file_publish(second, CUBED_FILE_ZIP, false, &err), CUBED_OK);
    cubed_new_file_end(second);
    expect_file(f, 3);
    assert_false(exists(f->folder));
}

static void test_files_of_others(void **state)
{
    const fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_new_file *file;
    assert_int_equal(mkdir(f->folder, 0777), 0);
    write_text_file(f->folder, "notes.txt", "mine");
    expect_begin(f, CUBED_E_EXISTS, "has files that do not belong to an unfinished");
    /* Results that have lost their record are removed. */
    assert_int_equal(remove_dir(f->folder), 0);
    assert_int_equal(mkdir(f->folder, 0777), 0);
    write_text_file(f->folder, "data", "old");
    write_text_file(f->folder, ".cubed-part-1", "old");
    expect_begin(f, CUBED_OK, "");
    assert_false(exists(f->folder));
    /* A file of another program gets the name in the meantime. */
    assert_int_equal(begin(f, f->ctx, false, NULL, &file, &err), CUBED_OK);
    assert_int_equal(store(f, f->ctx, 1, &err), CUBED_OK);
    write_text_file(f->dir, "a.zip", "another program's");
    assert_int_equal(cubed_new_file_publish(file, CUBED_FILE_ZIP, false, &err), CUBED_E_EXISTS);
    assert_non_null(strstr(err.message, "another program has created it"));
    cubed_new_file_end(file);
    assert_true(exists(f->folder)); /* the results stay, to be resumed */
}

/* Results stay only for the same contents. */
static void test_resuming(void **state)
{
    const fixture *f = *state;
    static const char *const contents[] = {"x", "y", NULL};
    for (size_t i = 0; i < 3; i++) {
        char meta[160];
        cubed_error err = CUBED_ERROR_INIT;
        cubed_new_file *file;
        snprintf(meta, sizeof meta, "%s/data/x/zarr.json", f->folder);
        assert_int_equal(begin(f, f->ctx, true, "x", &file, &err), CUBED_OK);
        assert_int_equal(store(f, f->ctx, 7, &err), CUBED_OK);
        cubed_new_file_end(file);
        assert_true(exists(meta));
        assert_int_equal(begin(f, f->ctx, true, contents[i], &file, &err), CUBED_OK);
        assert_int_equal(exists(meta), i == 0);
        if (i == 0)
            assert_int_equal(cubed_new_file_publish(file, CUBED_FILE_ZIP, false, &err), CUBED_OK);
        if (i == 0) expect_file(f, 7);
        cubed_new_file_end(file);
        assert_false(exists(f->folder));
    }
}

/* The caller writes a file of another kind. Its draft has the same suffix. */
static void test_drafts(void **state)
{
    fixture *f = *state;
    char text[8] = "";
    cubed_error err = CUBED_ERROR_INIT;
    cubed_new_file *file;
    snprintf(f->path, sizeof f->path, "%s/b.txt", f->dir);
    assert_int_equal(begin(f, f->ctx, false, NULL, &file, &err), CUBED_OK);
    const char *draft = cubed_new_file_draft(file);
    assert_string_equal(draft + strlen(draft) - 4, ".txt");
    write_text_file(f->dir, draft + strlen(f->dir) + 1, "text");
    assert_int_equal(cubed_new_file_publish(file, CUBED_FILE_NONE, true, &err), CUBED_OK);
    cubed_new_file_end(file);
    FILE *got = fopen(f->path, "r");
    assert_non_null(got);
    assert_int_equal(fread(text, 1, sizeof text, got), 4);
    fclose(got);
    assert_string_equal(text, "text");
    /* without a draft, and without a suffix */
    snprintf(f->path, sizeof f->path, "%s/c.d/e", f->dir);
    assert_int_equal(begin(f, f->ctx, false, NULL, &file, &err), CUBED_OK);
    assert_null(strchr(strrchr(cubed_new_file_draft(file), '-'), '.'));
    assert_int_not_equal(cubed_new_file_publish(file, CUBED_FILE_NONE, false, &err), CUBED_OK);
    cubed_new_file_end(file);
}

static void test_paths(void **state)
{
    fixture *f = *state;
    static const char *const paths[] = {"s3://bucket/a.zip", "memory://a/b.zip"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(f->path, sizeof f->path, "%s", paths[i]);
        expect_begin(f, CUBED_E_ARG, "files can be written only to local paths");
    }
    snprintf(f->path, sizeof f->path, "%s/", f->dir);
    expect_begin(f, CUBED_E_ARG, "files can be written only to local paths");
    cubed_new_file_end(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_allocations),
                                       TEST(test_system_calls),
                                       TEST(test_one_process_writes),
                                       TEST(test_files_of_others),
                                       TEST(test_resuming),
                                       TEST(test_drafts),
                                       TEST(test_paths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
