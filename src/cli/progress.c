/* Shows the progress of a run on stderr: on a terminal as a bar, otherwise as lines. Also writes events as JSON lines. */
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

#define REDRAW_NS ((int64_t)100000000)
#define LINE_NS   ((int64_t)5000000000)

struct cli_progress {
    cli_progress_mode mode; /* the mode in use: BAR, PLAIN or NONE */
    FILE *events;
    const cubed_plan *plan;
    cubed_plan_info info;
    int64_t tasks, resumed, start_ns, shown_ns, shown_tenth;
    int stage; /* number of the stage that started last */
    char stage_name[48];
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
    if (e->queued_ns) fprintf(f, ", \"queued\": %.6f", (double)e->queued_ns * 1e-9);
    if (e->backup) fputs(", \"backup\": true", f);
    if (e->host) {
        fputs(", \"host\": ", f);
        put_json_string(f, e->host);
    }
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
        fprintf(f, ", \"status\": \"%s\", \"failure\": \"%s\", \"message\": ",
                cubed_status_str(e->status), cubed_failure_str(e->failure));
        put_json_string(f, e->message);
    }
    if (e->kind == CUBED_EVENT_TASK_RETRY)
        fprintf(f, ", \"again\": %s", e->again ? "true" : "false");
    fputs("}\n", f);
}

/* "0.42 s", "75 s", "2 min 5 s", "3 h 20 min" */
static const char *format_time(double seconds, char text[32])
{
    const long s = seconds < 1e9 ? (long)(seconds + 0.5) : 1000000000;
    if (seconds < 9.995)
        snprintf(text, 32, "%.2f s", seconds);
    else if (s < 120)
        snprintf(text, 32, "%ld s", s);
    else if (s < 7200)
        snprintf(text, 32, "%ld min %ld s", s / 60, s % 60);
    else
        snprintf(text, 32, "%ld h %ld min", s / 3600, s / 60 % 60);
    return text;
}

/* Parts of a description of a run, in the order of importance. A line shows as many of them as fit. */
enum { PARTS = 5, PART = 96 };

static void describe(const cli_progress *p, int64_t now, char part[PARTS][PART])
{
    char rate[32], used[32], allowed[32], time[32];
    const double seconds = (double)(now - p->start_ns) * 1e-9;
    const int64_t ran = p->tasks - p->resumed;
    const double left = ran ? seconds / (double)ran * (double)(p->info.num_tasks - p->tasks) : 0;
    snprintf(part[0], PART, "%" PRId64 "/%" PRId64 " tasks", p->tasks, p->info.num_tasks);
    snprintf(part[1], PART, "%s left", format_time(left, time));
    snprintf(part[2], PART, "stage %d/%d%s%s", p->stage + 1, p->info.num_stages,
             p->stage_name[0] ? " " : "", p->stage_name);
    snprintf(part[3], PART, "%s/s",
             cli_format_bytes(seconds > 0 ? (double)p->bytes / seconds : 0, rate));
    snprintf(part[4], PART, "task memory %s of %s", cli_format_bytes((double)p->measured, used),
             cli_format_bytes((double)p->info.allowed_mem, allowed));
}

/* Describes a run that has ended: time, rate and memory. */
static void describe_end(const cli_progress *p, int64_t now, char part[PARTS][PART])
{
    char rate[32], used[32], allowed[32], time[32];
    const double seconds = (double)(now - p->start_ns) * 1e-9;
    const bool done = p->tasks == p->info.num_tasks;
    snprintf(part[0], PART, "%" PRId64 "/%" PRId64 " tasks", p->tasks, p->info.num_tasks);
    snprintf(part[1], PART, "%s %s", done ? "done in" : "ended after", format_time(seconds, time));
    snprintf(part[2], PART, "%s/s",
             cli_format_bytes(seconds > 0 ? (double)p->bytes / seconds : 0, rate));
    snprintf(part[3], PART, "task memory %s of %s", cli_format_bytes((double)p->measured, used),
             cli_format_bytes((double)p->info.allowed_mem, allowed));
    snprintf(part[4], PART, "process %s", cli_format_bytes((double)cubed_peak_rss(), used));
}

