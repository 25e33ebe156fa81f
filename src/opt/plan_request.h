/* A request for a plan: the arguments of cubed_plan_new. The same request can be planned repeatedly with other amounts of
 * memory, to advise how much memory is enough or worthwhile. */
#ifndef CB_OPT_REQUEST_H
#define CB_OPT_REQUEST_H

#include "plan/plan.h"

typedef struct cb_request {
    cubed_context *ctx;
    const cubed_target *targets;
    int ntargets;
    const cubed_plan_options *options;
    int num_groups; /* number of groups in the options; the plan's own groups come first */
    /* The last plan that opened its sources; the next plan uses the same open sources. Holds a reference; NULL: no plan yet. */
    cubed_plan *last;
    /* Size in bytes of the largest object of each copied group, owned by cubed_plan_new; NULL: not known yet. */
    uint64_t *largest;
} cb_request;

/* Creates a plan within the limits of the options. CUBED_E_BUDGET if it does not fit. One cause is that a worker has too little
 * memory for an object of an array that is copied unchanged. Only the first call for a request lists the objects of such
 * arrays. */
CUBED_MUST_CHECK cubed_status cb_opt_plan(cb_request *q, cubed_plan **out, cubed_error *err);

/* Frees temporary data of a request. */
void cb_opt_end_request(cb_request *q);
/* Adds to the error of a refused plan an amount of memory with which all of `n` plans could be made: err->enough_mem, and
 * the end of the message. On entry, err->enough_mem is the first guess.
 *
 * q  the requests of plans that run one after another, with the same context and options; their targets are one array */
void cb_opt_advise(cb_request *q, int n, cubed_error *err);
/* If a plan moves its data more than ten times, finds out whether somewhat more memory would avoid most of these moves, and
 * records the result in the plan. For this, makes at most two plans, with 10 % and 25 % more memory; the second only if the
 * first was not enough and needed less than 200 ms of processor time. */
void cb_opt_note_cliff(cb_request *q, cubed_plan *p);

#endif
