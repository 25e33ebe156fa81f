/* A request for a plan: parameters for making plans repeatedly until one fits, and comparisons with plans that have more
 * memory. */
#ifndef CB_OPT_REQUEST_H
#define CB_OPT_REQUEST_H

#include "plan/plan.h"

typedef struct cb_request {
    cubed_context *ctx;
    const cubed_target *targets;
    int ntargets;
    const cubed_plan_options *options;
    int num_groups; /* number of groups in the options; the plan's own groups come first */
    /* Last plan that opened its sources, which the next plan shares. Holds a reference; NULL: no plan yet. */
    cubed_plan *last;
    /* Size in bytes of the largest object of each copied group, owned by cubed_plan_new; NULL: not known yet. */
    uint64_t *largest;
} cb_request;

/* Makes a plan within the limits of the options. CUBED_E_BUDGET, among other causes, if a worker has too little memory for an
 * object of an array that is copied unchanged; only the first call of a request opens and lists their stores. */
CUBED_MUST_CHECK cubed_status cb_opt_plan(cb_request *q, cubed_plan **out, cubed_error *err);

/* Frees temporary data of a request. */
void cb_opt_end_request(cb_request *q);
/* Adds to the error of a refused plan an amount of memory with which all of `n` plans could be made: err->enough_mem, and
 * the end of the message. err->enough_mem is the first guess.
 *
 * q  the requests of plans that run one after another, with the same context and options; their targets are one array */
void cb_opt_advise(cb_request *q, int n, cubed_error *err);
/* Records in a plan that moves its data more than ten times whether somewhat more memory would avoid most of it. Makes at
 * most two more plans, with 10 and 25 % more memory, and the second one only if the first took less than 200 ms of
 * processor time. */
void cb_opt_note_cliff(cb_request *q, cubed_plan *p);

#endif
