/* Zarr groups that contain results, and arrays that a run copies unchanged. Both are created when the results are complete. */
#ifndef CB_RUN_GROUPS_H
#define CB_RUN_GROUPS_H

#include "plan/plan.h"
#include "zarr/zarr.h"

typedef struct cb_groups {
    const cb_plan_group *list;
    int n;
    bool durable;
    uint64_t memory;            /* bytes that copies of objects may use */
    const cb_zarr_fence *fence; /* the run's fence; NULL: writes are not fenced */
    /* Checks that the run still owns its target; called with the ctx of `fence`. *when receives the time by the service's clock
     * (cubed_object_info.replied); 0 if unknown. */
    cubed_status (*look)(const void *ctx, int64_t *when, cubed_error *err);
} cb_groups;

/* Checks the locations to which arrays will be copied unchanged: none may have an array or a group, unless it may be overwritten.
 * If `resume` is set, copies of an earlier attempt may be replaced. */
CUBED_MUST_CHECK cubed_status cb_groups_check(cubed_context *ctx, const cb_plan_group *list, int n,
                                              bool resume, cubed_error *err);
/* Creates the groups, and copies the arrays, in the order of the list. */
CUBED_MUST_CHECK cubed_status cb_groups_make(cubed_context *ctx, const cb_groups *groups,
                                             cubed_error *err);

#endif
