/* What plans are made of until one fits, and what is known of plans with more memory. */
#ifndef CB_OPT_REQUEST_H
#define CB_OPT_REQUEST_H

#include "plan/plan.h"

typedef struct cb_request {
    cubed_context *ctx;
    const cubed_target *targets;
    int ntargets;
    const cubed_plan_options *options;
    int num_groups; /* of those of the options, the first ones that the plan makes */
    /* The last plan that opened its sources, which the next one shares; referenced. NULL: none. */
    cubed_plan *last;
    /* Bytes of the largest object of each group that is copied, owned by cubed_plan_new; NULL: not known yet. */
    uint64_t *largest;
} cb_request;

/* The plan within the limits of the options. CUBED_E_BUDGET also if a worker has no room for an object of the arrays that are
 * copied as they are: only the first call of a request opens and lists their stores. */
CUBED_MUST_CHECK cubed_status cb_opt_plan(cb_request *q, cubed_plan **out, cubed_error *err);

/* Frees what planning left in a request. */
void cb_opt_end_request(cb_request *q);
/* Adds to the error of a refused plan an allowance with which all of `n` plans were made: err->enough_mem, and the end of
 * the message. err->enough_mem is the first guess.
 *
 * q  the requests of plans that run one after another, with the same context and options; their targets are one array */
void cb_opt_advise(cb_request *q, int n, cubed_error *err);
/* Notes in a plan that moves its data more than ten times if somewhat more memory would spare most of it. Makes at most two
 * more plans: with 10 and 25 % more memory. Makes the second one only if the first took less than 200 ms of processor time. */
void cb_opt_note_cliff(cb_request *q, cubed_plan *p);

#endif
