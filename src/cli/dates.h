/* CF times as dates. */
#ifndef CUBED_CLI_DATES_H
#define CUBED_CLI_DATES_H

#include "cubed/array.h"
#include "cubed/calendar.h"

/* Gets the units and the calendar of times from their attributes (JSON), which have units such as "hours since 1900-01-01".
 * Returns false if the numbers are not times, or not times that this library can show. */
bool dates_axis(const char *attrs, cubed_dtype dtype, cubed_time_axis *out);

/* Returns element i of `data` as a date such as "2020-01-05T12:00:00", or NULL if it is not a time. The caller frees the
 * string. */
char *dates_element(const cubed_time_axis *axis, cubed_dtype dtype, const void *data, int64_t i);

#endif
