/* Arithmetic of a time series with statistics of calendar periods, and selections by parts of dates. Functions have CDO's
 * names: ymonsub(x, climatology), selmon(x, 1, 2). Dates are read when the expression is built. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cubed/calendar.h"
#include "lang/about.h"
#include "lang/calendar_groups.h"
#include "lang/expr_json.h"
#include "lang/expr_select.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

#define US_PER_S INT64_C(1000000)

enum { MONTHS = 12, MOST_DAYS = 31, MOST_DAYS_OF_YEAR = 366, HOURS = 24 };

/* Reads the dimension of times from a keyword such as dim="time", which is the default. */
static void read_dim(const expr *e, calendar_call *call)
{
    const expr *dim = expr_keyword(e, "dim");
    call->dim = dim && dim->kind == EXPR_STRING ? dim->text : "time";
    call->ndim = strlen(call->dim);
}

/* --- Periods ------------------------------------------------------------------------------------------ */

/* Returns the number of the calendar period, such as the month of the year, that contains a time. */
typedef int64_t (*period_fn)(cubed_calendar c, int64_t us);

static cubed_date date_of(cubed_calendar c, int64_t us)
{
    return cubed_calendar_date(c, cubed_floor_div(us, CUBED_US_PER_DAY));
}

static int64_t year_of(cubed_calendar c, int64_t us) { return date_part_of(c, us, YEAR); }
static int64_t month_of(cubed_calendar c, int64_t us) { return date_part_of(c, us, MONTH); }
static int64_t season_of(cubed_calendar c, int64_t us) { return date_part_of(c, us, SEASON); }

static int64_t year_month_of(cubed_calendar c, int64_t us)
{
    const cubed_date d = date_of(c, us);
    return d.year * MONTHS + d.month;
}

static int64_t day_of(cubed_calendar c, int64_t us)
{
    (void)c;
    return cubed_floor_div(us, CUBED_US_PER_DAY);
}

/* Returns the number of a month and day. March 1 has the same number in leap years and common years. */
static int64_t month_day_of(cubed_calendar c, int64_t us)
{
    const cubed_date d = date_of(c, us);
    return (int64_t)d.month * (MOST_DAYS + 1) + d.day;
}

static int64_t month_day_hour_of(cubed_calendar c, int64_t us)
{
    return month_day_of(c, us) * HOURS + date_part_of(c, us, HOUR);
}

/* --- Arithmetic --------------------------------------------------------------------------------------- */

/* Properties of the families, indexed by calendar_family. */
static const struct family {
    period_fn period;
    /* name of the dimension that replaces the dimension of times in statistics that this library makes; NULL if such
     * statistics keep times */
    const char *labels;
    const char *noun; /* name of a period, for messages */
} families[] = {[FAMILY_YMON] = {month_of, "month", "month"},
                [FAMILY_YSEAS] = {season_of, "season", "season"},
                [FAMILY_YDAY] = {month_day_of, "dayofyear", "day of the year"},
                [FAMILY_YHOUR] = {month_day_hour_of, "hourofyear", "hour of the year"},
                [FAMILY_MON] = {year_month_of, NULL, "month"},
                [FAMILY_DAY] = {day_of, NULL, "day"},
                [FAMILY_YEAR] = {year_of, NULL, "year"}};

/* Converts a label to an integer. Returns -1, which is not a valid period, if the label is not an integer. */
static int64_t whole(double label)
{
    return fabs(label) < INT32_MAX && label == floor(label) ? (int64_t)label : -1;
}

/* Converts a day's number in a year of `length` days to the period of its date. Returns -1 if there is no such day. */
static int64_t period_of_number(cubed_calendar c, int64_t number, int64_t length)
{
    int64_t year = 2001;
    if (number < 1 || number > MOST_DAYS_OF_YEAR) return -1;
    if (cubed_calendar_days(c, year + 1, 1, 1) - cubed_calendar_days(c, year, 1, 1) != length)
        year = 2000;
    return month_day_of(c, (cubed_calendar_days(c, year, 1, 1) + number - 1) * CUBED_US_PER_DAY);
}

/* Converts an hour's number in a year of `length` days to the period of its date and hour. Returns -1 if there is no such
 * hour. */
static int64_t period_of_hour(cubed_calendar c, int64_t number, int64_t length)
{
    const int64_t day = number < 0 ? -1 : period_of_number(c, number / HOURS + 1, length);
    return day < 0 ? -1 : day * HOURS + number % HOURS;
}

/* Returns the length of the year that the numbers of days refer to: an attribute of the coordinate. Without this attribute, it is
 * a leap year if a number exceeds the length of a common year. */
static int64_t length_of_year(const axis_values *w, cubed_calendar c, bool by_hour)
{
    const int64_t common = cubed_calendar_days(c, 2002, 1, 1) - cubed_calendar_days(c, 2001, 1, 1);
    const json_t *said = json_object_get(w->attrs, CALENDAR_YEAR_DAYS);
    const int64_t most = by_hour ? common * HOURS - 1 : common;
    if (json_is_integer(said)) return json_integer_value(said);
    for (int64_t i = 0; i < w->n; i++) {
        if (whole(w->number[i]) > most) return common + 1;
    }
    return common;
}

