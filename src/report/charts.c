#include "report/charts.h"

#include <inttypes.h>
#include <math.h>

#include "report/report_text.h"
#include "report/svg.h"

enum { LEFT = 84, RIGHT = 24, TOP = 8, BOTTOM = 26, PLOT = CHART_WIDTH - LEFT - RIGHT };

/* Heights of the title and of the legend of stages. Only a chart in a separate file has a title and a legend, because the page
 * shows them outside the chart. */
enum { TITLE = 34, LEGEND_LINE = 18, LEGEND_MOST = 24 };

static int legend_lines(const report *r)
{
    int n = r->info.num_stages;
    return n > LEGEND_MOST ? LEGEND_MOST + 1 : n;
}

static void begin(const report *r, FILE *f, const char *name, const char *title, int height,
                  bool inside)
{
    svg_box box = {0, 0, CHART_WIDTH, height};
    if (!inside) {
        box.y = -TITLE;
        box.height += TITLE + (legend_lines(r) + 1) * LEGEND_LINE;
    }
    svg_begin(f, name, &box, 1, inside);
    if (!inside)
        fprintf(f, "<text class=\"strong\" x=\"%d\" y=\"-12\" font-size=\"15\">%s</text>\n", LEFT,
                title);
}

static void end(const report *r, FILE *f, int height, bool inside)
{
    for (int i = 0; !inside && i < legend_lines(r); i++) {
        int y = height + (i + 1) * LEGEND_LINE;
        if (i == LEGEND_MOST) {
            fprintf(f, "<text class=\"quiet\" x=\"%d\" y=\"%d\">and %d more</text>\n", LEFT + 18, y,
                    r->info.num_stages - LEGEND_MOST);
            continue;
        }
        fprintf(f,
                "<rect x=\"%d\" y=\"%d\" width=\"11\" height=\"11\" rx=\"2\" fill=\"%s\"/>"
                "<text class=\"quiet\" x=\"%d\" y=\"%d\">stage %d: ",
                LEFT, y - 10, text_colour(i), LEFT + 18, y, i);
        text_put_start(f, r->stage[i].info.name, 140);
        fputs("</text>\n", f);
    }
    fputs("</svg>\n", f);
}

static void put_count(FILE *f, int64_t n, const char *what)
{
    fprintf(f, "%" PRId64 " %s%s", n, what, n == 1 ? "" : "s");
}

/* --- Timeline ----------------------------------------------------------------------------------------- */

static void time_axis(FILE *f, double seconds, int bottom)
{
    char text[32];
    double step = text_step(seconds, 10);
    for (int i = 0; i * step <= seconds; i++) {
        double x = LEFT + i * step / seconds * PLOT;
        fprintf(f,
                "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"axis\" x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%s</text>\n",
                x, TOP, bottom, x, bottom + 16, i ? text_time(i * step, text) : "0");
    }
}

static void put_mark(const report *r, FILE *f, const record_mark *m, double scale, int lane_height)
{
    char a[32], b[32];
    double span = (double)(m->end_ns - m->start_ns);
    double width = span * scale, busy = span > 0 ? fmin((double)m->busy_ns / span, 1) : 1;
    fprintf(f,
            "<rect data-tasks=\"%" PRId64 "\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" "
            "fill=\"%s\"",
            m->tasks, LEFT + (double)(m->start_ns - r->start_ns) * scale,
            TOP + m->lane * lane_height, fmax(width, 0.5),
            lane_height > 4 ? lane_height - 2 : lane_height, text_colour(m->stage));
    if (busy < 0.995) fprintf(f, " fill-opacity=\"%.2f\"", 0.25 + 0.75 * busy);
    if (m->failed) fputs(" class=\"failed\"", f);
    fputs("><title>", f);
    if (m->tasks + m->failed + m->shared == 1)
        fprintf(f, "task %" PRId64 "%s", m->task, m->shared ? ", with other workers," : "");
    else
        put_count(f, m->tasks + m->shared, "task");
    fprintf(f, " of stage %d%s: %s", m->stage, m->mixed ? " and others" : "",
            text_time((double)m->busy_ns * 1e-9, a));
    if (m->tasks + m->shared) fprintf(f, ", %s", text_bytes((double)m->measured, b));
    if (m->failed) {
        fputs(", ", f);
        put_count(f, m->failed, "failed attempt");
    }
    if (r->nhosts > 1 && m->host >= 0) {
        fputs(", on ", f);
        text_put(f, r->host[m->host].name);
    }
    fputs("</title></rect>\n", f);
}

void chart_timeline(const report *r, bool inside, FILE *f)
{
    double seconds = fmax((double)(r->end_ns - r->start_ns) * 1e-9, 1e-6);
    int lanes = 1;
    for (int i = 0; i < r->nmarks; i++) {
        if (r->mark[i].lane >= lanes) lanes = r->mark[i].lane + 1;
    }
    int lane_height = lanes <= 16 ? 24 : lanes <= 48 ? 14 : 7;
    int bottom = TOP + lanes * lane_height;
    begin(r, f, "timeline", "Tasks by worker", bottom + BOTTOM, inside);
    time_axis(f, seconds, bottom);
    for (int l = 0; l < lanes; l += lane_height >= 12 ? 1 : 10) {
        /* If there are more workers than lanes, several workers share a lane. */
        unsigned worker = (unsigned)l;
        if (r->info.max_workers > RECORD_LANES)
            worker = (unsigned)((uint64_t)l * r->info.max_workers / RECORD_LANES);
        fprintf(f, "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"end\">worker %u</text>\n",
                LEFT - 6, TOP + l * lane_height + (lane_height + 8) / 2, worker);
    }
    for (int i = 0; i < r->nmarks; i++)
        put_mark(r, f, &r->mark[i], PLOT * 1e-9 / seconds, lane_height);
    end(r, f, bottom + BOTTOM, inside);
}

