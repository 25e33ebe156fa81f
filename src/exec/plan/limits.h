/* A plan's needs beside its limits. */
#ifndef CB_EXEC_LIMITS_H
#define CB_EXEC_LIMITS_H

#include "context/context.h"
#include "plan/plan.h"

/* "1.5 GB". */
void cb_format_bytes(uint64_t n, char text[32]);

static inline uint64_t cb_need_total(cb_need n) { return cb_sat_add(n.arena, n.library); }
/* Bytes that a worker uses in addition to reserved_mem: for its largest task, the plan, and what is fetched ahead. */
static inline uint64_t cb_plan_worker_mem(const cubed_plan *p)
{
    return cb_sat_add(cb_sat_add(cb_need_total(p->need), p->metadata_mem), p->fetch_bytes);
}

/* What the machine has that workers run on; 0: not known. */
static inline uint64_t cb_machine_of(const cubed_context *ctx, const cubed_plan_options *o)
{
    return o->other_machines ? o->machine_mem : ctx->machine_memory;
}
/* Workers that share a machine. */
static inline unsigned cb_machine_workers(const cubed_plan *p)
{
    const unsigned most = p->machine_workers;
    return most && most < p->max_workers ? most : p->max_workers;
}
/* The least allowed_mem that leaves so many bytes in addition to the reserved memory. */
uint64_t cb_plan_allowance_for(const cubed_plan *p, uint64_t bytes);
/* CUBED_E_BUDGET if so many workers may use more than this machine has. */
CUBED_MUST_CHECK cubed_status cb_plan_check_here(const cubed_plan *p, unsigned workers,
                                                 cubed_error *err);
/* CUBED_E_BUDGET if a worker needs more than is allowed, or all workers may use more than the machine has. */
CUBED_MUST_CHECK cubed_status cb_plan_check_limits(const cubed_plan *p, cubed_error *err);
/* Reads where chunks lie that the plan's stages, which are compiled, read of files that refer to others. */
CUBED_MUST_CHECK cubed_status cb_plan_know_chunks(cubed_plan *p, cubed_error *err);
/* Bytes of a run's tables (CB_RUN_NODE_BYTES and others). */
uint64_t cb_plan_run_bytes(const cubed_plan *p);
/* Bytes of the plan, of the arrays that it was made of and of a run's tables. Stages are projected. */
uint64_t cb_plan_metadata(const cubed_plan *p);
/* The same, however many tasks come to wait for chunks when passes are put into a copy. */
uint64_t cb_plan_most_metadata(const cubed_plan *p);
/* The part of the metadata that reserved_mem covers: a quarter of it, or what any process has room for; and the part
 * that is counted beside it. */
#define CB_PLAN_FREE_BYTES ((uint64_t)4 << 20)
uint64_t cb_plan_uncounted_metadata(uint64_t reserved_mem);
uint64_t cb_plan_counted_metadata(uint64_t metadata, uint64_t reserved_mem);
/* Memory that projections leave: of all workers, or of each. */
static inline uint64_t cb_plan_spare(const cubed_plan *p, bool all)
{
    uint64_t each = p->allowed_mem - p->reserved_mem - p->metadata_mem - cb_need_total(p->need) -
                    p->fetch_bytes;
    return all ? p->max_workers * each : each;
}
/* Shares out what projections leave: to intermediates, and to chunks that are worth keeping. */
void cb_plan_share_out(cubed_plan *p);

#endif
