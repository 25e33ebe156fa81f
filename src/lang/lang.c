/* The public functions of the language. */
#include "cubed/lang.h"

#include <string.h>

#include "lang/expr.h"
#include "lang/lang_memory.h"
#include "lang/result_names.h"

/* The name of a result. `name` points into the syntax tree or, if the expression has no name, to `own`. */
typedef struct result_name {
    const char *name;
    bool is_bare;
    char own[EXPR_BARE_CAP];
} result_name;

struct cubed_expr {
    char *text;
    int n, nnames;
    expr **statements;
    result_name *names; /* names in the order of the results */
};

struct cubed_expr_results {
    expr_result built;
    int n;
    const expr_var **at; /* pointers to the variables that are results */
};

/* Finds the names of all results. The caller has allocated x->names. */
static void find_names(cubed_expr *x)
{
    for (int i = 0, bare = 0; i < x->n; i++) {
        const expr *e = x->statements[i];
        if (e->kind != EXPR_ASSIGN) {
            result_name *r = &x->names[x->nnames++];
            expr_name_bare(++bare, r->own);
            r->name = r->own;
            r->is_bare = true;
        }
        for (int k = 0; e->kind == EXPR_ASSIGN && k < e->n; k++) {
            const char *name = k == 0 ? e->text : e->child[k - 1]->text;
            if (name[0] != '_') x->names[x->nnames++].name = name;
        }
    }
}

static int count_names(const cubed_expr *x)
{
    int n = 0;
    for (int i = 0; i < x->n; i++)
        n += x->statements[i]->kind == EXPR_ASSIGN ? x->statements[i]->n : 1;
    return n;
}

cubed_status cubed_expr_parse(const char *text, cubed_expr **out, cubed_error *err)
{
    cubed_expr *x = lang_alloc(sizeof *x);
    *out = NULL;
    if (x) x->text = lang_strdup(text);
    if (!x || !x->text) {
        lang_free(x);
        return expr_fail(err, CUBED_E_NOMEM, text, 0, EXPR_NO_MEMORY);
    }
    cubed_status st = expr_parse(x->text, &x->statements, &x->n, err);
    if (st == CUBED_OK) {
        x->names = lang_alloc((size_t)count_names(x) * sizeof *x->names);
        if (!x->names) st = expr_fail(err, CUBED_E_NOMEM, text, 0, EXPR_NO_MEMORY);
    }
    if (st != CUBED_OK) {
        cubed_expr_free(x);
        return st;
    }
    find_names(x);
    *out = x;
    return CUBED_OK;
}

void cubed_expr_free(cubed_expr *x)
{
    if (!x) return;
    expr_free(x->statements, x->n);
    lang_free(x->names);
    lang_free(x->text);
    lang_free(x);
}

const char *cubed_expr_name(const cubed_expr *x, int i, bool *is_bare)
{
    if (i < 0 || i >= x->nnames) return NULL;
    *is_bare = x->names[i].is_bare;
    return x->names[i].name;
}

const char *cubed_expr_repeated(const cubed_expr *x)
{
    for (int i = 0; i < x->nnames; i++) {
        for (int k = 0; k < i; k++) {
            if (strcmp(x->names[i].name, x->names[k].name) == 0) return x->names[i].name;
        }
    }
    return NULL;
}

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
