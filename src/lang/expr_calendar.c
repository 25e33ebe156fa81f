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
#include "lang/calendar_groups.h"
#include "lang/expr_json.h"
#include "lang/lang_memory.h"
#include "lang/order_names.h"

#define US_PER_S INT64_C(1000000)

/* --- Coordinates of groups ---------------------------------------------------------------------------- */

/* Creates a described array of times in the units of the coordinate: integers if all times are whole numbers of units, otherwise
 * floats. Takes ownership of `us`. */
static cubed_status encode_times(expr_builder *b, const expr *e, const axis_values *v, int64_t *us,
                                 expr_description described, cubed_array **out)
{
    const int64_t unit = v->axis.unit, by = v->axis.divide;
    int64_t n = 1;
    bool whole = true;
    for (int d = 0; d < described.ndim; d++) n *= described.shape[d];
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
    described.dtype = whole ? CUBED_INT64 : CUBED_FLOAT64;
    return expr_own_described(b, e, &described, whole ? (void *)us : (void *)real, out);
}

/* Returns the attributes of the coordinate without the attributes that describe the old numbers. */
static json_t *time_attrs(expr_builder *b, const axis_values *v, const char *bounds)
{
    static const char *const gone[] = {"_FillValue",  "missing_value", "bounds",
                                       "climatology", "valid_min",     "valid_max",
                                       "valid_range", "actual_range"};
    json_t *attrs = v->attrs ? expr_json_copy(b, v->attrs) : expr_json_object(b);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) json_object_del(attrs, gone[i]);
    if (!json_object_get(attrs, "units")) {
        /* If the coordinate has a datetime or timedelta type, its attributes have no units. */
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

/* Allocates n times, and two bounds for each. The caller frees both lists with lang_free. */
static cubed_status new_bounds(expr_builder *b, const expr *e, int64_t n, int64_t **starts,
                               int64_t **ends)
{
    EXPR_TRY(expr_alloc(b, e, n, sizeof **starts, starts));
    const cubed_status st = expr_alloc(b, e, n, 2 * sizeof **ends, ends);
    if (st != CUBED_OK) lang_free(*starts);
    return st;
}

/* Creates a coordinate of n times with bounds, two for each time. Takes ownership of both lists. */
static cubed_status bounded_coordinate(expr_builder *b, const expr *e, const axis_values *v,
                                       int64_t n, int64_t *starts, int64_t *ends, const char *dim,
                                       cubed_expr_coord *c)
{
    const int64_t shape[2] = {n, 2};
    const char *const names[2] = {dim, "bnds"};
    char *bounds = expr_text(b, "%s_bnds", dim);
    json_t *attrs = time_attrs(b, v, bounds), *own = expr_json_object(b);
    for (size_t i = 0; i < 2; i++) {
        json_t *said = json_object_get(attrs, i ? "calendar" : "units");
        if (said) expr_json_put(b, own, i ? "calendar" : "units", json_incref(said));
    }
    axis_values in = *v;
    /* If the coordinate has a datetime or timedelta type, it has no units. Then use the units that time_attrs chose: days,
     * seconds or microseconds. */
    if (!(v->attrs && json_object_get(v->attrs, "units"))) in.axis.divide = 1;
    if (v->axis.unit % US_PER_S != 0 && !(v->attrs && json_object_get(v->attrs, "units")))
        in.axis.unit = 1;
    else if (!(v->attrs && json_object_get(v->attrs, "units")))
        in.axis.unit = v->axis.unit % CUBED_US_PER_DAY == 0 ? CUBED_US_PER_DAY : US_PER_S;
    const expr_description times = {.ndim = 1, .shape = shape, .names = names, .attrs = attrs},
                           limits = {.ndim = 2, .shape = shape, .names = names, .attrs = own};
    cubed_status st = encode_times(b, e, &in, starts, times, &c->made);
    if (st == CUBED_OK)
        st = encode_times(b, e, &in, ends, limits, &c->bounds);
    else
        lang_free(ends);
    json_decref(attrs);
    json_decref(own);
    expr_text_free(bounds);
    return st;
}

/* Creates the coordinate of intervals, with bounds: the start of each interval, or its last day if s->ends. */
static cubed_status interval_coordinate(expr_builder *b, const expr *e, const axis_values *v,
                                        const groups *g, const intervals *s, const char *dim,
                                        cubed_expr_coord *c)
{
    int64_t *starts, *ends;
    EXPR_TRY(new_bounds(b, e, g->ngroups, &starts, &ends));
    for (int64_t i = 0; i < g->ngroups; i++) {
        starts[i] = ends[2 * i] = intervals_start(v->axis.calendar, g->value[i], s);
        ends[2 * i + 1] = intervals_start(v->axis.calendar, g->value[i] + 1, s);
        if (s->ends) starts[i] = ends[2 * i + 1] - CUBED_US_PER_DAY;
    }
    return bounded_coordinate(b, e, v, g->ngroups, starts, ends, dim, c);
}

/* Creates the coordinate of parts of dates: numbers, or names of seasons. */
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
            text[i] = (uint32_t)calendar_seasons[g->value[i / 3]][i % 3];
        data = text;
    } else {
        g->value = NULL; /* expr_own_described takes ownership */
    }
    json_t *attrs = expr_json_object(b);
    expr_json_put_text(b, attrs, "long_name", "%s of %s", dim, v->had.dim);
    /* Record the length of the year to which the numbers of days refer, because days after February have other numbers in leap
     * years. */
    if (g->year_days) expr_json_put(b, attrs, CALENDAR_YEAR_DAYS, json_integer(g->year_days));
    const expr_description made = {dtype, 1, &g->ngroups, names, attrs};
    cubed_status st = expr_own_described(b, e, &made, data, &c->made);
    json_decref(attrs);
    return st;
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

