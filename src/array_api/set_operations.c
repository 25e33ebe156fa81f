/* Set operations: intersection, union and differences. The size of a result depends on values. So a mask marks the elements of
 * a vector that belong to the result, and these elements are counted before they are selected. */
#include "array_api/api_pkg.h"
#include "array_api/sets.h"
#include "base/error.h"
#include "base/struct_size.h"

/* Values and positions, and a mask that selects those in the result. */
typedef struct chosen {
    cubed_array *mask, *values;
    cubed_array *first, *second; /* positions in both operands; NULL if not requested */
} chosen;

static cubed_array *negated(cb_steps *s, cubed_array *x)
{
    return cb_step_unary(s, CUBED_OP_LOGICAL_NOT, x);
}

static cubed_array *line(cb_steps *s, cubed_array *x)
{
    cubed_array *y = NULL;
    return s->st == CUBED_OK ? cb_step(s, cb_api_flatten(x, &y, s->err), &y) : NULL;
}

/* Creates a vector with one number or flag. */
static cubed_array *one_of(cb_steps *s, cubed_dtype dtype, int64_t value)
{
    const cubed_scalar number = {.i64 = value}, flag = {.b = value != 0};
    const int64_t one = 1;
    cubed_array *x = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s,
                   cubed_array_full(s->ctx, dtype, 1, &one, &one,
                                    dtype == CUBED_BOOL ? &flag : &number, &x, s->err),
                   &x);
}

/* Shifts x, bools or int64, by one position towards the end, or towards the start with `to_front`. `value` fills the free
 * position. */
static cubed_array *shifted(cb_steps *s, cubed_array *x, bool to_front, int64_t value)
{
    if (!x || s->st != CUBED_OK) return NULL;
    cubed_array *end = one_of(s, x->node.dtype, value);
    cubed_array *rest = cb_step_part(s, x, 0, to_front ? 1 : 0, x->shape[0] - 1, 1);
    cubed_array *const parts[2] = {to_front ? rest : end, to_front ? end : rest};
    if (s->st != CUBED_OK) return NULL;
    return x->shape[0] > 1 ? cb_step_concat(s, parts, 2, 0) : end;
}

/* --- Differences --------------------------------------------------------------------------------------- */

/* Chooses the elements of x1 that are not in x2. They are sorted and distinct, or, with `assume_unique`, in the order of x1. */
static void choose_difference(cb_steps *s, cubed_array *x1, cubed_array *x2,
                              const cubed_set_options *o, chosen *c)
{
    cubed_sort_options by = CUBED_SORT_OPTIONS_INIT;
    cubed_array *in_order = NULL, *apart = NULL;
    by.task_mem = o->task_mem;
    c->values = line(s, x1);
    if (!o->assume_unique && s->st == CUBED_OK)
        c->values = cb_step(s, cubed_sort_with(c->values, 0, &by, &in_order, s->err), &in_order);
    if (s->st != CUBED_OK) return;
    c->mask = cb_step(s, cubed_isin(c->values, x2, true, &apart, s->err), &apart);
    if (!o->assume_unique)
        c->mask =
            cb_step_binary(s, CUBED_OP_LOGICAL_AND, c->mask, cb_step_first(s, c->values, true));
}

/* --- Sorted elements of both operands ------------------------------------------------------------------ */

/* All elements of both operands, sorted. Equal elements of the first operand precede those of the second. */
typedef struct both {
    cubed_array *sorted, *order; /* order: positions in the concatenation of both operands */
    int64_t n1;                  /* number of elements of the first operand */
    cubed_array *is_second;
} both;

