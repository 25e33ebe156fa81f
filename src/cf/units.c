/* Units of time ("hours since 1900-01-01"), and the dates in them. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "cubed/calendar.h"

/* --- Dates -------------------------------------------------------------------------------------------- */

static const int64_t us_of_part[3] = {3600000000, 60000000, 1000000};

static bool take_int(const char **s, int most, int64_t *out)
{
    int n = 0;
    int64_t v = 0;
    while (n < most && isdigit((unsigned char)(*s)[n])) v = 10 * v + (*s)[n++] - '0';
    *s += n;
    *out = v;
    return n > 0;
}

static bool take(const char **s, char c)
{
    if (**s != c) return false;
    ++*s;
    return true;
}

static void skip_blanks(const char **s)
{
    while (isspace((unsigned char)**s)) ++*s;
}

static int count_digits(const char *s)
{
    int n = 0;
    while (isdigit((unsigned char)s[n])) n++;
    return n;
}

/* Returns the number of the last day of a month. October 1582 of the standard calendar ends on the 31st, although it has
 * only 21 days. */
static int last_day(cubed_calendar c, int64_t year, int month)
{
    const bool began = c == CUBED_CALENDAR_STANDARD && year == 1582 && month == 10;
    return began ? 31 : cubed_calendar_month_length(c, year, month);
}

/* Maximum year for which microseconds since the origin of a calendar fit in int64. */
enum { MOST_YEAR = 290000 };

/* The last component of a date in a string. Components are ordered from the year to the fraction of a second. */
typedef enum depth { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, FRACTION } depth;

/* Parses 2000, 2000-1, 2000-1-1, 2000/01/01 or 20000101. */
static bool take_day(const char **s, cubed_calendar c, int64_t *days, int64_t *after, depth *found)
{
    int64_t year, month = 1, day = 1;
    const bool negative = take(s, '-');
    if (!negative) (void)take(s, '+');
    const bool basic = count_digits(*s) == 8;
    *found = YEAR;
    if (!take_int(s, basic ? 4 : 7, &year) || year > MOST_YEAR) return false;
    if (negative) year = -year;
    const char separator = **s == '/' ? '/' : '-';
    if (basic || take(s, separator)) {
        *found = MONTH;
        if (!take_int(s, 2, &month) || month < 1 || month > 12) return false;
        if (basic || take(s, separator)) {
            *found = DAY;
            if (!take_int(s, 2, &day) || day < 1 || day > last_day(c, year, (int)month))
                return false;
        }
    }
    *days = cubed_calendar_days(c, year, month, (int)day);
    *after = *found == YEAR    ? cubed_calendar_days(c, year + 1, 1, 1)
             : *found == MONTH ? cubed_calendar_days(c, year, month + 1, 1)
                               : *days + 1;
    return true;
}

/* Parses the English name of a month, or its first three letters. Returns its number, or 0. */
static int take_month(const char **s)
{
    static const char *const names[12] = {"january",   "february", "march",    "april",
                                          "may",       "june",     "july",     "august",
                                          "september", "october",  "november", "december"};
    size_t n = 0;
    while (isalpha((unsigned char)(*s)[n])) n++;
    for (int m = 0; m < 12; m++) {
        if ((n != 3 && n != strlen(names[m])) || strncasecmp(*s, names[m], n) != 0) continue;
        *s += n;
        return m + 1;
    }
    return 0;
}

static void skip_between(const char **s)
{
    if (!take(s, '-')) skip_blanks(s);
}

/* Parses "Jan 2020", "5 Jan 2020", "5-Jan-2020" or "January 5, 2020". Advances *s only if there is such a date. */
static bool take_named_day(const char **s, cubed_calendar c, int64_t *days, int64_t *after,
                           depth *found)
{
    const char *at = *s;
    int64_t year, day = 1;
    bool has_day = count_digits(at) > 0 && count_digits(at) < 3 && take_int(&at, 2, &day);
    if (has_day) skip_between(&at);
    const int month = take_month(&at);
    if (month == 0) return false;
    skip_between(&at);
    if (!has_day && count_digits(at) < 3) {
        has_day = take_int(&at, 2, &day);
        if (!has_day || (!take(&at, ',') && !isspace((unsigned char)*at))) return false;
        skip_blanks(&at);
    }
    /* Require four digits for the year: two digits could mean any century. */
    if (count_digits(at) != 4 || !take_int(&at, 4, &year) || day < 1 ||
        day > last_day(c, year, month))
        return false;
    *found = has_day ? DAY : MONTH;
    *days = cubed_calendar_days(c, year, month, (int)day);
    *after = has_day ? *days + 1 : cubed_calendar_days(c, year, month + 1, 1);
    *s = at;
    return true;
}

