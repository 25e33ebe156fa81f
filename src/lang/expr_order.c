/* Order statistics, and counts of values. */
#include <string.h>

#include "lang/about.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

/* One number, or a list of them: *several. */
static cubed_status get_numbers(expr_builder *b, const expr *e, double scale, double **q, int *n,
                                bool *several)
{
    *several = e->kind == EXPR_TUPLE;
    *n = *several ? e->n : 1;
    *q = NULL;
    EXPR_TRY(expr_alloc(b, e, *n + 1, sizeof **q, q));
    for (int i = 0; i < *n; i++) {
        expr_value v;
        EXPR_TRY(expr_get_number(b, *several ? e->child[i] : e, &v));
        (*q)[i] = v.re / scale;
    }
    return CUBED_OK;
}

static cubed_status get_method(expr_builder *b, const expr *e, cubed_quantile_method *out)
{
    const expr *method = expr_keyword(e, "method");
    if (!method) return CUBED_OK;
    if (method->kind == EXPR_STRING && cubed_quantile_method_parse(method->text, out))
        return CUBED_OK;
    return expr_reject(b, method,
                       "expected one of NumPy's methods, as \"linear\", \"nearest\", \"hazen\"");
}

enum { SKIP_NAN = 1, PERCENT = 2, MEDIAN = 4 };

static const struct {
    const char *name;
    int which;
} statistics[] = {{"median", MEDIAN},      {"nanmedian", MEDIAN | SKIP_NAN},
                  {"quantile", 0},         {"nanquantile", SKIP_NAN},
                  {"percentile", PERCENT}, {"nanpercentile", PERCENT | SKIP_NAN}};

static int which_of(const char *name)
{
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
        if (strcmp(statistics[i].name, name) == 0) return statistics[i].which;
    }
    return -1;
}

bool expr_is_order(const char *name) { return which_of(name) >= 0; }

bool expr_order_takes_q(const char *name)
{
    const int which = which_of(name);
    return which >= 0 && !(which & MEDIAN);
}

cubed_status expr_get_order(expr_builder *b, const expr *e, const char *name, const expr *q,
                            expr_order *out)
{
    const int which = which_of(name);
    const expr *named = expr_keyword(e, "q");
    *out = (expr_order){.options = CUBED_QUANTILE_OPTIONS_INIT};
    out->options.skip_nan = which & SKIP_NAN;
    out->options.task_mem = b->host->task_mem;
    if (which & MEDIAN) {
        if (named) return expr_reject(b, named, "the median is one quantile: it takes no q=");
        EXPR_TRY(expr_alloc(b, e, 1, sizeof *out->q, &out->q));
        out->n = 1;
        out->q[0] = 0.5;
        return CUBED_OK;
    }
    if (q && named) return expr_reject(b, named, "q is given twice");
    if (!q) q = named;
    if (!q) return expr_reject(b, e, "expected q, a number or a list of them");
    EXPR_TRY(get_method(b, e, &out->options.method));
    return get_numbers(b, q, which & PERCENT ? 100 : 1, &out->q, &out->n, &out->several);
}

void expr_order_free(expr_order *o) { lang_free(o->q); }

/* Whether other quantiles have that name already: results may share a file, where a dimension has one length. */
static bool is_taken(const expr_builder *b, const char *name, const char *key)
{
    for (int i = 0; i < b->nnoted; i++) {
        const cubed_expr_coord *c = &b->noted[i].coord;
        if (strcmp(c->dim, name) == 0 && !(c->key && strcmp(c->key, key) == 0)) return true;
    }
    return false;
}

/* The same text for the same quantiles. */
static char *key_of(expr_builder *b, const expr_order *o)
{
    char *key = expr_text(b, "quantiles");
    for (int i = 0; i < o->n; i++) {
        char *longer = expr_text(b, "%s %.17g", key, o->q[i]);
        expr_text_free(key);
        key = longer;
    }
    return key;
}

