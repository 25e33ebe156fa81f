/* Statistics of a run: counts from reports of tasks and processes, and the totals at the end. */
#include "run/driver/run_stats.h"

#include "base/clock.h"
#include "base/error.h"
#include "exec/plan/limits.h"

void cb_run_finish_stats(const cubed_plan *plan, const cb_io *io, int64_t start_ns,
                         cubed_run_stats *stats)
{
    stats->seconds = (double)(cb_clock_ns() - start_ns) * 1e-9;
    stats->gb_seconds = stats->worker_seconds * (double)plan->allowed_mem * 1e-9;
    for (int i = 0; i < plan->nstages; i++) {
        const uint64_t need = cb_plan_projected(plan, &plan->stages[i]);
        if (need > stats->projected_mem) stats->projected_mem = need;
    }
    if (io) {
        stats->intermediate_peak = cb_chunks_intermediates(cb_io_chunks(io))->high_water;
        stats->intermediate_spilled = cb_chunks_spilled(cb_io_chunks(io));
    }
}

void cb_run_add_task(cubed_run_stats *stats, const cubed_task_report *r)
{
    stats->num_tasks++;
    stats->bytes_read += r->bytes_read;
    stats->bytes_written += r->bytes_written;
    stats->stored_read += r->stored_read;
    stats->stored_written += r->stored_written;
    if (r->measured_mem > stats->measured_mem) stats->measured_mem = r->measured_mem;
    if (r->function_mem > stats->function_mem) stats->function_mem = r->function_mem;
    if (r->cache_peak > stats->cache_peak) stats->cache_peak = r->cache_peak;
}

/* Counts the memory of a process. The code of a process is in memory once, even if it runs several tasks at the same time;
 * each of these tasks may use allowed_mem. */
void cb_run_add_process(const cubed_plan *plan, cubed_run_stats *stats, const cubed_task_report *r)
{
    if (r->process_mem > stats->process_mem) stats->process_mem = r->process_mem;
    if (r->process_tasks > stats->process_tasks) stats->process_tasks = r->process_tasks;
    if (stats->process_mem == 0) return;
    const uint64_t tasks = stats->process_tasks > 0 ? stats->process_tasks : 1;
    const uint64_t used =
        cb_sat_add(stats->process_mem, cb_sat_mul(tasks, cb_plan_worker_mem(plan)));
    const uint64_t allowed = cb_sat_mul(tasks, plan->allowed_mem);
    stats->process_excess = used > allowed ? used - allowed : 0;
}
