/* Computes arrays on another grid, as products of planes and a sparse matrix. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "kernel/kernel.h"

enum {
    ROWS = 2048, /* number of rows between checks for cancellation */
    /* maximum number of cells per plane that are interleaved together, so that they stay in the cache */
    MOST_WINDOW = 32768,
    CELLS_PER_WEIGHT = 3 /* maximum number of cells per weight for which interleaving saves time */
};

typedef struct matrix {
    int64_t rows, cells; /* cells: number of columns, which are the elements of a plane of x */
    const int64_t *starts;
    const int32_t *column;
    const double *value;
    bool skipna;
    double na_threshold;
    bool sorted;         /* columns ascend within each row */
    void *window;        /* buffer for interleaved planes */
    int64_t most_window; /* number of cells per plane that fit in `window` */
} matrix;

/* Consecutive rows of the matrix, up to row `end`. Their columns begin at column `base`. */
typedef struct strip {
    int64_t end, base, cells;
    /* true if the strip has so many weights per cell that interleaving its cells saves time */
    bool is_near;
} strip;

/* Chooses a strip of rows, from row r on, that are computed together for n planes. */
static strip strip_from(const matrix *m, int64_t r, int n)
{
    const int64_t most = cb_min_i64(m->rows, r + ROWS);
    int64_t lo = INT64_MAX, hi = -1;
    strip s = {.end = r};
    if (n == 1 || !m->sorted) return (strip){.end = most};
    for (; s.end < most; s.end++) {
        const int64_t first = m->starts[s.end], end = m->starts[s.end + 1];
        if (first == end) continue;
        const int64_t new_lo = cb_min_i64(lo, m->column[first]);
        const int64_t new_hi = cb_max_i64(hi, m->column[end - 1]);
        if (s.end > r && new_hi - new_lo >= m->most_window) break;
        lo = new_lo;
        hi = new_hi;
    }
    s.base = hi < 0 ? 0 : lo;
    s.cells = hi < 0 ? 0 : hi - lo + 1;
    s.is_near = s.cells <= m->most_window &&
                s.cells <= (m->starts[s.end] - m->starts[r]) * CELLS_PER_WEIGHT;
    return s;
}

#define T   float
#define TAG f4
#include "block/block_remap.inc.h"
#define T   double
#define TAG f8
#include "block/block_remap.inc.h"

/* --- The value with the largest sum of weights -------------------------------------------------------- */

/* Returns element i of a plane as bits. Both zeros have the same bits. Sets *missing if the element is NaN. */
static uint64_t bits_of(cubed_dtype dtype, const void *plane, int64_t i, bool *missing)
{
    const size_t size = cubed_dtype_size(dtype);
    uint64_t bits = 0;
    *missing = false;
    if (dtype == CUBED_FLOAT32) {
        const float v = ((const float *)plane)[i];
        *missing = isnan(v);
        if (v == 0) return 0;
    } else if (dtype == CUBED_FLOAT64) {
        const double v = ((const double *)plane)[i];
        *missing = isnan(v);
        if (v == 0) return 0;
    }
    memcpy(&bits, (const char *)plane + (size_t)i * size, size);
    return bits;
}

/* Finds the value with the largest sum of weights among the links of row r. Returns the first link with this value, or -1 if the
 * target cell is missing. If sums are equal, the value that comes first in the row wins. */
static int64_t largest_of(const matrix *m, cubed_dtype dtype, const void *plane, int64_t r)
{
    const int64_t first = m->starts[r], end = m->starts[r + 1];
    int64_t best = -1;
    double most = 0, all = 0, present = 0;
    bool missing = false, before, is_nan;
    for (int64_t k = first; k < end; k++) all += m->value[k];
    for (int64_t k = first; k < end; k++) {
        const uint64_t own = bits_of(dtype, plane, m->column[k], &is_nan);
        double sum = 0;
        if (is_nan) {
            missing = true;
            continue;
        }
        present += m->value[k];
        before = false;
        for (int64_t i = first; i < end && !before; i++) {
            if (bits_of(dtype, plane, m->column[i], &is_nan) != own || is_nan) continue;
            before = i < k;
            sum += m->value[i];
        }
        if (before || !(sum > most + 1e-12 * fabs(all))) continue;
        most = sum;
        best = k;
    }
    if (missing && !(m->skipna && cb_sparse_is_enough(all, present, m->na_threshold))) return -1;
    return best;
}

