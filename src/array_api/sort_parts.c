/* Sorting more elements than a task holds: what is at the ends of the parts of the result is found by counting
 * (count_keys.c), then each part is gathered from a visit to all elements, and sorted. */
#include "array_api/lines.h"
#include "base/checked.h"
#include "base/error.h"

/* What a task takes for each element of its part: the result, keys, items, and room to sort them. */
static int64_t bytes_per_element(const cubed_array *x, bool positions)
{
    int64_t size = (int64_t)cubed_dtype_size(x->node.dtype);
    return positions ? 2 * size + 3 * (int64_t)sizeof(int64_t) : 4 * size;
}

static cubed_dtype key_type(const cubed_array *x)
{
    switch (cubed_dtype_size(x->node.dtype)) {
    case 1: return CUBED_UINT8;
    case 2: return CUBED_UINT16;
    case 4: return CUBED_UINT32;
    default: return CUBED_UINT64;
    }
}

/* The state of the elements at multiples of `chunk`. */
static cubed_status find_ends(cubed_array *x, int64_t chunk, bool descending, uint64_t memory,
                              cubed_array **state, cubed_error *err)
{
    const int64_t ends = cb_ceil_div(x->shape[0], chunk) - 1;
    const size_t size = sizeof(cb_quantile_params) + (size_t)ends * sizeof(double);
    const cb_lines l = {.x = x, .first = 0, .n = 1};
    cb_zone *zone;
    CB_TRY(cb_zone_new(&x->ctx->alloc, &zone, err));
    cb_quantile_params *p = cb_zone_alloc(zone, size);
    cubed_status st;
    if (p) {
        double *ranks = (double *)(p + 1);
        *p = (cb_quantile_params){.dtype = (int32_t)x->node.dtype, .ranks = 1, .count = ends};
        for (int64_t i = 0; i < ends; i++) ranks[i] = (double)((i + 1) * chunk);
        st = cb_api_count_keys(&l, p, size, descending, memory, state, err);
    } else {
        st = cb_fail(err, CUBED_E_NOMEM, "no memory to sort");
    }
    cb_zone_free(zone);
    return st;
}

static cubed_status sort_parts(cubed_array *x, cubed_array *state, int64_t chunk, bool descending,
                               bool positions, cubed_array **out, cubed_error *err)
{
    const cb_sort_part_params params = {chunk, descending, positions};
    const int parts = 0, blocks = 1, whole = -1;
    const int64_t n = x->shape[0], nparts = cb_ceil_div(n, chunk), counts = 4 * nparts, four = 4;
    const cubed_dtype items = positions ? CUBED_INT64 : x->node.dtype;
    const cubed_block_input in[2] = {{x, &blocks, x->chunks}, {state, &whole, NULL}};
    const cubed_block_output to[4] = {
        {items, 1, &n, &chunk, &parts, x->node.dim_names},
        {key_type(x), 1, &n, &chunk, &parts, NULL},
        {items, 1, &n, &chunk, &parts, NULL},
        {CUBED_INT64, 1, &counts, &four, &parts, NULL},
    };
    cubed_array *made[4];
    CB_TRY(cubed_blockwise(x->ctx, "sort_part", &params, sizeof params, in, 2, to, 4, made, err));
    for (int k = 1; k < 4; k++) cubed_array_unref(made[k]);
    *out = made[0];
    return CUBED_OK;
}

bool cb_api_sorts_in_parts(const cubed_array *x, uint64_t task_mem)
{
    cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    size_t size = cubed_dtype_size(x->node.dtype);
    return x->node.grid.ndim == 1 && kind != CUBED_KIND_COMPLEX && kind != CUBED_KIND_TEXT &&
           cb_sat_mul((size_t)x->shape[0], size) > cb_api_line_bytes(task_mem);
}

cubed_status cb_api_sort_parts(cubed_array *x, bool descending, bool positions, uint64_t task_mem,
                               cubed_array **out, cubed_error *err)
{
    const uint64_t memory = cb_api_line_bytes(task_mem);
    const int64_t fit = (int64_t)(2 * memory) / bytes_per_element(x, positions);
    const int64_t chunk = cb_max_i64(1, cb_min_i64(fit, UINT32_MAX));
    cubed_array *state;
    CB_TRY(find_ends(x, chunk, descending, memory, &state, err));
    cubed_status st = sort_parts(x, state, chunk, descending, positions, out, err);
    cubed_array_unref(state);
    return st;
}
