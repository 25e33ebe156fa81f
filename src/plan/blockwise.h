/* The operation of a BLOCKWISE node: a function on whole blocks, and how its operands are divided into blocks.
 * cubed/blockwise.h defines symbols. */
#ifndef CB_PLAN_BLOCKWISE_H
#define CB_PLAN_BLOCKWISE_H

#include "base/alloc.h"
#include "cubed/blockwise.h"
#include "plan/geom.h"
#include "plan/reach.h"

/* Description of a gathered input: an input of which a call gets several ranges along one axis, concatenated. A block of
 * another input lists the ranges as pairs of positions: first, and last + 1. The ranges depend on data, but their total length
 * has a fixed maximum. */
typedef struct cb_gather {
    int64_t most; /* maximum number of elements per call; 0: the input is not gathered */
    int64_t
        /* Number of consecutive blocks along the axis's symbol whose ranges are all within one block of this input. */
        per;
    int axis;   /* blocks have extent 1 along all other axes */
    int ranges; /* number of the int64 input that lists the ranges; it precedes this input */
} cb_gather;

/* An operand of an operation on blocks, and its division into blocks. */
typedef struct cb_block_operand {
    cubed_dtype dtype;
    cb_grid blocks; /* grid of the blocks; for an output also the grid of its chunks */
    int symbol[CUBED_MAX_NDIM];
    cubed_block_halo halo[CUBED_MAX_NDIM]; /* halo of the blocks along each axis; for inputs only */
    cb_gather gather;                      /* description of a gathered input; for inputs only */
    /* Reach: affine map from a block of the first output to the elements of the input that a call gets. `blocks` is then the
     * grid of the first output. NULL: the input has no reach. */
    const cb_reach *reach;
} cb_block_operand;

/* Widens the range *lo to *hi - 1 of a block's elements by its halo. The given positions count from the first element that blocks
 * cover, the resulting positions from the first element of the array. Both positions count from the same element, unless the
 * array contains the elements of the halo (`padded`). */
void cb_halo_widen(const cubed_block_halo *halo, int64_t extent, int64_t *lo, int64_t *hi);
/* Returns the maximum number of elements of a block along the axis, including its halo. */
int64_t cb_halo_most(const cubed_block_halo *halo, const cb_axis *blocks);

/* An operation on blocks. The nodes of all of its outputs have equal copies of this structure. */
typedef struct cb_blockwise {
    const char *function;
    const void *params; /* aligned to 16 bytes */
    size_t params_size;
    int nin, nout;
    cb_block_operand *in, *out;
} cb_blockwise;

/* The symbols of an operation. A symbol is a number that pairs axes of several operands (cubed/blockwise.h). */
typedef struct cb_symbols {
    int n;                           /* number of symbols */
    int64_t nblocks[CUBED_MAX_NDIM]; /* number of blocks along each symbol */
    bool kept
        [CUBED_MAX_NDIM]; /* true if an output has the symbol; calls along other symbols add to the same outputs */
} cb_symbols;

/* Returns the maximum number of elements along the axis that a call gets from an input. */
int64_t cb_block_most(const cb_block_operand *x, int axis);
/* Returns true if the operand's blocks with their halos cover an array with the grid `array`. */
bool cb_block_covers(const cb_block_operand *x, const cb_grid *array);
bool cb_block_has_halo(const cb_block_operand *x);
/* Returns true if blocks of an input may overlap: it has a halo or a reach. */
bool cb_block_overlaps(const cb_block_operand *x);

/* Returns a copy of the operation in the zone, or NULL if out of memory. */
const cb_blockwise *cb_blockwise_copy(cb_zone *zone, const cb_blockwise *op);
/* Returns the entry of `known` (entries may be NULL) that equals the operation, or else a copy in the zone. Returns NULL if
 * out of memory. Sharing saves memory, because an operation on many axes has several KiB, and many operations are equal. */
const cb_blockwise *cb_blockwise_keep(cb_zone *zone, const cb_blockwise *op,
                                      const cb_blockwise *const *known, int nknown);
/* Compares operations that read the same inputs. */
bool cb_blockwise_equal(const cb_blockwise *a, const cb_blockwise *b);
/* Finds the symbols of an operation. Fails with CUBED_E_ARG if operands have different numbers of blocks along a symbol, or an
 * invalid symbol, halo, gather or reach. The grids themselves must be valid. */
CUBED_MUST_CHECK cubed_status cb_blockwise_symbols(const cb_blockwise *op, cb_symbols *out,
                                                   cubed_error *err);

#endif
