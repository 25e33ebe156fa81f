/* Converts the values of a call to the types that the bodies of functions use. */
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "call.h"
#include "context/context.h"
#include "cubed/array_api.h"
#include "literal.h"

const cubed_choice cb_devices[] = {{"cpu", 0}, {NULL, 0}};
const cubed_choice cb_quantile_methods[] = {
#define CUBED_QUANTILE(NAME, name, number, discrete) {#name, CUBED_QUANTILE_##NAME},
#include "cubed/quantiles.def"
#undef CUBED_QUANTILE
    /* CDO's names, which are accepted in addition to NumPy's. */
    {"nrank", CUBED_QUANTILE_INVERTED_CDF},
    {"nist", CUBED_QUANTILE_WEIBULL},
    {"rtype8", CUBED_QUANTILE_MEDIAN_UNBIASED},
    {NULL, 0}};

double cb_call_real(const cb_call *c, int i)
{
    const cubed_value *v = &c->values[i];
    return v->kind == CUBED_VALUE_INT ? (double)v->as.integer : v->as.real;
}

const char *cb_call_choice_name(const cb_call *c, int i)
{
    const cubed_choice *choice = c->function->params[i].choices;
    if (c->values[i].kind != CUBED_VALUE_CHOICE) return NULL;
    while (choice->name && choice->number != c->values[i].as.integer) choice++;
    return choice->name;
}

int cb_clamp_axis(int64_t axis)
{
    return axis < INT_MIN ? INT_MIN : axis > INT_MAX ? INT_MAX : (int)axis;
}

int cb_call_axis(const cb_call *c, int i) { return cb_clamp_axis(c->values[i].as.integer); }

const int *cb_call_axes(const cb_call *c, int i, int room[CUBED_MAX_NDIM], int *n)
{
    const cubed_value *v = &c->values[i];
    *n = 0;
    if (v->kind == CUBED_VALUE_NONE) return NULL;
    if (v->kind == CUBED_VALUE_INT) room[(*n)++] = cb_clamp_axis(v->as.integer);
    if (v->kind == CUBED_VALUE_INTS) {
        for (; *n < v->n; ++*n) room[*n] = cb_clamp_axis(v->as.ints[*n]);
    }
    return room;
}

const int *cb_call_one_axis(const cb_call *c, int i, int *room)
{
    if (!cb_call_has(c, i)) return NULL;
    *room = cb_call_axis(c, i);
    return room;
}

cubed_status cb_call_check_axis(const cb_call *c, int i, int ndim, int64_t given, int *axis)
{
    if (given < -ndim || given >= ndim)
        return cb_call_blame(
            c, i,
            cb_fail(c->err, CUBED_E_AXIS, "%s: axis %lld is out of range for %d dimension%s",
                    c->function->name, (long long)given, ndim, ndim == 1 ? "" : "s"));
    *axis = (int)(given < 0 ? given + ndim : given);
    return CUBED_OK;
}

cubed_status cb_call_only_axis(const cb_call *c, int i, int ndim, int *axis)
{
    *axis = cb_call_has(c, i) ? cb_call_axis(c, i) : 0;
    if (cb_call_has(c, i) || ndim == 1) return CUBED_OK;
    const char *name = c->function->name;
    return cb_call_blame(
        c, i,
        ndim == 0
            ? cb_fail(c->err, CUBED_E_ARG, "%s: the array has no axes, expected one", name)
            : cb_fail(c->err, CUBED_E_ARG,
                      "%s: axis is missing, expected one of the %d axes of the array", name, ndim));
}

const int64_t *cb_call_ints(const cb_call *c, int i, int *n)
{
    const cubed_value *v = &c->values[i];
    *n = v->kind == CUBED_VALUE_INTS ? v->n : 1;
    return v->kind == CUBED_VALUE_INTS ? v->as.ints : &v->as.integer;
}

cubed_status cb_call_chunks(const cb_call *c, int i, int ndim, const int64_t **out)
{
    int n;
    *out = NULL;
    if (!cb_call_has(c, i)) return CUBED_OK;
    *out = cb_call_ints(c, i, &n);
    if (n == ndim) return CUBED_OK;
    return cb_call_blame(c, i,
                         cb_fail(c->err, CUBED_E_ARG,
                                 "%s: %s has %d length%s, expected one for each of %d dimension%s",
                                 c->function->name, c->function->params[i].name, n,
                                 n == 1 ? "" : "s", ndim, ndim == 1 ? "" : "s"));
}

