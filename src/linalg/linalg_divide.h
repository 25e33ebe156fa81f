/* Singular vectors of real bidiagonal matrices by divide and conquer: the halves are solved and joined by the row between
 * them (Gu and Eisenstat, "A divide-and-conquer algorithm for the bidiagonal SVD", SIMAX 1995). Nearly all work is products
 * of matrices. */
#ifndef CB_LINALG_DIVIDE_H
#define CB_LINALG_DIVIDE_H

#include "linalg/linalg_shared.h"

/* Memory for matrices of n rows. Rows of `u` (n x n; NULL: not computed) receive the left singular vectors. The first n rows and
 * columns of `v` (n + 1 x n + 1) receive the right singular vectors, one per row. */
typedef struct cb_divide {
    int64_t n;
    double *u, *v;
    /* Buffers of n x n and n x n + 1 numbers, at the end of the scratch memory. The caller may use them for other data after the
     * computation. */
    double *coefficients, *rows;
    size_t scratch_from; /* offset of these two buffers in cb_room */
    double *z, *kept_d, *kept_z, *roots, *line;
    int64_t *order, *merged, *row, *at;
    unsigned char *kinds;
    const cb_products *products; /* buffers for matrices of n + 1 rows */
} cb_divide;

cb_divide cb_divide_make(const cb_products *p, int64_t n, bool left, cb_room *room);
/* Computes b = u^T s v: the singular values s[n] of the upper bidiagonal matrix with diagonal s and superdiagonal e[n - 1];
 * e has room for n. The k-th value in ascending order, and its vectors, have number order[k]. Returns false if an element
 * is not finite, or the call was cancelled. */
bool cb_divide_svd(const cb_divide *w, double *s, double *e);
/* Computes the eigenvalues and eigenvectors of the symmetric tridiagonal matrix with diagonal d[n] and subdiagonal e[n - 1]; e
 * has room for n. Stores the eigenvalues in d and the eigenvectors in the rows of `v`. The k-th value in ascending order, and its
 * vector, have number order[k]. Returns false if an element is not finite, or the call was cancelled. */
bool cb_divide_eigen(const cb_divide *w, double *d, double *e);

#endif
