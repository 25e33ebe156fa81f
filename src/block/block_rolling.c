/* Reductions over windows along one or more axes, one axis after another.
 *
 * The positions along an axis are divided into segments as long as a window. So a window consists of the end of one segment and
 * the beginning of the next. The states of all ends of a segment are computed from its last position to its first. The state of
 * the beginning grows as the window moves. The state of a window is combined from the state of one end and the state of one
 * beginning (van Herk, "A fast algorithm for local minimum and maximum filters on rectangular and octagonal kernels", 1992).
 *
 * So each element is processed twice for any window length. Nothing is ever subtracted: large or infinite elements have no
 * effect outside of their windows. Segments are those of the whole array, so results do not depend on blocks. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/functions.h"
#include "block/params.h"
#include "cubed/groupby.h"
#include "kernel/kernel.h"

/* Limits of the number of adjacent positions that are processed together. In addition, the states of a segment use at most
 * SEGMENT_BYTES. */
enum { MOST_WIDTH = 256, LEAST_WIDTH = 8, FEWEST_BESIDE = 16 };
#define SEGMENT_BYTES ((size_t)256 << 10)

static bool kind_of(int32_t reduction, cb_rolling_kind *kind)
{
    switch (reduction) {
    case CUBED_GROUP_COUNT: *kind = CB_ROLLING_COUNT; return true;
    case CUBED_GROUP_SUM:
    case CUBED_GROUP_MEAN: *kind = CB_ROLLING_SUM; return true;
    case CUBED_GROUP_PROD: *kind = CB_ROLLING_PROD; return true;
    case CUBED_GROUP_MIN: *kind = CB_ROLLING_MIN; return true;
    case CUBED_GROUP_MAX: *kind = CB_ROLLING_MAX; return true;
    case CUBED_GROUP_VAR:
    case CUBED_GROUP_STD: *kind = CB_ROLLING_M2; return true;
    default: return false;
    }
}

static bool has_window(const cb_rolling_params *p, int d) { return p->before[d] || p->after[d]; }

static cubed_status check(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_rolling_params *p = call->params;
    cb_rolling_kind kind;
    (void)ctx;
    if (call->nin != 1 || call->nout != 1 || call->params_size != sizeof *p ||
        !kind_of(p->reduction, &kind) || p->unused != 0)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    const cubed_dtype result = kind == CB_ROLLING_COUNT ? CUBED_INT64 : x->dtype;
    if ((x->dtype != CUBED_FLOAT32 && x->dtype != CUBED_FLOAT64) || y->dtype != result ||
        x->ndim != y->ndim || x->ndim < 1)
        return cb_fail(err, CUBED_E_FORMAT, "the types of operands do not match the function");
    for (int d = 0; d < CUBED_MAX_NDIM; d++) {
        const int64_t before = p->before[d], after = p->after[d], most = INT64_MAX / 4;
        if (before < 0 || after < 0 || before > most || after > most ||
            (d >= x->ndim && has_window(p, d)))
            return cb_fail(err, CUBED_E_FORMAT, "the windows do not match the function");
        if (d >= x->ndim) continue;
        const int64_t more = x->shape[d] - y->shape[d], lead = y->offset[d] - x->offset[d];
        if (more < 0 || more > before + after || lead < 0 || lead > before)
            return cb_fail(err, CUBED_E_FORMAT, "the shapes of operands do not match the function");
    }
    return CUBED_OK;
}

/* --- Memory ---------------------------------------------------------------------------------------- */

/* Gets the axes with windows, and returns their number. If no axis has a window, gets the last axis, whose windows then have one
 * element. */
static int passes_of(const cb_rolling_params *p, int ndim, int axes[CUBED_MAX_NDIM])
{
    int n = 0;
    for (int d = 0; d < ndim; d++) {
        if (has_window(p, d)) axes[n++] = d;
    }
    if (n == 0) axes[n++] = ndim - 1;
    return n;
}

static size_t window_of(const cb_rolling_params *p, int d)
{
    return (size_t)(p->before[d] + 1 + p->after[d]);
}

