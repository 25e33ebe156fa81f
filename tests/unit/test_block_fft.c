/* Fourier transforms of blocks: values, memory of pocketfft, and rejected calls. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <malloc.h>

#include <cmocka.h>

/* pocketfft with an allocator that counts, and fails on demand, in place of the library's own. */
static size_t in_use, peak;
static int until_failure = -1; /* never */

static void *counting_malloc(size_t size)
{
    if (until_failure >= 0 && until_failure-- == 0) return NULL;
    void *p = malloc(size);
    if (!p) abort();
    in_use += malloc_usable_size(p) + sizeof(size_t);
    if (in_use > peak) peak = in_use;
    return p;
}

static void counting_free(void *p)
{
    if (p) in_use -= malloc_usable_size(p) + sizeof(size_t);
    free(p);
}

#define malloc counting_malloc
#define free   counting_free
#include <interface.c> /* NOLINT(bugprone-suspicious-include): for its allocator */
#undef malloc
#undef free

#include "block/block.h"
#include "block/params.h"
#include "slow.h"

static const char *const names[] = {"fft", "rfft", "irfft",
                                    "fft"}; /* the last of the real transforms */

/* A transform along the middle axis of (2, n, 3). */
typedef struct job {
    const cubed_block_fn *fn;
    cb_fft_params params;
    int64_t shape[2][3];
    cubed_block block[2];
    cubed_block_call call;
    cubed_block_need need;
} job;

static cubed_status start(job *j, int kind, int64_t n, bool forward, cubed_error *err)
{
    int64_t half = n / 2 + 1;
    memset(j, 0, sizeof *j);
    j->fn = cb_block_fn(names[kind]);
    assert_non_null(j->fn);
    j->params = (cb_fft_params){
        .real_axis = kind % 3 == 0 ? -1 : 1, .twiddle_axis = -1, .forward = forward};
    j->params.n[1] = n;
    for (int i = 0; i < 2; i++) {
        bool real = kind == 3 ? i == 0 : kind == i + 1;
        j->shape[i][0] = 2;
        j->shape[i][1] = kind % 3 == 0 || real ? n : half;
        j->shape[i][2] = 3;
        j->block[i] = (cubed_block){
            .dtype = real ? CUBED_FLOAT64 : CUBED_COMPLEX128, .ndim = 3, .shape = j->shape[i]};
    }
    j->call = (cubed_block_call){.nin = 1,
                                 .nout = 1,
                                 .in = &j->block[0],
                                 .out = &j->block[1],
                                 .params = &j->params,
                                 .params_size = sizeof j->params,
                                 .first = true,
                                 .last = true};
    cubed_status st = j->fn->check(&j->call, NULL, err);
    if (st == CUBED_OK) j->need = j->fn->need(&j->call, NULL);
    return st;
}

static void make_data(job *j)
{
    for (int i = 0; i < 2; i++) {
        size_t count =
            (size_t)(6 * j->shape[i][1]) * (cubed_dtype_size(j->block[i].dtype) / sizeof(double));
        double *x = calloc(count, sizeof *x);
        assert_non_null(x);
        for (size_t k = 0; k < count; k++) x[k] = (double)((k * 7919) % 101) - 50;
        j->block[i].data = x;
    }
    j->call.scratch = malloc(j->need.scratch);
    assert_non_null(j->call.scratch);
}

static void drop_data(job *j)
{
    free(j->block[0].data);
    free(j->block[1].data);
    free(j->call.scratch);
}

/* Returns the address of element i of the line (o, k), as a complex number. */
static void element(const job *j, int side, int64_t o, int64_t i, int64_t k, double out[2])
{
    const double *x = j->block[side].data;
    int64_t at = (o * j->shape[side][1] + i) * 3 + k;
    bool real = j->block[side].dtype == CUBED_FLOAT64;
    out[0] = real ? x[at] : x[2 * at];
    out[1] = real ? 0 : x[2 * at + 1];
}

/* Computes element f of the transform by its definition. If the result is real, the input contains only its first half, and the
 * second half is the mirror image of the first. */
static void expected(const job *j, bool forward, int64_t o, int64_t f, int64_t k, double out[2])
{
    int64_t n = j->params.n[1];
    out[0] = out[1] = 0;
    for (int64_t i = 0; i < n; i++) {
        double x[2];
        bool mirrored = i >= j->shape[0][1];
        element(j, 0, o, mirrored ? n - i : i, k, x);
        if (mirrored) x[1] = -x[1];
        if (j->block[1].dtype == CUBED_FLOAT64 && (i == 0 || 2 * i == n)) x[1] = 0;
        double angle = (forward ? -2 : 2) * M_PI * (double)(i * f % n) / (double)n;
        out[0] += x[0] * cos(angle) - x[1] * sin(angle);
        out[1] += x[0] * sin(angle) + x[1] * cos(angle);
    }
}

