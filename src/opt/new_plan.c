/* Plans as programs ask for them: made, checked for what the run copies, or refused with advice. */
#include "base/error.h"
#include "base/struct_size.h"
#include "opt/opt.h"
#include "opt/plan_request.h"

cubed_status cubed_plan_new(cubed_context *ctx, const cubed_target *targets, int ntargets,
                            const cubed_plan_options *options, cubed_plan **out, cubed_error *err)
{
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    CB_TRY(CB_OPTIONS_TAKE("plan", options, &o, err));
    cb_request q = {ctx, targets, ntargets, &o, NULL, NULL};
    cubed_plan *p = NULL;
    cubed_status st = cb_opt_plan(&q, &p, err);
    if (st == CUBED_OK) st = cb_opt_check_copies(&q, p, err);
    if (st == CUBED_OK)
        cb_opt_note_cliff(&q, p);
    else if (st == CUBED_E_BUDGET && err && err->enough_mem > 0)
        cb_opt_advise(&q, err);
    cb_opt_end_request(&q);
    if (st == CUBED_OK)
        *out = p;
    else
        cubed_plan_unref(p);
    return st;
}
