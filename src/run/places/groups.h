/* Groups around results, and arrays that are copied as they are: made when results are there. */
#ifndef CB_RUN_GROUPS_H
#define CB_RUN_GROUPS_H

#include "plan/plan.h"
#include "zarr/zarr.h"

typedef struct cb_groups {
    const cb_plan_group *list;
    int n;
    bool durable;
    uint64_t memory;            /* for objects that are copied */
    const cb_zarr_fence *fence; /* of the run; NULL: none */
    /* As `fence->check`, with its ctx. *when: by the service's clock, see cubed_object_info.replied; 0 if it is not known. */
    cubed_status (*look)(const void *ctx, int64_t *when, cubed_error *err);
} cb_groups;

/* Whether copies have a place. `resume`: one that an earlier attempt has left there is made again. */
CUBED_MUST_CHECK cubed_status cb_groups_check(cubed_context *ctx, const cb_plan_group *list, int n,
                                              bool resume, cubed_error *err);
/* In their order. */
CUBED_MUST_CHECK cubed_status cb_groups_make(cubed_context *ctx, const cb_groups *groups,
                                             cubed_error *err);

#endif
