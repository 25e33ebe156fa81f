/* Help of functions of expressions, from the catalogue. */
#include <string.h>

#include "cli.h"
#include "cubed/catalogue.h"
#include "lang/function_hints.h"

enum { NAME_COLUMN = 18 };

/* Writes a parameter as in a signature: "x", "arrays, ...", or with its default, such as "ord=None". */
static void put_param(FILE *f, const cubed_param *p)
{
    char text[128];
    fputs(p->name, f);
    if (p->flags & CUBED_PARAM_VARIADIC) fputs(", ...", f);
    if (p->flags & CUBED_PARAM_REQUIRED) return;
    const cubed_choice *c = p->fallback.kind == CUBED_VALUE_CHOICE ? p->choices : NULL;
    while (c && c->name && c->number != p->fallback.as.integer) c++;
    cubed_value_format(&p->fallback, text, sizeof text);
    if (c && c->name)
        fprintf(f, "='%s'", c->name);
    else
        fprintf(f, "=%s", text);
}

void cli_print_signature(FILE *f, const cubed_function *function)
{
    for (int i = 0; i < CUBED_MAX_RESULTS && function->results[i]; i++)
        fprintf(f, "%s%s", i > 0 ? ", " : "", function->results[i]);
    fprintf(f, "%s%s(", function->results[0] ? " = " : "", function->name);
    for (int i = 0; i < function->nparams; i++) {
        const cubed_param *p = cubed_function_param(function, i);
        if (p->flags & CUBED_PARAM_ENGINE) continue;
        if (i > 0) fputs(", ", f);
        put_param(f, p);
    }
    fputc(')', f);
}

void cli_each_param(const cubed_function *function,
                    void (*put)(FILE *f, const char *name, const char *text), FILE *f)
{
    char expected[512];
    for (int i = 0; i < function->nparams; i++) {
        const cubed_param *p = cubed_function_param(function, i);
        if (p->flags & CUBED_PARAM_ENGINE) continue;
        cubed_param_expected(p, expected, sizeof expected);
        char *text = cli_printf(
            "%s Expects %s.%s", p->notes, expected,
            strcmp(p->name, "axis") == 0 ? " Names of dimensions are given with dim=." : "");
        put(f, p->name, text);
        cli_free(text);
    }
}

static void put_entry(FILE *f, const char *name, const char *text)
{
    cli_put_entry(f, name, text, NAME_COLUMN);
}

void cli_print_function(FILE *f, const cubed_function *function)
{
    cli_print_signature(f, function);
    fputs("\n\n", f);
    cli_put_filled(f, function->summary, 0);
    fputs("\narguments:\n", f);
    cli_each_param(function, put_entry, f);
    fputs("\nresult:\n", f);
    put_entry(f, function->results[0] ? "arrays" : "array", function->returns);
}

/* Describes the parameters of a function with a usage such as "ymonsub(x, c, dim="time")". */
static void put_params(FILE *f, const char *function, const char *usage)
{
    fputs("\narguments:\n", f);
    for (const char *at = strchr(usage, '('); at; at = strchr(at, ',')) {
        char name[32];
        at += strspn(at, "(, .");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ",=)"), at);
        const char *note = expr_param_note(function, name);
        if (note) put_entry(f, name, note);
    }
}

bool cli_print_unlisted(FILE *f, const char *name)
{
    expr_function_text text;
    if (!expr_function_describe(name, &text)) return false;
    fprintf(f, "%s\n\n", text.usage);
    cli_put_filled(f, text.summary, 0);
    if (expr_is_climate(name)) put_params(f, name, text.usage);
    return true;
}

/* A list of functions of one category. */
typedef struct listing {
    FILE *f;
    const char *category;
    bool found;
} listing;

static void put_listed(listing *l, const char *name, const char *summary)
{
    if (!l->found)
        fprintf(l->f, "functions of %s, which `cubed help FUNCTION` describes:\n", l->category);
    cli_put_entry(l->f, name, summary, NAME_COLUMN);
    l->found = true;
}

static void put_climate(void *ctx, const char *name)
{
    expr_function_text text;
    if (expr_is_climate(name) && expr_function_describe(name, &text))
        put_listed(ctx, name, text.summary);
}

bool cli_print_category(FILE *f, const char *category)
{
    listing l = {f, category, false};
    for (const cubed_function *c = cubed_function_next(NULL); c; c = cubed_function_next(c)) {
        if (strcmp(c->category, category) == 0) put_listed(&l, c->name, c->summary);
    }
    if (strcmp(category, "climate") == 0) expr_function_each(put_climate, &l);
    return l.found;
}