/* Parses 12, 12:30, 12:30:15, 12:30:15.25, 1230 or 123015. */
static bool take_time(const char **s, int64_t *us, depth *found)
{
    const int digits = count_digits(*s);
    const bool basic = digits == 4 || digits == 6;
    for (int k = 0; k < 3; k++) {
        int64_t part;
        if (k > 0 && !(basic ? isdigit((unsigned char)**s) : take(s, ':'))) return true;
        if (!take_int(s, 2, &part) || part > (k == 0 ? 24 : 60)) return false;
        *us += part * us_of_part[k];
        *found = HOUR + k;
    }
    if (!take(s, '.')) return true;
    *found = FRACTION;
    for (int64_t unit = 100000; isdigit((unsigned char)**s); ++*s, unit /= 10)
        *us += (**s - '0') * unit;
    return true;
}

/* Parses a date and an optional time after it, and advances *s. If `names` is set, months may be written as names. */
static bool take_date(const char **s, cubed_calendar c, bool names, int64_t *first, int64_t *after)
{
    int64_t days, next, us = 0;
    depth found;
    if (!(names && take_named_day(s, c, &days, &next, &found)) &&
        !take_day(s, c, &days, &next, &found))
        return false;
    const char *time = *s;
    if (found == DAY && (*time == 'T' || *time == 't'))
        time++;
    else
        skip_blanks(&time);
    if (found == DAY && time > *s && isdigit((unsigned char)*time)) {
        *s = time;
        if (!take_time(s, &us, &found)) return false;
    }
    *first = days * CUBED_US_PER_DAY + us;
    *after = found <= DAY        ? next * CUBED_US_PER_DAY
             : found == FRACTION ? *first + 1
                                 : *first + us_of_part[found - HOUR];
    return true;
}

/* Returns true for numbers that may mean several dates: 5/1/2020, 20-01-05 and 202001. */
static bool is_ambiguous(const char *text)
{
    if (*text == '-' || *text == '+') text++;
    const int digits = count_digits(text);
    if (digits == 6) return !text[digits];
    return digits < 3 && (text[digits] == '/' || text[digits] == '-') &&
           isdigit((unsigned char)text[digits + 1]);
}

bool cubed_time_span_parse(const char *text, cubed_calendar c, int64_t *first, int64_t *after)
{
    return !is_ambiguous(text) && take_date(&text, c, true, first, after) && !*text;
}

/* Parses a time zone after a date: "Z", "UTC", "+01:00", "-3" or nothing. *ahead is in microseconds ahead of UTC. */
static bool take_zone(const char *s, int64_t *ahead)
{
    *ahead = 0;
    skip_blanks(&s);
    size_t n = strlen(s);
    while (n > 0 && isspace((unsigned char)s[n - 1])) n--;
    if (n == 0 || (n == 1 && strncasecmp(s, "Z", n) == 0) ||
        (n == 3 && (strncasecmp(s, "UTC", n) == 0 || strncasecmp(s, "GMT", n) == 0)))
        return true;
    if (*s != '+' && *s != '-') return false;
    const char *const end = s + n;
    const int64_t sign = *s++ == '-' ? -1 : 1;
    int64_t hours, minutes = 0;
    if (!take_int(&s, 2, &hours)) return false;
    (void)take(&s, ':');
    if (s < end && !take_int(&s, 2, &minutes)) return false;
    *ahead = sign * (hours * us_of_part[0] + minutes * us_of_part[1]);
    return s == end;
}

/* --- Units -------------------------------------------------------------------------------------------- */

typedef struct named_unit {
    const char *names[9]; /* names in lower case, with a NULL at the end */
    int64_t us;
    int divide;
    int calendar; /* the calendar in which the unit has a fixed length; -1: in all calendars */
} named_unit;

static const named_unit known[] = {
    {{"days", "day", "d"}, CUBED_US_PER_DAY, 1, -1},
    {{"hours", "hour", "hrs", "hr", "h"}, 3600000000, 1, -1},
    {{"minutes", "minute", "mins", "min"}, 60000000, 1, -1},
    {{"seconds", "second", "secs", "sec", "s"}, 1000000, 1, -1},
    {{"milliseconds", "millisecond", "millisecs", "millisec", "msecs", "msec", "ms"}, 1000, 1, -1},
    {{"microseconds", "microsecond", "microsecs", "microsec", "usecs", "usec", "us"}, 1, 1, -1},
    {{"nanoseconds", "nanosecond", "nanosecs", "nanosec", "nsecs", "nsec", "ns"}, 1, 1000, -1},
    {{"weeks", "week"}, 7 * CUBED_US_PER_DAY, 1, -1},
    {{"months", "month"}, 30 * CUBED_US_PER_DAY, 1, CUBED_CALENDAR_360},
    {{"common_years", "common_year"}, 365 * CUBED_US_PER_DAY, 1, CUBED_CALENDAR_NOLEAP},
};

