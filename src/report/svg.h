/* What all drawings have in common: how they begin, and their style, light and dark. */
#ifndef CUBED_REPORT_SVG_H
#define CUBED_REPORT_SVG_H

#include <stdbool.h>
#include <stdio.h>

typedef struct svg_box {
    double x, y, width, height;
} svg_box;

/* Rules for what is inside `svg.cubed`. */
void svg_put_style(FILE *f);
/* Opens a drawing of class "cubed NAME", shown `scale` times as large as `box`. As a file of its own it
 * brings its style and its paper; `inside` a page that has the style it does not. Ends with </svg>. */
void svg_begin(FILE *f, const char *name, const svg_box *box, double scale, bool inside);

#endif
