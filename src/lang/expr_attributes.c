#include "lang/expr_attributes.h"

#include <math.h>
#include <string.h>

#include "lang/lang_arrays.h"

/* --- set_attrs ---------------------------------------------------------------------------------------- */

static bool get_number(const expr *e, double *v)
{
    double sign = 1;
    if (e->kind == EXPR_UNARY && e->n == 1 && (e->op == '-' || e->op == '+')) {
        if (e->op == '-') sign = -1;
        e = e->child[0];
    }
    *v = sign * e->re;
    return e->kind == EXPR_INT || e->kind == EXPR_FLOAT;
}

/* Converts an expression to the value of an attribute. Returns NULL if the expression is not valid as a value. */
static json_t *value_of(const expr *e)
{
    double number;
    if (e->kind == EXPR_STRING) return json_string(e->text);
    if (e->kind == EXPR_INT) return json_integer(e->integer);
    if (e->kind == EXPR_UNARY && e->n == 1 && e->op == '-' && e->child[0]->kind == EXPR_INT)
        return json_integer(-e->child[0]->integer);
    return get_number(e, &number) && isfinite(number) ? json_real(number) : NULL;
}

bool expr_may_set_attribute(const char *name)
{
    /* Attributes that cannot be set, because they describe how elements are stored or name the axes. */
    static const char *const fixed[] = {
        "_FillValue", "missing_value",     "scale_factor",        "add_offset",
        "_Unsigned",  "_ARRAY_DIMENSIONS", CUBED_ATTRIBUTE_TYPES, NULL};
    return !lang_is_one_of(name, fixed);
}

static cubed_status call_set_attrs(expr_builder *b, const expr *e, cubed_array **out)
{
    if (e->n == 0 || e->child[0]->kind == EXPR_KEYWORD)
        return expr_reject(b, e, "expected an array, as in set_attrs(x, units=\"degC\")");
    for (int i = 1; i < e->n; i++) {
        const expr *k = e->child[i];
        if (k->kind != EXPR_KEYWORD)
            return expr_reject(b, k, "expected NAME=VALUE, as in set_attrs(x, units=\"degC\")");
        if (!expr_may_set_attribute(k->text))
            return expr_reject(
                b, k, "this attribute describes how elements are stored: expected another one");
        json_t *value = value_of(k->child[0]);
        json_decref(value);
        if (!value && k->child[0]->kind != EXPR_NONE)
            return expr_reject(b, k->child[0], "expected a string in quotes, a number or None");
    }
    return expr_get_array(b, e->child[0], out);
}

const expr_function expr_attribute_functions[] = {
    {.name = EXPR_SET_ATTRS,
     .fn = call_set_attrs,
     .usage = EXPR_SET_ATTRS "(x, NAME=VALUE, ...)",
     .summary = "The array x with these attributes, strings or numbers: units=\"degC\". None "
                "removes an attribute."},
    {.name = NULL},
};

void expr_put_attributes(expr_builder *b, const expr *call, json_t **attrs)
{
    for (int i = 1; i < call->n; i++) {
        const expr *k = call->child[i];
        if (k->kind != EXPR_KEYWORD) continue;
        if (!*attrs) *attrs = expr_json_object(b);
        if (*attrs) expr_json_drop_attribute(*attrs, k->text);
        if (*attrs && k->child[0]->kind != EXPR_NONE)
            expr_json_put(b, *attrs, k->text, value_of(k->child[0]));
    }
}

/* --- Units -------------------------------------------------------------------------------------------- */

bool expr_is_celsius(const char *units)
{
    static const char *const names[] = {"degC",           "deg_C",           "Celsius", "celsius",
                                        "degree_Celsius", "degrees_Celsius", NULL};
    return lang_is_one_of(units, names);
}

void expr_units_with_number(expr_builder *b, const char *function, const expr *first,
                            const expr *second, bool number_first, json_t *attrs)
{
    static const char *const kelvin[] = {"K", "kelvin", "Kelvin", "degK", "deg_K", NULL};
    const char *units = lang_attribute_text(attrs, "units");
    const bool adds = strcmp(function, "add") == 0, subtracts = strcmp(function, "subtract") == 0;
    const bool scales = strcmp(function, "multiply") == 0 || strcmp(function, "divide") == 0;
    double number;
    if (!units || !(adds || subtracts || scales)) return;
    if (!get_number(number_first ? first : second, &number)) return;
    if (scales ? fabs(number) == 1 : number == 0) return;
    /* For "array - number", the offset is -number. "number - array" scales by -1, so it has no offset. */
    const double offset = scales || (subtracts && number_first) ? 0 : subtracts ? -number : number;
    if (offset == -273.15 && lang_is_one_of(units, kelvin))
        expr_json_put_text(b, attrs, "units", "degC");
    else if (offset == 273.15 && expr_is_celsius(units))
        expr_json_put_text(b, attrs, "units", "K");
    else
        expr_json_drop_attribute(attrs, "units");
}