/* Converts labels, such as month numbers and names of seasons, to periods. */
static cubed_status periods_of_labels(expr_builder *b, const expr *e, const struct family *f,
                                      const axis_values *w, cubed_calendar c, int64_t *period)
{
    char element[4 * 4];
    const bool is_season = f->period == season_of;
    if (is_season ? !w->text || w->size > sizeof element : !w->number)
        return expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                         "%s: the coordinate \"%s\" has other labels, expected %s", e->text,
                         w->had.dim, is_season ? "DJF, MAM, JJA and SON" : "numbers");
    const bool by_hour = f->period == month_day_hour_of;
    const int64_t length = by_hour || f->period == month_day_of ? length_of_year(w, c, by_hour) : 0;
    for (int64_t i = 0; i < w->n; i++) {
        period[i] = is_season ? -1 : whole(w->number[i]);
        if (length && by_hour)
            period[i] = period_of_hour(c, period[i], length);
        else if (length)
            period[i] = period_of_number(c, period[i], length);
        for (int k = 0; k < 4 && is_season; k++) {
            if (expr_encode_text(calendar_seasons[k], w->dtype, NULL) > w->size) continue;
            memset(element, 0, sizeof element);
            expr_encode_text(calendar_seasons[k], w->dtype, element);
            if (memcmp(element, w->text + (size_t)i * w->size, w->size) == 0) period[i] = k;
        }
    }
    return CUBED_OK;
}

/* Returns the axis of the climatology: the dimension of its labels if it has them, else the dimension of its times. */
static int axis_of(const cubed_array *c, const struct family *f, const calendar_call *call,
                   bool *is_labelled)
{
    const int d = f->labels ? lang_axis_named(c, f->labels) : -1;
    *is_labelled = d >= 0;
    return d >= 0 ? d : calendar_call_axis(c, call);
}

/* The periods that a climatology has values for: the period of each of its n elements along the axis d. */
typedef struct periods {
    int d;
    int64_t n, *of;
} periods;

/* Gets the periods of a climatology. The caller frees p->of with lang_free. */
static cubed_status read_periods(expr_builder *b, const expr *e, const struct family *f,
                                 const calendar_call *call, const cubed_array *c,
                                 cubed_calendar calendar, periods *p)
{
    axis_values w;
    bool is_labelled;
    p->d = axis_of(c, f, call, &is_labelled);
    if (p->d < 0)
        return expr_fail(b->err, CUBED_E_ARG, b->text, e->child[1]->at,
                         "%s: the second array has no dimension \"%s\", expected a value for each "
                         "%s along it",
                         e->text, f->labels ? f->labels : call->dim, f->noun);
    EXPR_TRY(axis_values_read(b, e->child[1], c, p->d, &w));
    p->n = w.n;
    cubed_status st = expr_alloc(b, e, w.n, sizeof *p->of, &p->of);
    if (st == CUBED_OK && is_labelled) {
        st = periods_of_labels(b, e, f, &w, calendar, p->of);
    } else if (st == CUBED_OK && !w.is_time) {
        st = expr_fail(b->err, CUBED_E_ARG, b->text, e->child[1]->at,
                       "%s: the coordinate \"%s\" of the second array has no units such as \"days "
                       "since 2000-01-01\"",
                       e->text, w.had.dim);
    } else if (st == CUBED_OK) {
        for (int64_t i = 0; i < w.n; i++) p->of[i] = f->period(w.axis.calendar, w.us[i]);
    }
    axis_values_free(&w);
    return st;
}

/* Finds the element of the climatology for each time of the series. Each search begins at the last match, so it is short if the
 * climatology has few elements, or is in the same order as the series. */
static cubed_status match(expr_builder *b, const expr *e, const struct family *f,
                          const axis_values *v, const periods *p, int64_t *at)
{
    int64_t last = 0;
    for (int64_t k = 0; k < v->n; k++) {
        const int64_t wanted = f->period(v->axis.calendar, v->us[k]);
        int64_t tried = 0;
        while (tried < p->n && p->of[last] != wanted) {
            last = (last + 1) % p->n;
            tried++;
        }
        char text[CUBED_TIME_TEXT_CAP];
        if (tried == p->n)
            return expr_fail(b->err, CUBED_E_ARG, b->text, e->child[1]->at,
                             "%s: the second array has no value for the %s of %s, expected one for "
                             "each time of the first array",
                             e->text, f->noun, cubed_time_text(v->axis.calendar, v->us[k], text));
        at[k] = last;
    }
    return CUBED_OK;
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Fails if a period occurs twice, because it is unclear which element to use. */
static cubed_status check_unique(expr_builder *b, const expr *e, const struct family *f,
                                 const periods *p)
{
    const int64_t n = p->n;
    int64_t *sorted;
    bool repeats = false;
    EXPR_TRY(expr_alloc(b, e, n, sizeof *sorted, &sorted));
    memcpy(sorted, p->of, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_number);
    for (int64_t i = 1; i < n; i++) repeats = repeats || sorted[i] == sorted[i - 1];
    lang_free(sorted);
    if (!repeats) return CUBED_OK;
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->child[1]->at,
                     "%s: the second array has several values for one %s, expected one: reduce it "
                     "with %.*smean",
                     e->text, f->noun, (int)strlen(e->text) - 3, e->text);
}

