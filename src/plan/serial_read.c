/* Deserialises plans and arrays from untrusted bytes. Every count is bounded by the number of remaining bytes, and nodes
 * pass cb_ir_check before they are used. */
#include "plan/serial.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "plan/graph.h"

static const char *const *get_names(cb_reader *r, int n)
{
    const char **names = cb_zone_alloc(r->zone, (size_t)n * sizeof *names + 1);
    if (!names) r->bad = true;
    for (int d = 0; d < n && !r->bad; d++) names[d] = cb_get_string(r);
    return names;
}

static void get_node(cb_reader *r, int index, cb_node *n, cb_grid *grid)
{
    *n = (cb_node){.grid = grid};
    n->kind = (cb_node_kind)cb_get_n(r, CB_NODE_KINDS);
    n->dtype = (cubed_dtype)cb_get_n(r, INT32_MAX);
    if (!cubed_dtype_is_valid(n->dtype)) r->bad = true;
    *grid = (cb_grid){.ndim = 0};
    cb_get_grid(r, grid);
    /* Each input uses at least one byte. */
    n->ninputs = cb_get_n(r, (uint64_t)(r->end - r->at) + 1);
    if (n->ninputs) n->inputs = cb_zone_alloc(r->zone, (size_t)n->ninputs * sizeof(int));
    if (n->ninputs && !n->inputs) r->bad = true;
    for (int i = 0; i < n->ninputs && !r->bad; i++) n->inputs[i] = cb_get_n(r, (uint64_t)index);
    if (cb_kinds[n->kind]->get) cb_kinds[n->kind]->get(r, n);
    uint64_t flags = cb_get_u(r);
    if (flags > 255) r->bad = true;
    n->stored = flags & 1;
    n->is_target = flags >> 1 & 1;
    n->to_memory = flags >> 2 & 1;
    n->overwrite = flags >> 3 & 1;
    n->skip_empty = flags >> 4 & 1;
    n->durable = flags >> 5 & 1;
    n->region = flags >> 6 & 1;
    const bool extends = flags >> 7 & 1;
    if (n->stored) n->why = (cb_why)cb_get_n(r, CB_WHYS);
    n->url = cb_get_string(r);
    if (cubed_dtype_family(n->dtype) == CUBED_RECORD) n->fields = cb_get_string(r);
    if (n->to_memory) n->name = cb_get_string(r);
    if (n->is_target) {
        n->zarr_format = cb_get_n(r, 4);
        n->codecs = cb_get_string(r);
        n->attrs = cb_get_string(r);
        n->has_fill = cb_get_n(r, 2) == 1;
        const void *fill = n->has_fill ? cb_get_bytes(r, sizeof n->fill.bytes) : NULL;
        if (fill) memcpy(n->fill.bytes, fill, sizeof n->fill.bytes);
        n->dim_names = get_names(r, n->grid->ndim);
        if (n->region) n->first_chunk = cb_get_numbers(r, n->grid->ndim);
        if (n->region) n->part = cb_get_numbers(r, 2 * n->grid->ndim);
        if (extends) n->extends = 1 + cb_get_n(r, (uint64_t)n->grid->ndim);
    }
    if (n->region && (!n->url || !n->is_target)) r->bad = true;
    if (extends && (!n->region || n->grid->ndim == 0)) r->bad = true;
}

static void get_stage(cb_reader *r, const cb_ir *ir, cb_stage *s)
{
    memset(s, 0, sizeof *s);
    s->nouts = cb_get_n(r, (uint64_t)ir->nnodes + 1);
    if (s->nouts == 0) r->bad = true;
    if (!r->bad) s->outs = cb_zone_alloc(r->zone, (size_t)s->nouts * sizeof *s->outs);
    if (!s->outs) r->bad = true;
    for (int o = 0; o < s->nouts && !r->bad; o++) {
        s->outs[o].node = cb_get_n(r, (uint64_t)ir->nnodes);
        if (!r->bad && !ir->nodes[s->outs[o].node].stored) r->bad = true;
    }
    int ndim = cb_get_n(r, CUBED_MAX_NDIM + 1);
    for (int d = 0; d < ndim && !r->bad; d++) {
        s->task_chunks[d] = cb_get_i(r);
        if (s->task_chunks[d] < 1 || s->task_chunks[d] > INT64_MAX / 4) r->bad = true;
    }
    s->coop = (unsigned)cb_get_n(r, CB_MAX_WORKERS);
}

