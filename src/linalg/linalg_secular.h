/* The secular equation of a matrix whose first row is z, and whose diagonal below it is d[1], d[2], ... (d[0]
 * is 0): its singular values s are the roots of 1 + sum of z[j]^2 / (d[j]^2 - s^2). */
#ifndef CB_LINALG_SECULAR_H
#define CB_LINALG_SECULAR_H

#include <stdint.h>

/* n >= 1; d ascends, from 0 on, by more than rounding errors; no z is 0. Makes s[n], ascending, and in `gaps`
 * (n x n) d[j]^2 - s[i]^2, of which all digits count. z becomes what s are the exact singular values to: so
 * vectors made of it are orthogonal however near to each other values are (Gu and Eisenstat, "A
 * divide-and-conquer algorithm for the bidiagonal SVD", SIMAX 1995). room: n numbers. */
void cb_secular_solve(int64_t n, const double *d, double *z, double *s, double *gaps, double *room);

#endif
