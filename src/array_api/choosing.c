/* Chooses each element from one of several arrays, by the number of the array or by conditions. */
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/alloc.h"
#include "base/error.h"
#include "ops/shapes.h"
#include "ops/steps.h"

/* Returns the promoted type of all arrays, which is invalid after an error. */
static cubed_dtype common_type(cb_steps *s, const char *name, cubed_array *const *x, int n)
{
    cubed_array *like = x[0]; /* has the promoted type of x[0] to x[i - 1] */
    for (int i = 1; i < n && s->st == CUBED_OK; i++) {
        char a[CUBED_DTYPE_TEXT_CAP], b[CUBED_DTYPE_TEXT_CAP];
        const cubed_dtype left = like->node.dtype, right = x[i]->node.dtype;
        cubed_dtype both = cubed_dtype_promote(left, right);
        if (left == right) continue;
        if (cubed_dtype_kind(left) == CUBED_KIND_TIME)
            s->st = cb_op_common_time(name, like, x[i], &both, s->err);
        else if (both == CUBED_DTYPE_COUNT)
            s->st = cb_fail(s->err, CUBED_E_TYPE, "%s: %s and %s have no type in common", name,
                            cubed_dtype_text(left, a), cubed_dtype_text(right, b));
        cubed_array *cast = s->st == CUBED_OK ? cb_step_cast(s, like, both) : NULL;
        if (cast) like = cast;
    }
    return like->node.dtype;
}

/* --- By numbers ---------------------------------------------------------------------------------------- */

/* Casts the indices of choices to int64. Clips or wraps indices out of range if `mode` requires it. In the mode that raises an
 * error, negative indices become `n`, which is out of range. */
static cubed_array *int64_numbers(cb_steps *s, cubed_array *at, int n, cubed_choose_mode mode)
{
    const cubed_scalar most = {.u64 = (uint64_t)n - (mode == CUBED_CHOOSE_CLIP)}, zero = {.i64 = 0};
    const cubed_scalar count = {.i64 = n}, last = {.i64 = (int64_t)n - 1};
    /* A uint64 index beyond the range of int64 would become negative, so wrap or limit it before the cast. */
    if (at->node.dtype == CUBED_UINT64) {
        const bool wraps = mode == CUBED_CHOOSE_WRAP;
        return cb_step_cast(s,
                            cb_step_op(s, wraps ? CUBED_OP_REMAINDER : CUBED_OP_MINIMUM, at,
                                       cb_step_scalar(s, CUBED_UINT64, &most), NULL),
                            CUBED_INT64);
    }
    at = cb_step_cast(s, at, CUBED_INT64);
    cubed_array *none = cb_step_scalar(s, CUBED_INT64, &zero);
    cubed_array *end = cb_step_scalar(s, CUBED_INT64, mode == CUBED_CHOOSE_CLIP ? &last : &count);
    switch (mode) {
    case CUBED_CHOOSE_WRAP: return cb_step_op(s, CUBED_OP_REMAINDER, at, end, NULL);
    case CUBED_CHOOSE_CLIP:
        return cb_step_op(s, CUBED_OP_MINIMUM, cb_step_op(s, CUBED_OP_MAXIMUM, at, none, NULL), end,
                          NULL);
    default: return cb_step_where(s, cb_step_op(s, CUBED_OP_LESS, at, none, NULL), end, at);
    }
}

/* Stacks the choices and takes elements at the indices `number`. The run fails if an index is out of range. */
static cubed_array *choose_by_take(cb_steps *s, cubed_array *number, cubed_array **choices, int n,
                                   int ndim, const int64_t *shape)
{
    const int front = 0;
    cubed_array *rows = NULL, *line = NULL, *found = NULL, *y = NULL;
    for (int i = 0; i < n; i++) choices[i] = cb_step_broadcast(s, choices[i], ndim, shape);
    number = cb_step_broadcast(s, number, ndim, shape);
    if (s->st != CUBED_OK) return NULL;
    rows = cb_step(s, cubed_stack(choices, n, 0, &rows, s->err), &rows);
    if (s->st != CUBED_OK) return NULL;
    line = cb_step(s, cubed_expand_dims(number, 0, &line, s->err), &line);
    if (s->st != CUBED_OK) return NULL;
    found = cb_step(s, cubed_take_along_axis(rows, line, 0, &found, s->err), &found);
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_squeeze(found, &front, 1, &y, s->err), &y);
}