/* Sorts the elements of both operands. `backwards` reverses the order of equal elements of the first operand. */
static both sort_both(cb_steps *s, cubed_array *x1, cubed_array *x2, bool backwards,
                      uint64_t task_mem)
{
    const int front = 0;
    both b = {.sorted = NULL};
    cubed_array *parts[2] = {line(s, x1), NULL}, *flipped = NULL;
    parts[1] = line(s, x2);
    if (s->st != CUBED_OK) return b;
    b.n1 = parts[0]->shape[0];
    if (backwards)
        parts[0] = cb_step(s, cubed_flip(parts[0], &front, 1, &flipped, s->err), &flipped);
    cubed_array *all = s->st == CUBED_OK ? cb_step_concat(s, parts, 2, 0) : NULL;
    if (s->st != CUBED_OK) return b;
    cubed_array *sorted = NULL, *order = NULL;
    const cubed_status st =
        cb_api_sort_runs(all, NULL, 0, false, task_mem, &sorted, &order, s->err);
    b.sorted = cb_step(s, st, &sorted);
    b.order = st == CUBED_OK ? cb_step(s, CUBED_OK, &order) : NULL;
    b.is_second = cb_step_binary(s, CUBED_OP_GREATER_EQUAL, b.order, cb_step_whole(s, b.n1));
    return b;
}

/* Selects pairs of equal adjacent elements, the first from x1 and the second from x2. Each group with elements of both operands
 * has one such pair. Equal elements of x1 are in reverse order, so both elements of a pair are the first occurrences in their
 * operands. */
static void choose_intersection(cb_steps *s, cubed_array *x1, cubed_array *x2,
                                const cubed_set_options *o, chosen *c)
{
    const both b = sort_both(s, x1, x2, true, o->task_mem);
    if (s->st != CUBED_OK) return;
    const int64_t n = b.sorted->shape[0];
    c->values = b.sorted;
    if (n < 2) { /* both operands together have at most one element, so they have none in common */
        c->mask = cb_step_binary(s, CUBED_OP_LOGICAL_AND, b.is_second, negated(s, b.is_second));
        c->first = c->second = b.order;
        return;
    }
    cubed_array *same = cb_step_binary(s, CUBED_OP_EQUAL, cb_step_part(s, b.sorted, 0, 1, n - 1, 1),
                                       cb_step_part(s, b.sorted, 0, 0, n - 1, 1));
    cubed_array *crosses = cb_step_binary(s, CUBED_OP_LOGICAL_AND, b.is_second,
                                          negated(s, shifted(s, b.is_second, false, true)));
    cubed_array *const parts[2] = {one_of(s, CUBED_BOOL, false), same};
    if (s->st == CUBED_OK)
        c->mask = cb_step_binary(s, CUBED_OP_LOGICAL_AND, cb_step_concat(s, parts, 2, 0), crosses);
    c->first = cb_step_binary(s, CUBED_OP_SUBTRACT, cb_step_whole(s, b.n1 - 1),
                              shifted(s, b.order, false, 0));
    c->second = cb_step_binary(s, CUBED_OP_SUBTRACT, b.order, cb_step_whole(s, b.n1));
}

/* Selects one element of each group whose elements come from one operand only. It is the last element of a group of x1, or the
 * first of a group of x2. A NaN of one operand never equals a NaN of the other. */
static void choose_exclusive(cb_steps *s, cubed_array *x1, cubed_array *x2,
                             const cubed_set_options *o, chosen *c)
{
    const both b = sort_both(s, x1, x2, false, o->task_mem);
    if (s->st != CUBED_OK) return;
    const cubed_kind kind = cubed_dtype_kind(b.sorted->node.dtype);
    c->values = b.sorted;
    if (b.sorted->shape[0] == 0) {
        c->mask = b.is_second;
        return;
    }
    cubed_array *first = cb_step_first(s, b.sorted, true);
    cubed_array *last = shifted(s, first, true, true);
    c->mask = cb_step_binary(
        s, CUBED_OP_LOGICAL_OR, cb_step_binary(s, CUBED_OP_LOGICAL_AND, first, b.is_second),
        cb_step_binary(s, CUBED_OP_LOGICAL_AND, last, negated(s, b.is_second)));
    if (kind != CUBED_KIND_FLOAT && kind != CUBED_KIND_COMPLEX && kind != CUBED_KIND_TIME) return;
    cubed_array *missing = cb_step_unary(s, CUBED_OP_ISNAN, b.sorted);
    cubed_array *same_side =
        cb_step_binary(s, CUBED_OP_EQUAL, b.is_second, shifted(s, b.is_second, false, false));
    cubed_array *again =
        cb_step_binary(s, CUBED_OP_LOGICAL_AND, shifted(s, missing, false, false), same_side);
    if (s->st == CUBED_OK)
        c->mask = cb_step_op(s, CUBED_OP_WHERE, missing, negated(s, again), c->mask);
}

