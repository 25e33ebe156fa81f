/* Groups by the calendar of a coordinate. The coordinate is read when the expression is built, because the number of groups is
 * part of the result's shape. */

#include "lang/expr_calendar.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cubed/calendar.h"
#include "lang/about.h"
#include "lang/axis_values.h"
#include "lang/calendar_call.h"
#include "lang/expr_json.h"
#include "lang/lang_memory.h"

#define US_PER_S INT64_C(1000000)

/* --- Groups ------------------------------------------------------------------------------------------- */

/* Sorted by name, as groups are. */
static const char seasons[4][4] = {"DJF", "JJA", "MAM", "SON"};
/* Index in `seasons` of DJF, MAM, JJA, SON. The permutation is its own inverse. */
static const int season_of_quarter[4] = {0, 2, 1, 3};

static int64_t component_of(cubed_calendar c, int64_t us, date_part what)
{
    const int64_t days = cubed_floor_div(us, CUBED_US_PER_DAY), rest = us - days * CUBED_US_PER_DAY;
    const cubed_date d = cubed_calendar_date(c, days);
    switch (what) {
    case YEAR: return d.year;
    case QUARTER: return (d.month - 1) / 3 + 1;
    case SEASON: return season_of_quarter[d.month % 12 / 3];
    case MONTH: return d.month;
    case WEEK_DAY: {
        /* 0 is Monday. 2000-01-03 was a Monday in the Gregorian calendar. */
        const int64_t n = days - cubed_calendar_days(CUBED_CALENDAR_PROLEPTIC, 2000, 1, 3);
        return n - 7 * cubed_floor_div(n, 7);
    }
    case DAY_OF_YEAR: return days - cubed_calendar_days(c, d.year, 1, 1) + 1;
    case DAY: return d.day;
    case HOUR: return rest / (3600 * US_PER_S);
    case MINUTE: return rest / (60 * US_PER_S) % 60;
    default: return rest / US_PER_S % 60;
    }
}

/* Intervals of a resampling: each has `months` months, or a fixed length of `width` microseconds. */
typedef struct intervals {
    int64_t months, width; /* exactly one is 0 */
    int anchor;   /* first month of years or quarters, from 0; or first day of weeks, 0: Monday */
    int64_t unit; /* months in a year, quarter or month: 12, 3 or 1; 0 if the length is fixed */
    bool weeks;
    bool
        ends; /* labelled by last days; the earliest time is in the last unit of the first interval */
    int64_t first; /* number of the first unit, or microsecond at which the first interval begins */
} intervals;

/* Parses the text after "-" of a frequency, as in Pandas: the month in which years or quarters begin (if s->ends: end), or the
 * day on which weeks end. */
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

