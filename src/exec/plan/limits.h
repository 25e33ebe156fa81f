/* Compares the memory needs of a plan with its limits. */
#ifndef CB_EXEC_LIMITS_H
#define CB_EXEC_LIMITS_H

#include "context/context.h"
#include "plan/plan.h"

/* Formats bytes, such as "1.5 GB". */
void cb_format_bytes(uint64_t n, char text[32]);

static inline uint64_t cb_need_total(cb_need n) { return cb_sat_add(n.arena, n.library); }
/* Returns the number of bytes that a worker uses in addition to reserved_mem: for its largest task, the plan, and prefetches. */
static inline uint64_t cb_plan_worker_mem(const cubed_plan *p)
{
    return cb_sat_add(cb_sat_add(cb_need_total(p->need), p->metadata_mem), p->fetch_bytes);
}

/* Returns the memory of the machine that workers run on; 0: unknown. */
static inline uint64_t cb_machine_of(const cubed_context *ctx, const cubed_plan_options *o)
{
    return o->other_machines ? o->machine_mem : ctx->machine_memory;
}
/* Returns the number of workers per machine. */
static inline unsigned cb_machine_workers(const cubed_plan *p)
{
    const unsigned most = p->machine_workers;
    return most && most < p->max_workers ? most : p->max_workers;
}
/* Returns the smallest allowed_mem that leaves `bytes` in addition to the reserved memory. */
uint64_t cb_plan_allowance_for(const cubed_plan *p, uint64_t bytes);
/* Fails with CUBED_E_BUDGET if `workers` workers may use more than this machine has. */
CUBED_MUST_CHECK cubed_status cb_plan_check_here(const cubed_plan *p, unsigned workers,
                                                 cubed_error *err);
/* Fails with CUBED_E_BUDGET if a worker needs more than is allowed, or all workers may use more than the machine has. */
CUBED_MUST_CHECK cubed_status cb_plan_check_limits(const cubed_plan *p, cubed_error *err);
/* For sources in files that refer to chunks in other files, reads the locations of the chunks that the compiled stages read. */
CUBED_MUST_CHECK cubed_status cb_plan_know_chunks(cubed_plan *p, cubed_error *err);
/* Returns the bytes of a run's tables (CB_RUN_NODE_BYTES and others). */
uint64_t cb_plan_run_bytes(const cubed_plan *p);
/* Returns the bytes of the plan, of the arrays that it was made from and of a run's tables. Requires projected stages. */
uint64_t cb_plan_metadata(const cubed_plan *p);
/* Like cb_plan_metadata, if the maximum number of tasks waits for chunks. A copy that is split into passes can have so many
 * waiting tasks. Requires projected stages. */
uint64_t cb_plan_most_metadata(const cubed_plan *p);
/* Metadata that reserved_mem includes, and metadata that is counted in addition to it, in bytes. CB_PLAN_FREE_BYTES: every
 * reserved_mem includes this size. cb_plan_uncounted_metadata returns the size that the given reserved_mem includes:
 * CB_PLAN_FREE_BYTES, or a quarter of reserved_mem if that is more. cb_plan_counted_metadata returns the remaining size of
 * `metadata`, which is counted in addition. */
#define CB_PLAN_FREE_BYTES ((uint64_t)4 << 20)
uint64_t cb_plan_uncounted_metadata(uint64_t reserved_mem);
uint64_t cb_plan_counted_metadata(uint64_t metadata, uint64_t reserved_mem);
/* Returns the part of the allowed memory that the projections do not use: for each worker, or the sum over all workers if
 * `all` is set. */
static inline uint64_t cb_plan_spare(const cubed_plan *p, bool all)
{
    uint64_t each = p->allowed_mem - p->reserved_mem - p->metadata_mem - cb_need_total(p->need) -
                    p->fetch_bytes;
    return all ? p->max_workers * each : each;
}
/* Divides the free memory between intermediates, cached chunks and prefetched chunks. */
void cb_plan_share_out(cubed_plan *p);

#endif
