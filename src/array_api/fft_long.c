/* Fourier transforms along axes that do not fit in a task: the four steps of Bailey ("FFTs in external or hierarchical
 * memory", 1990).
 *
 * With n = rows * columns, the axis becomes a matrix. Step 1 transforms its columns. Step 2 multiplies element (k, j) by the
 * power k * j of the root of unity of order n. Step 3 transforms the rows. Step 4 reads the result column by column.
 *
 * For real input, only the rows up to rows / 2 are computed. The other rows are their conjugates in reverse order. A real
 * result needs only the columns up to columns / 2.
 *
 * If no factor of the length fits in a task, the transform becomes a convolution of longer lines. */
#include <inttypes.h>
#include <string.h>

#include "array_api/fft.h"
#include "base/error.h"

/* Adds the second half of the rows to the transform of real numbers. Along `axis`, x has the first half. */
static cubed_array *all_rows(cb_steps *s, cubed_array *x, int axis, int64_t rows)
{
    const int64_t others = (rows - 1) / 2;
    if (others == 0 || s->st != CUBED_OK) return x;
    const int64_t columns = x->shape[axis + 1];
    cubed_array *back = cb_fft_cut(s, x, axis, others, others, -1);
    back = cb_fft_cut(s, back, axis + 1, columns - 1, columns, -1);
    cubed_array *const both[2] = {x, cb_step_op(s, CUBED_OP_CONJ, back, NULL, NULL)};
    return cb_step_concat(s, both, 2, axis);
}

/* Splits an axis into two: the rows and columns of a matrix. */
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

/* Merges the axes of the matrix into one axis, in column-major order. Each chunk consists of whole columns. */
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

/* --- Four steps ------------------------------------------------------------------------------------ */

/* Stores intermediate matrices in chunks that fit in a task. */
static cubed_array *in_small_chunks(cb_steps *s, cubed_array *x, int64_t bytes)
{
    int64_t chunks[CUBED_MAX_NDIM];
    cubed_array *y = NULL;
    if (s->st != CUBED_OK || cb_node_is_source(&x->node)) return x;
    cb_api_blocks_within(x, 0, bytes, cubed_dtype_size(x->node.dtype), chunks);
    if (memcmp(chunks, x->chunks, sizeof *chunks * (size_t)x->node.grid->ndim) == 0) return x;
    return cb_step(s, cubed_rechunk(x, chunks, &y, s->err), &y);
}

/* Describes a transform of one axis without twiddle factors. one_pass sets the length. */
static cb_fft_pass pass_along(int axis, cb_fft_kind kind, int64_t bytes)
{
    return (cb_fft_pass){.kind = kind,
                         .mask = 1u << axis,
                         .real_axis = kind == CB_FFT_COMPLEX ? -1 : axis,
                         .twiddle_axis = -1,
                         .block_bytes = bytes};
}

static cubed_status one_pass(const cb_transform *t, cubed_array *x, int axis, int64_t n,
                             cb_fft_pass pass, cubed_array **out, cubed_error *err)
{
    int64_t lengths[CUBED_MAX_NDIM] = {0};
    lengths[axis] = n;
    pass.n = lengths;
    return cb_fft_blocks(t, x, &pass, out, err);
}

/* For an axis whose length has no suitable factor, by_chirp uses transforms of another length. This length can be split into
 * parts of at most LEAST_PART numbers. */
#define LEAST_PART 16

/* The recursion depth is at most the number of factors of n, because each factor takes one or several steps. */
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
                       "%s: the axis is transformed in parts, so x has %d dimensions, expected "
                       "fewer: allow more memory, or remove a dimension",
                       t->name, CUBED_MAX_NDIM);
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = x, *z = NULL;
    cb_fft_pass first = pass_along(axis, down, bytes);
    first.twiddle_axis = axis + 1;
    first.twiddle_n = n;
    if (kind == CB_FFT_TO_REAL) y = cb_fft_mirror(&s, y, axis, n);
    y = as_matrix(&s, in_small_chunks(&s, y, bytes), axis, rows, columns);
    if (kind == CB_FFT_TO_REAL) y = cb_fft_cut(&s, y, axis + 1, 0, columns / 2 + 1, 1);
    if (y) y = cb_step(&s, one_pass(t, y, axis, rows, first, &z, err), &z);
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

/* --- Lengths without small factors ------------------------------------------------------------------- */

/* Bluestein's algorithm, for n numbers along an axis whose length has no factor that fits. With 2 j k = j^2 + k^2 - (k -
 * j)^2, the transform is a convolution with exp(pi i j^2 / n), a "chirp". Transforms of another length compute the
 * convolution in double precision. */

