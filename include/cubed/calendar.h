/* Days and dates. */
#ifndef CUBED_CALENDAR_H
#define CUBED_CALENDAR_H

#include "cubed/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The date of the proleptic Gregorian calendar so many days after 1970-01-01. Years are astronomical: there is a year 0.
 * For days of at most 2**60, on both sides. */
CUBED_API void cubed_date_of_days(int64_t days, int64_t *year, int *month, int *day);

#ifdef __cplusplus
}
#endif

#endif
