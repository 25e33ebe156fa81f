/* Selections by labels: sel(x, time="2020-01", lat=(40, 60), lev=[850, 200]). Coordinates are read when the expression is
 * built, because they determine the shape of the result. */
#include "lang/expr_select.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lang/about.h"
#include "lang/expr_json.h"
#include "lang/lang_arrays.h"
#include "lang/lang_hash.h"
#include "lang/lang_memory.h"
#include "lang/longitudes.h"

/* The coordinate values that a label or a range selects. A range includes its ends. */
typedef struct wanted {
    const expr *at; /* for messages */
    bool one;
    double from, to;
    int64_t first, behind; /* span of times; `behind` is its exclusive end */
    const char *text[2];
} wanted;

/* The elements to select along an axis. */
typedef struct choice {
    cubed_slice slice;
    int64_t n, *at; /* positions, used instead of the slice unless NULL */
    double *label;  /* new labels of the elements; NULL keeps their labels */
} choice;

static void free_choice(choice *c)
{
    lang_free(c->at);
    lang_free(c->label);
}

static const char *string_of(const expr *e) { return e->kind == EXPR_STRING ? e->text : NULL; }

/* Returns the number of bits in the significand of the coordinate's type. */
static int digits_of(const axis_values *v)
{
    switch (cubed_array_dtype(v->array)) {
    case CUBED_FLOAT32: return 24;
    case CUBED_FLOAT16: return 11;
    case CUBED_BFLOAT16: return 8;
    default: return 53;
    }
}

/* Reports a label that is not in quotes, along a coordinate of dates or strings. A number is not accepted as a date: 2020-03
 * would be the year 2017. */
static cubed_status not_a_string(expr_builder *b, const expr *e, const axis_values *v)
{
    char such[64];
    snprintf(such, sizeof such, v->text ? "Kew" : "2020-01");
    if (e->kind == EXPR_INT) snprintf(such, sizeof such, "%" PRId64, e->integer);
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                     "the coordinate \"%s\" holds %s%s: expected %s in quotes, such as %s=\"%s\"",
                     v->had.dim, v->text ? "strings" : "dates of the calendar ",
                     v->text ? "" : cubed_calendar_name(v->axis.calendar),
                     v->text ? "a string" : "a date", v->had.dim, such);
}

static cubed_status get_wanted(expr_builder *b, const expr *e, const axis_values *v, bool pair,
                               wanted *w)
{
    const expr *end[2] = {e, e};
    *w = (wanted){.at = e, .one = !pair};
    for (int k = 0; k < 2 && pair; k++) end[k] = e->child[k];
    for (int k = 0; k < 2; k++) {
        int64_t first, behind;
        expr_value x;
        if (v->text) {
            w->text[k] = string_of(end[k]);
            if (!w->text[k]) return not_a_string(b, end[k], v);
            continue;
        }
        if (!v->is_time) {
            if (string_of(end[k]))
                return expr_fail(b->err, CUBED_E_ARG, b->text, end[k]->at,
                                 "the coordinate \"%s\" holds numbers: expected a number",
                                 v->had.dim);
            EXPR_TRY(expr_get_number(b, end[k], &x));
            *(k ? &w->to : &w->from) = x.re;
            continue;
        }
        if (!string_of(end[k])) return not_a_string(b, end[k], v);
        if (!cubed_time_span_parse(end[k]->text, v->axis.calendar, &first, &behind))
            return expr_fail(
                b->err, CUBED_E_ARG, b->text, end[k]->at,
                "expected a date of the calendar %s in quotes, such as \"2020-01\", or "
                "two: (\"2020-01\", \"2020-03-15\")",
                cubed_calendar_name(v->axis.calendar));
        if (k == 0) w->first = first;
        w->behind = behind;
    }
    return CUBED_OK;
}

/* --- One axis ----------------------------------------------------------------------------------------- */

static bool is_cyclic(const axis_values *v)
{
    return v->number && longitudes_are(v->had.dim, v->attrs);
}

