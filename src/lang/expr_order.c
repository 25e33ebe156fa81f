/* Names the axes of quantiles, and records their coordinates. */
#include <string.h>

#include "lang/about.h"
#include "lang/expr_json.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

/* Returns true if a recorded coordinate of the same name has other elements. Results may be written to one file, in which a
 * dimension has one length. */
static bool is_taken(const expr_builder *b, const char *name, const char *key)
{
    for (int i = 0; i < b->nnoted; i++) {
        const cubed_expr_coord *c = &b->noted[i].coord;
        if (strcmp(c->dim, name) == 0 && !(c->key && strcmp(c->key, key) == 0)) return true;
    }
    return false;
}

/* Returns a string that identifies these quantiles. */
static char *key_of(expr_builder *b, const double *q, int n)
{
    char *key = expr_text(b, "quantiles");
    for (int i = 0; i < n; i++) {
        char *longer = expr_text(b, "%s %.17g", key, q[i]);
        expr_text_free(key);
        key = longer;
    }
    return key;
}

cubed_status expr_name_quantiles(expr_builder *b, const expr *e, const double *q, int n,
                                 const cubed_array *of, const char *beside, cubed_array **x)
{
    char name[32] = "quantile";
    const char *names[CUBED_MAX_NDIM] = {name};
    cubed_array *named;
    cubed_expr_coord c = {
        .dim = NULL, .whole = n, .part = {0, n, 1, false}, .key = key_of(b, q, n), .aside = true};
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
    double *own = NULL;
    if (st == CUBED_OK) st = expr_alloc(b, e, n, sizeof *own, &own);
    if (st == CUBED_OK) {
        memcpy(own, q, (size_t)n * sizeof *own);
        json_t *attrs = expr_json_object(b);
        const expr_description made = {CUBED_FLOAT64, 1, &c.whole, names, attrs};
        st = expr_own_described(b, e, &made, own, &c.made);
        json_decref(attrs);
    }
    c.dim = expr_text(b, "%s", name);
    if (st == CUBED_OK)
        expr_about_note(b, e, c);
    else
        expr_coord_free(&c);
    return st;
}
