/* Operands (inputs and outputs) of stages that call functions on whole blocks. A task computes one block of every output. Input
 * blocks are evaluated into dense buffers (tiles), or are chunks that are used in place. A block that several successive calls
 * use is loaded once. A block at the end of an array may be smaller than its chunk. It is packed or unpacked in place, so that
 * block and chunk share one buffer. */
#ifndef CB_EXEC_OPERANDS_H
#define CB_EXEC_OPERANDS_H

#include "exec/vm/frames.h"

/* Gets the elements of an operand that several calls use. Symbols name the axes of operands; first[s] and last[s] are the first
 * and the last block along symbol s. The elements include the operand's halo or reach. */
void cb_block_box(const cb_block_operand *x, const int64_t *first, const int64_t *last,
                  cb_box *elements);
/* Returns the blocks over which a task iterates: a box with one axis for each symbol. A contracted symbol (an axis of inputs that
 * no output has) has all its blocks. All other symbols have block 0 only. The box is empty if a contracted symbol has no
 * blocks. */
cb_box cb_block_contracted(const cb_stage_call *c);
/* Returns true if each call of a task reads the block of this output that the previous call wrote. Such an output needs memory
 * even if the plan does not use it. */
bool cb_block_is_carried(const cb_stage_call *c, int out);
/* Return the maximum size in bytes of the buffer for a block of an input or output of the operation. */
size_t cb_block_in_bytes(const cubed_plan *p, const cb_stage *s, int in);
size_t cb_block_out_bytes(const cubed_plan *p, const cb_stage *s, int out);
/* Returns the number of bytes that are decoded each time that all blocks of an input are read. Sets *times to the number of
 * times that the stage reads all blocks. */
uint64_t cb_block_input_reads(const cubed_plan *p, const cb_stage *s, int in, uint64_t *times);
/* Finds out whether a function on whole blocks supports the blocks of an operation, and how much memory it needs. Describes the
 * blocks to the function; the description is allocated in the zone. */
CUBED_MUST_CHECK cubed_status cb_block_ask(cb_zone *zone, const cubed_block_fn *fn, void *fn_ctx,
                                           const cb_blockwise *op, const cb_symbols *symbols,
                                           cubed_block_need *need, cubed_error *err);

/* --- For op_call.c and op_pick.c ------------------------------------------------------------------- */

/* Functions that the operators "call" and "pick" use in their members `compile`, `prepare` and `reads` (exec/plan/operator.h).
 * cb_operands_compile compiles the operation with its outputs and inputs. The operator compiles the remaining parts of the
 * stage. */
CUBED_MUST_CHECK cubed_status cb_operands_compile(cubed_plan *p, cb_stage *s, cubed_error *err);
void cb_operands_prepare(const cubed_plan *p, cb_stage *s);
CUBED_MUST_CHECK cubed_status cb_operands_read(const cubed_plan *p, const cb_stage *s,
                                               const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                               cubed_error *err);

/* An operand (input or output) in the current call of the function. A task calls the function once for each block that it
 * visits. */
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
/* Allocate buffers for the blocks of the inputs (cb_inputs_frame) or outputs (cb_results_frame). If the arena measures, these
 * functions also measure the memory for loading the inputs, or for writing the outputs. */
CUBED_MUST_CHECK cubed_status cb_inputs_frame(const cb_frame *f, cb_operand *operands,
                                              cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_results_frame(const cb_frame *f, cb_operand *operands,
                                               cubed_error *err);

/* Sets an operand's box and shape for a call, and *block to a description of this box without data.
 *
 * of     the operand in the operation
 * index  index of the block along each symbol */
void cb_operand_set(cb_operand *x, cubed_block *block, const cb_block_operand *of,
                    const int64_t *index);
/* Loads the block of input i at r->index, unless it is already loaded. */
CUBED_MUST_CHECK cubed_status cb_operand_bring(cb_operands *r, int i, cubed_error *err);
/* Writes the block of an output to its store, or copies it into the user's memory if the result is requested there. `out` is the
 * number of the output in the operation. */
CUBED_MUST_CHECK cubed_status cb_operand_write(const cb_operands *r, int out, cubed_error *err);

#endif
