/* Reductions by group and over windows. Labels that are not codes are read when the expression is built, because the number of
 * groups is part of the result's shape. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/about.h"
#include "lang/calendar_call.h"
#include "lang/expr_json.h"
#include "lang/guess.h"
#include "lang/lang_arrays.h"
#include "lang/lang_hash.h"
#include "lang/lang_memory.h"
#include "lang/order_names.h"

/* Maximum number of labels. All labels and their sort order are in memory. */
#define MAX_LABELS ((int64_t)1 << 24)

/* --- Labels ------------------------------------------------------------------------------------------- */

/* The labels of a grouping, and the groups, in ascending order of their labels. Labels that are times, integers or bools are
 * stored as int64, and other numbers as float64. Strings keep their type. */
typedef struct labels {
    int64_t n, ngroups;
    cubed_dtype dtype;
    size_t size;
    bool times;
    char *value;
    int64_t *code;  /* group number of each label; -1 for a missing label */
    int64_t *first; /* index of one label of each group */
} labels;

static void free_labels(labels *l)
{
    lang_free(l->value);
    lang_free(l->code);
    lang_free(l->first);
}

static const void *label_at(const labels *l, int64_t k) { return l->value + (size_t)k * l->size; }

static int compare_numbers(double a, double b) { return (a > b) - (a < b); }