/* Returns the index of the nearest value. As in Pandas, the greater of two equally near values wins. */
static int64_t nearest_number(const axis_values *v, double x)
{
    const bool cyclic = is_cyclic(v);
    double least = INFINITY;
    int64_t best = -1;
    for (int64_t i = 0; i < v->n; i++) {
        const double y = v->number[i], off = cyclic ? longitudes_apart(y, x) : fabs(y - x);
        if (isnan(y)) continue;
        if (best >= 0 && (off > least || (off == least && y <= v->number[best]))) continue;
        best = i;
        least = off;
    }
    return best;
}

static int64_t nearest_time(const axis_values *v, int64_t us)
{
    int64_t best = -1;
    uint64_t least = 0;
    for (int64_t i = 0; i < v->n; i++) {
        const uint64_t off =
            v->us[i] > us ? (uint64_t)v->us[i] - (uint64_t)us : (uint64_t)us - (uint64_t)v->us[i];
        if (best >= 0 && (off > least || (off == least && v->us[i] <= v->us[best]))) continue;
        best = i;
        least = off;
    }
    return best;
}

static cubed_status nothing_there(expr_builder *b, const expr *e, const axis_values *v,
                                  const wanted *w)
{
    char first[48], last[48];
    if (v->n == 0) return expr_reject(b, e, "the dimension has no elements");
    if (v->is_time) {
        cubed_time_text(v->axis.calendar, v->us[0], first);
        cubed_time_text(v->axis.calendar, v->us[v->n - 1], last);
    } else {
        snprintf(first, sizeof first, "%g", v->number[0]);
        snprintf(last, sizeof last, "%g", v->number[v->n - 1]);
    }
    return expr_fail(b->err, CUBED_E_INDEX, b->text, e->at,
                     "\"%s\" has no such elements: it goes from %s to %s%s", v->had.dim, first,
                     last, w->one ? "; method=\"nearest\" takes the nearest" : "");
}

static cubed_status not_side_by_side(expr_builder *b, const expr *e, const axis_values *v)
{
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                     "\"%s\" is not sorted: the selected elements are not contiguous", v->had.dim);
}

/* Matching elements: indices of the first and last, and their number. */
typedef struct found {
    int64_t first, last, n;
} found;

static cubed_status find_text(expr_builder *b, const expr *e, const axis_values *v,
                              const char *text, found *f)
{
    char *element;
    *f = (found){-1, -1, 0};
    if (expr_encode_text(text, v->dtype, NULL) > v->size) return CUBED_OK;
    EXPR_TRY(expr_alloc(b, e, 1, v->size, &element));
    expr_encode_text(text, v->dtype, element);
    for (int64_t i = 0; i < v->n; i++) {
        if (memcmp(v->text + (size_t)i * v->size, element, v->size) != 0) continue;
        if (f->n++ == 0) f->first = i;
        f->last = i;
    }
    lang_free(element);
    return CUBED_OK;
}

/* Finds the elements equal to one string, or the range from the first element equal to text[0] to the last equal to text[1]. */
static cubed_status find_texts(expr_builder *b, const expr *e, const axis_values *v,
                               const wanted *w, cubed_slice *out)
{
    found end[2];
    for (int k = 0; k < 2; k++) {
        EXPR_TRY(find_text(b, e, v, w->text[k], &end[k]));
        if (end[k].n == 0)
            return expr_fail(b->err, CUBED_E_INDEX, b->text, e->at, "\"%s\" has no element \"%s\"",
                             v->had.dim, w->text[k]);
    }
    const int64_t n = end[1].last - end[0].first + 1;
    if (w->one && n != end[0].n)
        return expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                         "elements of \"%s\" that are \"%s\" are not contiguous", v->had.dim,
                         w->text[0]);
    *out = (cubed_slice){end[0].first, n > 0 ? n : 0, 1, w->one && n == 1};
    return CUBED_OK;
}

static bool is_wanted(const axis_values *v, const wanted *w, int64_t i)
{
    if (v->is_time) return v->us[i] >= w->first && v->us[i] < w->behind;
    return v->number[i] >= w->from && v->number[i] <= w->to;
}