/* Returns the beginning of the first interval, as intervals.first. `least` is the earliest time. */
static int64_t first_of_intervals(cubed_calendar c, int64_t least, const intervals *s)
{
    const int64_t day = cubed_floor_div(least, CUBED_US_PER_DAY);
    if (s->weeks) {
        const int64_t passed = component_of(c, least, WEEK_DAY) - s->anchor;
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

static int64_t interval_start(cubed_calendar c, int64_t k, const intervals *s)
{
    if (s->width) return s->first + k * s->width;
    const int64_t month = s->first * s->unit + k * s->months + s->anchor;
    const int64_t year = cubed_floor_div(month, 12);
    return cubed_calendar_days(c, year, month - 12 * year + 1, 1) * CUBED_US_PER_DAY;
}

/* The groups, and the group number of each element. */
typedef struct groups {
    int64_t n, *code;        /* n elements */
    int64_t ngroups, *value; /* part of dates, or interval number, of each group */
} groups;

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Moves the different values of `code` to `value`, in ascending order, and replaces each code by its index there. */
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

/* --- Coordinates of groups ---------------------------------------------------------------------------- */

/* Makes an array of times in the units of the coordinate: integers if all times are whole numbers of units, otherwise floats.
 * Takes ownership of `us`. */
static cubed_status encode_times(expr_builder *b, const expr *e, const axis_values *v, int64_t *us,
                                 int ndim, const int64_t *shape, const char *const *names,
                                 json_t *attrs, cubed_array **out)
{
    const int64_t unit = v->axis.unit, by = v->axis.divide;
    int64_t n = 1;
    bool whole = true;
    for (int d = 0; d < ndim; d++) n *= shape[d];
    for (int64_t i = 0; i < n; i++) whole = whole && (us[i] - v->axis.base) % unit == 0;
    double *real = NULL;
    if (!whole && expr_alloc(b, e, n, sizeof *real, &real) != CUBED_OK) {
        lang_free(us);
        return CUBED_E_NOMEM;
    }
    for (int64_t i = 0; i < n; i++) {
        if (whole) us[i] = (us[i] - v->axis.base) / unit * by;
        if (!whole) real[i] = (double)(us[i] - v->axis.base) / (double)unit * (double)by;
    }
    if (!whole) lang_free(us);
    return expr_own_described(b, e, whole ? CUBED_INT64 : CUBED_FLOAT64, ndim, shape, names, attrs,
                              whole ? (void *)us : (void *)real, out);
}

/* Returns the attributes of the coordinate without those that describe the old numbers. */
static json_t *time_attrs(expr_builder *b, const axis_values *v, const char *bounds)
{
    static const char *const gone[] = {"_FillValue",  "missing_value", "bounds",
                                       "climatology", "valid_min",     "valid_max",
                                       "valid_range", "actual_range"};
    json_t *attrs = v->attrs ? expr_json_copy(b, v->attrs) : expr_json_object(b);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) json_object_del(attrs, gone[i]);
    if (!json_object_get(attrs, "units")) {
        /* The coordinate has a type of times, so the attributes state no units. */
        char text[64];
        const int64_t unit = v->axis.unit;
        snprintf(text, sizeof text, "%s since 1970-01-01",
                 unit % CUBED_US_PER_DAY == 0 ? "days"
                 : unit % US_PER_S == 0       ? "seconds"
                                              : "microseconds");
        expr_json_put_text(b, attrs, "units", "%s", text);
        expr_json_put_text(b, attrs, "calendar", "proleptic_gregorian");
    }
    expr_json_put_text(b, attrs, "bounds", "%s", bounds);
    return attrs;
}

/* Makes the coordinate of intervals, with bounds: the start of each interval, or its last day if s->ends. */
static cubed_status interval_coordinate(expr_builder *b, const expr *e, const axis_values *v,
                                        const groups *g, const intervals *s, const char *dim,
                                        cubed_expr_coord *c)
{
    const int64_t shape[2] = {g->ngroups, 2};
    const char *const names[2] = {dim, "bnds"};
    int64_t *starts, *ends;
    EXPR_TRY(expr_alloc(b, e, g->ngroups, sizeof *starts, &starts));
    if (expr_alloc(b, e, g->ngroups, 2 * sizeof *ends, &ends) != CUBED_OK) {
        lang_free(starts);
        return CUBED_E_NOMEM;
    }
    char *bounds = expr_text(b, "%s_bnds", dim);
    for (int64_t i = 0; i < g->ngroups; i++) {
        starts[i] = ends[2 * i] = interval_start(v->axis.calendar, g->value[i], s);
        ends[2 * i + 1] = interval_start(v->axis.calendar, g->value[i] + 1, s);
        if (s->ends) starts[i] = ends[2 * i + 1] - CUBED_US_PER_DAY;
    }
    json_t *attrs = time_attrs(b, v, bounds), *own = expr_json_object(b);
    for (size_t i = 0; i < 2; i++) {
        json_t *said = json_object_get(attrs, i ? "calendar" : "units");
        if (said) expr_json_put(b, own, i ? "calendar" : "units", json_incref(said));
    }
    axis_values in = *v;
    /* A type of times has no units. Use those that time_attrs chose: days, seconds or microseconds. */
    if (!(v->attrs && json_object_get(v->attrs, "units"))) in.axis.divide = 1;
    if (v->axis.unit % US_PER_S != 0 && !(v->attrs && json_object_get(v->attrs, "units")))
        in.axis.unit = 1;
    else if (!(v->attrs && json_object_get(v->attrs, "units")))
        in.axis.unit = v->axis.unit % CUBED_US_PER_DAY == 0 ? CUBED_US_PER_DAY : US_PER_S;
    cubed_status st = encode_times(b, e, &in, starts, 1, shape, names, attrs, &c->made);
    if (st == CUBED_OK)
        st = encode_times(b, e, &in, ends, 2, shape, names, own, &c->bounds);
    else
        lang_free(ends);
    json_decref(attrs);
    json_decref(own);
    expr_text_free(bounds);
    return st;
}

/* Makes the coordinate of parts of dates: numbers, or names of seasons. */
static cubed_status component_coordinate(expr_builder *b, const expr *e, const axis_values *v,
                                         groups *g, date_part what, const char *dim,
                                         cubed_expr_coord *c)
{
    cubed_dtype dtype = CUBED_INT64;
    const char *const names[1] = {dim};
    void *data = g->value;
    if (what == SEASON) {
        uint32_t *text;
        EXPR_TRY(expr_located(b, e, cubed_dtype_fixed(CUBED_STRING, 3, &dtype, b->err)));
        EXPR_TRY(expr_alloc(b, e, g->ngroups, 3 * sizeof *text, &text));
        for (int64_t i = 0; i < 3 * g->ngroups; i++)
            text[i] = (uint32_t)seasons[g->value[i / 3]][i % 3];
        data = text;
    } else {
        g->value = NULL; /* expr_own_described takes ownership */
    }
    json_t *attrs = expr_json_object(b);
    expr_json_put_text(b, attrs, "long_name", "%s of %s", dim, v->had.dim);
    cubed_status st = expr_own_described(b, e, dtype, 1, &g->ngroups, names, attrs, data, &c->made);
    json_decref(attrs);
    return st;
}

/* Groups by month and day, as CDO does. Days are numbered as in a leap year if a time is on February 29, otherwise as in a
 * common year. */
static cubed_status group_by_date(expr_builder *b, const expr *e, const axis_values *v, groups *g)
{
    enum { MOST_DAYS = 31, LEAP_DAY = MOST_DAYS + 28 };
    const cubed_calendar kind = v->axis.calendar;
    int64_t year = 2001;
    for (int64_t k = 0; k < v->n; k++) {
        const cubed_date d = cubed_calendar_date(kind, cubed_floor_div(v->us[k], CUBED_US_PER_DAY));
        g->code[k] = (int64_t)(d.month - 1) * MOST_DAYS + d.day - 1;
        if (g->code[k] == LEAP_DAY) year = 2000;
    }
    EXPR_TRY(number_groups(b, e, g));
    for (int64_t k = 0; k < g->ngroups; k++) {
        const int month = (int)(g->value[k] / MOST_DAYS), day = (int)(g->value[k] % MOST_DAYS);
        g->value[k] = cubed_calendar_days(kind, year, month + 1, day + 1) -
                      cubed_calendar_days(kind, year, 1, 1) + 1;
    }
    return CUBED_OK;
}

static cubed_status find_groups(expr_builder *b, const expr *e, const calendar_call *call,
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
                "dayofyear, dayofweek, hour, minute or second",
                call->component, lang_guess_text(&guess, text));
        if (call->by_date) return group_by_date(b, e, v, g);
        for (int64_t k = 0; k < v->n; k++) g->code[k] = component_of(kind, v->us[k], *what);
        const bool by_time = *what == SEASON && call->in_time_order;
        for (int64_t k = 0; k < v->n && by_time; k++) g->code[k] = season_of_quarter[g->code[k]];
        EXPR_TRY(number_groups(b, e, g));
        for (int64_t k = 0; k < g->ngroups && by_time; k++)
            g->value[k] = season_of_quarter[g->value[k]];
        return CUBED_OK;
    }
    if (!parse_intervals(call->frequency, s))
        return expr_fail(
            b->err, CUBED_E_ARG, b->text, e->at,
            "\"%s\" is no frequency: expected a number and YS, QS, MS, YE, QE, ME, W, D, h, min or "
            "s, such as \"1D\", \"6h\", \"MS\", \"QS-DEC\"",
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
        return expr_reject(b, e, "that makes more than 16777216 intervals: take longer ones");
    g->ngroups = most + 1;
    EXPR_TRY(expr_alloc(b, e, g->ngroups, sizeof *g->value, &g->value));
    for (int64_t k = 0; k < g->ngroups; k++) g->value[k] = k;
    return CUBED_OK;
}

