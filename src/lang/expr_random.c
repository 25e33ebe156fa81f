/* Random numbers. */
#include <string.h>

#include "lang/expr_builder.h"

/* A whole number from 0 below 2**128, low word first; in quotes where it is beyond int64. */
static cubed_status get_key(expr_builder *b, const expr *e, uint64_t key[2])
{
    static const char expected[] =
        "expected a whole number from 0 below 2**128, in quotes if need be";
    unsigned __int128 v = 0;
    if (e->kind != EXPR_STRING) {
        int64_t i;
        EXPR_TRY(expr_get_int(b, e, &i));
        if (i < 0) return expr_reject(b, e, expected);
        v = (unsigned __int128)i;
    } else {
        bool hex = strncmp(e->text, "0x", 2) == 0;
        const char *digits = hex ? "0123456789abcdef" : "0123456789";
        const char *at = hex ? e->text + 2 : e->text;
        if (!*at) return expr_reject(b, e, expected);
        for (; *at; at++) {
            const char *digit = strchr(digits, *at);
            if (!digit || __builtin_mul_overflow(v, hex ? 16 : 10, &v) ||
                __builtin_add_overflow(v, digit - digits, &v))
                return expr_reject(b, e, expected);
        }
    }
    key[0] = (uint64_t)v;
    key[1] = (uint64_t)(v >> 64);
    return CUBED_OK;
}

/* What random functions have in common: the shape comes first. */
typedef struct random_args {
    int n, ndim; /* positional arguments; dimensions */
    int64_t shape[CUBED_MAX_NDIM], lengths[CUBED_MAX_NDIM];
    const int64_t *chunks; /* lengths, or NULL */
    const expr *key;       /* or a seed */
    int64_t seed;
} random_args;

/* A run can be repeated, and resumed, because its seed is in its text. */
static cubed_status get_random_args(expr_builder *b, const expr *call, int least, int most,
                                    const char *const *names, random_args *out)
{
    int n;
    EXPR_TRY(expr_check_args(b, call, least, most, names, &out->n));
    EXPR_TRY(expr_get_ints(b, call->child[0], &out->ndim, out->shape));
    const expr *chunks = expr_keyword(call, "chunks"), *seed = expr_keyword(call, "seed");
    out->chunks = chunks ? out->lengths : NULL;
    if (chunks) EXPR_TRY(expr_get_ints(b, chunks, &n, out->lengths));
    if (chunks && n != out->ndim)
        return expr_reject(b, chunks, "expected one chunk length per dimension");
    out->key = expr_keyword(call, "key");
    if (seed && out->key) return expr_reject(b, out->key, "key= is instead of seed=");
    if (out->key) return CUBED_OK;
    return seed ? expr_get_int(b, seed, &out->seed)
                : expr_reject(b, call, "random numbers take seed=");
}

/* The positional argument number `at`, or the keyword argument; `missing` if neither is there. */
static cubed_status get_parameter(expr_builder *b, const expr *call, int n, int at,
                                  const char *name, double missing, double *out)
{
    expr_value v;
    const expr *e = expr_keyword(call, name);
    *out = missing;
    if (e && n > at) return expr_reject(b, e, "the argument comes twice");
    if (n > at) e = call->child[at];
    if (!e) return CUBED_OK;
    EXPR_TRY(expr_get_number(b, e, &v));
    *out = v.re;
    return CUBED_OK;
}

/* random(shape, seed=) draws element by element; key= block by block, as Cubed for Python does. */
static cubed_status call_random(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"seed", "key", "chunks", "dtype", NULL};
    random_args a;
    cubed_dtype dtype;
    uint64_t key[2];
    EXPR_TRY(get_random_args(b, e, 1, 1, names, &a));
    EXPR_TRY(expr_get_dtype(b, e, CUBED_FLOAT64, &dtype));
    if (!a.key && dtype != CUBED_FLOAT64)
        return expr_reject(b, e, "random with seed= is of float64; key= also gives float32");
    if (!a.key)
        return expr_located(
            b, e, cubed_array_random(b->ctx, a.ndim, a.shape, a.chunks, a.seed, out, b->err));
    EXPR_TRY(get_key(b, a.key, key));
    return expr_located(
        b, e,
        cubed_array_random_blocks(b->ctx, dtype, a.ndim, a.shape, a.chunks, key, out, b->err));
}

