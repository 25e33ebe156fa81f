/* Suggestions ("did you mean") for places that do not exist. */
#ifndef CUBED_CLI_NEAR_H
#define CUBED_CLI_NEAR_H

#include "cubed/cubed.h"

/* Returns `st`. If there is no array or group at the URL, adds the most similar existing name to the message. */
cubed_status near_place(cubed_context *ctx, const char *url, cubed_status st, cubed_error *err);

#endif