/* Finds the contiguous elements of a range. A single number is a range with equal ends. */
static cubed_status find_side_by_side(expr_builder *b, const expr *e, const axis_values *v,
                                      const wanted *w, cubed_slice *out)
{
    found f = {-1, -1, 0};
    for (int64_t i = 0; i < v->n; i++) {
        if (!is_wanted(v, w, i)) continue;
        if (f.n++ == 0) f.first = i;
        f.last = i;
    }
    if (f.n == 0) return nothing_there(b, e, v, w);
    if (f.last - f.first + 1 != f.n) return not_side_by_side(b, e, v);
    *out = (cubed_slice){f.first, f.n, 1, w->one && !v->is_time && f.n == 1};
    return CUBED_OK;
}

static cubed_status find_longitudes(expr_builder *b, const expr *e, const axis_values *v,
                                    const wanted *w, choice *out)
{
    longitudes_range r;
    switch (longitudes_find(v->number, v->n, w->from, w->to, digits_of(v), &r)) {
    case LONGITUDES_FOUND: break;
    case LONGITUDES_NONE: return nothing_there(b, e, v, w);
    case LONGITUDES_UNORDERED: return not_side_by_side(b, e, v);
    case LONGITUDES_TOO_WIDE:
        return expr_fail(b->err, CUBED_E_ARG, b->text, e->at,
                         "longitudes from %g to %g: expected 360 degrees at most", w->from, w->to);
    case LONGITUDES_HOLE:
        return expr_fail(
            b->err, CUBED_E_ARG, b->text, e->at,
            "longitudes from %g eastwards to %g: \"%s\" goes from %g to %g, and not around the "
            "globe; expected a range within, such as (%g, %g)",
            w->from, w->to, v->had.dim, v->number[0], v->number[v->n - 1],
            fmin(v->number[0], v->number[v->n - 1]), fmax(v->number[0], v->number[v->n - 1]));
    }
    out->slice = (cubed_slice){r.first, r.n, 1, false};
    if (!r.wraps) return CUBED_OK;
    EXPR_TRY(expr_alloc(b, e, r.n, sizeof *out->at, &out->at));
    EXPR_TRY(expr_alloc(b, e, r.n, sizeof *out->label, &out->label));
    out->n = longitudes_place(v->number, v->n, &r, out->at, out->label);
    return CUBED_OK;
}

/* Selects one longitude. Prefers elements that equal the number; otherwise selects the first element on the same meridian. */
static cubed_status find_longitude(expr_builder *b, const expr *e, const axis_values *v, wanted *w,
                                   cubed_slice *out)
{
    const double x = w->from;
    longitudes_range r;
    w->from = w->to = longitudes_round(x, digits_of(v));
    for (int64_t i = 0; i < v->n; i++) {
        if (v->number[i] == w->from) return find_side_by_side(b, e, v, w, out);
    }
    for (int64_t i = 0; i < v->n; i++) {
        if (longitudes_find(&v->number[i], 1, x, x, digits_of(v), &r) != LONGITUDES_FOUND) continue;
        *out = (cubed_slice){i, 1, 1, true};
        return CUBED_OK;
    }
    return nothing_there(b, e, v, w);
}

/* Finds the elements of one label or range. */
static cubed_status find_wanted(expr_builder *b, const expr *e, const axis_values *v, wanted *w,
                                bool nearest, choice *out)
{
    if (v->text && nearest)
        return expr_reject(b, e, "method=\"nearest\" does not apply to strings");
    if (v->text) return find_texts(b, e, v, w, &out->slice);
    if (w->one && nearest) {
        const int64_t i = v->is_time ? nearest_time(v, w->first) : nearest_number(v, w->from);
        if (i < 0) return nothing_there(b, e, v, w);
        out->slice = (cubed_slice){i, 1, 1, true};
        return CUBED_OK;
    }
    if (is_cyclic(v) && w->one) return find_longitude(b, e, v, w, &out->slice);
    if (is_cyclic(v)) return find_longitudes(b, e, v, w, out);
    if (!v->is_time) {
        /* Rounds the ends of the range to the coordinate's type, because 0.1 is 0.100000001 in float32. */
        const double from = longitudes_round(fmin(w->from, w->to), digits_of(v));
        w->to = longitudes_round(fmax(w->from, w->to), digits_of(v));
        w->from = from;
    }
    return find_side_by_side(b, e, v, w, &out->slice);
}

