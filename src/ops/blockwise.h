/* Functions on whole blocks, some of whose inputs are gathered: ranges that another input names. */
#ifndef CB_OPS_BLOCKWISE_H
#define CB_OPS_BLOCKWISE_H

#include "cubed/blockwise.h"
#include "plan/blockwise.h"

/* cubed_blockwise with an entry of `gathers` for each input. Gathered ones must be results of functions on
 * blocks that nobody else sees, with chunks of extent 1 along the other axes. */
CUBED_MUST_CHECK cubed_status cb_blockwise_gather(cubed_context *ctx, const char *function,
                                                  const void *params, size_t params_size,
                                                  const cubed_block_input *inputs,
                                                  const cb_gather *gathers, int nin,
                                                  const cubed_block_output *outputs, int nout,
                                                  cubed_array **outs, cubed_error *err);

#endif
