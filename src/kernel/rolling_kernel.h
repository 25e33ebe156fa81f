/* Kernels for reductions over moving windows.
 *
 * A state is the partial result of a sequence of elements: one double in each plane. Planes are arrays, `plane` doubles apart.
 * The first plane has the number of values other than NaN. The states of adjacent sequences can be combined. Combining is
 * associative except for rounding, and a state of count 0 has no effect. */
#ifndef CB_KERNEL_ROLLING_H
#define CB_KERNEL_ROLLING_H

#include <stddef.h>

typedef enum cb_rolling_kind {
    /* The comments list the contents of the planes. */
    CB_ROLLING_COUNT, /* count */
    CB_ROLLING_SUM,   /* count, sum */
    CB_ROLLING_PROD,  /* count, product */
    CB_ROLLING_MIN,   /* count, minimum (infinity if the count is 0) */
    CB_ROLLING_MAX,   /* count, maximum (minus infinity if the count is 0) */
    CB_ROLLING_M2,    /* count, mean, sum of squared deviations from the mean */
    CB_ROLLING_KINDS
} cb_rolling_kind;

typedef struct cb_rolling_fns {
    int planes;
    /* Create n states, one for each element of x (float32 or float64). Plane k of state i is to[k * plane + i]. */
    void (*take_f4)(double *to, size_t plane, const void *x, size_t n);
    void (*take_f8)(double *to, size_t plane, const void *x, size_t n);
    /* Combines state i of a and state i of b into state i of `to`, for each i < n. `to` may be a or b. The elements of a precede
     * those of b. Formula of CB_ROLLING_M2: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing
     * sample variances" (1979). */
    void (*join)(double *to, const double *a, const double *b, size_t plane, size_t n);
} cb_rolling_fns;

#endif
