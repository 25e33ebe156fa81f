#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "context/context.h"

/* An argument that is being checked, with the names that error messages need. */
typedef struct argument_at {
    const cubed_function *function;
    const cubed_argument *argument;
    int number;
    cubed_error *err;
} argument_at;

/* --- Errors ------------------------------------------------------------------------------------------- */

static void set_number(cubed_error *err, int number)
{
    if (err) err->argument = 1 + number;
}

/* Writes an error such as "roll: shift (argument 2) is 'a', expected an integer". */
static cubed_status refuse(const argument_at *at, const cubed_param *p, const cubed_value *value,
                           cubed_status status)
{
    char shown[128], expected[512], place[32] = "";
    const char *name = at->argument->spelled ? at->argument->spelled : p->name;
    cubed_value_format(value, shown, sizeof shown);
    cubed_param_expected(p, expected, sizeof expected);
    if (!at->argument->name) snprintf(place, sizeof place, " (argument %d)", at->number + 1);
    status = cb_fail(at->err, status, "%s: %s%s is %s, expected %s", at->function->name, name,
                     place, shown, expected);
    set_number(at->err, at->number);
    return status;
}

/* --- Values ------------------------------------------------------------------------------------------- */

static bool accepts(const cubed_param *p, cubed_value_kind kind)
{
    return (p->accepts >> kind & 1) != 0;
}

/* Converts a value to an equal value of a kind that the parameter accepts: a bool to an integer, an integer to a real
 * number. Returns false if the parameter accepts no such kind. */
static bool convert(const cubed_param *p, cubed_value *v)
{
    if (accepts(p, v->kind)) return true;
    if (v->kind == CUBED_VALUE_BOOL && accepts(p, CUBED_VALUE_INT)) {
        *v = (cubed_value){.kind = CUBED_VALUE_INT, .as.integer = v->as.boolean};
        return true;
    }
    if (v->kind == CUBED_VALUE_INT && accepts(p, CUBED_VALUE_FLOAT)) {
        *v = (cubed_value){.kind = CUBED_VALUE_FLOAT, .as.real = (double)v->as.integer};
        return true;
    }
    if (v->kind == CUBED_VALUE_INT && accepts(p, CUBED_VALUE_BOOL) &&
        (v->as.integer == 0 || v->as.integer == 1)) {
        *v = (cubed_value){.kind = CUBED_VALUE_BOOL, .as.boolean = v->as.integer == 1};
        return true;
    }
    /* An empty list is accepted for parameters of any kind of list. */
    const cubed_value_kind lists[] = {CUBED_VALUE_INTS, CUBED_VALUE_FLOATS, CUBED_VALUE_ARRAYS,
                                      CUBED_VALUE_LIST};
    const bool is_list = v->kind == CUBED_VALUE_INTS || v->kind == CUBED_VALUE_FLOATS ||
                         v->kind == CUBED_VALUE_ARRAYS || v->kind == CUBED_VALUE_LIST;
    for (size_t i = 0; is_list && v->n == 0 && i < sizeof lists / sizeof *lists; i++) {
        if (!accepts(p, lists[i])) continue;
        *v = (cubed_value){.kind = lists[i]};
        return true;
    }
    return false;
}

/* Converts a string that names a choice or a data type. Returns false if the parameter accepts no such strings. */
static bool take_name(const argument_at *at, const cubed_param *p, cubed_value *v,
                      cubed_status *status)
{
    *status = CUBED_OK;
    for (const cubed_choice *c = p->choices; c && c->name; c++) {
        if (strcmp(c->name, v->as.string) != 0) continue;
        *v = (cubed_value){.kind = CUBED_VALUE_CHOICE, .as.integer = c->number};
        return true;
    }
    if (accepts(p, CUBED_VALUE_STRING)) return true;
    if (p->choices) {
        *status = refuse(at, p, v, CUBED_E_ARG);
        return true;
    }
    if (!accepts(p, CUBED_VALUE_DTYPE)) return false;
    cubed_dtype dtype;
    *status = cubed_dtype_parse(v->as.string, &dtype, at->err);
    if (*status == CUBED_OK)
        *v = (cubed_value){.kind = CUBED_VALUE_DTYPE, .as.dtype = dtype};
    else
        set_number(at->err, at->number);
    return true;
}

static bool is_choice(const cubed_param *p, int64_t number)
{
    for (const cubed_choice *c = p->choices; c && c->name; c++) {
        if (c->number == number) return true;
    }
    return false;
}

static bool is_in_range(const cubed_param *p, double x) { return x >= p->least && x <= p->most; }

