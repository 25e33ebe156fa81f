/* --engine and --engine-option: runs as jobs of batch systems (src/batch), see cmd_submit.c. */
#ifndef CUBED_CLI_ENGINES_H
#define CUBED_CLI_ENGINES_H

#include "batch/batch.h"
#include "cli.h"

/* --engine and --engine-option of a verb, an exit code each; `text` is cut. */
int engine_choose(const char *verb, const char *name, batch_choice *c);
int engine_add_option(const char *verb, char *text, batch_choice *c);
/* Whether the system knows the options, and has those that it needs. */
int engine_check(const char *verb, const batch_choice *c);
/* Whether it runs plans by itself: `cubed submit` is for all others. `detach`: and goes on by itself. */
int engine_check_run(const char *verb, const batch_choice *c, bool detach);
/* Runs a plan, of which a directory in its work directory has all that there is to know. `detach`: does not wait for
 * it. `workers` 0: the plan's. An exit code. */
int engine_run(const char *verb, const batch_choice *c, const cubed_plan *plan, unsigned workers,
               bool detach);

#endif
