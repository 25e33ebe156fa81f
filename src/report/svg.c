#include "report/svg.h"

static const char style[] =
    "svg.cubed { font: 12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, "
    "sans-serif; }\n"
    "svg.cubed text { fill: #1f2933; }\n"
    "svg.cubed .paper { fill: #ffffff; }\n"
    "svg.cubed .quiet { fill: #52606d; }\n"
    "svg.cubed .strong { font-weight: 600; }\n"
    "svg.cubed .box { fill: #ffffff; stroke: #9aa5b1; }\n"
    "svg.cubed .source .box { fill: #e6f0f9; stroke: #7ba7cf; }\n"
    "svg.cubed .target .box { fill: #e3f4ee; stroke: #5fae93; }\n"
    "svg.cubed .intermediate .box { fill: #f5f3ee; stroke: #b3aa97; }\n"
    "svg.cubed .edge { fill: none; stroke: #7b8794; }\n"
    "svg.cubed .head { fill: #7b8794; }\n"
    "svg.cubed .axis { font-size: 11px; fill: #52606d; }\n"
    "svg.cubed .grid { stroke: #e4e7eb; fill: none; }\n"
    "svg.cubed .projected { stroke: #1f2933; stroke-width: 1.5; fill: none; }\n"
    "svg.cubed path.allowed { stroke: #b3341d; stroke-dasharray: 6 4; fill: none; }\n"
    "svg.cubed text.allowed { fill: #b3341d; font-size: 11px; }\n"
    "svg.cubed .resumed { fill: #b8c0c9; }\n"
    "svg.cubed .track { fill: #e4e7eb; }\n"
    "svg.cubed .failed { stroke: #b3341d; stroke-width: 2; }\n";

/* Style rules that replace the light rules in dark mode. */
static const struct {
    const char *what, *is;
} dark[] = {
    {"text", "fill: #e4e7eb;"},
    {".paper", "fill: #161b22;"},
    {".quiet", "fill: #a3afbb;"},
    {".axis", "fill: #a3afbb;"},
    {".box", "fill: #1f262f; stroke: #616e7c;"},
    {".source .box", "fill: #14293d; stroke: #4c7fae;"},
    {".target .box", "fill: #12312a; stroke: #43917a;"},
    {".intermediate .box", "fill: #2a2822; stroke: #7d7563;"},
    {".edge", "stroke: #8592a0;"},
    {".head", "fill: #8592a0;"},
    {".grid", "stroke: #2c343e;"},
    {".projected", "stroke: #e4e7eb;"},
    {"path.allowed", "stroke: #ff8a65;"},
    {"text.allowed", "fill: #ff8a65;"},
    {".resumed", "fill: #4a5560;"},
    {".track", "fill: #2c343e;"},
    {".failed", "stroke: #ff8a65;"},
};

/* Writes the dark rules for drawings inside elements that match `root`. */
static void put_dark(FILE *f, const char *root)
{
    for (size_t i = 0; i < sizeof dark / sizeof *dark; i++)
        fprintf(f, "%s %s { %s }\n", root, dark[i].what, dark[i].is);
}

/* In notebooks, Jupyter declares the theme. Elsewhere the preference of the system applies. */
void svg_put_style(FILE *f)
{
    fputs(style, f);
    fputs("@media (prefers-color-scheme: dark) {\n", f);
    put_dark(f, "svg.cubed:not([data-jp-theme-light=true] *)");
    fputs("}\n", f);
    put_dark(f, "[data-jp-theme-light=false] svg.cubed");
}

void svg_begin(FILE *f, const char *name, const svg_box *b, double scale, bool inside)
{
    fprintf(
        f,
        "<svg%s class=\"cubed %s\" width=\"%.0f\" height=\"%.0f\" viewBox=\"%g %g %.0f %.0f\">\n",
        inside ? "" : " xmlns=\"http://www.w3.org/2000/svg\"", name, b->width * scale,
        b->height * scale, b->x, b->y, b->width, b->height);
    if (inside) return;
    fputs("<style>\n", f);
    svg_put_style(f);
    fprintf(
        f, "</style>\n<rect class=\"paper\" x=\"%g\" y=\"%g\" width=\"100%%\" height=\"100%%\"/>\n",
        b->x, b->y);
}
