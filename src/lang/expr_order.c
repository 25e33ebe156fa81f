/* Order statistics of groups and calendars, and coordinates of quantiles. */
#include <string.h>

#include "lang/about.h"
#include "lang/expr_json.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"
#include "lang/order_names.h"

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

cubed_status expr_get_order(expr_builder *b, const expr *e, const char *name, const expr *q,
                            expr_order *out)
{
    const int which = order_name_flags(name);
    const expr *named = expr_keyword(e, "q");
    *out = (expr_order){.options = CUBED_QUANTILE_OPTIONS_INIT};
    out->options.skip_nan = which & ORDER_SKIP_NAN;
    out->options.task_mem = b->host->task_mem;
    if (which & ORDER_MEDIAN) {
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
    return get_numbers(b, q, which & ORDER_PERCENT ? 100 : 1, &out->q, &out->n, &out->several);
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
        json_t *attrs = expr_json_object(b);
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
