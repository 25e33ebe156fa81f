/* Writes the HTML page around the drawings. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "report/charts.h"
#include "report/record.h"
#include "report/report_text.h"
#include "report/svg.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<style>\n"
    ":root { --ink: #1f2933; --quiet: #52606d; --paper: #ffffff; --tile: #f3f5f7; "
    "--line: #e4e7eb; --good: #00795a; --bad: #b3341d; }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --quiet: #a3afbb; "
    "--paper: #161b22; --tile: #1f262f; --line: #2c343e; --good: #4cc9a4; --bad: #ff8a65; } }\n"
    "body { font: 14px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, "
    "sans-serif; color: var(--ink); background: var(--paper); margin: 28px auto 48px; "
    "max-width: 1160px; padding: 0 20px; }\n"
    "h1 { font-size: 24px; font-weight: 650; letter-spacing: -0.01em; margin: 0 0 4px; }\n"
    "h2 { font-size: 17px; font-weight: 650; margin: 34px 0 6px; }\n"
    "p { margin: 4px 0; color: var(--quiet); }\n"
    ".scroll { overflow-x: auto; }\n"
    ".side { display: flex; flex-wrap: wrap; gap: 12px 56px; align-items: flex-start; }\n"
    ".tiles { display: flex; flex-wrap: wrap; gap: 12px; margin: 18px 0 0; }\n"
    ".tiles div { flex: 1; min-width: 130px; padding: 12px 16px; border-radius: 8px; "
    "background: var(--tile); color: var(--quiet); }\n"
    ".tiles b { display: block; font-size: 21px; font-weight: 650; color: var(--ink); "
    "white-space: nowrap; }\n"
    "p.good { color: var(--good); } p.bad, .tiles b.bad { color: var(--bad); }\n"
    "table { border-collapse: collapse; }\n"
    "th { text-align: left; font-weight: 600; white-space: nowrap; }\n"
    "th, td { padding: 4px 16px 4px 0; border-bottom: 1px solid var(--line); }\n"
    "td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; "
    "white-space: nowrap; }\n"
    "td.note { color: var(--quiet); }\n"
    ".swatch { display: inline-block; width: 10px; height: 10px; border-radius: 2px; "
    "margin-right: 6px; }\n"
    "svg { max-width: none; display: block; margin-top: 6px; }\n";

/* Begins a region that scrolls, also by keyboard. It ends with </div>. */
#define SCROLL(label)                                                                              \
    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" label "\">"

/* Writes a row of the table of totals. `name` is for programs that read the page. */
static void row(FILE *f, const char *name, const char *what, const char *value, double exact,
                const char *note)
{
    fprintf(f,
            "<tr><th>%s</th><td class=\"number\" data-name=\"%s\" data-value=\"%.17g\">%s</td>"
            "<td class=\"note\">%s</td></tr>\n",
            what, name, exact, value, note);
}

static void row_bytes(FILE *f, const char *name, const char *what, double bytes, const char *note)
{
    char text[32];
    row(f, name, what, text_bytes(bytes, text), bytes, note);
}

static void row_count(FILE *f, const char *name, const char *what, int64_t n, const char *note)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, n);
    row(f, name, what, text, (double)n, note);
}

static double elapsed_of(const report *r) { return (double)(r->end_ns - r->start_ns) * 1e-9; }

/* Returns true if a stage computes a result, and does more than copy an array. */
static bool makes_result(const report *r, int stage)
{
    cubed_stored_info x;
    const char *name = r->stage[stage].info.name;
    if (strncmp(name, "copy(", 5) == 0 || strncmp(name, "rechunk(", 8) == 0) return false;
    return cubed_plan_get_output(r->plan, stage, 0, &x, NULL) == CUBED_OK && x.is_target;
}

/* Writes the operations of a stage, without the names of its results. */
static void put_expression(const report *r, int stage, FILE *f)
{
    enum { TITLE_TEXT = 60 };
    char text[256];
    const char *name = r->stage[stage].info.name, *end = strstr(name, " -> ");
    snprintf(text, sizeof text, "%.*s", end ? (int)(end - name) : (int)strlen(name), name);
    text_put_start(f, text, TITLE_TEXT);
}

/* Writes the expressions of the results, such as "mean(u*v), std(u)". If the plan only copies, writes the expression of the first
 * stage. */