static void get_groups(cb_reader *r, cubed_plan *p)
{
    /* Each group uses several bytes. */
    p->ngroups = cb_get_n(r, (uint64_t)(r->end - r->at) + 1);
    p->groups = cb_zone_alloc(r->zone, (size_t)p->ngroups * sizeof *p->groups + 1);
    if (!p->groups) r->bad = true;
    for (int i = 0; i < p->ngroups && !r->bad; i++) {
        cb_plan_group *g = &p->groups[i];
        g->url = cb_get_string(r);
        g->format = cb_get_n(r, 4);
        g->attrs = cb_get_string(r);
        const int flags = cb_get_n(r, 8);
        g->consolidate = flags & 1;
        g->overwrite = flags >> 2 & 1;
        if (flags >> 1 & 1) {
            g->copy_of = cb_get_string(r);
            r->bad = r->bad || !g->copy_of;
            g->references = cb_get_string(r);
        }
        if (!g->url || g->format < 2) r->bad = true;
    }
}

/* Returns the error for bytes that were not read: either memory was short, or they are not valid. */
static cubed_status malformed(const cb_reader *r, const char *what, cubed_error *err)
{
    if (cb_zone_failed(r->zone)) return cb_fail(err, CUBED_E_NOMEM, "out of memory: saved bytes");
    return cb_fail(err, CUBED_E_FORMAT, "the bytes are malformed: %s", what);
}

static cubed_status read_nodes(cb_reader *r, cb_ir *ir, cubed_error *err)
{
    int nnodes = cb_get_n(r, CB_MAX_NODES + 1);
    for (int i = 0; i < nnodes; i++) {
        cb_node n;
        cb_grid grid;
        int index;
        get_node(r, i, &n, &grid);
        if (r->bad) return malformed(r, "a node", err);
        CB_TRY(cb_ir_add(ir, &n, &index, err));
    }
    return cb_ir_check(ir, err);
}

static cubed_status read_body(cb_reader *r, cubed_plan *p, cubed_error *err)
{
    p->allowed_mem = cb_get_u(r);
    p->reserved_mem = cb_get_u(r);
    p->max_workers = (unsigned)cb_get_n(r, CB_MAX_WORKERS);
    const void *goal = cb_get_bytes(r, sizeof p->goal);
    if (goal) memcpy(p->goal, goal, sizeof p->goal);
    p->work_dir = cb_get_string(r);
    if (r->bad || p->max_workers == 0) return malformed(r, "limits", err);
    if (p->work_dir) CB_TRY(cb_plan_check_work_dir(p->ctx, p->work_dir, err));
    CB_TRY(read_nodes(r, &p->ir, err));
    int nnodes = p->ir.nnodes;
    p->ntargets = cb_get_n(r, (uint64_t)nnodes + 1);
    p->targets = cb_zone_alloc(p->ir.zone, (size_t)p->ntargets * sizeof(int) + 1);
    if (!p->targets) return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan");
    for (int i = 0; i < p->ntargets; i++) {
        p->targets[i] = cb_get_n(r, (uint64_t)nnodes);
        if (r->bad || !p->ir.nodes[p->targets[i]].is_target) return malformed(r, "a target", err);
    }
    p->nstages = cb_get_n(r, (uint64_t)nnodes + 1);
    if (p->nstages == 0) return malformed(r, "it has no stages", err);
    p->stages = cb_zone_alloc(p->ir.zone, (size_t)p->nstages * sizeof *p->stages + 1);
    uint8_t *made = cb_zone_alloc(p->ir.zone, (size_t)nnodes + 1);
    if (!p->stages || !made) return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan");
    for (int i = 0; i < p->nstages; i++) {
        get_stage(r, &p->ir, &p->stages[i]);
        if (r->bad) return malformed(r, "a stage", err);
        for (int o = 0; o < p->stages[i].nouts; o++) {
            if (made[p->stages[i].outs[o].node]++) return malformed(r, "a node of two stages", err);
        }
    }
    get_groups(r, p);
    if (r->bad) return malformed(r, "a group", err);
    for (int i = 0; i < nnodes; i++) {
        if (p->ir.nodes[i].stored && !made[i]) return malformed(r, "a node of no stage", err);
    }
    if (r->at != r->end) return malformed(r, "bytes are left over", err);
    return CUBED_OK;
}

/* Checks that the context has all functions of the plan. If code is not allowed, rejects functions whose code is in the plan. */
static cubed_status check_functions(const cubed_context *ctx, const cb_ir *ir, cb_plan_trust trust,
                                    cubed_error *err)
{
    for (int i = 0; i < ir->nnodes; i++) {
        const cb_node *n = &ir->nodes[i];
        const cubed_block_fn *fn;
        void *fn_ctx;
        const char *name = NULL;
        bool code = false;
        if (cb_node_is(n, CB_KIND_CALL)) {
            name = n->block->function;
            code = cb_block_fn_is_shared(name);
            /* functions with code are looked up when the plan is compiled */
            if (code && trust != CB_TRUST_DATA) continue;
            if (!code) {
                CB_TRY(cb_context_find_block_fn(ctx, name, &fn, &fn_ctx, err));
                code = fn->code;
            }
        } else if (n->source) {
            name = n->source->name;
            CB_TRY(cb_source_find(ctx, n->source, err));
            code = n->source->fn->code;
        }
        if (code && trust == CB_TRUST_DATA)
            return cb_fail(err, CUBED_E_ARG,
                           "the plan carries code for the function \"%s\": allow it to run "
                           "(--allow-code, allow_code=True)",
                           name);
    }
    return CUBED_OK;
}

