#include "lang/calendar_groups.h"

#include <stdlib.h>
#include <string.h>

#include "cubed/calendar.h"
#include "lang/lang_memory.h"

#define US_PER_S INT64_C(1000000)

const char calendar_seasons[4][4] = {"DJF", "JJA", "MAM", "SON"};
const int calendar_season_of_quarter[4] = {0, 2, 1, 3};

int64_t date_part_of(cubed_calendar c, int64_t us, date_part what)
{
    const int64_t days = cubed_floor_div(us, CUBED_US_PER_DAY), rest = us - days * CUBED_US_PER_DAY;
    const cubed_date d = cubed_calendar_date(c, days);
    switch (what) {
    case YEAR: return d.year;
    case QUARTER: return (d.month - 1) / 3 + 1;
    case SEASON: return calendar_season_of_quarter[d.month % 12 / 3];
    case MONTH: return d.month;
    case WEEK_DAY: {
        /* Counts weekdays from Monday: 2000-01-03 was a Monday in the Gregorian calendar. */
        const int64_t n = days - cubed_calendar_days(CUBED_CALENDAR_PROLEPTIC, 2000, 1, 3);
        return n - 7 * cubed_floor_div(n, 7);
    }
    case DAY_OF_YEAR: return days - cubed_calendar_days(c, d.year, 1, 1) + 1;
    case HOUR_OF_YEAR:
        return (days - cubed_calendar_days(c, d.year, 1, 1)) * 24 + rest / (3600 * US_PER_S);
    case DAY: return d.day;
    case HOUR: return rest / (3600 * US_PER_S);
    case MINUTE: return rest / (60 * US_PER_S) % 60;
    default: return rest / US_PER_S % 60;
    }
}

/* Parses the text after "-" of a frequency, as in Pandas. It is the month in which years or quarters begin (in which they
 * end, if s->ends), or the day on which weeks end. */
static bool parse_anchor(const char *text, intervals *s)
{
    static const char months[] = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
    static const char days[] = "MONTUEWEDTHUFRISATSUN";
    const char *names = s->weeks ? days : months;
    if (strlen(text) != 3 || (s->unit <= 1 && !s->weeks)) return false;
    for (int i = 0; *names; i++, names += 3) {
        if (strncmp(text, names, 3) != 0) continue;
        s->anchor = s->ends ? (i + 1) % (s->weeks ? 7 : 12) : i;
        return true;
    }
    return false;
}

static bool parse_intervals(const char *text, intervals *out)
{
    static const struct {
        const char *name;
        int64_t months, width;
        bool ends, weeks;
    } units[] = {{"YS", 12, 0, false, false},
                 {"AS", 12, 0, false, false},
                 {"Y", 12, 0, true, false},
                 {"YE", 12, 0, true, false},
                 {"A", 12, 0, true, false},
                 {"QS", 3, 0, false, false},
                 {"Q", 3, 0, true, false},
                 {"QE", 3, 0, true, false},
                 {"MS", 1, 0, false, false},
                 {"M", 1, 0, true, false},
                 {"ME", 1, 0, true, false},
                 {"W", 0, 7 * CUBED_US_PER_DAY, true, true},
                 {"D", 0, CUBED_US_PER_DAY, false, false},
                 {"h", 0, 3600 * US_PER_S, false, false},
                 {"H", 0, 3600 * US_PER_S, false, false},
                 {"min", 0, 60 * US_PER_S, false, false},
                 {"T", 0, 60 * US_PER_S, false, false},
                 {"s", 0, US_PER_S, false, false},
                 {"S", 0, US_PER_S, false, false}};
    int64_t n = 1;
    *out = (intervals){.anchor = 0};
    if (*text >= '0' && *text <= '9' && !lang_parse_int(&text, &n)) return false;
    if (n < 1 || n > 1000000) return false;
    const size_t length = strcspn(text, "-");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) != length || strncmp(units[i].name, text, length) != 0) continue;
        out->unit = units[i].months;
        out->months = n * units[i].months;
        out->width = n * units[i].width;
        out->ends = units[i].ends;
        out->weeks = units[i].weeks;
    }
    text += length;
    if (out->unit + out->width == 0) return false;
    return !*text || parse_anchor(text + 1, out);
}

