/* Groups of labelled objects. A label's group is its distance from the smallest label of the index, or its position among the
 * sorted labels if these are far apart. */
#include "array_api/objects.h"

#include <stdlib.h>
#include <string.h>

#include "array_api/api_pkg.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"

/* --- The index ----------------------------------------------------------------------------------------- */

/* The distinct labels of the index, and the group of each label. */
typedef struct table {
    int64_t *sorted, *place;
    int64_t nsorted;
    bool is_range; /* group numbers are distances from sorted[0], otherwise positions in `sorted` */
    bool in_order; /* the index has each label once, and place[i] is i */
    int64_t ngroups;
} table;

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t position(const table *t, int64_t label)
{
    return t->is_range ? label - t->sorted[0] : cb_find_start(t->sorted, t->nsorted, label);
}

static void fill_table(const int64_t *index, int64_t n, table *t)
{
    int64_t span;
    memcpy(t->sorted, index, (size_t)n * sizeof *index);
    qsort(t->sorted, (size_t)n, sizeof *t->sorted, ascending);
    for (int64_t i = 0; i < n; i++) {
        if (t->nsorted == 0 || t->sorted[i] != t->sorted[t->nsorted - 1])
            t->sorted[t->nsorted++] = t->sorted[i];
    }
    t->is_range = !__builtin_sub_overflow(t->sorted[t->nsorted - 1], t->sorted[0], &span) &&
                  span < 2 * t->nsorted;
    t->ngroups = t->is_range ? span + 1 : t->nsorted;
    t->in_order = n == t->ngroups;
    for (int64_t i = 0; i < n; i++) {
        t->place[i] = position(t, index[i]);
        t->in_order = t->in_order && t->place[i] == i;
    }
}

/* --- Codes --------------------------------------------------------------------------------------------- */

static cubed_array *in_range(cb_steps *s, const table *t, cubed_array *labels)
{
    cubed_array *first = cb_step_whole(s, t->sorted[0]);
    cubed_array *last = cb_step_whole(s, t->sorted[t->nsorted - 1]);
    cubed_array *inside = cb_step_binary(s, CUBED_OP_LOGICAL_AND,
                                         cb_step_binary(s, CUBED_OP_GREATER_EQUAL, labels, first),
                                         cb_step_binary(s, CUBED_OP_LESS_EQUAL, labels, last));
    return cb_step_where(s, inside, cb_step_binary(s, CUBED_OP_SUBTRACT, labels, first),
                         cb_step_whole(s, -1));
}

static cubed_array *found(cb_steps *s, cubed_array *sorted, cubed_array *labels, bool right)
{
    cubed_array *at = NULL;
    if (!sorted || !labels || s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_searchsorted(sorted, labels, right, NULL, &at, s->err), &at);
}

static cubed_array *searched(cb_steps *s, const table *t, cubed_array *labels)
{
    cubed_array *sorted = cb_api_copied(s, CUBED_INT64, 1, &t->nsorted, NULL, t->sorted);
    cubed_array *before = found(s, sorted, labels, false);
    cubed_array *behind = found(s, sorted, labels, true);
    return cb_step_where(s, cb_step_binary(s, CUBED_OP_GREATER, behind, before), before,
                         cb_step_whole(s, -1));
}

/* Returns the codes of a single object: 0 where `is_inside` is true, else -1. */
static cubed_array *single(cb_steps *s, cubed_array *is_inside)
{
    return cb_step_where(s, is_inside, cb_step_whole(s, 0), cb_step_whole(s, -1));
}

static cubed_array *codes_of(cb_steps *s, const cb_grouped_image *g, const table *t,
                             cubed_array *given)
{
    const cubed_objects *o = g->objects;
    const bool is_wide = given->node.dtype == CUBED_UINT64;
    cubed_array *labels = cb_step_cast(s, given, CUBED_INT64), *codes;
    if (!o->index) /* compares uint64 labels exactly, unlike the cast to int64 */
        return single(
            s, cb_step_binary(s, CUBED_OP_GREATER, is_wide ? given : labels, cb_step_whole(s, 0)));
    if (o->ndim == 0)
        codes = single(s, cb_step_binary(s, CUBED_OP_EQUAL, labels, cb_step_whole(s, o->index[0])));
    else if (g->n == 0)
        codes = cb_step_binary(s, CUBED_OP_MINIMUM, labels, cb_step_whole(s, -1));
    else
        codes = t->is_range ? in_range(s, t, labels) : searched(s, t, labels);
    /* The cast to int64 makes labels above INT64_MAX negative, so their code is set to -1. */
    return is_wide ? cb_step_where(s, cb_step_beyond(s, given), cb_step_whole(s, -1), codes)
                   : codes;
}

/* --- Images -------------------------------------------------------------------------------------------- */