static const named_unit *find_unit(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (int k = 0; known[i].names[k]; k++) {
            if (strlen(known[i].names[k]) == n && strncasecmp(name, known[i].names[k], n) == 0)
                return &known[i];
        }
    }
    return NULL;
}

/* Splits "UNIT since DATE" at blanks, like cftime. Returns the date, or NULL for another form. */
static const char *split(const char *units, const char **name, size_t *n)
{
    static const char since[] = "since";
    skip_blanks(&units);
    *name = units;
    while (*units && !isspace((unsigned char)*units)) units++;
    *n = (size_t)(units - *name);
    skip_blanks(&units);
    if (*n == 0 || strncasecmp(units, since, sizeof since - 1) != 0) return NULL;
    units += sizeof since - 1;
    if (!isspace((unsigned char)*units)) return NULL;
    skip_blanks(&units);
    return *units ? units : NULL;
}

bool cubed_time_units_since(const char *units)
{
    const char *name;
    size_t n;
    return split(units, &name, &n) != NULL;
}

cubed_status cubed_time_units_parse(const char *units, cubed_calendar c, cubed_time_axis *out,
                                    cubed_error *err)
{
    const char *name;
    size_t n;
    int64_t after, ahead;
    const char *date = split(units, &name, &n);
    const named_unit *unit = date ? find_unit(name, n) : NULL;
    cubed_time_axis axis = {.calendar = c};
    if (unit && unit->calendar >= 0 && (cubed_calendar)unit->calendar != c)
        return cb_fail(
            err, CUBED_E_ARG,
            "its units are \"%.80s\": \"%s\" have a fixed length in the calendar %s, but "
            "not in %s; use days",
            units, unit->names[0], cubed_calendar_name((cubed_calendar)unit->calendar),
            cubed_calendar_name(c));
    if (unit && take_date(&date, c, false, &axis.base, &after) && take_zone(date, &ahead)) {
        axis.base -= ahead;
        axis.unit = unit->us;
        axis.divide = unit->divide;
        *out = axis;
        return CUBED_OK;
    }
    return cb_fail(
        err, CUBED_E_ARG,
        "its units are \"%.80s\", expected \"days since 2000-01-01\", or weeks, hours, minutes, "
        "seconds, milliseconds, microseconds or nanoseconds since a date of the calendar %s",
        units, cubed_calendar_name(c));
}

/* --- Times -------------------------------------------------------------------------------------------- */

bool cubed_time_of_float(const cubed_time_axis *a, double number, int64_t *us)
{
    /* Adds whole units separately from the fraction, because whole units are exact. */
    const double whole = floor(number / a->divide), rest = number - whole * a->divide;
    if (!(fabs(whole * (double)a->unit) < 4e18)) return false;
    const int64_t more = (int64_t)llround(rest * (double)a->unit / a->divide);
    return !__builtin_add_overflow((int64_t)whole * a->unit + more, a->base, us);
}

bool cubed_time_of_int(const cubed_time_axis *a, int64_t number, int64_t *us)
{
    int64_t v;
    return !__builtin_mul_overflow(cubed_floor_div(number, a->divide), a->unit, &v) &&
           !__builtin_add_overflow(v, a->base, us);
}

const char *cubed_time_text(cubed_calendar c, int64_t us, char text[CUBED_TIME_TEXT_CAP])
{
    const int64_t days = cubed_floor_div(us, CUBED_US_PER_DAY);
    const int64_t of_day = us - days * CUBED_US_PER_DAY, s = of_day / 1000000;
    const int fraction = (int)(of_day % 1000000);
    const cubed_date d = cubed_calendar_date(c, days);
    const int n =
        snprintf(text, CUBED_TIME_TEXT_CAP, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02d", d.year,
                 d.month, d.day, (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    if (fraction % 1000 != 0)
        snprintf(text + n, CUBED_TIME_TEXT_CAP - (size_t)n, ".%06d", fraction);
    else if (fraction != 0)
        snprintf(text + n, CUBED_TIME_TEXT_CAP - (size_t)n, ".%03d", fraction / 1000);
    return text;
}
