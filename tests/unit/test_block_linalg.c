/* Functions of matrices on blocks: operands that `check` refuses, memory that `need` states, and results that do not depend on
 * which of them are requested. Values are compared with NumPy's in tests/python/functions/test_linalg.py. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "block/block.h"
#include "block/params.h"
#include "kernel/kernel.h"
#include "linalg/linalg_functions.h"

#define COUNT 3 /* number of matrices in a block */
#define OUT   3 /* index in `block` of the first output */

static cb_kernels kernels; /* context that is passed to the functions */

/* Extents of operands as letters: m and n are those of the matrix, k is the smaller of both; 2 is the number of columns of the
 * right-hand side. Types as letters: that of the input, its real or its complex counterpart. */
typedef struct function {
    const char *name, *in[3], *out[3], *types;
    bool square;
} function;

static const function rows[] = {
    {"cholesky", {"nn"}, {"nn"}, "x", true},
    {"lu", {"mn"}, {"mm", "mk", "kn"}, "xxx", false},
    {"det", {"nn"}, {""}, "x", true},
    {"slogdet", {"nn"}, {"", ""}, "xr", true},
    {"inv", {"nn"}, {"nn"}, "x", true},
    {"solve", {"nn", "n2"}, {"n2"}, "x", true},
    {"qr", {"mn"}, {"mk", "kn"}, "xx", false},
    {"qr", {"mn"}, {"mm", "mn"}, "xx", false},
    {"qr", {"mn"}, {"mn", "nn"}, "xx", false},
    {"reflectors", {"mn"}, {"mk", "mk", "kn"}, "xxx", false},
    {"subtract_product", {"mn", "m2", "2n"}, {"mn"}, "x", false},
    {"band_svdvals", {"n2"}, {"n"}, "r", true},
    {"band_svdvals", {"n8"}, {"n"}, "r", true},
    {"band_eigvalsh", {"n8"}, {"n"}, "r", true},
    {"svd", {"mn"}, {"mk", "k", "kn"}, "xrx", false},
    {"svd", {"mn"}, {"mm", "k", "nn"}, "xrx", false},
    {"svdvals", {"mn"}, {"k"}, "r", false},
    {"eigh", {"nn"}, {"n", "nn"}, "rx", true},
    {"eigvalsh", {"nn"}, {"n"}, "r", true},
    {"eig", {"nn"}, {"n", "nn"}, "cc", true},
    {"eigvals", {"nn"}, {"n"}, "c", true},
};

typedef struct job {
    const cubed_block_fn *fn;
    cb_cholesky_params params;
    int64_t shape[6][3];
    cubed_block block[6]; /* inputs from index 0 on, outputs from index 3 on */
    cubed_block_call call;
} job;

static cubed_dtype counterpart(cubed_dtype dtype, char letter)
{
    bool single = dtype == CUBED_FLOAT32 || dtype == CUBED_COMPLEX64;
    if (letter == 'x') return dtype;
    if (letter == 'r') return single ? CUBED_FLOAT32 : CUBED_FLOAT64;
    return single ? CUBED_COMPLEX64 : CUBED_COMPLEX128;
}

static void set_block(job *j, int at, const char *extents, cubed_dtype dtype, int64_t m, int64_t n)
{
    int ndim = 0;
    j->shape[at][ndim++] = COUNT;
    for (const char *c = extents; *c; c++)
        j->shape[at][ndim++] = *c == 'm'   ? m
                               : *c == 'n' ? n
                               : *c == 'k' ? (m < n ? m : n)
                                           : *c - '0';
    j->block[at] = (cubed_block){.dtype = dtype, .ndim = ndim, .shape = j->shape[at]};
}

static void start(job *j, const function *r, cubed_dtype dtype, int64_t m, int64_t n)
{
    memset(j, 0, sizeof *j);
    j->fn = cb_block_fn(r->name);
    assert_non_null(j->fn);
    j->call = (cubed_block_call){
        .in = j->block, .out = j->block + OUT, .params = &j->params, .first = true, .last = true};
    if (strcmp(r->name, "cholesky") == 0) j->call.params_size = sizeof j->params;
    for (; j->call.nin < OUT && r->in[j->call.nin]; j->call.nin++)
        set_block(j, j->call.nin, r->in[j->call.nin], dtype, m, n);
    for (; j->call.nout < 3 && r->out[j->call.nout]; j->call.nout++)
        set_block(j, OUT + j->call.nout, r->out[j->call.nout],
                  counterpart(dtype, r->types[j->call.nout]), m, n);
}

static size_t bytes_of(const cubed_block *x)
{
    size_t bytes = cubed_dtype_size(x->dtype);
    for (int d = 0; d < x->ndim; d++) bytes *= (size_t)x->shape[d];
    return bytes;
}

/* Symmetric and positive definite, so that all functions accept them. */
static void fill(cubed_block *x)
{
    size_t parts = x->dtype == CUBED_COMPLEX64 || x->dtype == CUBED_COMPLEX128 ? 2 : 1;
    bool single = cubed_dtype_size(x->dtype) / parts == sizeof(float);
    int64_t columns = x->shape[x->ndim - 1];
    int64_t n = (int64_t)(bytes_of(x) / cubed_dtype_size(x->dtype));
    for (int64_t i = 0; i < n; i++) {
        int64_t row = columns ? i / columns % x->shape[1] : 0, column = columns ? i % columns : 0;
        double value = row == column ? 5000 + (double)row : 1.0 / (double)(1 + row + column);
        for (size_t p = 0; p < parts; p++) {
            double part = p ? 0.25 * (double)(row - column) : value;
            size_t at = (size_t)i * parts + p;
            if (single)
                ((float *)x->data)[at] = (float)part;
            else
                ((double *)x->data)[at] = part;
        }
    }
}

