/* Keys with integers, slices, new axes and arrays of positions, with NumPy's semantics: x[key] and x[key] = value.
 *
 * A key is applied in two steps. The first step slices x: integers drop their axes, and new axes have extent 1. The second step
 * selects elements of the sliced array by arrays of positions. */
#include "array_api/api_pkg.h"
#include "array_api/checks.h"
#include "base/error.h"
#include "ops/shapes.h"

/* The parsed form of a key. */
typedef struct selection {
    int nbasic; /* number of axes of x that the key has used */
    cubed_slice basic[CUBED_MAX_NDIM];
    /* number of new axes that the slices insert, and their positions in the sliced array, in ascending order */
    int nfresh;
    int fresh[CUBED_MAX_NDIM];
    int npart; /* number of axes of the array after the slices */
    /* positions along each axis of the sliced array; NULL if the whole axis is selected */
    cubed_array *at[CUBED_MAX_NDIM];
    bool has_positions, all_checked;
    int place;   /* index of the first axis of the result that the arrays of positions produce */
    int ncommon; /* number of axes of the shape to which all positions broadcast, and the shape */
    int64_t common[CUBED_MAX_NDIM];
} selection;

/* The entries of a key that NumPy calls advanced: their number, and the indices of the first and the last. NumPy puts the axes of
 * the positions where the first advanced entry is, or in front if other entries are between advanced ones. */
typedef struct advanced {
    int n, first, last;
} advanced;

/* --- Reading a key ------------------------------------------------------------------------------------ */

static cubed_status too_long(const cubed_array *x, cubed_error *err)
{
    return cb_fail(err, CUBED_E_INDEX, "index: more indices than the %d axes of the array",
                   x->node.grid->ndim);
}

static cubed_status add_common(selection *s, const cubed_array *positions, cubed_error *err)
{
    char a[CB_SHAPE_TEXT_CAP], b[CB_SHAPE_TEXT_CAP];
    if (cb_shape_join(&s->ncommon, s->common, positions) < 0) return CUBED_OK;
    return cb_fail(err, CUBED_E_INDEX, "index: positions of shapes %s and %s do not broadcast",
                   cb_extents_text(s->ncommon, s->common, a), cb_shape_text(positions, b));
}

static cubed_status add_axis(selection *s, cubed_array *positions, bool is_new, cubed_error *err)
{
    if (s->npart == CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "index: the result has more than %d dimensions",
                       CUBED_MAX_NDIM);
    if (is_new) s->fresh[s->nfresh++] = s->npart;
    s->at[s->npart++] = positions;
    if (!positions) return CUBED_OK;
    s->has_positions = true;
    return add_common(s, positions, err);
}

static cubed_status add_key(selection *s, const cubed_array *x, const cubed_key *k, int number,
                            advanced *a, cubed_error *err)
{
    const bool has_positions = k->kind == CUBED_KEY_POSITIONS || k->kind == CUBED_KEY_FLAG;
    const bool uses_axis = k->kind == CUBED_KEY_SLICE || k->kind == CUBED_KEY_POSITIONS;
    const bool drops = k->kind == CUBED_KEY_SLICE && k->slice.drop;
    if (has_positions || drops) {
        if (a->n++ == 0) a->first = number;
        a->last = number;
    } else if (a->n == 0 && k->kind != CUBED_KEY_GAP) {
        s->place++;
    }
    if (k->kind == CUBED_KEY_GAP) return CUBED_OK;
    if (uses_axis) {
        if (s->nbasic == x->node.grid->ndim) return too_long(x, err);
        const cubed_slice whole = {0, x->shape[s->nbasic], 1, false};
        s->basic[s->nbasic++] = k->kind == CUBED_KEY_SLICE ? k->slice : whole;
    }
    if (has_positions && !k->checked) s->all_checked = false;
    return drops ? CUBED_OK : add_axis(s, has_positions ? k->positions : NULL, !uses_axis, err);
}

/* Checks the number of axes of the result. In the result, the common axes of the arrays of positions replace the axes that they
 * index. */
static cubed_status check_result(const selection *s, cubed_error *err)
{
    int ndim = s->ncommon;
    for (int d = 0; d < s->npart; d++) ndim += !s->at[d];
    if (ndim <= CUBED_MAX_NDIM) return CUBED_OK;
    return cb_fail(err, CUBED_E_UNSUPPORTED, "index: the result has %d axes, expected at most %d",
                   ndim, CUBED_MAX_NDIM);
}

