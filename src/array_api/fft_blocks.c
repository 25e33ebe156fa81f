/* Fourier transforms of lines that are entirely in a block, with one call for each block. Also functions that the transforms
 * of longer lines use. */
#include "array_api/fft.h"

#include <math.h>

#include "base/checked.h"
#include "block/block_fft.h"
#include "block/params.h"

/* --- Memory of a task -------------------------------------------------------------------------------- */

/* A task holds at most this many blocks in memory: a block, its result, the encoded result, lines in scratch memory, and
 * chunks that it reads. */
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
    /* A chunk of x may be in memory both encoded and decoded. The encoder reserves memory for incompressible data. */
    return 7 * line / 2 + 2 * cb_min_size(chunk, line) + cb_fft_line_bytes(n) <= t->task_mem;
}

int64_t cb_fft_block_bytes(const cb_transform *t)
{
    uint64_t part = t->task_mem / BLOCKS_OF_A_TASK;
    if (t->task_mem == 0 || part > (uint64_t)CB_API_BLOCK_BYTES) return CB_API_BLOCK_BYTES;
    return (int64_t)part;
}

static int32_t scale_of(const cb_transform *t)
{
    if (t->norm == CUBED_FFT_ORTHO) return CB_FFT_SCALE_SQRT;
    return (t->norm == CUBED_FFT_FORWARD) == t->forward ? CB_FFT_SCALE_N : CB_FFT_SCALE_ONE;
}

double cb_fft_factor(const cb_transform *t, int64_t n)
{
    const int32_t scale = scale_of(t);
    return scale == CB_FFT_SCALE_N      ? 1.0 / (double)n
           : scale == CB_FFT_SCALE_SQRT ? 1.0 / sqrt((double)n)
                                        : 1.0;
}

/* --- One pass -------------------------------------------------------------------------------------- */

static cubed_dtype result_dtype(cb_fft_kind kind, cubed_dtype x)
{
    switch (kind) {
    case CB_FFT_FROM_REAL: return x == CUBED_FLOAT32 ? CUBED_COMPLEX64 : CUBED_COMPLEX128;
    case CB_FFT_TO_REAL: return x == CUBED_COMPLEX64 ? CUBED_FLOAT32 : CUBED_FLOAT64;
    default:
        return x == CUBED_FLOAT32 ? CUBED_COMPLEX64 : x == CUBED_FLOAT64 ? CUBED_COMPLEX128 : x;
    }
}

cubed_status cb_fft_blocks(const cb_transform *t, cubed_array *x, const cb_fft_pass *p,
                           cubed_array **out, cubed_error *err)
{
    static const char *const functions[] = {"fft", "rfft", "irfft"};
    cubed_dtype dtype = result_dtype(p->kind, x->node.dtype);
    cubed_dtype larger = t->real_out ? x->node.dtype : dtype;
    int ndim = x->node.grid->ndim;
    int64_t chunks[CUBED_MAX_NDIM], out_chunks[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
    int symbols[CUBED_MAX_NDIM];
    cb_fft_params params = {.twiddle_n = p->twiddle_n,
                            .real_axis = p->real_axis,
                            .twiddle_axis = p->twiddle_axis,
                            .forward = t->forward,
                            .scale = scale_of(t)};
    cb_api_blocks_within(x, p->mask, p->block_bytes, cubed_dtype_size(larger), chunks);
    for (int d = 0; d < ndim; d++) {
        bool whole = p->mask >> d & 1;
        symbols[d] = whole ? -1 : d;
        params.n[d] = whole ? p->n[d] : 0;
        shape[d] = x->shape[d];
        if (d == p->real_axis) shape[d] = p->kind == CB_FFT_FROM_REAL ? p->n[d] / 2 + 1 : p->n[d];
        out_chunks[d] = whole ? shape[d] : chunks[d];
    }
    const cubed_block_input in = {x, symbols, chunks};
    const cubed_block_output to = {dtype, ndim, shape, out_chunks, symbols, x->node.dim_names};
    const cubed_block_operation operation = {.function = functions[p->kind],
                                             .params = &params,
                                             .params_size = sizeof params,
                                             .inputs = &in,
                                             .nin = 1,
                                             .outputs = &to,
                                             .nout = 1};
    return cubed_blockwise(x->ctx, &operation, out, err);
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

cubed_array *cb_fft_mirror(cb_steps *s, cubed_array *x, int axis, int64_t n)
{
    const int64_t others = (n - 1) / 2;
    if (others == 0) return x;
    cubed_array *back = cb_fft_cut(s, x, axis, others, others, -1);
    cubed_array *const both[2] = {x, cb_step_op(s, CUBED_OP_CONJ, back, NULL, NULL)};
    return cb_step_concat(s, both, 2, axis);
}
