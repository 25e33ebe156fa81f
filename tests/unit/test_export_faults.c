/* ZIP archives and NetCDF files, of which one allocation, system call or call of libnetcdf after the other fails: an error that
 * says why and no file, or the right file. Also what NetCDF refuses. */
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
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "context/context.h"
#include "cubed/cubed.h"
#include "export/netcdf.h"
#include "export/zip_write.h"
#include "fault_steps.h"
#include "remove_dir.h"
#include "test_path.h"
#include "text_file.h"

#ifdef CB_HAVE_NETCDF
#include "base/library.h"
#include "export/netcdf_pkg.h"
#endif

/* --- Calls that fail ----------------------------------------------------------------------------------- */

typedef enum call { CALL_NONE, CALL_WRITE, CALL_HALF, CALL_AGAIN, CALL_SYNC, CALL_CLOSE } call;

/* Call number `nth` of the kind `which` fails. */
static struct {
    call which;
    int nth, calls;
} fault;

static bool fails(call which)
{
    if (fault.which != which || ++fault.calls != fault.nth) return false;
    errno = ENOSPC;
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
    if (fails(CALL_WRITE)) return -1;
    if (n > 1 && fails(CALL_HALF)) n /= 2;
    if (fails(CALL_AGAIN)) {
        errno = EINTR;
        return -1;
    }
    return (ssize_t)syscall(SYS_pwrite64, fd, buf, n, offset);
}

int fsync(int fd) { return fails(CALL_SYNC) ? -1 : (int)syscall(SYS_fsync, fd); }

int close(int fd)
{
    const int rc = (int)syscall(SYS_close, fd);
    return fails(CALL_CLOSE) ? -1 : rc;
}

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker makes these names */
static bool shortens; /* objects are shorter than when they were listed */

cubed_status __real_cb_store_get(cubed_store *s, const char *key, uint64_t offset, void *buf,
                                 size_t n, size_t *got, cubed_error *err);
cubed_status __wrap_cb_store_get(cubed_store *s, const char *key, uint64_t offset, void *buf,
                                 size_t n, size_t *got, cubed_error *err);

