/* Draws results as plots, in image files. */
#ifndef CUBED_CLI_PICTURE_H
#define CUBED_CLI_PICTURE_H

#include "cli.h"

/* Checks that a Python that can draw is available; otherwise reports the missing module and returns an exit code. */
int picture_check(const char *verb);
/* Draws the arrays of `store` as a plot. Removes the store, even after an error.
 *
 * draft  path of the file that is written
 * file   path of the result, for messages */
cubed_status picture_draw(const cli_picture *p, cubed_context *ctx, const char *store,
                          const char *draft, const char *file, cubed_error *err);

#endif
