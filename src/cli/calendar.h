/* Dates in the calendars of the CF conventions (section 4.4.1), and times that count from one. */
#ifndef CUBED_CLI_CALENDAR_H
#define CUBED_CLI_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum calendar {
    CALENDAR_STANDARD, /* Julian up to 1582-10-04, Gregorian from the next day on, 1582-10-15 */
    CALENDAR_PROLEPTIC,
    CALENDAR_JULIAN,
    CALENDAR_NOLEAP,
    CALENDAR_ALL_LEAP,
    CALENDAR_360
} calendar;

/* Years are astronomical: there is a year 0. */
typedef struct calendar_date {
    int64_t year;
    int month, day; /* from 1 */
} calendar_date;

/* "noleap", "365_day", ...; false if CF has none of that name. */
bool calendar_parse(const char *name, calendar *out);
const char *calendar_name(calendar c);
/* Days from an origin that is the calendar's own; months may lie beyond 1 to 12, and count on. */
int64_t calendar_days(calendar c, int64_t year, int64_t month, int day);
calendar_date calendar_of(calendar c, int64_t days);
int calendar_month_length(calendar c, int64_t year, int month);

#define CALENDAR_US_PER_DAY INT64_C(86400000000)

/* What the numbers of a coordinate mean: microseconds from the calendar's origin are base + number * unit. */
typedef struct calendar_axis {
    calendar calendar;
    int64_t unit, base;
} calendar_axis;

/* "hours since 1900-01-01 00:00:00"; false, with what is wrong in `why`, if these are no such units. */
bool calendar_parse_units(const char *units, calendar c, calendar_axis *out, char *why, size_t cap);
/* A date, perhaps with a time behind it: "2020", "2020-01", "2020-01-05T12": the first microsecond that is meant and
 * the first one behind. False if `text` is none. */
bool calendar_parse_span(const char *text, calendar c, int64_t *first, int64_t *behind);
/* The time of a number, to the microsecond; false if it is none (NaN), or beyond what is counted here. */
bool calendar_time(const calendar_axis *a, double number, int64_t *us);
bool calendar_time_of_int(const calendar_axis *a, int64_t number, int64_t *us);
/* "2020-01-05T12:00:00" */
const char *calendar_text(calendar c, int64_t us, char text[48]);

static inline int64_t calendar_floor(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

#endif