static cubed_status group_by(expr_builder *b, const expr *e, const calendar_call *call,
                             cubed_array *x, cubed_array **out)
{
    axis_values v;
    groups g = {.n = 0};
    intervals s = {.anchor = 0};
    date_part what = YEAR;
    int d;
    EXPR_TRY(calendar_read_times(b, e, call, x, &d, &v));
    cubed_status st = CUBED_OK;
    if (st == CUBED_OK) st = calendar_groups_find(b, e, call, &v, &g, &s, &what);
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

/* Sets the group of times outside of a range such as reference=("1981", "2010") to -1. The range includes its ends. */
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
                         "anomaly: reference is not a pair of dates of the calendar %s in quotes, "
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

/* Subtracts from each element of x the mean of its group. `of` has the group of each position along axis d; the function takes
 * ownership of it. */
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
    groups g = {.n = 0};
    intervals s = {.anchor = 0};
    date_part what = YEAR;
    int64_t *of = NULL;
    cubed_array *means = NULL;
    int d;
    EXPR_TRY(calendar_read_times(b, e, call, x, &d, &v));
    cubed_status st = calendar_groups_find(b, e, call, &v, &g, &s, &what);
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

/* Builds a call such as anomaly(x, "time.month", reference=("1981", "2010")). */
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

/* --- Windows ------------------------------------------------------------------------------------------ */

/* Lists with an entry for each element of each window, one window after another. `at` has the position of the element along
 * the axis, and `code` the group of its window, which is below `ngroups`. */
typedef struct window_elements {
    int64_t length, nwindows, ngroups;
    int64_t n, *at, *code;
} window_elements;

static cubed_status list_windows(expr_builder *b, const expr *e, const groups *g,
                                 window_elements *w)
{
    if (w->nwindows > AXIS_VALUES_MAX / w->length)
        return expr_reject(b, e,
                           "the windows have more than 16777216 time steps: use shorter ones");
    w->n = w->nwindows * w->length;
    EXPR_TRY(expr_alloc(b, e, w->n, sizeof *w->at, &w->at));
    EXPR_TRY(expr_alloc(b, e, w->n, sizeof *w->code, &w->code));
    for (int64_t i = 0; i < w->n; i++) {
        w->at[i] = i / w->length + i % w->length;
        w->code[i] = g->code ? g->code[i / w->length] : i / w->length;
    }
    return CUBED_OK;
}

/* Reduces the windows of each group. Takes ownership of w->at and w->code. */
static cubed_status reduce_windows(expr_builder *b, const expr *e, const calendar_call *call,
                                   cubed_array *x, int d, const char *dim, window_elements *w,
                                   cubed_array **out)
{
    groups g = {.n = w->n, .code = w->code, .ngroups = w->ngroups};
    const char *names[CUBED_MAX_NDIM];
    cubed_array *at = NULL, *taken = NULL, *named = NULL;
    for (int i = 0; i < cubed_array_ndim(x); i++) names[i] = cubed_array_dim_name(x, i);
    w->code = NULL;
    cubed_status st = expr_own_array(b, e, CUBED_INT64, 1, &w->n, w->at, &at);
    w->at = NULL;
    if (st == CUBED_OK) st = expr_located(b, e, cubed_take(x, at, d, &taken, b->err));
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_array_with_dim_names(taken, names, &named, b->err));
    if (st == CUBED_OK) st = reduce_groups(b, e, call, named, d, &g, dim, out);
    lang_free(g.code);
    cubed_array_unref(at);
    cubed_array_unref(taken);
    cubed_array_unref(named);
    return st;
}