/* Replaces equally spaced positions by a slice. A slice keeps the bounds of the coordinate. */
static void use_slice(choice *c)
{
    const int64_t step = c->n > 1 ? c->at[1] - c->at[0] : 1;
    for (int64_t i = 1; i < c->n; i++) {
        if (step <= 0 || c->at[i] - c->at[i - 1] != step) return;
    }
    c->slice = (cubed_slice){c->at[0], c->n, step, false};
    lang_free(c->at);
    c->at = NULL;
}

/* Finds the elements of a list of labels such as [850, 200], in the order of the list. */
static cubed_status find_list(expr_builder *b, const expr *list, const axis_values *v, bool nearest,
                              choice *out)
{
    int64_t room = 0;
    cubed_status st = CUBED_OK;
    if (list->n == 0) return expr_reject(b, list, "expected at least one label");
    for (int k = 0; k < list->n && st == CUBED_OK; k++) {
        wanted w;
        choice one = {.at = NULL};
        st = get_wanted(b, list->child[k], v, false, &w);
        if (st == CUBED_OK) st = find_wanted(b, list->child[k], v, &w, nearest, &one);
        if (st == CUBED_OK && room + one.slice.len > AXIS_VALUES_MAX)
            st = expr_reject(b, list, "the labels select more than 16777216 elements");
        if (st != CUBED_OK) break;
        room += one.slice.len;
        int64_t *longer = lang_resize(out->at, (size_t)room * sizeof *longer);
        if (!longer) {
            free_choice(&one);
            return expr_fail(b->err, CUBED_E_NOMEM, b->text, list->at, EXPR_NO_MEMORY);
        }
        out->at = longer;
        for (int64_t i = 0; i < one.slice.len; i++) out->at[out->n++] = one.slice.start + i;
        free_choice(&one);
    }
    if (st == CUBED_OK) use_slice(out);
    return st;
}

static cubed_status choose(expr_builder *b, const expr *e, const axis_values *v, bool nearest,
                           choice *out)
{
    const expr *label = e->child[0];
    wanted w;
    if (label->kind == EXPR_TUPLE && label->op == '[') return find_list(b, label, v, nearest, out);
    if (label->kind == EXPR_TUPLE && label->n != 2)
        return expr_fail(b->err, CUBED_E_ARG, b->text, label->at,
                         "a range has 2 ends, got %d numbers: write a list of labels with [ and ]",
                         label->n);
    EXPR_TRY(get_wanted(b, label, v, label->kind == EXPR_TUPLE, &w));
    return find_wanted(b, e, v, &w, nearest, out);
}

/* --- The array and its coordinates -------------------------------------------------------------------- */

/* Replaces *x by its elements at these positions along axis d. Takes ownership of `at`. */
static cubed_status take(expr_builder *b, const expr *e, int d, int64_t n, int64_t *at,
                         cubed_array **x)
{
    const char *names[CUBED_MAX_NDIM];
    cubed_array *positions = NULL, *taken = NULL, *named = NULL;
    for (int k = 0; k < cubed_array_ndim(*x); k++) names[k] = cubed_array_dim_name(*x, k);
    cubed_status st = expr_own_array(b, e, CUBED_INT64, 1, &n, at, &positions);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_take(*x, positions, d, &taken, b->err));
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_array_with_dim_names(taken, names, &named, b->err));
    cubed_array_unref(positions);
    cubed_array_unref(taken);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = named;
    return CUBED_OK;
}

