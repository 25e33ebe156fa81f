/* Fourier transforms: what the ways to make them share. */
#ifndef CB_API_FFT_H
#define CB_API_FFT_H

#include "array_api/api_pkg.h"
#include "ops/steps.h"

typedef struct cb_transform {
    const char *name;
    bool real_in, real_out, forward;
    cubed_fft_norm norm;
    uint64_t task_mem; /* 0: not known */
} cb_transform;

/* What there is along an axis of n numbers: all of them, complex or real, or the n / 2 + 1 of which the others
 * are conjugates. */
typedef enum cb_fft_kind { CB_FFT_COMPLEX, CB_FFT_FROM_REAL, CB_FFT_TO_REAL } cb_fft_kind;

/* A call for each block. */
typedef struct cb_fft_pass {
    cb_fft_kind kind;
    uint32_t mask;    /* axes that are transformed */
    const int64_t *n; /* by axis */
    int real_axis;    /* of CB_FFT_COMPLEX: -1 */
    int twiddle_axis; /* -1: none; of cb_fft_params */
    int64_t twiddle_n;
    int64_t block_bytes;
} cb_fft_pass;

/* What a transform of n numbers is multiplied by. */
double cb_fft_factor(const cb_transform *t, int64_t n);

/* All transform x as long as it is: its axes have the extents that `kind` says. The results of one
 * transform have the same type as x, or as its parts or what it is a part of. CB_FFT_COMPLEX takes real
 * numbers, too. */
CUBED_MUST_CHECK cubed_status cb_fft_blocks(const cb_transform *t, cubed_array *x,
                                            const cb_fft_pass *pass, cubed_array **out,
                                            cubed_error *err);
/* Whether a line of n numbers along an axis of x fits into a task. */
bool cb_fft_fits(const cb_transform *t, const cubed_array *x, int64_t n);
/* One axis, in whichever way it fits. */
CUBED_MUST_CHECK cubed_status cb_fft_axis(const cb_transform *t, cubed_array *x, int axis,
                                          int64_t n, cb_fft_kind kind, cubed_array **out,
                                          cubed_error *err);
/* What one of the blocks that a task holds may have, on the way of an axis that does not fit. */
int64_t cb_fft_block_bytes(const cb_transform *t);

/* Steps (steps.h) that both ways take. */

/* All n numbers of the n / 2 + 1 that are there: the others are conjugates. */
cubed_array *cb_fft_mirror(cb_steps *s, cubed_array *x, int axis, int64_t n);
/* x with some positions of an axis: every `step`th from `start` on. */
cubed_array *cb_fft_cut(cb_steps *s, cubed_array *x, int axis, int64_t start, int64_t len,
                        int64_t step);

#endif
