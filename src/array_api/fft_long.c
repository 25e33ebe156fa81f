/* Fourier transforms along axes that no task holds: the four steps of Bailey ("FFTs in external or hierarchical
 * memory", 1990). With n = rows * columns the axis is a matrix; its columns are transformed, element (k, j) is
 * multiplied by the power k * j of the root of unity of order n, its rows are transformed, and the result is
 * in the order of its columns.
 *
 * Of real numbers only the rows up to rows / 2 are made: the others are conjugates of them, back to front. What
 * becomes real needs only the columns up to columns / 2. */
#include <string.h>

#include "array_api/fft.h"
#include "base/checked.h"
#include "base/error.h"
#include "block/block_fft.h"

/* A task holds a block, what becomes of it, that encoded, lines in scratch, and chunks that it reads. */
#define BLOCKS_OF_A_TASK 8

bool cb_fft_fits(const cb_transform *t, const cubed_array *x, int64_t n)
{
    if (n > CB_FFT_MOST) return false;
    if (t->task_mem == 0) return true;
    bool single = x->node.dtype == CUBED_COMPLEX64 || x->node.dtype == CUBED_FLOAT32;
    size_t line = (size_t)n * (single ? 2 * sizeof(float) : 2 * sizeof(double));
    size_t chunk = cubed_dtype_size(x->node.dtype);
    for (int d = 0; d < x->node.grid->ndim; d++)
        chunk = cb_sat_mul(chunk, (size_t)cb_max_i64(1, x->chunks[d]));
    /* A chunk of x may be there encoded, too; what encodes the result has room for what cannot be. */
    return 7 * line / 2 + 2 * cb_min_size(chunk, line) + cb_fft_line_bytes(n) <= t->task_mem;
}

int64_t cb_fft_block_bytes(const cb_transform *t)
{
    uint64_t part = t->task_mem / BLOCKS_OF_A_TASK;
    if (t->task_mem == 0 || part > (uint64_t)CB_API_BLOCK_BYTES) return CB_API_BLOCK_BYTES;
    return (int64_t)part;
}

/* --- Steps ----------------------------------------------------------------------------------------- */

cubed_array *cb_fft_cut(cb_steps *s, cubed_array *x, int axis, int64_t start, int64_t len,
                        int64_t step)
{
    cubed_slice slices[CUBED_MAX_NDIM];
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    for (int d = 0; d < x->node.grid->ndim; d++)
        slices[d] = (cubed_slice){0, x->shape[d], 1, false};
    slices[axis] = (cubed_slice){start, len, step, false};
    return cb_step(s, cubed_slice_array(x, slices, &y, s->err), &y);
}

static cubed_array *join(cb_steps *s, cubed_array *a, cubed_array *b, int axis)
{
    cubed_array *const pair[2] = {a, b}, *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cubed_concat(pair, 2, axis, &y, s->err), &y);
}

cubed_array *cb_fft_mirror(cb_steps *s, cubed_array *x, int axis, int64_t n)
{
    const int64_t others = (n - 1) / 2;
    if (others == 0) return x;
    cubed_array *back = cb_fft_cut(s, x, axis, others, others, -1);
    return join(s, x, cb_step_op(s, CUBED_OP_CONJ, back, NULL, NULL), axis);
}

/* All rows of the transform of real numbers, which `axis` has the first half of. */
static cubed_array *all_rows(cb_steps *s, cubed_array *x, int axis, int64_t rows)
{
    const int64_t others = (rows - 1) / 2;
    if (others == 0 || s->st != CUBED_OK) return x;
    const int64_t columns = x->shape[axis + 1];
    cubed_array *back = cb_fft_cut(s, x, axis, others, others, -1);
    back = cb_fft_cut(s, back, axis + 1, columns - 1, columns, -1);
    return join(s, x, cb_step_op(s, CUBED_OP_CONJ, back, NULL, NULL), axis);
}