static cubed_status copy_largest(const cubed_block_call *call, const matrix *m, int64_t planes,
                                 cubed_error *err)
{
    const cubed_dtype dtype = call->in[0].dtype;
    const size_t size = cubed_dtype_size(dtype);
    const float nan4 = NAN;
    const double nan8 = NAN;
    for (int64_t p = 0; p < planes; p++) {
        const char *from = (const char *)call->in[0].data + (size_t)(p * m->cells) * size;
        char *to = (char *)call->out[0].data + (size_t)(p * m->rows) * size;
        for (int64_t r = 0; r < m->rows; r++) {
            if (r % ROWS == 0 && cubed_block_cancelled(call)) return CUBED_OK;
            const int64_t k = largest_of(m, dtype, from, r);
            if (k >= 0)
                memcpy(to + (size_t)r * size, from + (size_t)m->column[k] * size, size);
            else if (dtype == CUBED_FLOAT32 || dtype == CUBED_FLOAT64)
                memcpy(to + (size_t)r * size,
                       dtype == CUBED_FLOAT32 ? (const void *)&nan4 : (const void *)&nan8, size);
            else
                return cb_fail(err, CUBED_E_ARG,
                               "weights: row %" PRId64 " has no positive weight, expected one", r);
        }
    }
    return CUBED_OK;
}

/* --- The function ------------------------------------------------------------------------------------- */

/* Returns the product of the last n extents, or -1 if it overflows. */
static int64_t last_extents(const cubed_block *b, int n)
{
    return cb_block_extents(b, b->ndim - n, b->ndim);
}

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_remap_params *p = call->params;
    (void)ctx;
    if (call->params_size != sizeof *p || call->nin != 4 || call->nout != 1)
        return cb_fail(
            err, CUBED_E_FORMAT,
            "there are %d inputs, %d outputs and %zu bytes of parameters, expected 4, 1 and %zu",
            call->nin, call->nout, call->params_size, sizeof *p);
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    const cubed_block *starts = &call->in[1], *column = &call->in[2], *value = &call->in[3];
    /* Limits the parameters, so that sums of positions do not overflow. */
    const int64_t most = INT64_MAX / 4;
    if (p->first > most || p->base > most || p->cells > most)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the band of %" PRId64 " cells from cell %" PRId64 " on is out of range",
                       p->cells, p->base);
    if (p->from < 1 || p->from > x->ndim || p->to < 1 || p->to > y->ndim ||
        x->ndim - p->from != y->ndim - p->to || p->base < 0 || p->first < 0 || p->cells < 0)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%d of %d axes of the input become %d of %d axes of the output",
                       (int)p->from, x->ndim, (int)p->to, y->ndim);
    const bool sums = x->dtype == CUBED_FLOAT32 || x->dtype == CUBED_FLOAT64;
    if (x->dtype != y->dtype || !(sums || p->copies) ||
        (p->copies == 2 && cubed_dtype_size(x->dtype) > sizeof(uint64_t)) ||
        starts->dtype != CUBED_INT64 || column->dtype != CUBED_INT32 ||
        value->dtype != CUBED_FLOAT64)
        return cb_fail(err, CUBED_E_FORMAT, "the types of operands do not match the function");
    bool same = starts->ndim == 1 && column->ndim == 1 && value->ndim == 1 &&
                column->shape[0] == value->shape[0];
    for (int d = 0; d < x->ndim - p->from; d++) same = same && x->shape[d] == y->shape[d];
    same = same && starts->shape[0] - 1 == last_extents(y, p->to) &&
           p->cells == last_extents(x, p->from);
    return same ? CUBED_OK
                : cb_fail(err, CUBED_E_FORMAT, "the shapes of operands do not match the function");
}

/* Returns the number of cells of each plane to interleave together, and sets *planes to the number of planes of x. Returns 0 for
 * a single plane, or if values are copied. */
static int64_t window_of(const cubed_block_call *call, int64_t *planes)
{
    const cb_remap_params *p = call->params;
    if (cb_count(call->in[0].ndim - p->from, call->in[0].shape, planes)) *planes = INT64_MAX;
    return *planes < 2 || p->copies ? 0 : cb_min_i64(p->cells, MOST_WINDOW);
}