cubed_status expr_name_quantiles(expr_builder *b, const expr *e, const expr_order *o,
                                 const cubed_array *of, const char *beside, cubed_array **x)
{
    char name[32] = "quantile";
    const char *names[CUBED_MAX_NDIM] = {name};
    cubed_array *named;
    cubed_expr_coord c = {.dim = NULL,
                          .whole = o->n,
                          .part = {0, o->n, 1, false},
                          .key = key_of(b, o),
                          .aside = true};
    for (int k = 2; lang_axis_named(of, name) >= 0 || (beside && strcmp(beside, name) == 0) ||
                    is_taken(b, name, c.key);
         k++)
        snprintf(name, sizeof name, "quantile_%d", k);
    for (int d = 1; d < cubed_array_ndim(*x); d++) names[d] = cubed_array_dim_name(*x, d);
    cubed_status st = expr_located(b, e, cubed_array_with_dim_names(*x, names, &named, b->err));
    if (st == CUBED_OK) {
        cubed_array_unref(*x);
        *x = named;
    }
    double *q = NULL;
    if (st == CUBED_OK) st = expr_alloc(b, e, o->n, sizeof *q, &q);
    if (st == CUBED_OK) {
        memcpy(q, o->q, (size_t)o->n * sizeof *q);
        json_t *attrs = json_object();
        st = expr_own_described(b, e, CUBED_FLOAT64, 1, &c.whole, names, attrs, q, &c.made);
        json_decref(attrs);
    }
    c.dim = expr_text(b, "%s", name);
    if (st == CUBED_OK)
        expr_about_note(b, e, c);
    else
        expr_coord_free(&c);
    return st;
}

/* The positional argument `axis` is the axis, if it is there. */
static cubed_status along_axes(expr_builder *b, const expr *e, const expr *axis,
                               const expr_order *order, cubed_array **out)
{
    cubed_quantile_options o = order->options;
    int axes[CUBED_MAX_NDIM];
    cubed_array *x;
    EXPR_TRY(expr_get_bool(b, e, "keepdims", &o.keepdims));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_axes(b, e, axis, x, &o.naxes, axes);
    if (o.naxes >= 0) o.axes = axes;
    if (st == CUBED_OK)
        st = expr_located(b, e,
                          !expr_order_takes_q(e->text) ? cubed_median(x, &o, out, b->err)
                          : order->several ? cubed_quantiles(x, order->q, order->n, &o, out, b->err)
                                           : cubed_quantile(x, order->q[0], &o, out, b->err));
    if (st == CUBED_OK && order->several) {
        st = expr_name_quantiles(b, e, order, x, NULL, out);
        if (st != CUBED_OK) cubed_array_unref(*out);
    }
    cubed_array_unref(x);
    return st;
}

static cubed_status call_order(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const of_median[] = {"axis", "dim", "keepdims", NULL};
    static const char *const names[] = {"q", "axis", "dim", "keepdims", "method", NULL};
    const bool takes_q = expr_order_takes_q(e->text);
    const int before = takes_q ? 2 : 1; /* in front of the axis */
    int n;
    expr_order o;
    EXPR_TRY(expr_check_args(b, e, 1, before + 1, takes_q ? names : of_median, &n));
    cubed_status st = expr_get_order(b, e, e->text, takes_q && n > 1 ? e->child[1] : NULL, &o);
    if (st == CUBED_OK) st = along_axes(b, e, n > before ? e->child[before] : NULL, &o, out);
    expr_order_free(&o);
    return st;
}

/* weights=; NULL if it is not there. */
static cubed_status get_weights(expr_builder *b, const expr *e, cubed_array **out)
{
    const expr *weights = expr_keyword(e, "weights");
    *out = NULL;
    return weights ? expr_get_array(b, weights, out) : CUBED_OK;
}

