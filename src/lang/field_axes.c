#include "lang/field_axes.h"

#include <math.h>
#include <string.h>

#include "lang/lang_arrays.h"
#include "lang/longitudes.h"

static bool is_latitude(const char *name, const json_t *attrs)
{
    static const char *const northwards[] = {
        "degrees_north", "degree_north", "degrees_N", "degree_N", "degreesN", "degreeN", NULL};
    static const char *const angles[] = {"degrees", "degree", "deg", "radian",
                                         "radians", "rad",    NULL};
    static const char *const standard[] = {"latitude", "grid_latitude", NULL};
    static const char *const names[] = {"lat", "latitude", "lats", "rlat", "nav_lat", "clat", NULL};
    const char *units = lang_attribute_text(attrs, "units"),
               *standard_name = lang_attribute_text(attrs, "standard_name");
    if (lang_is_one_of(units, northwards)) return true;
    if (units && !lang_is_one_of(units, angles)) return false;
    return lang_is_one_of(standard_name, standard) ||
           (!standard_name && lang_is_one_of(name, names));
}

static bool is_longitude(const char *name, const json_t *attrs)
{
    static const char *const radians[] = {"radian", "radians", "rad", NULL};
    static const char *const names[] = {"nav_lon", "clon", NULL};
    const char *units = lang_attribute_text(attrs, "units"),
               *standard_name = lang_attribute_text(attrs, "standard_name");
    if (longitudes_are(name, attrs)) return true;
    if (units && !lang_is_one_of(units, radians)) return false;
    if (standard_name) return strcmp(standard_name, "longitude") == 0;
    return lang_is_one_of(name, names);
}

static bool is_level(const char *name, const json_t *attrs)
{
    static const char *const pressures[] = {"Pa",  "hPa",  "mbar",    "millibar", "millibars",
                                            "bar", "dbar", "decibar", NULL};
    static const char *const standard[] = {"air_pressure",       "height",   "altitude", "depth",
                                           "model_level_number", "pressure", NULL};
    static const char *const names[] = {"lev",    "level",    "levels", "plev",   "depth",
                                        "height", "altitude", "olevel", "deptht", NULL};
    const char *axis = lang_attribute_text(attrs, "axis"),
               *units = lang_attribute_text(attrs, "units");
    const char *standard_name = lang_attribute_text(attrs, "standard_name");
    if (axis) return strcmp(axis, "Z") == 0;
    if (lang_attribute_text(attrs, "positive") || lang_is_one_of(units, pressures)) return true;
    if (standard_name)
        return lang_is_one_of(standard_name, standard) ||
               strncmp(standard_name, "atmosphere_", strlen("atmosphere_")) == 0 ||
               strncmp(standard_name, "ocean_", strlen("ocean_")) == 0;
    return lang_is_one_of(name, names);
}

field_axis field_axis_kind(const char *name, const json_t *attrs)
{
    if (is_latitude(name, attrs)) return FIELD_LAT;
    if (is_longitude(name, attrs)) return FIELD_LON;
    return is_level(name, attrs) ? FIELD_LEVEL : FIELD_KINDS;
}

bool field_axis_is_rotated(const char *name, const json_t *attrs)
{
    static const char *const standard[] = {"grid_latitude", "grid_longitude", NULL};
    static const char *const names[] = {"rlat", "rlon", NULL};
    const char *standard_name = lang_attribute_text(attrs, "standard_name");
    return standard_name ? lang_is_one_of(standard_name, standard) : lang_is_one_of(name, names);
}

bool field_axes_pole(const json_t *attrs, double pole[3])
{
    static const char *const keys[3] = {"grid_north_pole_latitude", "grid_north_pole_longitude",
                                        "north_pole_grid_longitude"};
    const char *mapping = lang_attribute_text(attrs, "grid_mapping_name");
    if (!mapping || strcmp(mapping, "rotated_latitude_longitude") != 0) return false;
    for (int i = 0; i < 3; i++) {
        const json_t *v = json_object_get(attrs, keys[i]);
        if (json_is_array(v) && json_array_size(v) == 1) v = json_array_get(v, 0);
        pole[i] = json_is_number(v) ? json_number_value(v) : !v && i == 2 ? 0 : NAN;
    }
    return true;
}