/* Replaces *c by its elements at the positions `at` along dimension d, which gets the name `name`. Takes ownership of `at`. */
static cubed_status spread(expr_builder *b, const expr *e, int d, const char *name, int64_t n,
                           int64_t *at, cubed_array **c)
{
    const char *names[CUBED_MAX_NDIM];
    cubed_array *positions = NULL, *taken = NULL;
    for (int i = 0; i < cubed_array_ndim(*c); i++) names[i] = cubed_array_dim_name(*c, i);
    names[d] = name;
    cubed_status st = expr_own_array(b, e, CUBED_INT64, 1, &n, at, &positions);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_take(*c, positions, d, &taken, b->err));
    cubed_array_unref(positions);
    cubed_array_unref(*c);
    *c = NULL;
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_array_with_dim_names(taken, names, c, b->err));
    cubed_array_unref(taken);
    return st;
}

/* Checks that x has all dimensions of the climatology. Dimensions are matched by name, because the climatology may have
 * fewer. */
static cubed_status check_dims(expr_builder *b, const expr *e, const cubed_array *x,
                               const cubed_array *c)
{
    for (int i = 0; i < cubed_array_ndim(c); i++) {
        const char *name = cubed_array_dim_name(c, i);
        if (lang_axis_named(x, name) >= 0) continue;
        return expr_fail(b->err, CUBED_E_ARG, b->text, e->child[1]->at,
                         "%s: the first array has no dimension \"%s\" of the second, expected it: "
                         "dimensions are aligned by name",
                         e->text, name ? name : "");
    }
    return CUBED_OK;
}

static cubed_status combine(expr_builder *b, const expr *e, cubed_op op, cubed_array *x,
                            cubed_array *c, cubed_array **out)
{
    cubed_array *both[2] = {x, c};
    const cubed_dtype dtype = cubed_array_dtype(x);
    cubed_array *wide = NULL;
    cubed_status st = CUBED_OK;
    /* A float32 series keeps its type if the climatology consists of integers. */
    if (cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT &&
        cubed_dtype_kind(cubed_array_dtype(c)) < CUBED_KIND_FLOAT) {
        st = expr_located(b, e, cubed_astype(c, dtype, &wide, b->err));
        both[1] = wide;
    }
    if (st == CUBED_OK) st = expr_located(b, e, cubed_elementwise(op, both, 2, out, b->err));
    cubed_array_unref(wide);
    return st;
}

static cubed_status build_arithmetic(expr_builder *b, const expr *e, cubed_array *x,
                                     cubed_array **c, cubed_array **out)
{
    calendar_call call = {.reduction = NULL};
    /* never NULL, because every name of this function is in the table of operations */
    const calendar_operation *operation = calendar_call_operation(e->text);
    const struct family *f = &families[operation->family];
    axis_values v;
    periods p = {.of = NULL};
    int64_t *at = NULL;
    int d;
    read_dim(e, &call);
    EXPR_TRY(calendar_read_times(b, e, &call, x, &d, &v));
    cubed_status st = read_periods(b, e, f, &call, *c, v.axis.calendar, &p);
    if (st == CUBED_OK && p.n == 0) st = expr_reject(b, e->child[1], "the array has no elements");
    if (st == CUBED_OK) st = check_unique(b, e, f, &p);
    if (st == CUBED_OK) st = expr_alloc(b, e, v.n, sizeof *at, &at);
    if (st == CUBED_OK) st = match(b, e, f, &v, &p, at);
    if (st == CUBED_OK) {
        st = spread(b, e, p.d, v.had.dim, v.n, at, c);
        at = NULL;
    }
    if (st == CUBED_OK) st = check_dims(b, e, x, *c);
    if (st == CUBED_OK) st = expr_align(b, e, x, true, c);
    if (st == CUBED_OK) st = combine(b, e, operation->op, x, *c, out);
    if (st == CUBED_OK) expr_about_note(b, e, expr_coord_copy(b, &v.had));
    lang_free(p.of);
    lang_free(at);
    axis_values_free(&v);
    return st;
}