static void test_values(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 70; n++) {
        for (int kind = 0; kind < 8; kind++) {
            job j, before;
            bool forward = kind % 2 == 0;
            assert_int_equal(start(&j, kind / 2, n, forward, NULL), CUBED_OK);
            make_data(&j);
            before = j;
            size_t count =
                (size_t)(6 * j.shape[0][1]) * (cubed_dtype_size(j.block[0].dtype) / sizeof(double));
            double *copy = malloc(count * sizeof *copy);
            assert_non_null(copy);
            memcpy(copy, j.block[0].data, count * sizeof *copy);
            assert_int_equal(j.fn->run(&j.call, NULL, NULL), CUBED_OK);
            before.block[0].data = copy; /* irfft may overwrite its input */
            for (int64_t f = 0; f < j.shape[1][1]; f++) {
                double got[2], want[2];
                element(&j, 1, 1, f, 2, got);
                expected(&before, forward, 1, f, 2, want);
                assert_true(fabs(got[0] - want[0]) < 1e-10);
                if (j.block[1].dtype != CUBED_FLOAT64) assert_true(fabs(got[1] - want[1]) < 1e-10);
            }
            free(copy);
            drop_data(&j);
        }
    }
}

static size_t peak_of(int kind, int64_t n)
{
    job j;
    assert_int_equal(start(&j, kind, n, true, NULL), CUBED_OK);
    make_data(&j);
    in_use = peak = 0;
    assert_int_equal(j.fn->run(&j.call, NULL, NULL), CUBED_OK);
    assert_int_equal(in_use, 0);
    if (peak > j.need.library)
        fail_msg("%s of %lld: %zu bytes, %zu declared", names[kind], (long long)n, peak,
                 j.need.library);
    drop_data(&j);
    return peak;
}

static void test_memory_is_bounded(void **state)
{
    enum { STEP = SLOW == 1 ? 1 : 7 };
    (void)state;
    static const int64_t large[] = {4096,  6561,   15625,  16807, 14641, 4099,  65521, 65536,
                                    65537, 130321, 131071, 99991, 99998, 83521, 78125, 148877};
    for (int kind = 0; kind < 4; kind++) {
        for (int64_t n = 1; n < 1300; n += STEP) peak_of(kind, n);
        for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
            size_t used = peak_of(kind, large[i]);
            assert_true(cb_fft_bytes((size_t)large[i], kind != 0) < 2 * used + 100000);
        }
    }
}

/* Without lengths for Bluestein's algorithm: if the first transform of such a plan fails, pocketfft leaks a part of it. */
static void test_allocations_that_fail(void **state)
{
    (void)state;
    static const int64_t lengths[] = {64, (int64_t)13 * 13 * 17 * 19};
    for (int kind = 0; kind < 4; kind++) {
        for (size_t i = 0; i < 2; i++) {
            cubed_status st = CUBED_E_NOMEM;
            for (int at = 0; st == CUBED_E_NOMEM; at++) {
                job j;
                cubed_error err;
                assert_int_equal(start(&j, kind, lengths[i], true, NULL), CUBED_OK);
                make_data(&j);
                in_use = 0;
                until_failure = at;
                st = j.fn->run(&j.call, NULL, &err);
                if (st != CUBED_OK) assert_non_null(strstr(err.message, "no memory"));
                assert_int_equal(in_use, 0);
                drop_data(&j);
                assert_true(at < 100);
            }
            assert_int_equal(st, CUBED_OK);
        }
    }
    until_failure = -1;
}

static void refuse(job *j, cubed_status expected_status)
{
    cubed_error err;
    assert_int_equal(j->fn->check(&j->call, NULL, &err), expected_status);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    job j;
    for (int kind = 0; kind < 3; kind++) {
        assert_int_equal(start(&j, kind, (1 << 28) + 1, true, NULL), CUBED_E_UNSUPPORTED);
        assert_int_equal(start(&j, kind, 1 << 28, true, NULL), CUBED_OK);
        assert_int_equal(start(&j, kind, 0, true, NULL), CUBED_E_FORMAT);
        assert_int_equal(start(&j, kind, -4, true, NULL), CUBED_E_FORMAT);
        assert_int_equal(start(&j, kind, 8, true, NULL), CUBED_OK);
        j.shape[0][1]--;
        refuse(&j, CUBED_E_FORMAT);
        j.shape[0][1]++;
        j.shape[1][0]--;
        refuse(&j, CUBED_E_FORMAT);
        j.shape[1][0]++;
        j.params.scale = 3;
        refuse(&j, CUBED_E_FORMAT);
        j.params.scale = 0;
        j.params.forward = 2;
        refuse(&j, CUBED_E_FORMAT);
        j.params.forward = 1;
        j.params.real_axis = kind == 0 ? 1 : 3;
        refuse(&j, CUBED_E_FORMAT);
        j.params.real_axis = kind == 0 ? -1 : 1;
        j.block[1].dtype = CUBED_COMPLEX64;
        refuse(&j, CUBED_E_TYPE);
        j.block[0].dtype = CUBED_FLOAT16;
        refuse(&j, CUBED_E_TYPE);
        j.call.params_size--;
        refuse(&j, CUBED_E_FORMAT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_allocations_that_fail),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