/* Maximum length, so that squares of positions up to twice the length fit in 64 bits. */
#define MOST ((int64_t)1 << 30)

/* Computes exp(pi i j^2 / n), or its inverse, for positions j from 0 to 2 n. The angle is reduced as an integer. */
static cubed_array *chirp(cb_steps *s, cubed_array *at, int64_t n, bool forward)
{
    const cubed_scalar unit = {.c128 = {0, (forward ? -1 : 1) * 3.14159265358979323846}};
    cubed_array *turns = cb_step_op(s, CUBED_OP_MULTIPLY, at, at, NULL);
    turns = cb_step_op(s, CUBED_OP_REMAINDER, turns, cb_step_whole(s, 2 * n), NULL);
    cubed_array *less = cb_step_op(s, CUBED_OP_SUBTRACT, turns, cb_step_whole(s, 2 * n), NULL);
    cubed_array *above = cb_step_op(s, CUBED_OP_GREATER, turns, cb_step_whole(s, n), NULL);
    turns = cb_step_op(s, CUBED_OP_WHERE, above, less, turns);
    cubed_array *part = cb_step_cast(s, turns, CUBED_FLOAT64);
    part = cb_step_op(s, CUBED_OP_DIVIDE, part, cb_step_float(s, (double)n), NULL);
    cubed_array *angle = cb_step_op(s, CUBED_OP_MULTIPLY, cb_step_cast(s, part, CUBED_COMPLEX128),
                                    cb_step_scalar(s, CUBED_COMPLEX128, &unit), NULL);
    return cb_step_op(s, CUBED_OP_EXP, angle, NULL, NULL);
}

/* Returns the positions 0 to n - 1 along an axis that is followed by `behind` axes of extent 1. */
static cubed_array *positions(cb_steps *s, int64_t n, int64_t chunk, int behind)
{
    int64_t shape[CUBED_MAX_NDIM], chunks[CUBED_MAX_NDIM];
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    shape[0] = n;
    chunks[0] = cb_min_i64(n, chunk);
    for (int d = 1; d <= behind; d++) shape[d] = chunks[d] = 1;
    return cb_step(s, cubed_array_index(s->ctx, behind + 1, shape, chunks, 0, &y, s->err), &y);
}

/* Returns the smallest number >= n without factors above 5. */
static int64_t smooth(int64_t n)
{
    for (;; n++) {
        int64_t rest = n;
        for (int64_t factor = 2; factor <= 5; factor++) {
            while (rest % factor == 0) rest /= factor;
        }
        if (rest == 1) return n;
    }
}

/* Pads x to n elements along the axis, and rechunks the result so that a chunk fits in a task. */
static cubed_array *padded(cb_steps *s, cubed_array *x, int axis, int64_t n, int64_t bytes)
{
    int64_t chunks[CUBED_MAX_NDIM];
    int64_t before[CUBED_MAX_NDIM] = {0}, after[CUBED_MAX_NDIM] = {0};
    const cubed_scalar zero = {{0}};
    cubed_array *y = NULL, *z = NULL;
    if (s->st != CUBED_OK) return NULL;
    after[axis] = n - x->shape[axis];
    y = cb_step(s, cubed_pad(x, before, after, &zero, &y, s->err), &y);
    if (!y) return NULL;
    cb_api_blocks_within(x, 0, bytes, cubed_dtype_size(x->node.dtype), chunks);
    return cb_step(s, cubed_rechunk(y, chunks, &z, s->err), &z);
}

static cubed_array *transformed(cb_steps *s, const cb_transform *t, cubed_array *x, int axis,
                                bool forward)
{
    cb_transform plain = {.name = t->name, .forward = forward, .task_mem = t->task_mem};
    cubed_array *y = NULL;
    if (s->st != CUBED_OK) return NULL;
    return cb_step(s, cb_fft_axis(&plain, x, axis, x->shape[axis], CB_FFT_COMPLEX, &y, s->err), &y);
}

/* Returns the transform of the kernel of the convolution, which has m elements. Its elements at negative positions are at the
 * end. */
static cubed_array *kernel(cb_steps *s, const cb_transform *t, int64_t n, int64_t m, int64_t chunk)
{
    cubed_array *at = positions(s, m, chunk, 0);
    cubed_array *other = cb_step_op(s, CUBED_OP_SUBTRACT, cb_step_whole(s, m), at, NULL);
    cubed_array *near = cb_step_op(s, CUBED_OP_MINIMUM, at, other, NULL);
    cubed_array *within = cb_step_op(s, CUBED_OP_LESS, near, cb_step_whole(s, n), NULL);
    near = cb_step_op(s, CUBED_OP_MINIMUM, near, cb_step_whole(s, n), NULL);
    const cubed_scalar zero = {{0}};
    cubed_array *wave = cb_step_op(s, CUBED_OP_WHERE, within, chirp(s, near, n, !t->forward),
                                   cb_step_scalar(s, CUBED_COMPLEX128, &zero));
    return transformed(s, t, wave, 0, true);
}

