/* Functions on whole blocks of arrays: what cannot be written element by element. */
#ifndef CUBED_BLOCKWISE_H
#define CUBED_BLOCKWISE_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How arrays are cut into blocks. A call sees one block of every operand; symbols say which: those
 * that have the same number along the axes that belong to the same symbol.
 *
 * symbols[d] is the symbol of axis d, from 0 up, or -1: every call gets the whole axis. An output has
 * no symbol twice; axes of an input that have the same one are cut alike, without halos, and calls get its
 * blocks on their diagonal. Along a symbol all operands have equally many blocks, whose extents may differ; an
 * input that has one block is given to all of them. Where an output has a symbol of several blocks all
 * outputs do. The blocks along symbols that no output has are given one after another to calls that
 * add up to the same outputs (`first`, `last` in cubed/sys/block.h); where there are none, because an
 * axis is empty, there is no call and outputs are zeros. */
typedef struct cubed_block_input {
    cubed_array *array;
    const int *symbols;    /* one per axis */
    const int64_t *chunks; /* extents of blocks; NULL: the array's own chunks */
} cubed_block_input;

typedef struct cubed_block_output {
    cubed_dtype dtype;
    int ndim;
    const int64_t *shape;
    const int64_t *chunks; /* extents of blocks, and of the array's chunks */
    const int *symbols;
    const char *const *dim_names; /* NULL: none; may hold NULLs */
} cubed_block_output;

/* Elements around a block along an axis that come with it. `padded`: the array has them at its ends, and
 * the blocks cover what is between; else blocks at the ends come with what there is. */
typedef struct cubed_block_halo {
    int64_t before, after;
    bool padded;
} cubed_block_halo;

/* Blocks of different lengths: in[i] of an input and out[i] of an output are NULL, or have a list for each
 * axis, which takes the place of chunks[d] where its `lengths` are not NULL. */
typedef struct cubed_block_cuts {
    const cubed_chunk_list *const *in, *const *out;
} cubed_block_cuts;

/* A function that the context knows (cubed/sys/block.h; the library's own are "sort", ...), and what it is applied to. */
typedef struct cubed_block_operation {
    const char *function;
    const void *params; /* params_size bytes, copied; NULL if there are none */
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

/* Applies a function to blocks.
 *
 * Results are stored, inputs may be virtual. Inputs whose chunks are not the blocks are gathered, or rechunked first if
 * they would be read many times.
 *
 * op    borrowed
 * outs  receives op->nout arrays, which are the caller's */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_blockwise(cubed_context *ctx,
                                                        const cubed_block_operation *op,
                                                        cubed_array **outs, cubed_error *err);

/* A function of one's own, either by the name under which the context knows it
 * (cubed_context_add_block_fn), or by a shared object and the name of a `const cubed_block_fn` that it
 * exports. The object's path travels in plans, which are code then: see cubed_plan_load_code. */
typedef struct cubed_kernel {
    const char *name;
    const char *library, *symbol;
    const void *params; /* copied; NULL if there are none */
    size_t params_size;
} cubed_kernel;

/* Calls a function for each block of arrays, which gets the blocks of the same number (axes are counted
 * from the last, arrays of one element along an axis are given to all) and makes one of the result.
 * Arrays are cut alike, by the smallest chunk along each axis, or as all of them are if their chunks are
 * the same and have different lengths. `chunks`: the extents of all of the
 * result's blocks, as many as there are of the arrays'; NULL: theirs. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_map_blocks(cubed_context *ctx,
                                                         const cubed_kernel *kernel,
                                                         cubed_array *const *arrays, int narrays,
                                                         cubed_dtype dtype, const int64_t *chunks,
                                                         cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
