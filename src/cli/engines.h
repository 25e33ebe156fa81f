/* The options --engine and --engine-option, which run plans as jobs of batch systems (src/batch). cmd_submit.c implements
 * them. */
#ifndef CUBED_CLI_ENGINES_H
#define CUBED_CLI_ENGINES_H

#include "batch/batch.h"
#include "cli.h"

/* Store the values of --engine (`name`) and --engine-option (`text`, which is modified) in *c. Return an exit code. `verb`
 * is the subcommand, for messages. */
int engine_choose(const char *verb, const char *name, batch_choice *c);
int engine_add_option(const char *verb, char *text, batch_choice *c);
/* Checks that the chosen batch system supports all given options, and that its required options are given. */
int engine_check(const char *verb, const batch_choice *c);
/* Checks that machines of the chosen system can access directories of this machine; if not, `cubed submit` must be used.
 * If `detach`, also checks that its runs continue after the end of this process. */
int engine_check_run(const char *verb, const batch_choice *c, bool detach);
/* Runs a plan on the chosen system. Writes the plan and the scripts of the run to a new directory inside the plan's work
 * directory. Returns an exit code, at the end of the run or, if `detach`, after its start. If `workers` is 0, the run has
 * as many workers as the plan. Array tasks with transient failures are retried up to `retries` times. */
int engine_run(const char *verb, const batch_choice *c, const cubed_plan *plan, unsigned workers,
               int retries, bool detach);

#endif
