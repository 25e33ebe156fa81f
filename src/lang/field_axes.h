/* Kinds of coordinates: latitudes, longitudes and levels, by the CF conventions. */
#ifndef CUBED_LANG_FIELD_AXES_H
#define CUBED_LANG_FIELD_AXES_H

#include <jansson.h>
#include <stdbool.h>

typedef enum field_axis { FIELD_LAT, FIELD_LON, FIELD_LEVEL, FIELD_KINDS } field_axis;

/* Returns the kind of a coordinate by its attributes and its name, or FIELD_KINDS for other coordinates. `attrs` may be NULL. */
field_axis field_axis_kind(const char *name, const json_t *attrs);
/* Returns true if the values of a coordinate are degrees of a rotated grid, which differ from latitudes and longitudes on the
 * earth. */
bool field_axis_is_rotated(const char *name, const json_t *attrs);
/* Sets pole to the argument of cubed_grid_new_rotated if `attrs` are those of a grid mapping with a rotated pole; returns false
 * for other attributes. A number that is missing is NaN, which cubed_grid_new_rotated refuses. */
bool field_axes_pole(const json_t *attrs, double pole[3]);

#endif
