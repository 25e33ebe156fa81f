/* Arguments of linalg_triangle.inc.h. */
#ifndef CB_LINALG_TRIANGLE_H
#define CB_LINALG_TRIANGLE_H

#include "linalg/linalg_shared.h"

/* a (rows x columns, rows >= columns, `ld` apart), and room for CB_LINALG_BASE of its columns, which are copied there to be
 * contiguous while they are factored (NULL: factored in place). */
typedef struct cb_lu {
    void *a;
    int64_t rows, columns, ld;
    void *panel;
    int64_t *pivot;
    const cb_products *products;
} cb_lu;

/* Rows of matrices are `ld` apart. `spare` has room for a quarter of the factor, and for CB_LINALG_BASE columns of a
 * right-hand side. */
typedef struct cb_cholesky {
    int64_t ld;
    void *spare;
    const cb_products *products;
} cb_cholesky;

#endif