static size_t width_of(size_t window, int planes)
{
    const size_t one = cb_sat_mul(window, (size_t)planes * sizeof(double));
    const size_t width = SEGMENT_BYTES / one / LEAST_WIDTH * LEAST_WIDTH;
    return cb_max_size(LEAST_WIDTH, cb_min_size(MOST_WIDTH, width));
}

/* Number of rows of scratch memory in addition to the states of a segment's ends. They contain the states of the next
 * segment's beginning, of the current row and of the window, and the elements of the current row. */
enum { ROWS_BESIDE = 4 };

static size_t segment_bytes(size_t window, int planes)
{
    const size_t row = width_of(window, planes) * (size_t)planes * sizeof(double);
    return cb_sat_mul(cb_sat_add(window, ROWS_BESIDE), row);
}

static size_t count_of(const cubed_block *x)
{
    size_t n = 1;
    for (int d = 0; d < x->ndim; d++) n = cb_sat_mul(n, (size_t)x->shape[d]);
    return n;
}

/* Returns the size in bytes of a buffer for the states of all positions between two passes. If there are three or more passes,
 * there are two such buffers. */
static size_t between_bytes(const cubed_block *x, int planes)
{
    return cb_sat_mul(count_of(x), (size_t)planes * sizeof(double));
}

static cubed_block_need need(const cubed_block_call *call, void *ctx)
{
    const cb_rolling_params *p = call->params;
    const cb_kernels *kernels = ctx;
    int axes[CUBED_MAX_NDIM];
    cb_rolling_kind kind = CB_ROLLING_COUNT;
    const int n = passes_of(p, call->in[0].ndim, axes);
    size_t segment = 0;
    (void)kind_of(p->reduction, &kind);
    const int planes = kernels->rolling[kind].planes;
    for (int i = 0; i < n; i++)
        segment = cb_max_size(segment, segment_bytes(window_of(p, axes[i]), planes));
    const size_t between = between_bytes(&call->in[0], planes);
    return (cubed_block_need){
        cb_sat_add(segment, cb_sat_mul((size_t)cb_min_i64(2, n - 1), between)), 0};
}

/* --- One axis -------------------------------------------------------------------------------------- */

/* One side of a pass: elements, or states in planes, `plane` doubles apart. */
typedef struct side {
    const char *elements;
    double *states;
    size_t plane;
    int64_t rows; /* extent along the axis */
} side;

typedef struct pass {
    const cubed_block_call *call;
    const cb_rolling_params *params;
    const cb_kernels *kernels;
    const cb_rolling_fns *fns;
    cb_rolling_kind kind;
    int64_t outer, inner;   /* number of positions before the axis and after it */
    int64_t from_at, to_at; /* indices of the first rows in the whole array */
    int64_t before, window;
    side from, to;
    size_t width; /* number of states per row: the distance between planes */
    double *ends, *beginning, *row, *joined;
    void *elements;
} pass;

/* Columns to process together, `step` elements apart. */
typedef struct columns {
    size_t n;
    int64_t from, from_step, to, to_step;
} columns;

static size_t state_bytes(const pass *p)
{
    return p->width * (size_t)p->fns->planes * sizeof(double);
}

static double *end_at(const pass *p, int64_t k)
{
    return p->ends + (size_t)k * p->width * (size_t)p->fns->planes;
}

/* Returns the states of the row at a position. Returns NULL if the row is not in the input. */
static const double *take(const pass *p, const columns *c, int64_t position)
{
    const int64_t row = position - p->from_at;
    if (row < 0 || row >= p->from.rows) return NULL;
    const int64_t at = c->from + row * p->inner;
    if (p->from.states) {
        for (int k = 0; k < p->fns->planes; k++) {
            const double *x = p->from.states + (size_t)k * p->from.plane + at;
            double *to = p->row + (size_t)k * p->width;
            if (c->from_step == 1)
                memcpy(to, x, c->n * sizeof *to);
            else
                p->kernels->gather(to, x, c->from_step * (int64_t)sizeof *x, sizeof *x, c->n);
        }
        return p->row;
    }
    const cubed_dtype dtype = p->call->in[0].dtype;
    const size_t size = cubed_dtype_size(dtype);
    const void *x = p->from.elements + (size_t)at * size;
    if (c->from_step != 1) {
        p->kernels->gather(p->elements, x, c->from_step * (int64_t)size, size, c->n);
        x = p->elements;
    }
    (dtype == CUBED_FLOAT32 ? p->fns->take_f4 : p->fns->take_f8)(p->row, p->width, x, c->n);
    return p->row;
}

