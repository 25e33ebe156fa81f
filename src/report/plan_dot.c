/* Writes a plan as source for Graphviz. */
#include <inttypes.h>
#include <string.h>

#include "report/layout.h"
#include "report/report.h"
#include "report/report_text.h"

static void quote(FILE *f, const char *s)
{
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') fputc('\\', f);
        fputc(*s, f);
    }
}

static void put_array(FILE *f, const cubed_stored_info *x)
{
    char text[LAYOUT_SHAPE];
    const char *name = x->name;
    fprintf(f, "  a%d [shape=%s, style=filled, fillcolor=\"%s\", label=\"", x->id,
            x->is_source || x->is_target ? "cylinder" : "box",
            x->is_source   ? "#e6f0f9"
            : x->is_target ? "#e3f4ee"
                           : "#f5f3ee");
    if (strlen(name) > LAYOUT_TEXT) name += strlen(name) - LAYOUT_TEXT;
    /* skip the rest of a truncated character */
    while (((unsigned char)*name & 0xc0) == 0x80) name++;
    quote(f, name);
    fprintf(f, "\\n%s", layout_type(x, text));
    fprintf(f, "\\n%s\"];\n", layout_chunks(x, text));
}

static void put_stage(FILE *f, const cubed_plan *plan, int i, const cubed_stage_info *s)
{
    char a[32], b[32], c[32];
    cubed_stored_info x;
    fprintf(
        f, "  s%d [shape=box, style=\"rounded,filled\", fillcolor=\"#fff7e0\", label=\"stage %d\\n",
        i, i);
    quote(f, s->name);
    fprintf(f, "\\n%" PRId64 " tasks of ", s->num_tasks);
    if (s->coop > 1) fprintf(f, "%u x ", s->coop);
    fprintf(f, "%s\\nreads %s, writes %s\"];\n", text_bytes((double)s->projected_mem, a),
            text_bytes((double)s->bytes_read, b), text_bytes((double)s->bytes_written, c));
    for (int k = 0; cubed_plan_get_input(plan, i, k, &x, NULL) == CUBED_OK; k++) {
        put_array(f, &x);
        fprintf(f, "  a%d -> s%d;\n", x.id, i);
    }
    for (int k = 0; cubed_plan_get_output(plan, i, k, &x, NULL) == CUBED_OK; k++) {
        put_array(f, &x);
        fprintf(f, "  s%d -> a%d;\n", i, x.id);
    }
}

void report_plan_dot(const cubed_plan *plan, FILE *f)
{
    cubed_plan_info info;
    cubed_plan_get_info(plan, &info);
    fputs("digraph plan {\n  rankdir=LR;\n  node [fontname=\"Helvetica\", fontsize=11];\n", f);
    for (int i = 0; i < info.num_stages; i++) {
        cubed_stage_info s;
        if (cubed_plan_get_stage(plan, i, &s, NULL) == CUBED_OK) put_stage(f, plan, i, &s);
    }
    fputs("}\n", f);
}
