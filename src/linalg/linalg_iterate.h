/* Singular values of real bidiagonal matrices and eigenvalues of symmetric tridiagonal matrices, by QR and QL iterations. */
#ifndef CB_LINALG_ITERATE_H
#define CB_LINALG_ITERATE_H

#include <stdint.h>

#include "cubed/cancel.h"

/* A matrix of n rows, `width` columns. The iterations apply their rotations to pairs of rows. If the matrix is the identity
 * matrix at first, row k becomes the vector of value k. */
typedef struct cb_vectors {
    double *rows;          /* NULL if no vectors are computed */
    int64_t width, stride; /* stride: number of doubles from one row to the next */
} cb_vectors;

/* Computes the singular values of an upper bidiagonal matrix.
 *
 * s            diagonal, n numbers; receives the singular values in descending order
 * e            superdiagonal, n - 1 numbers; has room for n; destroyed
 * left, right  receive the left and right singular vectors (see cb_vectors)
 * cancel       may be NULL
 *
 * Returns false if the iteration does not converge because an element is not finite, or if `cancel` is set. */
bool cb_bidiagonal_svd(int64_t n, double *s, double *e, cb_vectors left, cb_vectors right,
                       const cubed_cancel *cancel);
/* Computes the eigenvalues of a symmetric tridiagonal matrix. `d` is the diagonal, and receives the eigenvalues in ascending
 * order. `e` is the subdiagonal. Otherwise like cb_bidiagonal_svd. */
bool cb_tridiagonal_eigen(int64_t n, double *d, double *e, cb_vectors vectors,
                          const cubed_cancel *cancel);

#endif