static void put_what_ran(const report *r, FILE *f)
{
    enum { SHOWN = 3 };
    int shown = 0;
    for (int i = 0; i < r->info.num_stages && shown <= SHOWN; i++) {
        if (!makes_result(r, i)) continue;
        if (++shown > SHOWN) {
            fputs(", \xe2\x80\xa6", f);
            break;
        }
        if (shown > 1) fputs(", ", f);
        put_expression(r, i, f);
    }
    if (shown == 0 && r->info.num_stages > 0)
        put_expression(r, 0, f);
    else if (shown == 0)
        fputs("nothing to do", f);
}

static void put_outcome(const report *r, const report_run *run, FILE *f)
{
    char seconds[32], when[64] = "";
    time_t start = (time_t)r->wall_start;
    struct tm local;
    if (localtime_r(&start, &local)) strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
    fputs("<h1>", f);
    put_what_ran(r, f);
    fprintf(f, "</h1>\n<p>Run of cubed %s, started %s, executor ", cubed_version(), when);
    text_put(f, run->executor);
    fputs("</p>\n", f);
    if (run->error) {
        fputs("<p class=\"bad\">Failed: ", f);
        text_put(f, run->error);
        fputs("</p>\n", f);
    } else {
        fprintf(f, "<p class=\"good\">Done in %s.</p>\n", text_time(elapsed_of(r), seconds));
    }
}

static unsigned workers_of(const report *r, const report_run *run)
{
    return run->stats->num_workers ? run->stats->num_workers : r->info.max_workers;
}

static void tile(FILE *f, const char *value, const char *kind, const char *what)
{
    fprintf(f, "<div><b class=\"%s\">%s</b>%s</div>\n", kind, value, what);
}

/* Writes the most important numbers. */
static void put_tiles(const report *r, const report_run *run, FILE *f)
{
    const cubed_plan_info *i = &r->info;
    char text[32], what[64];
    unsigned workers = workers_of(r, run);
    bool over = r->total.measured > i->projected_mem;
    fputs("<div class=\"tiles\">\n", f);
    snprintf(what, sizeof what, "%" PRId64 " task%s on %u worker%s", r->total.ended,
             r->total.ended == 1 ? "" : "s", workers, workers == 1 ? "" : "s");
    tile(f, text_time(elapsed_of(r), text), "", what);
    tile(f, text_bytes((double)r->total.measured, text), over ? "bad" : "",
         "memory of the largest task");
    tile(f, text_bytes((double)i->projected_mem, text), "", "the same, projected before the run");
    tile(f, text_bytes((double)(i->allowed_mem - i->reserved_mem), text), "",
         "memory that a task may use");
    tile(f, text_bytes((double)r->total.bytes_read, text), "", "read, uncompressed");
    tile(f, text_bytes((double)r->total.bytes_written, text), "", "written, uncompressed");
    fputs("</div>\n", f);
}

static void put_hosts(const report *r, FILE *f)
{
    char text[32];
    if (r->nhosts < 2) return;
    fputs("<h2>Machines</h2>\n" SCROLL(
              "Machines") "<table>\n<tr><th>tasks</th><th>failed "
                          "attempts</th><th>time of workers</th><th>machine</th></tr>\n",
          f);
    for (int i = 0; i < r->nhosts; i++) {
        fprintf(f, "<tr><td>%" PRId64 "</td><td>%" PRId64 "</td><td>%s</td><td>", r->host[i].tasks,
                r->host[i].failed, text_time((double)r->host[i].busy_ns * 1e-9, text));
        text_put(f, r->host[i].name);
        fputs("</td></tr>\n", f);
    }
    fputs("</table></div>\n", f);
}

/* Writes a row of the table of totals for the store with this scheme. */
static void row_service(FILE *f, const char *scheme, const char *name, const char *what, double n,
                        const char *note)
{
    char id[64], title[64], text[32];
    snprintf(id, sizeof id, "%s_%s", scheme, name);
    snprintf(title, sizeof title, "%s: %s", scheme, what);
    snprintf(text, sizeof text, "%.0f", n);
    row(f, id, title, text, n, note);
}

