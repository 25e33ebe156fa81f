/* Computes the positions of stages and stored arrays in the drawing of a plan: columns from left to right, without overlaps. The
 * order in each column is improved in a few sweeps, so that fewer edges cross. */
#ifndef CUBED_REPORT_LAYOUT_H
#define CUBED_REPORT_LAYOUT_H

#include "cubed/plan.h"

enum { LAYOUT_TEXT = 44, LAYOUT_LINE = 16, LAYOUT_PAD = 8, LAYOUT_SHAPE = 800 };

typedef enum layout_kind { LAYOUT_STAGE, LAYOUT_ARRAY, LAYOUT_BEND } layout_kind;

typedef struct layout_node {
    layout_kind kind;
    int stage;               /* number of the stage, if the box is a stage */
    cubed_stored_info array; /* the array, if the box represents an array */
    int column;
    double x, y, width, height;
    /* For placement: preferred centre, and the number of neighbours from which it was computed. */
    double wanted;
    int links;
} layout_node;

/* An edge of the drawing, from the right side of a node to the left side of a node in the next column. If the drawing has too
 * many bends, the second node may be in a later column. `head`: the second node is a stage or an array, not a bend. */
typedef struct layout_edge {
    int from, to;
    bool head;
} layout_edge;

typedef struct layout {
    int nnodes, nedges;
    layout_node *node;
    layout_edge *edge;
    int ncolumns;
    double width, height;
} layout;

CUBED_MUST_CHECK cubed_status layout_make(const cubed_plan *plan, layout *out, cubed_error *err);
void layout_free(layout *l);

/* Format strings such as "float64 (744, 33)" and "chunks (100, 33)". Return `text`. */
const char *layout_type(const cubed_stored_info *x, char text[LAYOUT_SHAPE]);
const char *layout_chunks(const cubed_stored_info *x, char text[LAYOUT_SHAPE]);

#endif
