/* Functions on whole blocks, whose inputs are gathered, or reached by an affine map. */
#ifndef CB_OPS_BLOCKWISE_H
#define CB_OPS_BLOCKWISE_H

#include "cubed/blockwise.h"
#include "plan/blockwise.h"

/* Makes arrays by calling a function once for each combination of blocks, as cubed_blockwise does. Some inputs are gathered:
 * `gathers` has an entry for each input, and is NULL if no input is gathered. A gathered input must be an output of a function on
 * blocks that nothing else reads, with chunks of extent 1 along the other axes. */
CUBED_MUST_CHECK cubed_status cb_blockwise_gather(cubed_context *ctx,
                                                  const cubed_block_operation *op,
                                                  const cb_gather *gathers, cubed_array **outs,
                                                  cubed_error *err);
/* Makes arrays by calling a function once for each combination of blocks, as cubed_blockwise does. `reaches` has an entry for
 * each input: the function gets more than one block of that input. NULL: the input is divided by symbols. An input with a reach
 * has the symbols and blocks of the first output, and as many axes. */
CUBED_MUST_CHECK cubed_status cb_blockwise_reach(cubed_context *ctx,
                                                 const cubed_block_operation *op,
                                                 const cb_reach *const *reaches, cubed_array **outs,
                                                 cubed_error *err);

#endif
