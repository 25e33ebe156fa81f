/* Singular values and eigenvalues of matrices that do not fit in a task. The matrix is reduced to a band matrix, which fits.
 *
 * Reflectors of panels of columns, and then of panels of rows, leave a block on the diagonal and the block to its right (Grosser
 * and Lang, "Efficient parallel reduction to bidiagonal form", Parallel Computing 1999). Each panel takes two passes over the
 * rest of the matrix. A panel consists of the last columns or the last rows of the rest, in reverse order. So the next rest
 * consists of the first rows and columns, and the boundaries of its stored blocks do not change. */
#include <string.h>

#include "array_api/api_pkg.h"
#include "array_api/matrix_steps.h"
#include "array_api/panels.h"
#include "base/error.h"
#include "block/params.h"
#include "context/context.h"
#include "exec/plan/limits.h"

/* Limits of the width of the band, in columns. By default, the band has 1/PART of the matrix's width. It is narrower if a task
 * would not fit in memory. The matrix is split into at most MOST_PANELS panels. A wide band costs time, because a single task
 * processes the whole band. */
#define WIDEST      512
#define NARROWEST   16
#define PART        16
#define MOST_PANELS 128
/* Maximum number of rows and of columns of a block of the matrix. */
#define LARGEST_BLOCK 1024
/* Memory of the plan in bytes for each panel, as measured. */
#define PANEL_BYTES ((uint64_t)300 << 10)

typedef struct band {
    cb_steps s;
    cb_panels p; /* panels; `step` and `rows` are the extents of the blocks of the matrix */
    int64_t b;   /* width of a panel and of a block of the band */
    cb_zone *zone;
} band;

/* --- Calls ------------------------------------------------------------------------------------------------- */

/* Symbols of the axes of an operand, a matrix in blocks. An axis with the symbol WHOLE is not divided. */
enum { ROW, COLUMN, SUMMED, WHOLE = -1 };
typedef struct operand {
    cubed_array *x; /* the array of an input; NULL for a result */
    int64_t shape[2], blocks[2];
    int symbols[2];
    int core; /* number of axes: 2, or 1 for a result that is a vector */
} operand;

static operand part_of(cubed_array *x, int64_t rows, int row, int64_t columns, int column)
{
    if (!x) return (operand){.x = NULL};
    const int64_t *shape = x->shape + x->node.grid->ndim - 2;
    return (operand){x,
                     {shape[0], shape[1]},
                     {cb_min_i64(rows, shape[0]), cb_min_i64(columns, shape[1])},
                     {row, column},
                     2};
}

static operand whole_of(cubed_array *x) { return part_of(x, INT64_MAX, WHOLE, INT64_MAX, WHOLE); }

static operand result_of(int64_t rows, int64_t columns, int64_t row_blocks, int row,
                         int64_t column_blocks, int column)
{
    return (operand){NULL,
                     {rows, columns},
                     {cb_min_i64(row_blocks, rows), cb_min_i64(column_blocks, columns)},
                     {row, column},
                     2};
}

static operand whole_result(int64_t rows, int64_t columns)
{
    return result_of(rows, columns, rows, WHOLE, columns, WHOLE);
}

/* Shape, blocks and symbols of an operand with its batch axes first. The symbols of the batch axes follow the symbols of the
 * matrix. */
typedef struct axes {
    int64_t shape[CUBED_MAX_NDIM], blocks[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM];
} axes;

static void spread(const band *w, const operand *o, int batch_symbol, axes *to)
{
    const int batch = w->p.batch;
    for (int d = 0; d < batch; d++) {
        to->shape[d] = w->p.shape[d];
        to->blocks[d] = 1;
        to->symbols[d] = batch_symbol + d;
    }
    for (int d = 0; d < o->core; d++) {
        to->shape[batch + d] = o->shape[d];
        to->blocks[batch + d] = o->blocks[d];
        to->symbols[batch + d] = o->symbols[d];
    }
}

/* Calls a block function on operands of one or two axes in addition to the batch axes. `symbols` is the number of symbols in use:
 * ROW, COLUMN, SUMMED. */
