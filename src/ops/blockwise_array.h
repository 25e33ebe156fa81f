/* Calls of functions on whole blocks with two special kinds of inputs. From a gathered input, a call gets ranges of elements
 * that depend on data (cb_gather). From an input with a reach, it gets a box that an affine map of the output block covers
 * (cb_reach). */
#ifndef CB_OPS_BLOCKWISE_H
#define CB_OPS_BLOCKWISE_H

#include "cubed/blockwise.h"
#include "plan/blockwise.h"

/* Like cubed_blockwise, but some inputs are gathered: gathers[i] describes input i (cb_gather). `gathers` is NULL if no input is
 * gathered. A gathered input must be an output of a function on blocks, and have chunks of extent 1 along all axes except the
 * gathered axis. No other array may read a gathered input. */
CUBED_MUST_CHECK cubed_status cb_blockwise_gather(cubed_context *ctx,
                                                  const cubed_block_operation *op,
                                                  const cb_gather *gathers, cubed_array **outs,
                                                  cubed_error *err);
/* Like cubed_blockwise, but some inputs have a reach. An affine map (reaches[i]) maps the elements of a call's output block to
 * positions in input i. The call gets the elements around these positions (cb_reach). An input with a reach must have the
 * symbols, the blocks and the number of axes of the first output. If reaches[i] is NULL, a call gets one block of input i, which
 * the symbols select as in cubed_blockwise. */
CUBED_MUST_CHECK cubed_status cb_blockwise_reach(cubed_context *ctx,
                                                 const cubed_block_operation *op,
                                                 const cb_reach *const *reaches, cubed_array **outs,
                                                 cubed_error *err);

#endif
