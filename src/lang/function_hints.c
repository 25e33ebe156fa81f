#include "lang/function_hints.h"

#include <stdio.h>
#include <string.h>

#include "lang/calendar_call.h"
#include "lang/expr_defined.h"

/* Functions of NumPy and Xarray that have other names in the Array API standard, or here. */
static const struct {
    const char *theirs, *ours;
} names[] = {
    {"absolute", "abs(x)"},
    {"fabs", "abs(x)"},
    {"amax", "max(x)"},
    {"amin", "min(x)"},
    {"arccos", "acos(x)"},
    {"arccosh", "acosh(x)"},
    {"arcsin", "asin(x)"},
    {"arcsinh", "asinh(x)"},
    {"arctan", "atan(x)"},
    {"arctan2", "atan2(y, x)"},
    {"arctanh", "atanh(x)"},
    {"avg", "mean(x)"},
    {"array", "a list, or arange(n), full(shape, value)"},
    {"concatenate", "concat([x, y], axis=0)"},
    {"invert", "~x"},
    {"isel", "x[0, 5:10]"},
    {"isnull", "isnan(x)"},
    {"isna", "isnan(x)"},
    {"notnull", "~isnan(x)"},
    {"len", "the number that `cubed info` shows"},
    {"ln", "log(x)"},
    {"logical_or", "x | y"},
    {"mod", "remainder(x, y)"},
    {"fmod", "remainder(x, y)"},
    {"nanstdev", "nanstd(x)"},
    {"negate", "-x"},
    {"power", "pow(x, y), or x ** y"},
    {"rint", "round(x)"},
    {"stdev", "std(x)"},
    {"trapz", "trapezoid(y, x)"},
    {"true_divide", "x / y"},
    {"unique", "unique_values(x)"},
    {"variance", "var(x)"},
};

static void try_word(lang_guess *g, const char *word)
{
    if (word) lang_guess_try(g, word, strlen(word));
}

static void try_function(void *ctx, const char *name) { try_word(ctx, name); }

static void try_functions(lang_guess *g)
{
    for (const cubed_function *f = cubed_function_next(NULL); f; f = cubed_function_next(f))
        try_word(g, f->name);
    expr_function_each(try_function, g);
    for (int i = 0; i < CUBED_DTYPE_COUNT; i++) try_word(g, cubed_dtype_name((cubed_dtype)i));
    expr_defined_guess(g);
}

bool expr_is_function(const char *name)
{
    cubed_dtype dtype;
    return cubed_function_find(name) || expr_find_function(name) ||
           calendar_call_is_function(name) || expr_defined_find(name) ||
           cubed_dtype_parse(name, &dtype, NULL) == CUBED_OK;
}

bool expr_is_along_time(const char *name)
{
    static const expr_function *const tables[] = {expr_climatology_functions, NULL};
    const expr call = {.kind = EXPR_CALL, .text = (char *)name};
    calendar_call unused;
    for (const expr_function *const *t = tables; *t; t++) {
        for (const expr_function *f = *t; f->name; f++) {
            if (strcmp(f->name, name) == 0) return true;
        }
    }
    if (expr_defined_find(name)) return strncmp(name, "fld", 3) != 0;
    return calendar_call_is_function(name) || calendar_call_windows(&call, &unused);
}

const char *expr_function_hint(const char *name, char *hint, size_t cap)
{
    char text[GUESS_TEXT];
    lang_guess g;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].theirs, name) != 0) continue;
        snprintf(hint, cap, ": write %s", names[i].ours);
        return hint;
    }
    lang_guess_init(&g, name);
    try_functions(&g);
    snprintf(hint, cap, "%s", lang_guess_text(&g, text));
    return hint;
}

bool expr_function_describe(const char *name, expr_function_text *out)
{
    cubed_dtype dtype;
    const expr_function *f = expr_find_function(name);
    if (cubed_function_find(name)) return false;
    if (f || expr_defined_find(name)) {
        const bool is_described = f && f->usage;
        snprintf(out->usage, sizeof out->usage, "%s%s", is_described ? f->usage : name,
                 is_described ? "" : "(x, ...)");
        snprintf(out->summary, sizeof out->summary, "%s",
                 is_described ? f->summary : "The topics of `cubed help eval` show its arguments.");
        return true;
    }
    if (calendar_call_describe(name, out->usage, sizeof out->usage, out->summary,
                               sizeof out->summary))
        return true;
    if (cubed_dtype_parse(name, &dtype, NULL) != CUBED_OK) return false;
    snprintf(out->usage, sizeof out->usage, "%s(x)", name);
    snprintf(out->summary, sizeof out->summary, "The elements as %s, like astype(x, \"%s\").", name,
             name);
    return true;
}

void expr_function_each(void (*put)(void *ctx, const char *name), void *ctx)
{
    for (const expr_function *const *t = expr_function_tables(); *t; t++) {
        for (const expr_function *f = *t; f->name; f++) {
            if (!cubed_function_find(f->name)) put(ctx, f->name);
        }
    }
    calendar_call_each_function(put, ctx);
}
