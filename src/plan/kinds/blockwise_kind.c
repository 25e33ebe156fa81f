/* Kinds of nodes for functions on whole blocks. */
#include <limits.h>
#include <string.h>

#include "plan/kinds/kind_rows.h"

/* Checks the operands of an operation on blocks. If `whole` is set, the blocks of an input must cover it exactly. */
static cubed_status check_operands(const cb_ir *ir, const cb_node *n, bool whole, cubed_error *err)
{
    const cb_blockwise *op = n->block;
    if (!op || !op->function) return BAD("an operation on blocks without a function");
    if (op->nin != n->ninputs) return BAD("%d inputs of %d", n->ninputs, op->nin);
    for (int i = 0; i < op->nin; i++) {
        const cb_node *in = &ir->nodes[n->inputs[i]];
        if (op->in[i].dtype != in->dtype || !cb_block_covers(&op->in[i], in->grid))
            return BAD("input %d of %s is another array", i, op->function);
        if (whole && (cb_block_overlaps(&op->in[i]) || op->in[i].gather.most))
            return BAD("input %d with elements around its blocks, or gathered", i);
        CB_TRY(cb_grid_check(&op->in[i].blocks, in->dtype, err));
    }
    if (op->nout < 1) return BAD("an operation on blocks without outputs");
    for (int i = 0; i < op->nout; i++) {
        const cb_block_operand *out = &op->out[i];
        if (!cubed_dtype_is_valid(out->dtype)) return BAD("type number %d", (int)out->dtype);
        if (cb_block_overlaps(out) || out->gather.most)
            return BAD("output %d with elements around its blocks, or gathered", i);
        CB_TRY(cb_grid_check(&out->blocks, out->dtype, err));
        for (int d = 0; d < out->blocks.ndim; d++) {
            if (out->blocks.axis[d].first != out->blocks.axis[d].chunk)
                return BAD("the first chunk of output %d is another", i);
        }
    }
    if (n->output < 0 || n->output >= op->nout) return BAD("output number %d", n->output);
    if (op->out[n->output].dtype != n->dtype || !cb_grid_equal(&op->out[n->output].blocks, n->grid))
        return BAD("output %d of %s is another array", n->output, op->function);
    return CUBED_OK;
}

/* Tags that are serialised before the halos of an operand, or before its reach. */
enum { WITHOUT_HALO, WITH_HALO, WITH_REACH, HALOS };

static void put_double(cb_buf *b, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    cb_put_u(b, bits);
}

static void put_reach(cb_buf *b, const cb_reach *r, int ndim)
{
    cb_put_u(b, (uint64_t)r->margin);
    for (int d = 0; d < ndim; d++) {
        cb_put_u(b, (uint64_t)r->extent[d]);
        cb_put_u(b, (uint64_t)r->end[d]);
        put_double(b, r->offset[d]);
        for (int j = 0; j < ndim; j++) put_double(b, r->matrix[d * ndim + j]);
    }
}

static void put_operand(cb_buf *b, const cb_block_operand *x)
{
    cb_put_u(b, (uint64_t)x->dtype);
    cb_put_grid(b, &x->blocks);
    for (int d = 0; d < x->blocks.ndim; d++) cb_put_i(b, x->symbol[d]);
    cb_put_u(b, x->reach ? WITH_REACH : cb_block_has_halo(x) ? WITH_HALO : WITHOUT_HALO);
    if (x->reach) put_reach(b, x->reach, x->blocks.ndim);
    for (int d = 0; d < x->blocks.ndim && cb_block_has_halo(x); d++) {
        cb_put_u(b, (uint64_t)x->halo[d].before);
        cb_put_u(b, (uint64_t)x->halo[d].after);
        cb_put_u(b, x->halo[d].padded);
    }
    cb_put_u(b, (uint64_t)x->gather.most);
    if (x->gather.most == 0) return;
    cb_put_u(b, (uint64_t)x->gather.per);
    cb_put_u(b, (uint64_t)x->gather.axis);
    cb_put_u(b, (uint64_t)x->gather.ranges);
}

static void put_block(cb_buf *b, const cb_node *n)
{
    const cb_blockwise *op = n->block;
    cb_put_string(b, op->function);
    cb_put_params(b, op->params, op->params_size);
    for (int i = 0; i < op->nin; i++) put_operand(b, &op->in[i]);
    cb_put_u(b, (uint64_t)op->nout);
    for (int i = 0; i < op->nout; i++) put_operand(b, &op->out[i]);
    cb_put_u(b, (uint64_t)n->output);
}

