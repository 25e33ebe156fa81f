/* "did you mean" of places. */
#ifndef CUBED_CLI_NEAR_H
#define CUBED_CLI_NEAR_H

#include "cubed/cubed.h"

/* Returns `st`: where that is because there is no array or group at the URL, the message names the nearest that there is. */
cubed_status near_place(cubed_context *ctx, const char *url, cubed_status st, cubed_error *err);

#endif