static cubed_array *call(band *w, const char *function, int symbols, const operand *in, int nin,
                         const operand *out, int nout, cubed_array **outs)
{
    const cb_matmul_params params = {w->p.batch, 1, 1, 1};
    const bool is_product = symbols > SUMMED;
    cubed_block_input from[3];
    cubed_block_output to[3];
    axes of[6];
    if (w->s.st != CUBED_OK) return NULL;
    for (int i = 0; i < nin; i++) {
        spread(w, &in[i], symbols, &of[i]);
        from[i] = (cubed_block_input){in[i].x, of[i].symbols, of[i].blocks};
    }
    for (int i = 0; i < nout; i++) {
        axes *a = &of[3 + i];
        spread(w, &out[i], symbols, a);
        const cubed_dtype dtype = out[i].core == 1 ? CUBED_FLOAT64 : w->p.dtype;
        to[i] = (cubed_block_output){
            dtype, w->p.batch + out[i].core, a->shape, a->blocks, a->symbols, NULL};
    }
    const cubed_block_operation operation = {.function = function,
                                             .params = is_product ? &params : NULL,
                                             .params_size = is_product ? sizeof params : 0,
                                             .inputs = from,
                                             .nin = nin,
                                             .outputs = to,
                                             .nout = nout};
    cubed_status st = cubed_blockwise(w->s.ctx, &operation, outs, w->s.err);
    if (st != CUBED_OK) {
        w->s.st = st;
        return NULL;
    }
    for (int i = 0; i < nout; i++) outs[i] = cb_step(&w->s, st, &outs[i]);
    return outs[0];
}

/* Computes the matrix product of a and b block by block. */
static cubed_array *product(band *w, cubed_array *a, cubed_array *b)
{
    const int64_t n = w->p.step;
    cubed_array *y = NULL;
    const operand in[2] = {part_of(a, n, ROW, n, SUMMED), part_of(b, n, SUMMED, n, COLUMN)};
    if (w->s.st != CUBED_OK) return NULL;
    const operand out = result_of(in[0].shape[0], in[1].shape[1], n, ROW, n, COLUMN);
    return call(w, "matmul", SUMMED + 1, in, 2, &out, 1, &y);
}

/* Returns x - a b. */
static cubed_array *update(band *w, cubed_array *x, cubed_array *a, cubed_array *b)
{
    const int64_t n = w->p.step;
    cubed_array *y = NULL;
    const operand in[3] = {part_of(x, n, ROW, n, COLUMN), part_of(a, n, ROW, INT64_MAX, WHOLE),
                           part_of(b, INT64_MAX, WHOLE, n, COLUMN)};
    if (w->s.st != CUBED_OK) return NULL;
    const operand out = result_of(in[0].shape[0], in[0].shape[1], n, ROW, n, COLUMN);
    return call(w, "subtract_product", COLUMN + 1, in, 3, &out, 1, &y);
}

/* --- Views --------------------------------------------------------------------------------------------------- */

static int64_t rows_of(const cubed_array *x) { return x->shape[x->node.grid->ndim - 2]; }
static int64_t columns_of(const cubed_array *x) { return x->shape[x->node.grid->ndim - 1]; }

static cubed_array *part(band *w, cubed_array *x, int64_t row, int64_t rows, int64_t column,
                         int64_t columns)
{
    return cb_panels_part(&w->s, x, row, rows, column, columns);
}

static cubed_array *adjoint(band *w, cubed_array *x) { return cb_step_adjoint(&w->s, x); }

/* Reverses the rows, or the rows and the columns. */
static cubed_array *reversed(band *w, cubed_array *x, int naxes)
{
    cubed_array *y = NULL;
    if (w->s.st != CUBED_OK) return NULL;
    return cb_step(&w->s, cubed_flip(x, (const int[]){-2, -1}, naxes, &y, w->s.err), &y);
}

static cubed_array *beside(band *w, cubed_array *a, cubed_array *b)
{
    return cb_panels_concat(&w->s, (cubed_array *const[]){a, b}, 2, true);
}

static cubed_array *below(band *w, cubed_array *a, cubed_array *b)
{
    return cb_panels_concat(&w->s, (cubed_array *const[]){a, b}, 2, false);
}

/* --- Panels ------------------------------------------------------------------------------------------------- */

/* QR factorisation of a panel: the panel is Q R, and Q = 1 - V T V^H is a product of Householder reflections. `v` is V and
 * `vt` is V T; their rows are in the order of the matrix's rows. */
