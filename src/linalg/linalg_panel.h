/* Common parts of panel functions. A matrix that does not fit in a task is factored in panels of columns, each from blocks
 * of the panels to its left (Toledo, "A survey of out-of-core algorithms in numerical linear algebra", 1999).
 *
 * The only input is a sequence of blocks of `rows` x `step`, column by column. The output is a panel, which stays in memory
 * and becomes the result. Both start with `rows` additional rows, the top, which contain pivots or the triangle of
 * reflectors. The first column of blocks contains the panel's own data. */
#ifndef CB_LINALG_PANEL_H
#define CB_LINALG_PANEL_H

#include "linalg/linalg_functions.h"
#include "linalg/linalg_shared.h"

typedef struct cb_panel {
    void *at; /* the panel that is the output: rows + n rows of `width` elements */
    int64_t rows, n, width;
    const void *in; /* the block: `have` rows of `step` elements */
    int64_t have, step;
    /* Number of the matrix row at which the block begins; negative: the block is the top of a panel. */
    int64_t from;
    int64_t column; /* number of the column of blocks; 0: the panel itself */
    cb_products products;
} cb_panel;

/* Checks untrusted operands and parameters. */
CUBED_MUST_CHECK cubed_status cb_panel_check(const cubed_block_call *call, void *ctx,
                                             cubed_error *err);
cb_panel cb_panel_of(const cubed_block_call *call, const cb_kernels *kernels);
static inline size_t cb_panel_item(const cubed_block_call *call)
{
    return cb_is_complex(call->in[0].dtype) ? sizeof(cb_complex) : sizeof(double);
}
/* Copies the block, which must belong to the panel itself. */
void cb_panel_load(const cb_panel *s, size_t item);

#endif
