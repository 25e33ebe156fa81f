/* Declarations shared by the files for runs in parts. */
#ifndef CB_RUN_PARTS_H
#define CB_RUN_PARTS_H

#include "run/places/io.h"

/* Checks that workers can run the plan if they know only its bytes, the run's name and the work directory. */
CUBED_MUST_CHECK cubed_status cb_run_check_parts(const cubed_plan *plan, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_run_check_retries(int retries, cubed_error *err);
/* Opens storage for a part of the run with that name. */
CUBED_MUST_CHECK cubed_status cb_parts_open(cubed_plan *plan, cb_io_mode mode, const char *run,
                                            cb_io **io, cubed_error *err);

/* Calls the function `ended` of each function on blocks of the plan. Call it after the last task. */
void cb_run_say_ended(const cubed_plan *plan);

#endif