/* Reads the entries of a key. Axes of x without an entry are selected as a whole. */
static cubed_status read_keys(const cubed_array *x, const cubed_key *keys, int n, bool in_front,
                              selection *s, cubed_error *err)
{
    const cubed_key whole_axis = {.kind = CUBED_KEY_SLICE};
    advanced a = {.n = 0};
    *s = (selection){.all_checked = true};
    for (int i = 0; i < n; i++) CB_TRY(add_key(s, x, &keys[i], i, &a, err));
    while (s->nbasic < x->node.grid->ndim) {
        cubed_key k = whole_axis;
        k.slice = (cubed_slice){0, x->shape[s->nbasic], 1, false};
        CB_TRY(add_key(s, x, &k, n, &a, err));
    }
    if (in_front || a.last - a.first != a.n - 1) s->place = 0;
    return check_result(s, err);
}

/* --- Steps -------------------------------------------------------------------------------------------- */

static cubed_array *expanded(cb_steps *s, cubed_array *x, int axis)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK || !x) return NULL;
    return cb_step(s, cubed_expand_dims(x, axis, &y, s->err), &y);
}

static cubed_array *squeezed(cb_steps *s, cubed_array *x, const int *axes, int n)
{
    cubed_array *y = NULL;
    if (s->st != CUBED_OK || !x || n == 0) return x;
    return cb_step(s, cubed_squeeze(x, axes, n, &y, s->err), &y);
}

static cubed_array *part_of(cb_steps *s, cubed_array *x, const selection *k)
{
    cubed_array *y = NULL;
    y = cb_step(s, cubed_slice_array(x, k->basic, &y, s->err), &y);
    for (int i = 0; i < k->nfresh; i++) y = expanded(s, y, k->fresh[i]);
    return y;
}

/* Gets the permutation of axes from the result of cubed_gather to the order that NumPy defines. Returns false if the axes already
 * have this order. */
static bool order_of(const selection *k, int order[CUBED_MAX_NDIM])
{
    int first = -1, last = -1, n = 0, rest = 0, j = 0;
    for (int d = 0; d < k->npart; d++) {
        if (!k->at[d]) continue;
        if (n++ == 0) first = d;
        last = d;
    }
    /* index, in the result of cubed_gather, of the first axis that the positions produce */
    const int gathered = last - first == n - 1 ? first : 0;
    if (k->ncommon == 0 || gathered == k->place) return false;
    for (int d = 0; d <= k->npart - n; d++) {
        if (d == k->place)
            for (int i = 0; i < k->ncommon; i++) order[j++] = gathered + i;
        if (d == k->npart - n) break;
        order[j++] = rest < gathered ? rest : rest + k->ncommon;
        rest++;
    }
    return true;
}

/* Gets the shape of the elements that the arrays of positions select from the sliced array. Returns its number of axes. */
static int selected_shape(const selection *k, const cubed_array *part, int64_t *shape)
{
    int n = 0, rest = 0;
    for (int d = 0; d < k->npart; d++) {
        if (k->at[d]) continue;
        if (k->has_positions && rest == k->place)
            for (int i = 0; i < k->ncommon; i++) shape[n++] = k->common[i];
        shape[n++] = part->shape[d];
        rest++;
    }
    if (k->has_positions && rest == k->place)
        for (int i = 0; i < k->ncommon; i++) shape[n++] = k->common[i];
    return n;
}

