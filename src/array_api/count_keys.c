/* Quantiles by counting, in passes over lines that do not fit in a task. */
#include "array_api/lines.h"
#include "base/checked.h"
#include "base/error.h"

/* Maximum number of bits counted in one pass. The counts use 512 KiB for each requested key. */
#define MOST_BITS  16
#define LEAST_BITS 4
/* Number of pieces into which a pass over few lines is split, so that more tasks run in parallel. The counts of the pieces are
 * added. */
#define PIECES 8

typedef struct counting {
    const cb_lines *l;
    const cb_quantile_params *p;
    size_t params_size;
    uint64_t memory;
    int64_t wanted; /* number of keys to find in each line */
    int key_bits, passes;
    int nkept;
    /* Shape and chunks of the arrays of counts and of states. Their axes are the axes that are not reduced, followed by up to two
     * more. */
    int64_t shape[CUBED_MAX_NDIM + 2], chunks[CUBED_MAX_NDIM + 2];
    int symbols[CUBED_MAX_NDIM + 2];
} counting;

/* One pass of the search. `state` is the state before the pass; NULL in the first pass. The pass counts one digit of the keys,
 * which consists of `bits` bits from bit `shift` on. */
typedef struct pass {
    cubed_array *state;
    int shift, bits;
} pass;

/* Returns the size in bytes of the counts of a block of lines. */
static size_t count_bytes(const counting *c, int bits)
{
    size_t bytes = cb_sat_mul((size_t)c->wanted, sizeof(int64_t) << bits);
    for (int k = 0; k < c->nkept; k++)
        bytes = cb_sat_mul(bytes, (size_t)cb_min_i64(c->chunks[k], cb_max_i64(1, c->shape[k])));
    return bytes;
}

/* Returns the smallest number of passes whose counts fit in memory. The passes count about equal numbers of bits. */
static int count_passes(const counting *c)
{
    int bits = MOST_BITS;
    while (bits > LEAST_BITS && count_bytes(c, bits) > c->memory / 4) bits--;
    return (c->key_bits + bits - 1) / bits;
}

static void begin(counting *c, const cb_lines *l)
{
    const cubed_array *x = l->x;
    c->key_bits = 8 * (int)cubed_dtype_size(x->node.dtype);
    for (int d = 0; d < x->node.grid->ndim; d++) {
        if (cb_lines_reduces(l, d)) continue;
        c->shape[c->nkept] = x->shape[d];
        c->chunks[c->nkept] = x->chunks[d];
        c->symbols[c->nkept++] = d;
    }
    c->symbols[c->nkept] = c->symbols[c->nkept + 1] = -1;
    c->passes = count_passes(c);
}

static void set_last(counting *c, int axis, int64_t extent)
{
    c->shape[c->nkept + axis] = extent;
    c->chunks[c->nkept + axis] = cb_max_i64(1, extent);
}

/* Builds the counts of a pass over the keys in x. x is the whole array or a piece of it. */
static cubed_status count_piece(counting *c, cubed_array *x, const pass *p, cubed_array **out,
                                cubed_error *err)
{
    const cb_count_params params = {c->l->first, c->l->n, p->shift, p->bits};
    int symbols[CUBED_MAX_NDIM];
    /* the reduced axes also have symbols, which are contracted */
    for (int d = 0; d < x->node.grid->ndim; d++) symbols[d] = d;
    set_last(c, 0, p->state ? c->wanted : 1);
    set_last(c, 1, ((int64_t)1 << p->bits) + 1);
    const cubed_block_input in[2] = {{x, symbols, x->chunks}, {p->state, c->symbols, NULL}};
    const cubed_block_output to = {CUBED_INT64, c->nkept + 2, c->shape,
                                   c->chunks,   c->symbols,   NULL};
    const cubed_block_operation operation = {.function = "count_keys",
                                             .params = &params,
                                             .params_size = sizeof params,
                                             .inputs = in,
                                             .nin = p->state ? 2 : 1,
                                             .outputs = &to,
                                             .nout = 1};
    return cubed_blockwise(x->ctx, &operation, out, err);
}

/* Returns the number of pieces whose counts fit together in the memory of a task. *axis receives the reduced axis with the most
 * chunks, which is to be divided. */
