/* Computes arrays on another grid (cubed/remap.h).
 *
 * The target grid is divided into bands along its first dimension. Each band needs a range of the source's first dimension.
 * A band is one call of the function "remap" on a slice of x. So a task holds a band of a plane instead of a whole plane. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "array_api/api_pkg.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "block/params.h"
#include "cubed/remap.h"
#include "grid/grid.h"
#include "ops/steps.h"

enum {
    /* maximum number of bands; more bands would cost more plan nodes than they save reads */
    MOST_BANDS = 256,
    /* minimum number of planes per task, so that a weight is loaded once for several planes */
    FEW_PLANES = 16
};

/* A band: rows first..end-1 of the target (along its first dimension), and the rows from..to-1 of the source that they need. */
typedef struct band {
    int64_t first, end, from, to;
} band;

typedef struct remapping {
    cubed_array *x;
    cubed_weights *w;
    cubed_remap_options o;
    int outer; /* number of axes of x before the axes of its grid */
    /* number of cells per row: `across` of the source grid, `beyond` of the target grid */
    int64_t across, beyond;
    int copies;         /* value of cb_remap_params.copies */
    int64_t task_bytes; /* memory for the planes, results and weights of a task */
    /* preferred number of planes of x per task; a task has fewer if not all of them fit in its memory */
    int64_t planes;
} remapping;

static cubed_status check_grid(const cubed_array *x, const cubed_weights *w, cubed_error *err)
{
    const cubed_weights_shape *s = &w->shape;
    const int ndim = x->node.grid->ndim, n = s->source_ndim;
    bool same = ndim >= n;
    for (int d = 0; d < n && same; d++) same = x->shape[ndim - n + d] == s->source[d];
    if (same && ndim - n + s->target_ndim <= CUBED_MAX_NDIM) return CUBED_OK;
    if (same)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "remap: x has %d dimensions, expected at most %d",
                       ndim, CUBED_MAX_NDIM - s->target_ndim + n);
    char shape[CUBED_MAX_NDIM * 22 + 1] = "";
    for (int d = 0, at = 0; d < ndim; d++)
        at += snprintf(shape + at, sizeof shape - (size_t)at, "%s%" PRId64, d ? ", " : "",
                       x->shape[d]);
    if (n == 1)
        return cb_fail(err, CUBED_E_ARG,
                       "remap: x has the shape (%s), expected the source's %" PRId64
                       " cells along the last axis; move the axis of the grid to the end",
                       shape, s->source[0]);
    return cb_fail(err, CUBED_E_ARG,
                   "remap: x has the shape (%s), expected the source's %" PRId64 " and %" PRId64
                   " along the last two axes; move the axes of the grid to the end",
                   shape, s->source[0], s->source[1]);
}

/* Gets the type of weighted sums. Nearest values keep the type of x. */
static cubed_status sum_dtype(const cubed_array *x, cubed_dtype *out, cubed_error *err)
{
    char text[CUBED_DTYPE_TEXT_CAP];
    const cubed_dtype dtype = x->node.dtype;
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_BOOL:
    case CUBED_KIND_INT:
    case CUBED_KIND_UINT: *out = CUBED_FLOAT64; return CUBED_OK;
    case CUBED_KIND_FLOAT:
        *out = dtype == CUBED_FLOAT64 ? CUBED_FLOAT64 : CUBED_FLOAT32;
        return CUBED_OK;
    default:
        return cb_fail(
            err, CUBED_E_TYPE,
            "remap: x is of type %s, expected real numbers; the method nearest accepts all types",
            cubed_dtype_text(dtype, text));
    }
}

/* --- Bands --------------------------------------------------------------------------------------------- */

/* Extends the band's range of source rows by the rows that target row `row` needs. */
static void widen(const remapping *r, int64_t row, band *b)
{
    const cubed_weights *w = r->w;
    const int64_t first = w->starts[row * r->beyond], end = w->starts[(row + 1) * r->beyond];
    int32_t least = INT32_MAX, most = -1;
    for (int64_t k = first; k < end; k++) {
        least = w->column[k] < least ? w->column[k] : least;
        most = w->column[k] > most ? w->column[k] : most;
    }
    if (most < 0) return;
    b->from = cb_min_i64(b->from, least / r->across);
    b->to = cb_max_i64(b->to, most / r->across + 1);
}

/* Returns the bytes of one plane of a band and of its result. */
static int64_t plane_bytes(const remapping *r, const band *b)
{
    const int64_t item = (int64_t)cubed_dtype_size(r->x->node.dtype);
    const int64_t cells = (b->to > b->from ? b->to - b->from : 0) * r->across;
    return (cells + (b->end - b->first) * r->beyond) * item;
}

