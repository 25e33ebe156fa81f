/* Reads the coordinate values of a dimension while an expression is built. */
#ifndef CUBED_LANG_AXIS_VALUES_H
#define CUBED_LANG_AXIS_VALUES_H

#include "cubed/calendar.h"
#include "lang/expr_builder.h"

/* Maximum number of elements of a coordinate, of elements that a list of labels selects, of time steps of all windows together,
 * and of intervals of a resampling. */
#define AXIS_VALUES_MAX ((int64_t)1 << 24)

/* The values of a coordinate: times (`us`), numbers (`number`) or strings (`text`). The pointers of the other two kinds are
 * NULL. */
typedef struct axis_values {
    int64_t n;
    bool is_time;
    cubed_time_axis axis; /* units and calendar, if is_time */
    int64_t *us;          /* times in microseconds after the origin of the calendar */
    double *number;
    bool single; /* numbers are float32 */
    char *text;  /* strings: elements of `size` bytes, of type `dtype` */
    size_t size;
    cubed_dtype dtype;
    json_t *attrs;
    cubed_array *array;   /* the elements, lazy */
    cubed_expr_coord had; /* the coordinate before the call, and the part of it that x still has */
} axis_values;

/* Reads the coordinate along axis d of x, the array built from the syntax tree e. Free *v with axis_values_free after success. */
CUBED_MUST_CHECK cubed_status axis_values_read(expr_builder *b, const expr *e, const cubed_array *x,
                                               int d, axis_values *v);
void axis_values_free(axis_values *v);

#endif