static cubed_status reduce_groups(expr_builder *b, const expr *e, const calendar_call *call,
                                  cubed_array *x, int d, groups *g, const char *dim,
                                  cubed_array **out)
{
    expr_grouping to = {.naxes = 1,
                        .axes = {d},
                        .ngroups = g->ngroups,
                        .name = dim,
                        .reduction = call->reduction,
                        .skip_nan = call->skip_nan,
                        .correction = call->correction,
                        .min_count = call->min_count,
                        .method = call->method,
                        .q = call->q};
    cubed_status st = expr_own_array(b, e, CUBED_INT64, 1, &g->n, g->code, &to.codes);
    g->code = NULL;
    if (st == CUBED_OK) st = expr_reduce_groups(b, e, &to, x, out);
    cubed_array_unref(to.codes);
    return st;
}

/* Reads the times along the dimension of the call, axis *d of x. *v is freed with axis_values_free after success. */
static cubed_status read_times(expr_builder *b, const expr *e, const calendar_call *call,
                               const cubed_array *x, int *d, axis_values *v)
{
    *d = calendar_call_axis(x, call);
    if (*d < 0)
        return expr_fail(
            b->err, CUBED_E_ARG, b->text, e->at,
            "the array has no dimension \"%.*s\": say which with dim=", (int)call->ndim, call->dim);
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

static cubed_status group_by(expr_builder *b, const expr *e, const calendar_call *call,
                             cubed_array *x, cubed_array **out)
{
    axis_values v;
    groups g = {0, NULL, 0, NULL};
    intervals s = {.anchor = 0};
    date_part what = YEAR;
    int d;
    EXPR_TRY(read_times(b, e, call, x, &d, &v));
    cubed_status st = CUBED_OK;
    if (st == CUBED_OK) st = find_groups(b, e, call, &v, &g, &s, &what);
    const char *dim = call->component ? call->component : v.had.dim;
    if (st == CUBED_OK) st = reduce_groups(b, e, call, x, d, &g, dim, out);
    if (st == CUBED_OK) {
        cubed_expr_coord c = {
            .dim = expr_text(b, "%s", dim),
            .whole = g.ngroups,
            .part = {0, g.ngroups, 1, false},
            .key = expr_text(b, "%s %s%s %s [%" PRId64 " %" PRId64 " %" PRId64 "] %s", v.had.dim,
                             call->component ? "." : "",
                             call->component ? call->component : call->frequency,
                             call->only ? "only" : "all", v.had.part.start, v.had.part.len,
                             v.had.part.step, v.had.key ? v.had.key : "")};
        st = call->component ? component_coordinate(b, e, &v, &g, what, dim, &c)
                             : interval_coordinate(b, e, &v, &g, &s, dim, &c);
        if (st == CUBED_OK)
            expr_about_note(b, e, c);
        else
            expr_coord_free(&c);
        if (st != CUBED_OK) cubed_array_unref(*out);
    }
    lang_free(g.code);
    lang_free(g.value);
    axis_values_free(&v);
    return st;
}

cubed_status expr_calendar_build(expr_builder *b, const expr *e, cubed_array **out, bool *is_one)
{
    static const char *const names[] = {"groupby", "resample", "dim", EXPR_GROUP_KEYWORDS, NULL};
    calendar_call c;
    int n;
    cubed_array *x;
    *is_one = calendar_call_find(e, &c);
    if (!*is_one) return CUBED_OK;
    EXPR_TRY(expr_check_args(b, e, c.most == 3 ? 3 : 1, c.most, names, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = group_by(b, e, &c, x, out);
    cubed_array_unref(x);
    return st;
}

/* --- Anomalies ---------------------------------------------------------------------------------------- */

/* Sets the group of times outside reference=("1981", "2010") to -1. The ends are in the reference. */
static cubed_status take_reference(expr_builder *b, const expr *e, const axis_values *v,
                                   int64_t *code)
{
    const expr *given = expr_keyword(e, "reference");
    int64_t first, behind, ignored, kept = 0;
    if (!given || given->kind == EXPR_NONE) return CUBED_OK;
    const bool is_pair = given->kind == EXPR_TUPLE && given->n == 2 &&
                         given->child[0]->kind == EXPR_STRING &&
                         given->child[1]->kind == EXPR_STRING;
    if (!is_pair ||
        !cubed_time_span_parse(given->child[0]->text, v->axis.calendar, &first, &ignored) ||
        !cubed_time_span_parse(given->child[1]->text, v->axis.calendar, &ignored, &behind))
        return expr_fail(b->err, CUBED_E_ARG, b->text, given->at,
                         "anomaly: reference is no pair of dates of the calendar %s in quotes, "
                         "expected the first and the last one, such as (\"1981\", \"2010-12\")",
                         cubed_calendar_name(v->axis.calendar));
    for (int64_t k = 0; k < v->n; k++) {
        const bool is_in = v->us[k] >= first && v->us[k] < behind;
        if (!is_in) code[k] = -1;
        kept += is_in;
    }
    if (kept > 0) return CUBED_OK;
    return expr_reject(b, given, "anomaly: no times are in the reference");
}

/* Subtracts from each element of x the mean of its group. `of` holds the group of each element along axis d; takes ownership of
 * it. */
static cubed_status subtract_means(expr_builder *b, const expr *e, cubed_array *x,
                                   cubed_array *means, int64_t *of, int d, cubed_array **out)
{
    const int ndim = cubed_array_ndim(x);
    const int64_t n = cubed_array_shape(x)[d];
    const char *names[CUBED_MAX_NDIM];
    cubed_array *at = NULL, *both[2] = {x, NULL}, *named = NULL;
    for (int i = 0; i < ndim; i++) names[i] = cubed_array_dim_name(x, i);
    cubed_status st = expr_own_array(b, e, CUBED_INT64, 1, &n, of, &at);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_take(means, at, d, &both[1], b->err));
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_array_with_dim_names(both[1], names, &named, b->err));
    cubed_array_unref(both[1]);
    both[1] = named;
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_elementwise(CUBED_OP_SUBTRACT, both, 2, out, b->err));
    cubed_array_unref(named);
    cubed_array_unref(at);
    return st;
}

