/* Eigenvalues of upper Hessenberg matrices by QR iterations, and eigenvectors from the resulting (quasi) triangular
 * matrices. Matrices are n x n. */
#ifndef CB_LINALG_SCHUR_H
#define CB_LINALG_SCHUR_H

#include "linalg/linalg_shared.h"

/* Computes the Schur form of an upper Hessenberg matrix h: replaces h by q^H h q, which is upper triangular. A real matrix may
 * have 2 x 2 blocks on the diagonal, one for each pair of conjugate eigenvalues.
 *
 * zt      multiplied by q^T from the left; NULL: computes only eigenvalues and leaves h undefined
 * values  receives the n eigenvalues
 * cancel  may be NULL
 *
 * Returns false if the iteration does not converge, or if `cancel` is set. */
bool cb_schur_d(int64_t n, double *h, double *zt, cb_complex *values, const cubed_cancel *cancel);
bool cb_schur_z(int64_t n, cb_complex *h, cb_complex *zt, cb_complex *values,
                const cubed_cancel *cancel);

/* Computes the eigenvector of the triangular matrix t for values[k] in y[0..k]. For a pair of conjugate values, `k` is the number
 * of the second value, and `value` is either value. `norm` is the largest element of t. */
void cb_schur_vector_d(int64_t n, const double *t, double norm, int64_t k, cb_complex value,
                       cb_complex *y);
void cb_schur_vector_z(int64_t n, const cb_complex *t, double norm, int64_t k, cb_complex value,
                       cb_complex *y);

#endif