static bool is_valid(const cubed_param *p, const cubed_value *v)
{
    switch (v->kind) {
    case CUBED_VALUE_INT: return is_in_range(p, (double)v->as.integer);
    case CUBED_VALUE_FLOAT: return is_in_range(p, v->as.real) || v->as.real != v->as.real;
    case CUBED_VALUE_CHOICE: return is_choice(p, v->as.integer);
    case CUBED_VALUE_INTS:
        if ((p->flags & CUBED_PARAM_AXIS) && v->n > CUBED_MAX_NDIM) return false;
        for (int i = 0; i < v->n; i++) {
            if (!is_in_range(p, (double)v->as.ints[i])) return false;
        }
        return true;
    case CUBED_VALUE_FLOATS:
        for (int i = 0; i < v->n; i++) {
            if (!is_in_range(p, v->as.reals[i]) && v->as.reals[i] == v->as.reals[i]) return false;
        }
        return true;
    default: return true;
    }
}

static bool is_null(const cubed_value *v)
{
    switch (v->kind) {
    case CUBED_VALUE_ARRAY: return !v->as.array;
    case CUBED_VALUE_STRING: return !v->as.string;
    case CUBED_VALUE_SLICE: return !v->as.slice;
    case CUBED_VALUE_ARRAYS: return v->n > 0 && !v->as.arrays;
    case CUBED_VALUE_INTS: return v->n > 0 && !v->as.ints;
    case CUBED_VALUE_LIST: return v->n > 0 && !v->as.items;
    case CUBED_VALUE_FLOATS: return v->n > 0 && !v->as.reals;
    default: return false;
    }
}

/* Maximum depth of nested lists in a value. */
enum { MOST_DEEP = 4 };

/* Returns true if a list and the lists in it contain only kinds of values that functions accept. Lists are nested at most
 * `deep` levels. */
static bool is_sound(const cubed_value *list, int deep)
{
    for (int i = 0; i < list->n; i++) {
        const cubed_value *v = &list->as.items[i];
        switch (v->kind) {
        case CUBED_VALUE_NONE:
        case CUBED_VALUE_BOOL:
        case CUBED_VALUE_INT:
        case CUBED_VALUE_FLOAT:
        case CUBED_VALUE_COMPLEX: break;
        case CUBED_VALUE_STRING:
            if (!v->as.string) return false;
            break;
        case CUBED_VALUE_LIST:
            if (deep == 0 || v->n < 0 || is_null(v) || !is_sound(v, deep - 1)) return false;
            break;
        default: return false;
        }
    }
    return true;
}

/* Rejects NULL pointers and invalid kinds, which messages could not show. */
static cubed_status check_pointers(const argument_at *at, const cubed_param *p)
{
    const cubed_value *v = &at->argument->value;
    const bool is_kind = (unsigned)v->kind < CUBED_VALUE_KIND_COUNT && v->n >= 0;
    bool missing = is_kind && is_null(v);
    const bool has_items = v->kind == CUBED_VALUE_ARRAYS && !(p->flags & CUBED_PARAM_GAPS);
    for (int i = 0; is_kind && !missing && has_items && i < v->n; i++) missing = !v->as.arrays[i];
    if (is_kind && !missing && v->kind == CUBED_VALUE_LIST && !is_sound(v, MOST_DEEP)) {
        const cubed_status wrong =
            cb_fail(at->err, CUBED_E_TYPE,
                    "%s: %s is a list, expected items that are numbers, "
                    "strings, None, or lists of these, nested at most %d deep",
                    at->function->name, p->name, MOST_DEEP);
        set_number(at->err, at->number);
        return wrong;
    }
    if (is_kind && !missing) return CUBED_OK;
    const cubed_status status =
        is_kind ? cb_fail(at->err, CUBED_E_ARG, "%s: %s is NULL", at->function->name, p->name)
                : cb_fail(at->err, CUBED_E_ARG,
                          "%s: %s is a value of kind %d with %d items, expected a cubed_value_kind",
                          at->function->name, p->name, (int)v->kind, v->n);
    set_number(at->err, at->number);
    return status;
}

static cubed_status check(const argument_at *at, const cubed_param *p, cubed_value *out)
{
    cubed_value v = at->argument->value;
    cubed_status status = check_pointers(at, p);
    if (status != CUBED_OK) return status;
    const bool is_name = v.kind == CUBED_VALUE_STRING && take_name(at, p, &v, &status);
    if (status != CUBED_OK) return status;
    if (!is_name && !convert(p, &v)) return refuse(at, p, &v, CUBED_E_TYPE);
    if (!is_valid(p, &v)) return refuse(at, p, &v, CUBED_E_ARG);
    *out = v;
    return CUBED_OK;
}

/* --- Places ------------------------------------------------------------------------------------------- */

/* Combines the positional arguments from number `first` on into one list of arrays. */
static cubed_status gather(cubed_context *ctx, argument_at at, const cubed_param *p, int first,
                           int n, cb_bound *out)
{
    const cubed_argument *arguments = at.argument;
    out->nitems = (size_t)(n - first);
    out->items = cb_alloc(&ctx->alloc, out->nitems * sizeof *out->items);
    if (!out->items)
        return cb_fail(at.err, CUBED_E_NOMEM, "out of memory: %d arguments", n - first);
    for (int i = first; i < n; i++) {
        const cubed_value *v = &arguments[i].value;
        at.argument = &arguments[i];
        at.number = i;
        CB_TRY(check_pointers(&at, p));
        const bool is_gap = v->kind == CUBED_VALUE_NONE && (p->flags & CUBED_PARAM_GAPS);
        if (v->kind != CUBED_VALUE_ARRAY && !is_gap) return refuse(&at, p, v, CUBED_E_TYPE);
        out->items[i - first] = is_gap ? NULL : v->as.array;
    }
    out->values[p - at.function->params] =
        (cubed_value){.kind = CUBED_VALUE_ARRAYS, .n = n - first, .as.arrays = out->items};
    return CUBED_OK;
}

