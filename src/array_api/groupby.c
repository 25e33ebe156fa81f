/* Reductions by group. The states of the groups are computed first, and then the results from the states. */
#include "cubed/groupby.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "array_api/group_states.h"
#include "base/error.h"
#include "base/struct_size.h"

typedef enum kinds_taken { NUMBERS, NUMBERS_AND_TIMES } kinds_taken;

static const struct reduction {
    const char *name;
    cb_group_kind kind;
    kinds_taken takes;
    int64_t min_count; /* minimum number of elements of a group with a valid result */
} reductions[CUBED_GROUP_REDUCTIONS] = {
    [CUBED_GROUP_COUNT] = {"count", CB_GROUP_COUNT, NUMBERS_AND_TIMES, 0},
    [CUBED_GROUP_SUM] = {"sum", CB_GROUP_SUM, NUMBERS, 0},
    [CUBED_GROUP_PROD] = {"prod", CB_GROUP_PROD, NUMBERS, 0},
    [CUBED_GROUP_MEAN] = {"mean", CB_GROUP_SUM, NUMBERS, 1},
    [CUBED_GROUP_VAR] = {"var", CB_GROUP_M2, NUMBERS, 1},
    [CUBED_GROUP_STD] = {"std", CB_GROUP_M2, NUMBERS, 1},
    [CUBED_GROUP_MIN] = {"min", CB_GROUP_MIN, NUMBERS_AND_TIMES, 1},
    [CUBED_GROUP_MAX] = {"max", CB_GROUP_MAX, NUMBERS_AND_TIMES, 1},
    [CUBED_GROUP_ANY] = {"any", CB_GROUP_MAX, NUMBERS, 1},
    [CUBED_GROUP_ALL] = {"all", CB_GROUP_MIN, NUMBERS, 1},
    [CUBED_GROUP_FIRST] = {"first", CB_GROUP_FIRST, NUMBERS_AND_TIMES, 0},
    [CUBED_GROUP_LAST] = {"last", CB_GROUP_LAST, NUMBERS_AND_TIMES, 0},
    [CUBED_GROUP_ARGMIN] = {"argmin", CB_GROUP_ARGMIN, NUMBERS_AND_TIMES, 0},
    [CUBED_GROUP_ARGMAX] = {"argmax", CB_GROUP_ARGMAX, NUMBERS_AND_TIMES, 0},
};

const char *cubed_group_reduction_name(cubed_group_reduction r)
{
    return (unsigned)r < CUBED_GROUP_REDUCTIONS ? reductions[r].name : NULL;
}

bool cubed_group_reduction_parse(const char *name, cubed_group_reduction *out, bool *skip_nan)
{
    bool skip = strncmp(name, "nan", 3) == 0;
    for (int r = 0; r < CUBED_GROUP_REDUCTIONS; r++) {
        if (strcmp(reductions[r].name, name + (skip ? 3 : 0)) != 0) continue;
        *out = (cubed_group_reduction)r;
        if (skip) *skip_nan = true;
        return true;
    }
    return false;
}

/* --- Types ----------------------------------------------------------------------------------------- */

static bool is_bool_result(cubed_group_reduction r)
{
    return r == CUBED_GROUP_ANY || r == CUBED_GROUP_ALL;
}

static bool has_positions(cubed_group_reduction r) { return reductions[r].kind >= CB_GROUP_ARGMIN; }

static bool is_float_result(cubed_group_reduction r)
{
    return r == CUBED_GROUP_MEAN || r == CUBED_GROUP_VAR || r == CUBED_GROUP_STD;
}

cubed_status cubed_group_result_dtype(cubed_group_reduction r, cubed_dtype dtype, cubed_dtype *out,
                                      cubed_error *err)
{
    if ((unsigned)r >= CUBED_GROUP_REDUCTIONS)
        return cb_fail(err, CUBED_E_ARG, "unknown reduction number %d", (int)r);
    cubed_kind kind = cubed_dtype_kind(dtype);
    bool taken = kind <= CUBED_KIND_FLOAT ||
                 (kind == CUBED_KIND_TIME && reductions[r].takes == NUMBERS_AND_TIMES);
    if (!taken)
        return cb_fail(err, CUBED_E_TYPE, "groupby: %s is not defined for %s", reductions[r].name,
                       cubed_dtype_name(dtype));
    *out = dtype == CUBED_FLOAT16 || dtype == CUBED_BFLOAT16 ? CUBED_FLOAT32 : dtype;
    if (r == CUBED_GROUP_COUNT || r == CUBED_GROUP_ARGMIN || r == CUBED_GROUP_ARGMAX)
        *out = CUBED_INT64;
    if (is_bool_result(r)) *out = CUBED_BOOL;
    if (kind >= CUBED_KIND_FLOAT) return CUBED_OK;
    if (is_float_result(r)) *out = CUBED_FLOAT64;
    if (r == CUBED_GROUP_SUM || r == CUBED_GROUP_PROD)
        *out = kind == CUBED_KIND_UINT ? CUBED_UINT64 : CUBED_INT64;
    return CUBED_OK;
}