typedef struct reflectors {
    cubed_array *v, *vt, *r;
} reflectors;

static reflectors reflect(band *w, cubed_array *panel)
{
    cubed_array *made[3] = {NULL, NULL, NULL};
    if (w->s.st != CUBED_OK) return (reflectors){NULL, NULL, NULL};
    const int64_t m = rows_of(panel), n = columns_of(panel), k = cb_min_i64(m, n);
    const operand in = whole_of(panel);
    const operand out[3] = {whole_result(m, k), whole_result(m, k), whole_result(k, n)};
    call(w, "reflectors", 0, &in, 1, out, 3, made);
    return (reflectors){reversed(w, made[0], 1), reversed(w, made[1], 1), made[2]};
}

/* Returns some rows of the band, 2 b columns wide: the diagonal block, the block to its right (may be NULL), and zeros up to the
 * width. */
static cubed_array *rows(band *w, cubed_array *diagonal, cubed_array *right)
{
    if (w->s.st != CUBED_OK) return NULL;
    const int64_t n = rows_of(diagonal),
                  have = columns_of(diagonal) + (right ? columns_of(right) : 0);
    cubed_array *const list[3] = {diagonal, right, cb_panels_zeros(&w->p, n, 2 * w->b - have)};
    return cb_panels_concat(&w->s, list, 3, true);
}

/* Reduces the last columns of a (m x n, m >= n) to an upper triangle R, then the last rows of the remainder to a lower triangle.
 * *left receives the remaining rows and columns. */
static cubed_array *reduce(band *w, cubed_array *a, cubed_array **left)
{
    *left = NULL;
    if (w->s.st != CUBED_OK) return NULL;
    const int64_t m = rows_of(a), n = columns_of(a), b = cb_min_i64(w->b, n);
    const reflectors q = reflect(w, reversed(w, part(w, a, 0, m, n - b, b), 2));
    if (b == n) return rows(w, q.r, NULL);
    cubed_array *others = part(w, a, 0, m, 0, n - b), *top = part(w, others, 0, m - b, 0, n - b);
    cubed_array *c = product(w, adjoint(w, q.vt), others); /* Q^H others = others - V c */
    cubed_array *last =
        update(w, part(w, others, m - b, b, 0, n - b), part(w, q.v, m - b, b, 0, b), c);
    const reflectors p = reflect(w, adjoint(w, reversed(w, last, 2)));
    /* (top - V c) P = top - V c - x V_p^H, with x = (top - V c) V_p T_p */
    cubed_array *v = part(w, q.v, 0, m - b, 0, b);
    cubed_array *x = update(w, product(w, top, p.vt), v, product(w, c, p.vt));
    *left = update(w, top, beside(w, v, x), below(w, c, adjoint(w, p.v)));
    return rows(w, q.r, adjoint(w, p.r));
}

/* Eliminates the last columns and rows outside the band of a Hermitian matrix by applying the same reflectors from both sides.
 * *left receives the remaining rows and columns. */
static cubed_array *reduce_hermitian(band *w, cubed_array *a, cubed_array **left)
{
    *left = NULL;
    if (w->s.st != CUBED_OK) return NULL;
    const int64_t n = rows_of(a), b = cb_min_i64(w->b, n);
    cubed_array *diagonal = reversed(w, part(w, a, n - b, b, n - b, b), 2);
    if (b == n) return rows(w, diagonal, NULL);
    const reflectors q = reflect(w, reversed(w, part(w, a, 0, n - b, n - b, b), 2));
    cubed_array *others = part(w, a, 0, n - b, 0, n - b);
    /* Q^H a Q = a - V y^H - y V^H with y = x - V (V T)^H x / 2, x = a V T */
    cubed_array *x = product(w, others, q.vt);
    cubed_array *half = cb_step_cast(&w->s, cb_step_float(&w->s, 0.5), w->p.dtype);
    cubed_array *inner =
        cb_step_op(&w->s, CUBED_OP_MULTIPLY, product(w, adjoint(w, q.vt), x), half, NULL);
    cubed_array *y = update(w, x, q.v, inner);
    *left = update(w, others, beside(w, q.v, y), below(w, adjoint(w, y), adjoint(w, q.v)));
    return rows(w, diagonal, adjoint(w, q.r));
}