/* Builds a call such as ymonsub(x, climatology). */
static cubed_status call_arithmetic(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"dim", NULL};
    cubed_array *x, *c;
    int n;
    EXPR_TRY(expr_check_args(b, e, 2, 2, names, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_array(b, e->child[1], &c);
    if (st == CUBED_OK) {
        st = build_arithmetic(b, e, x, &c, out);
        cubed_array_unref(c);
    }
    cubed_array_unref(x);
    return st;
}

/* --- Selections --------------------------------------------------------------------------------------- */

/* An argument of a selection: the numbers from `first` to `last`, or the months of a season. */
typedef struct wanted {
    int64_t first, last;
    unsigned months; /* bit m is set if month m belongs to the season; 0 for numbers */
    const expr *at;
    bool found;
} wanted;

/* Converts a season, such as DJF or MAM (initials of months), or ANN for the whole year, to bits. Returns 0 for other
 * strings. */
static unsigned months_of(const char *name)
{
    static const char initials[] = "JFMAMJJASONDJFMAMJJASOND";
    const size_t n = strlen(name);
    unsigned months = 0;
    if (strcmp(name, "ANN") == 0) return ((1U << MONTHS) - 1) << 1;
    /* A name needs three letters, because fewer letters may be the initials of several sequences of months. */
    if (n < 3 || n > MONTHS) return 0;
    const char *at = strstr(initials, name);
    if (!at) return 0;
    for (size_t i = 0; i < n; i++) months |= 1U << ((size_t)(at - initials) + i) % MONTHS << 1;
    return months;
}

/* Converts a time of day, HH:MM or HH:MM:SS, to seconds. Returns false for other arguments. */
static bool read_time_of_day(const expr *arg, int64_t *out)
{
    int64_t part[3] = {0, 0, 0};
    int n = 0;
    if (arg->kind != EXPR_STRING) return false;
    for (const char *at = arg->text; n < 3; at++) {
        if (*at < '0' || *at > '9' || !lang_parse_int(&at, &part[n++])) return false;
        if (!*at) break;
        if (*at != ':' || n == 3) return false;
    }
    *out = (part[0] * 60 + part[1]) * 60 + part[2];
    return n > 1 && part[0] < HOURS && part[1] < 60 && part[2] < 60;
}

static cubed_status read_wanted(expr_builder *b, const expr *e, const char *noun, const expr *arg,
                                wanted *w)
{
    *w = (wanted){.at = arg};
    if (strcmp(noun, "time") == 0) {
        const bool is_pair = arg->kind == EXPR_TUPLE && arg->op == '(' && arg->n == 2;
        if (read_time_of_day(is_pair ? arg->child[0] : arg, &w->first) &&
            read_time_of_day(is_pair ? arg->child[1] : arg, &w->last) && w->first <= w->last)
            return CUBED_OK;
        return expr_fail(b->err, CUBED_E_ARG, b->text, arg->at,
                         "%s: expected times of day in quotes such as \"06:00\" or "
                         "\"18:30:00\", or ranges of them",
                         e->text);
    }
    if (strcmp(noun, "season") == 0) {
        if (arg->kind == EXPR_STRING) w->months = months_of(arg->text);
        if (w->months) return CUBED_OK;
        return expr_fail(b->err, CUBED_E_ARG, b->text, arg->at,
                         "%s: expected initials of 3 to 12 months in quotes, such as \"DJF\", or "
                         "\"ANN\"",
                         e->text);
    }
    const bool is_range = arg->kind == EXPR_TUPLE && arg->op == '(' && arg->n == 2;
    if (!is_range && (arg->kind == EXPR_STRING || arg->kind == EXPR_TUPLE))
        return expr_fail(b->err, CUBED_E_ARG, b->text, arg->at,
                         "%s: expected numbers, ranges such as (6, 8), or lists such as [1, 12]",
                         e->text);
    EXPR_TRY(expr_get_int(b, is_range ? arg->child[0] : arg, &w->first));
    w->last = w->first;
    if (is_range) EXPR_TRY(expr_get_int(b, arg->child[1], &w->last));
    if (w->last < w->first)
        return expr_fail(b->err, CUBED_E_ARG, b->text, arg->at,
                         "%s: the range ends at %" PRId64 ", before its start %" PRId64, e->text,
                         w->last, w->first);
    return CUBED_OK;
}

/* Reads the arguments after x: numbers, ranges (1, 3) and lists [1, 12]. The caller frees *list with lang_free. */
static cubed_status read_list(expr_builder *b, const expr *e, const char *noun, wanted **list,
                              int *n)
{
    int most = 0;
    *n = 0;
    for (int i = 1; i < e->n; i++)
        most += e->child[i]->kind == EXPR_TUPLE && e->child[i]->op == '[' ? e->child[i]->n : 1;
    EXPR_TRY(expr_alloc(b, e, most + 1, sizeof **list, list));
    for (int i = 1; i < e->n; i++) {
        const expr *arg = e->child[i];
        const bool is_list = arg->kind == EXPR_TUPLE && arg->op == '[';
        if (arg->kind == EXPR_KEYWORD) continue;
        for (int k = 0; k < (is_list ? arg->n : 1); k++)
            EXPR_TRY(read_wanted(b, e, noun, is_list ? arg->child[k] : arg, &(*list)[(*n)++]));
    }
    return *n > 0 ? CUBED_OK : expr_reject(b, e, "expected at least one number or name");
}

static int64_t second_of_day(int64_t us)
{
    return (us - cubed_floor_div(us, CUBED_US_PER_DAY) * CUBED_US_PER_DAY) / US_PER_S;
}

/* Finds the positions of the selected times. `at` has room for all times. */
static cubed_status find_positions(expr_builder *b, const expr *e, const char *noun,
                                   const axis_values *v, wanted *list, int n, int64_t *at,
                                   int64_t *nat)
{
    const bool by_time = strcmp(noun, "time") == 0;
    date_part what = MONTH; /* for a season, selects by the months in it */
    if (strcmp(noun, "season") != 0 && !by_time) (void)date_part_find(noun, &what);
    *nat = 0;
    for (int64_t k = 0; k < v->n; k++) {
        const int64_t part =
            by_time ? second_of_day(v->us[k]) : date_part_of(v->axis.calendar, v->us[k], what);
        bool takes = false;
        for (int i = 0; i < n; i++) {
            const bool is_in = list[i].months ? list[i].months >> part & 1
                                              : part >= list[i].first && part <= list[i].last;
            takes = takes || is_in;
            list[i].found = list[i].found || is_in;
        }
        if (takes) at[(*nat)++] = k;
    }
    for (int i = 0; i < n; i++) {
        if (list[i].found) continue;
        if (list[i].months)
            return expr_fail(b->err, CUBED_E_INDEX, b->text, list[i].at->at,
                             "%s: no time is in the season \"%s\"", e->text, list[i].at->text);
        if (by_time)
            return expr_fail(b->err, CUBED_E_INDEX, b->text, list[i].at->at,
                             "%s: no element of the coordinate has this time of day", e->text);
        return expr_fail(b->err, CUBED_E_INDEX, b->text, list[i].at->at,
                         "%s: no time has the %s %" PRId64, e->text, noun, list[i].first);
    }
    return CUBED_OK;
}

/* A day of each month, or of one month of the year. */
typedef struct year_day {
    int month, day; /* month: 1 to 12, or 0, which stands for each month */
} year_day;

/* Reads "5mar", in lower case or capitals. */
static bool read_year_day(const char *text, year_day *out)
{
    static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    /* The longest months of all calendars: "360_day" has a February of 30 days. */
    static const int days[MONTHS] = {31, 30, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int day = 0, n = 0;
    for (; n < 2 && text[n] >= '0' && text[n] <= '9'; n++) day = 10 * day + (text[n] - '0');
    if (n == 0 || strlen(text + n) != 3) return false;
    for (int m = 0; m < MONTHS; m++) {
        if (strncasecmp(months + 3 * (size_t)m, text + n, 3) != 0) continue;
        *out = (year_day){m + 1, day};
        return day >= 1 && day <= days[m];
    }
    return false;
}

static cubed_status read_day(expr_builder *b, const expr *e, const expr *arg, year_day *out)
{
    int64_t day = 0;
    if (arg->kind == EXPR_STRING && read_year_day(arg->text, out)) return CUBED_OK;
    if (arg->kind != EXPR_STRING && arg->kind != EXPR_TUPLE) EXPR_TRY(expr_get_int(b, arg, &day));
    *out = (year_day){0, (int)day};
    if (day >= 1 && day <= 31) return CUBED_OK;
    return expr_fail(b->err, CUBED_E_ARG, b->text, arg->at,
                     "%s: expected days of the month from 1 to 31, or days of the year such as "
                     "\"5mar\"",
                     e->text);
}

static bool is_on(cubed_date d, const year_day *days, int n)
{
    bool on = false;
    for (int i = 0; i < n; i++)
        on = on || (d.day == days[i].day && (days[i].month == 0 || d.month == days[i].month));
    return on;
}

static cubed_status take_parts(expr_builder *b, const expr *e, cubed_array **x)
{
    calendar_call call = {.reduction = NULL};
    const char *noun = calendar_call_selection(e->text);
    axis_values v;
    wanted *list = NULL;
    int64_t *at = NULL, nat = 0;
    int n, d;
    read_dim(e, &call);
    cubed_status st = read_list(b, e, noun, &list, &n);
    if (st == CUBED_OK) st = calendar_read_times(b, e, &call, *x, &d, &v);
    if (st != CUBED_OK) goto out;
    st = expr_alloc(b, e, v.n, sizeof *at, &at);
    if (st == CUBED_OK) st = find_positions(b, e, noun, &v, list, n, at, &nat);
    if (st == CUBED_OK) {
        st = expr_select_positions(b, e, &v, d, nat, at, x);
        at = NULL;
    }
    lang_free(at);
    axis_values_free(&v);
out:
    lang_free(list);
    return st;
}

/* Builds a call such as selmon(x, 1, 2), selmon(x, (6, 8)) or selseas(x, "DJF"). */
static cubed_status call_selection(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"dim", NULL};
    int n;
    EXPR_TRY(expr_check_args(b, e, 2, 64, names, &n));
    EXPR_TRY(expr_get_moved(b, e, e->child[0], out));
    const cubed_status st = take_parts(b, e, out);
    if (st == CUBED_OK) return CUBED_OK;
    cubed_array_unref(*out);
    *out = NULL;
    return st;
}

/* Keeps the times for which `keep` is true. Rejects the call if there are none. */
static cubed_status take_marked(expr_builder *b, const expr *e, const axis_values *v, int d,
                                const bool *keep, cubed_array **x)
{
    int64_t *at, n = 0;
    EXPR_TRY(expr_alloc(b, e, v->n, sizeof *at, &at));
    for (int64_t k = 0; k < v->n; k++) {
        if (keep[k]) at[n++] = k;
    }
    if (n > 0) return expr_select_positions(b, e, v, d, n, at, x);
    lang_free(at);
    return expr_fail(b->err, CUBED_E_INDEX, b->text, e->at,
                     "%s: no element of the coordinate is selected, expected at least one",
                     e->text);
}

/* Sets keep[k] for each time of an axis. */
typedef void mark_fn(const axis_values *v, const void *ctx, bool *keep);

/* Selects the times of the call's array that `mark` keeps. */
static cubed_status keep_times(expr_builder *b, const expr *e, mark_fn *mark, const void *ctx,
                               cubed_array **out)
{
    calendar_call call = {.reduction = NULL};
    axis_values v;
    bool *keep = NULL;
    int d;
    read_dim(e, &call);
    EXPR_TRY(expr_get_moved(b, e, e->child[0], out));
    cubed_status st = calendar_read_times(b, e, &call, *out, &d, &v);
    if (st == CUBED_OK) {
        st = expr_alloc(b, e, v.n, sizeof *keep, &keep);
        if (st == CUBED_OK) {
            mark(&v, ctx, keep);
            st = take_marked(b, e, &v, d, keep, out);
        }
        lang_free(keep);
        axis_values_free(&v);
    }
    if (st == CUBED_OK) return CUBED_OK;
    cubed_array_unref(*out);
    *out = NULL;
    return st;
}

enum { MOST_GIVEN = 64 };

typedef struct year_days {
    year_day day[MOST_GIVEN];
    int n;
} year_days;

static void mark_other_days(const axis_values *v, const void *ctx, bool *keep)
{
    const year_days *days = ctx;
    for (int64_t k = 0; k < v->n; k++)
        keep[k] = !is_on(date_of(v->axis.calendar, v->us[k]), days->day, days->n);
}

/* Builds delday(x, 15, "5mar") or del29feb(x). A calendar without such a day keeps all times. */
static cubed_status call_days_but(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"dim", NULL};
    const bool is_leap = strcmp(e->text, "del29feb") == 0;
    year_days days = {.day = {{2, 29}}, .n = is_leap ? 1 : 0};
    int n;
    EXPR_TRY(expr_check_args(b, e, is_leap ? 1 : 2, is_leap ? 1 : MOST_GIVEN, names, &n));
    for (int i = 1; i < n; i++) EXPR_TRY(read_day(b, e, e->child[i], &days.day[days.n++]));
    return keep_times(b, e, mark_other_days, &days, out);
}