/* Edges: a list of them, or a number of bins of equal width within range=(first, last). */
static cubed_status get_edges(expr_builder *b, const expr *e, const expr *bins, double **edges,
                              int *n)
{
    const expr *range = expr_keyword(e, "range");
    int64_t count;
    bool several;
    if (bins->kind == EXPR_TUPLE) {
        if (range) return expr_reject(b, range, "edges are given: there is no range beside them");
        EXPR_TRY(get_numbers(b, bins, 1, edges, n, &several));
        return *n > 1 ? CUBED_OK : expr_reject(b, bins, "expected two edges at least");
    }
    EXPR_TRY(expr_get_int(b, bins, &count));
    if (count < 1 || count > 1000000) return expr_reject(b, bins, "expected 1 to 1000000 bins");
    if (!range || range->kind != EXPR_TUPLE || range->n != 2)
        return expr_reject(b, range ? range : e, "a number of bins takes range=(first, last)");
    double *ends;
    int two;
    cubed_status st = get_numbers(b, range, 1, &ends, &two, &several);
    if (st == CUBED_OK) {
        *n = (int)count + 1;
        st = expr_alloc(b, e, *n, sizeof **edges, edges);
        for (int i = 0; i < *n && st == CUBED_OK; i++)
            (*edges)[i] =
                i == *n - 1 ? ends[1] : ends[0] + i * ((ends[1] - ends[0]) / (double)count);
    }
    lang_free(ends);
    return st;
}

static cubed_status call_histogram(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"bins", "range", "weights", NULL};
    int positional, n = 0;
    double *edges = NULL;
    cubed_array *x = NULL, *weights = NULL;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &positional));
    const expr *bins = positional > 1 ? e->child[1] : expr_keyword(e, "bins");
    if (!bins) return expr_reject(b, e, "expected bins: edges, or a number of them and range=");
    cubed_status st = get_edges(b, e, bins, &edges, &n);
    if (st == CUBED_OK) st = expr_get_array(b, e->child[0], &x);
    if (st == CUBED_OK) st = get_weights(b, e, &weights);
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_histogram(x, edges, n - 1, weights, out, b->err));
    cubed_array_unref(x);
    cubed_array_unref(weights);
    lang_free(edges);
    return st;
}

static cubed_status call_bincount(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"length", "weights", NULL};
    int positional;
    int64_t length;
    cubed_array *x = NULL, *weights = NULL;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names, &positional));
    const expr *n = positional > 1 ? e->child[1] : expr_keyword(e, "length");
    if (!n) return expr_reject(b, e, "expected length=: one more than the greatest element");
    EXPR_TRY(expr_get_int(b, n, &length));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = get_weights(b, e, &weights);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_bincount(x, length, weights, out, b->err));
    cubed_array_unref(x);
    cubed_array_unref(weights);
    return st;
}

/* An array by keyword; NULL if it is not there. */
static cubed_status get_optional(expr_builder *b, const expr *call, const char *name,
                                 cubed_array **out)
{
    const expr *e = expr_keyword(call, name);
    *out = NULL;
    return e ? expr_get_array(b, e, out) : CUBED_OK;
}

static cubed_status call_cov(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"ddof", "fweights", "aweights", NULL};
    cubed_cov_options o = CUBED_COV_OPTIONS_INIT;
    const expr *ddof = expr_keyword(e, "ddof");
    cubed_array *x = NULL;
    expr_value v;
    int n;
    EXPR_TRY(expr_check_args(b, e, 1, 1, names, &n));
    if (ddof) {
        EXPR_TRY(expr_get_number(b, ddof, &v));
        o.ddof = v.re;
    }
    cubed_status st = expr_get_array(b, e->child[0], &x);
    if (st == CUBED_OK) st = get_optional(b, e, "fweights", &o.fweights);
    if (st == CUBED_OK) st = get_optional(b, e, "aweights", &o.aweights);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_cov(x, &o, out, b->err));
    cubed_array_unref(o.fweights);
    cubed_array_unref(o.aweights);
    cubed_array_unref(x);
    return st;
}

static cubed_status call_corrcoef(expr_builder *b, const expr *e, cubed_array **out)
{
    int n;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 1, NULL, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_located(b, e, cubed_corrcoef(x, out, b->err));
    cubed_array_unref(x);
    return st;
}

const expr_function expr_order_functions[] = {
    {.name = "cov", .fn = call_cov},
    {.name = "corrcoef", .fn = call_corrcoef},
    {.name = "median", .fn = call_order},
    {.name = "nanmedian", .fn = call_order},
    {.name = "quantile", .fn = call_order},
    {.name = "nanquantile", .fn = call_order},
    {.name = "percentile", .fn = call_order},
    {.name = "nanpercentile", .fn = call_order},
    {.name = "histogram", .fn = call_histogram},
    {.name = "bincount", .fn = call_bincount},
    {.name = NULL},
};
