/* Keeps the states (partial results) of reductions in arrays that later runs can update. Each reduction is split into a partial
 * reduction, whose states are a further target of the plan, and a merge. A state represents CB_REDUCE_GROUP blocks, whatever the
 * limits of the plan, so that states of an earlier plan remain valid. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "opt/opt.h"
#include "plan/reduction.h"

typedef struct keeper {
    bool *keeps; /* for each node of the plan: its states are kept */
    int *state;  /* nodes of the new plan that have the states */
    int nstates;
    const char *url;
    bool durable;
} keeper;

/* Returns true if the node is a reduction whose states can be stored in an array. */
static bool can_keep(const cb_ir *ir, const cb_node *n)
{
    const cb_grid *in = ir->nodes[n->inputs[0]].grid;
    return n->kind == CB_NODE_REDUCE && n->grid->ndim + 2 <= CUBED_MAX_NDIM &&
           cb_grid_count(in) > 0;
}

/* Sets keeps[i] for each reduction over stored chunks that has no other reduction below it. A state that depends on another
 * reduction would change whenever a source changes. */
static cubed_status find_kept(const cubed_plan *p, keeper *k, cubed_error *err)
{
    enum { CHUNKS = 1, REDUCED = 2 };
    const cb_ir *ir = &p->ir;
    uint8_t *below = cb_zone_alloc(ir->zone, (size_t)ir->nnodes + 1);
    if (!below) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    for (int i = 0; i < ir->nnodes; i++) {
        const cb_node *n = &ir->nodes[i];
        if (cb_node_has_chunks(n) && n->kind == CB_NODE_ZARR) below[i] = CHUNKS;
        for (int j = 0; j < n->ninputs; j++) below[i] |= below[n->inputs[j]];
        if (!cb_node_is(n, CB_KIND_REDUCTION)) continue;
        k->keeps[i] = below[i] == CHUNKS && can_keep(ir, n);
        k->nstates += k->keeps[i];
        below[i] |= REDUCED;
    }
    return CUBED_OK;
}

/* Returns the URL of array number `number` in the store or the group `url`. */
static const char *url_of(cb_zone *zone, const char *url, int number)
{
    const size_t size = strlen(url) + 16;
    char *out = cb_zone_alloc(zone, size);
    if (out) snprintf(out, size, strstr(url, "::") ? "%s/%d" : "%s::%d", url, number);
    return out;
}

static cubed_status add_states(keeper *k, const cb_node *n, const cb_grid *in, cb_ir *to,
                               int *index, cubed_error *err)
{
    const cb_grid grid =
        cb_reduce_partial_grid(in, n->reduced, cb_reduce_planes(n->reduction), CB_REDUCE_GROUP);
    const cb_grid states = cb_grid_storable(&grid);
    const cb_node node = {.kind = CB_NODE_PARTIAL,
                          .dtype = n->dtype,
                          .grid = &states,
                          .reduction = n->reduction,
                          .reduced = n->reduced,
                          .ninputs = 1,
                          .inputs = (int[]){n->inputs[0]},
                          .url = url_of(to->zone, k->url, k->nstates),
                          .zarr_format = 3,
                          .overwrite = true,
                          .durable = k->durable,
                          .is_target = true,
                          .stored = true,
                          .origin = n->origin,
                          .why = CB_WHY_KEPT};
    if (!node.url) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    CB_TRY(cb_ir_add(to, &node, index, err));
    k->state[k->nstates++] = *index;
    return CUBED_OK;
}

static cubed_status each(void *ctx, cubed_plan *p, cb_ir *to, int i, const cb_node *n, int *out,
                         cubed_error *err)
{
    keeper *k = ctx;
    if (!k->keeps[i]) return cb_ir_add(to, n, out, err);
    const cb_grid *in = p->ir.nodes[p->ir.nodes[i].inputs[0]].grid;
    int index;
    CB_TRY(add_states(k, n, in, to, &index, err));
    cb_node merge = *n;
    merge.kind = CB_NODE_MERGE;
    merge.inputs = &index;
    merge.reduce_grid = in;
    return cb_ir_add(to, &merge, out, err);
}

/* Appends the states to the plan's targets. */
static cubed_status add_targets(cubed_plan *p, const keeper *k, cubed_error *err)
{
    const size_t n = (size_t)p->ntargets;
    int *targets = cb_zone_alloc(p->ir.zone, (n + (size_t)k->nstates) * sizeof *targets);
    if (!targets) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    memcpy(targets, p->targets, n * sizeof *targets);
    memcpy(targets + n, k->state, (size_t)k->nstates * sizeof *targets);
    p->targets = targets;
    p->ntargets += k->nstates;
    return CUBED_OK;
}

static cubed_status keep(cubed_plan *p, keeper *k, cubed_error *err)
{
    CB_TRY(find_kept(p, k, err));
    if (k->nstates == 0)
        return cb_fail(
            err, CUBED_E_ARG,
            "partials: the plan has no reduction that reads stored arrays without another "
            "reduction in between: leave out partials");
    for (int t = 0; t < p->ntargets; t++)
        k->durable = k->durable || p->ir.nodes[p->targets[t]].durable;
    CB_TRY(cb_plan_note_states_growth(p, k->keeps, err));
    k->nstates = 0;
    p->storage = NULL; /* cb_opt_rewrite could not assign the storage, because it adds URLs */
    CB_TRY(cb_opt_rewrite(p, each, k, err));
    CB_TRY(add_targets(p, k, err));
    return cb_plan_find_places(p, err);
}

cubed_status cb_opt_keep_partials(cubed_plan *p, const char *url, cubed_error *err)
{
    const cubed_allocator *a = &p->ctx->alloc;
    const size_t n = (size_t)p->ir.nnodes;
    keeper k = {.keeps = cb_alloc_zero(a, n * sizeof *k.keeps),
                .state = cb_alloc_zero(a, n * sizeof *k.state)};
    cubed_status st = CUBED_OK;
    if (!k.keeps || !k.state) st = cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    if (st == CUBED_OK) st = cb_place_take_user(&p->ctx->stores, p->zone, url, &k.url, err);
    if (st == CUBED_OK) st = keep(p, &k, err);
    cb_free(a, k.keeps, n * sizeof *k.keeps);
    cb_free(a, k.state, n * sizeof *k.state);
    return st;
}