cubed_status cubed_index(cubed_array *x, const cubed_key *keys, int n, bool in_front,
                         cubed_array **out, cubed_error *err)
{
    selection k;
    int order[CUBED_MAX_NDIM];
    cubed_array *picked = NULL;
    CB_TRY(read_keys(x, keys, n, in_front, &k, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = part_of(&s, x, &k);
    if (y && k.has_positions) {
        y = cb_step(&s, cubed_gather(y, k.at, &picked, err), &picked);
        if (y && order_of(&k, order)) y = cb_step_permuted(&s, y, order);
    }
    return cb_steps_end(&s, y, out);
}

/* --- Assigning ---------------------------------------------------------------------------------------- */

/* Reshapes `value` to ndim axes, so that it broadcasts to `shape`. If it does not broadcast, sets an error and returns NULL. */
static cubed_array *aligned(cb_steps *s, cubed_array *value, int ndim, const int64_t *shape)
{
    const int have = value->node.grid->ndim, extra = have - ndim;
    int front[CUBED_MAX_NDIM];
    bool fits = true;
    for (int d = 0; d < have; d++) {
        const int64_t room = d < extra ? 1 : shape[d - extra];
        fits = fits && (value->shape[d] == 1 || value->shape[d] == room);
        if (d < extra) front[d] = d;
    }
    if (!fits) {
        char a[CB_SHAPE_TEXT_CAP], b[CB_SHAPE_TEXT_CAP];
        s->st = cb_fail(s->err, CUBED_E_ARG, "assign: a value of shape %s does not fit into %s",
                        cb_extents_text(have, value->shape, a), cb_extents_text(ndim, shape, b));
        return NULL;
    }
    for (int d = extra; d < 0; d++) value = expanded(s, value, 0);
    return squeezed(s, value, front, extra > 0 ? extra : 0);
}

/* Returns the sliced array after the elements at the positions were replaced. */
static cubed_array *scattered(cb_steps *s, cubed_array *part, const selection *k,
                              cubed_array *value)
{
    int order[CUBED_MAX_NDIM] = {0}, back[CUBED_MAX_NDIM];
    cubed_array *y = NULL;
    if (!value) return NULL;
    if (order_of(k, order)) {
        for (int j = 0; j < value->node.grid->ndim; j++) back[order[j]] = j;
        value = cb_step_permuted(s, value, back);
    }
    return value ? cb_step(s, cubed_scatter(part, k->at, value, &y, s->err), &y) : NULL;
}

/* Returns x, as a result that depends on the computation of `part`, so that the positions in `part` are checked. `part` has no
 * elements, so nothing is assigned. */
static cubed_array *after_part(cb_steps *s, cubed_array *x, cubed_array *part)
{
    const cubed_reduce_options all = CUBED_REDUCE_OPTIONS_INIT;
    cubed_array *holds = cb_step_cast(s, part, CUBED_BOOL);
    if (holds) holds = cb_step_reduce(s, CUBED_REDUCE_ALL, holds, &all);
    holds = cb_step_broadcast(s, holds, x->node.grid->ndim, x->shape);
    return holds ? cb_step_required(s, x, holds, "positions in the array") : NULL;
}

cubed_status cubed_index_assign(cubed_array *x, const cubed_key *keys, int n, cubed_array *value,
                                cubed_array **out, cubed_error *err)
{
    selection k;
    int64_t shape[CUBED_MAX_NDIM];
    bool is_empty = false;
    cubed_array *result = NULL;
    CB_TRY(read_keys(x, keys, n, false, &k, err));
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *part = part_of(&s, x, &k), *y = NULL;
    if (part) y = aligned(&s, value, selected_shape(&k, part, shape), shape);
    if (y && k.has_positions) y = scattered(&s, part, &k, y);
    y = squeezed(&s, y, k.fresh, k.nfresh);
    if (y && k.has_positions && !k.all_checked) {
        for (int d = 0; d < y->node.grid->ndim; d++) is_empty = is_empty || y->shape[d] == 0;
    }
    if (is_empty)
        result = after_part(&s, x, y);
    else if (y)
        result = cb_step(&s, cubed_assign(x, k.basic, y, &result, err), &result);
    return cb_steps_end(&s, result, out);
}

cubed_status cubed_assign_where(cubed_array *x, cubed_array *mask, cubed_array *value,
                                cubed_array **out, cubed_error *err)
{
    const int ndim = x->node.grid->ndim, masked = mask->node.grid->ndim;
    int64_t n = 1;
    bool same = masked <= ndim;
    for (int d = 0; d < masked && same; d++) same = mask->shape[d] == x->shape[d];
    if (!same || mask->node.dtype != CUBED_BOOL)
        return cb_fail(err, CUBED_E_ARG,
                       "assign: the mask has another type or shape than expected: bool, with the "
                       "extents of the first axes");
    for (int d = 0; d < value->node.grid->ndim; d++) n *= value->shape[d];
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = NULL;
    if (masked == ndim && n != 1) {
        cubed_array *line = aligned(&s, value, 1, &n);
        if (line) y = cb_step(&s, cubed_scatter_mask(x, mask, line, &y, err), &y);
    } else {
        cubed_array *rows = aligned(&s, value, ndim - masked, x->shape + masked);
        for (int d = masked; d < ndim; d++) mask = expanded(&s, mask, d);
        if (rows && mask) y = cb_step(&s, cubed_replace(x, mask, rows, &y, err), &y);
    }
    return cb_steps_end(&s, y, out);
}