cubed_status __wrap_cb_store_get(cubed_store *s, const char *key, uint64_t offset, void *buf,
                                 size_t n, size_t *got, cubed_error *err)
{
    const cubed_status st = __real_cb_store_get(s, key, offset, buf, n, got, err);
    if (st == CUBED_OK && shortens) *got /= 2;
    return st;
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* --- A store with groups, and arrays of several types ---------------------------------------------------- */

typedef struct fixture {
    char root[64], data[96], file[96];
    cubed_context *ctx;
    cubed_status (*write)(cubed_store *from, const cb_codecs *codecs, const char *path,
                          bool durable, cubed_error *err);
} fixture;

static void write_object(const fixture *f, const char *key, const void *data, size_t size)
{
    cubed_store *s;
    assert_int_equal(cb_store_open_local(&cb_system_allocator, f->data, false, &s, NULL), CUBED_OK);
    assert_int_equal(cb_store_put(s, key, data, size, NULL), CUBED_OK);
    cb_store_close(s);
}

static void write_text(const fixture *f, const char *key, const char *text)
{
    write_object(f, key, text, strlen(text));
}

static void write_array(const fixture *f, const char *path, const char *dtype, const char *shape,
                        const char *chunks, const char *attrs)
{
    char key[64], text[256];
    snprintf(key, sizeof key, "%s/.zarray", path);
    snprintf(text, sizeof text,
             "{\"zarr_format\": 2, \"shape\": %s, \"chunks\": %s, \"dtype\": \"%s\", "
             "\"compressor\": null, \"filters\": null, \"fill_value\": null, \"order\": \"C\"}",
             shape, chunks, dtype);
    write_text(f, key, text);
    snprintf(key, sizeof key, "%s/.zattrs", path);
    write_text(f, key, attrs);
}

static const double values[3] = {1.5, 2.5, 3.5};

static int setup(void **state)
{
    static const int64_t days[3] = {1, 2, 3};
    fixture *f = calloc(1, sizeof *f);
    test_path(f->root, sizeof f->root, "cubed-test-export-XXXXXX");
    if (!mkdtemp(f->root)) return -1;
    snprintf(f->data, sizeof f->data, "%s/data", f->root);
    snprintf(f->file, sizeof f->file, "%s/file", f->root);
    if (cubed_context_new(NULL, &f->ctx, NULL) != CUBED_OK) return -1;
    write_text(f, ".zgroup", "{\"zarr_format\": 2}");
    write_text(f, ".zattrs",
               "{\"title\": \"all\", \"levels\": [1, 2.5], \"names\": [\"a\", \"b\"], "
               "\"nested\": {\"a\": null}, \"NAME\": \"reserved\"}");
    write_text(f, "g/.zgroup", "{\"zarr_format\": 2}");
    write_array(f, "g/time", "<M8[D]", "[3]", "[2]", "{\"_ARRAY_DIMENSIONS\": [\"time\"]}");
    write_object(f, "g/time/0", days, 16);
    write_object(f, "g/time/1", days + 1, 16);
    write_array(f, "g/x", "<f8", "[3]", "[3]",
                "{\"_ARRAY_DIMENSIONS\": [\"time\"], \"units\": \"m\", \"flags\": [1, 2]}");
    write_object(f, "g/x/0", values, sizeof values);
    write_array(f, "s", "<U2", "[2, 3]", "[2, 2]", "{}");
    write_object(f, "s/0.0", "a\0\0\0b\0\0\0c\0\0\0\0\0\0\0\254\040\0\0\0\0\0\0d\0\0\0e\0\0\0", 32);
    write_array(f, "yes", "|b1", "[2]", "[2]", "{\"_FillValue\": [7]}");
    write_object(f, "yes/0", "\1\0", 2);
    write_array(f, "age", "<m8[s]", "[]", "[]", "{}");
    write_object(f, "age/0", days, 8);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cubed_context_unref(f->ctx);
    const int rc = remove_dir(f->root);
    free(f);
    return rc;
}

static cubed_status write_zip(cubed_store *from, const cb_codecs *codecs, const char *path,
                              bool durable, cubed_error *err)
{
    (void)codecs;
    return cb_zip_write(from, path, durable, err);
}

static cubed_status write_once(void *ctx, const cubed_allocator *a, cubed_error *err)
{
    const fixture *f = ctx;
    cubed_store *s;
    CB_TRY(cb_store_open_local(a, f->data, false, &s, err));
    const cubed_status st = f->write(s, &f->ctx->codecs, f->file, true, err);
    cb_store_close(s);
    return st;
}

/* The doubles of an array in the file. */
static void check_values(const fixture *f, const char *array)
{
    char url[160];
    double got[3] = {0};
    cubed_array *x;
    cubed_plan *plan;
    cubed_error err = CUBED_ERROR_INIT;
    snprintf(url, sizeof url, "%s::%s", f->file, array);
    if (cubed_array_open(f->ctx, url, &x, &err) != CUBED_OK) fail_msg("%s", err.message);
    const cubed_target t = {.array = x, .data = got};
    assert_int_equal(cubed_plan_new(f->ctx, &t, 1, NULL, &plan, NULL), CUBED_OK);
    assert_int_equal(cubed_run(plan, NULL, NULL, NULL), CUBED_OK);
    assert_memory_equal(got, values, sizeof got);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
}

/* A file of a write that failed is removed. */
static void check_file(void *ctx, cubed_status st)
{
    const fixture *f = ctx;
    if (st != CUBED_OK) {
        assert_int_not_equal(access(f->file, F_OK), 0);
        return;
    }
    check_values(f, "g/x");
    assert_int_equal(unlink(f->file), 0);
}

static void expect_error(const fixture *f, cubed_status st, const cubed_error *err,
                         cubed_status expected, const char *part)
{
    if (st != expected || !strstr(err->message, part))
        fail_msg("status %d, \"%s\"", st, err->message);
    assert_int_not_equal(access(f->file, F_OK), 0);
}

/* --- ZIP ----------------------------------------------------------------------------------------------- */

static void test_zip_allocations(void **state)
{
    fixture *f = *state;
    f->write = write_zip;
    assert_true(fail_each_allocation("zip", write_once, check_file, f) > 3);
}

static void test_zip_system_calls(void **state)
{
    fixture *f = *state;
    f->write = write_zip;
    for (int n = 1;; n++) {
        cubed_error err = CUBED_ERROR_INIT;
        arm(CALL_WRITE, n);
        const cubed_status st = write_once(f, &cb_system_allocator, &err);
        const bool failed = fault.calls >= n;
        arm(CALL_NONE, 0);
        if (!failed) {
            assert_true(n > 60);
            check_file(f, st);
            break;
        }
        expect_error(f, st, &err, CUBED_E_IO, "cannot write");
        assert_non_null(strstr(err.message, strerror(ENOSPC)));
    }
    cubed_error err = CUBED_ERROR_INIT;
    arm(CALL_SYNC, 1);
    cubed_status st = write_once(f, &cb_system_allocator, &err);
    arm(CALL_NONE, 0);
    expect_error(f, st, &err, CUBED_E_IO, strerror(ENOSPC));
    /* The archive is closed last, before the store. */
    arm(CALL_CLOSE, 0);
    assert_int_equal(write_once(f, &cb_system_allocator, &err), CUBED_OK);
    const int closed = fault.calls;
    bool found = false;
    for (int n = 1; n <= closed; n++) {
        cubed_error why = CUBED_ERROR_INIT;
        if (access(f->file, F_OK) == 0) assert_int_equal(unlink(f->file), 0);
        arm(CALL_CLOSE, n);
        st = write_once(f, &cb_system_allocator, &why);
        arm(CALL_NONE, 0);
        if (st == CUBED_OK) continue; /* another file, which was read */
        expect_error(f, st, &why, CUBED_E_IO, "cannot write");
        found = true;
    }
    assert_true(found);
}

/* Interrupted writes, and those of a part of the bytes, are continued. */
static void test_zip_short_writes(void **state)
{
    fixture *f = *state;
    f->write = write_zip;
    static const call kinds[] = {CALL_HALF, CALL_AGAIN};
    for (size_t k = 0; k < 2; k++) {
        for (int n = 1; n < 20; n++) {
            cubed_error err = CUBED_ERROR_INIT;
            arm(kinds[k], n);
            const cubed_status st = write_once(f, &cb_system_allocator, &err);
            assert_true(fault.calls >= n);
            arm(CALL_NONE, 0);
            if (st != CUBED_OK) fail_msg("%s", err.message);
            check_file(f, st);
        }
    }
}

static void test_zip_refusals(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    f->write = write_zip;
    shortens = true;
    cubed_status st = write_once(f, &cb_system_allocator, &err);
    shortens = false;
    expect_error(f, st, &err, CUBED_E_FORMAT, "has changed while it was read");
    write_text_file(f->root, "file", "another program's");
    st = write_once(f, &cb_system_allocator, &err);
    assert_int_equal(st, CUBED_E_IO);
    assert_non_null(strstr(err.message, strerror(EEXIST)));
    assert_int_equal(access(f->file, F_OK), 0); /* is not removed */
}

/* An archive of so many objects needs the records of ZIP64. */
static void test_zip_of_many_objects(void **state)
{
    enum { OBJECTS = 65536 };
    fixture *f = *state;
    cubed_store *s;
    char key[32];
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cb_store_open_memory(&cb_system_allocator, "memory://many", &s, NULL),
                     CUBED_OK);
    for (int i = 0; i < OBJECTS; i++) {
        snprintf(key, sizeof key, "other/%d", i);
        assert_int_equal(cb_store_put(s, key, "", 0, NULL), CUBED_OK);
    }
    assert_int_equal(cb_store_put(s, "g/.cubed-run", "record", 6, NULL), CUBED_OK);
    static const char meta[] = "{\"zarr_format\": 2, \"shape\": [3], \"chunks\": [3], \"dtype\": "
                               "\"<f8\", \"order\": \"C\", "
                               "\"compressor\": null, \"filters\": null, \"fill_value\": null}";
    assert_int_equal(cb_store_put(s, "x/.zarray", meta, strlen(meta), NULL), CUBED_OK);
    assert_int_equal(cb_store_put(s, "x/0", values, sizeof values, NULL), CUBED_OK);
    if (cb_zip_write(s, f->file, false, &err) != CUBED_OK) fail_msg("%s", err.message);
    cb_store_close(s);
    check_values(f, "x");
}