/* --- Width of the band --------------------------------------------------------------------------------------- */

/* Computes the memory of a task with one call: operands, results, scratch memory, and the largest chunk, decoded and
 * encoded. */
static cubed_status call_bytes(const band *w, const char *function, cubed_block_call *call,
                               int64_t chunk, uint64_t *most, cubed_error *err)
{
    static const int64_t index[3] = {0, 0, 0};
    const cb_matmul_params params = {0, 1, 1, 1};
    const cubed_block_fn *fn;
    void *fn_ctx;
    CB_TRY(cb_context_find_block_fn(w->s.ctx, function, &fn, &fn_ctx, err));
    if (strcmp(function, "matmul") == 0) {
        call->params = &params;
        call->params_size = sizeof params;
    }
    call->first = call->last = true;
    call->index = index;
    CB_TRY(fn->check(call, fn_ctx, err));
    size_t elements = cb_sat_mul(2, (size_t)chunk);
    for (int i = 0; i < call->nin + call->nout; i++) {
        const cubed_block *x = i < call->nin ? &call->in[i] : &call->out[i - call->nin];
        size_t n = 1;
        for (int d = 0; d < x->ndim; d++) n = cb_sat_mul(n, (size_t)x->shape[d]);
        elements = cb_sat_add(elements, n);
    }
    const size_t bytes = cb_sat_mul(elements, cubed_dtype_size(w->p.dtype));
    *most = cb_max_size(*most, cb_sat_add(bytes, fn->need(call, fn_ctx).scratch));
    return CUBED_OK;
}

/* Computes the maximum memory of a task for an m x n matrix. */
static cubed_status task_bytes(const band *w, int64_t m, int64_t n, uint64_t *out, cubed_error *err)
{
    const int64_t b = w->b, step = w->p.step, chunk = cb_max_i64(step * step, m * b);
    const int64_t tall[2] = {m, b}, square[2] = {b, b}, block[2] = {step, step};
    const int64_t left[2] = {step, 2 * b}, right[2] = {2 * b, step}, by[2] = {step, b},
                  of[2] = {n, 2 * b};
    const cubed_dtype dtype = w->p.dtype;
    const cubed_block panel[4] = {{NULL, dtype, 2, tall, NULL},
                                  {NULL, dtype, 2, tall, NULL},
                                  {NULL, dtype, 2, tall, NULL},
                                  {NULL, dtype, 2, square, NULL}};
    const cubed_block product[3] = {
        {NULL, dtype, 2, block, NULL}, {NULL, dtype, 2, by, NULL}, {NULL, dtype, 2, by, NULL}};
    const cubed_block update[4] = {{NULL, dtype, 2, block, NULL},
                                   {NULL, dtype, 2, left, NULL},
                                   {NULL, dtype, 2, right, NULL},
                                   {NULL, dtype, 2, block, NULL}};
    const cubed_block values[2] = {{NULL, dtype, 2, of, NULL}, {NULL, CUBED_FLOAT64, 1, of, NULL}};
    *out = 0;
    cubed_block_call call = {.nin = 1, .nout = 3, .in = panel, .out = panel + 1};
    CB_TRY(call_bytes(w, "reflectors", &call, chunk, out, err));
    call = (cubed_block_call){.nin = 2, .nout = 1, .in = product, .out = product + 2};
    CB_TRY(call_bytes(w, "matmul", &call, chunk, out, err));
    call = (cubed_block_call){.nin = 3, .nout = 1, .in = update, .out = update + 3};
    CB_TRY(call_bytes(w, "subtract_product", &call, chunk, out, err));
    call = (cubed_block_call){.nin = 1, .nout = 1, .in = values, .out = values + 1};
    CB_TRY(call_bytes(w, "band_svdvals", &call, chunk, out, err));
    const uint64_t plan = cb_sat_mul(PANEL_BYTES, (size_t)cb_ceil_div(n, b));
    *out = cb_sat_add(*out, plan > CB_PLAN_FREE_BYTES ? plan - CB_PLAN_FREE_BYTES : 0);
    return CUBED_OK;
}

