/* Fourier transforms: declarations shared by their algorithms. */
#ifndef CB_API_FFT_H
#define CB_API_FFT_H

#include "array_api/api_pkg.h"
#include "ops/steps.h"

typedef struct cb_transform {
    const char *name;
    bool real_in, real_out, forward;
    cubed_fft_norm norm;
    uint64_t task_mem; /* 0: unknown */
} cb_transform;

/* Kinds of transforms of n numbers along an axis.
 *
 * CB_FFT_COMPLEX    from n complex numbers to n complex numbers
 * CB_FFT_FROM_REAL  from n real numbers to the first n / 2 + 1 complex numbers; the other numbers are their conjugates
 * CB_FFT_TO_REAL    the inverse of CB_FFT_FROM_REAL */
typedef enum cb_fft_kind { CB_FFT_COMPLEX, CB_FFT_FROM_REAL, CB_FFT_TO_REAL } cb_fft_kind;

/* One pass of transforms, which calls a function once per block. */
typedef struct cb_fft_pass {
    cb_fft_kind kind;
    uint32_t mask;    /* axes that are transformed */
    const int64_t *n; /* by axis */
    int real_axis;    /* the axis of real elements; -1 for CB_FFT_COMPLEX */
    int twiddle_axis; /* see cb_fft_params; -1: no axis */
    int64_t twiddle_n;
    int64_t block_bytes;
} cb_fft_pass;

/* Returns the factor by which a transform of n numbers is multiplied. */
double cb_fft_factor(const cb_transform *t, int64_t n);

/* Transforms x in one pass. Does not truncate or pad x: its axes must have the extents that pass->kind requires. The result has
 * the precision of x. CB_FFT_COMPLEX accepts real numbers. */
CUBED_MUST_CHECK cubed_status cb_fft_blocks(const cb_transform *t, cubed_array *x,
                                            const cb_fft_pass *pass, cubed_array **out,
                                            cubed_error *err);
/* Returns true if a task has enough memory to transform n numbers of x's type in one call. */
bool cb_fft_fits(const cb_transform *t, const cubed_array *x, int64_t n);
/* Transforms one axis of x. Chooses an algorithm whose tasks fit in t->task_mem. */
CUBED_MUST_CHECK cubed_status cb_fft_axis(const cb_transform *t, cubed_array *x, int axis,
                                          int64_t n, cb_fft_kind kind, cubed_array **out,
                                          cubed_error *err);
/* Returns the maximum size in bytes of a block in the algorithms for axes that are too long for one task. */
int64_t cb_fft_block_bytes(const cb_transform *t);

/* Steps of expressions (cb_steps) for fft_blocks.c and fft_long.c. */

/* Returns all n results of a transform of real numbers, from the first n / 2 + 1; the other results are their conjugates. */
cubed_array *cb_fft_mirror(cb_steps *s, cubed_array *x, int axis, int64_t n);
/* Returns `len` elements of an axis of x: those at positions start, start + step, start + 2 step, ... */
cubed_array *cb_fft_cut(cb_steps *s, cubed_array *x, int axis, int64_t start, int64_t len,
                        int64_t step);

#endif
