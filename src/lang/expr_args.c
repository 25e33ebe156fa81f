/* Reads arguments that several functions share. */
#include <string.h>

#include "lang/expr_builder.h"
#include "lang/guess.h"

const expr *expr_keyword(const expr *call, const char *name)
{
    for (int i = 0; i < call->n; i++) {
        if (call->child[i]->kind == EXPR_KEYWORD && strcmp(call->child[i]->text, name) == 0)
            return call->child[i]->child[0];
    }
    return NULL;
}

static cubed_status unknown_argument(expr_builder *b, const expr *call, const expr *a,
                                     const char *const *names)
{
    lang_guess g;
    char guess[GUESS_TEXT];
    lang_guess_init(&g, a->text);
    for (; names && *names; names++) lang_guess_list(&g, *names);
    return expr_fail(b->err, CUBED_E_ARG, b->text, a->at, "%s takes no argument \"%s\"%s",
                     call->text, a->text, lang_guess_text(&g, guess));
}

/* Checks a call: `least` to `most` positional arguments first, then only these keywords, each at most once. */
cubed_status expr_check_args(expr_builder *b, const expr *call, int least, int most,
                             const char *const *names, int *positional)
{
    *positional = 0;
    for (int i = 0; i < call->n; i++) {
        const expr *a = call->child[i];
        if (a->kind != EXPR_KEYWORD) {
            if (i > *positional) return expr_reject(b, a, "a positional argument after keywords");
            ++*positional;
            continue;
        }
        bool known = false;
        for (int k = 0; names && names[k]; k++) known = known || strcmp(names[k], a->text) == 0;
        if (!known) return unknown_argument(b, call, a, names);
        if (a->n != 1) return expr_reject(b, a, "expected a value");
        if (expr_keyword(call, a->text) != a->child[0])
            return expr_reject(b, a, "the argument is given twice");
    }
    if (*positional >= least && *positional <= most) return CUBED_OK;
    if (most > least && most < CUBED_MAX_NDIM)
        return expr_fail(b->err, CUBED_E_ARG, b->text, call->at,
                         "%s takes %d to %d arguments, got %d", call->text, least, most,
                         *positional);
    return expr_fail(b->err, CUBED_E_ARG, b->text, call->at, "%s takes %d%s argument%s, got %d",
                     call->text, least, most > least ? " or more" : "", most == 1 ? "" : "s",
                     *positional);
}

static cubed_status dim_axis(expr_builder *b, const expr *e, const cubed_array *x, int *axis)
{
    char known[256] = "";
    if (e->kind != EXPR_STRING) return expr_reject(b, e, "expected a dimension's name in quotes");
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        const char *name = cubed_array_dim_name(x, d);
        if (name && strcmp(name, e->text) == 0) {
            *axis = d;
            return CUBED_OK;
        }
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", name ? name : "(unnamed)");
    }
    lang_guess g;
    char guess[GUESS_TEXT];
    lang_guess_init(&g, e->text);
    lang_guess_list(&g, known);
    return expr_fail(b->err, CUBED_E_ARG, b->text, e->at, "no dimension \"%s\"%s; there are: %s",
                     e->text, lang_guess_text(&g, guess), known[0] ? known : "none");
}

static bool is_of_names(const expr *e)
{
    return e->kind == EXPR_STRING ||
           (e->kind == EXPR_TUPLE && e->n > 0 && e->child[0]->kind == EXPR_STRING);
}

/* Gets axes from axis=, dim= or a positional argument. Sets *n to -1 if the call gives no axes. */
cubed_status expr_get_axes(expr_builder *b, const expr *call, const expr *positional,
                           const cubed_array *x, int *n, int axes[CUBED_MAX_NDIM])
{
    const expr *axis = expr_keyword(call, "axis"), *dim = expr_keyword(call, "dim");
    if (positional && (axis || dim)) return expr_reject(b, call, "axes are given twice");
    if (axis && dim) return expr_reject(b, call, "axis= and dim= together");
    if (axis && is_of_names(axis))
        return expr_reject(b, axis, "axis= expects numbers: use dim= for names of dimensions");
    if (positional && is_of_names(positional))
        dim = positional; /* a dimension as in mean(x, "time") */
    else if (positional)
        axis = positional;
    *n = -1;
    if ((axis && axis->kind == EXPR_NONE) || (!axis && !dim)) return CUBED_OK;
    if (dim) {
        *n = dim->kind == EXPR_TUPLE ? dim->n : 1;
        if (*n > CUBED_MAX_NDIM) return expr_reject(b, dim, "too many dimensions");
        for (int i = 0; i < *n; i++)
            EXPR_TRY(dim_axis(b, dim->kind == EXPR_TUPLE ? dim->child[i] : dim, x, &axes[i]));
        return CUBED_OK;
    }
    int64_t list[CUBED_MAX_NDIM];
    EXPR_TRY(expr_get_ints(b, axis, n, list));
    for (int i = 0; i < *n; i++) {
        if (list[i] < -CUBED_MAX_NDIM || list[i] >= CUBED_MAX_NDIM)
            return expr_reject(b, axis, "an axis is out of range");
        axes[i] = (int)list[i];
    }
    return CUBED_OK;
}

cubed_status expr_get_bool(expr_builder *b, const expr *call, const char *name, bool *out)
{
    const expr *e = expr_keyword(call, name);
    if (e && e->kind != EXPR_BOOL) return expr_reject(b, e, "expected True or False");
    if (e) *out = e->integer;
    return CUBED_OK;
}

cubed_status expr_get_axis(expr_builder *b, const expr *call, const expr *positional,
                           const cubed_array *x, int missing, int *out)
{
    int n, axes[CUBED_MAX_NDIM];
    EXPR_TRY(expr_get_axes(b, call, positional, x, &n, axes));
    if (n != 1 && n != -1) return expr_reject(b, call, "expected one axis");
    *out = n == 1 ? axes[0] : missing;
    return CUBED_OK;
}
