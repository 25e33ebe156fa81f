#include "run/places/groups.h"

#include <string.h>

#include "base/error.h"
#include "zarr/outline.h"

/* Source and destination of a copy. */
typedef struct ends {
    cb_zone *zone;
    cb_place from_place, place;
    cubed_store *from, *to;
} ends;

static void close_ends(ends *e)
{
    cb_store_close(e->from);
    cb_store_close(e->to);
    cb_zone_free(e->zone);
}

static cubed_status open_ends(cubed_context *ctx, const cb_plan_group *g, bool durable, ends *e,
                              cubed_error *err)
{
    cubed_status st;
    *e = (ends){.zone = NULL};
    CB_TRY(cb_zone_new(&ctx->alloc, &e->zone, err));
    CB_GO(cb_place_parse(e->zone, g->url, &e->place, err));
    CB_GO(cb_place_open(&ctx->stores, &e->place, durable, &e->to, err));
    if (!g->copy_of) return CUBED_OK;
    CB_GO(cb_place_parse(e->zone, g->copy_of, &e->from_place, err));
    CB_GO(cb_store_open_allowed(&ctx->stores, e->from_place.store, g->references, false, &e->from,
                                err));
    return CUBED_OK;
out:
    close_ends(e);
    return st;
}

/* Returns true if the source and the destination are the same place. */
static bool is_same_place(const ends *e)
{
    return cb_place_compare(&e->from_place, &e->place) == CB_PLACES_SAME;
}

/* Checks that the destination is free or may be replaced. If `again` is set, an earlier attempt may have made a copy there. */
static cubed_status check_place(const cb_plan_group *g, const ends *e, bool again, bool *there,
                                cubed_error *err)
{
    cb_zarr_kind kind;
    int format;
    bool same = false;
    CB_TRY(cb_zarr_probe(e->to, e->place.path, &kind, &format, err));
    *there = kind != CB_ZARR_NOTHING;
    if (!*there || g->overwrite) return CUBED_OK;
    if (again && kind == CB_ZARR_ARRAY && format == g->format)
        CB_TRY(
            cb_zarr_is_copy(e->from, e->from_place.path, e->to, e->place.path, format, &same, err));
    return same ? CUBED_OK : cb_zarr_check_absent(e->to, e->place.path, err);
}

static cubed_status check_copy(cubed_context *ctx, const cb_plan_group *g, bool resume,
                               cubed_error *err)
{
    ends e;
    bool there;
    CB_TRY(open_ends(ctx, g, false, &e, err));
    cubed_status st = is_same_place(&e) ? CUBED_OK : check_place(g, &e, resume, &there, err);
    close_ends(&e);
    return st;
}

cubed_status cb_groups_check(cubed_context *ctx, const cb_plan_group *list, int n, bool resume,
                             cubed_error *err)
{
    for (int i = 0; i < n; i++) {
        if (list[i].copy_of) CB_TRY(check_copy(ctx, &list[i], resume, err));
    }
    return CUBED_OK;
}

/* Checks that neither place is inside the other, and that the destination may be replaced. */
static cubed_status check_places(cubed_context *ctx, const cb_plan_group *g, cubed_error *err)
{
    ends e;
    cubed_status st = CUBED_OK;
    CB_TRY(open_ends(ctx, g, false, &e, err));
    const cb_place_relation r = cb_place_compare(&e.from_place, &e.place);
    if (r != CB_PLACES_APART && !(r == CB_PLACES_SAME && g->overwrite))
        st = cb_fail(err, CUBED_E_ARG, "the copy %s would overwrite its source %s", g->url,
                     g->copy_of);
    close_ends(&e);
    return st;
}

/* A removal of objects for a copy. */
typedef struct removal {
    const cb_groups *groups;
    cubed_store *store;
} removal;

/* Removes a batch of listed objects. If the run has a fence, first checks again that the run still owns its target, because
 * another run may have taken the target since the objects were listed. */
