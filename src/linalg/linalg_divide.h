/* Singular vectors of real bidiagonal matrices, and eigenvectors of symmetric tridiagonal matrices, by divide and conquer: the
 * matrix is divided into two halves and the row between them. The halves are solved separately, then combined using this row (Gu
 * and Eisenstat, "A divide-and-conquer algorithm for the bidiagonal SVD", SIMAX 1995). Nearly all work is products of
 * matrices. */
#ifndef CB_LINALG_DIVIDE_H
#define CB_LINALG_DIVIDE_H

#include "linalg/linalg_shared.h"

/* Buffers for a matrix of n rows, and the resulting vectors. */
typedef struct cb_divide {
    int64_t n;
    /* u: n x n, its rows receive the left singular vectors; NULL if they are not computed. v: (n + 1) x (n + 1), the first n
     * elements of its first n rows receive the right singular vectors or the eigenvectors. */
    double *u, *v;
    /* Buffers at the end of the scratch memory: n x n and n x (n + 1) numbers. The caller may use them for other data after the
     * computation. */
    double *coefficients, *rows;
    size_t scratch_from; /* offset of these two buffers in cb_room */
    double *z, *kept_d, *kept_z, *roots, *line;
    /* order[k]: index of the k-th value in ascending order, and of its vectors. */
    int64_t *order, *merged, *row, *at;
    unsigned char *kinds;
    const cb_products *products; /* buffers for matrices of n + 1 rows */
} cb_divide;

/* Allocates the buffers. `left`: left singular vectors are also computed. */
cb_divide cb_divide_make(const cb_products *p, int64_t n, bool left, cb_room *room);
/* Computes the singular values and vectors of an upper bidiagonal matrix b = u^T diag(s) v.
 *
 * s  diagonal of b, n numbers; receives the singular values, in the order of the vectors
 * e  superdiagonal of b, n - 1 numbers; has room for n; destroyed
 *
 * Returns false if an element is not finite, or if the call was cancelled. */
bool cb_divide_svd(const cb_divide *w, double *s, double *e);
/* Computes the eigenvalues and eigenvectors of a symmetric tridiagonal matrix.
 *
 * d  diagonal, n numbers; receives the eigenvalues, in the order of the vectors
 * e  subdiagonal, n - 1 numbers; has room for n; destroyed
 *
 * Returns false if an element is not finite, or if the call was cancelled. */
bool cb_divide_eigen(const cb_divide *w, double *d, double *e);

#endif
