/* Decompositions of dense matrices as block functions (cubed/sys/block.h), and their parameters, which plans store as fixed-width
 * integers without padding. block/block.c lists the functions. Their `ctx` is the context's cb_kernels. */
#ifndef CB_LINALG_FUNCTIONS_H
#define CB_LINALG_FUNCTIONS_H

#include <stdint.h>

#include "cubed/sys/block.h"

extern const cubed_block_fn cb_block_cholesky;
extern const cubed_block_fn cb_block_lu;
extern const cubed_block_fn cb_block_det;
extern const cubed_block_fn cb_block_slogdet;
extern const cubed_block_fn cb_block_inv;
extern const cubed_block_fn cb_block_solve;
extern const cubed_block_fn cb_block_qr;
extern const cubed_block_fn cb_block_reflectors;
extern const cubed_block_fn cb_block_lu_panel;
extern const cubed_block_fn cb_block_lu_solve;
extern const cubed_block_fn cb_block_cholesky_panel;
extern const cubed_block_fn cb_block_qr_panel;
extern const cubed_block_fn cb_block_qr_apply;
extern const cubed_block_fn cb_block_svd;
extern const cubed_block_fn cb_block_svdvals;
extern const cubed_block_fn cb_block_band_svdvals;
extern const cubed_block_fn cb_block_band_eigvalsh;
extern const cubed_block_fn cb_block_eigh;
extern const cubed_block_fn cb_block_eigvalsh;
extern const cubed_block_fn cb_block_eig;
extern const cubed_block_fn cb_block_eigvals;

/* Parameters of "cholesky". If `upper` is 1, the function reads the upper triangle of the input and computes an upper triangular
 * factor. Otherwise it reads the lower triangle and computes a lower triangular factor. */
typedef struct cb_cholesky_params {
    int32_t upper; /* 0 or 1 */
} cb_cholesky_params;

/* Parameters of functions that work on one panel (several adjacent columns) of a matrix that does not fit in a task; see
 * linalg_panel.h. */
typedef struct cb_panel_params {
    int64_t rows; /* number of rows of a block; the last block may have fewer */
    /* For "lu_panel", "cholesky_panel" and "qr_panel": number of panels to the left of the panel that is computed. For
     * "lu_solve": number of panels of the matrix. For "qr_apply": number of panels of reflectors that are applied. */
    int64_t panels;
    /* 0 or 1. With 1, a singular matrix is an error in "lu_panel", and "qr_apply" applies the adjoint of Q. */
    int32_t option;
    int32_t unused; /* 0 */
} cb_panel_params;

#endif
