/* Arguments of linalg_triangle.inc.h. */
#ifndef CB_LINALG_TRIANGLE_H
#define CB_LINALG_TRIANGLE_H

#include "linalg/linalg_shared.h"

/* Arguments of F(lu). `a` is rows x columns, with rows >= columns; its rows are `ld` apart. `panel` has room for CB_LINALG_BASE
 * columns of `a`, which are copied there, so that they are contiguous while they are factored. NULL: they are factored in
 * place. */
typedef struct cb_lu {
    void *a;
    int64_t rows, columns, ld;
    void *panel;
    int64_t *pivot;
    const cb_products *products;
} cb_lu;

/* Arguments of F(cholesky). Rows of matrices are `ld` apart. `temp` has room for a quarter of the factor, and for CB_LINALG_BASE
 * columns of a right-hand side. */
typedef struct cb_cholesky {
    int64_t ld;
    void *temp;
    const cb_products *products;
} cb_cholesky;

#endif