/* --- NetCDF -------------------------------------------------------------------------------------------- */

#ifdef CB_HAVE_NETCDF
static cb_netcdf_library real;
static int nc_error, nc_nth, nc_calls;

static bool nc_fails(void) { return ++nc_calls == nc_nth; }

#define PASS(name, params, args)                                                                   \
    static int fake_##name params { return nc_fails() ? nc_error : real.name args; }
PASS(create, (const char *path, int mode, int *id), (path, mode, id))
PASS(enddef, (int id), (id))
PASS(def_grp, (int id, const char *name, int *out), (id, name, out))
PASS(def_dim, (int id, const char *name, size_t n, int *out), (id, name, n, out))
PASS(def_var, (int id, const char *name, nc_type t, int n, const int *dims, int *out),
     (id, name, t, n, dims, out))
PASS(def_var_chunking, (int id, int var, int kind, const size_t *chunk), (id, var, kind, chunk))
PASS(def_var_deflate, (int id, int var, int shuffle, int deflate, int level),
     (id, var, shuffle, deflate, level))
PASS(def_var_fill, (int id, int var, int no, const void *value), (id, var, no, value))
PASS(set_var_chunk_cache, (int id, int var, size_t size, size_t n, float p), (id, var, size, n, p))
PASS(put_att, (int id, int var, const char *name, nc_type t, size_t n, const void *v),
     (id, var, name, t, n, v))
