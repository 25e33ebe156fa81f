/* The product of several matrices, in the order with the fewest multiplications. */
#include <inttypes.h>
#include <math.h>

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "ops/steps.h"

/* The order of products of matrices i to j with the fewest multiplications: the number of multiplications, and the index of
 * the last matrix of the left factor. */
typedef struct best {
    double cost;
    int split;
} best;

typedef struct chain {
    cb_steps s;
    int n;
    cubed_array **x; /* n matrices */
    best *best;      /* n x n */
} chain;

static int64_t rows_of(const chain *c, int i) { return c->x[i]->shape[0]; }
static int64_t columns_of(const chain *c, int i) { return c->x[i]->shape[1]; }

/* Converts the arrays to matrices. A vector at the start becomes a row, a vector at the end a column. */
static cubed_status take(chain *c, cubed_array *const *arrays)
{
    for (int i = 0; i < c->n && c->s.st == CUBED_OK; i++) {
        cubed_array *x = arrays[i], *wide = NULL;
        const int ndim = x->node.grid->ndim;
        const bool is_end = i == 0 || i == c->n - 1;
        c->x[i] = x;
        if (ndim == 1 && is_end)
            c->x[i] = cb_step(&c->s, cubed_expand_dims(x, i == 0 ? 0 : 1, &wide, c->s.err), &wide);
        else if (ndim != 2)
            c->s.st = cb_fail(c->s.err, CUBED_E_LINALG,
                              "multi_dot: arrays[%d] has %d dimensions, expected %s", i, ndim,
                              is_end ? "1 or 2" : "2");
        if (c->s.st == CUBED_OK && i > 0 && columns_of(c, i - 1) != rows_of(c, i))
            c->s.st = cb_fail(c->s.err, CUBED_E_ARG,
                              "multi_dot: arrays[%d] has %" PRId64
                              " columns and arrays[%d] %" PRId64 " rows, expected equal numbers",
                              i - 1, columns_of(c, i - 1), i, rows_of(c, i));
    }
    return c->s.st;
}

/* Finds the best splits of ever longer subchains by dynamic programming (Cormen et al., Introduction to Algorithms,
 * "Matrix-chain multiplication"). */
static void choose(chain *c)
{
    const size_t n = (size_t)c->n;
    for (int width = 1; width < c->n; width++) {
        for (int i = 0; i + width < c->n; i++) {
            const int j = i + width;
            best *b = &c->best[(size_t)i * n + (size_t)j];
            b->cost = HUGE_VAL;
            for (int k = i; k < j; k++) {
                const double cost =
                    c->best[(size_t)i * n + (size_t)k].cost +
                    c->best[(size_t)(k + 1) * n + (size_t)j].cost +
                    (double)rows_of(c, i) * (double)columns_of(c, k) * (double)columns_of(c, j);
                if (cost < b->cost) *b = (best){cost, k};
            }
        }
    }
}

/* The recursion depth is at most the number of matrices. */
static cubed_array *product(chain *c, int i, int j)
{
    if (i == j) return c->x[i];
    const int k = c->best[(size_t)i * (size_t)c->n + (size_t)j].split;
    cubed_array *left = product(c, i, k), *right = product(c, k + 1, j), *y = NULL;
    if (c->s.st != CUBED_OK) return NULL;
    return cb_step(&c->s, cubed_matmul(left, right, &y, c->s.err), &y);
}

/* Removes the axes of extent 1 that `take` added to vectors. */
static cubed_array *narrowed(chain *c, cubed_array *x, cubed_array *const *arrays)
{
    cubed_array *y = NULL;
    int axes[2], naxes = 0;
    if (arrays[0]->node.grid->ndim == 1) axes[naxes++] = 0;
    if (arrays[c->n - 1]->node.grid->ndim == 1) axes[naxes++] = 1;
    if (c->s.st != CUBED_OK || naxes == 0) return x;
    return cb_step(&c->s, cubed_squeeze(x, axes, naxes, &y, c->s.err), &y);
}

cubed_status cubed_multi_dot(cubed_array *const *arrays, int n, cubed_array **out, cubed_error *err)
{
    if (n < 2)
        return cb_fail(err, CUBED_E_ARG, "multi_dot: there are %d arrays, expected at least 2", n);
    const cubed_allocator *a = &arrays[0]->ctx->alloc;
    const size_t of_x = (size_t)n * sizeof(cubed_array *);
    const size_t of_best = cb_sat_mul((size_t)n * (size_t)n, sizeof(best));
    chain c = {.s = {.ctx = arrays[0]->ctx, .err = err}, .n = n};
    c.x = cb_alloc_zero(a, of_x);
    c.best = cb_alloc_zero(a, of_best);
    if (!c.x || !c.best)
        c.s.st = cb_fail(err, CUBED_E_NOMEM, "no memory for the product of %d matrices", n);
    else if (take(&c, arrays) == CUBED_OK)
        choose(&c);
    cubed_array *y = c.s.st == CUBED_OK ? product(&c, 0, n - 1) : NULL;
    y = narrowed(&c, y, arrays);
    cb_free(a, c.x, of_x);
    cb_free(a, c.best, of_best);
    return cb_steps_end(&c.s, y, out);
}