static cubed_array *choose_by_comparison(cb_steps *s, cubed_array *number, cubed_array **choices,
                                         int n, int ndim, const int64_t *shape)
{
    cubed_array *y = cb_step_broadcast(s, choices[n - 1], ndim, shape);
    for (int i = n - 2; i >= 0 && s->st == CUBED_OK; i--)
        y = cb_step_where(s, cb_step_op(s, CUBED_OP_EQUAL, number, cb_step_whole(s, i), NULL),
                          choices[i], y);
    return y;
}

/* The arrays to choose from, followed by the indices or conditions. */
typedef struct choice {
    cubed_array **x;
    size_t bytes;
    cubed_dtype dtype;
} choice;

/* Copies `choices` and appends `last`. The caller frees c->x, even after an error. */
static void gather_choices(cb_steps *s, cubed_array *const *choices, int n, cubed_array *last,
                           choice *c)
{
    c->bytes = ((size_t)n + 1) * sizeof *c->x;
    c->x = cb_alloc(&s->ctx->alloc, c->bytes);
    if (!c->x) {
        s->st = cb_fail(s->err, CUBED_E_NOMEM, "out of memory: %d choices", n);
        return;
    }
    memcpy(c->x, choices, (size_t)n * sizeof *c->x);
    c->x[n] = last;
}

cubed_status cubed_choose(cubed_array *numbers, cubed_array *const *choices, int n,
                          cubed_choose_mode mode, cubed_array **out, cubed_error *err)
{
    char name[CUBED_DTYPE_TEXT_CAP];
    choice c = {.x = NULL};
    cubed_array *y = NULL;
    int ndim = 0;
    int64_t shape[CUBED_MAX_NDIM];
    if (cubed_dtype_kind(numbers->node.dtype) > CUBED_KIND_UINT)
        return cb_fail(err, CUBED_E_TYPE, "choose: a is %s, expected integers",
                       cubed_dtype_text(numbers->node.dtype, name));
    if (n < 1)
        return cb_fail(err, CUBED_E_ARG, "choose: no choices are given, expected at least one");
    if ((unsigned)mode > CUBED_CHOOSE_CLIP)
        return cb_fail(err, CUBED_E_ARG, "choose: mode number %d, expected 0 to %d", (int)mode,
                       CUBED_CHOOSE_CLIP);
    cb_steps s = {.ctx = numbers->ctx, .err = err};
    gather_choices(&s, choices, n, numbers, &c);
    if (s.st == CUBED_OK) s.st = cb_op_broadcast_shape("choose", c.x, n + 1, &ndim, shape, err);
    if (s.st == CUBED_OK) c.dtype = common_type(&s, "choose", choices, n);
    for (int i = 0; i < n && s.st == CUBED_OK; i++) c.x[i] = cb_step_cast(&s, c.x[i], c.dtype);
    cubed_array *number = s.st == CUBED_OK ? int64_numbers(&s, numbers, n, mode) : NULL;
    if (s.st == CUBED_OK)
        y = mode == CUBED_CHOOSE_RAISE ? choose_by_take(&s, number, c.x, n, ndim, shape)
                                       : choose_by_comparison(&s, number, c.x, n, ndim, shape);
    cb_free(&s.ctx->alloc, c.x, c.bytes);
    return cb_steps_end(&s, y, out);
}

/* --- By conditions ------------------------------------------------------------------------------------- */

cubed_status cubed_select(cubed_array *const *conditions, cubed_array *const *choices, int n,
                          cubed_array *fallback, cubed_array **out, cubed_error *err)
{
    choice c = {.x = NULL};
    cubed_array *y = NULL;
    if (n < 1)
        return cb_fail(err, CUBED_E_ARG, "select: no conditions are given, expected at least one");
    cb_steps s = {.ctx = fallback->ctx, .err = err};
    gather_choices(&s, choices, n, fallback, &c);
    if (s.st == CUBED_OK) c.dtype = common_type(&s, "select", c.x, n + 1);
    for (int i = n; i >= 0 && s.st == CUBED_OK; i--) {
        cubed_array *x = cb_step_cast(&s, c.x[i], c.dtype);
        y = i == n ? x : cb_step_where(&s, cb_step_cast(&s, conditions[i], CUBED_BOOL), x, y);
    }
    cb_free(&s.ctx->alloc, c.x, c.bytes);
    return cb_steps_end(&s, y, out);
}