static int64_t unit_of(cubed_calendar c, int64_t us, const intervals *s)
{
    const cubed_date d = cubed_calendar_date(c, cubed_floor_div(us, CUBED_US_PER_DAY));
    return cubed_floor_div(d.year * 12 + d.month - 1 - s->anchor, s->unit);
}

/* Returns the beginning of the interval that contains `least`, the earliest time. The result has the unit of intervals.first. */
static int64_t first_of_intervals(cubed_calendar c, int64_t least, const intervals *s)
{
    const int64_t day = cubed_floor_div(least, CUBED_US_PER_DAY);
    if (s->weeks) {
        const int64_t passed = date_part_of(c, least, WEEK_DAY) - s->anchor;
        return (day - (passed + 7) % 7) * CUBED_US_PER_DAY - s->width + 7 * CUBED_US_PER_DAY;
    }
    if (s->width) {
        const int64_t midnight = day * CUBED_US_PER_DAY;
        return midnight + cubed_floor_div(least - midnight, s->width) * s->width;
    }
    return unit_of(c, least, s) - (s->ends ? s->months / s->unit - 1 : 0);
}

static int64_t interval_of(cubed_calendar c, int64_t us, const intervals *s)
{
    return s->width ? cubed_floor_div(us - s->first, s->width)
                    : cubed_floor_div(unit_of(c, us, s) - s->first, s->months / s->unit);
}