/* A month, and the numbers of time steps that are kept before and after it. */
typedef struct month_span {
    int64_t month, before, after;
} month_span;

/* Marks the times of a month, and the given numbers of time steps before and after each run of such times. */
static void mark_month(const axis_values *v, const void *ctx, bool *keep)
{
    const month_span *s = ctx;
    for (int64_t k = 0; k < v->n; k++) keep[k] = false;
    for (int64_t first = 0, behind; first < v->n; first = behind) {
        behind = first + 1;
        if (date_part_of(v->axis.calendar, v->us[first], MONTH) != s->month) continue;
        while (behind < v->n && date_part_of(v->axis.calendar, v->us[behind], MONTH) == s->month)
            behind++;
        const int64_t from = first > s->before ? first - s->before : 0;
        const int64_t to = v->n - behind > s->after ? behind + s->after : v->n;
        for (int64_t k = from; k < to; k++) keep[k] = true;
    }
}

/* Builds selsmon(x, month, before, after). */
static cubed_status call_month(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"before", "after", "dim", NULL};
    int64_t number[3] = {0};
    int n;
    EXPR_TRY(expr_check_args(b, e, 2, 4, names, &n));
    for (int i = 1; i < 4; i++) {
        const expr *named = i > 1 ? expr_keyword(e, names[i - 2]) : NULL;
        const expr *given = i < n ? e->child[i] : named;
        if (i == 3) number[2] = number[1];
        if (given && given->kind != EXPR_NONE) EXPR_TRY(expr_get_int(b, given, &number[i - 1]));
    }
    if (number[0] < 1 || number[0] > MONTHS || number[1] < 0 || number[2] < 0)
        return expr_reject(b, e,
                           "expected a month from 1 to 12, and no negative numbers of time steps");
    const month_span span = {number[0], number[1], number[2]};
    return keep_times(b, e, mark_month, &span, out);
}

