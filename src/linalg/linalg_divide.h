/* Singular vectors of real bidiagonal matrices by dividing them: halves are solved, and put together by the
 * row between them (Gu and Eisenstat, "A divide-and-conquer algorithm for the bidiagonal SVD", SIMAX 1995).
 * Nearly all work is products of matrices. */
#ifndef CB_LINALG_DIVIDE_H
#define CB_LINALG_DIVIDE_H

#include "linalg/linalg_shared.h"

/* Room for matrices of n rows. Rows of `u` (n x n; NULL: nobody wants them) become left singular vectors, those
 * of `v` (n + 1 x n + 1, the last row and column aside) right ones. */
typedef struct cb_divide {
    int64_t n;
    double *u, *v;
    double *coefficients, *rows; /* n x n, n x n + 1: the last in the room, of no use afterwards */
    size_t scratch_from;         /* where they begin in it */
    double *z, *kept_d, *kept_z, *roots, *line;
    int64_t *order, *merged, *row, *at;
    unsigned char *kinds;
    const cb_products *products; /* of matrices of n + 1 rows */
} cb_divide;

cb_divide cb_divide_make(const cb_products *p, int64_t n, bool left, cb_room *room);
/* b = u^T s v: singular values s[n] of the upper bidiagonal matrix with s on its diagonal and e[n - 1] above
 * it, e has room for n. Value and vectors number order[k] are the k-th in ascending order. false: there are
 * elements that are not finite, or the call was cancelled. */
bool cb_divide_svd(const cb_divide *w, double *s, double *e);
/* The same of the symmetric tridiagonal matrix with d on its diagonal and e[n - 1] beside it: eigenvalues d, and
 * rows of `v`. */
bool cb_divide_eigen(const cb_divide *w, double *d, double *e);

#endif