static int64_t choose_pieces(const counting *c, int bits, int *axis)
{
    int64_t fit = (int64_t)(c->memory / cb_max_size(1, count_bytes(c, bits)));
    const cubed_array *x = c->l->x;
    int64_t most = 1, blocks = 1;
    *axis = 0;
    for (int d = 0; d < x->node.grid->ndim; d++) {
        int64_t n = cb_ceil_div(x->shape[d], x->chunks[d]);
        if (!cb_lines_reduces(c->l, d)) {
            blocks = cb_min_i64(PIECES, blocks * cb_min_i64(PIECES, n));
        } else if (n > most) {
            most = n;
            *axis = d;
        }
    }
    return cb_min_i64(cb_min_i64(most, fit), PIECES / cb_max_i64(1, blocks));
}

/* Adds the counts of a part of x to *total, which is NULL before the first part. */
static cubed_status add_piece(counting *c, int axis, int64_t from, int64_t to, const pass *p,
                              cubed_array **total, cubed_error *err)
{
    cubed_array *x = c->l->x, *piece = NULL, *counts = NULL, *sum = NULL;
    cubed_slice slices[CUBED_MAX_NDIM];
    cubed_status st = CUBED_OK;
    for (int d = 0; d < x->node.grid->ndim; d++)
        slices[d] = d == axis ? (cubed_slice){from, to - from, 1, false}
                              : (cubed_slice){0, x->shape[d], 1, false};
    CB_GO(cubed_slice_array(x, slices, &piece, err));
    CB_GO(count_piece(c, piece, p, &counts, err));
    cubed_array *both[2] = {*total, counts};
    if (*total) CB_GO(cubed_elementwise(CUBED_OP_ADD, both, 2, &sum, err));
    cubed_array_unref(*total);
    *total = sum ? sum : cubed_array_ref(counts);
out:
    cubed_array_unref(piece);
    cubed_array_unref(counts);
    return st;
}

static cubed_status count_all(counting *c, const pass *p, cubed_array **out, cubed_error *err)
{
    cubed_array *x = c->l->x, *total = NULL;
    cubed_status st = CUBED_OK;
    int axis;
    int64_t pieces = choose_pieces(c, p->bits, &axis);
    if (pieces <= 1) return count_piece(c, x, p, out, err);
    int64_t extent = x->shape[axis], chunk = x->chunks[axis];
    int64_t length = chunk * cb_ceil_div(cb_ceil_div(extent, chunk), pieces);
    for (int64_t at = 0; at < extent && st == CUBED_OK; at += length)
        st = add_piece(c, axis, at, cb_min_i64(extent, at + length), p, &total, err);
    if (st == CUBED_OK)
        *out = total;
    else
        cubed_array_unref(total);
    return st;
}

/* Builds the next state of the search: each requested key gets the digit of this pass. */
static cubed_status refine(counting *c, const pass *p, cubed_array **out, cubed_error *err)
{
    cubed_array *counts;
    int64_t blocks[CUBED_MAX_NDIM];
    CB_TRY(count_all(c, p, &counts, err));
    for (int d = 0; d < c->nkept + 2; d++) blocks[d] = c->chunks[d];
    set_last(c, 0, 1 + 2 * c->wanted);
    const cubed_block_input in[2] = {{counts, c->symbols, blocks}, {p->state, c->symbols, NULL}};
    const cubed_block_output to = {CUBED_INT64, c->nkept + 1, c->shape,
                                   c->chunks,   c->symbols,   NULL};
    const cubed_block_operation operation = {.function = "refine_keys",
                                             .params = c->p,
                                             .params_size = c->params_size,
                                             .inputs = in,
                                             .nin = p->state ? 2 : 1,
                                             .outputs = &to,
                                             .nout = 1};
    cubed_status st = cubed_blockwise(counts->ctx, &operation, out, err);
    cubed_array_unref(counts);
    return st;
}

cubed_status cb_api_count_keys(const cb_lines *l, const cb_quantile_params *p, size_t params_size,
                               uint64_t memory, cubed_array **state, cubed_error *err)
{
    counting c = {
        .l = l, .p = p, .params_size = params_size, .memory = memory, .wanted = 2 * p->count};
    cubed_array *known = NULL;
    begin(&c, l);
    if (c.nkept + 2 > CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "quantile: %d dimensions remain, expected at most %d", c.nkept,
                       CUBED_MAX_NDIM - 2);
    int left = c.key_bits;
    for (int k = 0; k < c.passes; k++) {
        cubed_array *next;
        int bits = (left + c.passes - k - 1) / (c.passes - k);
        left -= bits;
        cubed_status st = refine(&c, &(pass){known, left, bits}, &next, err);
        cubed_array_unref(known);
        if (st != CUBED_OK) return st;
        known = next;
    }
    *state = known;
    return CUBED_OK;
}
