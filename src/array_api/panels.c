#include "array_api/panels.h"

#include "array_api/api_pkg.h"
#include "base/error.h"
#include "block/params.h"
#include "context/context.h"
#include "exec/operators/operands.h"
#include "exec/plan/limits.h"
#include "linalg/linalg_functions.h"

/* --- Width of the panels --------------------------------------------------------------------------------- */

/* BLOCK_BYTES: size of a block, if panels are at least eight times as large. LEAST_BYTES: minimum size of a block, because a
 * call for a smaller block costs more than its computation. */
#define BLOCK_BYTES ((int64_t)1 << 20)
#define LEAST_BYTES ((int64_t)4 << 10)
/* Memory of a task in bytes in addition to its blocks and chunks. */
#define TASK_BYTES ((uint64_t)16 << 10)

static int64_t rows_of_block(int64_t n, int64_t step, int64_t item)
{
    const size_t panel = cb_sat_mul((size_t)n, (size_t)(step * item));
    int64_t bytes = cb_max_i64(LEAST_BYTES, (int64_t)cb_min_size(BLOCK_BYTES, panel / 8));
    int64_t rows = cb_min_i64(n, cb_ceil_div(bytes, step * item));
    return cb_ceil_div(rows, step) * step;
}

/* Computes the memory of a task: the panel, a block, the chunks of a block, and scratch memory. */
static cubed_status task_need(const cb_panels *p, const cubed_block_fn *fn, void *fn_ctx,
                              uint64_t *need, cubed_error *err)
{
    const cb_panel_params params = {.rows = p->rows};
    const int64_t in[2] = {p->rows, p->step}, out[2] = {p->rows + p->n, p->step};
    const int64_t index[2] = {0, 0};
    const cubed_block x = {NULL, p->dtype, 2, in, index}, y = {NULL, p->dtype, 2, out, index};
    const cubed_block_call call = {.nin = 1,
                                   .nout = 1,
                                   .in = &x,
                                   .out = &y,
                                   .params = &params,
                                   .params_size = sizeof params,
                                   .first = true,
                                   .last = true,
                                   .nsymbols = 2,
                                   .index = index};
    CB_TRY(fn->check(&call, fn_ctx, err));
    size_t width = (size_t)p->step * cubed_dtype_size(p->dtype);
    size_t block = cb_sat_mul((size_t)in[0], width), panel = cb_sat_mul((size_t)out[0], width);
    bool part = block <= panel / 3 * 2;
    *need = cb_sat_add(cb_sat_add(TASK_BYTES, fn->need(&call, fn_ctx).scratch),
                       cb_sat_add(cb_sat_add(panel, block), part ? block : panel));
    return CUBED_OK;
}

/* Estimates the memory of the plan in addition to tasks (cb_plan_metadata). Each panel is one or two stages, which read the
 * panels to its left piece by piece. Measured: 30 to 130 KB per panel, and 0.5 to 2.5 KB per pair of panels. */
static uint64_t plan_bytes(int64_t panels)
{
    const uint64_t n = (uint64_t)panels;
    const uint64_t bytes = cb_sat_add(cb_sat_mul(n, (size_t)128 << 10),
                                      cb_sat_mul(cb_sat_mul(n, (size_t)n), (size_t)2560));
    return bytes <= CB_PLAN_FREE_BYTES ? 0 : bytes - CB_PLAN_FREE_BYTES;
}

/* Measured plans were smaller than the estimate by up to this factor. */
#define PLAN_MARGIN 5
/* Number of panels for a matrix whose panels do not fit in a task. Such a plan is always refused, and planning few panels is
 * fast. */
#define FEW_PANELS 64

static void set_step(cb_panels *p, int64_t step, int64_t item)
{
    p->step = step;
    p->rows = rows_of_block(p->n, step, item);
}