/* Converts a date string to the span of time that it denotes, in microseconds. */
static cubed_status read_span(expr_builder *b, const expr *e, const expr *date, cubed_calendar c,
                              int64_t *first, int64_t *behind)
{
    if (date->kind == EXPR_STRING && cubed_time_span_parse(date->text, c, first, behind))
        return CUBED_OK;
    return expr_fail(b->err, CUBED_E_ARG, b->text, date->at,
                     "%s: expected a date of the calendar %s in quotes, such as \"2000-01-31\"",
                     e->text, cubed_calendar_name(c));
}

static cubed_status take_dates(expr_builder *b, const expr *e, const expr *const date[2],
                               cubed_array **x)
{
    calendar_call call = {.reduction = NULL};
    axis_values v;
    int64_t first, behind, ignored, *at = NULL, n = 0;
    int d;
    read_dim(e, &call);
    EXPR_TRY(calendar_read_times(b, e, &call, *x, &d, &v));
    cubed_status st = read_span(b, e, date[0], v.axis.calendar, &first, &ignored);
    if (st == CUBED_OK) st = read_span(b, e, date[1], v.axis.calendar, &ignored, &behind);
    if (st == CUBED_OK) st = expr_alloc(b, e, v.n, sizeof *at, &at);
    for (int64_t k = 0; k < v.n && st == CUBED_OK; k++) {
        if (v.us[k] >= first && v.us[k] < behind) at[n++] = k;
    }
    if (st == CUBED_OK && n == 0)
        st = expr_fail(b->err, CUBED_E_INDEX, b->text, date[0]->at, "%s: no time is from %s to %s",
                       e->text, date[0]->text, date[1]->text);
    if (st == CUBED_OK) {
        st = expr_select_positions(b, e, &v, d, n, at, x);
        at = NULL;
    }
    lang_free(at);
    axis_values_free(&v);
    return st;
}

/* Builds seldate(x, "2000-01-01", "2000-02-29") or seldate(x, "2000-01"). */
static cubed_status call_seldate(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"dim", NULL};
    int n;
    EXPR_TRY(expr_check_args(b, e, 2, 3, names, &n));
    const expr *date[2] = {e->child[1], e->child[n > 2 ? 2 : 1]};
    if (n == 2 && date[0]->kind == EXPR_TUPLE && date[0]->n == 2) {
        date[1] = date[0]->child[1];
        date[0] = date[0]->child[0];
    }
    EXPR_TRY(expr_get_moved(b, e, e->child[0], out));
    const cubed_status st = take_dates(b, e, date, out);
    if (st == CUBED_OK) return CUBED_OK;
    cubed_array_unref(*out);
    *out = NULL;
    return st;
}

