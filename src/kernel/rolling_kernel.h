/* Reductions over windows: loops over states of adjacent positions.
 *
 * A state is one element of each plane; planes are `plane` doubles apart. The first plane counts the values other than NaN.
 * Joining is associative except for rounding. Joining with a state of count 0 has no effect. */
#ifndef CB_KERNEL_ROLLING_H
#define CB_KERNEL_ROLLING_H

#include <stddef.h>

typedef enum cb_rolling_kind {
    CB_ROLLING_COUNT,
    CB_ROLLING_SUM,  /* count, sum */
    CB_ROLLING_PROD, /* count, product */
    CB_ROLLING_MIN,  /* count and minimum; the minimum is infinity if the count is 0 */
    CB_ROLLING_MAX,
    CB_ROLLING_M2, /* count, mean, and sum of squared deviations from the mean */
    CB_ROLLING_KINDS
} cb_rolling_kind;

typedef struct cb_rolling_fns {
    int planes;
    /* Make the states of n single elements: plane k of a state is at to + k * plane. */
    void (*take_f4)(double *to, size_t plane, const void *x, size_t n);
    void (*take_f8)(double *to, size_t plane, const void *x, size_t n);
    /* Joins the states a and b into `to`, which may be a or b. The elements of b follow the elements of a. M2: Chan, Golub and
     * LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979). */
    void (*join)(double *to, const double *a, const double *b, size_t plane, size_t n);
} cb_rolling_fns;

#endif