/* Reduces windows if each window is a group. Calls the function "rolling" of the catalogue, which reads each element once. */
static cubed_status roll_windows(expr_builder *b, const expr *e, const calendar_call *call,
                                 cubed_array *x, int d, const window_elements *w, cubed_array **out)
{
    const expr call_only = {.kind = EXPR_CALL, .at = e->at, .text = e->text};
    const expr_given given[] = {
        {"x", {.kind = CUBED_VALUE_ARRAY, .as.array = x}, e},
        {"window", {.kind = CUBED_VALUE_INT, .as.integer = w->length}, e},
        {"reduction", {.kind = CUBED_VALUE_STRING, .as.string = call->reduction}, e},
        {"axis", {.kind = CUBED_VALUE_INT, .as.integer = d}, e},
        {"center", {.kind = CUBED_VALUE_BOOL, .as.boolean = true}, e},
        {"min_periods", {.kind = CUBED_VALUE_INT, .as.integer = call->skip_nan ? 1 : w->length}, e},
        {"ddof", {.kind = CUBED_VALUE_FLOAT, .as.real = call->correction}, e}};
    cubed_slice slices[CUBED_MAX_NDIM];
    cubed_array *all = NULL;
    EXPR_TRY(expr_call_given(b, &call_only, cubed_function_find("rolling"), given,
                             sizeof given / sizeof *given, &all));
    for (int i = 0; i < cubed_array_ndim(x); i++)
        slices[i] = (cubed_slice){0, cubed_array_shape(x)[i], 1, false};
    slices[d] = (cubed_slice){w->length / 2, w->nwindows, 1, false};
    const cubed_status st = expr_located(b, e, cubed_slice_array(all, slices, out, b->err));
    cubed_array_unref(all);
    return st;
}

/* Builds functions of windows. For functions of days of the year, windows around the same day of all years form one group.
 * For other functions, each window is a group. */