/* Writes the requests that the plan predicted before the run. */
static void put_requests(const report_requests *requests, FILE *f)
{
    static const char planned[] = "planned, at most, without repeated requests";
    char note[128], text[32];
    for (int i = 0; i < requests->n; i++) {
        const cubed_store_traffic *t = &requests->of[i];
        const char *scheme = t->scheme;
        row_service(f, scheme, "gets", "GETs", (double)t->gets, planned);
        row_service(f, scheme, "heads", "HEADs", (double)t->heads, planned);
        row_service(f, scheme, "puts", "PUTs and copies", (double)t->puts + (double)t->copies,
                    planned);
        row_service(f, scheme, "lists", "LISTs", (double)t->lists, planned);
        snprintf(text, sizeof text, "%.*f $", requests->cost[i] < 0.1 ? 6 : 2, requests->cost[i]);
        snprintf(note, sizeof note, "%s_cost", scheme);
        row(f, note, "cost of these requests", text, requests->cost[i], "US dollars");
        if (t->get_limit <= 0) continue;
        snprintf(note, sizeof note, "to one prefix, planned; the service allows %.0f",
                 t->get_limit);
        row_service(f, scheme, "get_rate", "GETs per second", ceil(t->get_rate), note);
        snprintf(note, sizeof note, "to one prefix, planned; the service allows %.0f",
                 t->put_limit);
        row_service(f, scheme, "put_rate", "PUTs per second", ceil(t->put_rate), note);
        snprintf(note, sizeof note, "%s_limit_seconds", scheme);
        row(f, note, "time for these limits", text_time(t->limit_seconds, text), t->limit_seconds,
            "planned");
    }
}

static void put_work(const report *r, const report_run *run, FILE *f)
{
    const record_stage *t = &r->total;
    const cubed_plan_info *i = &r->info;
    const cubed_run_stats *s = run->stats;
    double elapsed = elapsed_of(r);
    char text[32];
    fputs("<table class=\"totals\">\n", f);
    row_count(f, "tasks", "tasks", i->num_tasks, "of the plan");
    row_count(f, "tasks_ended", "tasks that ran", t->ended, "");
    if (t->resumed) row_count(f, "tasks_resumed", "tasks of an earlier run", t->resumed, "");
    row_count(f, "attempts", "attempts", t->ended + t->failed, "of tasks that ran");
    if (t->failed) row_count(f, "attempts_failed", "failed attempts", t->failed, "see below");
    if (r->backups)
        row_count(f, "backups", "second attempts of slow or last tasks", r->backups,
                  "by idle workers, because the first might end late");
    row_count(f, "stages", "stages", i->num_stages, "");
    row_count(f, "workers", "workers", workers_of(r, run), "");
    row_count(f, "hosts", "machines", r->nhosts, r->nhosts > 1 ? "see below" : "");
    row(f, "seconds", "time", text_time(elapsed, text), elapsed, "");
    row(f, "busy_seconds", "time of all tasks", text_time((double)t->busy_ns * 1e-9, text),
        (double)t->busy_ns * 1e-9, "");
    row(f, "queue_seconds", "time in queue", text_time(s->queue_seconds, text), s->queue_seconds,
        "time of ranges of tasks, until a worker began");
    row(f, "worker_seconds", "time of workers", text_time(s->worker_seconds, text),
        s->worker_seconds, "including attempts that failed, or that ended after another one");
    snprintf(text, sizeof text, "%.3g GB s", s->gb_seconds);
    row(f, "gb_seconds", "memory of workers", text, s->gb_seconds, "that time, by what is allowed");
    put_requests(&r->requests, f);
    row_bytes(f, "bytes_read", "read, uncompressed", (double)t->bytes_read, "");
    row_bytes(f, "stored_read", "read, as stored", (double)t->stored_read, "");
    row_bytes(f, "bytes_written", "written, uncompressed", (double)t->bytes_written, "");
    row_bytes(f, "stored_written", "written, as stored", (double)t->stored_written, "");
    fputs("</table>\n", f);
}

static void put_memory(const report *r, const report_run *run, FILE *f)
{
    const record_stage *t = &r->total;
    const cubed_plan_info *i = &r->info;
    uint64_t projected = i->projected_mem;
    fputs("<table class=\"totals\">\n", f);
    row_bytes(f, "allowed_mem", "memory allowed, per worker", (double)i->allowed_mem, "");
    row_bytes(f, "reserved_mem", "reserved of it", (double)i->reserved_mem,
              "code, libraries, metadata");
    row_bytes(f, "projected_mem", "projected, largest task", (double)projected,
              "known before the run");
    row_bytes(f, "measured_mem", "measured, largest task", (double)t->measured,
              t->measured <= projected ? "&lt;= projected" : "OVER the projection: a bug");
    row_bytes(f, "bound", "bound of all workers",
              (double)workers_of(r, run) * (double)i->allowed_mem, "workers x allowed");
    if (!run->error)
        row_bytes(f, "peak_rss", "peak resident, this process", (double)cubed_peak_rss(),
                  "by the operating system, without worker processes");
    if (r->intermediate_peak)
        row_bytes(f, "intermediate_peak", "intermediates in memory, peak",
                  (double)r->intermediate_peak, "");
    if (run->stats->intermediate_spilled)
        row_bytes(f, "intermediate_spilled", "intermediates written to disk",
                  (double)run->stats->intermediate_spilled, "");
    fputs("</table>\n", f);
}

