/* Functions on whole blocks, whose inputs are gathered, or reached by an affine map. */
#ifndef CB_OPS_BLOCKWISE_H
#define CB_OPS_BLOCKWISE_H

#include "cubed/blockwise.h"
#include "plan/blockwise.h"

/* Makes arrays by calling a function once for each combination of blocks, as cubed_blockwise does. Some inputs are gathered
 * (cb_gather): gathers[i] describes input i. `gathers` is NULL if no input is gathered. A gathered input must be an output of a
 * function on blocks that nothing else reads, with chunks of extent 1 along the other axes. */
CUBED_MUST_CHECK cubed_status cb_blockwise_gather(cubed_context *ctx,
                                                  const cubed_block_operation *op,
                                                  const cb_gather *gathers, cubed_array **outs,
                                                  cubed_error *err);
/* Makes arrays by calling a function once for each combination of blocks, as cubed_blockwise does. reaches[i] describes which
 * elements of input i a call gets: those around the positions to which an affine map sends the elements of its output block
 * (cb_reach). An input with a reach has the symbols and blocks of the first output, and as many axes. If reaches[i] is NULL, a
 * call gets one block of input i, which the symbols select. */
CUBED_MUST_CHECK cubed_status cb_blockwise_reach(cubed_context *ctx,
                                                 const cubed_block_operation *op,
                                                 const cb_reach *const *reaches, cubed_array **outs,
                                                 cubed_error *err);

#endif
