/* Creates random arrays: applies a kernel to the positions of the elements, and scales the result. */
#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "dtype/scalar.h"
#include "ops/ops_pkg.h"

/* Applies a random kernel to positions (an INDEX or CHUNK_POSITION node) and constant words. */
static cubed_status draw(cubed_context *ctx, cubed_op op, const cb_node *positions,
                         const uint64_t *words, int nwords, cubed_array **out, cubed_error *err)
{
    cubed_array *args[3] = {NULL, NULL, NULL};
    cubed_status st;
    CB_GO(cb_graph_add(ctx, positions, NULL, &args[0], err));
    for (int i = 0; i < nwords; i++) {
        cubed_scalar word = {.u64 = words[i]};
        CB_GO(cubed_array_full(ctx, CUBED_INT64, 0, NULL, NULL, &word, &args[1 + i], err));
    }
    CB_GO(cubed_elementwise(op, args, 1 + nwords, out, err));
out:
    for (int i = 0; i < 3; i++) cubed_array_unref(args[i]);
    return st;
}

/* Arguments of a call that draws random numbers. The numbers depend on the seed and on the indices of elements. */
typedef struct drawing {
    cubed_context *ctx;
    const char *what; /* name of the function in errors */
    cubed_op op;
    int ndim;
    const int64_t *shape, *chunks;
    int64_t seed;
} drawing;

static cubed_status draw_seeded(const drawing *of, cubed_array **out, cubed_error *err)
{
    cb_grid grid;
    cb_node n = {.kind = CB_NODE_INDEX, .dtype = CUBED_INT64, .grid = &grid};
    uint64_t word = (uint64_t)of->seed;
    CB_TRY(cb_op_grid(of->what, CUBED_INT64, of->ndim, of->shape, of->chunks, &grid, err));
    return draw(of->ctx, of->op, &n, &word, 1, out, err);
}

/* Sets *x to op(constant, *x), and drops the old reference. */
static cubed_status apply(cubed_op op, cubed_dtype dtype, const cubed_scalar *constant,
                          cubed_array **x, cubed_error *err)
{
    cubed_array *args[2] = {NULL, *x}, *y = NULL;
    cubed_status st;
    CB_GO(cubed_array_full((*x)->ctx, dtype, 0, NULL, NULL, constant, &args[0], err));
    CB_GO(cubed_elementwise(op, args, 2, &y, err));
    cubed_array_unref(*x);
    *x = y;
out:
    cubed_array_unref(args[0]);
    return st;
}

/* Replaces x by loc + scale * x. */
static cubed_status stretch(double loc, double scale, cubed_array **x, cubed_error *err)
{
    cubed_scalar a = {.f64 = loc}, b = {.f64 = scale};
    CB_TRY(apply(CUBED_OP_MULTIPLY, CUBED_FLOAT64, &b, x, err));
    return apply(CUBED_OP_ADD, CUBED_FLOAT64, &a, x, err);
}

static cubed_status draw_stretched(const drawing *of, double loc, double scale, cubed_array **out,
                                   cubed_error *err)
{
    cubed_array *x = NULL;
    CB_TRY(draw_seeded(of, &x, err));
    cubed_status st = stretch(loc, scale, &x, err);
    if (st == CUBED_OK)
        *out = x;
    else
        cubed_array_unref(x);
    return st;
}

cubed_status cubed_array_random(cubed_context *ctx, int ndim, const int64_t *shape,
                                const int64_t *chunks, int64_t seed, cubed_array **out,
                                cubed_error *err)
{
    const drawing of = {ctx, "random", CUBED_OP_RANDOM_UNIFORM, ndim, shape, chunks, seed};
    return draw_seeded(&of, out, err);
}

cubed_status cubed_array_uniform(cubed_context *ctx, int ndim, const int64_t *shape,
                                 const int64_t *chunks, double low, double high, int64_t seed,
                                 cubed_array **out, cubed_error *err)
{
    if (!isfinite(low) || !isfinite(high - low) || high < low)
        return cb_fail(err, CUBED_E_ARG,
                       "uniform: from %g to %g, expected low <= high and a finite difference", low,
                       high);
    const drawing of = {ctx, "uniform", CUBED_OP_RANDOM_UNIFORM, ndim, shape, chunks, seed};
    return draw_stretched(&of, low, high - low, out, err);
}