static void cell_bytes(FILE *f, uint64_t bytes)
{
    char text[32];
    fprintf(f, "<td class=\"number\">%s</td>", text_bytes((double)bytes, text));
}

static void put_stages(const report *r, FILE *f)
{
    char text[32];
    fputs("<h2>Stages</h2>\n" SCROLL(
              "Stages") "<table class=\"stages\">\n<tr><th>stage</th>"
                        "<th class=\"number\">tasks run</th><th class=\"number\">of</th>"
                        "<th class=\"number\">time of tasks</th><th class=\"number\">mean</th>"
                        "<th class=\"number\">measured</th><th class=\"number\">projected</th>"
                        "<th class=\"number\">read</th><th "
                        "class=\"number\">written</th><th>operation</th></tr>\n",
          f);
    for (int i = 0; i < r->info.num_stages; i++) {
        const record_stage *s = &r->stage[i];
        double busy = (double)s->busy_ns * 1e-9;
        fprintf(f,
                "<tr><td><span class=\"swatch\" style=\"background:%s\"></span>%d</td>"
                "<td class=\"number\">%" PRId64 "</td><td class=\"number\">%" PRId64 "</td>",
                text_colour(i), i, s->ended, s->info.num_tasks);
        fprintf(f, "<td class=\"number\">%s</td>", text_time(busy, text));
        fprintf(f, "<td class=\"number\">%s</td>",
                s->ended ? text_time(busy / (double)s->ended, text) : "");
        cell_bytes(f, s->measured);
        cell_bytes(f, s->info.projected_mem);
        cell_bytes(f, s->bytes_read);
        cell_bytes(f, s->bytes_written);
        fputs("<td>", f);
        text_put(f, s->info.name);
        fputs("</td></tr>\n", f);
    }
    fputs("</table></div>\n", f);
}

static void put_slowest(const report *r, FILE *f)
{
    char a[32], b[32];
    if (r->nslowest == 0) return;
    fputs("<h2>Slowest tasks</h2>\n" SCROLL(
              "Slowest tasks") "<table class=\"slowest\">\n"
                               "<tr><th class=\"number\">time</th><th class=\"number\">task</th>"
                               "<th class=\"number\">worker</th><th "
                               "class=\"number\">memory</th><th>stage</th></tr>\n",
          f);
    for (int i = 0; i < r->nslowest; i++) {
        const int stage = r->slowest[i].stage;
        fprintf(f,
                "<tr><td class=\"number\">%s</td><td class=\"number\">%" PRId64
                "</td><td class=\"number\">%u</td><td class=\"number\">%s</td><td>"
                "<span class=\"swatch\" style=\"background:%s\"></span>%d: ",
                text_time((double)r->slowest[i].ns * 1e-9, a), r->slowest[i].task,
                r->slowest[i].worker, text_bytes((double)r->slowest[i].measured, b),
                text_colour(stage), stage);
        text_put(f, r->stage[stage].info.name);
        fputs("</td></tr>\n", f);
    }
    fputs("</table></div>\n", f);
}

static void put_failures(const report *r, FILE *f)
{
    if (r->nfailures == 0) return;
    fputs("<h2>Failed attempts</h2>\n<ul class=\"failures\">\n", f);
    for (int i = 0; i < r->nfailures; i++) {
        fprintf(f, "<li>task %" PRId64 " of stage %d, %s: ", r->failure[i].task,
                r->failure[i].stage, cubed_failure_str(r->failure[i].kind));
        text_put(f, r->failure[i].message);
        fputs("</li>\n", f);
    }
    fputs("</ul>\n", f);
    if (r->total.failed > r->nfailures)
        fprintf(f, "<p>These are the first of %" PRId64 ".</p>\n", r->total.failed);
}