cubed_array **cb_call_arrays(const cb_call *c, int n)
{
    return cb_alloc_zero(&c->ctx->alloc, (size_t)n * sizeof(cubed_array *));
}

void cb_call_arrays_free(const cb_call *c, cubed_array **arrays, int n)
{
    for (int i = 0; i < n; i++) cubed_array_unref(arrays[i]);
    cb_free(&c->ctx->alloc, arrays, (size_t)n * sizeof(cubed_array *));
}

cubed_status cb_call_results(const cb_call *c, int64_t n, cubed_array ***out)
{
    *out = n < INT_MAX ? cb_call_arrays(c, (int)n) : NULL;
    if (!*out) return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: %lld results", (long long)n);
    *c->results = (cubed_results){(int)n, *out};
    return CUBED_OK;
}

uint64_t cb_call_task_mem(const cb_call *c)
{
    return (uint64_t)c->values[c->function->nparams - 1].as.integer;
}

/* Returns the index of the parameter `name`, which must exist. */
static int place_of(const cubed_function *f, const char *name)
{
    int i = f->nparams - 1;
    while (i > 0 && strcmp(f->params[i].name, name) != 0) i--;
    return i;
}

cubed_status cb_call_counted(const cb_call *c, cb_counted *out)
{
    const int at = place_of(c->function, "count");
    out->offsets = cb_call_array(c, place_of(c->function, "offsets"));
    out->count = cb_call_int(c, at);
    /* the call needs no offsets if it has the count as an argument */
    const bool is_stated = !(c->function->params[at].flags & CUBED_PARAM_ENGINE);
    if (out->count >= 0 && (out->offsets || is_stated)) return CUBED_OK;
    return cb_fail(c->err, CUBED_E_ARG,
                   "%s: the number of elements depends on values, expected `offsets` and `count` "
                   "of cubed_call_offsets",
                   c->function->name);
}

/* Records which argument an error concerns: stores the negative number of the parameter. cubed_call replaces it by the number of
 * the argument. */
cubed_status cb_call_blame(const cb_call *c, int i, cubed_status status)
{
    if (status != CUBED_OK && c->err) c->err->argument = -(1 + i);
    return status;
}

cubed_status cb_call_number(const cb_call *c, int i, cubed_dtype dtype, cubed_array **out)
{
    cubed_scalar s;
    if (c->values[i].kind == CUBED_VALUE_ARRAY) {
        *out = cubed_array_ref(c->values[i].as.array);
        return CUBED_OK;
    }
    if (cubed_number_scalar(&c->values[i], dtype, &s))
        return cubed_array_full(c->ctx, dtype, 0, NULL, NULL, &s, out, c->err);
    char shown[64];
    cubed_value_format(&c->values[i], shown, sizeof shown);
    return cb_call_blame(c, i,
                         cb_fail(c->err, CUBED_E_ARG, "%s: %s is %s, expected a value of %s",
                                 c->function->name, c->function->params[i].name, shown,
                                 cubed_dtype_name(dtype)));
}

cubed_status cb_call_operand(const cb_call *c, int i, cubed_dtype beside, cubed_array **out)
{
    const cubed_value *v = &c->values[i];
    return cb_call_number(c, i, cb_is_number(v) ? cubed_number_dtype(v, beside, false) : beside,
                          out);
}

cubed_status cb_call_operands(const cb_call *c, int first, int last, bool any_integer,
                              cubed_array **out)
{
    cubed_dtype beside = CUBED_BOOL;
    for (int i = last; i >= first; i--) {
        if (cb_call_array(c, i)) beside = cubed_array_dtype(cb_call_array(c, i));
    }
    for (int i = first; i <= last; i++) {
        const cubed_value *v = &c->values[i];
        const cubed_dtype dtype =
            cb_is_number(v) ? cubed_number_dtype(v, beside, any_integer) : beside;
        CB_TRY(cb_call_number(c, i, dtype, &out[i - first]));
    }
    return CUBED_OK;
}
