#include "cubed/calendar.h"

#include <ctype.h>
#include <string.h>

#include "dtype/element.h"

static const struct {
    const char *name;
    cubed_calendar calendar;
} names[] = {{"standard", CUBED_CALENDAR_STANDARD},
             {"gregorian", CUBED_CALENDAR_STANDARD},
             {"proleptic_gregorian", CUBED_CALENDAR_PROLEPTIC},
             {"julian", CUBED_CALENDAR_JULIAN},
             {"noleap", CUBED_CALENDAR_NOLEAP},
             {"365_day", CUBED_CALENDAR_NOLEAP},
             {"all_leap", CUBED_CALENDAR_ALL_LEAP},
             {"366_day", CUBED_CALENDAR_ALL_LEAP},
             {"360_day", CUBED_CALENDAR_360}};

bool cubed_calendar_parse(const char *name, cubed_calendar *out)
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

const char *cubed_calendar_name(cubed_calendar c)
{
    size_t i = 0;
    while (names[i].calendar != c) i++;
    return names[i].name;
}

/* --- Days --------------------------------------------------------------------------------------------- */

#define DAYS_TO_1970 719468

/* Days from 0000-03-01 of the Gregorian calendar. The Julian 0000-03-01 is 0000-02-28 in the Gregorian calendar, so Julian
 * results are shifted by 2 days. */
static int64_t gregorian_days(int64_t year, int64_t month, int day)
{
    return cb_days_of_date(year, (int)month, day) + DAYS_TO_1970;
}

/* Years begin in March here, so that the leap day is last. */
static int64_t julian_days(int64_t year, int64_t month, int day)
{
    const int64_t y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;
    return 365 * y + cubed_floor_div(y, 4) + (153 * m + 2) / 5 + day - 3;
}

static cubed_date gregorian_date(int64_t days)
{
    cubed_date d;
    cubed_date_of_days(days - DAYS_TO_1970, &d.year, &d.month, &d.day);
    return d;
}

static cubed_date julian_date(int64_t days)
{
    days += 2;
    const int64_t era = cubed_floor_div(days, 1461), in_era = days - era * 1461;
    const int64_t of = in_era == 1460 ? 3 : in_era / 365;
    const int64_t rest = in_era - 365 * of, y = era * 4 + of;
    const int m = (int)((5 * rest + 2) / 153);
    return (cubed_date){m < 10 ? y : y + 1, m < 10 ? m + 3 : m - 9,
                        (int)(rest - (153 * m + 2) / 5) + 1};
}

/* 1582-10-15 */
static int64_t first_gregorian(void) { return gregorian_days(1582, 10, 15); }

static int leap_days(cubed_calendar c) { return c == CUBED_CALENDAR_ALL_LEAP; }

static const int before_month[13] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

/* Returns the number of days of a year before a month (0: January, 12: the end of the year), for calendars in which all years
 * have the same length. */
static int days_before(cubed_calendar c, int month)
{
    return before_month[month] + (month > 1) * leap_days(c);
}

int64_t cubed_calendar_days(cubed_calendar c, int64_t year, int64_t month, int day)
{
    const int64_t more = cubed_floor_div(month - 1, 12);
    year += more;
    month -= 12 * more;
    int64_t days;
    switch (c) {
    case CUBED_CALENDAR_PROLEPTIC: return gregorian_days(year, month, day);
    case CUBED_CALENDAR_JULIAN: return julian_days(year, month, day);
    case CUBED_CALENDAR_STANDARD:
        days = gregorian_days(year, month, day);
        return days >= first_gregorian() ? days : julian_days(year, month, day);
    case CUBED_CALENDAR_360: return year * 360 + (month - 1) * 30 + day - 1;
    default: return year * (365 + leap_days(c)) + days_before(c, (int)month - 1) + day - 1;
    }
}

cubed_date cubed_calendar_date(cubed_calendar c, int64_t days)
{
    if (c == CUBED_CALENDAR_360) {
        const int64_t year = cubed_floor_div(days, 360), rest = days - year * 360;
        return (cubed_date){year, (int)(rest / 30) + 1, (int)(rest % 30) + 1};
    }
    if (c == CUBED_CALENDAR_NOLEAP || c == CUBED_CALENDAR_ALL_LEAP) {
        const int length = 365 + leap_days(c);
        const int64_t year = cubed_floor_div(days, length);
        const int rest = (int)(days - year * length);
        int month = 0;
        while (days_before(c, month + 1) <= rest) month++;
        return (cubed_date){year, month + 1, rest - days_before(c, month) + 1};
    }
    const bool gregorian = c == CUBED_CALENDAR_PROLEPTIC ||
                           (c == CUBED_CALENDAR_STANDARD && days >= first_gregorian());
    return gregorian ? gregorian_date(days) : julian_date(days);
}

int cubed_calendar_month_length(cubed_calendar c, int64_t year, int month)
{
    return (int)(cubed_calendar_days(c, year, month + 1, 1) -
                 cubed_calendar_days(c, year, month, 1));
}
