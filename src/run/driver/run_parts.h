/* Functions for runs in parts: runs without a driver, which several processes begin, execute and finish (cubed_run_begin and the
 * following functions). */
#ifndef CB_RUN_PARTS_H
#define CB_RUN_PARTS_H

#include "run/places/io.h"

/* Checks that workers can run the plan if they know only its bytes, the run's name and the work directory. */
CUBED_MUST_CHECK cubed_status cb_run_check_parts(const cubed_plan *plan, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_run_check_retries(int retries, cubed_error *err);
/* Opens the stores of a run for one of its parts. `mode` is the part, `run` the name of the run. */
CUBED_MUST_CHECK cubed_status cb_parts_open(cubed_plan *plan, cb_io_mode mode, const char *run,
                                            cb_io **io, cubed_error *err);

/* Calls the member `ended` of the plan's block functions. Call it after the last task of the run. */
void cb_run_say_ended(const cubed_plan *plan);

#endif
