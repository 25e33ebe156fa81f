/* Formats values and parameters as human-readable strings. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cubed/catalogue.h"

/* An output buffer for `put`. As with snprintf, `length` also counts characters that do not fit. */
typedef struct writer {
    char *at;
    size_t left, length;
} writer;

static void put(writer *w, const char *format, ...) CUBED_PRINTF(2, 3);
static void put(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(w->at, w->left, format, args);
    va_end(args);
    if (n < 0) return;
    const size_t fits = (size_t)n < w->left ? (size_t)n : w->left ? w->left - 1 : 0;
    if (fits > 0) w->at += fits;
    w->left -= fits;
    w->length += (size_t)n;
}

static writer begin(char *buffer, size_t size)
{
    if (size > 0) buffer[0] = '\0';
    return (writer){buffer, size, 0};
}

/* --- Values ------------------------------------------------------------------------------------------- */

/* Writes the shortest decimal number that parses to x. Adds ".0" to integers. */
static void put_real(writer *w, double x)
{
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    put(w, "%s%s", text, strpbrk(text, ".einN") ? "" : ".0");
}

static void put_shape(writer *w, const cubed_array *x)
{
    const int ndim = cubed_array_ndim(x);
    put(w, "an array of %s and shape (", cubed_dtype_name(cubed_array_dtype(x)));
    for (int d = 0; d < ndim; d++) put(w, "%s%" PRId64, d > 0 ? ", " : "", cubed_array_shape(x)[d]);
    put(w, ndim == 1 ? ",)" : ")");
}

static void put_ints(writer *w, int n, const int64_t *items)
{
    put(w, "[");
    for (int i = 0; i < n; i++) put(w, "%s%" PRId64, i > 0 ? ", " : "", items[i]);
    put(w, "]");
}

/* The recursion depth is limited, because cubed_call checks the depth of lists before a value is written. */
static void put_value(writer *w, const cubed_value *value);

static void put_list(writer *w, const cubed_value *v)
{
    if (v->kind == CUBED_VALUE_INTS) {
        put_ints(w, v->n, v->as.ints);
        return;
    }
    put(w, "[");
    for (int i = 0; i < v->n; i++) {
        if (i > 0) put(w, ", ");
        if (v->kind == CUBED_VALUE_LIST)
            put_value(w, &v->as.items[i]);
        else
            put_real(w, v->as.reals[i]);
    }
    put(w, "]");
}

static void put_bound(writer *w, const char *before, const int64_t *bound)
{
    if (bound)
        put(w, "%s%" PRId64, before, *bound);
    else
        put(w, "%sNone", before);
}

static void put_value(writer *w, const cubed_value *value)
{
    switch (value->kind) {
    case CUBED_VALUE_ARRAY: put_shape(w, value->as.array); break;
    case CUBED_VALUE_ARRAYS: put(w, "a list of %d arrays", value->n); break;
    case CUBED_VALUE_BOOL: put(w, value->as.boolean ? "True" : "False"); break;
    case CUBED_VALUE_INT:
    case CUBED_VALUE_CHOICE: put(w, "%" PRId64, value->as.integer); break;
    case CUBED_VALUE_FLOAT: put_real(w, value->as.real); break;
    case CUBED_VALUE_COMPLEX:
        put(w, "complex(");
        put_real(w, value->as.complex_parts[0]);
        put(w, ", ");
        put_real(w, value->as.complex_parts[1]);
        put(w, ")");
        break;
    case CUBED_VALUE_INTS:
    case CUBED_VALUE_LIST:
    case CUBED_VALUE_FLOATS: put_list(w, value); break;
    case CUBED_VALUE_STRING: put(w, "'%s'", value->as.string); break;
    case CUBED_VALUE_DTYPE: put(w, "'%s'", cubed_dtype_name(value->as.dtype)); break;
    case CUBED_VALUE_SLICE:
        put_bound(w, "slice(", value->as.slice->start);
        put_bound(w, ", ", value->as.slice->stop);
        put_bound(w, ", ", value->as.slice->step);
        put(w, ")");
        break;
    default: put(w, "None");
    }
}

size_t cubed_value_format(const cubed_value *value, char *buffer, size_t size)
{
    writer w = begin(buffer, size);
    put_value(&w, value);
    return w.length;
}

/* --- Parameters --------------------------------------------------------------------------------------- */

static bool accepts(const cubed_param *p, cubed_value_kind kind)
{
    return (p->accepts >> kind & 1) != 0;
}

/* Writes the kinds of values that a parameter accepts, joined by "or". */
static void put_kinds(writer *w, const cubed_param *p)
{
    const bool any = accepts(p, CUBED_VALUE_COMPLEX), real = accepts(p, CUBED_VALUE_FLOAT);
    const bool axis = p->flags & CUBED_PARAM_AXIS;
    const struct {
        bool is_taken;
        const char *name;
    } kinds[] = {
        {accepts(p, CUBED_VALUE_ARRAY), "an array"},
        {accepts(p, CUBED_VALUE_ARRAYS), "a list of arrays"},
        {any, "a number"},
        {real && !any, "a real number"},
        {accepts(p, CUBED_VALUE_INT) && !real && !axis, "an integer"},
        {accepts(p, CUBED_VALUE_INT) && !real && axis, "an axis"},
        {accepts(p, CUBED_VALUE_BOOL) && !any, "True or False"},
        {accepts(p, CUBED_VALUE_INTS) && !axis, "a list of integers"},
        {accepts(p, CUBED_VALUE_INTS) && axis, "a list of axes"},
        {accepts(p, CUBED_VALUE_LIST), "a list with an item for each axis"},
        {accepts(p, CUBED_VALUE_FLOATS), "a list of numbers"},
        {accepts(p, CUBED_VALUE_STRING), "a string"},
        {accepts(p, CUBED_VALUE_DTYPE), "the name of a data type"},
        {accepts(p, CUBED_VALUE_SLICE), "a slice"},
        {accepts(p, CUBED_VALUE_NONE), "None"},
    };
    const char *before = "";
    for (const cubed_choice *c = p->choices; c && c->name; c++) {
        put(w, "%s'%s'", c == p->choices ? "one of " : ", ", c->name);
        before = " or ";
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!kinds[i].is_taken) continue;
        put(w, "%s%s", before, kinds[i].name);
        before = " or ";
    }
}

size_t cubed_param_expected(const cubed_param *param, char *buffer, size_t size)
{
    writer w = begin(buffer, size);
    put_kinds(&w, param);
    if (param->least > -1e300 && param->most < 1e300)
        put(&w, " from %g to %g", param->least, param->most);
    else if (param->least > -1e300)
        put(&w, ", at least %g", param->least);
    else if (param->most < 1e300)
        put(&w, ", at most %g", param->most);
    return w.length;
}