/* Joins the first parts that fit into `width` characters. */
static void join(char part[PARTS][PART], size_t width, char *text, size_t cap)
{
    size_t n = 0;
    text[0] = 0;
    for (int i = 0; i < PARTS; i++) {
        const size_t more = strlen(part[i]) + (i ? 2 : 0);
        if (n + more > width || n + more >= cap) break;
        n += (size_t)snprintf(text + n, cap - n, "%s%s", i ? ", " : "", part[i]);
    }
}

static int terminal_width(void)
{
    struct winsize w;
    return ioctl(2, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

static void draw_bar(const cli_progress *p, int64_t now, bool last)
{
    enum { CELLS = 20, BAR = CELLS + 9 }; /* widths of the bar, and of "[...]  45%  " */
    char part[PARTS][PART], text[PARTS * PART], bar[BAR + 4] = "";
    const int width = terminal_width() - 1;
    const double done = p->info.num_tasks ? (double)p->tasks / (double)p->info.num_tasks : 1;
    if (last)
        describe_end(p, now, part);
    else
        describe(p, now, part);
    if (width >= 2 * BAR) {
        bar[0] = '[';
        for (int i = 0; i < CELLS; i++) bar[i + 1] = i < (int)(done * CELLS) ? '#' : '.';
        snprintf(bar + CELLS + 1, sizeof bar - CELLS - 1, "] %3.0f%%  ", done * 100);
    }
    const int room = width - (int)strlen(bar);
    join(part, (size_t)(room > 0 ? room : 0), text, sizeof text);
    fprintf(stderr, "\r%s%-*s", bar, room > 0 ? room : 0, text);
}

static void show(cli_progress *p, int64_t now, bool last)
{
    if (p->mode == PROGRESS_BAR && (last || now - p->shown_ns >= REDRAW_NS)) {
        draw_bar(p, now, last);
        if (last) fputc('\n', stderr);
        p->shown_ns = now;
    }
    int64_t tenth = p->info.num_tasks ? p->tasks * 10 / p->info.num_tasks : 10;
    if (p->mode == PROGRESS_PLAIN &&
        (last || now - p->shown_ns >= LINE_NS ||
         (tenth > p->shown_tenth && now - p->shown_ns >= LINE_NS / 5))) {
        char part[PARTS][PART], text[PARTS * PART];
        if (last)
            describe_end(p, now, part);
        else
            describe(p, now, part);
        join(part, sizeof text, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        p->shown_ns = now;
        p->shown_tenth = tenth;
    }
}

/* Sets the displayed name of a stage: its operations without the destinations, truncated if too long. */
static void name_stage(cli_progress *p, int stage)
{
    cubed_stage_info s;
    p->stage = stage;
    p->stage_name[0] = 0;
    if (cubed_plan_get_stage(p->plan, stage, &s, NULL) != CUBED_OK) return;
    char *name = cli_visible(s.name, false);
    const char *end = strstr(name, " -> ");
    size_t n = end ? (size_t)(end - name) : strlen(name);
    const bool cut = n >= sizeof p->stage_name - 4;
    if (cut) n = sizeof p->stage_name - 5;
    snprintf(p->stage_name, sizeof p->stage_name, "%.*s%s", (int)n, name, cut ? "..." : "");
    cli_free(name);
}

void cli_progress_event(void *progress, const cubed_event *e)
{
    cli_progress *p = progress;
    if (p->events) write_event(p->events, e);
    switch (e->kind) {
    case CUBED_EVENT_PLAN_START: p->start_ns = p->shown_ns = e->time_ns; break;
    case CUBED_EVENT_STAGE_START: name_stage(p, e->stage); break;
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
        /* An error that is not retried ends the run, and is reported at its end. */
        if (e->again && p->mode != PROGRESS_NONE) cli_say(stderr, "retry: %s\n", e->message);
        break;
    case CUBED_EVENT_PLAN_END: show(p, e->time_ns, true); break;
    default: break;
    }
}