/* Replaces *x by its elements at the positions of `c` along axis d. */
static cubed_status take_copy(expr_builder *b, const expr *e, int d, const choice *c,
                              cubed_array **x)
{
    int64_t *at;
    EXPR_TRY(expr_alloc(b, e, c->n, sizeof *at, &at));
    memcpy(at, c->at, (size_t)c->n * sizeof *at);
    return take(b, e, d, c->n, at, x);
}

/* Creates an array of the new labels, with the coordinate's type. */
static cubed_status made_labels(expr_builder *b, const expr *e, const axis_values *v,
                                const choice *c, cubed_array **out)
{
    const char *name = v->had.dim;
    cubed_array *x = NULL, *y = NULL;
    double *label;
    EXPR_TRY(expr_alloc(b, e, c->n, sizeof *label, &label));
    memcpy(label, c->label, (size_t)c->n * sizeof *label);
    cubed_status st = expr_own_array(b, e, CUBED_FLOAT64, 1, &c->n, label, &x);
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_astype(x, cubed_array_dtype(v->array), &y, b->err));
    if (st == CUBED_OK) st = expr_located(b, e, cubed_array_with_dim_names(y, &name, out, b->err));
    cubed_array_unref(x);
    cubed_array_unref(y);
    return st;
}

/* Creates the coordinate of the selected elements, without the attributes for bounds and ranges, which no longer hold. */
static cubed_status made_coordinate(expr_builder *b, const expr *e, const axis_values *v,
                                    const choice *c, cubed_expr_coord *out)
{
    static const char *const gone[] = {"bounds",    "climatology", "actual_range",
                                       "valid_min", "valid_max",   "valid_range"};
    uint64_t hash = LANG_HASH_START;
    cubed_array *x = NULL;
    cubed_status st;
    for (int64_t i = 0; i < c->n; i++) hash = lang_hash_add(hash, (uint64_t)c->at[i]);
    *out = (cubed_expr_coord){
        .dim = expr_text(b, "%s", v->had.dim),
        .whole = c->n,
        .part = {0, c->n, 1, false},
        .key = expr_text(
            b, "sel %s%s of %" PRId64 " [%" PRId64 " %" PRId64 " %" PRId64 "] %016" PRIx64 " %s",
            v->had.dim, c->label ? " east" : "", v->had.whole, v->had.part.start, v->had.part.len,
            v->had.part.step, hash, v->had.key ? v->had.key : "")};
    if (c->label) {
        st = made_labels(b, e, v, c, &x);
    } else {
        x = cubed_array_ref(v->array);
        st = take_copy(b, e, 0, c, &x);
    }
    if (st == CUBED_OK) {
        json_t *attrs = v->attrs ? expr_json_copy(b, v->attrs) : expr_json_object(b);
        for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) json_object_del(attrs, gone[i]);
        st = expr_located(b, e, expr_json_describe(b, x, attrs, &out->made));
        json_decref(attrs);
    }
    cubed_array_unref(x);
    if (st != CUBED_OK) expr_coord_free(out);
    return st;
}

static cubed_status note_choice(expr_builder *b, const expr *e, const axis_values *v,
                                const choice *c)
{
    cubed_expr_coord coord;
    if (!c->at && c->slice.drop) return CUBED_OK;
    if (c->at) {
        EXPR_TRY(made_coordinate(b, e, v, c, &coord));
    } else {
        coord = expr_coord_copy(b, &v->had);
        expr_coord_cut(&coord, &c->slice);
    }
    expr_about_note(b, e, coord);
    return CUBED_OK;
}