/* --- Functions of times ------------------------------------------------------------------------------- */

/* A function of the times along one dimension. */
typedef enum of_times { DAYS_IN_MONTH, DAYS_IN_YEAR, TIME_STEPS, DATE_PART } of_times;

static of_times of_times_find(const char *name)
{
    if (strcmp(name, "days_in_month") == 0) return DAYS_IN_MONTH;
    if (strcmp(name, "days_in_year") == 0) return DAYS_IN_YEAR;
    return strcmp(name, "time_steps") == 0 ? TIME_STEPS : DATE_PART;
}

/* Reads the string argument `key`, which may also be the second positional argument. Sets *out to NULL if the call does not have
 * it. */
static cubed_status read_string(expr_builder *b, const expr *e, int n, const char *key,
                                const char *expected, const char **out)
{
    const expr *word = n > 1 ? e->child[1] : expr_keyword(e, key);
    *out = NULL;
    if (!word || word->kind == EXPR_NONE) return CUBED_OK;
    if (word->kind != EXPR_STRING) return expr_reject(b, word, expected);
    *out = word->text;
    return CUBED_OK;
}

/* Sets number[k] to the number of times before time k that are in the same group, if groups are contiguous. */
static void number_steps(const groups *g, double *number)
{
    for (int64_t k = 0; k < g->n; k++)
        number[k] = k > 0 && g->code[k] == g->code[k - 1] ? number[k - 1] + 1 : 0;
}

/* Computes the number of each of the `extent` times along dimension d of x. `word` is the frequency or the part of dates. */
static cubed_status numbers_of_times(expr_builder *b, const expr *e, const calendar_call *call,
                                     const cubed_array *x, const char *word, int64_t extent,
                                     double *number)
{
    const of_times kind = of_times_find(e->text);
    calendar_call by = *call;
    axis_values v;
    groups g = {.n = 0};
    intervals unused;
    date_part part = DAY;
    int d;
    if (kind == TIME_STEPS && !word) {
        for (int64_t k = 0; k < extent; k++) number[k] = (double)k;
        return CUBED_OK;
    }
    if (kind == DATE_PART && !(word && date_part_find(word, &part)))
        return expr_reject(b, e,
                           "expected a part of dates in quotes: year, quarter, month, day, "
                           "dayofyear, hourofyear, dayofweek, hour, minute or second");
    EXPR_TRY(calendar_read_times(b, e, call, x, &d, &v));
    cubed_status st = CUBED_OK;
    by.frequency = kind == TIME_STEPS ? word : NULL;
    if (kind == TIME_STEPS) st = calendar_groups_find(b, e, &by, &v, &g, &unused, &part);
    if (kind == TIME_STEPS && st == CUBED_OK) number_steps(&g, number);
    for (int64_t k = 0; k < extent && kind == DATE_PART; k++)
        number[k] = (double)date_part_of(v.axis.calendar, v.us[k], part);
    for (int64_t k = 0; k < extent && (kind == DAYS_IN_MONTH || kind == DAYS_IN_YEAR); k++) {
        const cubed_calendar c = v.axis.calendar;
        const cubed_date date = date_of(c, v.us[k]);
        number[k] = kind == DAYS_IN_MONTH ? cubed_calendar_month_length(c, date.year, date.month)
                                          : (double)(cubed_calendar_days(c, date.year + 1, 1, 1) -
                                                     cubed_calendar_days(c, date.year, 1, 1));
    }
    lang_free(g.code);
    lang_free(g.value);
    axis_values_free(&v);
    return st;
}

/* Builds days_in_month(x) or days_in_year(x) (the number of days in the month or year of each time), time_steps(x, freq) (the
 * index of each time), or date_part(x, part). The result has the dimensions of x from the time dimension on, so that it
 * broadcasts to x. */
static cubed_status call_of_times(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"dim", NULL}, *const of_steps[] = {"freq", "dim", NULL},
                             *const of_parts[] = {"part", "dim", NULL};
    const of_times kind = of_times_find(e->text);
    calendar_call call = {.reduction = NULL};
    const char *dims[CUBED_MAX_NDIM], *word = NULL;
    int64_t shape[CUBED_MAX_NDIM];
    cubed_array *x;
    double *number = NULL;
    int n;
    EXPR_TRY(expr_check_args(b, e, 1, kind == DAYS_IN_MONTH || kind == DAYS_IN_YEAR ? 1 : 2,
                             kind == TIME_STEPS  ? of_steps
                             : kind == DATE_PART ? of_parts
                                                 : names,
                             &n));
    EXPR_TRY(read_string(b, e, n, kind == TIME_STEPS ? "freq" : "part",
                         kind == TIME_STEPS ? "expected a frequency in quotes, such as \"YS\""
                                            : "expected a part of dates in quotes: \"month\"",
                         &word));
    read_dim(e, &call);
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    const int d = calendar_call_axis(x, &call);
    const int64_t extent = d >= 0 ? cubed_array_shape(x)[d] : 0;
    cubed_status st = CUBED_OK;
    if (d < 0)
        st = expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                       "%s: the array has no dimension \"%s\", expected it", e->text, call.dim);
    else if (extent > AXIS_VALUES_MAX)
        st = expr_reject(b, e, "the dimension has more than 16777216 elements");
    if (st == CUBED_OK) st = expr_alloc(b, e, extent, sizeof *number, &number);
    if (st == CUBED_OK) st = numbers_of_times(b, e, &call, x, word, extent, number);
    for (int i = d; i < cubed_array_ndim(x) && st == CUBED_OK; i++) {
        dims[i - d] = cubed_array_dim_name(x, i);
        shape[i - d] = i == d ? extent : 1;
    }
    if (st == CUBED_OK) {
        const expr_description numbers = {CUBED_FLOAT64, cubed_array_ndim(x) - d, shape, dims,
                                          NULL};
        st = expr_own_described(b, e, &numbers, number, out);
        number = NULL;
    }
    lang_free(number);
    cubed_array_unref(x);
    return st;
}