/* Chooses the widest band that fits in a task, and the largest blocks that fit with it. Sets *fits to false if no band fits. */
static cubed_status choose(band *w, int64_t m, int64_t n, uint64_t task_mem, bool *fits,
                           cubed_error *err)
{
    int64_t b = cb_min_i64(WIDEST, cb_max_i64(NARROWEST, n / PART));
    for (; b >= NARROWEST && n <= MOST_PANELS * b; b -= cb_max_i64(1, b / 8)) {
        for (int64_t step = cb_min_i64(LARGEST_BLOCK, m); step >= b; step = step / 2) {
            uint64_t bytes;
            w->b = cb_min_i64(b, n);
            w->p.step = w->p.rows = step;
            CB_TRY(task_bytes(w, m, n, &bytes, err));
            *fits = bytes <= task_mem;
            if (*fits) return CUBED_OK;
        }
    }
    *fits = false;
    return CUBED_OK;
}

/* --- Singular values and eigenvalues ------------------------------------------------------------------------- */

/* Returns the Hermitian matrix with x's lower triangle and the real part of its diagonal. */
static cubed_array *both_triangles(band *w, cubed_array *x)
{
    cubed_array *low = NULL, *diagonal = NULL, *upper = NULL;
    if (w->s.st != CUBED_OK) return NULL;
    cb_step(&w->s, cubed_tril(x, -1, &low, w->s.err), &low);
    if (w->s.st == CUBED_OK) cb_step(&w->s, cubed_triu(x, 0, &upper, w->s.err), &upper);
    if (w->s.st == CUBED_OK) cb_step(&w->s, cubed_tril(upper, 0, &diagonal, w->s.err), &diagonal);
    diagonal =
        cb_step_cast(&w->s, cb_step_op(&w->s, CUBED_OP_REAL, diagonal, NULL, NULL), x->node.dtype);
    cubed_array *sum = cb_step_op(&w->s, CUBED_OP_ADD, low, adjoint(w, low), NULL);
    return cb_step_op(&w->s, CUBED_OP_ADD, sum, diagonal, NULL);
}

static cubed_array *values(band *w, cubed_array *x, bool hermitian)
{
    const int64_t n = columns_of(x);
    const int count = (int)cb_ceil_div(n, w->b);
    cubed_array **made = cb_zone_alloc(w->zone, (size_t)count * sizeof *made), *y = NULL, *next;
    if (!made) {
        w->s.st = cb_fail(w->s.err, CUBED_E_NOMEM, "no memory for an operation");
        return NULL;
    }
    cubed_array *a = cb_panels_stored(&w->p, hermitian ? both_triangles(w, x) : x);
    for (int k = 0; k < count; k++, a = next)
        made[k] = hermitian ? reduce_hermitian(w, a, &next) : reduce(w, a, &next);
    cubed_array *all = cb_panels_concat(&w->s, made, count, false);
    if (w->s.st != CUBED_OK) return NULL;
    const operand in = whole_of(all), out = {NULL, {n}, {n}, {WHOLE}, 1};
    return call(w, hermitian ? "band_eigvalsh" : "band_svdvals", 0, &in, 1, &out, 1, &y);
}

cubed_status cb_api_band_values(cubed_array *x, bool hermitian, uint64_t task_mem, bool *fits,
                                cubed_array **out, cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    const bool complex = cubed_dtype_kind(x->node.dtype) == CUBED_KIND_COMPLEX;
    const int64_t m = x->shape[ndim - 2], n = x->shape[ndim - 1];
    band w = {.s = {.ctx = x->ctx, .err = err}};
    w.p = (cb_panels){
        .s = &w.s, .dtype = complex ? CUBED_COMPLEX128 : CUBED_FLOAT64, .batch = ndim - 2, .n = m};
    memcpy(w.p.shape, x->shape, sizeof w.p.shape);
    *out = NULL;
    CB_TRY(choose(&w, m, n, task_mem, fits, err));
    if (!*fits) return CUBED_OK;
    CB_TRY(cb_zone_new(&x->ctx->alloc, &w.zone, err));
    cubed_array *made = cb_step_cast(&w.s, values(&w, x, hermitian), cb_dtype_real(x->node.dtype));
    cubed_status st = cb_steps_end(&w.s, made, out);
    cb_zone_free(w.zone);
    return st;
}