/* Casts x to the type in which the group kernels compute reduction r. */
static cubed_array *prepared(cb_steps *s, cubed_array *x, cubed_group_reduction r)
{
    cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    cubed_dtype to = kind == CUBED_KIND_UINT ? CUBED_UINT64 : CUBED_INT64;
    if (is_bool_result(r))
        x = cb_step_cast(s, x, CUBED_BOOL);
    else if (kind == CUBED_KIND_FLOAT)
        to = x->node.dtype == CUBED_FLOAT64 ? CUBED_FLOAT64 : CUBED_FLOAT32;
    else if (is_float_result(r))
        to = CUBED_FLOAT64;
    return cb_step_cast(s, x, to);
}

/* --- Results ---------------------------------------------------------------------------------------- */

/* Broadcasts x to the shape of the result. */
static cubed_array *widened(cb_steps *s, const cb_grouping *g, cubed_array *x)
{
    int64_t shape[CUBED_MAX_NDIM];
    int kept = g->x->node.grid->ndim - g->naxes + 1;
    if (s->st != CUBED_OK) return NULL;
    for (int d = 0; d < kept; d++)
        shape[d] = d == g->axis ? g->ngroups : g->x->shape[d < g->axis ? d : d + g->naxes - 1];
    return cb_step_broadcast(s, x, kept, shape);
}

/* Returns the number of elements of each group, as float64. Axes of x that are not grouped have extent 1. */
static cubed_array *count_codes(cb_steps *s, const cb_grouping *g)
{
    cb_grouping of_codes = {.x = g->codes,
                            .codes = g->codes,
                            .naxes = g->naxes,
                            .ngroups = g->ngroups,
                            .kind = CB_GROUP_COUNT,
                            .variant = CB_GROUP_ALL};
    cb_group_states states = {{NULL}};
    cb_group_set_blocks(&of_codes, UINT64_MAX);
    cb_group_reduce(s, &of_codes, &states);
    cubed_array *n = states.plane[0];
    int behind = g->x->node.grid->ndim - g->axis - g->naxes;
    for (int d = 0; d < behind && s->st == CUBED_OK; d++) {
        cubed_array *wider = NULL;
        n = cb_step(s, cubed_expand_dims(n, d + 1, &wider, s->err), &wider);
    }
    return n;
}

static cubed_array *fill_of(cb_steps *s, cubed_group_reduction r, cubed_dtype dtype,
                            const cubed_scalar *given)
{
    cubed_scalar v = {.f64 = 0};
    cubed_kind kind = cubed_dtype_kind(dtype);
    if (kind == CUBED_KIND_TIME) dtype = CUBED_INT64;
    if (given) return cb_step_scalar(s, dtype, given);
    if (dtype == CUBED_FLOAT32) v.f32 = (float)NAN;
    if (dtype == CUBED_FLOAT64) v.f64 = (double)NAN;
    if (kind == CUBED_KIND_TIME) v.i64 = INT64_MIN;
    if (r == CUBED_GROUP_ARGMIN || r == CUBED_GROUP_ARGMAX) v.i64 = -1;
    if (dtype == CUBED_BOOL) v.b = r == CUBED_GROUP_ALL;
    return cb_step_scalar(s, dtype, &v);
}

