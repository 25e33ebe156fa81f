/* Weights of remapping: built row by row, or from links (pairs of a source cell and a target cell). They are reference
 * counted. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "block/space_index.h"
#include "grid/grid.h"

static cubed_status no_memory(int64_t n, cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOMEM, "out of memory: %lld weights", (long long)n);
}

enum { BYTES_OF_WEIGHT = sizeof(int32_t) + sizeof(double) };

cubed_status cb_weights_check_memory(uint64_t need, uint64_t allowed, cubed_error *err)
{
    if (allowed == 0 || need <= allowed) return CUBED_OK;
    return cb_fail(err, CUBED_E_BUDGET,
                   "remap: computing the weights needs at least %" PRIu64
                   " bytes of memory, but a task may use %" PRIu64
                   ": use a Spec with more allowed_mem, or weights from a file",
                   need, allowed);
}

/* Checks that memory suffices for `room` weights and the starts of rows. */
static cubed_status check_room(const cb_weights_builder *b, size_t room, cubed_error *err)
{
    const size_t starts = ((size_t)b->w->rows + 1) * sizeof *b->w->starts;
    const size_t need = cb_sat_add(starts, cb_sat_mul(room, BYTES_OF_WEIGHT));
    return cb_weights_check_memory(cb_sat_add(need, b->held), b->memory, err);
}

cubed_status cb_weights_hold(cb_weights_builder *b, size_t bytes, cubed_error *err)
{
    b->held = cb_sat_add(b->held, bytes);
    return check_room(b, b->w->room, err);
}

cubed_status cb_weights_hold_index(cb_weights_builder *b, int64_t n, cubed_error *err)
{
    return cb_weights_hold(b, cb_space_bytes(n), err);
}

/* Reallocates the lists for `room` weights. Keeps the existing weights. */
static cubed_status set_room(cb_weights_builder *b, size_t room, cubed_error *err)
{
    cubed_weights *w = b->w;
    const cubed_allocator *a = &w->ctx->alloc;
    int32_t *column = cb_resize(a, w->column, w->room * sizeof *column, room * sizeof *column);
    if (!column) return no_memory((int64_t)room, err);
    w->column = column;
    double *value = cb_resize(a, w->value, b->w->room * sizeof *value, room * sizeof *value);
    if (!value) { /* both lists must have the same capacity */
        column = cb_resize(a, w->column, room * sizeof *column, b->w->room * sizeof *column);
        if (column) w->column = column;
        return no_memory((int64_t)room, err);
    }
    w->value = value;
    b->w->room = room;
    return CUBED_OK;
}

cubed_status cb_weights_begin(cubed_context *ctx, const cubed_weights_shape *shape, uint64_t memory,
                              cb_weights_builder *b, cubed_error *err)
{
    int64_t rows = 0, columns = 0;
    const bool known = shape->source_ndim >= 1 && shape->source_ndim <= 2 &&
                       shape->target_ndim >= 1 && shape->target_ndim <= 2;
    if (!known)
        return cb_fail(err, CUBED_E_ARG, "weights: grids of %d and %d dimensions, expected 1 or 2",
                       shape->source_ndim, shape->target_ndim);
    if (cb_count(shape->target_ndim, shape->target, &rows) ||
        cb_count(shape->source_ndim, shape->source, &columns) || rows < 1 || columns < 1 ||
        rows > CB_GRID_MOST_CELLS || columns > CB_GRID_MOST_CELLS)
        return cb_fail(err, CUBED_E_ARG, "weights: a grid has no cells, or more than %lld",
                       (long long)CB_GRID_MOST_CELLS);
    cubed_weights *w = cb_alloc_zero(&ctx->alloc, sizeof *w);
    if (!w) return no_memory(rows, err);
    *b = (cb_weights_builder){.w = w, .memory = memory};
    atomic_init(&w->refs, 1);
    w->ctx = cubed_context_ref(ctx);
    w->shape = *shape;
    w->rows = rows;
    w->columns = columns;
    w->full = true;
    cubed_status st = check_room(b, 4 * (size_t)rows, err);
    if (st == CUBED_OK) {
        w->starts = cb_alloc_zero(&ctx->alloc, ((size_t)rows + 1) * sizeof *w->starts);
        st = w->starts ? set_room(b, 4 * (size_t)rows, err) : no_memory(rows, err);
    }
    if (st != CUBED_OK) cubed_weights_unref(w);
    return st;
}

cubed_status cb_weights_add(cb_weights_builder *b, int64_t column, double value, cubed_error *err)
{
    cubed_weights *w = b->w;
    if (value == 0) return CUBED_OK;
    if ((size_t)w->n == w->room) {
        const size_t room = w->room + w->room / 2 + 8;
        CB_TRY(check_room(b, room, err));
        CB_TRY(set_room(b, room, err));
    }
    w->column[w->n] = (int32_t)column;
    w->value[w->n++] = value;
    return CUBED_OK;
}