static cubed_status by_chirp(const cb_transform *t, cubed_array *x, int axis, int64_t n,
                             cb_fft_kind kind, cubed_array **out, cubed_error *err)
{
    if (n > MOST)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: the axis has %" PRId64
                       " elements, more than 2**30, and this number or a factor of it cannot be "
                       "split into factors that fit in a task of %" PRIu64 " bytes",
                       t->name, n, t->task_mem);
    const int behind = x->node.grid->ndim - 1 - axis;
    const int64_t m = smooth(2 * n - 1), bytes = cb_fft_block_bytes(t);
    const int64_t items = bytes / (int64_t)(2 * sizeof(double));
    const int64_t chunk = cb_max_i64(1, cb_min_i64(x->chunks[axis], items));
    const cubed_dtype given = x->node.dtype;
    const bool single = given == CUBED_COMPLEX64 || given == CUBED_FLOAT32;
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = cb_step_cast(&s, x, CUBED_COMPLEX128);
    if (kind == CB_FFT_TO_REAL) y = cb_fft_mirror(&s, y, axis, n);
    cubed_array *wave = chirp(&s, positions(&s, n, chunk, behind), n, t->forward);
    y = cb_step_op(&s, CUBED_OP_MULTIPLY, y, wave, NULL);
    y = transformed(&s, t, padded(&s, y, axis, m, bytes), axis, true);
    cubed_array *with = kernel(&s, t, n, m, chunk), *z = NULL;
    int64_t shape[CUBED_MAX_NDIM] = {m};
    for (int d = 1; d <= behind; d++) shape[d] = 1;
    if (with) with = cb_step(&s, cubed_reshape(with, behind + 1, shape, &z, err), &z);
    y = cb_step_op(&s, CUBED_OP_MULTIPLY, y, with, NULL);
    y = cb_fft_cut(&s, transformed(&s, t, y, axis, false), axis, 0, n, 1);
    y = cb_step_op(&s, CUBED_OP_MULTIPLY, y, wave, NULL);
    y = cb_step_op(&s, CUBED_OP_MULTIPLY, y, cb_step_float(&s, cb_fft_factor(t, n)), NULL);
    if (kind == CB_FFT_FROM_REAL) y = cb_fft_cut(&s, y, axis, 0, n / 2 + 1, 1);
    if (kind == CB_FFT_TO_REAL) y = cb_step_op(&s, CUBED_OP_REAL, y, NULL, NULL);
    if (single) y = cb_step_cast(&s, y, kind == CB_FFT_TO_REAL ? CUBED_FLOAT32 : CUBED_COMPLEX64);
    if (y) y = cb_step(&s, cubed_array_with_dim_names(y, x->node.dim_names, &z, err), &z);
    return cb_steps_end(&s, y, out);
}

/* --- Transforms of one axis, by the cheapest algorithm ------------------------------------------------ */

/* Returns the number of rows, a factor of n. If possible, rows and columns both fit in a task and are about equal in number.
 * Otherwise returns the largest factor that fits, or 1 if none fits. */
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
    /* One element cannot be split. If no part fits, the plan is refused with the memory that it needs. */
    if (n == 1 || cb_fft_fits(t, x, n) || !parts_fit)
        return one_pass(t, x, axis, n, pass_along(axis, kind, bytes), out, err);
    if (rows == 1) return by_chirp(t, x, axis, n, kind, out, err);
    return four_steps(t, x, axis, rows, n / rows, kind, out, err);
}

cubed_status cb_fft_axis(const cb_transform *t, cubed_array *x, int axis, int64_t n,
                         cb_fft_kind kind, cubed_array **out, cubed_error *err)
{
    if (kind != CB_FFT_COMPLEX || cb_fft_fits(t, x, n))
        return along_axis(t, x, axis, n, kind, CB_API_BLOCK_BYTES, out, err);
    /* The algorithm for long axes needs complex numbers, so real numbers are converted. */
    const bool single = x->node.dtype == CUBED_FLOAT32 || x->node.dtype == CUBED_COMPLEX64;
    cubed_array *y;
    CB_TRY(cubed_astype(x, single ? CUBED_COMPLEX64 : CUBED_COMPLEX128, &y, err));
    cubed_status st = along_axis(t, y, axis, n, kind, CB_API_BLOCK_BYTES, out, err);
    cubed_array_unref(y);
    return st;
}
