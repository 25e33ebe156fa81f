/* Functions on whole blocks, with gathered inputs: ranges that another input lists. */
#ifndef CB_OPS_BLOCKWISE_H
#define CB_OPS_BLOCKWISE_H

#include "cubed/blockwise.h"
#include "plan/blockwise.h"

/* Like cubed_blockwise, with an entry of `gathers` for each input; NULL if no input is gathered. A gathered input must be
 * an output of a function on blocks that nothing else reads, with chunks of extent 1 along the other axes. */
CUBED_MUST_CHECK cubed_status cb_blockwise_gather(cubed_context *ctx,
                                                  const cubed_block_operation *op,
                                                  const cb_gather *gathers, cubed_array **outs,
                                                  cubed_error *err);

#endif