/* Computes the results of groups with at least one element, in float64 or the type of the states. */
static cubed_array *value_of(cb_steps *s, cubed_group_reduction r, const cb_group_states *states,
                             cubed_array *count, double correction)
{
    switch (r) {
    case CUBED_GROUP_MEAN: return cb_step_op(s, CUBED_OP_DIVIDE, states->plane[0], count, NULL);
    case CUBED_GROUP_VAR:
    case CUBED_GROUP_STD: {
        cubed_array *freedom =
            cb_step_op(s, CUBED_OP_SUBTRACT, count, cb_step_float(s, correction), NULL);
        cubed_array *var = cb_step_op(s, CUBED_OP_DIVIDE, states->plane[0], freedom, NULL);
        return r == CUBED_GROUP_VAR ? var : cb_step_op(s, CUBED_OP_SQRT, var, NULL, NULL);
    }
    case CUBED_GROUP_ARGMIN:
    case CUBED_GROUP_ARGMAX: return states->plane[1];
    default: return states->plane[0];
    }
}

/* Replaces the results of groups with too few elements by `fill`. Times are int64 until each element has a value. */
static cubed_array *with_fill(cb_steps *s, cubed_array *enough, cubed_array *x, cubed_dtype dtype,
                              cubed_array *fill)
{
    bool time = cubed_dtype_kind(dtype) == CUBED_KIND_TIME;
    cubed_dtype in = time ? CUBED_INT64 : dtype;
    x = cb_step_cast(s, x, in);
    if (enough) x = cb_step_op(s, CUBED_OP_WHERE, enough, x, cb_step_cast(s, fill, in));
    return cb_step_cast(s, x, dtype);
}

static cubed_array *reduce(cb_steps *s, cb_grouping *g, cubed_group_reduction r, cubed_dtype dtype,
                           const cubed_group_options *o)
{
    cb_group_states states = {{NULL}};
    cubed_array *count = NULL, *enough = NULL;
    cubed_kind kind = cubed_dtype_kind(g->x->node.dtype);
    bool skip = o->skip_nan && (kind == CUBED_KIND_FLOAT || g->time);
    int64_t least = cb_max_i64(o->min_count, reductions[r].min_count);
    if (r == CUBED_GROUP_VAR || r == CUBED_GROUP_STD)
        least = cb_max_i64(least, (int64_t)floor(o->correction) + 1);
    bool by_codes = !skip; /* if missing elements are not skipped, they are counted */
    if (o->fill_absent && least == 0) {
        by_codes = true;
        least = 1;
    }
    /* Without a count, a minimum or maximum of only NaN stays NaN. That is also the default fill value, so no count is needed. */
    bool counted = least > 0 && !(skip && least == 1 && !o->fill && g->kind == CB_GROUP_MIN) &&
                   !(skip && least == 1 && !o->fill && g->kind == CB_GROUP_MAX);
    g->variant = skip ? counted && !by_codes ? CB_GROUP_SKIP_COUNT : CB_GROUP_SKIP : CB_GROUP_ALL;
    if (has_positions(r) && skip) g->variant = CB_GROUP_SKIP;
    if (r == CUBED_GROUP_COUNT && !skip) {
        states.plane[0] = widened(s, g, count_codes(s, g));
    } else {
        cb_group_set_blocks(g, cb_api_line_bytes(o->task_mem));
        cb_group_reduce(s, g, &states);
    }
    if (has_positions(r)) {
        enough = cb_step_op(s, CUBED_OP_GREATER_EQUAL, states.plane[1], cb_step_whole(s, 0), NULL);
    } else if (counted) {
        int plane = cb_group_planes(g->kind, g->variant) - 1;
        bool have = g->kind == CB_GROUP_M2 || !by_codes || (r == CUBED_GROUP_COUNT && !skip);
        count = have ? states.plane[plane] : count_codes(s, g);
        enough =
            cb_step_op(s, CUBED_OP_GREATER_EQUAL, count, cb_step_float(s, (double)least), NULL);
    }
    cubed_array *value = value_of(s, r, &states, count, o->correction);
    return with_fill(s, enough, value, dtype, fill_of(s, r, dtype, o->fill));
}

/* --- Arguments -------------------------------------------------------------------------------------- */

/* Moves the grouped axes to positions from *first on, in the order of the codes' axes. *first is the index of the first grouped
 * axis. */
static cubed_array *arranged(cb_steps *s, cubed_array *x, const int *axes, int naxes, uint32_t mask,
                             int *first)
{
    int ndim = x->node.grid->ndim, order[CUBED_MAX_NDIM], n = 0;
    *first = __builtin_ctz(mask);
    while (n < *first) {
        order[n] = n;
        n++;
    }
    for (int i = 0; i < naxes; i++) order[n++] = axes[i] < 0 ? axes[i] + ndim : axes[i];
    for (int d = *first; d < ndim; d++) {
        if (!(mask >> d & 1)) order[n++] = d;
    }
    return cb_step_permuted(s, x, order);
}