static int compare_integers(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare_wide(const uint32_t *a, const uint32_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

static int compare_labels(const labels *l, int64_t i, int64_t j)
{
    const void *a = label_at(l, i), *b = label_at(l, j);
    if (l->dtype == CUBED_FLOAT64) return compare_numbers(*(const double *)a, *(const double *)b);
    if (l->dtype == CUBED_INT64) return compare_integers(*(const int64_t *)a, *(const int64_t *)b);
    return cubed_dtype_family(l->dtype) == CUBED_STRING ? compare_wide(a, b, l->size / 4)
                                                        : memcmp(a, b, l->size);
}

static int by_label(const void *a, const void *b, void *of)
{
    return compare_labels(of, *(const int64_t *)a, *(const int64_t *)b);
}

static bool is_missing(const labels *l, int64_t k)
{
    if (l->dtype == CUBED_FLOAT64) return isnan(*(const double *)label_at(l, k));
    return l->times && *(const int64_t *)label_at(l, k) == INT64_MIN;
}

static cubed_status find_groups(expr_builder *b, const expr *e, labels *l)
{
    int64_t there = 0, *order;
    EXPR_TRY(expr_alloc(b, e, l->n, sizeof *l->code, &l->code));
    EXPR_TRY(expr_alloc(b, e, l->n, sizeof *l->first, &l->first));
    EXPR_TRY(expr_alloc(b, e, l->n, sizeof *order, &order));
    for (int64_t k = 0; k < l->n; k++) {
        l->code[k] = -1;
        if (!is_missing(l, k)) order[there++] = k;
    }
    qsort_r(order, (size_t)there, sizeof *order, by_label, l);
    for (int64_t k = 0; k < there; k++) {
        if (k == 0 || compare_labels(l, order[k - 1], order[k]) != 0)
            l->first[l->ngroups++] = order[k];
        l->code[order[k]] = l->ngroups - 1;
    }
    lang_free(order);
    return CUBED_OK;
}

static cubed_status read_labels(expr_builder *b, const expr *e, cubed_array *by, labels *l)
{
    cubed_array *x;
    const cubed_dtype dtype = cubed_array_dtype(by);
    const cubed_kind kind = cubed_dtype_kind(dtype);
    *l = (labels){.n = 1, .times = kind == CUBED_KIND_TIME, .dtype = CUBED_INT64};
    if (kind == CUBED_KIND_COMPLEX || dtype == CUBED_UINT64)
        return expr_reject(
            b, e, "expected labels that are numbers, times or strings, or codes with ngroups=");
    for (int d = 0; d < cubed_array_ndim(by); d++) {
        int64_t extent = cubed_array_shape(by)[d];
        if (extent > MAX_LABELS || l->n * extent > MAX_LABELS)
            return expr_reject(
                b, e, "more than 16777216 labels: convert them to codes, and give ngroups=");
        l->n *= extent;
    }
    if (kind == CUBED_KIND_FLOAT) l->dtype = CUBED_FLOAT64;
    if (kind == CUBED_KIND_TEXT) l->dtype = dtype;
    l->size = cubed_dtype_size(l->dtype);
    EXPR_TRY(expr_located(b, e, cubed_astype(by, l->dtype, &x, b->err)));
    cubed_status st = expr_alloc(b, e, l->n, l->size, &l->value);
    if (st == CUBED_OK) st = expr_located(b, e, expr_compute(b, x, l->value));
    cubed_array_unref(x);
    if (st == CUBED_OK) st = find_groups(b, e, l);
    if (st != CUBED_OK) free_labels(l);
    return st;
}

/* Creates the label of each group, with the type of the labels and those attributes that describe single values. */
static cubed_status labels_of_groups(expr_builder *b, const expr *e, const cubed_array *by,
                                     const labels *l, const char *dim, cubed_array **out)
{
    static const char *const kept[] = {"units", "calendar", "long_name", "standard_name",
                                       "axis",  "positive", "_Encoding"};
    cubed_array *x;
    char *value;
    EXPR_TRY(expr_alloc(b, e, l->ngroups, l->size, &value));
    json_t *attrs = expr_json_object(b), *had = expr_json_attrs(b, by);
    for (int64_t k = 0; k < l->ngroups; k++)
        memcpy(value + (size_t)k * l->size, label_at(l, l->first[k]), l->size);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        json_t *v = json_object_get(had, kept[i]);
        if (v) expr_json_put(b, attrs, kept[i], json_incref(v));
    }
    const expr_description each = {l->dtype, 1, &l->ngroups, &dim, attrs};
    cubed_status st = expr_own_described(b, e, &each, value, &x);
    json_decref(attrs);
    json_decref(had);
    if (st != CUBED_OK) return st;
    st = expr_located(b, e, cubed_astype(x, cubed_array_dtype(by), out, b->err));
    cubed_array_unref(x);
    return st;
}

static cubed_status call_group_labels(expr_builder *b, const expr *e, cubed_array **out)
{
    int n;
    labels l;
    cubed_array *by;
    EXPR_TRY(expr_check_args(b, e, 1, 1, NULL, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &by));
    cubed_status st = read_labels(b, e->child[0], by, &l);
    if (st == CUBED_OK) {
        st = labels_of_groups(b, e, by, &l, NULL, out);
        free_labels(&l);
    }
    cubed_array_unref(by);
    return st;
}

/* --- Groups ------------------------------------------------------------------------------------------- */

/* Gets the axes from the keyword axis or dim. If the call has neither, matches the labels' dimensions by name, or else uses the
 * first axes. */
static cubed_status choose_axes(expr_builder *b, const expr *e, const cubed_array *x,
                                const cubed_array *by, int *n, int axes[CUBED_MAX_NDIM])
{
    EXPR_TRY(expr_get_axes(b, e, NULL, x, n, axes));
    if (*n >= 0) return CUBED_OK;
    *n = cubed_array_ndim(by);
    for (int d = 0; d < *n; d++) {
        axes[d] = lang_axis_named(x, cubed_array_dim_name(by, d));
        if (axes[d] < 0) break;
        if (d == *n - 1) return CUBED_OK;
    }
    for (int d = 0; d < *n; d++) axes[d] = d;
    return CUBED_OK;
}

/* Reads a list of quantiles or percentiles of groups as fractions from 0 to 1. *q is NULL if the call has no list. */
static cubed_status list_of_quantiles(expr_builder *b, const expr *e, const expr_grouping *g,
                                      double **q, int *n)
{
    const expr *list = g->q ? g->q : expr_keyword(e, "q");
    const double scale = order_name_flags(g->reduction) & ORDER_PERCENT ? 100 : 1;
    *q = NULL;
    if (!list || list->kind != EXPR_TUPLE) return CUBED_OK;
    *n = list->n;
    EXPR_TRY(expr_alloc(b, list, list->n, sizeof **q, q));
    cubed_status st = CUBED_OK;
    for (int i = 0; i < list->n && st == CUBED_OK; i++) {
        expr_value v = {.array = NULL};
        st = expr_get_number(b, list->child[i], &v);
        (*q)[i] = v.re / scale;
    }
    if (st == CUBED_OK) return CUBED_OK;
    lang_free(*q);
    *q = NULL;
    return st;
}

/* Calls the catalogue's function "groupby". Keywords of the call override the defaults in `g`. */
static cubed_status call_row(expr_builder *b, const expr *e, const expr_grouping *g, cubed_array *x,
                             cubed_array **out)
{
    enum { MOST = 10 };
    const bool is_order = order_name_flags(g->reduction) >= 0;
    int64_t axes[CUBED_MAX_NDIM];
    for (int i = 0; i < g->naxes; i++) axes[i] = g->axes[i];
    expr_given given[MOST] = {
        {"x", {.kind = CUBED_VALUE_ARRAY, .as.array = x}, e->child[0]},
        {"labels", {.kind = CUBED_VALUE_ARRAY, .as.array = g->codes}, e},
        {"reduction",
         {.kind = CUBED_VALUE_STRING, .as.string = g->reduction},
         g->reduction_at ? g->reduction_at : e},
        {"axis", {.kind = CUBED_VALUE_INTS, .n = g->naxes, .as.ints = axes}, e},
        {"ngroups", {.kind = CUBED_VALUE_INT, .as.integer = g->ngroups}, e}};
    int n = 5;
    if (g->skip_nan && !expr_keyword(e, "skipna"))
        given[n++] = (expr_given){"skipna", {.kind = CUBED_VALUE_BOOL, .as.boolean = true}, NULL};
    if (g->correction != 0 && !expr_keyword(e, "ddof") && !expr_keyword(e, "correction"))
        given[n++] =
            (expr_given){"ddof", {.kind = CUBED_VALUE_FLOAT, .as.real = g->correction}, NULL};
    if (g->min_count != 0 && !expr_keyword(e, "min_count"))
        given[n++] =
            (expr_given){"min_count", {.kind = CUBED_VALUE_INT, .as.integer = g->min_count}, NULL};
    if (g->method && is_order && !expr_keyword(e, "method"))
        given[n++] =
            (expr_given){"method", {.kind = CUBED_VALUE_STRING, .as.string = g->method}, NULL};
    if (g->q && expr_keyword(e, "q"))
        return expr_reject(b, expr_keyword(e, "q"), "q is given twice");
    if (g->q) given[n++] = (expr_given){"q", {.kind = CUBED_VALUE_NONE}, g->q};
    return expr_call_given(b, e, cubed_function_find("groupby"), given, n, out);
}

static uint32_t mask_of(const expr_grouping *g, int ndim)
{
    uint32_t mask = 0;
    for (int i = 0; i < g->naxes; i++)
        mask |= 1U << (g->axes[i] < 0 ? g->axes[i] + ndim : g->axes[i]);
    return mask;
}

/* Names the axes of *y, the reduction of x: remaining axes, groups and quantiles. */
static cubed_status name_axes(expr_builder *b, const expr *e, const expr_grouping *g,
                              const cubed_array *x, cubed_array **y)
{
    const int ndim = cubed_array_ndim(x);
    const uint32_t mask = mask_of(g, ndim);
    const char *names[CUBED_MAX_NDIM];
    double *q;
    int nq, n = 0;
    cubed_array *named;
    EXPR_TRY(list_of_quantiles(b, e, g, &q, &nq));
    if (q) {
        const cubed_status st = expr_name_quantiles(b, e, q, nq, x, g->name, y);
        lang_free(q);
        if (st != CUBED_OK) return st;
        names[n++] = cubed_array_dim_name(*y, 0);
    }
    for (int d = 0; d < ndim; d++) {
        const bool grouped = mask >> d & 1;
        if (!grouped || d == __builtin_ctz(mask))
            names[n++] = grouped ? g->name : cubed_array_dim_name(x, d);
    }
    EXPR_TRY(expr_located(b, e, cubed_array_with_dim_names(*y, names, &named, b->err)));
    cubed_array_unref(*y);
    *y = named;
    return CUBED_OK;
}

cubed_status expr_reduce_groups(expr_builder *b, const expr *e, const expr_grouping *g,
                                cubed_array *x, cubed_array **out)
{
    EXPR_TRY(call_row(b, e, g, x, out));
    const cubed_status st = name_axes(b, e, g, x, out);
    if (st != CUBED_OK) cubed_array_unref(*out);
    return st;
}

typedef struct labels_call {
    const expr *by;
    const char *name; /* name of the labels; NULL if they are computed */
    const char *reduction;
    const expr *reduction_at; /* position of the reduction's name, for errors */
    const expr *q;
} labels_call;

/* Gets the labels from groupby=region, or from a name such as "region". */
static cubed_status get_labels(expr_builder *b, const labels_call *call, cubed_array **out)
{
    expr name = *call->by;
    lang_guess guess;
    char text[GUESS_TEXT];
    if (name.kind != EXPR_STRING) return expr_get_array(b, call->by, out);
    name.kind = EXPR_NAME;
    cubed_status st = expr_get_array(b, &name, out);
    lang_guess_init(&guess, name.text);
    calendar_call_guess(&guess);
    if (st == CUBED_OK || !guess.best[0]) return st;
    return expr_fail(b->err, CUBED_E_ARG, b->text, name.at,
                     "there are no labels \"%s\", and times have no part of that name%s", name.text,
                     lang_guess_text(&guess, text));
}

/* Records the coordinate of the groups. It replaces the input's coordinate of the same name. */
static cubed_status note_labels(expr_builder *b, const expr *e, const cubed_array *by,
                                const labels *l, const char *dim)
{
    uint64_t hash = LANG_HASH_START;
    for (int64_t k = 0; k < l->ngroups; k++) {
        const unsigned char *p = label_at(l, l->first[k]);
        for (size_t i = 0; i < l->size; i++) hash = lang_hash_add(hash, p[i]);
    }
    cubed_expr_coord c = {.dim = expr_text(b, "%s", dim),
                          .whole = l->ngroups,
                          .part = {0, l->ngroups, 1, false},
                          .key = expr_text(b, "groups of %s %016" PRIx64, dim, hash)};
    cubed_status st = labels_of_groups(b, e, by, l, dim, &c.made);
    if (st == CUBED_OK)
        expr_about_note(b, e, c);
    else
        expr_coord_free(&c);
    return st;
}

static bool is_left(const cubed_array *x, const expr_grouping *g, const char *name)
{
    const int d = lang_axis_named(x, name);
    bool grouped = false;
    for (int i = 0; i < g->naxes; i++) grouped = grouped || g->axes[i] == d;
    return d >= 0 && !grouped;
}

static cubed_status reduce_labelled(expr_builder *b, const expr *e, const labels_call *call,
                                    cubed_array *x, cubed_array *by, cubed_array **out)
{
    const expr *given = expr_keyword(e, "ngroups");
    expr_grouping g = {
        .reduction = call->reduction, .reduction_at = call->reduction_at, .q = call->q};
    labels l = {.n = 0};
    EXPR_TRY(choose_axes(b, e, x, by, &g.naxes, g.axes));
    if (given) {
        EXPR_TRY(expr_get_int(b, given, &g.ngroups));
        g.codes = cubed_array_ref(by);
    } else {
        EXPR_TRY(read_labels(b, call->by, by, &l));
        g.ngroups = l.ngroups;
        /* name the axis of groups after the labels, unless a remaining dimension has the same name */
        if (call->name && !is_left(x, &g, call->name)) g.name = call->name;
    }
    cubed_status st = given ? CUBED_OK
                            : expr_own_array(b, e, CUBED_INT64, cubed_array_ndim(by),
                                             cubed_array_shape(by), l.code, &g.codes);
    l.code = NULL;
    if (st == CUBED_OK) st = expr_reduce_groups(b, e, &g, x, out);
    if (st == CUBED_OK && g.name) {
        st = note_labels(b, e, by, &l, g.name);
        if (st != CUBED_OK) cubed_array_unref(*out);
    }
    cubed_array_unref(g.codes);
    free_labels(&l);
    return st;
}

static cubed_status group_by_labels(expr_builder *b, const expr *e, labels_call *call,
                                    cubed_array **out)
{
    cubed_array *x = NULL, *by = NULL;
    if (call->by->kind == EXPR_NAME || call->by->kind == EXPR_STRING) call->name = call->by->text;
    cubed_status st = expr_get_array(b, e->child[0], &x);
    if (st == CUBED_OK) st = get_labels(b, call, &by);
    if (st == CUBED_OK) st = reduce_labelled(b, e, call, x, by, out);
    cubed_array_unref(x);
    cubed_array_unref(by);
    return st;
}

/* Builds a call such as groupby(x, labels, "mean"). */
static cubed_status call_groupby(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"axis", "dim", "ngroups", EXPR_GROUP_KEYWORDS, NULL};
    int n;
    EXPR_TRY(expr_check_args(b, e, 3, 3, names, &n));
    if (e->child[2]->kind != EXPR_STRING)
        return expr_reject(b, e->child[2], "expected the name of a reduction in quotes");
    labels_call call = {
        .by = e->child[1], .reduction = e->child[2]->text, .reduction_at = e->child[2]};
    return group_by_labels(b, e, &call, out);
}

