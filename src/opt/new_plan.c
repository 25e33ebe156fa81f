/* Creates plans. Also checks the arrays that the run copies, and adds recommendations to errors of refused plans. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "opt/opt.h"
#include "opt/plan_request.h"

cubed_status cubed_plan_new(cubed_context *ctx, const cubed_target *targets, int ntargets,
                            const cubed_plan_options *options, cubed_plan **out, cubed_error *err)
{
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("plan", options, &o, err));
    cb_request q = {ctx, targets, ntargets, &o, o.num_groups, NULL, NULL};
    cubed_plan *p = NULL;
    cubed_status st = cb_opt_plan(&q, &p, err);
    if (st == CUBED_OK)
        cb_opt_note_cliff(&q, p);
    else if (st == CUBED_E_BUDGET && err && err->enough_mem > 0)
        cb_opt_advise(&q, 1, err);
    cb_opt_end_request(&q);
    if (st == CUBED_OK)
        *out = p;
    else
        cubed_plan_unref(p);
    return st;
}

cubed_status cubed_plan_check(cubed_context *ctx, const cubed_target *targets, const int *counts,
                              int nplans, const cubed_plan_options *options, cubed_error *err)
{
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("plan", options, &o, err));
    if (nplans < 0) return cb_fail(err, CUBED_E_ARG, "%d plans, expected 0 or more", nplans);
    cb_request *q = cb_alloc(&ctx->alloc, (size_t)nplans * sizeof *q + 1);
    if (!q) return cb_fail(err, CUBED_E_NOMEM, "no memory for the plan");
    for (int i = 0; i < nplans; i++) {
        q[i] = (cb_request){ctx, targets, counts[i], &o, 0, NULL, NULL};
        targets += counts[i];
    }
    if (nplans > 0) q[nplans - 1].num_groups = o.num_groups;
    cubed_status st = CUBED_OK;
    for (int i = 0; i < nplans && st == CUBED_OK; i++) {
        cubed_plan *p = NULL;
        st = cb_opt_plan(&q[i], &p, err);
        cubed_plan_unref(p);
    }
    if (st == CUBED_E_BUDGET && err && err->enough_mem > 0) cb_opt_advise(q, nplans, err);
    for (int i = 0; i < nplans; i++) cb_opt_end_request(&q[i]);
    cb_free(&ctx->alloc, q, (size_t)nplans * sizeof *q + 1);
    return st;
}