static double get_double(cb_reader *r)
{
    const uint64_t bits = cb_get_u(r);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static const cb_reach *get_reach(cb_reader *r, int ndim)
{
    cb_reach *reach = cb_zone_alloc(r->zone, sizeof *reach);
    double *matrix = cb_zone_alloc(r->zone, (size_t)ndim * (size_t)ndim * sizeof *matrix);
    if (!reach || !matrix) {
        r->bad = true;
        return NULL;
    }
    *reach = (cb_reach){.margin = cb_get_n(r, CB_REACH_MARGIN + 1), .matrix = matrix};
    for (int d = 0; d < ndim && !r->bad; d++) {
        reach->extent[d] = (int64_t)cb_get_u(r);
        reach->end[d] = (cb_reach_end)cb_get_n(r, CB_REACH_ENDS);
        reach->offset[d] = get_double(r);
        for (int j = 0; j < ndim; j++) matrix[d * ndim + j] = get_double(r);
    }
    return reach;
}

static void get_operand(cb_reader *r, cb_block_operand *x)
{
    x->dtype = (cubed_dtype)cb_get_n(r, INT32_MAX);
    cb_get_grid(r, &x->blocks);
    for (int d = 0; d < x->blocks.ndim && !r->bad; d++) {
        int64_t symbol = cb_get_i(r);
        if (symbol < -1 || symbol >= CUBED_MAX_NDIM) r->bad = true;
        x->symbol[d] = (int)symbol;
    }
    memset(x->halo, 0, sizeof x->halo);
    x->gather = (cb_gather){.most = 0};
    const int halo = cb_get_n(r, HALOS);
    x->reach = halo == WITH_REACH && !r->bad ? get_reach(r, x->blocks.ndim) : NULL;
    for (int d = 0; halo == WITH_HALO && d < x->blocks.ndim && !r->bad; d++) {
        x->halo[d].before = (int64_t)cb_get_u(r);
        x->halo[d].after = (int64_t)cb_get_u(r);
        x->halo[d].padded = cb_get_n(r, 2) != 0;
    }
    x->gather.most = (int64_t)cb_get_u(r);
    if (x->gather.most == 0) return;
    x->gather.per = (int64_t)cb_get_u(r);
    x->gather.axis = cb_get_n(r, CUBED_MAX_NDIM);
    x->gather.ranges = cb_get_n(r, INT32_MAX);
}

static cb_block_operand *get_operands(cb_reader *r, int n)
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

static void get_block(cb_reader *r, cb_node *n)
{
    cb_blockwise *op = cb_zone_alloc(r->zone, sizeof *op);
    if (!op) {
        r->bad = true;
        return;
    }
    op->function = cb_get_string(r);
    op->params = cb_get_params(r, &op->params_size);
    op->nin = n->ninputs;
    op->in = get_operands(r, op->nin);
    op->nout = cb_get_n(r, CB_MAX_OPERANDS + 1);
    op->out = get_operands(r, op->nout);
    n->output = cb_get_n(r, (uint64_t)op->nout);
    if (!op->function) r->bad = true;
    n->block = op;
}

static const char *block_name(const cb_node *n) { return n->block->function; }

static cubed_status check_blockwise(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    cb_symbols symbols;
    CB_TRY(check_operands(ir, n, false, err));
    if (cb_blockwise_symbols(n->block, &symbols, &why) != CUBED_OK)
        return BAD("%s: %s", n->block->function, why.message);
    return CUBED_OK;
}

const cb_kind cb_kind_blockwise = {.name = "blockwise",
                                   .max_inputs = -1,
                                   .is = CB_KIND_STORES_ITSELF | CB_KIND_CALL | CB_KIND_MIXED,
                                   .cost = CB_COST_CALL,
                                   .check = check_blockwise,
                                   .put = put_block,
                                   .get = get_block,
                                   .find_chunks_from = cb_chunks_of_blocks,
                                   .operation = block_name};

/* Checks that all operands have one dimension, and that the mask has the blocks of the values. */
static cubed_status check_compress(const cb_ir *ir, const cb_node *n, cubed_error *err)
{
    CB_TRY(check_operands(ir, n, true, err));
    const cb_blockwise *op = n->block;
    const cb_block_operand *x = &op->in[0], *mask = &op->in[1], *offsets = &op->in[2];
    const cb_block_operand *out = &op->out[0];
    if (op->nout != 1 || x->blocks.ndim != 1 || out->blocks.ndim != 1 || x->dtype != out->dtype ||
        mask->dtype != CUBED_BOOL || !cb_grid_equal(&x->blocks, &mask->blocks) ||
        x->symbol[0] != 0 || mask->symbol[0] != 0 || out->symbol[0] != -1)
        return BAD("the types or shapes of operands do not match the function");
    if (offsets->dtype != CUBED_INT64 || offsets->blocks.ndim != 1 || offsets->symbol[0] != -1 ||
        offsets->blocks.axis[0].extent != cb_axis_count(&x->blocks.axis[0]) + 1 ||
        cb_axis_count(&offsets->blocks.axis[0]) != 1)
        return BAD("offsets that are not of the mask's blocks");
    if (out->blocks.axis[0].extent > x->blocks.axis[0].extent)
        return BAD("more elements than there are");
    return CUBED_OK;
}

const cb_kind cb_kind_compress = {.name = "compress",
                                  .min_inputs = 3,
                                  .max_inputs = 3,
                                  .is = CB_KIND_STORES_ITSELF | CB_KIND_MIXED,
                                  .cost = CB_COST_PASS,
                                  .check = check_compress,
                                  .put = put_block,
                                  .get = get_block,
                                  .find_chunks_from = cb_chunks_are_data,
                                  .operation = block_name};