PASS(put_att_text, (int id, int var, const char *name, size_t n, const char *v),
     (id, var, name, n, v))
PASS(put_vara, (int id, int var, const size_t *start, const size_t *count, const void *v),
     (id, var, start, count, v))

static int fake_close(int id)
{
    const int rc = real.close(id);
    return nc_fails() ? nc_error : rc;
}

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker makes these names */
static bool library_is_missing;

bool __real_cb_library_load(const char *file, const cb_library_function *functions, size_t n,
                            const char *const *needs, char *missing, size_t cap);
bool __wrap_cb_library_load(const char *file, const cb_library_function *functions, size_t n,
                            const char *const *needs, char *missing, size_t cap);

bool __wrap_cb_library_load(const char *file, const cb_library_function *functions, size_t n,
                            const char *const *needs, char *missing, size_t cap)
{
    if (strcmp(functions[0].name, "nc_create") != 0)
        return __real_cb_library_load(file, functions, n, needs, missing, cap);
    if (library_is_missing) {
        snprintf(missing, cap, "no such file");
        return false;
    }
    cb_netcdf_library *out = (void *)functions[0].to;
    if (!__real_cb_library_load(file, functions, n, needs, missing, cap)) return false;
    real = *out;
    *out = (cb_netcdf_library){.create = fake_create,
                               .close = fake_close,
                               .enddef = fake_enddef,
                               .strerror = real.strerror,
                               .def_grp = fake_def_grp,
                               .def_dim = fake_def_dim,
                               .def_var = fake_def_var,
                               .def_var_chunking = fake_def_var_chunking,
                               .def_var_deflate = fake_def_var_deflate,
                               .def_var_fill = fake_def_var_fill,
                               .set_var_chunk_cache = fake_set_var_chunk_cache,
                               .put_att = fake_put_att,
                               .put_att_text = fake_put_att_text,
                               .put_vara = fake_put_vara};
    return true;
}
/* NOLINTEND(bugprone-reserved-identifier) */

static void test_netcdf_allocations(void **state)
{
    fixture *f = *state;
    f->write = cb_netcdf_write;
    assert_true(fail_each_allocation("netcdf", write_once, check_file, f) > 20);
}

static void test_netcdf_calls(void **state)
{
    static const struct {
        int error;
        cubed_status status;
    } kinds[] = {{NC_EHDFERR, CUBED_E_IO},
                 {NC_ENOMEM, CUBED_E_NOMEM},
                 {NC_EBADNAME, CUBED_E_UNSUPPORTED},
                 {NC_ENAMEINUSE, CUBED_E_UNSUPPORTED},
                 {ENOSPC, CUBED_E_IO}};
    fixture *f = *state;
    f->write = cb_netcdf_write;
    for (int n = 1;; n++) {
        cubed_error err = CUBED_ERROR_INIT;
        const size_t k = (size_t)n % (sizeof kinds / sizeof *kinds);
        nc_error = kinds[k].error;
        nc_nth = n;
        nc_calls = 0;
        const cubed_status st = write_once(f, &cb_system_allocator, &err);
        const bool failed = nc_calls >= n;
        nc_nth = 0;
        if (!failed) {
            assert_true(n > 40);
            check_file(f, st);
            return;
        }
        expect_error(f, st, &err, kinds[k].status, f->file);
        assert_non_null(strstr(err.message, "cannot write"));
    }
}

