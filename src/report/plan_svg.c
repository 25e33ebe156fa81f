/* Draws a plan: stored arrays and the stages between them. */
#include <inttypes.h>

#include "report/charts.h"
#include "report/layout.h"
#include "report/report.h"
#include "report/report_text.h"
#include "report/svg.h"

enum { MARGIN = 10 };

static void put_line(FILE *f, const layout_node *n, int line, const char *style)
{
    fprintf(f, "<text x=\"%.0f\" y=\"%.1f\"%s>", n->x + LAYOUT_PAD,
            n->y + LAYOUT_PAD + (line + 0.75) * LAYOUT_LINE, style);
}

static void put_box(FILE *f, const layout_node *n, int round)
{
    fprintf(f,
            "<rect class=\"box\" x=\"%.0f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" rx=\"%d\"/>",
            n->x, n->y, n->width, n->height, round);
}

static void put_stage(FILE *f, const cubed_plan *plan, const layout_node *n)
{
    cubed_stage_info s;
    char a[32], b[32];
    if (cubed_plan_get_stage(plan, n->stage, &s, NULL) != CUBED_OK) return;
    fprintf(f, "<g class=\"stage\" data-stage=\"%d\"><title>", n->stage);
    text_put(f, s.name);
    fputs("</title>", f);
    put_box(f, n, 8);
    fprintf(f, "<rect x=\"%.0f\" y=\"%.1f\" width=\"5\" height=\"%.0f\" rx=\"2.5\" fill=\"%s\"/>",
            n->x - 2, n->y + 8, n->height - 16, text_colour(n->stage));
    put_line(f, n, 0, " class=\"strong\"");
    fprintf(f, "stage %d</text>", n->stage);
    put_line(f, n, 1, "");
    text_put_start(f, s.name, LAYOUT_TEXT);
    fputs("</text>", f);
    put_line(f, n, 2, " class=\"quiet\"");
    fprintf(f, "%" PRId64 " task%s of ", s.num_tasks, s.num_tasks == 1 ? "" : "s");
    if (s.coop > 1) fprintf(f, "%u x ", s.coop);
    fprintf(f, "%s</text>", text_bytes((double)s.projected_mem, a));
    put_line(f, n, 3, " class=\"quiet\"");
    fprintf(f, "%s read, %s written</text></g>\n", text_bytes((double)s.bytes_read, a),
            text_bytes((double)s.bytes_written, b));
}

static void put_array(FILE *f, const layout_node *n)
{
    const cubed_stored_info *x = &n->array;
    char text[LAYOUT_SHAPE];
    const char *kind = x->is_source ? "source" : x->is_target ? "target" : "intermediate";
    fprintf(f, "<g class=\"%s\" data-array=\"%d\"><title>%s: ", kind, x->id, kind);
    text_put(f, x->name);
    fputs("</title>", f);
    put_box(f, n, 2);
    put_line(f, n, 0, "");
    text_put_end(f, x->name, LAYOUT_TEXT);
    fputs("</text>", f);
    put_line(f, n, 1, " class=\"quiet\"");
    text_put_start(f, layout_type(x, text), LAYOUT_TEXT);
    fputs("</text>", f);
    put_line(f, n, 2, " class=\"quiet\"");
    text_put_start(f, layout_chunks(x, text), LAYOUT_TEXT);
    fputs("</text></g>\n", f);
}

static void put_edge(FILE *f, const layout *l, const layout_edge *e)
{
    const layout_node *a = &l->node[e->from], *b = &l->node[e->to];
    double x0 = a->x + a->width, y0 = a->y + a->height / 2;
    double x1 = b->x - (e->head ? 6 : 0), y1 = b->y + b->height / 2, bow = (x1 - x0) / 2;
    fprintf(f, "<path class=\"edge\" d=\"M%.1f %.1f", a->kind == LAYOUT_BEND ? a->x : x0, y0);
    if (a->kind == LAYOUT_BEND) fprintf(f, "L%.1f %.1f", x0, y0);
    fprintf(f, "C%.1f %.1f %.1f %.1f %.1f %.1f\"/>", x0 + bow, y0, x1 - bow, y1, x1, y1);
    if (e->head) fprintf(f, "<path class=\"head\" d=\"M%.1f %.1fl-7 -4v8z\"/>", b->x, y1);
    fputc('\n', f);
}

cubed_status report_plan_svg(const cubed_plan *plan, bool inside, FILE *f, cubed_error *err)
{
    layout l;
    cubed_status st = layout_make(plan, &l, err);
    if (st != CUBED_OK) return st;
    svg_box box = {-MARGIN, -MARGIN, l.width + 2 * MARGIN, l.height + 2 * MARGIN};
    /* A drawing up to 1.5 times too wide is scaled down. A wider one can be scrolled. */
    bool fit = inside && box.width > CHART_WIDTH && box.width <= 1.5 * CHART_WIDTH;
    svg_begin(f, "plan", &box, fit ? CHART_WIDTH / box.width : 1, inside);
    fputs("<g>\n", f);
    for (int i = 0; i < l.nedges; i++) put_edge(f, &l, &l.edge[i]);
    fputs("</g>\n", f);
    for (int i = 0; i < l.nnodes; i++) {
        if (l.node[i].kind == LAYOUT_STAGE) put_stage(f, plan, &l.node[i]);
        if (l.node[i].kind == LAYOUT_ARRAY) put_array(f, &l.node[i]);
    }
    fputs("</svg>\n", f);
    layout_free(&l);
    return CUBED_OK;
}