cubed_status cb_panels_choose(cb_panels *p, const char *function, uint64_t task_mem,
                              cubed_error *err)
{
    const cubed_block_fn *fn;
    void *fn_ctx;
    uint64_t need = UINT64_MAX, least = UINT64_MAX;
    int64_t item = (int64_t)cubed_dtype_size(p->dtype);
    int64_t best = cb_ceil_div(p->n, FEW_PANELS);
    if (p->n == 0)
        return cb_fail(err, CUBED_E_BUDGET,
                       "%s: a task may use %llu bytes, which is too little even for matrices "
                       "without rows: raise allowed_mem",
                       function, (unsigned long long)task_mem);
    CB_TRY(cb_context_find_block_fn(p->s->ctx, function, &fn, &fn_ctx, err));
    for (int64_t step = p->n; step > 0; step -= 1 + step / 16) {
        /* Panels have about equal widths, so that the last one is not much narrower. */
        const int64_t panels = cb_ceil_div(p->n, step);
        set_step(p, cb_ceil_div(p->n, panels), item);
        CB_TRY(task_need(p, fn, fn_ctx, &need, err));
        const uint64_t all = cb_sat_add(need, plan_bytes(panels));
        if (all <= task_mem) return CUBED_OK;
        /* Plans are smaller than the estimate by up to a factor of PLAN_MARGIN. If the plan may fit, build it: the check of
         * its actual size decides. */
        if (need <= task_mem && all < least && all / PLAN_MARGIN <= task_mem) {
            least = all;
            best = p->step;
        }
    }
    set_step(p, best, item);
    return CUBED_OK;
}

/* --- Views ----------------------------------------------------------------------------------------------- */

cubed_array *cb_panels_part(cb_steps *s, cubed_array *x, int64_t row, int64_t rows, int64_t column,
                            int64_t columns)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    cubed_array *y = NULL;
    if (s->st != CUBED_OK || rows <= 0 || columns <= 0) return NULL;
    int ndim = x->node.grid->ndim;
    for (int d = 0; d < ndim - 2; d++) slices[d] = (cubed_slice){0, x->shape[d], 1, false};
    slices[ndim - 2] = (cubed_slice){row, rows, 1, false};
    slices[ndim - 1] = (cubed_slice){column, columns, 1, false};
    return cb_step(s, cubed_slice_array(x, slices, &y, s->err), &y);
}

cubed_array *cb_panels_concat(cb_steps *s, cubed_array *const *list, int n, bool side_by_side)
{
    cubed_array *y = NULL, **there;
    int count = 0;
    if (s->st != CUBED_OK) return NULL;
    size_t bytes = (size_t)n * sizeof(cubed_array *);
    there = cb_alloc_zero(&s->ctx->alloc, bytes);
    if (!there) {
        s->st = cb_fail(s->err, CUBED_E_NOMEM, "no memory for %d arrays", n);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        if (list[i]) there[count++] = list[i];
    }
    cb_step(s, cubed_concat(there, count, side_by_side ? -1 : -2, &y, s->err), &y);
    cb_free(&s->ctx->alloc, there, bytes);
    return s->st == CUBED_OK ? y : NULL;
}

cubed_array *cb_panels_stored(const cb_panels *p, cubed_array *x)
{
    int64_t chunks[CUBED_MAX_NDIM];
    cubed_array *y = NULL, *wide = cb_step_cast(p->s, x, p->dtype);
    if (p->s->st != CUBED_OK) return NULL;
    int ndim = x->node.grid->ndim;
    for (int d = 0; d < ndim; d++)
        chunks[d] = d < ndim - 2 ? 1 : cb_min_i64(x->shape[d], d == ndim - 2 ? p->rows : p->step);
    cb_node n = cb_graph_like(wide, CB_NODE_COPY, p->dtype);
    const cb_grid grid = cb_grid_regular(ndim, x->shape, chunks);
    n.grid = &grid;
    cb_node_store(&n, CB_WHY_BLOCK_INPUT);
    return cb_step(p->s, cb_graph_add(x->ctx, &n, &wide, &y, p->s->err), &y);
}

cubed_array *cb_panels_zeros(const cb_panels *p, int64_t rows, int64_t columns)
{
    static const cubed_scalar zero = {.c128 = {0, 0}};
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    cubed_array *y = NULL;
    if (p->s->st != CUBED_OK || rows <= 0 || columns <= 0) return NULL;
    for (int d = 0; d < p->batch; d++) {
        shape[d] = p->shape[d];
        chunks[d] = 1;
    }
    shape[p->batch] = rows;
    shape[p->batch + 1] = columns;
    chunks[p->batch] = cb_min_i64(rows, p->rows);
    chunks[p->batch + 1] = columns;
    return cb_step(
        p->s,
        cubed_array_full(p->s->ctx, p->dtype, p->batch + 2, shape, chunks, &zero, &y, p->s->err),
        &y);
}