/* --- Functions ---------------------------------------------------------------------------------------- */

#define ARITHMETIC(NAME, WORD, SAME)                                                               \
    {                                                                                              \
        .name = (NAME), .fn = call_arithmetic, .usage = NAME "(x, c, dim=\"time\")",               \
        .summary =                                                                                 \
            "Each element of x " WORD " the element of c with the same " SAME ", as in CDO."       \
    }
#define FAMILY(PREFIX, SAME)                                                                       \
    ARITHMETIC(PREFIX "add", "plus", SAME), ARITHMETIC(PREFIX "sub", "minus", SAME),               \
        ARITHMETIC(PREFIX "mul", "times", SAME), ARITHMETIC(PREFIX "div", "divided by", SAME)
#define SELECTION(NAME, LABELS)                                                                    \
    {                                                                                              \
        .name = (NAME), .fn = call_selection, .usage = NAME "(x, " LABELS ", ..., dim=\"time\")",  \
        .summary = "The times whose " LABELS " is one of the arguments. A pair is a range, which " \
                   "includes both ends."                                                           \
    }
#define SEASONS(NAME)                                                                              \
    {                                                                                              \
        .name = (NAME), .fn = call_selection, .usage = NAME "(x, season, ..., dim=\"time\")",      \
        .summary = "The times in these seasons."                                                   \
    }
#define DATES(NAME)                                                                                \
    {                                                                                              \
        .name = (NAME), .fn = call_seldate, .usage = NAME "(x, first, last=None, dim=\"time\")",   \
        .summary = "The times from the beginning of the first date to the end of the last one. "   \
                   "Dates are in quotes: \"2000-01-15\", \"2000-01\" or \"2000\"."                 \
    }

const expr_function expr_climatology_functions[] = {
    FAMILY("ymon", "month of the year"),
    FAMILY("yseas", "season"),
    FAMILY("yday", "day of the year"),
    FAMILY("yhour", "hour of the year"),
    FAMILY("mon", "month and year"),
    FAMILY("day", "date"),
    FAMILY("year", "year"),
    SELECTION("selmon", "month"),
    SELECTION("select_month", "month"),
    SELECTION("selmonth", "month"),
    SEASONS("selseason"),
    SELECTION("selyear", "year"),
    SELECTION("select_year", "year"),
    SELECTION("selday", "day"),
    SELECTION("select_day", "day"),
    SELECTION("selhour", "hour"),
    SELECTION("select_hour", "hour"),
    SEASONS("selseas"),
    SEASONS("select_season"),
    DATES("seldate"),
    DATES("select_date"),
    {.name = "seltime",
     .fn = call_selection,
     .usage = "seltime(x, time, ..., dim=\"time\")",
     .summary = "The elements at these times of day. A pair is a range, which includes both ends."},
    {.name = "selsmon",
     .fn = call_month,
     .usage = "selsmon(x, month, before=0, after=None, dim=\"time\")",
     .summary =
         "The times in one month of each year, with `before` time steps before it and `after` "
         "time steps after it."},
    {.name = "delday",
     .fn = call_days_but,
     .usage = "delday(x, day, ..., dim=\"time\")",
     .summary = "All times except those on these days. Days are numbers from 1 to 31, in each "
                "month, or days of the year such as \"5mar\"."},
    {.name = "del29feb",
     .fn = call_days_but,
     .usage = "del29feb(x, dim=\"time\")",
     .summary = "All times except those on February 29."},
    {.name = "days_in_year",
     .fn = call_of_times,
     .usage = "days_in_year(x, dim=\"time\")",
     .summary = "The number of days in the year of each time, as an array that broadcasts to x."},
    {.name = "days_in_month",
     .fn = call_of_times,
     .usage = "days_in_month(x, dim=\"time\")",
     .summary = "The number of days in the month of each time, as an array that broadcasts to x."},
    {.name = "time_steps",
     .fn = call_of_times,
     .usage = "time_steps(x, freq=None, dim=\"time\")",
     .summary =
         "The number of each time step, counted from 0, as an array that broadcasts to x. With "
         "a frequency such as \"YS\" or \"YS-JUL\", each interval begins with 0."},
    {.name = "date_part",
     .fn = call_of_times,
     .usage = "date_part(x, part, dim=\"time\")",
     .summary = "A part of the date of each time, such as \"month\" or \"dayofyear\", as an array "
                "that broadcasts to x."},
    {.name = NULL}};
