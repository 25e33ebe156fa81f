/* Stages that apply a function to whole blocks.
 *
 * A task makes one block of every output. For each combination of the contracted symbols' blocks, in
 * C order, it evaluates the inputs' blocks into dense tiles and calls the function, which adds to the
 * output's blocks. Input blocks that stay the same from call to call are kept. */
#ifndef CB_EXEC_BLOCK_STAGE_H
#define CB_EXEC_BLOCK_STAGE_H

#include "plan/plan.h"

/* What exec/block_run.c keeps for each operand; it asserts it. */
#define CB_BLOCK_OPERAND_BYTES ((size_t)896)

/* The parts of cb_stage_compile, cb_stage_project and cb_stage_task_reads. */
CUBED_MUST_CHECK cubed_status cb_block_compile(cubed_plan *p, cb_stage *s, cubed_error *err);
void cb_block_project(const cubed_plan *p, cb_stage *s);
CUBED_MUST_CHECK cubed_status cb_block_task_reads(const cubed_plan *p, const cb_stage *s,
                                                  const cb_box *kept, cb_chunks_fn fn, void *ctx,
                                                  cubed_error *err);

/* An operand's elements in the call with these blocks of the symbols, given as a range of them. */
void cb_block_box(const cb_block_operand *x, const int64_t *first, const int64_t *last,
                  cb_box *elements);
/* The blocks of the contracted symbols: a box over symbols, the kept ones at 0. Empty if there are
 * none. */
cb_box cb_block_contracted(const cb_stage_call *c);
/* Whether an output has memory also where nobody wants it. */
bool cb_block_is_carried(const cb_stage_call *c, int out);
/* Bytes of the tile of an input or output of the operation; at most. */
size_t cb_block_in_bytes(const cubed_plan *p, const cb_stage *s, int in);
size_t cb_block_out_bytes(const cubed_plan *p, const cb_stage *s, int out);
/* Bytes decoded when all blocks of an input are visited once, and how many times they are. */
uint64_t cb_block_input_reads(const cubed_plan *p, const cb_stage *s, int in, uint64_t *times);
/* Asks a function whether it can work on the blocks of an operation, and what that takes. What it is
 * shown is made in the zone. */
CUBED_MUST_CHECK cubed_status cb_block_ask(cb_zone *zone, const cubed_block_fn *fn, void *fn_ctx,
                                           const cb_blockwise *op, const cb_symbols *symbols,
                                           cubed_block_need *need, cubed_error *err);

#endif