static cubed_status build_windows(expr_builder *b, const expr *e, const calendar_call *call,
                                  int64_t length, cubed_array *x, cubed_array **out)
{
    axis_values v;
    groups g = {.n = 0};
    intervals s = {.anchor = 0};
    date_part what = YEAR;
    window_elements w = {.length = length};
    int d;
    EXPR_TRY(calendar_read_times(b, e, call, x, &d, &v));
    cubed_status st = CUBED_OK;
    if (length < 1 || length > v.n)
        st = expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                       "%s: the length of windows is %" PRId64 ", expected 1 to %" PRId64
                       ", the number of time steps",
                       e->text, length, v.n);
    w.nwindows = v.n - length + 1;
    axis_values middles = v;
    middles.us = v.us + (length - 1) / 2;
    middles.n = w.nwindows;
    if (st == CUBED_OK && call->component)
        st = calendar_groups_find(b, e, call, &middles, &g, &s, &what);
    const char *dim = call->component ? call->component : v.had.dim;
    w.ngroups = call->component ? g.ngroups : w.nwindows;
    const bool rolls = !call->component && !order_name_takes_q(call->reduction);
    if (st == CUBED_OK && rolls) st = roll_windows(b, e, call, x, d, &w, out);
    if (st == CUBED_OK && !rolls) st = list_windows(b, e, &g, &w);
    if (st == CUBED_OK && !rolls) st = reduce_windows(b, e, call, x, d, dim, &w, out);
    if (st == CUBED_OK && !call->component) {
        expr_note_part(b, e, e->child[0], x, d,
                       (cubed_slice){(length - 1) / 2, w.nwindows, 1, false});
    } else if (st == CUBED_OK) {
        cubed_expr_coord c = {
            .dim = expr_text(b, "%s", dim),
            .whole = w.ngroups,
            .part = {0, w.ngroups, 1, false},
            .key = expr_text(b, "%s windows %" PRId64 " [%" PRId64 " %" PRId64 " %" PRId64 "] %s",
                             v.had.dim, length, v.had.part.start, v.had.part.len, v.had.part.step,
                             v.had.key ? v.had.key : "")};
        st = component_coordinate(b, e, &v, &g, what, dim, &c);
        if (st == CUBED_OK)
            expr_about_note(b, e, c);
        else
            expr_coord_free(&c);
        if (st != CUBED_OK) cubed_array_unref(*out);
    }
    lang_free(w.at);
    lang_free(w.code);
    lang_free(g.code);
    lang_free(g.value);
    axis_values_free(&v);
    return st;
}

/* Builds a call such as ydrunmean(x, 5), ydrunpctl(x, 90, 5) or runpctl(x, 90, 5). As in CDO, a percentile precedes the
 * length. */
static cubed_status call_windows(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"dim", "skipna", "method", NULL};
    calendar_call call;
    cubed_array *x;
    int64_t length;
    int n;
    if (!calendar_call_windows(e, &call))
        return expr_reject(b, e, "expected a name in quotes for dim=");
    const int given = order_name_takes_q(call.reduction) ? 3 : 2;
    EXPR_TRY(expr_check_args(b, e, given, given, names, &n));
    if (given == 3) call.q = e->child[1];
    EXPR_TRY(expr_get_int(b, e->child[given - 1], &length));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    const cubed_status st = build_windows(b, e, &call, length, x, out);
    cubed_array_unref(x);
    return st;
}

/* --- Sets of time steps ------------------------------------------------------------------------------- */

/* Sets of `length` successive time steps. Sets begin after `offset` time steps, and `skip` time steps are between sets. */
typedef struct time_sets {
    int64_t length, offset, skip;
} time_sets;

/* Assigns the time steps to sets. The last set may have fewer steps. Time steps outside of sets get the group -1. */
static cubed_status find_sets(expr_builder *b, const expr *e, const time_sets *s, groups *g)
{
    const int64_t period = s->length + s->skip;
    EXPR_TRY(expr_alloc(b, e, g->n, sizeof *g->code, &g->code));
    for (int64_t k = 0; k < g->n; k++) {
        const int64_t i = k - s->offset;
        g->code[k] = i >= 0 && i % period < s->length ? i / period : -1;
        if (g->code[k] >= g->ngroups) g->ngroups = g->code[k] + 1;
    }
    return CUBED_OK;
}

