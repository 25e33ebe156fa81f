/* Eigenvalues of upper Hessenberg matrices by QR iterations, and eigenvectors from the (quasi) triangular
 * matrices that these end with. Matrices are n x n. */
#ifndef CB_LINALG_SCHUR_H
#define CB_LINALG_SCHUR_H

#include "linalg/linalg_shared.h"

/* h becomes q^H h q, triangular but for blocks of 2 x 2 on the diagonal of real matrices, which have pairs of
 * conjugate eigenvalues. The rows of zt are multiplied by q^T; zt NULL: only eigenvalues are made, and the
 * rest of h is of no use. false: it does not converge, or cancel (may be NULL) is set. */
bool cb_schur_d(int64_t n, double *h, double *zt, cb_complex *values, const cubed_cancel *cancel);
bool cb_schur_z(int64_t n, cb_complex *h, cb_complex *zt, cb_complex *values,
                const cubed_cancel *cancel);

/* The eigenvector of the triangular matrix t to values[k], in y[0..k]; returns how many elements there are:
 * k + 1. Of a pair of conjugate values `k` is the second one's number, and `value` either. `norm`: the
 * largest element of t. */
void cb_schur_vector_d(int64_t n, const double *t, double norm, int64_t k, cb_complex value,
                       cb_complex *y);
void cb_schur_vector_z(int64_t n, const cb_complex *t, double norm, int64_t k, cb_complex value,
                       cb_complex *y);

#endif
