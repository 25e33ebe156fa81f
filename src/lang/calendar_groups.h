/* Divides the elements of a time coordinate into groups: by parts of their dates (such as the month), or by intervals of time. */
#ifndef CUBED_LANG_CALENDAR_GROUPS_H
#define CUBED_LANG_CALENDAR_GROUPS_H

#include "lang/axis_values.h"
#include "lang/calendar_call.h"

/* Attribute of a coordinate of days that are counted by date: the length of the year to which the day numbers refer. */
#define CALENDAR_YEAR_DAYS "days_in_year"

/* Names of seasons in the order of groups: by name. */
extern const char calendar_seasons[4][4];
/* Index in calendar_seasons of DJF, MAM, JJA, SON. The permutation is its own inverse. */
extern const int calendar_season_of_quarter[4];

/* Intervals of a resampling: each has `months` months, or a fixed length of `width` microseconds. */
typedef struct intervals {
    int64_t months, width; /* length in months, or in microseconds; exactly one is 0 */
    int anchor;   /* first month of years or quarters, from 0; or first day of weeks, 0: Monday */
    int64_t unit; /* months in a year, quarter or month: 12, 3 or 1; 0 if the length is fixed */
    bool weeks;
    bool
        ends; /* intervals are labelled by their last days; the earliest time is in the last unit of the first interval */
    int64_t first; /* number of the first unit, or microsecond at which the first interval begins */
} intervals;

/* The groups, and the group number of each element. */
typedef struct groups {
    int64_t n, *code;        /* n elements */
    int64_t ngroups, *value; /* part of dates, or interval number, of each group */
    int year_days;           /* length of the year to which day numbers refer; 0 for other groups */
} groups;

/* Returns a part of the date of a time, which is given in microseconds after the calendar's origin. Seasons are numbers in
 * calendar_seasons. */
int64_t date_part_of(cubed_calendar c, int64_t us, date_part what);
/* Returns the first microsecond of interval k. */
int64_t intervals_start(cubed_calendar c, int64_t k, const intervals *s);

/* Reads the times along the dimension of the call, axis *d of x. *v is freed with axis_values_free after success. */
CUBED_MUST_CHECK cubed_status calendar_read_times(expr_builder *b, const expr *e,
                                                  const calendar_call *call, const cubed_array *x,
                                                  int *d, axis_values *v);
/* Finds the groups of a call. Sets *s for intervals and *what for parts of dates. The caller frees g->code and g->value with
 * lang_free, even after an error. */
CUBED_MUST_CHECK cubed_status calendar_groups_find(expr_builder *b, const expr *e,
                                                   const calendar_call *call, const axis_values *v,
                                                   groups *g, intervals *s, date_part *what);

#endif