/* Concatenates three pieces vertically, and pads them with zeros to the width of a block. */
static cubed_array *column(const cb_panels *p, cubed_array *a, cubed_array *b, cubed_array *c,
                           int64_t width)
{
    cubed_array *const rows[3] = {a, b, c};
    cubed_array *const beside[2] = {cb_panels_concat(p->s, rows, 3, false),
                                    cb_panels_zeros(p, p->rows + p->n, p->step - width)};
    return beside[1] ? cb_panels_concat(p->s, beside, 2, true) : beside[0];
}

static int64_t columns_of(const cubed_array *x) { return x ? x->shape[x->node.grid->ndim - 1] : 0; }

cubed_array *cb_panels_own(const cb_panels *p, cubed_array *x)
{
    if (p->s->st != CUBED_OK) return NULL;
    int64_t rows = x->shape[p->batch], width = columns_of(x);
    return column(p, cb_panels_zeros(p, p->rows + p->n - rows, width), x, NULL, width);
}

cubed_array *cb_panels_lower(const cb_panels *p, cubed_array *made, int64_t k)
{
    int64_t above = k * p->step, width = columns_of(made);
    return column(p, cb_panels_part(p->s, made, 0, p->rows, 0, width),
                  cb_panels_zeros(p, above, width),
                  cb_panels_part(p->s, made, p->rows + above, p->n - above, 0, width), width);
}

cubed_array *cb_panels_upper(const cb_panels *p, cubed_array *made, int64_t k)
{
    int64_t above = k * p->step, width = columns_of(made);
    cubed_array *const top[2] = {cb_panels_part(p->s, made, p->rows + above, width, 0, width),
                                 cb_panels_zeros(p, p->rows - width, width)};
    return column(p, cb_panels_concat(p->s, top, 2, false),
                  cb_panels_part(p->s, made, p->rows, above, 0, width),
                  cb_panels_zeros(p, p->n - above, width), width);
}

cubed_array *cb_panels_below(const cb_panels *p, cubed_array *made, int64_t of, int64_t rows)
{
    int64_t above = of * p->step, width = columns_of(made);
    return column(p, cb_panels_part(p->s, made, p->rows + above, rows, 0, width),
                  cb_panels_zeros(p, p->rows - rows + above, width),
                  cb_panels_part(p->s, made, p->rows + above, p->n - above, 0, width), width);
}

cubed_array *cb_panels_join(const cb_panels *p, cubed_array *const *made, int n, int64_t height)
{
    cubed_array *y = NULL, *all = cb_panels_concat(p->s, made, n, true);
    if (p->s->st == CUBED_OK) y = cb_panels_part(p->s, all, p->rows, height, 0, columns_of(all));
    return y;
}

/* --- Calls ----------------------------------------------------------------------------------------------- */

cubed_array *cb_panels_call(const cb_panels *p, const char *function, cubed_array *const *columns,
                            int n, int64_t panels, bool option, int64_t width)
{
    const cb_panel_params params = {p->rows, panels, option, 0};
    const int ndim = p->batch + 2;
    cubed_array *y = NULL, *in = cb_panels_concat(p->s, columns, n, true);
    int64_t shape[CUBED_MAX_NDIM], blocks[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM], kept[CUBED_MAX_NDIM];
    if (p->s->st != CUBED_OK) return NULL;
    for (int d = 0; d < p->batch; d++) {
        shape[d] = p->shape[d];
        blocks[d] = chunks[d] = 1;
        symbols[d] = kept[d] = d;
    }
    blocks[p->batch] = p->rows;
    blocks[p->batch + 1] = p->step;
    shape[p->batch] = chunks[p->batch] = p->rows + p->n;
    shape[p->batch + 1] = chunks[p->batch + 1] = width;
    symbols[p->batch] = p->batch + 1; /* blocks are visited column by column */
    symbols[p->batch + 1] = p->batch;
    kept[p->batch] = kept[p->batch + 1] = -1;
    const cubed_block_input from = {in, symbols, blocks};
    const cubed_block_output to = {p->dtype, ndim, shape, chunks, kept, NULL};
    const cubed_block_operation operation = {.function = function,
                                             .params = &params,
                                             .params_size = sizeof params,
                                             .inputs = &from,
                                             .nin = 1,
                                             .outputs = &to,
                                             .nout = 1};
    return cb_step(p->s, cubed_blockwise(p->s->ctx, &operation, &y, p->s->err), &y);
}