static cubed_status check_codes(const cubed_array *x, const cubed_array *codes, const int *axes,
                                int naxes, int64_t ngroups, uint32_t *mask, cubed_error *err)
{
    int ndim = x->node.grid->ndim;
    cubed_kind kind = cubed_dtype_kind(codes->node.dtype);
    if (kind != CUBED_KIND_INT && kind != CUBED_KIND_UINT)
        return cb_fail(err, CUBED_E_TYPE, "groupby: codes are %s, expected integers",
                       cubed_dtype_name(codes->node.dtype));
    if (naxes < 1 || ngroups < 0)
        return cb_fail(err, CUBED_E_ARG,
                       "groupby: there are %d axes and %" PRId64
                       " groups, expected at least 1 axis and 0 groups",
                       naxes, ngroups);
    CB_TRY(cb_api_axes("groupby", ndim, axes, naxes, mask, err));
    if (codes->node.grid->ndim != naxes)
        return cb_fail(err, CUBED_E_ARG,
                       "groupby: codes have %d dimensions for %d axes, expected equal numbers",
                       codes->node.grid->ndim, naxes);
    for (int i = 0; i < naxes; i++) {
        int axis = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (codes->shape[i] != x->shape[axis])
            return cb_fail(err, CUBED_E_ARG,
                           "groupby: there are %" PRId64 " codes for the %" PRId64
                           " elements of axis %d, expected one code for each",
                           codes->shape[i], x->shape[axis], axis);
    }
    return CUBED_OK;
}

static cubed_status check_options(cubed_group_reduction r, const cubed_group_options *o,
                                  cubed_error *err)
{
    const char *name = reductions[r].name;
    if (o->skip_nan && is_bool_result(r))
        return cb_fail(err, CUBED_E_ARG, "groupby: reduction nan%s does not exist", name);
    if (o->min_count > 1 && has_positions(r))
        return cb_fail(err, CUBED_E_ARG, "groupby: %s has no parameter min_count", name);
    return CUBED_OK;
}

/* Returns the result for an empty x. */
static cubed_array *all_empty(cb_steps *s, const cb_grouping *g, cubed_group_reduction r,
                              cubed_dtype dtype, const cubed_group_options *o)
{
    bool neutral =
        o->min_count <= 0 && !o->fill_absent && reductions[r].min_count == 0 && !has_positions(r);
    cubed_array *value =
        neutral ? cb_step_cast(s, cb_step_float(s, r == CUBED_GROUP_PROD ? 1 : 0), dtype)
                : fill_of(s, r, dtype, o->fill);
    return widened(s, g, value);
}

cubed_status cubed_groupby_reduce(cubed_array *x, cubed_array *codes, const int *axes, int naxes,
                                  int64_t ngroups, cubed_group_reduction reduction,
                                  const cubed_group_options *options, cubed_array **out,
                                  cubed_error *err)
{
    cubed_group_options taken = CUBED_GROUP_OPTIONS_INIT;
    const cubed_group_options *o = &taken;
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *result = NULL;
    cubed_dtype dtype;
    uint32_t mask;
    CB_TRY(CB_OPTIONS_TAKE("groupby", options, &taken, err));
    CB_TRY(cubed_group_result_dtype(reduction, x->node.dtype, &dtype, err));
    CB_TRY(check_codes(x, codes, axes, naxes, ngroups, &mask, err));
    CB_TRY(check_options(reduction, o, err));
    cb_grouping g = {.naxes = naxes,
                     .ngroups = ngroups,
                     .kind = reductions[reduction].kind,
                     .time = cubed_dtype_kind(x->node.dtype) == CUBED_KIND_TIME};
    g.x = arranged(&s, x, axes, naxes, mask, &g.axis);
    g.codes = cb_step_cast(&s, codes, CUBED_INT64);
    if (s.st == CUBED_OK) {
        bool empty = false;
        for (int i = 0; i < naxes; i++) empty = empty || codes->shape[i] == 0;
        if (empty) {
            result = all_empty(&s, &g, reduction, dtype, o);
        } else if ((g.x = prepared(&s, g.x, reduction))) {
            result = reduce(&s, &g, reduction, dtype, o);
        }
    }
    return cb_steps_end(&s, result, out);
}
