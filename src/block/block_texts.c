/* Block functions of strings of fixed length, for which the virtual machine has no registers. They are operations that are
 * elementwise for other types, and the minimum and maximum. */
#include <string.h>

#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "cubed/array.h"
#include "dtype/element.h"

static bool is_text(const cubed_block *x) { return cubed_dtype_kind(x->dtype) == CUBED_KIND_TEXT; }

static bool is_record(const cubed_block *x)
{
    return cubed_dtype_kind(x->dtype) == CUBED_KIND_RECORD;
}

static bool same_family(const cubed_block *x, const cubed_block *y)
{
    return is_text(x) && cubed_dtype_family(x->dtype) == cubed_dtype_family(y->dtype);
}

/* Returns true if x broadcasts to `to`, with the last axes aligned. */
static bool broadcasts(const cubed_block *x, const cubed_block *to)
{
    const int lead = to->ndim - x->ndim;
    bool ok = lead >= 0;
    for (int d = 0; d < x->ndim && ok; d++)
        ok = x->shape[d] == 1 || x->shape[d] == to->shape[lead + d];
    return ok;
}

/* Sets *step to the distance in bytes between elements of x along each axis of `to`. The distance is 0 if x is broadcast along
 * the axis. */
static void find_steps(const cubed_block *x, const cubed_block *to, int64_t *step)
{
    const int lead = to->ndim - x->ndim;
    int64_t n = (int64_t)cubed_dtype_size(x->dtype);
    for (int d = to->ndim - 1; d >= 0; d--) {
        const bool repeated = d < lead || x->shape[d - lead] == 1;
        step[d] = repeated ? 0 : n;
        if (!repeated) n *= x->shape[d - lead];
    }
}

enum { MOST_OPERANDS = 4 };

/* Iterates over the elements of a block and of the operands that broadcast to it. */
typedef struct walk {
    const cubed_block *over;
    int n;
    char *at[MOST_OPERANDS]; /* NULL if the operand is not needed */
    int64_t step[MOST_OPERANDS][CUBED_MAX_NDIM];
    int64_t index[CUBED_MAX_NDIM];
    int64_t left; /* number of elements left, including the current one */
} walk;

static walk walk_over(const cubed_block *over)
{
    walk w = {.over = over, .left = 1};
    for (int d = 0; d < over->ndim; d++) w.left *= over->shape[d];
    return w;
}

static void walk_along(walk *w, const cubed_block *x)
{
    w->at[w->n] = x->data;
    find_steps(x, w->over, w->step[w->n++]);
}

static void walk_on(walk *w)
{
    w->left--;
    for (int d = w->over->ndim - 1; d >= 0; d--) {
        const bool ends = ++w->index[d] == w->over->shape[d];
        const int64_t by = ends ? 1 - w->over->shape[d] : 1;
        for (int i = 0; i < w->n; i++) {
            if (w->at[i]) w->at[i] += by * w->step[i][d];
        }
        if (!ends) return;
        w->index[d] = 0;
    }
}

/* --- Elementwise operations ------------------------------------------------------------------------ */

static cubed_status check_replace(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    if ((call->nin != 1 && call->nin != 3) || call->nout != 1 || call->params_size != 0)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    for (int i = 0; i < call->nin; i++) {
        const cubed_block *x = &call->in[i];
        const bool fits =
            is_record(x) ? x->dtype == call->out[0].dtype : same_family(x, &call->out[0]);
        if (i == 1 ? x->dtype != CUBED_BOOL : !fits)
            return cb_fail(err, CUBED_E_FORMAT, "the types of operands do not match the function");
        if (!broadcasts(x, &call->out[0]))
            return cb_fail(err, CUBED_E_FORMAT, "the shapes of operands do not match the function");
    }
    return CUBED_OK;
}

