/* Applies a function to corresponding blocks of several arrays. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "cubed/blockwise.h"
#include "plan/graph.h"

/* The blocks into which all arrays are divided. */
typedef struct layout {
    int ndim;
    int64_t extent[CUBED_MAX_NDIM], chunk[CUBED_MAX_NDIM];
    /* for each axis, the chunks of the arrays added so far if these arrays have the same chunks; otherwise NULL */
    const cb_axis *own[CUBED_MAX_NDIM];
    /* lengths of the blocks along each axis whose blocks have different lengths */
    cubed_chunk_list list[CUBED_MAX_NDIM];
} layout;

/* Adds an array to the layout. Axes are aligned from the last one on. An axis with one element is passed to all blocks. */
static cubed_status add_array(layout *l, const cubed_array *x, int number, cubed_error *err)
{
    for (int k = 0; k < x->node.grid->ndim; k++) {
        int d = l->ndim - 1 - k, of = x->node.grid->ndim - 1 - k;
        int64_t extent = x->shape[of], chunk = x->chunks[of];
        if (extent == 1) continue;
        if (l->extent[d] != 1 && l->extent[d] != extent)
            return cb_fail(err, CUBED_E_ARG,
                           "axis %d of array %d has %" PRId64 " elements, expected %" PRId64
                           " as in another array",
                           of, number, extent, l->extent[d]);
        const cb_axis *axis = &x->node.grid->axis[of];
        bool first = l->extent[d] == 1;
        if (first || (l->own[d] && !cb_axis_equal(l->own[d], axis)))
            l->own[d] = first ? axis : NULL;
        l->chunk[d] = first ? chunk : cb_min_i64(chunk, l->chunk[d]);
        l->extent[d] = extent;
    }
    return CUBED_OK;
}

/* Creates the lists of block lengths, for axes whose blocks have different lengths. */
static cubed_status list_blocks(cb_zone *zone, layout *l, cubed_error *err)
{
    for (int d = 0; d < l->ndim; d++) {
        const cb_axis *a = l->own[d];
        int64_t n = a ? cb_axis_count(a) : 0;
        if (!a || (!a->starts && (n < 2 || a->first == a->chunk))) continue;
        int64_t *lengths = cb_zone_alloc(zone, (size_t)n * sizeof *lengths);
        if (!lengths) return cb_fail(err, CUBED_E_NOMEM, "no memory for an operation");
        for (int64_t i = 0; i < n; i++) lengths[i] = cb_axis_hi(a, i) - cb_axis_lo(a, i);
        l->list[d] = (cubed_chunk_list){lengths, n};
    }
    return CUBED_OK;
}

static cubed_status common_blocks(cubed_array *const *arrays, int narrays, layout *l,
                                  cubed_error *err)
{
    *l = (layout){.ndim = 0};
    for (int i = 0; i < narrays; i++) {
        if (arrays[i]->node.grid->ndim > l->ndim) l->ndim = arrays[i]->node.grid->ndim;
    }
    for (int d = 0; d < l->ndim; d++) l->extent[d] = l->chunk[d] = 1;
    for (int i = 0; i < narrays; i++) CB_TRY(add_array(l, arrays[i], i, err));
    return CUBED_OK;
}

/* Memory that the description of an input refers to. */
typedef struct operand {
    int symbols[CUBED_MAX_NDIM];
    int64_t chunks[CUBED_MAX_NDIM];
    cubed_chunk_list lists[CUBED_MAX_NDIM];
} operand;

static void set_input(const layout *l, cubed_array *x, operand *own, cubed_block_input *in)
{
    int ndim = x->node.grid->ndim;
    for (int d = 0; d < ndim; d++) {
        own->symbols[d] = l->ndim - ndim + d;
        own->chunks[d] = x->shape[d] == 1 ? 1 : l->chunk[own->symbols[d]];
        own->lists[d] = x->shape[d] == 1 ? (cubed_chunk_list){NULL, 0} : l->list[own->symbols[d]];
    }
    *in = (cubed_block_input){x, own->symbols, own->chunks};
}

static cubed_status result_blocks(const layout *l, const int64_t *chunks, int64_t *shape,
                                  cubed_error *err)
{
    for (int d = 0; d < l->ndim; d++) {
        if (chunks[d] < 1)
            return cb_fail(err, CUBED_E_ARG, "chunks[%d] is %" PRId64 ", expected >= 1", d,
                           chunks[d]);
        int64_t n = l->list[d].n ? l->list[d].n : cb_ceil_div(l->extent[d], l->chunk[d]);
        if (cb_mul_i64(n, chunks[d], &shape[d]))
            return cb_fail(err, CUBED_E_ARG, "axis %d of the result has more than 2**63 elements",
                           d);
    }
    return CUBED_OK;
}

cubed_status cubed_map_blocks(cubed_context *ctx, const cubed_kernel *kernel,
                              cubed_array *const *arrays, int narrays, cubed_dtype dtype,
                              const int64_t *chunks, cubed_array **out, cubed_error *err)
{
    const char *name = kernel->name;
    layout l;
    cb_zone *zone;
    cubed_status st;
    int64_t shape[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM];
    if (!name == !kernel->library || !kernel->library != !kernel->symbol)
        return cb_fail(err, CUBED_E_ARG, "a kernel has either a name or a library and a symbol");
    if (narrays < 1)
        return cb_fail(err, CUBED_E_ARG, "narrays is %d, expected at least 1", narrays);
    CB_TRY(common_blocks(arrays, narrays, &l, err));
    for (int d = 0; d < l.ndim; d++) symbols[d] = d;
    CB_TRY(cb_zone_new(&ctx->alloc, &zone, err));
    CB_GO(list_blocks(zone, &l, err));
    memcpy(shape, l.extent, sizeof shape);
    if (chunks) CB_GO(result_blocks(&l, chunks, shape, err));
    cubed_block_input *inputs = cb_zone_alloc(zone, (size_t)narrays * sizeof *inputs);
    operand *own = cb_zone_alloc(zone, (size_t)narrays * sizeof *own);
    const cubed_chunk_list **lists = cb_zone_alloc(zone, (size_t)narrays * sizeof *lists);
    if (!inputs || !own || !lists) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for an operation"));
    for (int i = 0; i < narrays; i++) {
        set_input(&l, arrays[i], &own[i], &inputs[i]);
        lists[i] = own[i].lists;
    }
    if (!name) CB_GO(cb_shared_block_fn_name(zone, kernel->library, kernel->symbol, &name, err));
    const cubed_block_output to = {dtype, l.ndim, shape, chunks ? chunks : l.chunk, symbols, NULL};
    const cubed_chunk_list *const result = chunks ? NULL : l.list;
    const cubed_block_cuts cuts = {lists, &result};
    const cubed_block_operation operation = {.function = name,
                                             .params = kernel->params ? kernel->params : "",
                                             .params_size = kernel->params_size,
                                             .inputs = inputs,
                                             .nin = narrays,
                                             .outputs = &to,
                                             .nout = 1,
                                             .cuts = &cuts};
    st = cubed_blockwise(ctx, &operation, out, err);
out:
    cb_zone_free(zone);
    return st;
}
