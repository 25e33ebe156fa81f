/* Decompositions of dense matrices as block functions: their rows, which block/block.c lists, and their parameters as
 * stored in plans: fixed-width integers without padding. Their `ctx` is the context's cb_kernels. */
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

/* Parameters of "cholesky". If `upper` is 1, the function reads the upper triangle of the input and computes an upper factor,
 * otherwise both are lower triangles. */
typedef struct cb_cholesky_params {
    int32_t upper; /* 0 or 1 */
} cb_cholesky_params;

/* Parameters of the panel functions. `panels`: for "lu_panel", "cholesky_panel" and "qr_panel", the number of panels to the
 * left of the panel; for "lu_solve" and "qr_apply", the number of all panels. An option of 1 makes singular matrices an error
 * in "lu_panel", and applies the adjoint of Q in "qr_apply". */
typedef struct cb_panel_params {
    int64_t rows; /* rows of a block */
    int64_t panels;
    int32_t option; /* 0 or 1 */
    int32_t unused; /* 0 */
} cb_panel_params;

#endif
