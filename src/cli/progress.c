/* Progress on stderr: a bar on a terminal, lines elsewhere; and events as JSON lines. */
#include <inttypes.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

#define REDRAW_NS ((int64_t)100000000)
#define LINE_NS   ((int64_t)5000000000)

struct cli_progress {
    cli_progress_mode mode; /* BAR, PLAIN or NONE */
    FILE *events;
    const cubed_plan *plan;
    cubed_plan_info info;
    int64_t tasks, resumed, start_ns, shown_ns, shown_tenth;
    int stages_done;
    uint64_t bytes, measured;
};

cli_progress *cli_progress_open(const cubed_plan *plan, cli_progress_mode mode, FILE *events)
{
    cli_progress *p = cli_alloc(sizeof *p);
    if (mode == PROGRESS_AUTO) mode = isatty(2) ? PROGRESS_BAR : PROGRESS_PLAIN;
    p->mode = mode;
    p->events = events;
    p->plan = plan;
    cubed_plan_get_info(plan, &p->info);
    return p;
}

void cli_progress_close(cli_progress *p) { cli_free(p); }

static void put_json_string(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 32)
            fprintf(f, "\\u%04x", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

static void write_event(FILE *f, const cubed_event *e)
{
    static const char *const kinds[] = {"plan_start", "stage_start", "task_start", "task_retry",
                                        "task_end",   "stage_end",   "plan_end",   "task_resumed"};
    fprintf(f, "{\"event\": \"%s\", \"time\": %.6f", kinds[e->kind], (double)e->time_ns * 1e-9);
    if (e->stage >= 0) fprintf(f, ", \"stage\": %d", e->stage);
    if (e->task >= 0)
        fprintf(f, ", \"task\": %" PRId64 ", \"worker\": %u, \"attempt\": %u", e->task, e->worker,
                e->attempt);
    if (e->coop > 1) fprintf(f, ", \"coop\": %u", e->coop);
    if (e->duration_ns) fprintf(f, ", \"duration\": %.6f", (double)e->duration_ns * 1e-9);
    if (e->kind == CUBED_EVENT_TASK_END)
        fprintf(f,
                ", \"bytes_read\": %" PRIu64 ", \"bytes_written\": %" PRIu64
                ", \"stored_read\": %" PRIu64 ", \"stored_written\": %" PRIu64
                ", \"measured_mem\": %" PRIu64 ", \"projected_mem\": %" PRIu64
                ", \"function_mem\": %" PRIu64 ", \"function_projected_mem\": %" PRIu64,
                e->bytes_read, e->bytes_written, e->stored_read, e->stored_written, e->measured_mem,
                e->projected_mem, e->function_mem, e->function_projected);
    fprintf(f, ", \"intermediate_mem\": %" PRIu64, e->intermediate_mem);
    if (e->message) {
        fprintf(f, ", \"status\": \"%s\", \"message\": ", cubed_status_str(e->status));
        put_json_string(f, e->message);
    }
    fputs("}\n", f);
}

/* "12/40 tasks  1.2 GB/s  memory 81 MB of 100 MB  3 s left" */
static void describe(const cli_progress *p, int64_t now, char *text, size_t cap)
{
    char rate[32], used[32], allowed[32];
    double seconds = (double)(now - p->start_ns) * 1e-9;
    int64_t ran = p->tasks - p->resumed;
    double left = ran ? seconds / (double)ran * (double)(p->info.num_tasks - p->tasks) : 0;
    snprintf(text, cap,
             "%" PRId64 "/%" PRId64 " tasks, %d/%d stages, %s/s, task memory %s of %s, %.0f s left",
             p->tasks, p->info.num_tasks, p->stages_done, p->info.num_stages,
             cli_format_bytes(seconds > 0 ? (double)p->bytes / seconds : 0, rate),
             cli_format_bytes((double)p->measured, used),
             cli_format_bytes((double)p->info.allowed_mem, allowed), left);
}

static int terminal_width(void)
{
    struct winsize w;
    return ioctl(2, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 80;
}

static void draw_bar(const cli_progress *p, int64_t now)
{
    char text[256], bar[64];
    int width = terminal_width() - 1, cells = 20;
    double done = p->info.num_tasks ? (double)p->tasks / (double)p->info.num_tasks : 1;
    int full = (int)(done * cells);
    describe(p, now, text, sizeof text);
    for (int i = 0; i < cells; i++) bar[i] = i < full ? '#' : '.';
    bar[cells] = 0;
    char line[400];
    snprintf(line, sizeof line, "[%s] %3.0f%%  %s", bar, done * 100, text);
    fprintf(stderr, "\r%-*.*s", width, width, line);
}

static void show(cli_progress *p, int64_t now, bool last)
{
    if (p->mode == PROGRESS_BAR && (last || now - p->shown_ns >= REDRAW_NS)) {
        draw_bar(p, now);
        if (last) fputc('\n', stderr);
        p->shown_ns = now;
    }
    int64_t tenth = p->info.num_tasks ? p->tasks * 10 / p->info.num_tasks : 10;
    if (p->mode == PROGRESS_PLAIN &&
        (last || now - p->shown_ns >= LINE_NS ||
         (tenth > p->shown_tenth && now - p->shown_ns >= LINE_NS / 5))) {
        char text[256];
        describe(p, now, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        p->shown_ns = now;
        p->shown_tenth = tenth;
    }
}

void cli_progress_event(void *progress, const cubed_event *e)
{
    cli_progress *p = progress;
    if (p->events) write_event(p->events, e);
    switch (e->kind) {
    case CUBED_EVENT_PLAN_START: p->start_ns = p->shown_ns = e->time_ns; break;
    case CUBED_EVENT_STAGE_END: p->stages_done++; break;
    case CUBED_EVENT_TASK_END:
        p->tasks++;
        p->bytes += e->bytes_read + e->bytes_written;
        if (e->measured_mem > p->measured) p->measured = e->measured_mem;
        show(p, e->time_ns, false);
        break;
    case CUBED_EVENT_TASK_RESUMED:
        p->tasks++;
        p->resumed++;
        break;
    case CUBED_EVENT_TASK_RETRY:
        if (p->mode != PROGRESS_NONE) fprintf(stderr, "retry: %s\n", e->message);
        break;
    case CUBED_EVENT_PLAN_END: show(p, e->time_ns, true); break;
    default: break;
    }
}
