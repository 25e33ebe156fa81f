/* Secular equation of a matrix with first row z and diagonal d[1], d[2], ... below it (d[0] is 0). Its singular values s
 * are the roots of 1 + sum of z[j]^2 / (d[j]^2 - s^2). */
#ifndef CB_LINALG_SECULAR_H
#define CB_LINALG_SECULAR_H

#include <stdint.h>

/* Solves the equation. n >= 1; d ascends from 0 by more than rounding errors; no z is 0.
 *
 * s     receives the n roots in ascending order
 * gaps  n x n; gaps[i][j] receives d[j]^2 - s[i]^2, with all digits accurate
 * z     is replaced by the vector for which s are the exact singular values. So singular vectors that are computed from it are
 *       orthogonal even if roots are very close (Gu and Eisenstat, "A divide-and-conquer algorithm for the bidiagonal SVD", SIMAX
 *       1995)
 * room  scratch memory for n numbers */
void cb_secular_solve(int64_t n, const double *d, double *z, double *s, double *gaps, double *room);

#endif