static cubed_status remove_batch(void *ctx, const char *const *keys, const char *const *versions,
                                 size_t n, cubed_error *err)
{
    const removal *x = ctx;
    cubed_store_request r = {
        .op = CUBED_STORE_DELETE, .keys = keys, .nkeys = n, .versions = versions};
    if (x->groups->fence) CB_TRY(x->groups->look(x->groups->fence->ctx, &r.looked, err));
    return cb_store_do(x->store, &r, err);
}

/* Removes the objects below a path. A directory is removed as a whole. */
static cubed_status clear(const cb_groups *groups, cubed_store *store, const char *path,
                          cubed_error *err)
{
    removal x = {groups, store};
    if (!store->vt->clear) return cb_store_list_batches(store, path, NULL, remove_batch, &x, err);
    if (groups->fence) CB_TRY(groups->fence->check(groups->fence->ctx, err));
    return cb_store_clear(store, path, err);
}

/* Copies the source to its destination. First removes chunks without metadata, which a killed attempt may have left. */
static cubed_status copy(const cb_groups *groups, const cb_plan_group *g, const ends *e,
                         cubed_error *err)
{
    bool there;
    const char *to = e->place.path;
    if (is_same_place(e)) return CUBED_OK;
    /* replaces a copy of an earlier attempt; fails if there are other objects that must not be overwritten */
    CB_TRY(check_place(g, e, true, &there, err));
    removal x = {groups, e->to};
    cubed_status st = there ? clear(groups, e->to, to, err)
                            : cb_zarr_remove_chunks(e->to, to, remove_batch, &x, err);
    if (st == CUBED_OK)
        st = cb_zarr_copy_objects(e->from, e->from_place.path, e->to, groups->fence, to, g->format,
                                  groups->memory, err);
    return st == CUBED_E_EXISTS
               ? cb_context(err, st, "another process writes %s at the same time", g->url)
               : st;
}

static cubed_status make_group(const cb_groups *groups, const cb_plan_group *g, const ends *e,
                               cubed_error *err)
{
    const char *path = e->place.path;
    CB_TRY(cb_zarr_create_group(e->to, groups->fence, path, g->format, g->attrs, false, err));
    return g->consolidate ? cb_zarr_consolidate(e->to, groups->fence, path, err) : CUBED_OK;
}

cubed_status cb_groups_make(cubed_context *ctx, const cb_groups *groups, cubed_error *err)
{
    for (int i = 0; i < groups->n; i++) {
        const cb_plan_group *g = &groups->list[i];
        ends e;
        CB_TRY(open_ends(ctx, g, groups->durable, &e, err));
        cubed_status st = (g->copy_of ? copy : make_group)(groups, g, &e, err);
        close_ends(&e);
        if (st != CUBED_OK) return st;
    }
    return CUBED_OK;
}

#define DEFAULT_MEMORY ((uint64_t)2000000000)

cubed_status cubed_groups_make(cubed_context *ctx, const cubed_plan_group *given, int n,
                               uint64_t memory, bool durable, cubed_error *err)
{
    cb_zone *zone;
    cubed_status st;
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    cb_plan_group *list = cb_zone_alloc(zone, ((size_t)n + 1) * sizeof *list);
    if (!list) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for groups"));
    for (int i = 0; i < n; i++) {
        const cubed_plan_group *g = &given[i];
        list[i] = (cb_plan_group){.url = g->url,
                                  .attrs = g->attrs,
                                  .copy_of = g->copy_of,
                                  .format = g->zarr_format,
                                  .consolidate = g->consolidate,
                                  .overwrite = g->overwrite};
        if (g->zarr_format != 2 && g->zarr_format != 3)
            CB_GO(cb_fail(err, CUBED_E_ARG, "%s: zarr_format is %d, expected 2 or 3", g->url,
                          g->zarr_format));
        if (g->copy_of) CB_GO(check_places(ctx, &list[i], err));
    }
    CB_GO(cb_groups_check(ctx, list, n, false, err));
    const cb_groups groups = {list, n, durable, memory ? memory : DEFAULT_MEMORY, NULL, NULL};
    st = cb_groups_make(ctx, &groups, err);
out:
    cb_zone_free(zone);
    return st;
}
