/* Compares the memory needs of a plan with its limits. */
#ifndef CB_EXEC_LIMITS_H
#define CB_EXEC_LIMITS_H

#include "context/context.h"
#include "plan/plan.h"

/* Formats a number of bytes as a string such as "1.5 GB". */
void cb_format_bytes(uint64_t n, char text[32]);

static inline uint64_t cb_need_total(cb_need n) { return cb_sat_add(n.arena, n.library); }
/* Returns the number of bytes that a worker uses in addition to reserved_mem: the sum of its largest task, the plan's metadata,
 * and buffers of prefetched chunks. */
static inline uint64_t cb_plan_worker_mem(const cubed_plan *p)
{
    return cb_sat_add(cb_sat_add(cb_need_total(p->need), p->metadata_mem), p->fetch_bytes);
}

/* Returns the memory in bytes of a machine that runs workers, or 0 if it is unknown. */
static inline uint64_t cb_machine_of(const cubed_context *ctx, const cubed_plan_options *o)
{
    return o->other_machines ? o->machine_mem : ctx->machine_memory;
}
/* Returns the maximum number of workers that run on one machine. */
static inline unsigned cb_machine_workers(const cubed_plan *p)
{
    const unsigned most = p->machine_workers;
    return most && most < p->max_workers ? most : p->max_workers;
}
/* Returns the smallest allowed_mem, in bytes, with which a worker has `bytes` in addition to its reserved memory. */
uint64_t cb_plan_allowance_for(const cubed_plan *p, uint64_t bytes);
/* Fails with CUBED_E_BUDGET if `workers` workers may use more than this machine has. */
CUBED_MUST_CHECK cubed_status cb_plan_check_here(const cubed_plan *p, unsigned workers,
                                                 cubed_error *err);
/* Fails with CUBED_E_BUDGET if a worker needs more than is allowed, or all workers may use more than the machine has. */
CUBED_MUST_CHECK cubed_status cb_plan_check_limits(const cubed_plan *p, cubed_error *err);
/* Some formats of sources (kerchunk references, Icechunk) store the locations of chunks in separate objects. Reads these
 * locations for the chunks that the stages read. Requires compiled stages. */
CUBED_MUST_CHECK cubed_status cb_plan_know_chunks(cubed_plan *p, cubed_error *err);
/* Returns the size in bytes of the tables that a run keeps about nodes, targets, stages, chunks and waiting tasks
 * (CB_RUN_NODE_BYTES and the following constants). */
uint64_t cb_plan_run_bytes(const cubed_plan *p);
/* Returns the bytes of the plan, of the arrays that it was made from and of a run's tables. Requires projected stages. */
uint64_t cb_plan_metadata(const cubed_plan *p);
/* Like cb_plan_metadata, but assumes that the maximum number of tasks wait for chunks at the same time. A copy through several
 * passes can have that many waiting tasks. Requires projected stages. */
uint64_t cb_plan_most_metadata(const cubed_plan *p);
/* reserved_mem covers the first bytes of a plan's metadata. The remaining metadata counts in addition to reserved_mem.
 *
 * CB_PLAN_FREE_BYTES          bytes of metadata that every reserved_mem covers
 * cb_plan_uncounted_metadata  the bytes that this reserved_mem covers: the maximum of CB_PLAN_FREE_BYTES and reserved_mem / 4
 * cb_plan_counted_metadata    the bytes of `metadata` that reserved_mem does not cover */
#define CB_PLAN_FREE_BYTES ((uint64_t)4 << 20)
uint64_t cb_plan_uncounted_metadata(uint64_t reserved_mem);
uint64_t cb_plan_counted_metadata(uint64_t metadata, uint64_t reserved_mem);
/* Returns the bytes of allowed_mem that remain after reserved memory, metadata, the largest task and prefetches: of one worker,
 * or the sum over all workers if `all` is set. */
static inline uint64_t cb_plan_spare(const cubed_plan *p, bool all)
{
    uint64_t each = p->allowed_mem - p->reserved_mem - p->metadata_mem - cb_need_total(p->need) -
                    p->fetch_bytes;
    return all ? p->max_workers * each : each;
}
/* Divides the memory that tasks do not need between intermediates, cached chunks and prefetched chunks. */
void cb_plan_share_out(cubed_plan *p);

#endif