cubed_status cubed_array_normal(cubed_context *ctx, int ndim, const int64_t *shape,
                                const int64_t *chunks, double loc, double scale, int64_t seed,
                                cubed_array **out, cubed_error *err)
{
    if (!isfinite(loc) || !isfinite(scale) || scale < 0)
        return cb_fail(err, CUBED_E_ARG,
                       "normal: loc %g and scale %g, expected finite numbers and scale >= 0", loc,
                       scale);
    const drawing of = {ctx, "normal", CUBED_OP_RANDOM_NORMAL, ndim, shape, chunks, seed};
    return draw_stretched(&of, loc, scale, out, err);
}

cubed_status cubed_array_exponential(cubed_context *ctx, int ndim, const int64_t *shape,
                                     const int64_t *chunks, double scale, int64_t seed,
                                     cubed_array **out, cubed_error *err)
{
    if (!isfinite(scale) || scale < 0)
        return cb_fail(err, CUBED_E_ARG, "exponential: scale %g, expected a finite number >= 0",
                       scale);
    const drawing of = {ctx, "exponential", CUBED_OP_RANDOM_EXPONENTIAL, ndim, shape, chunks, seed};
    return draw_stretched(&of, 0, scale, out, err);
}

cubed_status cubed_array_integers(cubed_context *ctx, cubed_dtype dtype, int ndim,
                                  const int64_t *shape, const int64_t *chunks,
                                  const cubed_scalar_range *range, int64_t seed, cubed_array **out,
                                  cubed_error *err)
{
    cb_grid grid;
    cb_node n = {.kind = CB_NODE_INDEX, .dtype = CUBED_INT64, .grid = &grid};
    cubed_kind kind =
        (unsigned)dtype < CUBED_DTYPE_COUNT ? cubed_dtype_kind(dtype) : CUBED_KIND_COMPLEX;
    if (kind != CUBED_KIND_INT && kind != CUBED_KIND_UINT)
        return cb_fail(err, CUBED_E_TYPE, "integers: dtype %d is not an integer type", (int)dtype);
    cubed_scalar a, b;
    cb_scalar_cast(dtype, &range->low, kind == CUBED_KIND_INT ? CUBED_INT64 : CUBED_UINT64, &a);
    cb_scalar_cast(dtype, &range->last, kind == CUBED_KIND_INT ? CUBED_INT64 : CUBED_UINT64, &b);
    if (kind == CUBED_KIND_INT ? b.i64 < a.i64 : b.u64 < a.u64)
        return cb_fail(err, CUBED_E_ARG, "integers: the range from low to last is empty");
    CB_TRY(cb_op_grid("integers", CUBED_INT64, ndim, shape, chunks, &grid, err));
    /* Compute modulo 2**64. Sums of int64 and of uint64 have the same bits there, so the final cast restores the sign. */
    uint64_t words[2] = {(uint64_t)seed, b.u64 - a.u64 + 1};
    cubed_array *x = NULL;
    CB_TRY(draw(ctx, CUBED_OP_RANDOM_INTEGERS, &n, words, 2, &x, err));
    cubed_status st = apply(CUBED_OP_ADD, CUBED_INT64, &a, &x, err);
    if (st == CUBED_OK) st = cubed_astype(x, dtype, out, err);
    cubed_array_unref(x);
    return st;
}

cubed_status cubed_array_random_blocks(cubed_context *ctx, cubed_dtype dtype, int ndim,
                                       const int64_t *shape, const int64_t *chunks,
                                       const uint64_t key[2], cubed_array **out, cubed_error *err)
{
    cb_grid grid;
    cb_node n = {.kind = CB_NODE_CHUNK_POSITION, .dtype = CUBED_INT64, .grid = &grid};
    if (dtype != CUBED_FLOAT64 && dtype != CUBED_FLOAT32)
        return cb_fail(err, CUBED_E_TYPE, "random: dtype %d, expected float64 or float32",
                       (int)dtype);
    CB_TRY(cb_op_grid("random", dtype, ndim, shape, chunks, &grid, err));
    if (!cb_chunk_positions_fit(n.grid))
        return cb_fail(err, CUBED_E_ARG,
                       "random: %" PRId64 " chunks of up to %" PRId64
                       " elements, expected at most 2**31 chunks of at most 2**32 elements",
                       cb_grid_count(n.grid), cb_grid_max_chunk(n.grid));
    return draw(ctx, dtype == CUBED_FLOAT64 ? CUBED_OP_RANDOM_BLOCKS : CUBED_OP_RANDOM_BLOCKS_F32,
                &n, key, 2, out, err);
}