static size_t window_bytes(const cubed_block_call *call)
{
    int64_t planes;
    return (size_t)window_of(call, &planes) * CB_SPARSE_LANES * cubed_dtype_size(call->in[0].dtype);
}

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    const cubed_block *starts = &call->in[1], *column = &call->in[2];
    const size_t bytes = cb_sat_add(cb_sat_mul((size_t)starts->shape[0], sizeof(int64_t)),
                                    cb_sat_mul((size_t)column->shape[0], sizeof(int32_t)));
    (void)ctx;
    return (cubed_block_need){cb_sat_add(cb_sat_add(bytes, 128), window_bytes(call)), 0};
}

/* Checks the matrix, because it may be untrusted. Copies the starts and columns to scratch memory, relative to this block. */
static cubed_status read_matrix(const cubed_block_call *call, matrix *m, cubed_error *err)
{
    const cb_remap_params *p = call->params;
    const int64_t n = call->in[2].shape[0], *starts = call->in[1].data;
    const int32_t *column = call->in[2].data;
    m->rows = call->in[1].shape[0] - 1;
    m->cells = p->cells;
    m->value = call->in[3].data;
    m->skipna = p->skipna != 0;
    m->na_threshold = p->na_threshold;
    int64_t planes;
    m->most_window = window_of(call, &planes);
    m->window = call->scratch;
    m->sorted = true;
    int64_t *own_starts = (int64_t *)(void *)((char *)call->scratch + window_bytes(call));
    int32_t *own_column = (int32_t *)(void *)(own_starts + m->rows + 1);
    int64_t before = 0;
    for (int64_t r = 0; r <= m->rows; r++) {
        int64_t at;
        if (__builtin_sub_overflow(starts[r], p->first, &at) || at < before || at > n ||
            (r == 0 && at != 0))
            return cb_fail(err, CUBED_E_ARG,
                           "weights: row %" PRId64 " starts at %" PRId64 ", expected %" PRId64
                           " to %" PRId64,
                           r, starts[r], p->first + before, p->first + n);
        own_starts[r] = before = at;
    }
    for (int64_t k = 0; k < n; k++) {
        const int64_t at = column[k] - p->base;
        if (at < 0 || at >= p->cells)
            return cb_fail(err, CUBED_E_INDEX,
                           "weights: column %d is not in %" PRId64 " to %" PRId64, (int)column[k],
                           p->base, p->base + p->cells - 1);
        own_column[k] = (int32_t)at;
    }
    for (int64_t r = 0; r < m->rows; r++) {
        for (int64_t k = own_starts[r] + 1; k < own_starts[r + 1]; k++)
            m->sorted = m->sorted && own_column[k - 1] < own_column[k];
    }
    m->starts = own_starts;
    m->column = own_column;
    return CUBED_OK;
}

/* Copies the only element of each row. */
static cubed_status copy_elements(const cubed_block_call *call, const matrix *m, int64_t planes,
                                  cubed_error *err)
{
    const size_t size = cubed_dtype_size(call->in[0].dtype);
    for (int64_t r = 0; r < m->rows; r++) {
        if (m->starts[r + 1] - m->starts[r] != 1)
            return cb_fail(err, CUBED_E_ARG,
                           "weights: row %" PRId64 " has %" PRId64 " weights, expected one", r,
                           m->starts[r + 1] - m->starts[r]);
    }
    for (int64_t p = 0; p < planes && !cubed_block_cancelled(call); p++) {
        const char *from = (const char *)call->in[0].data + (size_t)(p * m->cells) * size;
        char *to = (char *)call->out[0].data + (size_t)(p * m->rows) * size;
        for (int64_t r = 0; r < m->rows; r++)
            memcpy(to + (size_t)r * size, from + (size_t)m->column[m->starts[r]] * size, size);
    }
    return CUBED_OK;
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_remap_params *p = call->params;
    const cb_kernels *kernels = ctx;
    matrix m = {.rows = 0};
    int64_t planes;
    if (!call->out[0].data) return CUBED_OK;
    (void)window_of(call, &planes);
    CB_TRY(read_matrix(call, &m, err));
    if (p->copies == 2) return copy_largest(call, &m, planes, err);
    if (p->copies) return copy_elements(call, &m, planes, err);
    if (call->in[0].dtype == CUBED_FLOAT32)
        apply_f4(call, &m, planes, &kernels->sparse[0]);
    else
        apply_f8(call, &m, planes, &kernels->sparse[1]);
    return CUBED_OK;
}

const cubed_block_fn cb_block_remap = {
    .name = "remap", .check = check, .need = need, .run = run, .divisible = true};
