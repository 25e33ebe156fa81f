/* Fourier transforms of n numbers along an axis that cannot be cut, as n has no small factors: Bluestein's
 * algorithm. 2 j k = j^2 + k^2 - (k - j)^2 makes of the transform a convolution with exp(pi i j^2 / n), a
 * "chirp", which is done by transforms of another length. In double precision. */
#include <inttypes.h>

#include "array_api/fft.h"
#include "base/error.h"

/* Squares of positions, and of those behind the end, fit 64 bits. */
#define MOST ((int64_t)1 << 30)

/* Of positions from 0 to 2 n: exp(pi i j^2 / n), or its inverse. The angle is reduced as an integer. */
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

/* Positions along an axis, with an axis of extent 1 for each one behind it. */
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

/* The least number >= n that has no factor above 5. */
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

/* In chunks that a task can hold: what is behind x has none of its own. */
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

/* What is convolved with, in m numbers around 0. */
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

cubed_status cb_fft_chirp(const cb_transform *t, cubed_array *x, int axis, int64_t n,
                          cb_fft_kind kind, cubed_array **out, cubed_error *err)
{
    if (n > MOST)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: an axis of %" PRId64
                       " elements, or a factor of it, which has no factors "
                       "that fit a task of %" PRIu64 " bytes, and is more than 2**30",
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
