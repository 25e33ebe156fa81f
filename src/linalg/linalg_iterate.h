/* Iterations on real bidiagonal and tridiagonal matrices. The vectors (cb_vectors) are rows of `width` doubles, `stride` doubles
 * apart; each iteration rotates pairs of rows. `rows` is NULL if no vectors are computed. */
#ifndef CB_LINALG_ITERATE_H
#define CB_LINALG_ITERATE_H

#include <stdint.h>

#include "cubed/cancel.h"

typedef struct cb_vectors {
    double *rows;
    int64_t width, stride;
} cb_vectors;

/* Computes the singular values s[n] of the upper bidiagonal matrix with diagonal s and superdiagonal e[n - 1], in
 * descending order; e has room for n. Multiplies the rows of `left` and `right` by singular vectors. Returns false if it
 * does not converge because an element is not finite, or if cancel (may be NULL) is set. */
bool cb_bidiagonal_svd(int64_t n, double *s, double *e, cb_vectors left, cb_vectors right,
                       const cubed_cancel *cancel);
/* Computes the eigenvalues d[n] of the symmetric tridiagonal matrix with diagonal d and subdiagonal e[n - 1], in ascending
 * order; e has room for n. */
bool cb_tridiagonal_eigen(int64_t n, double *d, double *e, cb_vectors vectors,
                          const cubed_cancel *cancel);

#endif