static double result_of(const pass *p, const double *state)
{
    const double n = state[0], x = state[p->width];
    if (n < (double)p->params->min_count) return NAN;
    switch (p->params->reduction) {
    case CUBED_GROUP_SUM:
    case CUBED_GROUP_PROD: return x;
    case CUBED_GROUP_MEAN: return x / n;
    case CUBED_GROUP_VAR:
    case CUBED_GROUP_STD: {
        const double freedom = n - p->params->correction;
        if (n == 0 || !(freedom > 0)) return NAN;
        const double var = state[2 * p->width] / freedom;
        return p->params->reduction == CUBED_GROUP_STD ? sqrt(var) : var;
    }
    default: return n > 0 ? x : NAN;
    }
}

static void put(const pass *p, const columns *c, int64_t row, const double *state)
{
    const int64_t at = c->to + row * p->inner;
    const cubed_block *y = &p->call->out[0];
    if (p->to.states) {
        for (int k = 0; k < p->fns->planes; k++) {
            double *to = p->to.states + (size_t)k * p->to.plane + at;
            for (size_t i = 0; i < c->n; i++)
                to[(int64_t)i * c->to_step] = state[(size_t)k * p->width + i];
        }
    } else if (p->kind == CB_ROLLING_COUNT) {
        int64_t *to = (int64_t *)y->data + at;
        for (size_t i = 0; i < c->n; i++) to[(int64_t)i * c->to_step] = (int64_t)state[i];
    } else if (y->dtype == CUBED_FLOAT32) {
        float *to = (float *)y->data + at;
        for (size_t i = 0; i < c->n; i++)
            to[(int64_t)i * c->to_step] = (float)result_of(p, state + i);
    } else {
        double *to = (double *)y->data + at;
        for (size_t i = 0; i < c->n; i++) to[(int64_t)i * c->to_step] = result_of(p, state + i);
    }
}

static void set_nothing(const pass *p, double *state)
{
    static const double value[CB_ROLLING_KINDS] = {
        [CB_ROLLING_PROD] = 1.0, [CB_ROLLING_MIN] = INFINITY, [CB_ROLLING_MAX] = -INFINITY};
    memset(state, 0, state_bytes(p));
    if (p->fns->planes < 2) return;
    for (size_t i = 0; i < p->width; i++) state[p->width + i] = value[p->kind];
}

/* Computes the states of positions from `first` to the end of the segment that starts at `begin`. */
static void make_ends(const pass *p, const columns *c, int64_t begin, int64_t first)
{
    for (int64_t k = p->window - 1; k >= first - begin; k--) {
        const double *row = take(p, c, begin + k), *next = end_at(p, k + 1);
        const bool last = k == p->window - 1;
        if (!row && last)
            set_nothing(p, end_at(p, k));
        else if (!row || last)
            memcpy(end_at(p, k), row ? row : next, state_bytes(p));
        else
            p->fns->join(end_at(p, k), row, next, p->width, c->n);
    }
}

static int64_t segment_of(int64_t position, int64_t window)
{
    const int64_t past = position % window;
    return position - (past < 0 ? past + window : past);
}

static void roll(const pass *p, const columns *c)
{
    int64_t first = p->to_at - p->before, begin = 0, next = 0;
    for (int64_t i = 0; i < p->to.rows; i++, first++) {
        if (i == 0 || first == begin + p->window) {
            if (cubed_block_cancelled(p->call)) return;
            begin = segment_of(first, p->window);
            next = begin + p->window;
            make_ends(p, c, begin, first);
            set_nothing(p, p->beginning);
        }
        for (; next < first + p->window; next++) {
            const double *row = take(p, c, next);
            if (row) p->fns->join(p->beginning, p->beginning, row, p->width, c->n);
        }
        const double *end = end_at(p, first - begin);
        if (first > begin) p->fns->join(p->joined, end, p->beginning, p->width, c->n);
        put(p, c, i, first > begin ? p->joined : end);
    }
}

