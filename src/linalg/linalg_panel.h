/* Common parts of functions that factor a matrix that does not fit in a task. The matrix is divided into panels, each of several
 * adjacent columns. Each panel is factored with the help of the finished panels to its left (Toledo, "A survey of out-of-core
 * algorithms in numerical linear algebra", 1999).
 *
 * The output of a function is one panel, which stays in memory during all calls. The only input is a sequence of blocks of
 * `rows` x `step` elements, column of blocks by column of blocks; each call gets one block. The first column of blocks has the
 * data of the output panel itself, the others are finished panels. Every panel starts with `rows` additional rows, called its
 * top. They contain pivots or the triangular factor of reflectors. */
#ifndef CB_LINALG_PANEL_H
#define CB_LINALG_PANEL_H

#include "linalg/linalg_functions.h"
#include "linalg/linalg_shared.h"

/* One call of a panel function. */
typedef struct cb_panel {
    void *at;               /* the output panel: `rows` + `n` rows of `width` elements */
    int64_t rows, n, width; /* rows of the top; rows of the matrix; columns of the panel */
    const void *in;         /* the input block: `have` rows of `step` elements */
    int64_t have, step;
    /* Number of the matrix row at which the block begins; negative if the block is the top of a panel. */
    int64_t from;
    int64_t column; /* number of the column of blocks; 0: data of the output panel itself */
    cb_products products;
} cb_panel;

/* Checks untrusted operands and parameters. */
CUBED_MUST_CHECK cubed_status cb_panel_check(const cubed_block_call *call, void *ctx,
                                             cubed_error *err);
/* Describes a call. The member `products` has no scratch memory. */
cb_panel cb_panel_of(const cubed_block_call *call, const cb_kernels *kernels);
/* Returns the size of an element in bytes. */
static inline size_t cb_panel_item(const cubed_block_call *call)
{
    return cb_is_complex(call->in[0].dtype) ? sizeof(cb_complex) : sizeof(double);
}
/* Copies the input block to its position in the output panel. Only for blocks of column 0. `item` is the size of an element. */
void cb_panel_load(const cb_panel *s, size_t item);

#endif
