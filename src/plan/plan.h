/* A whole plan: nodes, stages, limits. See cubed/plan.h. */
#ifndef CB_PLAN_PLAN_H
#define CB_PLAN_PLAN_H

#include <stdatomic.h>

#include "cubed/plan.h"
#include "plan/context.h"
#include "plan/ir.h"
#include "plan/stage.h"
#include "zarr/zarr.h"

/* What is needed to read or write chunks of a Zarr source or target; for an intermediate, the meta
 * under which it would be written to the work directory (raw bytes). */
typedef struct cb_storage {
    bool used;         /* this node is a Zarr source or is stored */
    cb_zarr_meta meta; /* strings in the plan's zone */
    cubed_store *store; /* sources: opened with the plan; others NULL until a run */
    cb_zarr_array *array;
} cb_storage;

struct cubed_plan {
    atomic_int refs;
    cubed_context *ctx;
    cb_ir ir;
    cb_storage *storage; /* one per node */
    int nstages;
    cb_stage *stages; /* inputs before users */
    uint64_t allowed_mem, reserved_mem;
    unsigned max_workers;
    const char *work_dir; /* in the zone; NULL: none */
    cb_need need;         /* of the largest task */
    uint64_t tier_budget;
    uint64_t result_bytes;
    uint8_t id[16]; /* of the blob: names the plan's files in the work directory */
};

/* Splits STORE::PATH; both parts are copied into the zone, PATH "" if there is none. */
CUBED_MUST_CHECK cubed_status cb_url_split(cb_zone *zone, const char *url, const char **store,
                                           const char **path, cubed_error *err);

#endif
