#include "calendar.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cubed/calendar.h"

static const struct {
    const char *name;
    calendar calendar;
} names[] = {{"standard", CALENDAR_STANDARD},
             {"gregorian", CALENDAR_STANDARD},
             {"proleptic_gregorian", CALENDAR_PROLEPTIC},
             {"julian", CALENDAR_JULIAN},
             {"noleap", CALENDAR_NOLEAP},
             {"365_day", CALENDAR_NOLEAP},
             {"all_leap", CALENDAR_ALL_LEAP},
             {"366_day", CALENDAR_ALL_LEAP},
             {"360_day", CALENDAR_360}};

bool calendar_parse(const char *name, calendar *out)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i].name);
        bool same = strlen(name) == n;
        for (size_t k = 0; same && k < n; k++)
            same = tolower((unsigned char)name[k]) == names[i].name[k];
        if (!same) continue;
        *out = names[i].calendar;
        return true;
    }
    return false;
}

const char *calendar_name(calendar c)
{
    size_t i = 0;
    while (names[i].calendar != c) i++;
    return names[i].name;
}

/* --- Days --------------------------------------------------------------------------------------------- */

/* Both kinds count days from 0000-03-01 of their own, and then Julian ones are moved: on that day of the Julian
 * calendar it was 0000-02-28 of the Gregorian one. Years that begin with March end with the leap day. */
static int64_t days_of_march_years(int64_t year, int64_t month, int day, bool gregorian)
{
    const int64_t y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;
    const int64_t within = (153 * m + 2) / 5 + day - 1;
    int64_t days = 365 * y + calendar_floor(y, 4) + within;
    if (gregorian) days += calendar_floor(y, 400) - calendar_floor(y, 100);
    return gregorian ? days : days - 2;
}

#define DAYS_TO_1970 719468

static calendar_date gregorian_date(int64_t days)
{
    calendar_date d;
    cubed_date_of_days(days - DAYS_TO_1970, &d.year, &d.month, &d.day);
    return d;
}

static calendar_date julian_date(int64_t days)
{
    days += 2;
    const int64_t era = calendar_floor(days, 1461), in_era = days - era * 1461;
    const int64_t of = in_era == 1460 ? 3 : in_era / 365;
    const int64_t rest = in_era - 365 * of, y = era * 4 + of;
    const int m = (int)((5 * rest + 2) / 153);
    return (calendar_date){m < 10 ? y : y + 1, m < 10 ? m + 3 : m - 9,
                           (int)(rest - (153 * m + 2) / 5) + 1};
}

/* 1582-10-15 */
static int64_t first_gregorian(void) { return days_of_march_years(1582, 10, 15, true); }

static int leap_days(calendar c) { return c == CALENDAR_ALL_LEAP; }

static const int before_month[13] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

/* Of years of one length: days in front of a month (0 to 12). */
static int days_before(calendar c, int month)
{
    return before_month[month] + (month > 1) * leap_days(c);
}

int64_t calendar_days(calendar c, int64_t year, int64_t month, int day)
{
    const int64_t more = calendar_floor(month - 1, 12);
    year += more;
    month -= 12 * more;
    int64_t days;
    switch (c) {
    case CALENDAR_PROLEPTIC: return days_of_march_years(year, month, day, true);
    case CALENDAR_JULIAN: return days_of_march_years(year, month, day, false);
    case CALENDAR_STANDARD:
        days = days_of_march_years(year, month, day, true);
        return days >= first_gregorian() ? days : days_of_march_years(year, month, day, false);
    case CALENDAR_360: return year * 360 + (month - 1) * 30 + day - 1;
    default: return year * (365 + leap_days(c)) + days_before(c, (int)month - 1) + day - 1;
    }
}

calendar_date calendar_of(calendar c, int64_t days)
{
    if (c == CALENDAR_360) {
        const int64_t year = calendar_floor(days, 360), rest = days - year * 360;
        return (calendar_date){year, (int)(rest / 30) + 1, (int)(rest % 30) + 1};
    }
    if (c == CALENDAR_NOLEAP || c == CALENDAR_ALL_LEAP) {
        const int length = 365 + leap_days(c);
        const int64_t year = calendar_floor(days, length);
        const int rest = (int)(days - year * length);
        int month = 0;
        while (days_before(c, month + 1) <= rest) month++;
        return (calendar_date){year, month + 1, rest - days_before(c, month) + 1};
    }
    const bool gregorian =
        c == CALENDAR_PROLEPTIC || (c == CALENDAR_STANDARD && days >= first_gregorian());
    return gregorian ? gregorian_date(days) : julian_date(days);
}

int calendar_month_length(calendar c, int64_t year, int month)
{
    return (int)(calendar_days(c, year, month + 1, 1) - calendar_days(c, year, month, 1));
}

/* --- Text --------------------------------------------------------------------------------------------- */

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

/* The last day: of the month in which the Gregorian calendar began it is not its length. */
static int longest(calendar c, int64_t year, int month)
{
    const bool began = c == CALENDAR_STANDARD && year == 1582 && month == 10;
    return began ? 31 : calendar_month_length(c, year, month);
}

