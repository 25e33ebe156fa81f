/* Where the stages and stored arrays of a plan stand in its drawing: columns from left to right, no
 * two of a column over each other, and as few crossings as a few sweeps find. */
#ifndef CUBED_REPORT_LAYOUT_H
#define CUBED_REPORT_LAYOUT_H

#include "cubed/plan.h"

enum { LAYOUT_TEXT = 44, LAYOUT_LINE = 16, LAYOUT_PAD = 8, LAYOUT_SHAPE = 800 };

typedef enum layout_kind { LAYOUT_STAGE, LAYOUT_ARRAY, LAYOUT_BEND } layout_kind;

typedef struct layout_node {
    layout_kind kind;
    int stage;               /* of a stage */
    cubed_stored_info array; /* of an array */
    int column;
    double x, y, width, height;
    /* For the placing: the middle that it wants to have, and neighbours that were asked. */
    double wanted;
    int links;
} layout_node;

/* Right side of a node to the left side of one in the next column (or a later one, if there are too
 * many bends). `head`: the second is no bend. */
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

/* "float64 (744, 33)" and "chunks (100, 33)"; return `text`. */
const char *layout_type(const cubed_stored_info *x, char text[LAYOUT_SHAPE]);
const char *layout_chunks(const cubed_stored_info *x, char text[LAYOUT_SHAPE]);

#endif