static void test_netcdf_system_calls(void **state)
{
    fixture *f = *state;
    cubed_error err = CUBED_ERROR_INIT;
    f->write = cb_netcdf_write;
    arm(CALL_SYNC, 1);
    cubed_status st = write_once(f, &cb_system_allocator, &err);
    arm(CALL_NONE, 0);
    expect_error(f, st, &err, CUBED_E_IO, strerror(ENOSPC));
    library_is_missing = true;
    st = write_once(f, &cb_system_allocator, &err);
    library_is_missing = false;
    expect_error(f, st, &err, CUBED_E_UNSUPPORTED, "which cannot be loaded: no such file;");
    write_text_file(f->root, "file", "another program's");
    st = write_once(f, &cb_system_allocator, &err);
    if (st != CUBED_E_EXISTS && st != CUBED_E_IO) fail_msg("%d: %s", st, err.message);
    assert_non_null(strstr(err.message, "cannot write the begin of"));
    assert_int_equal(access(f->file, F_OK), 0); /* is not removed */
}

static void refuse_array(fixture *f, const char *part)
{
    cubed_error err = CUBED_ERROR_INIT;
    f->write = cb_netcdf_write;
    expect_error(f, write_once(f, &cb_system_allocator, &err), &err, CUBED_E_UNSUPPORTED, part);
}

static void test_netcdf_refusals(void **state)
{
    fixture *f = *state;
    write_array(f, "z", "<f8", "[4]", "[2]", "{\"_ARRAY_DIMENSIONS\": [\"t\"]}");
    write_array(f, "zz", "<f8", "[5]", "[2]", "{\"_ARRAY_DIMENSIONS\": [\"t\"]}");
    refuse_array(f, "dimension \"t\" has 4 elements in one array and 5 in another");
    write_array(f, "zz", "<c16", "[4]", "[2]", "{}");
    refuse_array(f, "\"zz\" is of type complex128, which NetCDF does not have");
    write_array(f, "zz", "<M8[2D]", "[4]", "[2]", "{}");
    refuse_array(f, "\"zz\" is of type datetime64[2D], which NetCDF does not have");
    write_array(f, "zz", "<M8[M]", "[4]", "[2]", "{}");
    refuse_array(f, "\"zz\" is of type datetime64[M], which NetCDF does not have");
    write_array(f, "zz", "<m8[ps]", "[4]", "[2]", "{}");
    refuse_array(f, "\"zz\" is of type timedelta64[ps], which NetCDF does not have");
    write_array(f, "zz", "<f8", "[2147483648, 2]", "[536870912, 2]", "{}");
    refuse_array(f, "chunks of zz have 8589934592 bytes, but HDF5 allows at most 4 GiB");
    write_array(f, "zz", "<f8", "[4]", "[2]", "[]");
    cubed_error err = CUBED_ERROR_INIT;
    expect_error(f, write_once(f, &cb_system_allocator, &err), &err, CUBED_E_FORMAT, "zz");
}

static void test_netcdf_checks(void **state)
{
    (void)state;
    static const char *const right[] = {
        "[]", "[\"bytes\", \"gzip\"]", "[{\"name\": \"numcodecs.zlib\"}, {\"name\": \"shuffle\"}]"};
    static const char *const wrong[] = {"{}",  "[\"zstd\"]", "[{\"name\": \"blosc\"}]",
                                        "[1]", "[{}]",       "[\"bytes\", \"numcodecs.lzma\"]"};
    cubed_error err = CUBED_ERROR_INIT;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_int_equal(cb_netcdf_check("x", CUBED_INT8, right[i], &err), CUBED_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char part[128];
        assert_int_equal(cb_netcdf_check("x", CUBED_INT8, wrong[i], &err), CUBED_E_UNSUPPORTED);
        snprintf(part, sizeof part, "codecs are %s, expected bytes alone", wrong[i]);
        assert_non_null(strstr(err.message, part));
    }
    assert_int_equal(cb_netcdf_check("x", CUBED_INT8, "[", &err), CUBED_E_FORMAT);
    /* five chunks, 8 MiB, and the index */
    assert_true(cb_netcdf_mem(1000, 10) == 5000 + (8 << 20) + 1280);
    assert_true(cb_netcdf_mem(0, UINT64_C(1) << 40) == (UINT64_C(40) << 20));
    assert_true(cb_netcdf_mem(UINT64_MAX / 4, 0) == UINT64_MAX);
    assert_true(cb_netcdf_mem(UINT64_MAX / 5, 0) == UINT64_MAX);
}
#endif

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_zip_allocations),          TEST(test_zip_system_calls),
        TEST(test_zip_short_writes),         TEST(test_zip_refusals),
        TEST(test_zip_of_many_objects),
#ifdef CB_HAVE_NETCDF
        TEST(test_netcdf_allocations),       TEST(test_netcdf_calls),
        TEST(test_netcdf_system_calls),      TEST(test_netcdf_refusals),
        cmocka_unit_test(test_netcdf_checks)
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
