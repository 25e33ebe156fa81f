/* What functions of panels share. A matrix that no task holds is factored in panels of columns, each by what
 * it is given of those left of it (Toledo, "A survey of out-of-core algorithms in numerical linear algebra",
 * 1999).
 *
 * The one input is blocks of `rows` x `step`, given column by column; the output is a panel, which stays in
 * memory and becomes what is returned. Both begin with `rows` rows beside the matrix, the top: pivots, or the
 * triangle of reflectors. The first column of blocks is what the panel is made of. */
#ifndef CB_LINALG_PANEL_H
#define CB_LINALG_PANEL_H

#include "linalg/linalg_functions.h"
#include "linalg/linalg_shared.h"

typedef struct cb_panel {
    void *at; /* the output: rows + n rows of `width` */
    int64_t rows, n, width;
    const void *in; /* the block, have x step */
    int64_t have, step;
    int64_t from;   /* its first row in the matrix; negative: it is the top */
    int64_t column; /* of blocks; 0: the panel itself */
    cb_products products;
} cb_panel;

/* Whether operands are what the functions take, wherever they come from. */
CUBED_MUST_CHECK cubed_status cb_panel_check(const cubed_block_call *call, void *ctx,
                                             cubed_error *err);
cb_panel cb_panel_of(const cubed_block_call *call, const cb_kernels *kernels);
static inline size_t cb_panel_item(const cubed_block_call *call)
{
    return cb_is_complex(call->in[0].dtype) ? sizeof(cb_complex) : sizeof(double);
}
/* Takes the block, which is of the panel itself. */
void cb_panel_load(const cb_panel *s, size_t item);

#endif