/* Returns the bytes of a band in a task: planes, results, and weights with their copies. */
static double band_bytes(const remapping *r, const band *b)
{
    const int64_t rows = (b->end - b->first) * r->beyond;
    const int64_t n = r->w->starts[b->end * r->beyond] - r->w->starts[b->first * r->beyond];
    return (double)r->planes * (double)plane_bytes(r, b) + (double)(rows * 16 + n * 20);
}

/* Returns the number of planes that a task should hold: all planes of a chunk of x, so that no chunk is read twice. If these
 * planes do not fit, returns the number of planes that fit with all rows of a chunk. */
static int64_t wanted_planes(const remapping *r)
{
    const cubed_array *x = r->x;
    const int64_t rows = cb_max_i64(1, cb_min_i64(x->shape[r->outer], x->chunks[r->outer]));
    const band whole = {0, r->w->shape.target[0], 0, r->w->shape.source[0]};
    const double of_rows =
        (double)plane_bytes(r, &whole) * (double)rows / (double)cb_max_i64(1, x->shape[r->outer]);
    double n = 1;
    for (int d = 0; d < r->outer; d++)
        n *= (double)cb_max_i64(1, cb_min_i64(x->shape[d], x->chunks[d]));
    const double most = (double)r->task_bytes / fmax(1, of_rows);
    return (int64_t)fmax(1, fmin(fmin(n, most), 1e9));
}

/* Divides the target into bands that fit in a task, and have at least one row. Returns the number of bands. */
static int choose_bands(const remapping *r, band bands[MOST_BANDS])
{
    const int64_t rows = r->w->shape.target[0];
    double most = (double)r->task_bytes;
    int n;
    do {
        band now = {0, 0, INT64_MAX, 0};
        n = 0;
        for (int64_t row = 0; row < rows && n < MOST_BANDS; row++) {
            band with = now;
            widen(r, row, &with);
            with.end = row + 1;
            if (row > now.first && band_bytes(r, &with) > most) {
                bands[n++] = now;
                with = (band){row, row + 1, INT64_MAX, 0};
                widen(r, row, &with);
            }
            now = with;
        }
        if (n < MOST_BANDS) bands[n++] = now;
        if (bands[n - 1].end == rows) break;
        most *= 2;
    } while (true);
    for (int i = 0; i < n; i++) {
        /* A band of the target without weights needs no source, but a read cannot be empty: it reads one row. */
        if (bands[i].to == 0) bands[i].from = 0, bands[i].to = 1;
    }
    return n;
}

static void release(void *owner) { cubed_weights_unref(owner); }

/* Creates an array from a part of the weights. The array keeps the weights alive. */
static cubed_array *numbers(cb_steps *s, cubed_weights *w, cubed_dtype dtype, const void *data,
                            int64_t n)
{
    cubed_array *a = NULL;
    const int64_t shape[1] = {n}, chunks[1] = {cb_max_i64(1, n)};
    if (s->st != CUBED_OK) return NULL;
    a = cb_step(s, cubed_array_from_memory(s->ctx, dtype, 1, shape, NULL, chunks, data, &a, s->err),
                &a);
    if (!a) return NULL;
    cubed_array_set_owner(a, release, cubed_weights_ref(w));
    cubed_array_set_made(a);
    return a;
}

/* Sets blocks along the axes before the axes of the source grid. A plane is the elements at one index of these axes. A block has
 * as many planes as fit, from one chunk of x, or from several if a chunk has few planes. */
static void choose_planes(const remapping *r, const band *b, int64_t chunks[CUBED_MAX_NDIM])
{
    const int64_t plane = cb_max_i64(1, plane_bytes(r, b));
    const int64_t most = cb_max_i64(1, r->task_bytes / plane);
    int64_t left = most, planes = 1;
    for (int d = r->outer - 1; d >= 0; d--) {
        chunks[d] = cb_min_i64(left, cb_min_i64(cb_max_i64(1, r->x->shape[d]), r->x->chunks[d]));
        left = cb_max_i64(1, left / chunks[d]);
        planes *= chunks[d];
    }
    left = cb_min_i64(FEW_PLANES, cb_min_i64(most, CB_API_BLOCK_BYTES / plane)) / planes;
    for (int d = r->outer - 1; d >= 0 && left > 1; d--) {
        const int64_t whole = cb_max_i64(1, r->x->shape[d]);
        const int64_t times = cb_min_i64(left, cb_ceil_div(whole, chunks[d]));
        chunks[d] = cb_min_i64(whole, chunks[d] * times);
        left /= times;
    }
}