/* Creates the coordinate of sets of time steps: the first time of each set, with the times of its first and last step as bounds.
 * */
static cubed_status set_coordinate(expr_builder *b, const expr *e, const axis_values *v,
                                   const time_sets *s, int64_t nsets, cubed_expr_coord *c)
{
    int64_t *starts, *ends;
    EXPR_TRY(new_bounds(b, e, nsets, &starts, &ends));
    for (int64_t i = 0; i < nsets; i++) {
        const int64_t first = s->offset + i * (s->length + s->skip);
        const int64_t last = v->n - first < s->length ? v->n - 1 : first + s->length - 1;
        starts[i] = ends[2 * i] = v->us[first];
        ends[2 * i + 1] = v->us[last];
    }
    return bounded_coordinate(b, e, v, nsets, starts, ends, v->had.dim, c);
}

static cubed_status build_sets(expr_builder *b, const expr *e, const calendar_call *call,
                               const time_sets *s, cubed_array *x, cubed_array **out)
{
    axis_values v;
    groups g = {.n = 0};
    int d;
    EXPR_TRY(calendar_read_times(b, e, call, x, &d, &v));
    cubed_status st = CUBED_OK;
    g.n = v.n;
    if (s->length < 1 || s->length > v.n || s->offset < 0 || s->offset >= v.n || s->skip < 0 ||
        s->skip > v.n)
        st = expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                       "%s: length %" PRId64 ", offset %" PRId64 " and skip %" PRId64
                       ", expected a length of 1 to %" PRId64
                       " time steps, an offset of 0 to %" PRId64 " and a skip of 0 to %" PRId64,
                       e->text, s->length, s->offset, s->skip, v.n, v.n - 1, v.n);
    if (st == CUBED_OK) st = find_sets(b, e, s, &g);
    if (st == CUBED_OK) st = reduce_groups(b, e, call, x, d, &g, v.had.dim, out);
    if (st == CUBED_OK) {
        cubed_expr_coord c = {.dim = expr_text(b, "%s", v.had.dim),
                              .whole = g.ngroups,
                              .part = {0, g.ngroups, 1, false},
                              .key = expr_text(b,
                                               "%s sets %" PRId64 " %" PRId64 " %" PRId64
                                               " [%" PRId64 " %" PRId64 " %" PRId64 "] %s",
                                               v.had.dim, s->length, s->offset, s->skip,
                                               v.had.part.start, v.had.part.len, v.had.part.step,
                                               v.had.key ? v.had.key : "")};
        st = set_coordinate(b, e, &v, s, g.ngroups, &c);
        if (st == CUBED_OK)
            expr_about_note(b, e, c);
        else
            expr_coord_free(&c);
        if (st != CUBED_OK) cubed_array_unref(*out);
    }
    lang_free(g.code);
    axis_values_free(&v);
    return st;
}

/* Builds a call such as timselmean(x, 10), timselmean(x, 10, offset=2, skip=1) or timselpctl(x, 90, 10). */
static cubed_status call_sets(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"offset", "skip", "dim", "skipna", "method", NULL};
    calendar_call call;
    cubed_array *x;
    int64_t number[3] = {0};
    int n;
    if (!calendar_call_sets(e, &call))
        return expr_reject(b, e, "expected a name in quotes for dim=");
    const int first = order_name_takes_q(call.reduction) ? 2 : 1;
    EXPR_TRY(expr_check_args(b, e, first + 1, first + 3, names, &n));
    if (first == 2) call.q = e->child[1];
    for (int i = 0; i < 3; i++) {
        const expr *named = i > 0 ? expr_keyword(e, names[i - 1]) : NULL;
        const expr *given = first + i < n ? e->child[first + i] : named;
        if (given != named && named) return expr_reject(b, named, "this number is given twice");
        if (given) EXPR_TRY(expr_get_int(b, given, &number[i]));
    }
    const time_sets sets = {number[0], number[1], number[2]};
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    const cubed_status st = build_sets(b, e, &call, &sets, x, out);
    cubed_array_unref(x);
    return st;
}

