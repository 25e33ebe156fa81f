/* Common parts of all drawings: header and style, light and dark. */
#ifndef CUBED_REPORT_SVG_H
#define CUBED_REPORT_SVG_H

#include <stdbool.h>
#include <stdio.h>

typedef struct svg_box {
    double x, y, width, height;
} svg_box;

/* Writes CSS rules for elements in `svg.cubed`. */
void svg_put_style(FILE *f);
/* Begins a drawing of class "cubed NAME", scaled by `scale`. A separate file includes style and background. A drawing `inside`
 * a page does not, because the page has the style. The caller writes </svg> at the end. */
void svg_begin(FILE *f, const char *name, const svg_box *box, double scale, bool inside);

#endif
