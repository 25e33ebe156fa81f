/* Iterations on real bidiagonal and tridiagonal matrices. Vectors that go with them are rows of `width`
 * doubles, `stride` apart: pairs of them are rotated. NULL: no vectors. */
#ifndef CB_LINALG_ITERATE_H
#define CB_LINALG_ITERATE_H

#include <stdint.h>

#include "cubed/cancel.h"

typedef struct cb_vectors {
    double *rows;
    int64_t width, stride;
} cb_vectors;

/* Singular values s[n] of the upper bidiagonal matrix with s on its diagonal and e[n - 1] above it, in
 * descending order; e has room for n. Rows of `left` and `right` are multiplied with singular vectors. false:
 * it does not converge, as there are elements that are not finite, or cancel (may be NULL) is set. */
bool cb_bidiagonal_svd(int64_t n, double *s, double *e, cb_vectors left, cb_vectors right,
                       const cubed_cancel *cancel);
/* Eigenvalues d[n] of the symmetric tridiagonal matrix with d on its diagonal and e[n - 1] beside it, in
 * ascending order; e has room for n. */
bool cb_tridiagonal_eigen(int64_t n, double *d, double *e, cb_vectors vectors,
                          const cubed_cancel *cancel);

#endif
