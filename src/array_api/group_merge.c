/* Merges the states of two parts of a grouped axis elementwise. */
#include "array_api/group_states.h"
#include "base/error.h"

static cubed_array *is_missing(cb_steps *s, const cb_grouping *g, cubed_array *x)
{
    return g->time ? cb_step_is_nat(s, x) : cb_step_op(s, CUBED_OP_ISNAN, x, NULL, NULL);
}

static cubed_array *extreme(cb_steps *s, const cb_grouping *g, cubed_array *a, cubed_array *b)
{
    cubed_op which = g->kind == CB_GROUP_MIN ? CUBED_OP_MINIMUM : CUBED_OP_MAXIMUM;
    cubed_array *both = cb_step_binary(s, which, a, b);
    if (g->variant == CB_GROUP_ALL && !g->time) return both;
    cubed_array *no_a = is_missing(s, g, a), *no_b = is_missing(s, g, b);
    bool skip = g->variant != CB_GROUP_ALL;
    return cb_step_where(s, no_a, skip ? b : a, cb_step_where(s, no_b, skip ? a : b, both));
}

/* Merges sums of squared distances (Chan, Golub and LeVeque 1983). Groups without elements have mean 0. */
static void merge_squares(cb_steps *s, const cb_group_states *a, const cb_group_states *b,
                          cb_group_states *out)
{
    cubed_array *na = a->plane[2], *nb = b->plane[2], *n = cb_step_binary(s, CUBED_OP_ADD, na, nb);
    cubed_array *d = cb_step_binary(s, CUBED_OP_SUBTRACT, b->plane[1], a->plane[1]);
    cubed_array *divisor = cb_step_binary(s, CUBED_OP_MAXIMUM, n, cb_step_float(s, 1));
    cubed_array *part =
        cb_step_binary(s, CUBED_OP_MULTIPLY, d, cb_step_binary(s, CUBED_OP_DIVIDE, nb, divisor));
    cubed_array *between =
        cb_step_binary(s, CUBED_OP_MULTIPLY, cb_step_binary(s, CUBED_OP_MULTIPLY, d, part), na);
    out->plane[0] = cb_step_binary(
        s, CUBED_OP_ADD, cb_step_binary(s, CUBED_OP_ADD, a->plane[0], b->plane[0]), between);
    out->plane[1] = cb_step_binary(s, CUBED_OP_ADD, a->plane[1], part);
    out->plane[2] = n;
}

/* Returns true where the value of b, not of a, is the value of the merged group. Valid only where both have a value. */
static cubed_array *wins(cb_steps *s, const cb_grouping *g, const cb_group_states *a,
                         const cb_group_states *b)
{
    cubed_array *before = cb_step_binary(s, CUBED_OP_LESS, b->plane[1], a->plane[1]);
    if (g->kind == CB_GROUP_FIRST) return before;
    if (g->kind == CB_GROUP_LAST) return cb_step_binary(s, CUBED_OP_LESS, a->plane[1], b->plane[1]);
    cubed_op which = g->kind == CB_GROUP_ARGMIN ? CUBED_OP_LESS : CUBED_OP_GREATER;
    cubed_array *tie =
        cb_step_binary(s, CUBED_OP_LOGICAL_AND,
                       cb_step_binary(s, CUBED_OP_EQUAL, a->plane[0], b->plane[0]), before);
    cubed_array *better = cb_step_binary(s, CUBED_OP_LOGICAL_OR,
                                         cb_step_binary(s, which, b->plane[0], a->plane[0]), tie);
    cubed_array *no_a = is_missing(s, g, a->plane[0]), *no_b = is_missing(s, g, b->plane[0]);
    cubed_array *has_a = cb_step_op(s, CUBED_OP_LOGICAL_NOT, no_a, NULL, NULL);
    return cb_step_where(s, no_b, cb_step_binary(s, CUBED_OP_LOGICAL_OR, has_a, before),
                         cb_step_binary(s, CUBED_OP_LOGICAL_AND, has_a, better));
}

static void merge_positions(cb_steps *s, const cb_grouping *g, const cb_group_states *a,
                            const cb_group_states *b, cb_group_states *out)
{
    cubed_array *zero = cb_step_whole(s, 0);
    cubed_array *no_a = cb_step_binary(s, CUBED_OP_LESS, a->plane[1], zero);
    cubed_array *has_b = cb_step_binary(s, CUBED_OP_GREATER_EQUAL, b->plane[1], zero);
    cubed_array *take =
        cb_step_binary(s, CUBED_OP_LOGICAL_AND, has_b,
                       cb_step_binary(s, CUBED_OP_LOGICAL_OR, no_a, wins(s, g, a, b)));
    out->plane[0] = cb_step_where(s, take, b->plane[0], a->plane[0]);
    out->plane[1] = cb_step_where(s, take, b->plane[1], a->plane[1]);
}

void cb_group_merge(cb_steps *s, const cb_grouping *g, const cb_group_states *a,
                    const cb_group_states *b, cb_group_states *out)
{
    *out = (cb_group_states){{NULL}};
    switch (g->kind) {
    case CB_GROUP_M2: merge_squares(s, a, b, out); return;
    case CB_GROUP_ARGMIN:
    case CB_GROUP_ARGMAX:
    case CB_GROUP_FIRST:
    case CB_GROUP_LAST: merge_positions(s, g, a, b, out); return;
    case CB_GROUP_MIN:
    case CB_GROUP_MAX: out->plane[0] = extreme(s, g, a->plane[0], b->plane[0]); break;
    default:
        out->plane[0] =
            cb_step_binary(s, g->kind == CB_GROUP_PROD ? CUBED_OP_MULTIPLY : CUBED_OP_ADD,
                           a->plane[0], b->plane[0]);
        break;
    }
    if (a->plane[1]) out->plane[1] = cb_step_binary(s, CUBED_OP_ADD, a->plane[1], b->plane[1]);
}