static cubed_array *make_band(cb_steps *s, const remapping *r, const band *b)
{
    const cubed_weights *w = r->w;
    const cubed_weights_shape *g = &w->shape;
    const int64_t row = b->first * r->beyond, rows = (b->end - b->first) * r->beyond;
    const int64_t first = w->starts[row], n = w->starts[row + rows] - first;
    const cb_remap_params params = {.cells = (b->to - b->from) * r->across,
                                    .first = first,
                                    .base = b->from * r->across,
                                    .from = g->source_ndim,
                                    .to = g->target_ndim,
                                    .skipna = r->o.skipna,
                                    .copies = r->copies,
                                    .na_threshold = r->o.na_threshold};
    int in_symbols[CUBED_MAX_NDIM], out_symbols[CUBED_MAX_NDIM];
    const int whole[1] = {-1};
    int64_t in_chunks[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
    cubed_array *x = cb_step_part(s, r->x, r->outer, b->from, b->to - b->from, 1), *y = NULL;
    cubed_array *starts = numbers(s, r->w, CUBED_INT64, w->starts + row, rows + 1);
    cubed_array *column = numbers(s, r->w, CUBED_INT32, w->column + first, n);
    cubed_array *value = numbers(s, r->w, CUBED_FLOAT64, w->value + first, n);
    if (s->st != CUBED_OK) return NULL;
    choose_planes(r, b, chunks);
    for (int d = 0; d < r->outer; d++) {
        in_symbols[d] = out_symbols[d] = d;
        shape[d] = r->x->shape[d];
        in_chunks[d] = chunks[d];
    }
    for (int d = 0; d < g->source_ndim; d++) {
        in_symbols[r->outer + d] = -1;
        in_chunks[r->outer + d] = x->shape[r->outer + d];
    }
    for (int d = 0; d < g->target_ndim; d++) {
        out_symbols[r->outer + d] = -1;
        shape[r->outer + d] = chunks[r->outer + d] = d == 0 ? b->end - b->first : g->target[d];
    }
    const cubed_block_input in[4] = {{x, in_symbols, in_chunks},
                                     {starts, whole, NULL},
                                     {column, whole, NULL},
                                     {value, whole, NULL}};
    const cubed_block_output out = {
        x->node.dtype, r->outer + g->target_ndim,
        shape,         chunks,
        out_symbols,   g->target_ndim == g->source_ndim ? x->node.dim_names : NULL};
    const cubed_block_operation op = {.function = "remap",
                                      .params = &params,
                                      .params_size = sizeof params,
                                      .inputs = in,
                                      .nin = 4,
                                      .outputs = &out,
                                      .nout = 1};
    return cb_step(s, cubed_blockwise(s->ctx, &op, &y, s->err), &y);
}

cubed_status cubed_remap(cubed_array *x, cubed_weights *weights, const cubed_remap_options *options,
                         cubed_array **out, cubed_error *err)
{
    remapping r = {.w = weights, .o = CUBED_REMAP_OPTIONS_INIT};
    band bands[MOST_BANDS];
    cubed_array *parts[MOST_BANDS];
    const cubed_weights_shape *g = &weights->shape;
    cubed_dtype dtype = x->node.dtype;
    CB_TRY(CB_OPTIONS_TAKE("cubed_remap", options, &r.o, err));
    if (!(r.o.na_threshold >= 0 && r.o.na_threshold <= 1))
        return cb_fail(err, CUBED_E_ARG, "remap: na_threshold is %g, expected 0 to 1",
                       r.o.na_threshold);
    CB_TRY(check_grid(x, weights, err));
    const bool largest = weights->largest || r.o.largest;
    const cubed_kind kind = cubed_dtype_kind(dtype);
    const bool is_whole =
        kind == CUBED_KIND_BOOL || kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT;
    r.copies = largest ? 2 : weights->nearest && weights->full;
    if (largest ? !is_whole || !weights->full : !r.copies) CB_TRY(sum_dtype(x, &dtype, err));
    r.outer = x->node.grid->ndim - g->source_ndim;
    r.across = g->source_ndim == 2 ? g->source[1] : 1;
    r.beyond = g->target_ndim == 2 ? g->target[1] : 1;
    cb_steps s = {.ctx = x->ctx, .err = err};
    r.x = cb_step_cast(&s, x, dtype);
    if (s.st != CUBED_OK) return cb_steps_end(&s, NULL, out);
    r.task_bytes = (int64_t)cb_api_line_bytes(r.o.task_mem);
    r.planes = wanted_planes(&r);
    const int n = choose_bands(&r, bands);
    for (int i = 0; i < n; i++) parts[i] = make_band(&s, &r, &bands[i]);
    cubed_array *y = cb_step_concat(&s, parts, n, r.outer);
    if (cubed_dtype_kind(x->node.dtype) == CUBED_KIND_FLOAT && r.copies != 1)
        y = cb_step_cast(&s, y, x->node.dtype);
    return cb_steps_end(&s, y, out);
}