/* Runs with the outputs whose bits are set. Scratch memory has exactly the requested size. */
static void run(job *j, uint32_t wanted)
{
    cubed_error err = CUBED_ERROR_INIT;
    for (int i = 0; i < j->call.nin; i++) {
        j->block[i].data = malloc(bytes_of(&j->block[i]) + 1);
        assert_non_null(j->block[i].data);
        fill(&j->block[i]);
    }
    for (int i = 0; i < j->call.nout; i++)
        j->block[OUT + i].data =
            wanted >> i & 1 ? calloc(1, bytes_of(&j->block[OUT + i]) + 1) : NULL;
    assert_int_equal(j->fn->check(&j->call, &kernels, &err), CUBED_OK);
    cubed_block_need need = j->fn->need(&j->call, &kernels);
    assert_int_equal(need.library, 0);
    assert_int_equal(need.scratch % 64, 0);
    /* Fill the scratch memory, because its previous contents must not matter. */
    j->call.scratch = need.scratch ? aligned_alloc(64, need.scratch) : NULL;
    if (need.scratch) memset(j->call.scratch, 0xff, need.scratch);
    if (j->fn->run(&j->call, &kernels, &err) != CUBED_OK) fail_msg("%s", err.message);
    free(j->call.scratch);
}

static void drop(job *j)
{
    for (int i = 0; i < OUT + 3; i++) free(j->block[i].data);
}

static const cubed_dtype types[] = {CUBED_FLOAT32, CUBED_FLOAT64, CUBED_COMPLEX64,
                                    CUBED_COMPLEX128};
static const int64_t extents[] = {0, 1, 2, 3, 5, 17, 70};

typedef void (*visitor)(const function *r, cubed_dtype dtype, int64_t m, int64_t n);

static void each_case(visitor visit)
{
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (size_t t = 0; t < 4; t++) {
            for (size_t i = 0; i < 7; i++) {
                for (size_t k = 0; k < 7; k++) {
                    if (rows[r].square && i != k) continue;
                    visit(&rows[r], types[t], extents[i], extents[k]);
                }
            }
        }
    }
}

static void check_parts(const function *r, cubed_dtype dtype, int64_t m, int64_t n)
{
    job all, some;
    start(&all, r, dtype, m, n);
    run(&all, 7);
    for (int i = 0; i < all.call.nout && all.call.nout > 1; i++) {
        start(&some, r, dtype, m, n);
        run(&some, 1u << i);
        assert_memory_equal(some.block[OUT + i].data, all.block[OUT + i].data,
                            bytes_of(&all.block[OUT + i]));
        drop(&some);
    }
    drop(&all);
}

static void test_results_do_not_depend_on_which_are_wanted(void **state)
{
    (void)state;
    each_case(check_parts);
}

static void refuse(const job *j)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (j->fn->check(&j->call, &kernels, &err) == CUBED_OK)
        fail_msg("%s takes what it should not", j->fn->name);
    assert_true(err.message[0] != 0);
}

static void check_refusals(const function *r, cubed_dtype dtype, int64_t m, int64_t n)
{
    static const int64_t others[] = {-1, 1, 7};
    job j;
    if (m != 5 || n != 17) {
        if (m != n || m != 5) return;
    }
    for (int at = 0; at < OUT + 3; at++) {
        start(&j, r, dtype, m, n);
        if (at < OUT ? at >= j.call.nin : at - OUT >= j.call.nout) continue;
        for (int d = 0; d < j.block[at].ndim; d++) {
            /* The number of right-hand sides is arbitrary. So is the extent of a matrix that is larger. */
            bool is_free = (strcmp(r->name, "solve") == 0 && d == 2 && at != 0) ||
                           (strcmp(r->name, "svdvals") == 0 && d > 0 && at == 0);
            for (int o = 0; o < 3 && !is_free; o++) {
                start(&j, r, dtype, m, n);
                j.shape[at][d] += others[o];
                refuse(&j);
            }
        }
        start(&j, r, dtype, m, n);
        /* An operand of another precision is refused. */
        j.block[at].dtype =
            counterpart(j.block[at].dtype, 'r') == CUBED_FLOAT32 ? CUBED_FLOAT64 : CUBED_FLOAT32;
        refuse(&j);
        start(&j, r, dtype, m, n);
        j.block[at].ndim--;
        refuse(&j);
    }
    start(&j, r, dtype, m, n);
    j.block[0].dtype = CUBED_INT64;
    refuse(&j);
    start(&j, r, dtype, m, n);
    j.call.params_size++;
    refuse(&j);
    start(&j, r, dtype, m, n);
    j.call.nout--;
    refuse(&j);
    start(&j, r, dtype, m, n);
    j.call.nin++;
    refuse(&j);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    each_case(check_refusals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_do_not_depend_on_which_are_wanted),
        cmocka_unit_test(test_what_is_refused),
    };
    if (!cb_kernels_init(NULL, &kernels)) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