/* --- Memory ------------------------------------------------------------------------------------------- */

enum { MEMORY_HEIGHT = 200 };

typedef struct scale {
    double most;  /* value at the top of the chart */
    double width; /* width of a bin of the chart in pixels */
} scale;

static double height_of(const scale *s, double bytes)
{
    return TOP + MEMORY_HEIGHT * (1 - fmin(bytes / s->most, 1));
}

static void memory_axis(FILE *f, const scale *s)
{
    char text[32];
    double step = text_step(s->most, 5);
    for (int i = 0; i * step <= s->most; i++) {
        double y = height_of(s, i * step);
        fprintf(f,
                "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"axis\" x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\">%s</text>\n",
                LEFT, y, LEFT + PLOT, LEFT - 6, y + 4, text_bytes(i * step, text));
    }
}

/* Returns the first task of a bin. This is the inverse of the division into bins in record.c. */
static int64_t first_task(const record_stage *s, int64_t bin)
{
    return (bin * s->info.num_tasks + s->nbins - 1) / s->nbins;
}

static void put_bin(const report *r, FILE *f, const scale *sc, int stage, int k)
{
    const record_stage *s = &r->stage[stage];
    const record_bin *b = &r->bin[s->first_bin + k];
    char a[32], c[32];
    double x = LEFT + (s->first_bin + k) * sc->width, y = height_of(sc, (double)b->measured);
    double gap = sc->width > 4 ? 1 : 0;
    int64_t first = first_task(s, k), after = first_task(s, k + 1);
    if (b->ended == 0 && b->resumed == 0) return;
    fprintf(f, "<rect data-tasks=\"%" PRId64 "\"", b->ended);
    if (b->resumed) fprintf(f, " data-resumed=\"%" PRId64 "\"", b->resumed);
    if (b->ended == 0) y = TOP + MEMORY_HEIGHT - 3;
    fprintf(f, " x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"", x, y, sc->width - gap,
            TOP + MEMORY_HEIGHT - y);
    if (b->ended)
        fprintf(f, " fill=\"%s\"><title>", text_colour(stage));
    else
        fputs(" class=\"resumed\"><title>", f);
    if (after - first > 1)
        fprintf(f, "tasks %" PRId64 " to %" PRId64, first, after - 1);
    else
        fprintf(f, "task %" PRId64, first);
    fprintf(f, " of stage %d: ", stage);
    if (b->ended)
        fprintf(f, "%s%s, projected %s", after - first > 1 ? "at most " : "",
                text_bytes((double)b->measured, a), text_bytes((double)s->info.projected_mem, c));
    if (b->resumed) {
        if (b->ended) fputs(", ", f);
        fprintf(f, "%" PRId64 " done by an earlier run", b->resumed);
    }
    fputs("</title></rect>\n", f);
}

static void put_projection(const report *r, FILE *f, const scale *sc, int stage)
{
    const record_stage *s = &r->stage[stage];
    double x = LEFT + s->first_bin * sc->width;
    fprintf(f, "<path class=\"projected\" d=\"M%.2f %.1fh%.2f\"/>\n", x,
            height_of(sc, (double)s->info.projected_mem), s->nbins * sc->width);
    if (s->nbins * sc->width >= 60)
        fprintf(f,
                "<text class=\"axis\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">stage %d</text>\n",
                x + s->nbins * sc->width / 2, TOP + MEMORY_HEIGHT + 16, stage);
}

void chart_memory(const report *r, bool inside, FILE *f)
{
    char text[32];
    double allowed = (double)r->info.allowed_mem - (double)r->info.reserved_mem;
    double most = fmax((double)r->info.projected_mem, (double)r->total.measured);
    /* The line of allowed memory is omitted if it is far above all values. */
    bool shown = allowed <= 4 * most;
    scale sc = {.most = fmax(shown ? 1.1 * fmax(allowed, most) : 1.25 * most, 1),
                .width = (double)PLOT / (r->nbins ? r->nbins : 1)};
    begin(r, f, "memory", "Memory of tasks: measured (bars) and projected (lines)",
          TOP + MEMORY_HEIGHT + BOTTOM, inside);
    memory_axis(f, &sc);
    for (int i = 0; i < r->info.num_stages; i++) {
        for (int k = 0; k < r->stage[i].nbins; k++) put_bin(r, f, &sc, i, k);
    }
    for (int i = 0; i < r->info.num_stages; i++) put_projection(r, f, &sc, i);
    double y = shown ? height_of(&sc, allowed) : TOP + 2;
    if (shown) fprintf(f, "<path class=\"allowed\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, LEFT + PLOT);
    fprintf(f, "<text class=\"allowed\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s%s</text>\n",
            LEFT + PLOT - 4, shown && y > TOP + 16 ? y - 4 : y + 14,
            shown ? "allowed for a task: " : "allowed for a task, far above: ",
            text_bytes(allowed, text));
    end(r, f, TOP + MEMORY_HEIGHT + BOTTOM, inside);
}

void report_draw(const report *r, report_drawing which, FILE *f)
{
    if (which == REPORT_TIMELINE)
        chart_timeline(r, false, f);
    else if (which == REPORT_MEMORY)
        chart_memory(r, false, f);
    else
        chart_progress(r, f);
}
