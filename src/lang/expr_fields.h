/* Functions of fields, which find axes and weights by coordinates. */
#ifndef CUBED_LANG_EXPR_FIELDS_H
#define CUBED_LANG_EXPR_FIELDS_H

#include "lang/expr_builder.h"

/* Builds a call of a function of the category "fields" whose first argument is an array with coordinates. For other
 * calls, *is_one is false and *out is unchanged. */
cubed_status expr_fields_build(expr_builder *b, const expr *e, const cubed_function *function,
                               cubed_array **out, bool *is_one);

/* Finds the axes of the first argument of the call `e`: x and y of its horizontal grid, and its levels. An index is -1 if the
 * array has no such axis. Cells of an unstructured grid have neither x nor y. */
cubed_status expr_field_axes(expr_builder *b, const expr *e, int *x, int *y, int *z);

/* An array and the coordinates of its horizontal grid. Entry 0 of a field is for latitudes, entry 1 for longitudes. */
typedef struct expr_grid {
    cubed_array *x;
    /* The coordinates, and the bounds of their cells, in degrees. An entry of `bounds` is NULL if the coordinate has none. */
    cubed_array *coordinate[2], *bounds[2];
    uint32_t axes[2]; /* bit d is set if the coordinate has axis d of x */
    /* The coordinates refer to a rotated pole: `pole` is the argument of cubed_grid_new_rotated. */
    bool is_rotated;
    double pole[3];
} expr_grid;
/* Builds the first argument of the call `e`, and finds the coordinates of its horizontal grid. The caller frees *out with
 * expr_grid_free, also after an error. */
cubed_status expr_grid_find(expr_builder *b, const expr *e, expr_grid *out);
void expr_grid_free(expr_grid *g);

#endif
