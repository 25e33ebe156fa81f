/* Calls that group by the calendar of a coordinate: groupby="time.month", resample="1D", monmean(x), ... */
#ifndef CUBED_LANG_CALENDAR_CALL_H
#define CUBED_LANG_CALENDAR_CALL_H

#include "lang/expr_builder.h"
#include "lang/guess.h"

typedef enum date_part {
    YEAR,
    QUARTER,
    SEASON,
    MONTH,
    WEEK_DAY,
    DAY_OF_YEAR,
    HOUR_OF_YEAR, /* from 0: hour 0 of January 1 */
    DAY,
    HOUR,
    MINUTE,
    SECOND
} date_part;

/* Looks up a part of dates, such as "month". Returns false if there is no part with that name. */
bool date_part_find(const char *name, date_part *out);

/* A call that groups by a calendar. */
typedef struct calendar_call {
    const char *reduction; /* "mean" */
    const char *dim;       /* "time" */
    size_t ndim;           /* length of `dim` */
    const char *component,
        *frequency; /* part of dates, or frequency of intervals; at most one is not NULL */
    bool only;      /* true: intervals without elements are left out */
    /* Days and hours of the year are counted by date, so that March 1 has the same number in all years. */
    bool by_date;
    bool skip_nan;
    double correction;
    int64_t min_count;
    const char *method; /* method of quantiles */
    bool
        in_time_order; /* seasons are in the order of the year, from DJF; otherwise in the order of their names */
    int most;      /* maximum number of positional arguments */
    const expr *q; /* positional quantiles; NULL if not given */
} calendar_call;

/* Reads a call that groups by a calendar. Returns false for other calls, such as a groupby whose name is not a part of a
 * date and therefore the name of labels. */
bool calendar_call_find(const expr *e, calendar_call *c);
/* Reads a call of a statistic over windows of time steps, such as ydrunmean(x, 5) or runpctl(x, 90, 5). With a component, the
 * windows around one day of all years form one group. Returns false for other calls. */
bool calendar_call_windows(const expr *e, calendar_call *c);
/* Reads a call of a statistic over sets of successive time steps, such as timselmean(x, 10). Returns false for other calls. */
bool calendar_call_sets(const expr *e, calendar_call *c);
/* Sets the reduction and its options for CDO's name of a statistic: "mean", "std1", "pctl", ... Returns false if there is no
 * such statistic. */
bool calendar_call_statistic(const char *suffix, calendar_call *c);
typedef enum calendar_family {
    FAMILY_YMON,
    FAMILY_YSEAS,
    FAMILY_YDAY,
    FAMILY_YHOUR,
    FAMILY_MON,
    FAMILY_DAY,
    FAMILY_YEAR,
    FAMILY_COUNT
} calendar_family;

/* Arithmetic of a time series with one element for each period, such as ymonsub(x, climatology). */
typedef struct calendar_operation {
    calendar_family family;
    cubed_op op;
    cubed_attrs_rule rule;
} calendar_operation;

/* Returns the operation of a function such as "ymonsub", or NULL. */
const calendar_operation *calendar_call_operation(const char *name);
/* Returns the part of dates by which a function such as selmon selects: "month", "year", "day", "hour", "season" or "date".
 * Returns NULL for other functions. */
const char *calendar_call_selection(const char *name);

/* Returns the axis of x with the dimension name of the call, or -1 if x has no such axis. */
int calendar_call_axis(const cubed_array *x, const calendar_call *c);
/* Returns the reduction of a calendar call ("mean"), and sets *axis to the axis of x that is reduced, or to -1. Returns NULL if
 * `e` is not a calendar call. */
const char *calendar_call_reduction(const expr *e, const cubed_array *x, int *axis);
/* Adds the names of parts of dates to the candidates. */
void calendar_call_guess(lang_guess *g);
/* Returns true if the function `name` groups by a calendar, as "monmean" does. */
bool calendar_call_is_function(const char *name);
/* Calls `put` with the name of each function that groups by a calendar. */
void calendar_call_each_function(void (*put)(void *ctx, const char *name), void *ctx);
/* Writes the usage and the purpose of a function that groups by a calendar. Returns false for other names. */
bool calendar_call_describe(const char *name, char *usage, size_t usage_cap, char *purpose,
                            size_t purpose_cap);

/* Reads the groups of anomaly(x, "time.month") or anomaly(x, groupby="time.month"). Returns false if they are not a part of
 * dates. */
bool calendar_call_anomaly(const expr *e, calendar_call *c);

#endif
