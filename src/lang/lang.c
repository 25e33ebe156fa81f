/* The public functions of the language. */
#include "cubed/lang.h"

#include <string.h>

#include "lang/expr.h"
#include "lang/lang_memory.h"

struct cubed_expr {
    char *text;
    int n;
    expr **statements;
    char own[EXPR_BARE_CAP]; /* of `repeated` */
    const char *repeated;
};

struct cubed_expr_results {
    expr_result built;
    int n;
    const expr_var **at; /* the results among the variables */
};

cubed_status cubed_expr_parse(const char *text, cubed_expr **out, cubed_error *err)
{
    cubed_expr *x = lang_alloc(sizeof *x);
    *out = NULL;
    if (x) x->text = lang_strdup(text);
    if (!x || !x->text) {
        lang_free(x);
        return expr_fail(err, CUBED_E_NOMEM, text, 0, EXPR_NO_MEMORY);
    }
    const cubed_status st = expr_parse(x->text, &x->statements, &x->n, err);
    if (st != CUBED_OK) {
        cubed_expr_free(x);
        return st;
    }
    x->repeated = expr_named_twice(x->statements, x->n, x->own);
    *out = x;
    return CUBED_OK;
}

void cubed_expr_free(cubed_expr *x)
{
    if (!x) return;
    expr_free(x->statements, x->n);
    lang_free(x->text);
    lang_free(x);
}

const char *cubed_expr_repeated(const cubed_expr *x) { return x->repeated; }

cubed_status cubed_expr_build(const cubed_expr *x, cubed_context *ctx, const cubed_expr_host *host,
                              cubed_expr_results **out, cubed_error *err)
{
    cubed_expr_results *r = lang_alloc(sizeof *r);
    *out = NULL;
    if (!r) return expr_fail(err, CUBED_E_NOMEM, x->text, 0, EXPR_NO_MEMORY);
    cubed_status st = expr_build(ctx, x->text, x->statements, x->n, host, &r->built, err);
    if (st == CUBED_OK) {
        r->at = lang_alloc((size_t)r->built.n * sizeof(*r->at));
        if (!r->at) st = expr_fail(err, CUBED_E_NOMEM, x->text, 0, EXPR_NO_MEMORY);
    }
    if (st != CUBED_OK) {
        cubed_expr_results_free(r);
        return st;
    }
    for (int i = 0; i < r->built.n; i++) {
        if (r->built.vars[i].is_result) r->at[r->n++] = &r->built.vars[i];
    }
    *out = r;
    return CUBED_OK;
}

void cubed_expr_results_free(cubed_expr_results *r)
{
    if (!r) return;
    expr_result_free(&r->built);
    lang_free(r->at);
    lang_free(r);
}

int cubed_expr_results_count(const cubed_expr_results *r) { return r->n; }

const cubed_expr_result *cubed_expr_results_at(const cubed_expr_results *r, int i)
{
    return &r->at[i]->of;
}

const cubed_expr_coord *cubed_expr_result_coord(const cubed_expr_result *result, const char *dim)
{
    return expr_find_coord(&((const expr_var *)result)->about, dim);
}
