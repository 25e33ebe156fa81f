#include "dates.h"

#include <string.h>

#include "cli.h"
#include "lang/lang_arrays.h"

static bool is_number(cubed_dtype t)
{
    return t == CUBED_FLOAT32 || t == CUBED_FLOAT64 || t == CUBED_INT16 || t == CUBED_INT32 ||
           t == CUBED_INT64;
}

bool dates_axis(const char *attrs, cubed_dtype dtype, cubed_time_axis *out)
{
    json_t *o = attrs ? lang_attributes(attrs) : NULL;
    const char *units = json_string_value(json_object_get(o, "units"));
    const char *name = json_string_value(json_object_get(o, "calendar"));
    cubed_calendar calendar;
    /* ignored: if the calendar is unknown, numbers are shown unchanged */
    cubed_error ignored = CUBED_ERROR_INIT;
    const bool found = units && is_number(dtype) && cubed_time_units_since(units) &&
                       cubed_calendar_parse(name ? name : "standard", &calendar) &&
                       cubed_time_units_parse(units, calendar, out, &ignored) == CUBED_OK;
    json_decref(o);
    return found;
}

static bool time_of(const cubed_time_axis *axis, cubed_dtype dtype, const void *p, int64_t *us)
{
    cubed_scalar v;
    memcpy(&v, p, cubed_dtype_size(dtype));
    switch (dtype) {
    case CUBED_FLOAT32: return cubed_time_of_float(axis, (double)v.f32, us);
    case CUBED_FLOAT64: return cubed_time_of_float(axis, v.f64, us);
    case CUBED_INT16: return cubed_time_of_int(axis, v.i16, us);
    case CUBED_INT32: return cubed_time_of_int(axis, v.i32, us);
    default: return cubed_time_of_int(axis, v.i64, us);
    }
}

char *dates_element(const cubed_time_axis *axis, cubed_dtype dtype, const void *data, int64_t i)
{
    char text[CUBED_TIME_TEXT_CAP];
    int64_t us;
    const char *p = (const char *)data + (size_t)i * cubed_dtype_size(dtype);
    if (!time_of(axis, dtype, p, &us)) return NULL;
    return cli_strdup(cubed_time_text(axis->calendar, us, text));
}