/* Merges adjacent weights of the same column by adding them. */
static void merge_last_row(cubed_weights *w, int64_t first)
{
    int64_t to = first;
    for (int64_t i = first; i < w->n; i++) {
        if (to > first && w->column[to - 1] == w->column[i]) {
            w->value[to - 1] += w->value[i];
            continue;
        }
        w->column[to] = w->column[i];
        w->value[to++] = w->value[i];
    }
    w->n = to;
}

/* Insertion sort: fast for the few weights of most rows, which are nearly in order. */
static void sort_few(int32_t *column, double *value, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const int32_t c = column[i];
        const double v = value[i];
        int64_t k = i;
        for (; k > 0 && column[k - 1] > c; k--) {
            column[k] = column[k - 1];
            value[k] = value[k - 1];
        }
        column[k] = c;
        value[k] = v;
    }
}

/* Moves weight i down a heap of n weights, in which the largest column is first. */
static void sift(int32_t *column, double *value, int64_t i, int64_t n)
{
    const int32_t c = column[i];
    const double v = value[i];
    for (int64_t k = 2 * i + 1; k < n; k = 2 * i + 1) {
        if (k + 1 < n && column[k + 1] > column[k]) k++;
        if (column[k] <= c) break;
        column[i] = column[k];
        value[i] = value[k];
        i = k;
    }
    column[i] = c;
    value[i] = v;
}

/* Heap sort. A large cell has many weights, in descending order if latitudes descend, for which insertion sort is slow. */
static void sort_many(int32_t *column, double *value, int64_t n)
{
    for (int64_t i = n / 2 - 1; i >= 0; i--) sift(column, value, i, n);
    for (int64_t i = n - 1; i > 0; i--) {
        const int32_t c = column[i];
        const double v = value[i];
        column[i] = column[0];
        value[i] = value[0];
        column[0] = c;
        value[0] = v;
        sift(column, value, 0, i);
    }
}

static bool is_sorted(const int32_t *column, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        if (column[i - 1] > column[i]) return false;
    }
    return true;
}

/* Drops the weights of masked cells from the last row. A row with negative weights is valid only as a whole, so it becomes
 * empty if one of its cells is masked. */
static void drop_masked(const cb_weights_builder *b, int64_t first)
{
    cubed_weights *w = b->w;
    bool is_negative = false;
    int64_t to = first;
    for (int64_t i = first; i < w->n; i++) {
        is_negative = is_negative || w->value[i] < 0;
        if (!b->source_mask[w->column[i]]) continue;
        w->column[to] = w->column[i];
        w->value[to++] = w->value[i];
    }
    w->n = is_negative && to < w->n ? first : to;
}

/* Removes weights that are at most b->residue of the last row's sum. */
static void drop_residues(const cb_weights_builder *b, int64_t first)
{
    cubed_weights *w = b->w;
    double sum = 0;
    int64_t to = first;
    for (int64_t i = first; i < w->n; i++) sum += w->value[i];
    for (int64_t i = first; i < w->n; i++) {
        if (fabs(w->value[i]) <= b->residue * fabs(sum)) continue;
        w->column[to] = w->column[i];
        w->value[to++] = w->value[i];
    }
    w->n = to;
}

enum { FEW_WEIGHTS = 32 };

void cb_weights_end_row(cb_weights_builder *b, bool normalise)
{
    cubed_weights *w = b->w;
    const int64_t first = w->starts[b->row];
    if (b->target_mask && !b->target_mask[b->row]) w->n = first;
    const int64_t n = w->n - first;
    int32_t *column = w->column + first;
    double sum = 0;
    if (n <= FEW_WEIGHTS)
        sort_few(column, w->value + first, n);
    else if (!is_sorted(column, n))
        sort_many(column, w->value + first, n);
    merge_last_row(w, first);
    if (b->residue > 0) drop_residues(b, first);
    if (b->source_mask) drop_masked(b, first);
    for (int64_t i = first; i < w->n; i++) sum += w->value[i];
    for (int64_t i = first; normalise && sum != 0 && i < w->n; i++) w->value[i] /= sum;
    if (w->n == first) w->full = false;
    w->starts[++b->row] = w->n;
}

void cb_weights_finish(cb_weights_builder *b)
{
    const size_t n = b->w->n > 0 ? (size_t)b->w->n : 1;
    (void)set_room(b, n, NULL); /* after a failure, the lists keep their size */
}

/* --- Links --------------------------------------------------------------------------------------------- */