/* Writes rules for narrow screens and for the keyboard. */
static void put_narrow_style(FILE *f)
{
    fputs("<style>\n", f);
    fputs("@media (max-width: 600px) { body { padding: 0 12px; margin-top: 16px; } h1 { font-size: "
          "19px; } .tiles div { min-width: 40%; padding: 8px 12px; } .tiles b { font-size: 18px; } "
          "th, td { padding-right: 10px; } td.note { display: none; } }\n"
          ".scroll:focus-visible { outline: 2px solid #0072b2; outline-offset: 4px; }\n"
          "h1 { overflow-wrap: anywhere; }\n",
          f);
    fputs("</style>\n", f);
}

cubed_status report_write(const report *r, const report_run *run, FILE *f, cubed_error *err)
{
    fputs(head, f);
    svg_put_style(f);
    fputs("</style>\n<title>", f);
    put_what_ran(r, f);
    fputs(" - cubed</title>\n", f);
    put_narrow_style(f);
    fputs("</head>\n<body>\n", f);
    put_outcome(r, run, f);
    put_tiles(r, run, f);
    fputs("<h2>Plan</h2>\n" SCROLL("Plan") "\n", f);
    cubed_status st = report_plan_svg(r->plan, true, f, err);
    fputs("</div>\n<h2>Tasks by worker</h2>\n<p>In the colour of their stage", f);
    if (r->group > 1)
        fprintf(f,
                "; a bar is up to %" PRId64 " tasks, one after another, paler where the worker "
                "waited between them",
                r->group);
    fputs(". Pointing at a bar says more; the slowest tasks are in a table below.</p>\n" SCROLL(
              "Tasks by worker") "\n",
          f);
    chart_timeline(r, true, f);
    fputs("</div>\n<h2>Memory of tasks</h2>\n<p>Bars are measured, lines are projected before the "
          "run, "
          "in the order of the tasks' numbers.",
          f);
    if (r->nbins < r->info.num_tasks) fputs(" A bar is the largest of several tasks.", f);
    fputs("</p>\n" SCROLL("Memory of tasks") "\n", f);
    chart_memory(r, true, f);
    fputs("</div>\n", f);
    put_slowest(r, f);
    put_stages(r, f);
    fputs("<h2>Totals</h2>\n<div class=\"side\">\n", f);
    put_work(r, run, f);
    put_memory(r, run, f);
    fputs("</div>\n", f);
    put_hosts(r, f);
    put_failures(r, f);
    fputs("</body>\n</html>\n", f);
    return st;
}

/* --- The live page -------------------------------------------------------------------------------------- */

static const char live_body[] =
    "<title>Run - cubed</title>\n"
    "<style>\n"
    ".bar { width: 160px; height: 10px; border-radius: 2px; background: var(--line); }\n"
    ".bar div { height: 10px; border-radius: 2px; background: #0072b2; }\n"
    "@media (max-width: 600px) { .bar { width: 80px; } }\n"
    "</style>\n"
    "<script src=\"/status.js\" defer></script>\n</head>\n<body>\n"
    "<h1 id=\"title\">Run</h1>\n<p id=\"state\" role=\"status\">No status yet.</p>\n"
    "<div class=\"tiles\" id=\"tiles\"></div>\n"
    "<h2>Stages</h2>\n" SCROLL(
        "Stages") "<table><thead><tr><th>stage</th><th></th><th class=\"number\">tasks "
                  "done</th><th class=\"number\">failed attempts</th><th class=\"number\">largest "
                  "task</th><th class=\"number\">projected</th><th>operations</th></tr></thead>"
                  "<tbody id=\"stages\"></tbody></table></div>\n<p id=\"left\"></p>\n"
                  "<h2>Failed attempts</h2>\n<ul id=\"failures\"></ul>\n"
                  "<noscript><p class=\"bad\">This page needs JavaScript. The same numbers are in "
                  "<a href=\"/status.json\">status.json</a>.</p></noscript>\n</body>\n</html>\n";

