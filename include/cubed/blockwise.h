/* Functions on whole blocks of arrays: operations that cannot be written element by element. */
#ifndef CUBED_BLOCKWISE_H
#define CUBED_BLOCKWISE_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An operand of an operation on blocks, and its division into blocks. Symbols are numbers that pair axes of different operands.
 * A call of the function gets one block of every operand: blocks with the same block number along all axes with the same
 * symbol.
 *
 * symbols[d] is the symbol of axis d, 0 or more; -1: every call gets the whole axis. The rules:
 * - Along a symbol all operands have the same number of blocks, whose extents may differ. An input with one block is passed to
 *   all calls.
 * - An output does not have a symbol twice. If several axes of one input have the same symbol, they are divided into blocks of
 *   the same lengths, without halos, and calls get the blocks on the diagonal.
 * - If an output has a symbol with more than one block, all outputs have this symbol.
 * - If no output has a symbol, the blocks along it contribute to the same outputs. They are passed, one after another, to
 *   several calls (`first`, `last` in cubed/sys/block.h). If there are no such blocks, because an axis is empty, there is no
 *   call, and the outputs are zeros. */
typedef struct cubed_block_input {
    cubed_array *array;
    const int *symbols;    /* one symbol for each axis */
    const int64_t *chunks; /* extents of the blocks; NULL: the array's own chunks */
} cubed_block_input;

/* An output of an operation on blocks. Symbols: see cubed_block_input. */
typedef struct cubed_block_output {
    cubed_dtype dtype;
    int ndim;
    const int64_t *shape;
    const int64_t *chunks; /* extents of the blocks, and of the array's chunks */
    const int *symbols;
    const char *const *dim_names; /* one name or NULL for each axis; NULL: no axis has a name */
} cubed_block_output;

/* Halo of a block along an axis: numbers of elements before and after the block that are passed with the block.
 *
 * padded  the array has the halo's elements at both ends of the axis, and the blocks cover only the part in between. False: the
 *         blocks cover the whole axis, and blocks at the ends get only existing elements. */
typedef struct cubed_block_halo {
    int64_t before, after;
    bool padded;
} cubed_block_halo;

/* Irregular blocks. in[i] has a list of block lengths for each axis of input i, and out[i] for each axis of output i; NULL: all
 * blocks are regular. A list whose `lengths` is not NULL replaces chunks[d]. */
typedef struct cubed_block_cuts {
    const cubed_chunk_list *const *in, *const *out;
} cubed_block_cuts;

/* A function that is registered with the context (cubed/sys/block.h), or one of the library's own such as "sort", with its
 * operands. */
typedef struct cubed_block_operation {
    const char *function;
    const void *params; /* params_size bytes, copied; NULL if the function has no parameters */
    size_t params_size;
    const cubed_block_input *inputs;
    int nin;
    const cubed_block_output *outputs;
    int nout;
    /* Inputs whose blocks overlap: halos[i] has an entry for each axis of input i, or is NULL. An input that is padded
     * needs its `chunks`. NULL if no blocks overlap. */
    const cubed_block_halo *const *halos;
    const cubed_block_cuts *cuts; /* NULL if all blocks are regular */
} cubed_block_operation;

/* Applies a function to blocks. The results are stored; the inputs may be virtual (computed when they are read). If the blocks
 * of an input are not its chunks, they are gathered from the chunks. An input that would be read many times is rechunked first.
 *
 * op    borrowed
 * outs  receives op->nout arrays, which the caller owns
 *
 * Errors: CUBED_E_UNSUPPORTED for a function that the context does not know; CUBED_E_TYPE for an output of an invalid type;
 * CUBED_E_ARG for operands that break the rules above or belong to another context; the errors of the function's `check`. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_blockwise(cubed_context *ctx,
                                                        const cubed_block_operation *op,
                                                        cubed_array **outs, cubed_error *err);

/* A function of the caller, given in one of two ways:
 * - `name`: the name with which it was added to the context (cubed_context_add_block_fn).
 * - `library` and `symbol`: the path of a shared object, and the name of a `const cubed_block_fn` that it exports. A plan with
 *   such a function contains the path and counts as code: see cubed_plan_load_code. */
typedef struct cubed_kernel {
    const char *name;
    const char *library, *symbol;
    const void *params; /* copied; NULL if there are no parameters */
    size_t params_size;
} cubed_kernel;

/* Calls a function for each block of arrays. A call gets the blocks with the same block number, and computes one block of the
 * result.
 *
 * Axes are matched from the last one; an array with one element along an axis is passed to all calls. All arrays are divided into
 * blocks of the same lengths: the length of the smallest chunk along each axis, or the lengths of irregular chunks if all arrays
 * have the same chunks.
 *
 * chunks  extents of a block of the result, which has as many blocks as the arrays; NULL: the extents of the arrays' blocks
 *
 * Errors: CUBED_E_ARG if there are no arrays, or unless the kernel has either a name or a library with a symbol; also those of
 * cubed_blockwise. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_map_blocks(cubed_context *ctx,
                                                         const cubed_kernel *kernel,
                                                         cubed_array *const *arrays, int narrays,
                                                         cubed_dtype dtype, const int64_t *chunks,
                                                         cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