int64_t intervals_start(cubed_calendar c, int64_t k, const intervals *s)
{
    if (s->width) return s->first + k * s->width;
    const int64_t month = s->first * s->unit + k * s->months + s->anchor;
    const int64_t year = cubed_floor_div(month, 12);
    return cubed_calendar_days(c, year, month - 12 * year + 1, 1) * CUBED_US_PER_DAY;
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sets `value` to the distinct values of `code`, in ascending order. Replaces each code by the index of its value. */
static cubed_status number_groups(expr_builder *b, const expr *e, groups *g)
{
    int64_t n = 0;
    EXPR_TRY(expr_alloc(b, e, g->n, sizeof *g->value, &g->value));
    memcpy(g->value, g->code, (size_t)g->n * sizeof *g->value);
    qsort(g->value, (size_t)g->n, sizeof *g->value, by_value);
    for (int64_t i = 0; i < g->n; i++) {
        if (n == 0 || g->value[n - 1] != g->value[i]) g->value[n++] = g->value[i];
    }
    g->ngroups = n;
    for (int64_t i = 0; i < g->n; i++) {
        const int64_t *at = bsearch(&g->code[i], g->value, (size_t)n, sizeof *g->value, by_value);
        g->code[i] = at - g->value;
    }
    return CUBED_OK;
}

/* Groups by month and day, or by month, day and hour, as CDO does. Days are numbered as in a leap year if a time is on February
 * 29, otherwise as in a common year. */
static cubed_status group_by_date(expr_builder *b, const expr *e, const axis_values *v,
                                  bool by_hour, groups *g)
{
    enum { MOST_DAYS = 31, LEAP_DAY = MOST_DAYS + 28 };
    const int64_t hours = by_hour ? 24 : 1;
    const cubed_calendar kind = v->axis.calendar;
    int64_t year = 2001;
    for (int64_t k = 0; k < v->n; k++) {
        const cubed_date d = cubed_calendar_date(kind, cubed_floor_div(v->us[k], CUBED_US_PER_DAY));
        g->code[k] = (int64_t)(d.month - 1) * MOST_DAYS + d.day - 1;
        if (g->code[k] == LEAP_DAY) year = 2000;
        if (by_hour) g->code[k] = g->code[k] * hours + date_part_of(kind, v->us[k], HOUR);
    }
    EXPR_TRY(number_groups(b, e, g));
    g->year_days =
        (int)(cubed_calendar_days(kind, year + 1, 1, 1) - cubed_calendar_days(kind, year, 1, 1));
    for (int64_t k = 0; k < g->ngroups; k++) {
        const int64_t date = g->value[k] / hours, hour = g->value[k] % hours;
        const int month = (int)(date / MOST_DAYS), day = (int)(date % MOST_DAYS);
        const int64_t passed = cubed_calendar_days(kind, year, month + 1, day + 1) -
                               cubed_calendar_days(kind, year, 1, 1);
        g->value[k] = by_hour ? passed * hours + hour : passed + 1;
    }
    return CUBED_OK;
}

cubed_status calendar_groups_find(expr_builder *b, const expr *e, const calendar_call *call,
                                  const axis_values *v, groups *g, intervals *s, date_part *what)
{
    const cubed_calendar kind = v->axis.calendar;
    g->n = v->n;
    EXPR_TRY(expr_alloc(b, e, v->n, sizeof *g->code, &g->code));
    if (call->component) {
        lang_guess guess;
        char text[GUESS_TEXT];
        lang_guess_init(&guess, call->component);
        calendar_call_guess(&guess);
        if (!date_part_find(call->component, what))
            return expr_fail(
                b->err, CUBED_E_ARG, b->text, e->at,
                "times have no part \"%s\"%s; expected year, quarter, season, month, day, "
                "dayofyear, hourofyear, dayofweek, hour, minute or second",
                call->component, lang_guess_text(&guess, text));
        if (call->by_date) return group_by_date(b, e, v, *what == HOUR_OF_YEAR, g);
        for (int64_t k = 0; k < v->n; k++) g->code[k] = date_part_of(kind, v->us[k], *what);
        const bool by_time = *what == SEASON && call->in_time_order;
        for (int64_t k = 0; k < v->n && by_time; k++)
            g->code[k] = calendar_season_of_quarter[g->code[k]];
        EXPR_TRY(number_groups(b, e, g));
        for (int64_t k = 0; k < g->ngroups && by_time; k++)
            g->value[k] = calendar_season_of_quarter[g->value[k]];
        return CUBED_OK;
    }
    if (!parse_intervals(call->frequency, s))
        return expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                         "\"%s\" is not a frequency: expected a number and YS, QS, MS, YE, QE, ME, "
                         "W, D, h, min or s, such as \"1D\", \"6h\", \"MS\", \"QS-DEC\"",
                         call->frequency);
    int64_t least = v->us[0];
    for (int64_t k = 1; k < v->n; k++) least = v->us[k] < least ? v->us[k] : least;
    s->first = first_of_intervals(kind, least, s);
    int64_t most = 0;
    for (int64_t k = 0; k < v->n; k++) {
        g->code[k] = interval_of(kind, v->us[k], s);
        if (g->code[k] > most) most = g->code[k];
    }
    if (call->only) return number_groups(b, e, g);
    if (most >= AXIS_VALUES_MAX)
        return expr_reject(b, e, "more than 16777216 intervals: use longer ones");
    g->ngroups = most + 1;
    EXPR_TRY(expr_alloc(b, e, g->ngroups, sizeof *g->value, &g->value));
    for (int64_t k = 0; k < g->ngroups; k++) g->value[k] = k;
    return CUBED_OK;
}

cubed_status calendar_read_times(expr_builder *b, const expr *e, const calendar_call *call,
                                 const cubed_array *x, int *d, axis_values *v)
{
    *d = calendar_call_axis(x, call);
    if (*d < 0)
        return expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                         "the array has no dimension \"%.*s\": specify it with dim=",
                         (int)call->ndim, call->dim);
    EXPR_TRY(axis_values_read(b, e->child[0], x, *d, v));
    cubed_status st = CUBED_OK;
    if (!v->is_time)
        st = expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                       "the coordinate \"%s\" has no units such as \"days since 2000-01-01\"",
                       v->had.dim);
    else if (v->n == 0)
        st = expr_reject(b, e, "the dimension has no elements");
    if (st != CUBED_OK) axis_values_free(v);
    return st;
}
