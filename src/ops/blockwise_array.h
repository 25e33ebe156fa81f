/* Functions on whole blocks, some of whose inputs are gathered: ranges that another input names. */
#ifndef CB_OPS_BLOCKWISE_H
#define CB_OPS_BLOCKWISE_H

#include "cubed/blockwise.h"
#include "plan/blockwise.h"

/* Like cubed_blockwise, with an entry of `gathers` for each input; NULL if none is gathered. Gathered inputs must be results
 * of functions on blocks that have no other reader, with chunks of extent 1 along the other axes. */
CUBED_MUST_CHECK cubed_status cb_blockwise_gather(cubed_context *ctx,
                                                  const cubed_block_operation *op,
                                                  const cb_gather *gathers, cubed_array **outs,
                                                  cubed_error *err);

#endif
