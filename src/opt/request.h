/* What plans are made of until one fits, and what is known of plans with more memory. */
#ifndef CB_OPT_REQUEST_H
#define CB_OPT_REQUEST_H

#include "plan/plan.h"

typedef struct cb_request {
    cubed_context *ctx;
    const cubed_target *targets;
    int ntargets;
    const cubed_plan_options *options;
    /* The last plan that opened its sources, which the next one shares; referenced. NULL: none. */
    cubed_plan *last;
} cb_request;

/* The plan within the limits of the options. */
CUBED_MUST_CHECK cubed_status cb_opt_plan(cb_request *q, cubed_plan **out, cubed_error *err);
/* CUBED_E_BUDGET if a worker has no room for an object of the arrays that are copied as they are. */
CUBED_MUST_CHECK cubed_status cb_opt_check_copies(const cubed_plan *p, cubed_error *err);

/* Adds to the error of a refused plan an allowance with which a plan was made: err->enough_mem, and the end of the
 * message. err->enough_mem is the first guess. */
void cb_opt_advise(cb_request *q, cubed_error *err);
/* Notes in a plan that moves its data more than ten times if somewhat more memory would spare most of it. */
void cb_opt_note_cliff(cb_request *q, cubed_plan *p);

#endif