cubed_status expr_select_positions(expr_builder *b, const expr *e, const axis_values *v, int d,
                                   int64_t n,
                                   int64_t *at, /* NOLINT(readability-non-const-parameter): owned */
                                   cubed_array **x)
{
    choice c = {.at = at, .n = n};
    cubed_slice slices[CUBED_MAX_NDIM];
    use_slice(&c);
    cubed_status st = note_choice(b, e, v, &c);
    if (st == CUBED_OK && c.at) {
        st = take_copy(b, e, d, &c, x);
    } else if (st == CUBED_OK) {
        cubed_array *part;
        for (int k = 0; k < cubed_array_ndim(*x); k++)
            slices[k] = (cubed_slice){0, cubed_array_shape(*x)[k], 1, false};
        slices[d] = c.slice;
        st = expr_located(b, e, cubed_slice_array(*x, slices, &part, b->err));
        if (st == CUBED_OK) {
            cubed_array_unref(*x);
            *x = part;
        }
    }
    free_choice(&c);
    return st;
}

static bool is_option(const expr *a) { return strcmp(a->text, "method") == 0; }

static cubed_status get_method(expr_builder *b, const expr *e, bool *nearest)
{
    const expr *method = expr_keyword(e, "method");
    *nearest = method != NULL;
    if (method && (!string_of(method) || strcmp(method->text, "nearest") != 0))
        return expr_reject(b, method, "expected \"nearest\"");
    return CUBED_OK;
}

/* Applies keyword argument `a` of the call. Either replaces *x by its selected elements, and the axis's entry of `slices` by the
 * whole new axis, or sets this entry to the selected slice. */
static cubed_status select_along(expr_builder *b, const expr *e, const expr *a, bool nearest,
                                 cubed_array **x, cubed_slice *slices)
{
    const int d = lang_axis_named(*x, a->text);
    axis_values v;
    choice c = {.at = NULL};
    EXPR_TRY(axis_values_read(b, e->child[0], *x, d, &v));
    cubed_status st = choose(b, a, &v, nearest, &c);
    if (st == CUBED_OK) st = note_choice(b, e, &v, &c);
    if (st == CUBED_OK && c.at) {
        slices[d] = (cubed_slice){0, c.n, 1, false};
        st = take_copy(b, a, d, &c, x);
    } else if (st == CUBED_OK) {
        slices[d] = c.slice;
    }
    free_choice(&c);
    axis_values_free(&v);
    return st;
}

/* Builds a call such as sel(x, time="2020-01", lat=(40, 60)). */
static cubed_status call_sel(expr_builder *b, const expr *e, cubed_array **out)
{
    cubed_slice slices[CUBED_MAX_NDIM] = {{0, 0, 1, false}};
    const char *names[CUBED_MAX_NDIM + 2] = {"method"};
    int n, known = 1;
    bool nearest;
    cubed_array *x;
    if (e->n == 0 || e->child[0]->kind == EXPR_KEYWORD)
        return expr_reject(b, e, "expected sel(x, time=\"2020-01\")");
    EXPR_TRY(expr_get_moved(b, e, e->child[0], &x));
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        slices[d] = (cubed_slice){0, cubed_array_shape(x)[d], 1, false};
        if (cubed_array_dim_name(x, d)) names[known++] = cubed_array_dim_name(x, d);
    }
    names[known] = NULL;
    cubed_status st = expr_check_args(b, e, 1, 1, names, &n);
    if (st == CUBED_OK) st = get_method(b, e, &nearest);
    for (int i = 1; i < e->n && st == CUBED_OK; i++) {
        if (!is_option(e->child[i])) st = select_along(b, e, e->child[i], nearest, &x, slices);
    }
    if (st == CUBED_OK) st = expr_located(b, e, cubed_slice_array(x, slices, out, b->err));
    cubed_array_unref(x);
    return st;
}

const expr_function expr_select_functions[] = {
    {.name = "sel",
     .fn = call_sel,
     .usage = "sel(x, DIM=LABEL, ..., method=None)",
     .summary =
         "Elements at labels of coordinates. A label is a number, a string, or a date in "
         "quotes, of which a part selects all times in it: time=\"2020\", "
         "time=\"2020-01\". A pair is a range, which includes both ends: lat=(40, 60). "
         "A list selects several labels: lev=[850, 200]. method=\"nearest\" selects the nearest "
         "element. In `cubed sel,time=2020` dates and strings need no quotes, and "
         "time=2020/2021 is a range."},
    {.name = NULL}};
