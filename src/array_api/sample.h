/* Samples for statistics: each sample consists of the elements along some axes of an array. */
#ifndef CB_API_SAMPLE_H
#define CB_API_SAMPLE_H

#include "cubed/array.h"
#include "ops/steps.h"

typedef struct cb_sample {
    cb_steps *s;
    cubed_array *x;         /* floats */
    cubed_reduce_options o; /* the axes, with keepdims set */
    bool keepdims;          /* keepdims as requested by the caller */
    double n;               /* number of elements of each sample */
    cubed_array *mean;
    cubed_array *variance; /* variance of each sample, computed on first use (moments.c) */
} cb_sample;

/* Initialises a sample of x. If the elements of x are not real numbers, or if x does not have the axes of the options, records an
 * error in `s` and returns false. `name` is the function's name for messages. */
bool cb_sample_take(cb_sample *m, cb_steps *s, const char *name, cubed_array *x,
                    const cubed_reduce_options *options);
/* Return the means and sums of the samples of x, which keep the reduced axes. cb_sample_end drops these axes of a result
 * unless the options of cb_sample_take set `keepdims`. All three functions return NULL if x is NULL. */
cubed_array *cb_sample_mean(const cb_sample *m, cubed_array *x);
cubed_array *cb_sample_sum(const cb_sample *m, cubed_array *x);
cubed_array *cb_sample_end(const cb_sample *m, cubed_array *x);

#endif
