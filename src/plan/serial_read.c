/* Plans and arrays from bytes, which anybody may have made: every count is bounded by the bytes that are left,
 * and nodes pass cb_ir_check before anything uses them. */
#include "plan/serial.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "plan/graph.h"

/* After the first error `bad` sticks and every get gives 0: callers check once per object. */
typedef struct reader {
    const uint8_t *at, *end;
    bool bad;
    bool worker;  /* of the run that the plan is from */
    bool array;   /* memory of any size is in the bytes */
    int operands; /* so far; see CB_MAX_OPERANDS */
    cb_zone *zone;
} reader;

static uint64_t get_u(reader *r)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64 && !r->bad; shift += 7) {
        if (r->at == r->end) break;
        uint8_t byte = *r->at++;
        if (shift == 63 && byte > 1) break;
        v |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) return v;
    }
    r->bad = true;
    return 0;
}

static int64_t get_i(reader *r)
{
    uint64_t v = get_u(r);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* A number below `limit`, of which bytes may be more than an int holds. */
static int get_n(reader *r, uint64_t limit)
{
    uint64_t v = get_u(r);
    if (v >= limit || v > INT_MAX) r->bad = true;
    return r->bad ? 0 : (int)v;
}

static const void *get_bytes(reader *r, size_t n)
{
    if (r->bad || n > (size_t)(r->end - r->at)) {
        r->bad = true;
        return NULL;
    }
    const void *p = r->at;
    r->at += n;
    return p;
}

static const char *get_string(reader *r)
{
    uint64_t n = get_u(r);
    if (r->bad || n == 0) return NULL;
    const char *p = get_bytes(r, (size_t)(n - 1));
    if (!p || memchr(p, 0, (size_t)(n - 1))) {
        r->bad = true;
        return NULL;
    }
    char *s = cb_zone_alloc(r->zone, (size_t)n);
    if (!s) {
        r->bad = true;
        return NULL;
    }
    memcpy(s, p, (size_t)(n - 1));
    return s;
}

/* A function's, of any size. */
static const void *get_params(reader *r, size_t *size)
{
    *size = (size_t)get_u(r);
    const void *p = get_bytes(r, *size), *copy = p ? cb_zone_memdup(r->zone, p, *size) : NULL;
    if (!copy) r->bad = true;
    return copy;
}

/* They are checked with the node. */
static void get_lengths(reader *r, cb_axis *a)
{
    a->starts = NULL;
    a->n = get_n(r, (uint64_t)(r->end - r->at) + 1);
    if (a->n == 0) return;
    int64_t *starts = cb_zone_alloc(r->zone, ((size_t)a->n + 1) * sizeof *starts), at = 0;
    if (!starts) r->bad = true;
    for (int64_t i = 0; i < a->n && !r->bad; i++) {
        int64_t length = get_i(r);
        starts[i] = at;
        if (length < 1 || cb_add_i64(at, length, &at)) r->bad = true;
        starts[i + 1] = at;
    }
    a->starts = starts;
}

static void get_grid(reader *r, cb_grid *g)
{
    g->ndim = get_n(r, CUBED_MAX_NDIM + 1);
    for (int d = 0; d < g->ndim && !r->bad; d++) {
        g->axis[d].extent = get_i(r);
        g->axis[d].first = get_i(r);
        g->axis[d].chunk = get_i(r);
        get_lengths(r, &g->axis[d]);
        g->axis[d].clipped = get_n(r, 2) == 1;
    }
}

/* NULL of bad ones. */
static const cb_map *get_map(reader *r)
{
    cb_map map = {0}, *m = &map;
    m->ndim_in = get_n(r, CUBED_MAX_NDIM + 1);
    m->ndim_out = get_n(r, CUBED_MAX_NDIM + 1);
    for (int d = 0; d < m->ndim_out && !r->bad; d++) {
        int64_t axis = get_i(r);
        if (axis < -1 || axis >= CUBED_MAX_NDIM) r->bad = true;
        m->dim[d].axis = (int)axis;
        m->dim[d].offset = get_i(r);
        m->dim[d].stride = get_i(r);
        if (axis < 0) m->dim[d].stride = 0;
    }
    const cb_map *own = r->bad ? NULL : cb_map_own(r->zone, m);
    if (!own) r->bad = true;
    return own;
}

/* NULL when there is no memory. */
static int64_t *get_list(reader *r, int n)
{
    int64_t *list = cb_zone_alloc(r->zone, (size_t)n * sizeof *list);
    if (!list) r->bad = true;
    return list;
}

static const int64_t *get_numbers(reader *r, int n)
{
    int64_t *list = get_list(r, n);
    for (int d = 0; d < n && !r->bad; d++) list[d] = get_i(r);
    return list;
}

static const cb_grid *get_reduce_grid(reader *r)
{
    cb_grid *g = cb_zone_alloc(r->zone, sizeof *g);
    if (!g) r->bad = true;
    if (g) get_grid(r, g);
    return g;
}

static void get_data(reader *r, cb_node *n)
{
    uint64_t size = get_u(r);
    int64_t shape[CUBED_MAX_NDIM], count = 0, bytes = 0;
    cb_node_shape(n, shape);
    for (int d = 0; d < n->grid.ndim; d++) r->bad = r->bad || shape[d] < 0;
    bool shared = size > CB_PLAN_EMBED_BYTES && !r->array;
    if (r->bad || (shared && !r->worker) || cb_count(n->grid.ndim, shape, &count) ||
        cb_mul_i64(count, (int64_t)cubed_dtype_size(n->dtype), &bytes) || (uint64_t)bytes != size) {
        r->bad = true;
        return;
    }
    if (shared) {
        n->token = get_u(r);
    } else {
        const void *p = get_bytes(r, (size_t)size);
        n->data = p ? cb_zone_memdup(r->zone, p, (size_t)size) : NULL;
        if (!n->data) r->bad = true;
    }
    int64_t *strides = get_list(r, n->grid.ndim);
    if (strides && count > 0)
        cb_dense_strides(n->grid.ndim, shape, cubed_dtype_size(n->dtype), strides);
    n->strides = strides;
}

static void get_source(reader *r, cb_node *n)
{
    cb_source *s = cb_zone_alloc(r->zone, sizeof *s);
    if (!s) {
        r->bad = true;
        return;
    }
    s->token = get_u(r);
    s->name = get_string(r);
    s->params = get_params(r, &s->params_size);
    if (!s->name) r->bad = true;
    n->source = s;
}

static void get_operand(reader *r, cb_block_operand *x)
{
    x->dtype = (cubed_dtype)get_n(r, INT32_MAX);
    get_grid(r, &x->blocks);
    for (int d = 0; d < x->blocks.ndim && !r->bad; d++) {
        int64_t symbol = get_i(r);
        if (symbol < -1 || symbol >= CUBED_MAX_NDIM) r->bad = true;
        x->symbol[d] = (int)symbol;
    }
    memset(x->halo, 0, sizeof x->halo);
    x->gather = (cb_gather){.most = 0};
    bool halo = get_n(r, 2) != 0;
    for (int d = 0; halo && d < x->blocks.ndim && !r->bad; d++) {
        x->halo[d].before = (int64_t)get_u(r);
        x->halo[d].after = (int64_t)get_u(r);
        x->halo[d].padded = get_n(r, 2) != 0;
    }
    x->gather.most = (int64_t)get_u(r);
    if (x->gather.most == 0) return;
    x->gather.per = (int64_t)get_u(r);
    x->gather.axis = get_n(r, CUBED_MAX_NDIM);
    x->gather.ranges = get_n(r, INT32_MAX);
}

static cb_block_operand *get_operands(reader *r, int n)
{
    enum { LEAST_BYTES = 4 };
    if (n > (r->end - r->at) / LEAST_BYTES || n > CB_MAX_OPERANDS - r->operands) r->bad = true;
    cb_block_operand *x = r->bad ? NULL : cb_zone_alloc(r->zone, (size_t)n * sizeof *x);
    if (x)
        r->operands += n;
    else
        r->bad = true;
    for (int i = 0; i < n && !r->bad; i++) get_operand(r, &x[i]);
    return x;
}

static void get_block(reader *r, cb_node *n)
{
    cb_blockwise *op = cb_zone_alloc(r->zone, sizeof *op);
    if (!op) {
        r->bad = true;
        return;
    }
    op->function = get_string(r);
    op->params = get_params(r, &op->params_size);
    op->nin = n->ninputs;
    op->in = get_operands(r, op->nin);
    op->nout = get_n(r, CB_MAX_OPERANDS + 1);
    op->out = get_operands(r, op->nout);
    n->output = get_n(r, (uint64_t)op->nout);
    if (!op->function) r->bad = true;
    n->block = op;
}

static void get_node(reader *r, int index, cb_node *n)
{
    memset(n, 0, sizeof *n);
    n->kind = (cb_node_kind)get_n(r, CB_NODE_KINDS);
    n->dtype = (cubed_dtype)get_n(r, INT32_MAX);
    if (!cubed_dtype_is_valid(n->dtype)) r->bad = true;
    get_grid(r, &n->grid);
    /* Each input takes a byte at least. */
    n->ninputs = get_n(r, (uint64_t)(r->end - r->at) + 1);
    if (n->ninputs) n->inputs = cb_zone_alloc(r->zone, (size_t)n->ninputs * sizeof(int));
    if (n->ninputs && !n->inputs) r->bad = true;
    for (int i = 0; i < n->ninputs && !r->bad; i++) n->inputs[i] = get_n(r, (uint64_t)index);
    switch (n->kind) {
    case CB_NODE_ELEM: n->op = (cubed_op)get_n(r, CUBED_OP_COUNT); break;
    case CB_NODE_MERGE: n->reduce_grid = get_reduce_grid(r); /* fall through */
    case CB_NODE_REDUCE:
    case CB_NODE_PARTIAL:
        n->reduction = (cb_reduction)get_n(r, CB_REDUCTIONS);
        n->reduced = (uint32_t)get_u(r);
        break;
    case CB_NODE_SCAN: n->reduction = (cb_reduction)get_n(r, CB_REDUCTIONS); /* fall through */
    case CB_NODE_CONCAT: n->axis = get_n(r, CUBED_MAX_NDIM); break;
    case CB_NODE_RESHAPE:
        n->map = get_map(r);
        n->from = get_numbers(r, n->map ? n->map->ndim_in : 0);
        break;
    case CB_NODE_VIEW: n->map = get_map(r); break;
    case CB_NODE_FULL: {
        const void *p = get_bytes(r, sizeof n->value.bytes);
        if (p) memcpy(n->value.bytes, p, sizeof n->value.bytes);
        break;
    }
    case CB_NODE_INDEX: n->start = get_i(r); break;
    case CB_NODE_READER: get_source(r, n); break;
    case CB_NODE_MEMORY: get_data(r, n); break;
    case CB_NODE_COMPRESS:
    case CB_NODE_BLOCKWISE: get_block(r, n); break;
    default: break;
    }
    uint64_t flags = get_u(r);
    if (flags > 127) r->bad = true;
    n->stored = flags & 1;
    n->is_target = flags >> 1 & 1;
    n->to_memory = flags >> 2 & 1;
    n->overwrite = flags >> 3 & 1;
    n->skip_empty = flags >> 4 & 1;
    n->durable = flags >> 5 & 1;
    n->region = flags >> 6 & 1;
    if (n->stored) n->why = (cb_why)get_n(r, CB_WHYS);
    n->url = get_string(r);
    if (n->is_target) {
        n->zarr_format = get_n(r, 4);
        n->codecs = get_string(r);
        n->attrs = get_string(r);
        n->has_fill = get_n(r, 2) == 1;
        const void *fill = n->has_fill ? get_bytes(r, sizeof n->fill.bytes) : NULL;
        if (fill) memcpy(n->fill.bytes, fill, sizeof n->fill.bytes);
        for (int d = 0; d < n->grid.ndim && !r->bad; d++) n->dim_names[d] = get_string(r);
        if (n->region) n->first_chunk = get_numbers(r, n->grid.ndim);
    }
    if (n->region && (!n->url || !(n->is_target || n->kind == CB_NODE_ZARR))) r->bad = true;
}

static void get_stage(reader *r, const cb_ir *ir, cb_stage *s)
{
    memset(s, 0, sizeof *s);
    s->nouts = get_n(r, (uint64_t)ir->nnodes + 1);
    if (s->nouts == 0) r->bad = true;
    if (!r->bad) s->outs = cb_zone_alloc(r->zone, (size_t)s->nouts * sizeof *s->outs);
    if (!s->outs) r->bad = true;
    for (int o = 0; o < s->nouts && !r->bad; o++) {
        s->outs[o].node = get_n(r, (uint64_t)ir->nnodes);
        if (!r->bad && !ir->nodes[s->outs[o].node].stored) r->bad = true;
    }
    int ndim = get_n(r, CUBED_MAX_NDIM + 1);
    for (int d = 0; d < ndim && !r->bad; d++) {
        s->task_chunks[d] = get_i(r);
        if (s->task_chunks[d] < 1 || s->task_chunks[d] > INT64_MAX / 4) r->bad = true;
    }
    s->team = (unsigned)get_n(r, CB_MAX_WORKERS);
}

static void get_groups(reader *r, cubed_plan *p)
{
    /* Each takes a few bytes. */
    p->ngroups = get_n(r, (uint64_t)(r->end - r->at) + 1);
    p->groups = cb_zone_alloc(r->zone, (size_t)p->ngroups * sizeof *p->groups + 1);
    if (!p->groups) r->bad = true;
    for (int i = 0; i < p->ngroups && !r->bad; i++) {
        cb_plan_group *g = &p->groups[i];
        g->url = get_string(r);
        g->format = get_n(r, 4);
        g->attrs = get_string(r);
        g->consolidate = get_n(r, 2) == 1;
        if (!g->url || g->format < 2) r->bad = true;
    }
}

static cubed_status malformed(const char *what, cubed_error *err)
{
    return cb_fail(err, CUBED_E_FORMAT, "the bytes are malformed: %s", what);
}

static cubed_status read_nodes(reader *r, cb_ir *ir, cubed_error *err)
{
    int nnodes = get_n(r, CB_MAX_NODES + 1);
    for (int i = 0; i < nnodes; i++) {
        cb_node n;
        int index;
        get_node(r, i, &n);
        if (r->bad) return malformed("a node", err);
        CB_TRY(cb_ir_add(ir, &n, &index, err));
    }
    return cb_ir_check(ir, err);
}

static cubed_status read_body(reader *r, cubed_plan *p, cubed_error *err)
{
    p->allowed_mem = get_u(r);
    p->reserved_mem = get_u(r);
    p->max_workers = (unsigned)get_n(r, CB_MAX_WORKERS);
    p->work_dir = get_string(r);
    if (r->bad || p->max_workers == 0) return malformed("limits", err);
    CB_TRY(read_nodes(r, &p->ir, err));
    int nnodes = p->ir.nnodes;
    p->ntargets = get_n(r, (uint64_t)nnodes + 1);
    p->targets = cb_zone_alloc(p->ir.zone, (size_t)p->ntargets * sizeof(int) + 1);
    if (!p->targets) return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan");
    for (int i = 0; i < p->ntargets; i++) {
        p->targets[i] = get_n(r, (uint64_t)nnodes);
        if (r->bad || !p->ir.nodes[p->targets[i]].is_target) return malformed("a target", err);
    }
    p->nstages = get_n(r, (uint64_t)nnodes + 1);
    if (p->nstages == 0) return malformed("it has no stages", err);
    p->stages = cb_zone_alloc(p->ir.zone, (size_t)p->nstages * sizeof *p->stages + 1);
    uint8_t *made = cb_zone_alloc(p->ir.zone, (size_t)nnodes + 1);
    if (!p->stages || !made) return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan");
    for (int i = 0; i < p->nstages; i++) {
        get_stage(r, &p->ir, &p->stages[i]);
        if (r->bad) return malformed("a stage", err);
        for (int o = 0; o < p->stages[i].nouts; o++) {
            if (made[p->stages[i].outs[o].node]++) return malformed("a node of two stages", err);
        }
    }
    get_groups(r, p);
    if (r->bad) return malformed("a group", err);
    for (int i = 0; i < nnodes; i++) {
        if (p->ir.nodes[i].stored && !made[i]) return malformed("a node of no stage", err);
    }
    if (r->at != r->end) return malformed("bytes are left over", err);
    return CUBED_OK;
}

/* Whether all functions are known, and none of them is code where that is not permitted. */
static cubed_status check_functions(const cubed_context *ctx, const cb_ir *ir, cb_plan_trust trust,
                                    cubed_error *err)
{
    for (int i = 0; i < ir->nnodes; i++) {
        const cb_node *n = &ir->nodes[i];
        const cubed_block_fn *fn;
        void *fn_ctx;
        const char *name = NULL;
        bool code = false;
        if (n->kind == CB_NODE_BLOCKWISE) {
            name = n->block->function;
            code = cb_block_fn_is_shared(name);
            if (code && trust != CB_TRUST_DATA) continue; /* found when the plan is compiled */
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
            return cb_fail(
                err, CUBED_E_ARG,
                "the plan carries code for the function \"%s\": that it may run has to be "
                "said (--allow-code, allow_code=True)",
                name);
    }
    return CUBED_OK;
}

/* Whether the bytes are whole, of this version, and what they say. */
static cubed_status open_bytes(const char *what, const char *magic, const void *data, size_t size,
                               cubed_error *err)
{
    const uint8_t *b = data;
    if (size < CB_PLAN_HEADER_BYTES || memcmp(b, magic, 8) != 0)
        return cb_fail(err, CUBED_E_FORMAT, "these %zu bytes are no %s", size, what);
    uint32_t version = 0, sum = 0;
    for (int k = 0; k < 4; k++) {
        version |= (uint32_t)b[8 + k] << (8 * k);
        sum |= (uint32_t)b[12 + k] << (8 * k);
    }
    if (version != CB_PLAN_VERSION)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "the %s has version %u, this library reads version %d", what, version,
                       CB_PLAN_VERSION);
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
    reader r = {.at = b + CB_PLAN_HEADER_BYTES,
                .end = b + size,
                .worker = trust == CB_TRUST_DRIVER,
                .zone = p->ir.zone};
    cubed_status st;
    CB_GO(read_body(&r, p, err));
    CB_GO(check_functions(ctx, &p->ir, trust, err));
    CB_GO(cb_plan_open_storage(p, err));
    *out = p;
    return CUBED_OK;
out:
    cubed_plan_unref(p);
    return st;
}

/* What the bytes say of the array itself, beside its node. */
static void get_names(reader *r, cb_node *n)
{
    n->attrs = get_string(r);
    for (int d = 0; d < n->grid.ndim && !r->bad; d++) n->dim_names[d] = get_string(r);
    n->zarr_format = get_n(r, 4);
    int fill = get_n(r, 4);
    n->has_fill = fill & 1;
    n->fill_is_missing = fill >> 1;
    const void *bytes = n->has_fill ? get_bytes(r, sizeof n->fill.bytes) : NULL;
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
    reader r = {.at = b + CB_PLAN_HEADER_BYTES, .end = b + size, .array = true, .zone = ir.zone};
    CB_GO(read_nodes(&r, &ir, err));
    if (ir.nnodes == 0) CB_GO(malformed("no nodes", err));
    get_names(&r, &ir.nodes[ir.nnodes - 1]);
    if (r.bad || r.at != r.end) CB_GO(malformed("names", err));
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