/* An axis as a matrix, which takes its place and the next one. */
static cubed_array *as_matrix(cb_steps *s, cubed_array *x, int axis, int64_t rows, int64_t columns)
{
    int64_t shape[CUBED_MAX_NDIM + 1];
    int ndim = x ? x->node.grid->ndim : 0;
    if (s->st != CUBED_OK) return NULL;
    memcpy(shape, x->shape, sizeof *shape * (size_t)(axis + 1));
    memcpy(shape + axis + 1, x->shape + axis, sizeof *shape * (size_t)(ndim - axis));
    shape[axis] = rows;
    shape[axis + 1] = columns;
    return cb_step_reshaped(s, x, ndim + 1, shape);
}

/* And back, in the order of the columns. Chunks are whole rows of the transposed matrix. */
static cubed_array *by_columns(cb_steps *s, cubed_array *x, int axis, int64_t bytes)
{
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    int order[CUBED_MAX_NDIM];
    cubed_array *z = NULL;
    if (s->st != CUBED_OK) return NULL;
    const int ndim = x->node.grid->ndim;
    for (int d = 0; d < ndim; d++) order[d] = d;
    order[axis] = axis + 1;
    order[axis + 1] = axis;
    cubed_array *y = cb_step_permuted(s, x, order);
    if (!y) return NULL;
    cb_api_blocks_within(y, 1u << (axis + 1), bytes, cubed_dtype_size(y->node.dtype), chunks);
    y = cb_step(s, cubed_rechunk(y, chunks, &z, s->err), &z);
    if (!y) return NULL;
    memcpy(shape, y->shape, sizeof *shape * (size_t)axis);
    shape[axis] = y->shape[axis] * y->shape[axis + 1];
    memcpy(shape + axis + 1, y->shape + axis + 2, sizeof *shape * (size_t)(ndim - axis - 2));
    return cb_step_reshaped(s, y, ndim - 1, shape);
}

/* --- One axis -------------------------------------------------------------------------------------- */

/* What is stored on the way to a matrix is stored in chunks that a task can hold. */
static cubed_array *in_small_chunks(cb_steps *s, cubed_array *x, int64_t bytes)
{
    int64_t chunks[CUBED_MAX_NDIM];
    cubed_array *y = NULL;
    if (s->st != CUBED_OK || cb_node_is_source(&x->node)) return x;
    cb_api_blocks_within(x, 0, bytes, cubed_dtype_size(x->node.dtype), chunks);
    if (memcmp(chunks, x->chunks, sizeof *chunks * (size_t)x->node.grid->ndim) == 0) return x;
    return cb_step(s, cubed_rechunk(x, chunks, &y, s->err), &y);
}

static cubed_status one_pass(const cb_transform *t, cubed_array *x, int axis, int64_t n,
                             cb_fft_kind kind, int64_t bytes, int64_t twiddle_n, cubed_array **out,
                             cubed_error *err)
{
    int64_t lengths[CUBED_MAX_NDIM] = {0};
    lengths[axis] = n;
    const cb_fft_pass pass = {.kind = kind,
                              .mask = 1u << axis,
                              .n = lengths,
                              .real_axis = kind == CB_FFT_COMPLEX ? -1 : axis,
                              .twiddle_axis = twiddle_n > 0 ? axis + 1 : -1,
                              .twiddle_n = twiddle_n,
                              .block_bytes = bytes};
    return cb_fft_blocks(t, x, &pass, out, err);
}

/* The length that cb_fft_chirp chooses has factors of at most this. */
#define LEAST_PART 16

/* The depth is at most the number of factors of n: each has a step of its own, or several. */
static cubed_status along_axis(const cb_transform *t, cubed_array *x, int axis, int64_t n,
                               cb_fft_kind kind, int64_t bytes, cubed_array **out,
                               cubed_error *err);

