/* Inputs and outputs of stages that call functions on whole blocks. A task computes one block of every output. Input blocks
 * are evaluated into dense tiles, or are chunks that are used in place. A block that several successive calls use is loaded
 * once. Partial chunks are packed and unpacked in place, so that a block and its chunk share one buffer. */
#ifndef CB_EXEC_OPERANDS_H
#define CB_EXEC_OPERANDS_H

#include "exec/vm/frames.h"

/* Sets the elements of an operand in the calls with the blocks `first` to `last` of the symbols. */
void cb_block_box(const cb_block_operand *x, const int64_t *first, const int64_t *last,
                  cb_box *elements);
/* Returns the blocks of the contracted symbols: a box over all symbols, in which the kept symbols have block 0 only. Empty if
 * there are no blocks. */
cb_box cb_block_contracted(const cb_stage_call *c);
/* Returns true if an output needs memory even if the plan does not use it, because each call of a task reads the output block of
 * the previous call. */
bool cb_block_is_carried(const cb_stage_call *c, int out);
/* Return the maximum bytes of the tile of an input or output of the operation. */
size_t cb_block_in_bytes(const cubed_plan *p, const cb_stage *s, int in);
size_t cb_block_out_bytes(const cubed_plan *p, const cb_stage *s, int out);
/* Returns the number of bytes that are decoded if all blocks of an input are read once. Sets *times to the number of times
 * that all blocks are read. */
uint64_t cb_block_input_reads(const cubed_plan *p, const cb_stage *s, int in, uint64_t *times);
/* Calls a function to find out whether it supports the blocks of an operation, and how much memory it needs. The description for
 * the function is allocated in the zone. */
CUBED_MUST_CHECK cubed_status cb_block_ask(cb_zone *zone, const cubed_block_fn *fn, void *fn_ctx,
                                           const cb_blockwise *op, const cb_symbols *symbols,
                                           cubed_block_need *need, cubed_error *err);

/* --- For op_call.c and op_pick.c ------------------------------------------------------------------- */

/* Compiles the operation, outputs and inputs of a call. The operator compiles the remaining parts of the stage. */
CUBED_MUST_CHECK cubed_status cb_operands_compile(cubed_plan *p, cb_stage *s, cubed_error *err);
void cb_operands_prepare(const cubed_plan *p, cb_stage *s);
CUBED_MUST_CHECK cubed_status cb_operands_read(const cubed_plan *p, const cb_stage *s,
                                               const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                               cubed_error *err);

/* An input or output of the calls of a task. */
typedef struct cb_operand {
    cb_box box; /* box of the operand's elements in the call */
    int64_t shape[CUBED_MAX_NDIM];
    void *tile;
} cb_operand;

typedef struct cb_operands {
    const cb_task *t;
    const cb_stage_call *c;
    cb_operand *operand; /* inputs, then outputs */
    cubed_block *block;
    int64_t index[CUBED_MAX_NDIM]; /* index of the block along each symbol */
} cb_operands;

/* Allocates the lists of operands and of blocks. */
CUBED_MUST_CHECK cubed_status cb_operands_frame(const cb_stage *s, cb_arena *arena,
                                                cb_operands *out, cubed_error *err);
/* cb_inputs_frame allocates tiles of the inputs and measures how much memory loading them uses. cb_results_frame allocates
 * blocks of the outputs and measures the memory for writing them. */
CUBED_MUST_CHECK cubed_status cb_inputs_frame(const cb_frame *f, cb_operand *operands,
                                              cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_results_frame(const cb_frame *f, cb_operand *operands,
                                               cubed_error *err);

/* Sets an operand's box and shape from the blocks of the symbols, and a block without data. */
void cb_operand_set(cb_operand *x, cubed_block *block, const cb_block_operand *of,
                    const int64_t *index);
/* Loads the block of input i at r->index, unless it is already loaded. */
CUBED_MUST_CHECK cubed_status cb_operand_bring(cb_operands *r, int i, cubed_error *err);
/* Writes the block of an output of the operation, or copies it to the caller's memory. */
CUBED_MUST_CHECK cubed_status cb_operand_write(const cb_operands *r, int out, cubed_error *err);

#endif