static cubed_status run_replace(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    walk w = walk_over(&call->out[0]);
    const size_t size = cubed_dtype_size(call->out[0].dtype);
    char *to = call->out[0].data;
    (void)ctx;
    (void)err;
    if (!to) return CUBED_OK;
    for (int i = 0; i < call->nin; i++) walk_along(&w, &call->in[i]);
    for (; w.left > 0; walk_on(&w), to += size) {
        const int which = w.n == 3 && *w.at[1] ? 2 : 0;
        const size_t own = cubed_dtype_size(call->in[which].dtype), n = own < size ? own : size;
        memcpy(to, w.at[which], n);
        memset(to + n, 0, size - n);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_replace = {
    .name = "replace", .check = check_replace, .run = run_replace, .divisible = true};

/* The last axis of characters becomes the bytes of a string, so a block of characters has the same bytes as its strings. */
static cubed_status check_characters(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    if (call->nin != 1 || call->nout != 1 || call->params_size != 0)
        return cb_fail(err, CUBED_E_FORMAT, "expected one operand, one result and no parameters");
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    bool fits = cubed_dtype_family(x->dtype) == CUBED_BYTES && cubed_dtype_size(x->dtype) == 1 &&
                cubed_dtype_family(y->dtype) == CUBED_BYTES && x->ndim == y->ndim + 1;
    for (int d = 0; fits && d < y->ndim; d++) fits = x->shape[d] == y->shape[d];
    if (!fits || x->shape[y->ndim] != (int64_t)cubed_dtype_size(y->dtype))
        return cb_fail(err, CUBED_E_FORMAT,
                       "expected characters (S1) whose last axis is as long as the strings");
    return CUBED_OK;
}

static cubed_status run_characters(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cubed_block *to = &call->out[0];
    size_t size = cubed_dtype_size(to->dtype);
    (void)ctx;
    (void)err;
    for (int d = 0; d < to->ndim; d++) size *= (size_t)to->shape[d];
    if (to->data) memcpy(to->data, call->in[0].data, size);
    return CUBED_OK;
}

const cubed_block_fn cb_block_join_characters = {
    .name = "join_characters", .check = check_characters, .run = run_characters, .divisible = true};

static cubed_status check_compare(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_compare_params *p = call->params;
    (void)ctx;
    if (call->nin != 2 || call->nout != 1 || call->params_size != sizeof *p ||
        p->op < CUBED_OP_EQUAL || p->op > CUBED_OP_GREATER_EQUAL)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    if (!same_family(&call->in[0], &call->in[1]) || call->out[0].dtype != CUBED_BOOL)
        return cb_fail(err, CUBED_E_FORMAT, "the types of operands do not match the function");
    if (!broadcasts(&call->in[0], &call->out[0]) || !broadcasts(&call->in[1], &call->out[0]))
        return cb_fail(err, CUBED_E_FORMAT, "the shapes of operands do not match the function");
    return CUBED_OK;
}

static bool holds(int32_t op, int order)
{
    switch (op) {
    case CUBED_OP_EQUAL: return order == 0;
    case CUBED_OP_NOT_EQUAL: return order != 0;
    case CUBED_OP_LESS: return order < 0;
    case CUBED_OP_LESS_EQUAL: return order <= 0;
    case CUBED_OP_GREATER: return order > 0;
    default: return order >= 0;
    }
}

static cubed_status run_compare(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_compare_params *p = call->params;
    walk w = walk_over(&call->out[0]);
    bool *to = call->out[0].data;
    (void)ctx;
    (void)err;
    if (!to) return CUBED_OK;
    for (int i = 0; i < 2; i++) walk_along(&w, &call->in[i]);
    for (; w.left > 0; walk_on(&w))
        *to++ = holds(p->op,
                      cb_text_compare_two(call->in[0].dtype, w.at[0], call->in[1].dtype, w.at[1]));
    return CUBED_OK;
}

const cubed_block_fn cb_block_compare_texts = {
    .name = "compare_texts", .check = check_compare, .run = run_compare, .divisible = true};

static cubed_status check_join(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    if (call->nin != 2 || call->nout != 1 || call->params_size != 0)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    size_t size = 0;
    for (int i = 0; i < 2; i++) {
        if (!same_family(&call->in[i], &call->out[0]))
            return cb_fail(err, CUBED_E_FORMAT, "the types of operands do not match the function");
        if (!broadcasts(&call->in[i], &call->out[0]))
            return cb_fail(err, CUBED_E_FORMAT, "the shapes of operands do not match the function");
        size += cubed_dtype_size(call->in[i].dtype);
    }
    return size <= cubed_dtype_size(call->out[0].dtype)
               ? CUBED_OK
               : cb_fail(err, CUBED_E_FORMAT, "the types of operands do not match the function");
}

static cubed_status run_join(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    walk w = walk_over(&call->out[0]);
    const size_t size = cubed_dtype_size(call->out[0].dtype);
    char *to = call->out[0].data;
    (void)ctx;
    (void)err;
    if (!to) return CUBED_OK;
    for (int i = 0; i < 2; i++) walk_along(&w, &call->in[i]);
    for (; w.left > 0; walk_on(&w), to += size) {
        const size_t first = cb_text_size(call->in[0].dtype, w.at[0]);
        const size_t second = cb_text_size(call->in[1].dtype, w.at[1]);
        memcpy(to, w.at[0], first);
        memcpy(to + first, w.at[1], second);
        memset(to + first + second, 0, size - first - second);
    }
    return CUBED_OK;
}

const cubed_block_fn cb_block_join_texts = {
    .name = "join_texts", .check = check_join, .run = run_join, .divisible = true};

/* --- Single string ------------------------------------------------------------------------------------ */

static cubed_status check_text(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    const bool fits =
        call->nin == 0 && call->nout == 1 && (is_text(&call->out[0]) || is_record(&call->out[0])) &&
        call->out[0].ndim == 0 && call->params_size == cubed_dtype_size(call->out[0].dtype);
    return fits ? CUBED_OK
                : cb_fail(
                      err, CUBED_E_FORMAT,
                      "the number of operands or size of parameters does not match the function");
}

static cubed_status run_text(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    (void)ctx;
    (void)err;
    if (call->out[0].data) memcpy(call->out[0].data, call->params, call->params_size);
    return CUBED_OK;
}

const cubed_block_fn cb_block_text = {.name = "text", .check = check_text, .run = run_text};

/* --- Extremes -------------------------------------------------------------------------------------- */

static cubed_status check_extreme(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_extreme_params *p = call->params;
    (void)ctx;
    if (call->nin < 1 || call->nin > 2 || call->nout < call->nin || call->nout > 2 ||
        call->params_size != sizeof *p || (p->largest & ~1) || p->unused)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = &call->in[0];
    if (!is_text(x) || call->out[0].dtype != x->dtype ||
        (call->nin == 2 && call->in[1].dtype != CUBED_INT64) ||
        (call->nout == 2 && call->out[1].dtype != CUBED_INT64))
        return cb_fail(err, CUBED_E_FORMAT, "the types of operands do not match the function");
    bool fits = true;
    for (int i = 0; i < call->nout; i++)
        fits = fits && call->out[i].ndim == x->ndim && broadcasts(&call->out[i], x);
    if (call->nin == 2) fits = fits && call->in[1].ndim == x->ndim;
    for (int d = 0; d < x->ndim && fits; d++) {
        fits = call->nin == 1 || call->in[1].shape[d] == x->shape[d];
        fits = fits && call->out[0].shape[d] == call->out[call->nout - 1].shape[d];
    }
    return fits ? CUBED_OK
                : cb_fail(err, CUBED_E_FORMAT, "the shapes of operands do not match the function");
}

/* Returns true for the first element of a line, in the first call that reduces the line. */
static bool is_first(const cubed_block_call *call, const walk *w)
{
    bool first = call->first;
    for (int d = 0; d < w->over->ndim && first; d++)
        first = w->index[d] == 0 || call->out[0].shape[d] != 1;
    return first;
}

static int64_t position_of(const cubed_block *x, const walk *w, const int64_t *stride)
{
    uint64_t at = 0; /* unsigned, because the sum may wrap around if the plan was manipulated */
    for (int d = 0; d < x->ndim; d++)
        at += (uint64_t)stride[d] * (uint64_t)(x->offset[d] + w->index[d]);
    return (int64_t)at;
}

static cubed_status run_extreme(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_extreme_params *p = call->params;
    const cubed_block *x = &call->in[0];
    const size_t size = cubed_dtype_size(x->dtype);
    walk w = walk_over(x);
    (void)ctx;
    (void)err;
    if (!call->out[0].data) return CUBED_OK;
    walk_along(&w, x);
    walk_along(&w, &call->out[0]);
    if (call->nout == 2) walk_along(&w, &call->out[1]);
    if (call->nin == 2) walk_along(&w, &call->in[1]);
    for (; w.left > 0; walk_on(&w)) {
        int64_t at = 0, best = 0;
        char *const to_at = call->nout == 2 ? w.at[2] : NULL;
        const bool fresh = is_first(call, &w);
        if (call->nin == 2)
            memcpy(&at, w.at[3], sizeof at);
        else if (to_at)
            at = position_of(x, &w, p->stride);
        if (to_at && !fresh) memcpy(&best, to_at, sizeof best);
        const int order = fresh ? 1 : cb_text_compare(x->dtype, w.at[0], w.at[1]);
        const bool wins = fresh || (p->largest ? order > 0 : order < 0);
        if (!wins && !(order == 0 && to_at && at < best)) continue;
        memcpy(w.at[1], w.at[0], size);
        if (to_at) memcpy(to_at, &at, sizeof at);
    }
    return CUBED_OK;
}

/* Extremes of strings, with their positions. The outputs are carried from call to call, so a later call compares its elements
 * with the extremes so far. */
const cubed_block_fn cb_block_extreme_text = {
    .name = "extreme_text", .check = check_extreme, .run = run_extreme, .carried = 1};