/* Selects the distinct elements of both operands. */
static void choose_union(cb_steps *s, cubed_array *x1, cubed_array *x2, const cubed_set_options *o,
                         chosen *c)
{
    cubed_sort_options by = CUBED_SORT_OPTIONS_INIT;
    cubed_array *parts[2] = {line(s, x1), NULL}, *in_order = NULL;
    parts[1] = line(s, x2);
    by.task_mem = o->task_mem;
    cubed_array *all = s->st == CUBED_OK ? cb_step_concat(s, parts, 2, 0) : NULL;
    if (s->st != CUBED_OK) return;
    c->values = cb_step(s, cubed_sort_with(all, 0, &by, &in_order, s->err), &in_order);
    c->mask = cb_step_first(s, c->values, true);
}

static chosen choose(cb_steps *s, cubed_set_operation operation, cubed_array *x1, cubed_array *x2,
                     const cubed_set_options *o)
{
    static void (*const choices[])(cb_steps *, cubed_array *, cubed_array *,
                                   const cubed_set_options *, chosen *) = {
        [CUBED_SET_UNION] = choose_union,
        [CUBED_SET_INTERSECTION] = choose_intersection,
        [CUBED_SET_DIFFERENCE] = choose_difference,
        [CUBED_SET_EXCLUSIVE] = choose_exclusive,
    };
    chosen c = {.mask = NULL};
    choices[operation](s, x1, x2, o, &c);
    return c;
}

/* --- Counting and selecting elements ------------------------------------------------------------------- */

static cubed_status check(cubed_set_operation operation, cubed_error *err)
{
    if (operation >= CUBED_SET_UNION && operation <= CUBED_SET_EXCLUSIVE) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG, "set: operation is %d, expected a cubed_set_operation",
                   (int)operation);
}

cubed_status cubed_set_offsets(cubed_set_operation operation, cubed_array *x1, cubed_array *x2,
                               const cubed_set_options *options, cubed_array **out,
                               cubed_error *err)
{
    cubed_set_options o = CUBED_SET_OPTIONS_INIT;
    cubed_array *offsets = NULL;
    CB_TRY(check(operation, err));
    CB_TRY(CB_OPTIONS_TAKE("set", options, &o, err));
    cb_steps s = {.ctx = x1->ctx, .err = err};
    const chosen c = choose(&s, operation, x1, x2, &o);
    if (s.st == CUBED_OK)
        cb_step(&s, cubed_mask_offsets(c.mask, c.values->chunks[0], &offsets, err), &offsets);
    return cb_steps_end(&s, offsets, out);
}

cubed_status cubed_set(cubed_set_operation operation, cubed_array *x1, cubed_array *x2,
                       cubed_array *offsets, int64_t count, const cubed_set_options *options,
                       const cubed_set_outputs *outs, cubed_error *err)
{
    cubed_set_options o = CUBED_SET_OPTIONS_INIT;
    CB_TRY(check(operation, err));
    CB_TRY(CB_OPTIONS_TAKE("set", options, &o, err));
    cb_steps s = {.ctx = x1->ctx, .err = err};
    const chosen c = choose(&s, operation, x1, x2, &o);
    cubed_array *const from[3] = {c.values, c.first, c.second};
    cubed_array **const places[3] = {outs->values, outs->indices1, outs->indices2};
    cubed_array *made[3] = {NULL};
    for (int i = 0; i < 3 && s.st == CUBED_OK; i++) {
        if (!places[i]) continue;
        if (!from[i])
            s.st = cb_fail(err, CUBED_E_ARG, "set: only an intersection returns positions");
        else
            made[i] = cb_step(
                &s,
                cb_api_pick(from[i], c.mask, offsets, c.values->chunks[0], count, &made[i], err),
                &made[i]);
    }
    return cb_steps_end_all(&s, made, places, 3);
}
