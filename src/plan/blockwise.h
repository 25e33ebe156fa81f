/* The operation of a BLOCKWISE node: a function on whole blocks, and how its operands are cut into
 * them. cubed/blockwise.h says what symbols mean. */
#ifndef CB_PLAN_BLOCKWISE_H
#define CB_PLAN_BLOCKWISE_H

#include "base/alloc.h"
#include "cubed/blockwise.h"
#include "plan/geom.h"

/* Of a gathered input a call gets ranges along one axis, one behind another: pairs of positions, the first
 * in the range and the first behind it, which are the block of another input. What is read depends on data;
 * how much of it at most does not. */
typedef struct cb_gather {
    int64_t most; /* elements of a call; 0: the input is not gathered */
    int64_t per;  /* blocks along the axis' symbol whose ranges are in one block of this input */
    int axis;     /* blocks have extent 1 along all others */
    int ranges;   /* number of the input of type int64, in front of this one */
} cb_gather;

typedef struct cb_block_operand {
    cubed_dtype dtype;
    cb_grid blocks; /* of an output: its chunks */
    int symbol[CUBED_MAX_NDIM];
    cubed_block_halo halo[CUBED_MAX_NDIM]; /* of inputs */
    cb_gather gather;                      /* of inputs */
} cb_block_operand;

/* Widens a range of the blocks' elements by what comes with them; positions in the array. */
void cb_halo_widen(const cubed_block_halo *halo, int64_t extent, int64_t *lo, int64_t *hi);
/* The most elements of a block of the axis with what comes with it. */
int64_t cb_halo_most(const cubed_block_halo *halo, const cb_axis *blocks);

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

/* Whether the blocks with their halos make up an array of that grid. */
bool cb_block_covers(const cb_block_operand *x, const cb_grid *array);
bool cb_block_has_halo(const cb_block_operand *x);

/* NULL when there is no memory. */
const cb_blockwise *cb_blockwise_copy(cb_zone *zone, const cb_blockwise *op);
/* One of `known` (entries may be NULL) if it equals the operation, else a copy in the zone; NULL when there is no memory.
 * Operations on many axes have kilobytes: those of chains and of many like products are shared. */
const cb_blockwise *cb_blockwise_keep(cb_zone *zone, const cb_blockwise *op,
                                      const cb_blockwise *const *known, int nknown);
/* Of operations that read the same inputs: whether they are one. */
bool cb_blockwise_equal(const cb_blockwise *a, const cb_blockwise *b);
/* CUBED_E_ARG if operands do not agree; grids themselves are sound. */
CUBED_MUST_CHECK cubed_status cb_blockwise_symbols(const cb_blockwise *op, cb_symbols *out,
                                                   cubed_error *err);

#endif