static cubed_status four_steps(const cb_transform *t, cubed_array *x, int axis, int64_t rows,
                               int64_t columns, cb_fft_kind kind, cubed_array **out,
                               cubed_error *err)
{
    const int64_t n = rows * columns, half = n / 2 + 1, bytes = cb_fft_block_bytes(t);
    const cb_fft_kind down = kind == CB_FFT_FROM_REAL ? CB_FFT_FROM_REAL : CB_FFT_COMPLEX;
    const cb_fft_kind across = kind == CB_FFT_TO_REAL ? CB_FFT_TO_REAL : CB_FFT_COMPLEX;
    if (x->node.grid->ndim == CUBED_MAX_NDIM)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: an axis in parts of an array of %d dimensions", t->name,
                       CUBED_MAX_NDIM);
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = x, *z = NULL;
    if (kind == CB_FFT_TO_REAL) y = cb_fft_mirror(&s, y, axis, n);
    y = as_matrix(&s, in_small_chunks(&s, y, bytes), axis, rows, columns);
    if (kind == CB_FFT_TO_REAL) y = cb_fft_cut(&s, y, axis + 1, 0, columns / 2 + 1, 1);
    if (y) y = cb_step(&s, one_pass(t, y, axis, rows, down, bytes, n, &z, err), &z);
    if (y) y = cb_step(&s, along_axis(t, y, axis + 1, columns, across, bytes, &z, err), &z);
    if (kind == CB_FFT_FROM_REAL) {
        y = all_rows(&s, y, axis, rows);
        y = cb_fft_cut(&s, y, axis + 1, 0, cb_ceil_div(half, rows), 1);
    }
    y = by_columns(&s, y, axis, bytes);
    if (kind == CB_FFT_FROM_REAL) y = cb_fft_cut(&s, y, axis, 0, half, 1);
    if (y) y = cb_step(&s, cubed_array_with_dim_names(y, x->node.dim_names, &z, err), &z);
    return cb_steps_end(&s, y, out);
}

/* The number of rows: both factors of n fit and are about equal, or the rows fit, and are as many as can be.
 * 1: no factor fits. */
static int64_t choose_rows(const cb_transform *t, const cubed_array *x, int64_t n)
{
    int64_t most = 1, balanced = 1;
    for (int64_t d = 2; d <= n / d; d++) {
        if (n % d != 0) continue;
        const bool fits = cb_fft_fits(t, x, d), other_fits = cb_fft_fits(t, x, n / d);
        if (fits && other_fits) balanced = d;
        if (fits) most = cb_max_i64(most, d);
        if (other_fits) most = cb_max_i64(most, n / d);
    }
    return balanced > 1 ? balanced : most;
}

static cubed_status along_axis(const cb_transform *t, cubed_array *x, int axis, int64_t n,
                               cb_fft_kind kind, int64_t bytes, cubed_array **out, cubed_error *err)
{
    const int64_t rows = n == 1 || cb_fft_fits(t, x, n) ? 1 : choose_rows(t, x, n);
    const bool parts_fit = rows > 1 || cb_fft_fits(t, x, LEAST_PART);
    /* One element has no parts, and if parts do not fit, the plan says which allowance is enough. */
    if (n == 1 || cb_fft_fits(t, x, n) || !parts_fit)
        return one_pass(t, x, axis, n, kind, bytes, 0, out, err);
    if (rows == 1) return cb_fft_chirp(t, x, axis, n, kind, out, err);
    return four_steps(t, x, axis, rows, n / rows, kind, out, err);
}

cubed_status cb_fft_axis(const cb_transform *t, cubed_array *x, int axis, int64_t n,
                         cb_fft_kind kind, cubed_array **out, cubed_error *err)
{
    if (kind != CB_FFT_COMPLEX || cb_fft_fits(t, x, n))
        return along_axis(t, x, axis, n, kind, CB_API_BLOCK_BYTES, out, err);
    /* In steps real numbers are as complex ones. */
    const bool single = x->node.dtype == CUBED_FLOAT32 || x->node.dtype == CUBED_COMPLEX64;
    cubed_array *y;
    CB_TRY(cubed_astype(x, single ? CUBED_COMPLEX64 : CUBED_COMPLEX128, &y, err));
    cubed_status st = along_axis(t, y, axis, n, kind, CB_API_BLOCK_BYTES, out, err);
    cubed_array_unref(y);
    return st;
}