/* Returns the error for a call of resample that expr_calendar_build did not recognise as a call with a calendar frequency. */
static cubed_status call_resample(expr_builder *b, const expr *e, cubed_array **out)
{
    (void)out;
    return expr_reject(b, e, "expected resample(x, \"1D\", \"mean\", dim=\"time\")");
}

/* Last sentences of summaries: the effect of missing values on a statistic, and the divisor of a sample variance. */
#define SKIPPED     " Missing values are skipped."
#define NOT_SKIPPED " Missing values make the result missing."
#define OF_SAMPLE   SKIPPED " The divisor is n - 1."
#define WINDOW(NAME, Q, WHAT, WHERE, MISSING)                                                      \
    {                                                                                              \
        .name = (NAME), .fn = call_windows, .usage = NAME "(x, " Q "length, dim=\"time\")",        \
        .summary =                                                                                 \
            WHAT " of the elements in windows of `length` times" WHERE ", as in CDO." MISSING      \
    }

#define SETS(NAME, Q, WHAT, MISSING)                                                               \
    {                                                                                              \
        .name = (NAME), .fn = call_sets,                                                           \
        .usage = NAME "(x, " Q "length, offset=0, skip=0, dim=\"time\")",                          \
        .summary = WHAT " of each set of `length` successive times, as in CDO. The first "         \
                        "`offset` times, and `skip` times between two sets, are left out." MISSING \
    }

const expr_function expr_calendar_functions[] = {
    {.name = "anomaly",
     .fn = call_anomaly,
     .usage = "anomaly(x, groupby, dim=\"time\", reference=None, skipna=None)",
     .summary = "Elements minus the mean of their group of times, such as all Januaries. The means "
                "are computed from the times of a reference period, by default from all times."},
    {.name = "resample",
     .fn = call_resample,
     .usage = "resample(x, frequency, reduction, dim=\"time\", skipna=None, ddof=0, "
              "min_count=0, q=None, method=None)",
     .summary = "Reduces the elements in each interval of time. Frequencies are those of Pandas: "
                "YS, QS-DEC, MS, YE, QE, ME, W, D, h, min, s, also with a number, such as 6h."},
    WINDOW("runavg", "", "The mean", "", NOT_SKIPPED),
    WINDOW("runmax", "", "The maximum", "", SKIPPED),
    WINDOW("runmean", "", "The mean", "", SKIPPED),
    WINDOW("runmin", "", "The minimum", "", SKIPPED),
    WINDOW("runpctl", "q, ", "Percentiles", "", SKIPPED),
    WINDOW("runstd", "", "The standard deviation", "", SKIPPED),
    WINDOW("runstd1", "", "The standard deviation", "", OF_SAMPLE),
    WINDOW("runsum", "", "The sum", "", SKIPPED),
    WINDOW("runvar", "", "The variance", "", SKIPPED),
    WINDOW("runvar1", "", "The variance", "", OF_SAMPLE),
    WINDOW("ydrunpctl", "q, ", "Percentiles", " around each day of the year, in all years",
           SKIPPED),
    SETS("timselavg", "", "The mean", NOT_SKIPPED),
    SETS("timselmax", "", "The maximum", SKIPPED),
    SETS("timselmean", "", "The mean", SKIPPED),
    SETS("timselmin", "", "The minimum", SKIPPED),
    SETS("timselpctl", "q, ", "Percentiles", SKIPPED),
    SETS("timselstd", "", "The standard deviation", SKIPPED),
    SETS("timselstd1", "", "The standard deviation", OF_SAMPLE),
    SETS("timselsum", "", "The sum", SKIPPED),
    SETS("timselvar", "", "The variance", SKIPPED),
    SETS("timselvar1", "", "The variance", OF_SAMPLE),
    {.name = NULL}};