static cubed_status make_anomaly(expr_builder *b, const expr *e, const calendar_call *call,
                                 cubed_array *x, cubed_array **out)
{
    axis_values v;
    groups g = {0, NULL, 0, NULL};
    intervals s = {.anchor = 0};
    date_part what = YEAR;
    int64_t *of = NULL;
    cubed_array *means = NULL;
    int d;
    EXPR_TRY(read_times(b, e, call, x, &d, &v));
    cubed_status st = find_groups(b, e, call, &v, &g, &s, &what);
    if (st == CUBED_OK) st = expr_alloc(b, e, v.n, sizeof *of, &of);
    if (st == CUBED_OK) {
        memcpy(of, g.code, (size_t)v.n * sizeof *of);
        st = take_reference(b, e, &v, g.code);
    }
    if (st == CUBED_OK) st = reduce_groups(b, e, call, x, d, &g, NULL, &means);
    if (st == CUBED_OK) {
        st = subtract_means(b, e, x, means, of, d, out);
        of = NULL;
    }
    cubed_array_unref(means);
    lang_free(of);
    lang_free(g.code);
    lang_free(g.value);
    axis_values_free(&v);
    return st;
}

/* anomaly(x, "time.month", reference=("1981", "2010")) */
static cubed_status call_anomaly(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"groupby", "dim", "reference", "skipna", NULL};
    calendar_call call;
    cubed_array *x;
    int n;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &n));
    if (!calendar_call_anomaly(e, &call))
        return expr_reject(b, e,
                           "expected anomaly(x, \"time.month\", reference=(\"1981\", \"2010\")): a "
                           "part of the dates that groups share");
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    const cubed_status st = make_anomaly(b, e, &call, x, out);
    cubed_array_unref(x);
    return st;
}

/* Rejects a call of resample that expr_calendar_build did not accept. */
static cubed_status call_resample(expr_builder *b, const expr *e, cubed_array **out)
{
    (void)out;
    return expr_reject(b, e, "expected resample(x, \"1D\", \"mean\", dim=\"time\")");
}

const expr_function expr_calendar_functions[] = {{.name = "anomaly", .fn = call_anomaly},
                                                 {.name = "resample", .fn = call_resample},
                                                 {.name = NULL}};
