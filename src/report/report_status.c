/* Writes the status of a run as JSON. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/record.h"
#include "report/report_text.h"
#include "report/visible.h"

/* Limits of the size of a status: shown stages, and characters of a name and of a message. */
enum { MOST_STAGES = 100, NAME_TEXT = 120, MESSAGE_TEXT = 1000 };

/* Writes a string without the secrets in URLs. */
static void put_string(FILE *f, const char *s, int max)
{
    char *shown = text_visible(s, true);
    text_put_json(f, shown ? shown : "", max);
    text_free(shown);
}

static int64_t done_of(const record_stage *s) { return s->ended + s->resumed; }

static int64_t tasks_of(const report *r, int stage) { return r->stage[stage].info.num_tasks; }

/* Returns the first stage to show. If there are many stages, those around the first unfinished one are shown. */
static int first_stage(const report *r)
{
    const int n = r->info.num_stages;
    int first = 0;
    if (n <= MOST_STAGES) return 0;
    while (first < n && done_of(&r->stage[first]) >= tasks_of(r, first)) first++;
    first -= MOST_STAGES / 4;
    return first < 0 ? 0 : first > n - MOST_STAGES ? n - MOST_STAGES : first;
}

static void put_stages(const report *r, FILE *f)
{
    const int first = first_stage(r), n = r->info.num_stages;
    const int last = n - first < MOST_STAGES ? n : first + MOST_STAGES;
    fputs(", \"stages\": [", f);
    for (int i = first; i < last; i++) {
        const record_stage *s = &r->stage[i];
        fprintf(f, "%s{\"stage\": %d, \"name\": ", i > first ? ", " : "", i);
        put_string(f, s->info.name, NAME_TEXT);
        fprintf(f,
                ", \"tasks\": %" PRId64 ", \"done\": %" PRId64 ", \"failed\": %" PRId64
                ", \"measured_mem\": %" PRIu64 ", \"projected_mem\": %" PRIu64 "}",
                s->info.num_tasks, done_of(s), s->failed, s->measured, s->info.projected_mem);
    }
    fprintf(f, "], \"stages_left_out\": %d", n - (last - first));
}

static void put_failures(const report *r, FILE *f)
{
    fputs(", \"failures\": [", f);
    for (int i = 0; i < r->nfailures; i++) {
        fprintf(f, "%s{\"stage\": %d, \"task\": %" PRId64 ", \"message\": ", i ? ", " : "",
                r->failure[i].stage, r->failure[i].task);
        put_string(f, r->failure[i].message, MESSAGE_TEXT);
        fputc('}', f);
    }
    fputc(']', f);
}

/* Writes the planned cost of requests, in proportion to the tasks that have ended, because engines do not report the requests of
 * tasks. */
static void put_cost(const report *r, FILE *f)
{
    double planned = 0;
    for (int i = 0; i < r->requests.n; i++) planned += r->requests.cost[i];
    const double all = (double)r->info.num_tasks;
    fprintf(f,
            ", \"worker_seconds\": %.3f, \"gb_seconds\": %.3f, \"request_cost\": %.9f, "
            "\"planned_request_cost\": %.9f",
            (double)r->total.busy_ns * 1e-9,
            (double)r->total.busy_ns * 1e-18 * (double)r->info.allowed_mem,
            all > 0 ? planned * (double)r->total.ended / all : 0, planned);
}

void report_write_status(const report *r, const report_state *state, FILE *f)
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0) *host = 0;
    fputs("{\"cubed_status\": 1, \"state\": ", f);
    put_string(f, state->state, NAME_TEXT);
    fputs(", \"executor\": ", f);
    put_string(f, state->executor, NAME_TEXT);
    fputs(", \"host\": ", f);
    put_string(f, host, NAME_TEXT);
    fprintf(f, ", \"pid\": %d, \"process_start\": %" PRIu64 ", \"updated\": %" PRId64,
            (int)getpid(), cubed_process_start(getpid()), (int64_t)time(NULL));
    fprintf(f, ", \"started\": %" PRId64 ", \"seconds\": %.3f", r->wall_start,
            (double)(r->end_ns - r->start_ns) * 1e-9);
    fprintf(f,
            ", \"tasks\": %" PRId64 ", \"done\": %" PRId64 ", \"resumed\": %" PRId64
            ", \"failed\": %" PRId64 ", \"backups\": %" PRId64
            ", \"workers\": %u, \"machines\": %d",
            r->info.num_tasks, done_of(&r->total), r->total.resumed, r->total.failed, r->backups,
            r->workers, r->nhosts);
    fprintf(f,
            ", \"measured_mem\": %" PRIu64 ", \"projected_mem\": %" PRIu64
            ", \"task_mem\": %" PRIu64 ", \"bytes_read\": %" PRIu64 ", \"bytes_written\": %" PRIu64,
            r->total.measured, r->info.projected_mem, r->info.allowed_mem - r->info.reserved_mem,
            r->total.bytes_read, r->total.bytes_written);
    put_cost(r, f);
    put_stages(r, f);
    put_failures(r, f);
    fputs(", \"error\": ", f);
    if (state->error)
        put_string(f, state->error, MESSAGE_TEXT);
    else
        fputs("null", f);
    fputs("}\n", f);
}
