/* Runs in parts: what their files share. */
#ifndef CB_RUN_PARTS_H
#define CB_RUN_PARTS_H

#include "run/places/io.h"

/* Whether workers that know its bytes, the run's name and the work directory alone can run the plan. */
CUBED_MUST_CHECK cubed_status cb_run_check_parts(const cubed_plan *plan, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_run_check_retries(int retries, cubed_error *err);
/* Storage as a part of the run of that name sees it. */
CUBED_MUST_CHECK cubed_status cb_parts_open(cubed_plan *plan, cb_io_mode mode, const char *run,
                                            cb_io **io, cubed_error *err);

#endif