/* A date and a time as far as they go, and microseconds of the smallest part that is there; behind it *s. */
static bool take_date(const char **s, calendar c, int64_t *first, int64_t *behind)
{
    int64_t year, month = 1, day = 1, part[3] = {0, 0, 0}, fraction = 0;
    static const int64_t units[3] = {3600000000, 60000000, 1000000};
    const bool negative = take(s, '-');
    int depth =
        0; /* 0: a year, 1: a month, 2: a day, then hours, minutes, seconds, and 6: parts of one */
    if (!take_int(s, 6, &year)) return false;
    if (negative) year = -year;
    if (take(s, '-')) {
        if (!take_int(s, 2, &month) || month < 1 || month > 12) return false;
        depth = 1;
        if (take(s, '-')) {
            if (!take_int(s, 2, &day) || day < 1 || day > longest(c, year, (int)month))
                return false;
            depth = 2;
        }
    }
    if (depth == 2 && (**s == 'T' || (**s == ' ' && isdigit((unsigned char)(*s)[1])))) {
        ++*s;
        for (; depth < 5 && (depth == 2 || take(s, ':')); depth++) {
            if (!take_int(s, 2, &part[depth - 2]) || part[depth - 2] >= (depth == 2 ? 25 : 61))
                return false;
        }
        int64_t unit = 100000;
        if (depth == 5 && take(s, '.')) {
            for (depth = 6; isdigit((unsigned char)**s); ++*s, unit /= 10)
                fraction += (**s - '0') * unit;
        }
    }
    *first = calendar_days(c, year, month, (int)day) * CALENDAR_US_PER_DAY + fraction;
    for (int i = 0; i < 3; i++) *first += part[i] * units[i];
    if (depth == 0)
        *behind = calendar_days(c, year + 1, 1, 1) * CALENDAR_US_PER_DAY;
    else if (depth == 1)
        *behind = calendar_days(c, year, month + 1, 1) * CALENDAR_US_PER_DAY;
    else
        *behind = *first + (depth == 2 ? CALENDAR_US_PER_DAY : depth == 6 ? 1 : units[depth - 3]);
    return true;
}

bool calendar_parse_span(const char *text, calendar c, int64_t *first, int64_t *behind)
{
    return take_date(&text, c, first, behind) && !*text;
}

/* "Z", "UTC", "+01:00", "-3", or nothing: microseconds that the date's clock is ahead. */
static bool take_zone(const char *s, int64_t *ahead)
{
    *ahead = 0;
    while (*s == ' ') s++;
    if (strcmp(s, "Z") == 0 || strcmp(s, "UTC") == 0 || strcmp(s, "GMT") == 0) return true;
    if (*s != '+' && *s != '-') return !*s;
    const int64_t sign = *s++ == '-' ? -1 : 1;
    int64_t hours, minutes = 0;
    if (!take_int(&s, 2, &hours)) return false;
    (void)take(&s, ':');
    if (*s && !take_int(&s, 2, &minutes)) return false;
    *ahead = sign * (hours * 60 + minutes) * 60000000;
    return !*s;
}

bool calendar_parse_units(const char *units, calendar c, calendar_axis *out, char *why, size_t cap)
{
    static const struct {
        const char *names[5];
        int64_t us;
    } known[] = {{{"days", "day", "d", NULL}, 86400000000},
                 {{"hours", "hour", "h", "hr", "hrs"}, 3600000000},
                 {{"minutes", "minute", "min", "mins", NULL}, 60000000},
                 {{"seconds", "second", "s", "sec", "secs"}, 1000000},
                 {{"milliseconds", "millisecond", "ms", "msec", NULL}, 1000},
                 {{"microseconds", "microsecond", "us", NULL}, 1},
                 {{"weeks", "week", NULL}, 604800000000}};
    const char *since = strstr(units, " since ");
    const size_t n = since ? (size_t)(since - units) : 0;
    int64_t behind, ahead;
    *out = (calendar_axis){.calendar = c};
    for (size_t i = 0; since && i < sizeof known / sizeof *known; i++) {
        for (int k = 0; k < 5 && known[i].names[k]; k++) {
            if (strlen(known[i].names[k]) == n && strncmp(units, known[i].names[k], n) == 0)
                out->unit = known[i].us;
        }
    }
    const char *date = since ? since + 7 : "";
    while (*date == ' ') date++;
    if (out->unit && take_date(&date, c, &out->base, &behind) && take_zone(date, &ahead)) {
        out->base -= ahead;
        return true;
    }
    snprintf(
        why, cap,
        "its units are \"%.80s\", expected \"days since 2000-01-01\", or weeks, hours, minutes, "
        "seconds, milliseconds or microseconds since a date of the calendar %s",
        units, calendar_name(c));
    return false;
}

bool calendar_time(const calendar_axis *a, double number, int64_t *us)
{
    const double v = number * (double)a->unit;
    if (!(fabs(v) < 4e18)) return false;
    /* The whole units apart: they are exact. */
    const double whole = floor(number);
    const int64_t rest = (int64_t)llround((number - whole) * (double)a->unit);
    return !__builtin_add_overflow((int64_t)whole * a->unit + rest, a->base, us);
}

bool calendar_time_of_int(const calendar_axis *a, int64_t number, int64_t *us)
{
    int64_t v;
    return !__builtin_mul_overflow(number, a->unit, &v) && !__builtin_add_overflow(v, a->base, us);
}

const char *calendar_text(calendar c, int64_t us, char text[48])
{
    const int64_t days = calendar_floor(us, CALENDAR_US_PER_DAY);
    const int64_t s = (us - days * CALENDAR_US_PER_DAY) / 1000000;
    const calendar_date d = calendar_of(c, days);
    snprintf(text, 48, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02d", d.year, d.month, d.day,
             (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    return text;
}