static cubed_status check_links(const cubed_weights *w, int64_t n, const int64_t *rows,
                                const int64_t *columns, const double *values, cubed_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        if (rows[i] < 0 || rows[i] >= w->rows || columns[i] < 0 || columns[i] >= w->columns)
            return cb_fail(err, CUBED_E_INDEX,
                           "weights: link %" PRId64 " is from cell %" PRId64 " to cell %" PRId64
                           ", expected 0 to %" PRId64 " and 0 to %" PRId64,
                           i, columns[i], rows[i], w->columns - 1, w->rows - 1);
        if (!isfinite(values[i]))
            return cb_fail(err, CUBED_E_ARG,
                           "weights: link %" PRId64 " has weight %g, expected a "
                           "finite number",
                           i, values[i]);
    }
    return CUBED_OK;
}

/* Adds the rows. Row r has the links link[starts[r]] to link[starts[r + 1] - 1]. */
static cubed_status fill_rows(cb_weights_builder *b, const int64_t *starts, const int64_t *link,
                              const int64_t *columns, const double *values, cubed_error *err)
{
    for (int64_t r = 0; r < b->w->rows; r++) {
        for (int64_t i = starts[r]; i < starts[r + 1]; i++)
            CB_TRY(cb_weights_add(b, columns[link[i]], values[link[i]], err));
        cb_weights_end_row(b, false);
    }
    return CUBED_OK;
}

cubed_status cubed_weights_from_links(cubed_context *ctx, const cubed_weights_shape *shape,
                                      int64_t n, const int64_t *rows, const int64_t *columns,
                                      const double *values, cubed_weights **out, cubed_error *err)
{
    const cubed_allocator *a = &ctx->alloc;
    cb_weights_builder b;
    if (n < 0 || n > INT64_MAX / 32)
        return cb_fail(err, CUBED_E_ARG,
                       "weights: the number of links is %" PRId64 ", which is out of range", n);
    CB_TRY(cb_weights_begin(ctx, shape, 0, &b, err));
    const size_t nstarts = (size_t)b.w->rows + 2;
    int64_t *starts = cb_alloc_zero(a, nstarts * sizeof *starts);
    int64_t *link = cb_alloc(a, (size_t)n * sizeof *link);
    cubed_status st = starts && link ? CUBED_OK : no_memory(n, err);
    if (st != CUBED_OK) goto out;
    CB_GO(check_links(b.w, n, rows, columns, values, err));
    /* Counting sort by rows. Counts become starts, stored one entry too late. Placing the links then advances each entry to
     * the start of the next row. */
    for (int64_t i = 0; i < n; i++) starts[rows[i] + 2]++;
    for (size_t r = 2; r < nstarts; r++) starts[r] += starts[r - 1];
    for (int64_t i = 0; i < n; i++) link[starts[rows[i] + 1]++] = i;
    CB_GO(fill_rows(&b, starts, link, columns, values, err));
    cb_weights_finish(&b);
    *out = b.w;
out:
    cb_free(a, starts, nstarts * sizeof *starts);
    cb_free(a, link, (size_t)n * sizeof *link);
    if (st != CUBED_OK) cubed_weights_unref(b.w);
    return st;
}

cubed_status cubed_weights_set_nearest(cubed_weights *weights, cubed_error *err)
{
    for (int64_t r = 0; r < weights->rows; r++) {
        const int64_t first = weights->starts[r], n = weights->starts[r + 1] - first;
        if (n > 1 || (n == 1 && weights->value[first] != 1))
            return cb_fail(err, CUBED_E_ARG,
                           "weights: row %" PRId64 " has %" PRId64
                           " weights, the first of %g, expected one of 1 for method nearest",
                           r, n, weights->value[first]);
    }
    weights->nearest = true;
    return CUBED_OK;
}

/* --- Use ----------------------------------------------------------------------------------------------- */

int64_t cubed_weights_get(const cubed_weights *weights, cubed_weights_shape *shape,
                          const int64_t **starts, const int32_t **columns, const double **values)
{
    if (shape) *shape = weights->shape;
    if (starts) *starts = weights->starts;
    if (columns) *columns = weights->column;
    if (values) *values = weights->value;
    return weights->n;
}

cubed_weights *cubed_weights_ref(cubed_weights *weights)
{
    atomic_fetch_add_explicit(&weights->refs, 1, memory_order_relaxed);
    return weights;
}

void cubed_weights_unref(cubed_weights *weights)
{
    if (!weights || atomic_fetch_sub_explicit(&weights->refs, 1, memory_order_acq_rel) != 1) return;
    cubed_context *ctx = weights->ctx;
    const cubed_allocator *a = &ctx->alloc;
    cb_free(a, weights->starts, ((size_t)weights->rows + 1) * sizeof *weights->starts);
    cb_free(a, weights->column, weights->room * sizeof *weights->column);
    cb_free(a, weights->value, weights->room * sizeof *weights->value);
    cb_free(a, weights, sizeof *weights);
    cubed_context_unref(ctx);
}
