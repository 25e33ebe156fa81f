/* Describes, before a plan runs, how each target is protected against late writes of other runs, and the cost of this
 * protection. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "chunks/chunk_need.h"
#include "exec/plan/requests.h"
#include "run/places/claim.h"

/* Numbers of requests to the store for the record (.cubed-run) by which a run claims a target.
 * - CLAIM_REQUESTS: requests for a new array. They read the record, take the claim, commit it, get the version of the metadata,
 *   and end the claim.
 * - REPLACE_REQUESTS: additional requests if an existing array is replaced by copies of a new one. They check the claim before
 *   each step that deletes objects, write the states before and after the copies, and read the existing array. */
enum { CLAIM_REQUESTS = 5, REPLACE_REQUESTS = 6 };

static bool is_target(const cubed_plan *p, int node)
{
    const cb_node *n = &p->ir.nodes[node];
    return n->is_target && n->url && p->storage[node];
}

/* Returns the node of target number `i`; -1 if there are fewer. */
static int find_target(const cubed_plan *p, int i)
{
    for (int k = 0; k < p->ntargets; k++) {
        if (is_target(p, p->targets[k]) && i-- == 0) return p->targets[k];
    }
    return -1;
}

/* Sets *out to true if the options disable conditional puts. A service that ignores conditions is detected only when a run takes
 * over. */
static cubed_status ignores_conditions(const cubed_plan *p, int node, bool *out, cubed_error *err)
{
    const char *url = p->storage[node]->place.store;
    cb_zone *zone;
    *out = false;
    if (strncmp(url, "s3://", 5) != 0) return CUBED_OK;
    CB_TRY(cb_zone_new(&p->ctx->alloc, &zone, err));
    cubed_status st = cb_net_get_unconditional(&p->ctx->stores.net, zone, url, out, err);
    cb_zone_free(zone);
    return st;
}

/* Flags: how a target is written. */
enum { REGION = 1, UNCONDITIONAL = 2 };

static cubed_fence fence_of(const cubed_store *store, unsigned ways)
{
    if (store->vt->flags & CUBED_STORE_OF_PROCESS) return CUBED_FENCE_PROCESS;
    if (cb_claim_needs_fence(store))
        return ways & UNCONDITIONAL ? CUBED_FENCE_NONE : CUBED_FENCE_CONDITIONS;
    if (ways & REGION) return CUBED_FENCE_LOCK;
    return cb_store_has_places(store) ? CUBED_FENCE_EXCHANGE : CUBED_FENCE_NONE;
}

cubed_status cubed_plan_get_promise(const cubed_plan *p, int i, cubed_promise *out,
                                    cubed_error *err)
{
    const int node = find_target(p, i);
    cubed_store *store;
    bool unconditional;
    *out = (cubed_promise){.url = ""};
    if (node < 0) return cb_fail(err, CUBED_E_NOT_FOUND, "the plan has no target number %d", i);
    const cb_node *n = &p->ir.nodes[node];
    CB_TRY(ignores_conditions(p, node, &unconditional, err));
    CB_TRY(cb_store_open(&p->ctx->stores, p->storage[node]->place.store, false, &store, err));
    out->url = n->url;
    out->is_region = n->region;
    out->fence = fence_of(store, (n->region ? REGION : 0) | (unconditional ? UNCONDITIONAL : 0));
    out->shared_chunks = cb_node_merged(p, node, true);
    out->bytes = cb_stored_bytes(p, node);
    out->may_replace = n->overwrite && !n->region;
    const bool far = cb_claim_needs_fence(store);
    if (far && !n->region)
        out->claim_requests = CLAIM_REQUESTS + (out->may_replace ? REPLACE_REQUESTS : 0);
    if (far && !n->region && (store->vt->flags & CUBED_STORE_CONDITIONS_IN_ONE_PIECE) &&
        cb_node_goes_in_parts(p, node))
        out->chunk_requests = 1;
    out->copies = cb_store_copies(store);
    cb_store_close(store);
    return CUBED_OK;
}

static const char *region_text(const cubed_promise *x)
{
    if (x->fence == CUBED_FENCE_PROCESS) return "no other process reaches it";
    if (x->shared_chunks == 0)
        return "a region of whole chunks, which no other run may write at the same time";
    switch (x->fence) {
    case CUBED_FENCE_CONDITIONS:
        return "a region, which keeps what others write to shared chunks: puts have conditions";
    case CUBED_FENCE_LOCK:
        return "a region, which keeps what others write to shared chunks: files are locked";
    default:
        return "a region, and nothing protects what others write to shared chunks: puts have no "
               "conditions";
    }
}

static const char *array_text(const cubed_promise *x)
{
    switch (x->fence) {
    case CUBED_FENCE_CONDITIONS: return "late writes are refused, as puts have conditions";
    case CUBED_FENCE_EXCHANGE:
        return "late writes go to a directory that a takeover exchanges for a new one";
    case CUBED_FENCE_PROCESS: return "no other process reaches it";
    default:
        return "late writes are not refused, as puts have no conditions: nothing is taken over "
               "without --take-over (take_over=True)";
    }
}

void cubed_promise_text(const cubed_promise *x, char *text, size_t cap)
{
    const char *rest = !x->may_replace ? ""
                       : x->copies     ? "; an array that is there exists until the new one is "
                                         "complete, which exists twice while it is copied"
                                       : "; an array that is there exists until the new one is "
                                         "complete";
    if (x->is_region)
        snprintf(text, cap, "%s", region_text(x));
    else if (x->claim_requests + x->chunk_requests == 0)
        snprintf(text, cap, "%s; without requests%s", array_text(x), rest);
    else
        snprintf(text, cap,
                 "%s; up to %" PRIu64 " requests for the claim, %" PRIu64
                 " in addition for each chunk%s",
                 array_text(x), x->claim_requests, x->chunk_requests, rest);
}

const char *cubed_fence_name(cubed_fence fence)
{
    static const char *const names[] = {"none", "conditions", "exchange", "lock", "process"};
    return names[fence];
}