static cubed_status check(const char *name, const cubed_objects *o, cubed_error *err)
{
    const cubed_array *labels = o->labels;
    char text[CUBED_DTYPE_TEXT_CAP];
    int64_t n;
    if (labels && cubed_dtype_kind(labels->node.dtype) > CUBED_KIND_UINT)
        return cb_fail(err, CUBED_E_TYPE, "%s: labels are %s, expected integers", name,
                       cubed_dtype_text(labels->node.dtype, text));
    if (o->ndim < 0 || o->ndim >= CUBED_MAX_NDIM || (!o->index && o->ndim > 0) ||
        cb_count(o->ndim, o->shape, &n) || n > INT32_MAX)
        return cb_fail(err, CUBED_E_ARG,
                       "%s: index has %d axes, expected 0 to %d, and fewer than 2**31 labels", name,
                       o->ndim, CUBED_MAX_NDIM - 1);
    return CUBED_OK;
}

/* Reshapes a 0-d array to a vector of one element. */
static cubed_array *lined(cb_steps *s, cubed_array *x)
{
    const int64_t one = 1;
    return x && x->node.grid->ndim == 0 ? cb_step_reshaped(s, x, 1, &one) : x;
}

static void broadcast(cb_steps *s, cb_grouped_image *g)
{
    cubed_array *const both[2] = {g->x, g->codes};
    cubed_array *made[2] = {NULL, NULL};
    if (!g->x || !g->codes || s->st != CUBED_OK) return;
    const cubed_status st = cubed_broadcast_arrays(both, 2, made, s->err);
    g->x = lined(s, cb_step(s, st, &made[0]));
    g->codes = lined(s, cb_step(s, st, &made[1]));
}

/* Sets the groups of labels in an index of at least one axis. */
static void tabulate(cb_steps *s, cb_grouped_image *g, table *t, void *room)
{
    const cubed_objects *o = g->objects;
    *t = (table){.sorted = room, .place = (int64_t *)room + g->n};
    fill_table(o->index, g->n, t);
    g->ngroups = t->ngroups;
    if (!t->in_order) g->place = cb_api_copied(s, CUBED_INT64, 1, &g->n, NULL, t->place);
}

void cb_api_group_objects(cb_steps *s, const char *name, cubed_array *x,
                          const cubed_objects *objects, cb_grouped_image *out)
{
    const cubed_allocator *alloc = &x->ctx->alloc;
    const cubed_scalar zero = {.i64 = 0};
    cubed_array *zeros = NULL;
    table t = {.nsorted = 0};
    *out = (cb_grouped_image){.name = name, .objects = objects, .x = x, .ngroups = 1, .n = 1};
    s->st = check(name, objects, s->err);
    if (s->st != CUBED_OK) return;
    if (!objects->labels) {
        out->is_flat = x->node.grid->ndim == 0;
        out->x = lined(s, x);
        if (out->x)
            out->codes =
                cb_step(s,
                        cubed_array_full(s->ctx, CUBED_INT64, out->x->node.grid->ndim,
                                         out->x->shape, out->x->chunks, &zero, &zeros, s->err),
                        &zeros);
        return;
    }
    if (objects->ndim > 0) (void)cb_count(objects->ndim, objects->shape, &out->n); /* checked */
    const size_t bytes = 2 * (size_t)out->n * sizeof(int64_t);
    void *room = cb_alloc(alloc, bytes);
    if (!room) {
        s->st = cb_fail(s->err, CUBED_E_NOMEM, "out of memory: %lld labels", (long long)out->n);
        return;
    }
    if (objects->ndim > 0 && out->n > 0) tabulate(s, out, &t, room);
    if (out->n == 0) out->ngroups = 0;
    out->is_flat = x->node.grid->ndim == 0 && objects->labels->node.grid->ndim == 0;
    out->codes = codes_of(s, out, &t, objects->labels);
    cb_free(alloc, room, bytes);
    broadcast(s, out);
}

/* --- Results ------------------------------------------------------------------------------------------- */

cubed_array *cb_api_objects_shaped(cb_steps *s, const cb_grouped_image *g, cubed_array *made)
{
    const cubed_objects *o = g->objects;
    const int ndim = o->labels ? o->ndim : 0;
    int64_t shape[CUBED_MAX_NDIM];
    if (!made || s->st != CUBED_OK) return NULL;
    const int behind = made->node.grid->ndim - 1;
    if (ndim == 1) return made;
    if (ndim + behind > CUBED_MAX_NDIM) {
        s->st = cb_fail(s->err, CUBED_E_UNSUPPORTED, "%s: the result would have %d dimensions",
                        g->name, ndim + behind);
        return NULL;
    }
    for (int d = 0; d < ndim; d++) shape[d] = o->shape[d];
    for (int d = 0; d < behind; d++) shape[ndim + d] = made->shape[1 + d];
    return cb_step_reshaped(s, made, ndim + behind, shape);
}

cubed_array *cb_api_objects_in_order(cb_steps *s, const cb_grouped_image *g, cubed_array *made)
{
    cubed_array *taken = NULL;
    if (made && g->place && s->st == CUBED_OK)
        made = cb_step(s, cubed_take(made, g->place, 0, &taken, s->err), &taken);
    return cb_api_objects_shaped(s, g, made);
}
