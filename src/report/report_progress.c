/* Draws the progress of a run: completed tasks by stage, and the memory of a worker. */
#include <inttypes.h>
#include <math.h>

#include "report/charts.h"
#include "report/report_text.h"
#include "report/svg.h"

enum { TITLE = 30, ROW = 24, MOST_ROWS = 20, SIDE = 8, WIDTH = CHART_WIDTH - 2 * SIDE };
/* Columns of a stage: name, bar, tasks, memory. */
enum { NAME = SIDE + 18, BAR = 560, BAR_WIDTH = 260, TASKS = 920, MEMORY = CHART_WIDTH - SIDE };

static double part(int64_t done, int64_t all) { return all > 0 ? (double)done / (double)all : 1; }

static int64_t done_of(const record_stage *s) { return s->ended + s->resumed; }

static void put_bar(FILE *f, double x, double y, double width, const char *colour)
{
    if (width > 0)
        fprintf(f,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"10\" rx=\"2\" fill=\"%s\"/>",
                x, y, width, colour);
}

static void put_track(FILE *f, double x, double y, double width)
{
    fprintf(f,
            "<rect class=\"track\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"10\" rx=\"2\"/>\n",
            x, y, width);
}

static void put_right(FILE *f, double x, double y, const char *class)
{
    fprintf(f, "<text class=\"%s\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">", class, x, y);
}

/* Draws the total progress: a segment for each stage, filled in proportion to its completed tasks. */
static void put_total(const report *r, FILE *f)
{
    char a[32], b[32];
    double x = SIDE;
    fprintf(f,
            "<text class=\"strong\" x=\"%d\" y=\"14\" font-size=\"15\">%" PRId64 " of %" PRId64
            " tasks, %s</text>\n",
            SIDE, r->total.ended + r->total.resumed, r->info.num_tasks,
            text_time((double)(r->end_ns - r->start_ns) * 1e-9, a));
    put_right(f, MEMORY, 14, "quiet");
    if (r->total.failed) fprintf(f, "%" PRId64 " failed attempts, ", r->total.failed);
    fprintf(f, "%s read, %s written</text>\n", text_bytes((double)r->total.bytes_read, a),
            text_bytes((double)r->total.bytes_written, b));
    put_track(f, SIDE, TITLE - 8, WIDTH);
    for (int i = 0; i < r->info.num_stages; i++) {
        const record_stage *s = &r->stage[i];
        double width = WIDTH * part(s->info.num_tasks, r->info.num_tasks);
        put_bar(f, x, TITLE - 8, width * part(done_of(s), s->info.num_tasks), text_colour(i));
        x += width;
    }
}

static void put_stage(const report *r, FILE *f, int i, double y)
{
    const record_stage *s = &r->stage[i];
    char a[32], b[32];
    fprintf(f,
            "<rect x=\"%d\" y=\"%.0f\" width=\"11\" height=\"11\" rx=\"2\" fill=\"%s\"/>"
            "<text x=\"%d\" y=\"%.0f\">stage %d: ",
            SIDE, y - 10, text_colour(i), NAME, y, i);
    text_put_start(f, s->info.name, 72);
    fputs("</text>\n", f);
    put_track(f, BAR, y - 9, BAR_WIDTH);
    put_bar(f, BAR, y - 9, BAR_WIDTH * part(done_of(s), s->info.num_tasks), text_colour(i));
    put_right(f, TASKS, y, "");
    fprintf(f, "%" PRId64 " / %" PRId64 "</text>\n", done_of(s), s->info.num_tasks);
    put_right(f, MEMORY, y, "quiet");
    if (s->ended) fprintf(f, "%s of ", text_bytes((double)s->measured, a));
    fprintf(f, "%s projected</text>\n", text_bytes((double)s->info.projected_mem, b));
}

/* Draws reserved memory and the largest task so far, relative to allowed memory. */
static void put_memory(const report *r, FILE *f, double y)
{
    char a[32], b[32], c[32], d[32];
    double allowed = fmax((double)r->info.allowed_mem, 1), scale = WIDTH / allowed;
    double reserved = (double)r->info.reserved_mem, projected = (double)r->info.projected_mem;
    double measured = fmin((double)r->total.measured, allowed - reserved);
    fprintf(
        f,
        "<text class=\"quiet\" x=\"%d\" y=\"%.0f\">Memory of a worker: %s reserved, largest task "
        "%s (projected: %s)</text>\n",
        SIDE, y, text_bytes(reserved, a), text_bytes((double)r->total.measured, b),
        text_bytes(projected, c));
    put_right(f, MEMORY, y, "quiet");
    fprintf(f, "%s allowed</text>\n", text_bytes(allowed, d));
    put_track(f, SIDE, y + 8, WIDTH);
    fprintf(f,
            "<rect class=\"resumed\" x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"10\" rx=\"2\"/>\n",
            SIDE, y + 8, reserved * scale);
    put_bar(f, SIDE + reserved * scale, y + 8, measured * scale, text_colour(0));
    fprintf(f, "<path class=\"projected\" d=\"M%.1f %.0fv14\"/>\n",
            SIDE + (reserved + projected) * scale, y + 6);
}

void chart_progress(const report *r, FILE *f)
{
    int rows = r->info.num_stages < MOST_ROWS ? r->info.num_stages : MOST_ROWS, first = 0;
    /* If there are many stages, shows those around the first unfinished one. */
    while (first < r->info.num_stages &&
           done_of(&r->stage[first]) >= r->stage[first].info.num_tasks)
        first++;
    first = first - MOST_ROWS / 4 < r->info.num_stages - rows ? first - MOST_ROWS / 4
                                                              : r->info.num_stages - rows;
    if (first < 0) first = 0;
    bool all = rows == r->info.num_stages;
    double memory = TITLE + (rows + (all ? 0 : 1)) * ROW + 28;
    svg_box box = {0, -4, CHART_WIDTH, memory + 32};
    svg_begin(f, "progress", &box, 1, false);
    put_total(r, f);
    for (int i = 0; i < rows; i++) put_stage(r, f, first + i, TITLE + (i + 1) * ROW);
    if (!all)
        fprintf(
            f, "<text class=\"quiet\" x=\"%d\" y=\"%.0f\">stages %d to %d of %d are shown</text>\n",
            NAME, memory - 28, first, first + rows - 1, r->info.num_stages);
    put_memory(r, f, memory);
    fputs("</svg>\n", f);
}