cubed_status expr_group_build(expr_builder *b, const expr *e, cubed_array **out, bool *is_one)
{
    static const char *const names[] = {"groupby",           "axis", "dim", "ngroups",
                                        EXPR_GROUP_KEYWORDS, NULL};
    labels_call call = {.by = expr_keyword(e, "groupby"), .reduction = e->text};
    const bool takes_q = order_name_takes_q(e->text);
    int n;
    *is_one = call.by != NULL && strcmp(e->text, "anomaly") != 0;
    if (!*is_one) return CUBED_OK;
    if (expr_keyword(e, "resample"))
        return expr_reject(b, call.by, "groupby= and resample= together: give one of them");
    if (call.by->kind == EXPR_INT || call.by->kind == EXPR_FLOAT || call.by->kind == EXPR_BOOL)
        return expr_reject(b, call.by,
                           "expected groupby=\"time.month\", or labels, such as groupby=region");
    EXPR_TRY(expr_check_args(b, e, 1, takes_q ? 2 : 1, names, &n));
    if (n > 1) call.q = e->child[1];
    return group_by_labels(b, e, &call, out);
}

const expr_function expr_group_functions[] = {{.name = "groupby", .fn = call_groupby},
                                              {.name = "group_labels",
                                               .fn = call_group_labels,
                                               .usage = "group_labels(by)",
                                               .summary =
                                                   "The labels of the groups that "
                                                   "groupby(x, by, ...) makes, in their order."},
                                              {.name = NULL}};