/* Returns the index of the parameter with this name, or -1. */
static int find_param(const cubed_function *f, const char *name)
{
    for (int i = 0; i < f->nparams; i++) {
        if (strcmp(f->params[i].name, name) == 0) return i;
    }
    return -1;
}

static int most_positional(const cubed_function *f)
{
    int n = 0;
    while (n < f->nparams && !(f->params[n].flags & CUBED_PARAM_KEYWORD_ONLY)) n++;
    return n;
}

/* Lists the names of parameters that can be passed by name, such as "shift, axis". */
static void list_names(const cubed_function *f, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; i < f->nparams && used < size; i++) {
        if (f->params[i].flags & (CUBED_PARAM_ENGINE | CUBED_PARAM_POSITION_ONLY)) continue;
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", used > 0 ? ", " : "",
                                 f->params[i].name);
    }
}

static cubed_status refuse_name(const argument_at *at)
{
    char names[256];
    list_names(at->function, names, sizeof names);
    cubed_status status = cb_fail(
        at->err, CUBED_E_TYPE, "%s: the function has no argument named %s, expected %s%s",
        at->function->name, at->argument->spelled ? at->argument->spelled : at->argument->name,
        names[0] ? "one of " : "arguments by position", names);
    set_number(at->err, at->number);
    return status;
}

/* Assigns the argument to the parameter at `place`. Fails if the parameter has an argument already. */
static cubed_status claim(const argument_at *at, int place, cb_bound *out)
{
    const cubed_param *p = &at->function->params[place];
    if (out->numbers[place] > 0) {
        cubed_status status =
            cb_fail(at->err, CUBED_E_TYPE, "%s: %s is given twice", at->function->name, p->name);
        set_number(at->err, at->number);
        return status;
    }
    out->numbers[place] = 1 + at->number;
    return CUBED_OK;
}

static cubed_status put(const argument_at *at, int place, cb_bound *out)
{
    CB_TRY(claim(at, place, out));
    return check(at, &at->function->params[place], &out->values[place]);
}

static cubed_status refuse_missing(const cubed_function *f, const cubed_param *p, cubed_error *err)
{
    char expected[512];
    cubed_param_expected(p, expected, sizeof expected);
    return cb_fail(err, CUBED_E_TYPE, "%s: %s is missing, expected %s", f->name, p->name, expected);
}

cubed_status cb_bind(cubed_context *ctx, const cubed_function *f, const cubed_argument *arguments,
                     int n, cb_bound *out, cubed_error *err)
{
    int npositional = 0;
    const int most = most_positional(f);
    while (npositional < n && !arguments[npositional].name) npositional++;
    const cubed_param *last = most > 0 ? &f->params[most - 1] : NULL;
    const bool variadic =
        last && (last->flags & CUBED_PARAM_VARIADIC) != 0 &&
        !(npositional == most && arguments[most - 1].value.kind == CUBED_VALUE_ARRAYS);
    if (npositional > most && !variadic) {
        cubed_status status = cb_fail(
            err, CUBED_E_TYPE, "%s: there are %d arguments without names, expected at most %d",
            f->name, npositional, most);
        set_number(err, most);
        return status;
    }
    argument_at at = {f, arguments, 0, err};
    const int single = variadic && npositional >= most ? most - 1 : npositional;
    for (int i = 0; i < n; i++) {
        at.argument = &arguments[i];
        at.number = i;
        if (i >= single && i < npositional) continue;
        const int place = arguments[i].name ? find_param(f, arguments[i].name) : i;
        if (place < 0 ||
            (arguments[i].name && (f->params[place].flags & CUBED_PARAM_POSITION_ONLY)))
            return refuse_name(&at);
        CB_TRY(put(&at, place, out));
    }
    if (single < npositional) {
        at.argument = arguments;
        at.number = single;
        CB_TRY(claim(&at, single, out));
        CB_TRY(gather(ctx, at, last, single, npositional, out));
    }
    for (int i = 0; i < f->nparams; i++) {
        const cubed_param *p = &f->params[i];
        if (out->numbers[i] > 0) continue;
        if (p->flags & CUBED_PARAM_REQUIRED) return refuse_missing(f, p, err);
        out->values[i] = p->fallback;
    }
    return CUBED_OK;
}

void cb_bound_free(cubed_context *ctx, cb_bound *bound)
{
    cb_free(&ctx->alloc, bound->items, bound->nitems * sizeof *bound->items);
    *bound = (cb_bound){.items = NULL};
}
