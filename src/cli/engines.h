/* --engine and --engine-option: runs as jobs of batch systems (src/batch), see cmd_submit.c. */
#ifndef CUBED_CLI_ENGINES_H
#define CUBED_CLI_ENGINES_H

#include "batch/batch.h"
#include "cli.h"

/* Handle --engine and --engine-option of a verb; return an exit code. `text` is modified. */
int engine_choose(const char *verb, const char *name, batch_choice *c);
int engine_add_option(const char *verb, char *text, batch_choice *c);
/* Checks that the system supports the options, and that required ones are given. */
int engine_check(const char *verb, const batch_choice *c);
/* Checks that the system runs plans directly; `cubed submit` is for all others. `detach`: also without this process. */
int engine_check_run(const char *verb, const batch_choice *c, bool detach);
/* Runs a plan, with all of its data in a directory in its work directory. `detach`: does not wait for it. `workers` 0: the
 * plan's. Returns an exit code. */
int engine_run(const char *verb, const batch_choice *c, const cubed_plan *plan, unsigned workers,
               bool detach);

#endif
