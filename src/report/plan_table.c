/* Prints a plan as a table of text. */
#include <inttypes.h>

#include "report/report.h"
#include "report/report_text.h"
#include "report/visible.h"

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

static cubed_status no_memory(cubed_error *err)
{
    if (err) {
        err->status = CUBED_E_NOMEM;
        snprintf(err->message, sizeof err->message, "out of memory: a line of a plan");
    }
    return CUBED_E_NOMEM;
}

static cubed_status put_stage(const cubed_plan *plan, int i, FILE *f, cubed_error *err)
{
    cubed_stage_info s;
    char a[32], b[32], c[32];
    const cubed_status st = cubed_plan_get_stage(plan, i, &s, err);
    if (st != CUBED_OK) return st;
    char *name = text_visible(s.name, true);
    if (!name) return no_memory(err);
    fprintf(f, "%-5d %9" PRId64 " %11s %11s %11s %11" PRIu64 "  %s\n", i, s.num_tasks,
            text_bytes((double)s.projected_mem, a), text_bytes((double)s.bytes_read, b),
            text_bytes((double)s.bytes_written, c), s.chunks_read + s.chunks_written, name);
    text_free(name);
    if (s.coop > 1)
        fprintf(f, "%5s %9s each task is shared by %u workers, with so much memory each\n", "", "",
                s.coop);
    return CUBED_OK;
}

static void put_memory(const cubed_plan_info *info, FILE *f)
{
    char a[32], b[32], c[32];
    fprintf(f, "memory per worker: projected %s + reserved %s, allowed %s; %u worker%s",
            text_bytes((double)info->projected_mem, a), text_bytes((double)info->reserved_mem, b),
            text_bytes((double)info->allowed_mem, c), info->max_workers, plural(info->max_workers));
    if (info->metadata_mem)
        fprintf(f, "; %s of it for the plan itself", text_bytes((double)info->metadata_mem, a));
    if (info->intermediate_budget)
        fprintf(f, "; intermediates in memory up to %s",
                text_bytes((double)info->intermediate_budget, a));
    if (info->cache_budget)
        fprintf(f, "; chunks that are read again up to %s",
                text_bytes((double)info->cache_budget, a));
    if (info->result_bytes)
        fprintf(f, "; results in addition %s", text_bytes((double)info->result_bytes, a));
    fputc('\n', f);
}

cubed_status report_plan_table(const cubed_plan *plan, FILE *f, cubed_error *err)
{
    cubed_plan_info info;
    char a[32], b[32];
    cubed_plan_get_info(plan, &info);
    fprintf(f, "%-5s %9s %11s %11s %11s %11s  %s\n", "stage", "tasks", "task memory", "reads",
            "writes", "requests", "operation");
    for (int i = 0; i < info.num_stages; i++) {
        const cubed_status st = put_stage(plan, i, f, err);
        if (st != CUBED_OK) return st;
    }
    fprintf(f, "%d stage%s, %" PRId64 " task%s, reads %s, writes %s in %" PRIu64 " request%s\n",
            info.num_stages, plural(info.num_stages), info.num_tasks, plural(info.num_tasks),
            text_bytes((double)info.bytes_read, a), text_bytes((double)info.bytes_written, b),
            info.requests, plural((int64_t)info.requests));
    fprintf(f, "about %.*f s at %s/s and %g ms per request, with %.*f s of processor time\n",
            info.seconds < 10 ? 2 : 0, info.seconds, text_bytes(CUBED_ASSUMED_BANDWIDTH, a),
            CUBED_ASSUMED_LATENCY * 1e3, info.compute_seconds < 10 ? 2 : 0, info.compute_seconds);
    put_memory(&info, f);
    return CUBED_OK;
}
