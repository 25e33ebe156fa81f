/* Kinds of coordinates: latitudes, longitudes and levels, as the CF conventions tell them apart. */
#ifndef CUBED_LANG_FIELD_AXES_H
#define CUBED_LANG_FIELD_AXES_H

#include <jansson.h>

typedef enum field_axis { FIELD_LAT, FIELD_LON, FIELD_LEVEL, FIELD_KINDS } field_axis;

/* The kind of a coordinate by its name and its attributes (NULL: it has none); FIELD_KINDS if it is of none of them. */
field_axis field_axis_kind(const char *name, const json_t *attrs);

#endif
