/* Holds of places with another silence than that of all runs. */
#ifndef CB_RUN_HOLD_H
#define CB_RUN_HOLD_H

#include "cubed/run.h"

/* cubed_place_hold, which counts as gone after `silence` seconds without a beat. */
CUBED_MUST_CHECK cubed_status cb_place_hold(cubed_context *ctx, const char *url, int64_t silence,
                                            cubed_hold **out, cubed_error *err);

#endif
