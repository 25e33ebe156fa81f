/* What Cubed uses of pocketfft.c. Plans are read-only once made: any number of threads may use one. */
#ifndef CB_POCKETFFT_H
#define CB_POCKETFFT_H

#include <stdbool.h>
#include <stddef.h>

/* Lengths up to this one fit the int variables of pocketfft.c and its list of factors. */
#define CB_POCKETFFT_MAX ((size_t)1 << 28)

typedef struct cfft_plan_i *cb_cfft_plan;
typedef struct rfft_plan_i *cb_rfft_plan;

/* Of n >= 1 numbers. NULL: no memory. */
cb_cfft_plan cb_cfft_new(size_t n);
cb_rfft_plan cb_rfft_new(size_t n);
/* NULL is allowed. */
void cb_cfft_free(cb_cfft_plan plan);
void cb_rfft_free(cb_rfft_plan plan);

/* In place, times `scale` unless n is 1. n pairs (real, imaginary); of real numbers their transform is r0,
 * r1, i1, r2, i2, ... as far as n numbers go. false: no memory. */
bool cb_cfft_run(cb_cfft_plan plan, double *c, bool forward, double scale);
bool cb_rfft_forward(cb_rfft_plan plan, double *c, double scale);
bool cb_rfft_backward(cb_rfft_plan plan, double *c, double scale);

/* Never less than what a plan of n <= CB_POCKETFFT_MAX numbers and one transform at a time have from
 * malloc. */
size_t cb_fft_bytes(size_t n, bool real);

#endif
