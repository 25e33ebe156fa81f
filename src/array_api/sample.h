/* Samples along some axes, which statistics are made of. */
#ifndef CB_API_SAMPLE_H
#define CB_API_SAMPLE_H

#include "cubed/array.h"
#include "ops/steps.h"

typedef struct cb_sample {
    cb_steps *s;
    cubed_array *x;         /* floats */
    cubed_reduce_options o; /* the axes, which stay: keepdims */
    bool keepdims;          /* as it was asked for */
    double n;               /* elements of each sample */
    cubed_array *mean;
    cubed_array *variance; /* once it was wanted (moments.c) */
} cb_sample;

/* False if x is none of real numbers, or has no such axes: the steps have failed then. `name` is for messages. */
bool cb_sample_take(cb_sample *m, cb_steps *s, const char *name, cubed_array *x,
                    const cubed_reduce_options *options);
/* With the axes, which cb_sample_end drops where that is wanted; NULL of NULL. */
cubed_array *cb_sample_mean(const cb_sample *m, cubed_array *x);
cubed_array *cb_sample_sum(const cb_sample *m, cubed_array *x);
cubed_array *cb_sample_end(const cb_sample *m, cubed_array *x);

/* Operations of two arrays, and of an array and a number, which takes its type; NULL of NULL. */
cubed_array *cb_sample_op(cb_steps *s, cubed_op op, cubed_array *a, cubed_array *b);
cubed_array *cb_sample_by(cb_steps *s, cubed_op op, cubed_array *a, double b);

#endif
