/* Days and dates in the calendars of the CF conventions (section 4.4.1), and units of time. */
#ifndef CUBED_CALENDAR_H
#define CUBED_CALENDAR_H

#include "cubed/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Converts days since 1970-01-01 to a date of the proleptic Gregorian calendar. `days` may be negative, and must be between
 * -2**60 and 2**60. Years are numbered without a gap: the year before year 1 is year 0, and the year before that is -1. */
CUBED_API void cubed_date_of_days(int64_t days, int64_t *year, int *month, int *day);

/* Calendars of the CF conventions. */
typedef enum cubed_calendar {
    CUBED_CALENDAR_STANDARD,  /* Julian until 1582-10-04, Gregorian from the next day, 1582-10-15 */
    CUBED_CALENDAR_PROLEPTIC, /* Gregorian for all dates */
    CUBED_CALENDAR_JULIAN,
    CUBED_CALENDAR_NOLEAP,   /* all years have 365 days */
    CUBED_CALENDAR_ALL_LEAP, /* all years have 366 days */
    CUBED_CALENDAR_360       /* all months have 30 days */
} cubed_calendar;

/* A date of any calendar. Years are numbered without a gap: the year before year 1 is year 0. */
typedef struct cubed_date {
    int64_t year;
    int month, day; /* from 1 */
} cubed_date;

/* Finds a calendar by its CF name ("noleap", "365_day", ...), in upper or lower case. Returns false if CF has no such name. */
CUBED_API bool cubed_calendar_parse(const char *name, cubed_calendar *out);
/* Returns the first CF name of a calendar, a static string. */
CUBED_API const char *cubed_calendar_name(cubed_calendar c);
/* Returns the number of days from a fixed origin of the calendar to a date. Months outside 1 to 12 belong to other years:
 * month 13 of a year is January of the next year. */
CUBED_API int64_t cubed_calendar_days(cubed_calendar c, int64_t year, int64_t month, int day);
/* Returns the date that is `days` days after the origin: the inverse of cubed_calendar_days. */
CUBED_API cubed_date cubed_calendar_date(cubed_calendar c, int64_t days);
/* Returns the number of days in a month. October 1582 of the standard calendar has 21 days. */
CUBED_API int cubed_calendar_month_length(cubed_calendar c, int64_t year, int month);

#define CUBED_US_PER_DAY INT64_C(86400000000)

/* The meaning of a time coordinate's numbers: a number is the time base + number * unit / divide, in microseconds after the
 * calendar's origin. */
typedef struct cubed_time_axis {
    cubed_calendar calendar;
    int64_t unit, base; /* microseconds */
    int divide; /* divisor of the numbers: 1000 if the unit is a nanosecond (`unit` is then 1), otherwise 1 */
} cubed_time_axis;

/* Parses units of a time coordinate, such as "hours since 1900-01-01 00:00:00", as cftime, UDUNITS and Pandas do.
 * - Upper and lower case are equivalent, and there may be any number of blanks.
 * - Dates may be written as 2000-1-1, 2000/01/01, 20000101 or 2000-01-01T06:00Z, for example, and may have a time zone.
 * - "months since" needs the calendar 360_day and "common_years since" noleap, because other calendars have no fixed length for
 *   these units.
 * - Years after 290000, or before -290000, are refused because their microseconds do not fit int64.
 *
 * Errors: CUBED_E_ARG; the message quotes the units and names the mistake. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_time_units_parse(const char *units, cubed_calendar c,
                                                               cubed_time_axis *out,
                                                               cubed_error *err);
/* Returns whether units have the form "UNIT since DATE", in upper or lower case. Does not check the unit and the date. */
CUBED_API bool cubed_time_units_since(const char *units);
/* Parses a date that may be incomplete, or end with a time: "2020", "2020-1", "2020-01-05T12", "20200105", "Jan 2020",
 * "5 Jan 2020", "January 5, 2020". Names of months are English, in full or as three letters, in upper or lower case. Ambiguous
 * numbers are refused: "5/1/2020", "20-01-05", "202001". The date names a span of time, such as the whole year 2020. Sets
 * *first to the first microsecond of the span, and *after to the first one after the span. Returns false if `text` is not a
 * date of the calendar. */
CUBED_API bool cubed_time_span_parse(const char *text, cubed_calendar c, int64_t *first,
                                     int64_t *after);
/* Convert a number of a time coordinate to microseconds after the calendar's origin. cubed_time_of_float rounds to the
 * nearest microsecond, cubed_time_of_int rounds nanoseconds down. Return false for NaN, for times that do not fit int64, and
 * for floats that are 4e18 microseconds (127,000 years) or more from the base. */
CUBED_API bool cubed_time_of_float(const cubed_time_axis *a, double number, int64_t *us);
CUBED_API bool cubed_time_of_int(const cubed_time_axis *a, int64_t number, int64_t *us);
#define CUBED_TIME_TEXT_CAP 48
/* Writes a time as "2020-01-05T12:00:00", and returns `text`. Fractions of a second have three digits, or six if three are not
 * exact. */
CUBED_API const char *cubed_time_text(cubed_calendar c, int64_t us, char text[CUBED_TIME_TEXT_CAP]);

/* Returns a / b, rounded towards minus infinity. */
static inline int64_t cubed_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

#ifdef __cplusplus
}
#endif

#endif