/* Processes adjacent columns together. If there are few of them, processes columns at the same inner position and
 * consecutive outer positions together. */
static void run_pass(const pass *p)
{
    const int64_t from = p->from.rows * p->inner, to = p->to.rows * p->inner;
    const bool beside = p->inner >= FEWEST_BESIDE || p->outer == 1;
    const int64_t lines = beside ? p->outer : p->inner, n = beside ? p->inner : p->outer;
    for (int64_t l = 0; l < lines; l++) {
        for (int64_t k = 0; k < n; k += (int64_t)p->width) {
            const size_t many = (size_t)cb_min_i64((int64_t)p->width, n - k);
            const columns c = beside ? (columns){many, l * from + k, 1, l * to + k, 1}
                                     : (columns){many, k * from + l, from, k * to + l, to};
            roll(p, &c);
        }
    }
}

static char *room(char **scratch, size_t bytes)
{
    char *at = *scratch;
    *scratch += bytes;
    return at;
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    const cb_rolling_params *params = call->params;
    const cubed_block *x = &call->in[0], *y = &call->out[0];
    int axes[CUBED_MAX_NDIM];
    int64_t shape[CUBED_MAX_NDIM];
    char *scratch = call->scratch, *between[2];
    pass p = {.call = call, .params = params, .kernels = ctx, .from = {.elements = x->data}};
    (void)err;
    if (!y->data || count_of(y) == 0) return CUBED_OK;
    (void)kind_of(params->reduction, &p.kind);
    p.fns = &p.kernels->rolling[p.kind];
    const int n = passes_of(params, x->ndim, axes);
    for (int i = 0; i < n - 1 && i < 2; i++)
        between[i] = room(&scratch, between_bytes(x, p.fns->planes));
    memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
    for (int i = 0; i < n; i++) {
        const int axis = axes[i];
        char *segment = scratch;
        p.window = (int64_t)window_of(params, axis);
        p.before = params->before[axis];
        p.from_at = x->offset[axis];
        p.to_at = y->offset[axis];
        p.outer = p.inner = 1;
        for (int d = 0; d < axis; d++) p.outer *= shape[d];
        for (int d = axis + 1; d < x->ndim; d++) p.inner *= shape[d];
        p.width = width_of((size_t)p.window, p.fns->planes);
        p.ends = (double *)room(&segment, (size_t)p.window * state_bytes(&p));
        p.beginning = (double *)room(&segment, state_bytes(&p));
        p.row = (double *)room(&segment, state_bytes(&p));
        p.joined = (double *)room(&segment, state_bytes(&p));
        p.elements = room(&segment, state_bytes(&p));
        p.from.rows = shape[axis];
        p.to = (side){.rows = y->shape[axis], .plane = count_of(x)};
        shape[axis] = y->shape[axis];
        if (i < n - 1) p.to.states = (double *)between[i % 2];
        run_pass(&p);
        p.from = p.to;
    }
    return CUBED_OK;
}

static const char *title(const void *params)
{
    static const char *const titles[CUBED_GROUP_REDUCTIONS] = {
        [CUBED_GROUP_COUNT] = "rolling count", [CUBED_GROUP_SUM] = "rolling sum",
        [CUBED_GROUP_PROD] = "rolling prod",   [CUBED_GROUP_MEAN] = "rolling mean",
        [CUBED_GROUP_VAR] = "rolling var",     [CUBED_GROUP_STD] = "rolling std",
        [CUBED_GROUP_MIN] = "rolling min",     [CUBED_GROUP_MAX] = "rolling max"};
    return titles[((const cb_rolling_params *)params)->reduction];
}

const cubed_block_fn cb_block_rolling = {
    .name = "rolling", .check = check, .need = need, .run = run, .title = title, .divisible = true};