/* The script inserts strings of a run as text, never as HTML. */
static const char live_script[] =
    "'use strict';\n"
    "const at = id => document.getElementById(id);\n"
    "function add(parent, tag, text, kind) {\n"
    "  const e = parent.appendChild(document.createElement(tag));\n"
    "  if (text !== undefined) e.textContent = text;\n"
    "  if (kind) e.className = kind;\n"
    "  return e;\n"
    "}\n"
    "function bytes(n) {\n"
    "  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];\n"
    "  let u = 0;\n"
    "  for (; n >= 999.5 && u < 5; u++) n /= 1000;\n"
    "  return n.toFixed(u && n < 99.95 ? 1 : 0) + ' ' + units[u];\n"
    "}\n"
    "function time(s) {\n"
    "  if (s < 120) return s.toFixed(s < 10 ? 1 : 0) + ' s';\n"
    "  const m = Math.round(s / 60);\n"
    "  return m < 120 ? m + ' min' : Math.floor(m / 60) + ' h ' + m % 60 + ' min';\n"
    "}\n"
    "function tile(value, what, kind) {\n"
    "  const d = add(at('tiles'), 'div');\n"
    "  add(d, 'b', value, kind);\n"
    "  d.append(what);\n"
    "}\n"
    "function tiles(s) {\n"
    "  tile(time(s.seconds), 'since the start');\n"
    "  tile(String(s.workers), s.machines > 1 ? 'workers on ' + s.machines + ' machines' : "
    "'workers');\n"
    "  tile(bytes(s.measured_mem), 'memory of the largest task, of ' + bytes(s.task_mem),\n"
    "       s.measured_mem > s.projected_mem ? 'bad' : '');\n"
    "  tile(String(s.failed), 'failed attempts, ' + s.backups + ' second attempts');\n"
    "  tile(s.gb_seconds.toFixed(1) + ' GB s', 'memory and time of workers so far');\n"
    "  if (s.planned_request_cost > 0)\n"
    "    tile('$' + s.request_cost.toFixed(4), 'requests so far, of $' +\n"
    "         s.planned_request_cost.toFixed(4) + ' planned');\n"
    "  tile(bytes(s.bytes_read), 'read, uncompressed');\n"
    "  tile(bytes(s.bytes_written), 'written, uncompressed');\n"
    "}\n"
    "const states = {running: 'Running', done: 'Done', failed: 'Failed', gone: 'The process of the "
    "run has ended without a result'};\n"
    "function show(s) {\n"
    "  const state = at('state');\n"
    "  at('title').textContent = s.done + ' of ' + s.tasks + ' tasks';\n"
    "  document.title = s.done + '/' + s.tasks + ' - cubed';\n"
    "  state.textContent = (states[s.state] || s.state) + ', executor ' + s.executor + ', news ' "
    "+\n"
    "    time(Math.max(0, s.age)) + ' ago' + (s.error ? ': ' + s.error : '');\n"
    "  state.className = s.state === 'done' ? 'good' : s.state === 'running' ? '' : 'bad';\n"
    "  at('tiles').replaceChildren();\n"
    "  if (s.seconds !== undefined) tiles(s);\n"
    "  at('stages').replaceChildren();\n"
    "  for (const g of s.stages) {\n"
    "    const row = add(at('stages'), 'tr');\n"
    "    add(row, 'td', g.stage, 'number');\n"
    "    const bar = add(add(row, 'td'), 'div', undefined, 'bar');\n"
    "    add(bar, 'div').style.width = 100 * g.done / Math.max(1, g.tasks) + '%';\n"
    "    add(row, 'td', g.done + ' / ' + g.tasks, 'number');\n"
    "    add(row, 'td', g.failed === undefined ? '' : g.failed, 'number');\n"
    "    add(row, 'td', g.measured_mem ? bytes(g.measured_mem) : '', 'number');\n"
    "    add(row, 'td', bytes(g.projected_mem), 'number');\n"
    "    add(row, 'td', g.name, 'note');\n"
    "  }\n"
    "  at('left').textContent = s.stages_left_out ? s.stages_left_out + ' stages are not shown.' : "
    "'';\n"
    "  at('failures').replaceChildren();\n"
    "  for (const f of s.failures)\n"
    "    add(at('failures'), 'li', 'task ' + f.task + ' of stage ' + f.stage + ': ' + f.message);\n"
    "}\n"
    "async function poll() {\n"
    "  try {\n"
    "    const reply = await fetch('/status.json', {cache: 'no-store'});\n"
    "    if (!reply.ok) throw new Error(await reply.text());\n"
    "    show(await reply.json());\n"
    "  } catch (e) {\n"
    "    at('state').textContent = 'No news: ' + e.message;\n"
    "    at('state').className = 'bad';\n"
    "  }\n"
    "  setTimeout(poll, document.hidden ? 5000 : 1000);\n"
    "}\n"
    "poll();\n";

void report_put_live_page(FILE *f)
{
    fputs(head, f);
    fputs("</style>\n", f);
    put_narrow_style(f);
    fputs(live_body, f);
}

void report_put_live_script(FILE *f) { fputs(live_script, f); }