/* Checks the magic bytes, the version and the checksum of serialised bytes. */
static cubed_status open_bytes(const char *what, const char *magic, const void *data, size_t size,
                               cubed_error *err)
{
    const uint8_t *b = data;
    if (size < CB_PLAN_HEADER_BYTES || memcmp(b, magic, 8) != 0)
        return cb_fail(err, CUBED_E_FORMAT, "these %zu bytes are not a saved %s", size, what);
    uint32_t version = 0, sum = 0;
    for (int k = 0; k < 4; k++) {
        version |= (uint32_t)b[8 + k] << (8 * k);
        sum |= (uint32_t)b[12 + k] << (8 * k);
    }
    if (version != CB_PLAN_VERSION)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "the %s was saved by another version of cubed (its format has version %u, "
                       "cubed " CUBED_VERSION_STRING " reads version %d): save it again",
                       what, version, CB_PLAN_VERSION);
    if (sum != (uint32_t)crc32_z(0, b + CB_PLAN_HEADER_BYTES, size - CB_PLAN_HEADER_BYTES))
        return cb_fail(err, CUBED_E_FORMAT, "the %s's bytes are damaged: the checksum differs",
                       what);
    return CUBED_OK;
}

cubed_status cb_plan_read(cubed_context *ctx, const void *data, size_t size, cb_plan_trust trust,
                          cubed_plan **out, cubed_error *err)
{
    const uint8_t *b = data;
    CB_TRY(open_bytes("plan", CB_PLAN_MAGIC, data, size, err));
    cubed_plan *p;
    CB_TRY(cb_plan_alloc(ctx, &p, err));
    cb_reader r = {.at = b + CB_PLAN_HEADER_BYTES,
                   .end = b + size,
                   .worker = trust == CB_TRUST_DRIVER,
                   .zone = p->ir.zone};
    cubed_status st;
    CB_GO(read_body(&r, p, err));
    CB_GO(check_functions(ctx, &p->ir, trust, err));
    CB_GO(cb_plan_open_storage(p, NULL, err));
    *out = p;
    return CUBED_OK;
out:
    cubed_plan_unref(p);
    return st;
}

/* Reads an array's attributes, dimension names, Zarr format and fill value into its node. */
static void get_labels(cb_reader *r, cb_node *n)
{
    n->attrs = cb_get_string(r);
    n->dim_names = get_names(r, n->grid->ndim);
    n->zarr_format = cb_get_n(r, 4);
    int fill = cb_get_n(r, 4);
    n->has_fill = fill & 1;
    n->fill_is_missing = fill >> 1;
    const void *bytes = n->has_fill ? cb_get_bytes(r, sizeof n->fill.bytes) : NULL;
    if (bytes) memcpy(n->fill.bytes, bytes, sizeof n->fill.bytes);
}

cubed_status cubed_array_load(cubed_context *ctx, const void *data, size_t size, bool allow_code,
                              cubed_array **out, cubed_error *err)
{
    const uint8_t *b = data;
    CB_TRY(open_bytes("array", CB_ARRAY_MAGIC, data, size, err));
    cb_ir ir = {.is_graph = true};
    cubed_array **made = NULL;
    cubed_status st;
    CB_TRY(cb_zone_new(&ctx->alloc, &ir.zone, err));
    cb_reader r = {.at = b + CB_PLAN_HEADER_BYTES, .end = b + size, .array = true, .zone = ir.zone};
    CB_GO(read_nodes(&r, &ir, err));
    if (ir.nnodes == 0) CB_GO(malformed(&r, "no nodes", err));
    get_labels(&r, &ir.nodes[ir.nnodes - 1]);
    if (r.bad || r.at != r.end) CB_GO(malformed(&r, "names", err));
    CB_GO(check_functions(ctx, &ir, allow_code ? CB_TRUST_CODE : CB_TRUST_DATA, err));
    made = cb_zone_alloc(ir.zone, (size_t)ir.nnodes * sizeof(cubed_array *) + 1);
    if (!made) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for an array's nodes"));
    for (int i = 0; i < ir.nnodes; i++) CB_GO(cb_graph_restore(ctx, &ir.nodes[i], made, i, err));
    *out = cubed_array_ref(made[ir.nnodes - 1]);
out:
    for (int i = 0; made && i < ir.nnodes; i++) cubed_array_unref(made[i]);
    cb_zone_free(ir.zone);
    return st;
}
