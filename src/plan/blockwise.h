/* The operation of a BLOCKWISE node: a function on whole blocks, and how its operands are cut into
 * them. cubed/blockwise.h says what symbols mean. */
#ifndef CB_PLAN_BLOCKWISE_H
#define CB_PLAN_BLOCKWISE_H

#include "base/alloc.h"
#include "cubed/dtype.h"
#include "plan/geom.h"

typedef struct cb_block_operand {
    cubed_dtype dtype;
    cb_grid blocks; /* of an output: its chunks */
    int symbol[CUBED_MAX_NDIM];
} cb_block_operand;

/* The nodes of the outputs of one operation have equal copies of it. */
typedef struct cb_blockwise {
    const char *function;
    const void *params; /* aligned to 16 bytes */
    size_t params_size;
    int nin, nout;
    cb_block_operand *in, *out;
} cb_blockwise;

/* The symbols of an operation, as its operands have them. */
typedef struct cb_symbols {
    int n;
    int64_t nblocks[CUBED_MAX_NDIM];
    bool kept[CUBED_MAX_NDIM]; /* some output has it; the others are contracted */
} cb_symbols;

/* NULL when there is no memory. */
const cb_blockwise *cb_blockwise_copy(cb_zone *zone, const cb_blockwise *op);
/* Of operations that read the same inputs: whether they are one. */
bool cb_blockwise_equal(const cb_blockwise *a, const cb_blockwise *b);
/* CUBED_E_ARG if operands do not agree; grids themselves are sound. */
CUBED_MUST_CHECK cubed_status cb_blockwise_symbols(const cb_blockwise *op, cb_symbols *out,
                                                   cubed_error *err);

#endif