typedef cubed_status (*two_parameters)(cubed_context *ctx, int ndim, const int64_t *shape,
                                       const int64_t *chunks, double first, double second,
                                       int64_t seed, cubed_array **out, cubed_error *err);

/* Of distributions with two parameters, 0 and 1 if not given: the names of these, then "seed" and "chunks". */
static cubed_status call_two(expr_builder *b, const expr *e, const char *const *names,
                             two_parameters make, cubed_array **out)
{
    random_args a;
    double first, second;
    EXPR_TRY(get_random_args(b, e, 1, 3, names, &a));
    EXPR_TRY(get_parameter(b, e, a.n, 1, names[0], 0, &first));
    EXPR_TRY(get_parameter(b, e, a.n, 2, names[1], 1, &second));
    return expr_located(
        b, e, make(b->ctx, a.ndim, a.shape, a.chunks, first, second, a.seed, out, b->err));
}

static cubed_status call_uniform(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"low", "high", "seed", "chunks", NULL};
    return call_two(b, e, names, cubed_array_uniform, out);
}

static cubed_status call_normal(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"loc", "scale", "seed", "chunks", NULL};
    return call_two(b, e, names, cubed_array_normal, out);
}

static cubed_status call_exponential(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"scale", "seed", "chunks", NULL};
    random_args a;
    double scale;
    EXPR_TRY(get_random_args(b, e, 1, 2, names, &a));
    EXPR_TRY(get_parameter(b, e, a.n, 1, "scale", 1, &scale));
    return expr_located(
        b, e,
        cubed_array_exponential(b->ctx, a.ndim, a.shape, a.chunks, scale, a.seed, out, b->err));
}

/* integers(shape, low, high) or (shape, high): below high, or with endpoint=True up to it. */
static cubed_status call_integers(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"seed", "chunks", "dtype", "endpoint", NULL};
    random_args a;
    cubed_dtype dtype;
    cubed_scalar first, last;
    int64_t low = 0, high;
    EXPR_TRY(get_random_args(b, e, 2, 3, names, &a));
    EXPR_TRY(expr_get_dtype(b, e, CUBED_INT64, &dtype));
    if (cubed_dtype_kind(dtype) != CUBED_KIND_INT && cubed_dtype_kind(dtype) != CUBED_KIND_UINT)
        return expr_reject(b, e, "integers takes a type of integers");
    const expr *endpoint = expr_keyword(e, "endpoint"), *top = e->child[a.n - 1];
    if (endpoint && endpoint->kind != EXPR_BOOL)
        return expr_reject(b, endpoint, "expected True or False");
    bool closed = endpoint && endpoint->integer;
    if (a.n > 2) EXPR_TRY(expr_get_int(b, e->child[1], &low));
    EXPR_TRY(expr_get_int(b, top, &high));
    if (high < low || (high == low && !closed))
        return expr_reject(b, e, "there is no integer from low to high");
    expr_value v = expr_literal(EXPR_INT, low, 0, 0);
    EXPR_TRY(expr_get_scalar(b, e->child[1], &v, dtype, &first));
    v = expr_literal(EXPR_INT, closed ? high : high - 1, 0, 0);
    EXPR_TRY(expr_get_scalar(b, top, &v, dtype, &last));
    return expr_located(b, e,
                        cubed_array_integers(b->ctx, dtype, a.ndim, a.shape, a.chunks,
                                             &(cubed_scalar_range){first, last}, a.seed, out,
                                             b->err));
}

const expr_function expr_random_functions[] = {
    {.name = "random", .fn = call_random},     {.name = "uniform", .fn = call_uniform},
    {.name = "normal", .fn = call_normal},     {.name = "exponential", .fn = call_exponential},
    {.name = "integers", .fn = call_integers}, {.name = NULL},
};
