/* Builds calls of functions of the catalogue (cubed/catalogue.h). */
#include <limits.h>
#include <string.h>

#include "lang/expr_builder.h"
#include "lang/guess.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

/* The arguments of a call, which are built one after another. */
typedef struct arguments {
    const cubed_function *function;
    const expr *call;
    const cubed_array *like; /* the first array, from which literals get their types */
    /* the expression that built `like`, or the list of arrays that contains `like` */
    const expr *first;
    int n;
    cubed_argument *list;
    /* Expression of each argument; NULL for arguments that are not in the call. */
    const expr **nodes;
    cubed_array ***arrays; /* memory of each argument that is a list of arrays; otherwise NULL */
    /* memory of each argument that is a list of other values; otherwise NULL */
    void **numbers;
    /* Numbers, strings and lists that will become arrays once the first array is known. */
    int nwaiting;
    struct {
        int argument;
        expr_value number;
    } * waiting;
} arguments;

static bool accepts(const cubed_param *p, cubed_value_kind kind)
{
    return (p->accepts >> kind & 1) != 0;
}

/* Allocates memory for the arguments of the call and `more` additional ones. The caller frees them with `end`, even after an
 * error. */
static cubed_status start(expr_builder *b, arguments *a, const cubed_function *f, const expr *call,
                          int more)
{
    /* 3 more arguments may be added: offsets, count and task_mem */
    const int room = call->n + more + 3;
    *a = (arguments){.function = f, .call = call};
    EXPR_TRY(expr_alloc(b, call, room, sizeof *a->list, &a->list));
    EXPR_TRY(expr_alloc(b, call, room, sizeof(const expr *), &a->nodes));
    EXPR_TRY(expr_alloc(b, call, room, sizeof(cubed_array **), &a->arrays));
    EXPR_TRY(expr_alloc(b, call, room, sizeof(void *), &a->numbers));
    return expr_alloc(b, call, room, sizeof *a->waiting, &a->waiting);
}

static void end(arguments *a)
{
    for (int i = 0; i < a->n; i++) {
        const cubed_value *v = &a->list[i].value;
        if (v->kind == CUBED_VALUE_ARRAY) cubed_array_unref(v->as.array);
        for (int k = 0; a->arrays[i] && k < v->n; k++) cubed_array_unref(a->arrays[i][k]);
        lang_free(a->arrays[i]);
        lang_free(a->numbers[i]);
    }
    lang_free(a->list);
    lang_free(a->nodes);
    lang_free(a->arrays);
    lang_free(a->numbers);
    lang_free(a->waiting);
}

/* --- Values ------------------------------------------------------------------------------------------- */

/* Sets argument i to an array or a number. If the parameter accepts only arrays, the number is converted once the first array is
 * known. */
static cubed_status put_value(expr_builder *b, arguments *a, int i, const cubed_param *p)
{
    const expr *e = a->nodes[i];
    cubed_value *to = &a->list[i].value;
    const unsigned numbers = 1U << CUBED_VALUE_BOOL | 1U << CUBED_VALUE_INT |
                             1U << CUBED_VALUE_FLOAT | 1U << CUBED_VALUE_COMPLEX;
    expr_value v = {.array = NULL};
    if (a->function->moves && accepts(p, CUBED_VALUE_ARRAY) && !a->like)
        EXPR_TRY(expr_get_moved(b, a->call, e, &v.array));
    else
        EXPR_TRY(expr_build_value(b, e, &v));
    if (v.array) {
        *to = (cubed_value){.kind = CUBED_VALUE_ARRAY, .as.array = v.array};
        if (!a->like && p - a->function->params >= a->function->first_operand) {
            a->like = v.array;
            a->first = e;
        }
    } else if ((p->accepts & numbers) ||
               !(accepts(p, CUBED_VALUE_ARRAY) || accepts(p, CUBED_VALUE_ARRAYS))) {
        *to = expr_literal_value(&v);
    } else {
        a->waiting[a->nwaiting].argument = i;
        a->waiting[a->nwaiting++].number = v;
    }
    return CUBED_OK;
}

static const cubed_param *param_of(const arguments *a, int i);

/* Converts the values in `waiting` to arrays. A number gets the type that it has in an operation with the first array. If the
 * parameter also accepts lists (CUBED_PARAM_LIKE), the number gets its default type. A string gets the kind of strings of the
 * first array. */
static cubed_status put_waiting(expr_builder *b, arguments *a)
{
    for (int k = 0; k < a->nwaiting; k++) {
        const int i = a->waiting[k].argument;
        expr_value v = a->waiting[k].number;
        const expr *e = a->nodes[i];
        const bool is_own = (param_of(a, i)->flags & CUBED_PARAM_LIKE) && !expr_is_texts(e);
        const cubed_array *like = is_own ? NULL : a->like;
        if (e->kind == EXPR_STRING || e->kind == EXPR_TUPLE)
            EXPR_TRY(expr_get_elements(b, e, like, &v.array));
        else
            EXPR_TRY(expr_operand(b, e, &v, like));
        a->list[i].value = (cubed_value){.kind = CUBED_VALUE_ARRAY, .as.array = v.array};
    }
    return CUBED_OK;
}

static cubed_status put_arrays(expr_builder *b, arguments *a, int i)
{
    const expr *e = a->nodes[i];
    cubed_value *to = &a->list[i].value;
    EXPR_TRY(expr_alloc(b, e, e->n, sizeof(cubed_array *), &a->arrays[i]));
    cubed_array **arrays = a->arrays[i];
    *to = (cubed_value){.kind = CUBED_VALUE_ARRAYS, .n = e->n, .as.arrays = arrays};
    if (a->function->moves) EXPR_TRY(expr_get_moved_list(b, a->call, e, arrays));
    for (int k = 0; k < e->n && !a->function->moves; k++)
        EXPR_TRY(expr_get_array(b, e->child[k], &arrays[k]));
    if (!a->like && e->n > 0) {
        a->like = arrays[0];
        a->first = e;
    }
    return CUBED_OK;
}

static cubed_status put_floats(expr_builder *b, arguments *a, int i)
{
    const expr *e = a->nodes[i];
    double *reals;
    EXPR_TRY(expr_alloc(b, e, e->n, sizeof *reals, &reals));
    a->numbers[i] = reals;
    for (int k = 0; k < e->n; k++) {
        expr_value v;
        EXPR_TRY(expr_get_number(b, e->child[k], &v));
        reals[k] = v.re;
    }
    a->list[i].value = (cubed_value){.kind = CUBED_VALUE_FLOATS, .n = e->n, .as.reals = reals};
    return CUBED_OK;
}

static cubed_status put_ints(expr_builder *b, arguments *a, int i)
{
    const expr *e = a->nodes[i];
    int64_t *ints;
    EXPR_TRY(expr_alloc(b, e, e->n, sizeof *ints, &ints));
    a->numbers[i] = ints;
    for (int k = 0; k < e->n; k++) EXPR_TRY(expr_get_int(b, e->child[k], &ints[k]));
    a->list[i].value = (cubed_value){.kind = CUBED_VALUE_INTS, .n = e->n, .as.ints = ints};
    return CUBED_OK;
}

/* Returns the number of values in a list, including the values in its inner lists. Each inner list counts as one more value. */
static int count_items(const expr *e)
{
    int n = e->n;
    for (int k = 0; k < e->n; k++)
        n += e->child[k]->kind == EXPR_TUPLE ? count_items(e->child[k]) : 0;
    return n;
}

/* Fills a list of values, in memory from *left, which advances. The parser limits the depth of the recursion. */
static cubed_status fill_items(expr_builder *b, const expr *e, cubed_value **left, cubed_value *to)
{
    cubed_value *items = *left;
    *left += e->n;
    *to = (cubed_value){.kind = CUBED_VALUE_LIST, .n = e->n, .as.items = items};
    for (int k = 0; k < e->n; k++) {
        const expr *item = e->child[k];
        expr_value v;
        items[k] = (cubed_value){.kind = CUBED_VALUE_NONE};
        if (item->kind == EXPR_NONE) continue;
        if (item->kind == EXPR_TUPLE) {
            EXPR_TRY(fill_items(b, item, left, &items[k]));
        } else if (item->kind == EXPR_STRING) {
            items[k] = (cubed_value){.kind = CUBED_VALUE_STRING, .as.string = item->text};
        } else {
            EXPR_TRY(expr_get_number(b, item, &v));
            items[k] = expr_literal_value(&v);
        }
    }
    return CUBED_OK;
}

static cubed_status put_items(expr_builder *b, arguments *a, int i)
{
    const expr *e = a->nodes[i];
    cubed_value *items;
    EXPR_TRY(expr_alloc(b, e, count_items(e), sizeof *items, &items));
    a->numbers[i] = items;
    return fill_items(b, e, &items, &a->list[i].value);
}

static bool has_integers_alone(const expr *e)
{
    for (int k = 0; k < e->n; k++) {
        const expr *item = e->child[k];
        if (item->kind == EXPR_TUPLE || item->kind == EXPR_STRING || item->kind == EXPR_NONE)
            return false;
    }
    return true;
}

/* Marks argument i, a string or a list, to be converted to an array when the first array of the call is known. */
static cubed_status put_elements(arguments *a, int i)
{
    a->waiting[a->nwaiting].argument = i;
    a->waiting[a->nwaiting++].number = (expr_value){.array = NULL};
    return CUBED_OK;
}

static cubed_status put_list(expr_builder *b, arguments *a, int i, const cubed_param *p)
{
    if (accepts(p, CUBED_VALUE_ARRAYS)) return put_arrays(b, a, i);
    if (accepts(p, CUBED_VALUE_LIST) &&
        !(accepts(p, CUBED_VALUE_INTS) && has_integers_alone(a->nodes[i])))
        return put_items(b, a, i);
    if (accepts(p, CUBED_VALUE_INTS)) return put_ints(b, a, i);
    if (accepts(p, CUBED_VALUE_FLOATS)) return put_floats(b, a, i);
    if (accepts(p, CUBED_VALUE_ARRAY)) return put_elements(a, i);
    return expr_reject(b, a->nodes[i], "a list is not expected here");
}

/* Sets argument i to axes, given by number, or by dimension names of the first array. */
static cubed_status put_axes(expr_builder *b, arguments *a, int i)
{
    int n, axes[CUBED_MAX_NDIM];
    const expr *positional = a->list[i].spelled ? NULL : a->nodes[i];
    EXPR_TRY(expr_get_axes(b, a->call, positional, a->like, &n, axes));
    if (n < 0) return CUBED_OK;
    if (n == 1) {
        a->list[i].value = (cubed_value){.kind = CUBED_VALUE_INT, .as.integer = axes[0]};
        return CUBED_OK;
    }
    int64_t *ints;
    EXPR_TRY(expr_alloc(b, a->call, n, sizeof *ints, &ints));
    a->numbers[i] = ints;
    for (int k = 0; k < n; k++) ints[k] = axes[k];
    a->list[i].value = (cubed_value){.kind = CUBED_VALUE_INTS, .n = n, .as.ints = ints};
    return CUBED_OK;
}

static bool is_axis_name(const char *name)
{
    return strcmp(name, "axis") == 0 || strcmp(name, "dim") == 0;
}

static bool is_axis(const arguments *a, int i, const cubed_param *p)
{
    const char *name = a->list[i].spelled;
    return (p->flags & CUBED_PARAM_AXIS) && a->like && (!name || is_axis_name(name));
}

static cubed_status put(expr_builder *b, arguments *a, int i, const cubed_param *p)
{
    const expr *e = a->nodes[i];
    const unsigned strings =
        1U << CUBED_VALUE_STRING | 1U << CUBED_VALUE_CHOICE | 1U << CUBED_VALUE_DTYPE;
    if (e->kind == EXPR_NONE) return CUBED_OK;
    if (is_axis(a, i, p)) return put_axes(b, a, i);
    if (e->kind == EXPR_STRING && ((p->accepts & strings) || !accepts(p, CUBED_VALUE_ARRAY))) {
        a->list[i].value = (cubed_value){.kind = CUBED_VALUE_STRING, .as.string = e->text};
        return CUBED_OK;
    }
    if (e->kind == EXPR_STRING) return put_elements(a, i);
    if (e->kind == EXPR_TUPLE) return put_list(b, a, i, p);
    return put_value(b, a, i, p);
}

/* --- Calls -------------------------------------------------------------------------------------------- */

/* Returns the parameter of argument i, or NULL if the function has no such parameter, which cubed_call reports. */
static const cubed_param *param_of(const arguments *a, int i)
{
    const cubed_function *f = a->function;
    const char *name = a->list[i].name;
    for (int k = 0; !name && k <= i && k < f->nparams; k++) {
        if (k == i || (f->params[k].flags & CUBED_PARAM_VARIADIC)) return &f->params[k];
    }
    if (!name) return NULL;
    for (int k = 0; k < f->nparams; k++) {
        if (strcmp(f->params[k].name, name) == 0) return &f->params[k];
    }
    return NULL;
}

/* Returns the first parameter of axes that can be passed by name, or NULL. */
static const cubed_param *axis_param(const cubed_function *f)
{
    for (int i = 0; i < f->nparams; i++) {
        const cubed_param *p = &f->params[i];
        if ((p->flags & CUBED_PARAM_AXIS) && !(p->flags & CUBED_PARAM_POSITION_ONLY)) return p;
    }
    return NULL;
}

/* Checks the keywords of the call. `axis` and `dim` are also accepted for the parameter of axes. */
static cubed_status check_names(expr_builder *b, const cubed_function *f, const expr *e)
{
    const char *names[CUBED_MAX_PARAMS + 3];
    int n = 0, positional;
    for (int i = 0; i < f->nparams; i++) {
        const cubed_param *p = &f->params[i];
        if (p->flags & (CUBED_PARAM_POSITION_ONLY | CUBED_PARAM_ENGINE)) continue;
        names[n++] = p->name;
    }
    if (axis_param(f)) {
        names[n++] = "axis";
        names[n++] = "dim";
    }
    names[n] = NULL;
    return expr_check_args(b, e, 0, INT_MAX, names, &positional);
}

/* If the function has a parameter `task_mem`, appends the memory of a task as an argument. */
static void add_task_mem(arguments *a, uint64_t task_mem)
{
    const cubed_function *f = a->function;
    const cubed_param *last = cubed_function_param(f, f->nparams - 1);
    if (!last || !(last->flags & CUBED_PARAM_ENGINE)) return;
    const int64_t bytes = task_mem > INT64_MAX ? INT64_MAX : (int64_t)task_mem;
    a->list[a->n++] = (cubed_argument){.name = last->name,
                                       .value = {.kind = CUBED_VALUE_INT, .as.integer = bytes}};
}

/* Returns the name to use for positional argument i if the catalogue accepts it only by name. Expressions also accept it by
 * position. Returns NULL if the argument needs no name. */
static const char *name_of_place(const cubed_function *f, int i)
{
    const cubed_param *p = cubed_function_param(f, i);
    for (int k = 0; k < i && k < f->nparams; k++) {
        if (f->params[k].flags & CUBED_PARAM_VARIADIC) return NULL;
    }
    const bool is_named = p && (p->flags & CUBED_PARAM_KEYWORD_ONLY);
    return is_named && !(p->flags & CUBED_PARAM_ENGINE) ? p->name : NULL;
}

static cubed_status make_arguments(expr_builder *b, arguments *a)
{
    for (int i = 0; i < a->call->n; i++, a->n++) {
        const expr *e = a->call->child[i];
        const bool is_named = e->kind == EXPR_KEYWORD;
        a->nodes[i] = is_named ? e->child[0] : e;
        if (!is_named) {
            a->list[i].name = name_of_place(a->function, i);
            continue;
        }
        const cubed_param *axes = is_axis_name(e->text) ? axis_param(a->function) : NULL;
        a->list[i].spelled = e->text;
        a->list[i].name = axes ? axes->name : e->text;
    }
    /* Build arrays before axes, whose names are looked up in the first array. */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < a->n; i++) {
            const cubed_param *p = param_of(a, i);
            if (p && !(p->flags & CUBED_PARAM_AXIS) == !pass) EXPR_TRY(put(b, a, i, p));
        }
    }
    return put_waiting(b, a);
}

/* --- Weights ------------------------------------------------------------------------------------------ */

/* Returns the value of the axes argument, or NULL if the call has none or it is None. */
static const cubed_value *axes_value(const arguments *a)
{
    const cubed_value *v = NULL;
    for (int i = 0; i < a->n; i++) {
        const cubed_param *p = param_of(a, i);
        if (p && (p->flags & CUBED_PARAM_AXIS)) v = &a->list[i].value;
    }
    return v && v->kind == CUBED_VALUE_NONE ? NULL : v;
}

/* Gets the axes that the call gives. Without such an argument, gets all axes. Returns the number of axes. */
static int get_axes(const arguments *a, int axes[CUBED_MAX_NDIM])
{
    const int ndim = cubed_array_ndim(a->like);
    const cubed_value *v = axes_value(a);
    const bool is_list = v && v->kind == CUBED_VALUE_INTS, is_one = v && v->kind == CUBED_VALUE_INT;
    const int n = is_list ? v->n : is_one ? 1 : ndim;
    for (int i = 0; i < n; i++) {
        const int64_t d = is_list ? v->as.ints[i] : is_one ? v->as.integer : i;
        axes[i] = (int)(d < 0 ? d + ndim : d);
    }
    return n;
}

/* If all dimension names of the weights occur in the first array, matches the axes of the weights by name. The weights then have
 * the extents along the axes of the call, or along all axes of the array if they vary along other axes. */
static cubed_status pair_weights(expr_builder *b, const arguments *a, const expr *e,
                                 cubed_array **w)
{
    const cubed_array *x = a->like;
    const int ndim = cubed_array_ndim(x), n = cubed_array_ndim(*w);
    int axes[CUBED_MAX_NDIM], order[CUBED_MAX_NDIM], at[CUBED_MAX_NDIM], naxes = get_axes(a, axes);
    int64_t wide[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
    uint32_t named = 0, covered = 0;
    cubed_array *moved = NULL, *long_form = NULL, *made = NULL;
    if (n == 0) return CUBED_OK;
    for (int d = 0; d < n; d++) {
        const int axis = lang_axis_named(x, cubed_array_dim_name(*w, d));
        if (axis < 0 || named >> axis & 1) return CUBED_OK;
        named |= UINT32_C(1) << axis;
        at[axis] = d;
    }
    for (int i = 0; i < naxes; i++) {
        if (axes[i] < 0 || axes[i] >= ndim) return CUBED_OK; /* refused later */
        covered |= UINT32_C(1) << axes[i];
    }
    if ((named & ~covered) != 0) {
        naxes = ndim;
        for (int i = 0; i < ndim; i++) axes[i] = i;
    }
    for (int i = 0, k = 0; i < naxes; i++) {
        const bool is_named = named >> axes[i] & 1;
        shape[i] = cubed_array_shape(x)[axes[i]];
        wide[i] = is_named ? cubed_array_shape(*w)[at[axes[i]]] : 1;
        if (is_named) order[k++] = at[axes[i]];
    }
    cubed_status st = cubed_permute_dims(*w, order, &moved, b->err);
    if (st == CUBED_OK) st = cubed_reshape(moved, naxes, wide, &long_form, b->err);
    if (st == CUBED_OK) st = cubed_broadcast_to(long_form, naxes, shape, &made, b->err);
    cubed_array_unref(moved);
    cubed_array_unref(long_form);
    if (st != CUBED_OK) return expr_located(b, e, st);
    cubed_array_unref(*w);
    *w = made;
    return CUBED_OK;
}

static cubed_status pair_all_weights(expr_builder *b, arguments *a)
{
    for (int i = 0; i < a->n && a->like; i++) {
        const cubed_param *p = param_of(a, i);
        cubed_value *v = &a->list[i].value;
        /* If a covariance is called without axes, its weights belong to rows or columns, so they are not matched by name. */
        const bool by_place = p && strcmp(p->name, "weights") != 0 && !axes_value(a);
        if (p && (p->flags & CUBED_PARAM_WEIGHTS) && v->kind == CUBED_VALUE_ARRAY && !by_place)
            EXPR_TRY(pair_weights(b, a, a->nodes[i] ? a->nodes[i] : a->call, &v->as.array));
    }
    return CUBED_OK;
}

/* --- Coordinates -------------------------------------------------------------------------------------- */

/* Sets marked[d] for each axis d of the first array that the value of parameter p selects. */
static void mark_axes(const arguments *a, const cubed_param *p, bool marked[CUBED_MAX_NDIM])
{
    const int ndim = cubed_array_ndim(a->like);
    const cubed_value *v = &p->fallback;
    for (int i = 0; i < a->call->n; i++) {
        if (param_of(a, i) == p) v = &a->list[i].value;
    }
    const bool is_all = v->kind == CUBED_VALUE_NONE, is_list = v->kind == CUBED_VALUE_INTS;
    for (int i = 0; i < (is_all ? ndim : is_list ? v->n : 1); i++) {
        const int64_t d = is_all ? i : is_list ? v->as.ints[i] : v->as.integer;
        marked[d < 0 ? d + ndim : d] = true;
    }
}

/* Sets marked[d] for each axis d for which argument number `first` + d is an array. */
static void mark_arrays(const arguments *a, int first, bool marked[CUBED_MAX_NDIM])
{
    for (int i = first; i < a->n && i - first < CUBED_MAX_NDIM; i++)
        marked[i - first] = a->list[i].value.kind == CUBED_VALUE_ARRAY;
}

/* Records which elements of the first array along axis d are in the result. The result has `left` elements along the axis. */
static void note_axis(expr_builder *b, const arguments *a, int d, int64_t left)
{
    const int64_t extent = cubed_array_shape(a->like)[d];
    const cubed_slice reversed = {extent - 1, extent, -1, false};
    const cubed_slice later = {extent - left, left, 1, false};
    switch (a->function->coords) {
    case CUBED_COORDS_REVERSED:
        if (extent > 1) expr_note_part(b, a->call, a->first, a->like, d, reversed);
        break;
    case CUBED_COORDS_LATER:
        if (left > 0 && left < extent)
            expr_note_part(b, a->call, a->first, a->like, d, later);
        else if (left != extent)
            expr_note_cut(b, a->call, a->like, d);
        break;
    default: expr_note_cut(b, a->call, a->like, d);
    }
}

static void note_resized(expr_builder *b, const arguments *a, const cubed_array *made)
{
    const int ndim = cubed_array_ndim(a->like), more = cubed_array_ndim(made) - ndim;
    for (int d = 0; d < ndim; d++) {
        if (d + more < 0 || cubed_array_shape(made)[d + more] != cubed_array_shape(a->like)[d])
            expr_note_cut(b, a->call, a->like, d);
    }
}

static void note_joined(expr_builder *b, const arguments *a, const bool axes[CUBED_MAX_NDIM])
{
    for (int i = 0; i < a->call->n; i++) {
        for (int d = 0; a->arrays[i] && d < cubed_array_ndim(a->like); d++) {
            const expr *e = a->nodes[i];
            if (axes[d])
                expr_note_joined(b, a->call, (const expr *const *)e->child, a->arrays[i], e->n, d);
        }
    }
}

/* Returns the value or default of the parameter `name`, or NULL if there is no such parameter. */
static const cubed_value *value_of(const arguments *a, const char *name)
{
    const cubed_function *f = a->function;
    for (int i = 0; i < a->n; i++) {
        const cubed_param *p = param_of(a, i);
        if (p && strcmp(p->name, name) == 0) return &a->list[i].value;
    }
    for (int i = 0; i < f->nparams; i++) {
        if (strcmp(f->params[i].name, name) == 0) return &f->params[i].fallback;
    }
    return NULL;
}

/* Returns number i of a list. A single number counts as a list of equal numbers. */
static int64_t item_of(const cubed_value *v, int i)
{
    return v->kind == CUBED_VALUE_INTS ? v->as.ints[i] : v->as.integer;
}

/* Records the windows of a rolling function, from which the coordinates of its result are derived. */
static void note_windows(expr_builder *b, const arguments *a)
{
    const cubed_value *window = value_of(a, "window"), *axis = value_of(a, "axis");
    const cubed_value *center = value_of(a, "center"), *after = value_of(a, "after");
    const int n = window->kind == CUBED_VALUE_INTS ? window->n : 1;
    for (int i = 0; i < n; i++) {
        const int64_t length = item_of(window, i), d = item_of(axis, i); /* None stands for 0 */
        int64_t behind = center->as.boolean ? (length - 1) / 2 : 0;
        if (after->kind != CUBED_VALUE_NONE) behind = item_of(after, i);
        expr_note_window(b, a->call, a->first, a->like,
                         (int)(d < 0 ? d + cubed_array_ndim(a->like) : d), length - 1 - behind,
                         behind);
    }
}

/* Records which coordinates describe the result of a call, by the rule in the function's row. */
static void note_coords(expr_builder *b, const arguments *a, const cubed_array *made)
{
    const cubed_function *f = a->function;
    bool axes[CUBED_MAX_NDIM] = {false}, has_axes = false;
    if (f->coords == CUBED_COORDS_KEEP || !a->like || made == a->like) return;
    if (f->coords == CUBED_COORDS_RESIZED) {
        note_resized(b, a, made);
        return;
    }
    if (f->coords == CUBED_COORDS_WINDOWS) {
        note_windows(b, a);
        return;
    }
    for (int k = 0; k < f->nparams; k++) {
        if (f->params[k].flags & CUBED_PARAM_AXIS)
            mark_axes(a, &f->params[k], axes);
        else if (f->params[k].flags & CUBED_PARAM_GAPS)
            mark_arrays(a, k, axes);
        else
            continue;
        has_axes = true;
    }
    if (f->coords == CUBED_COORDS_JOINED) {
        if (cubed_array_ndim(made) == cubed_array_ndim(a->like)) note_joined(b, a, axes);
        return;
    }
    for (int d = 0; d < cubed_array_ndim(a->like); d++) {
        const int64_t left = d < cubed_array_ndim(made) ? cubed_array_shape(made)[d] : 0;
        if (axes[d] || !has_axes) note_axis(b, a, d, left);
    }
}

/* Checks that the operands of an elementwise function agree in their dimension names. Operators have the same check. */
static cubed_status check_operands(expr_builder *b, const arguments *a)
{
    enum { MOST = 3 };
    cubed_array *x[MOST];
    int n = 0;
    if (strcmp(a->function->category, "elementwise") != 0) return CUBED_OK;
    for (int i = 0; i < a->n && n < MOST; i++) {
        if (a->list[i].value.kind == CUBED_VALUE_ARRAY) x[n++] = a->list[i].value.as.array;
    }
    return expr_check_dims(b, a->call, x, n);
}

/* Names the first axis of the result if the values of a list label it, as for quantiles and percentiles. The coordinate of the
 * axis is the list, divided by 100 for percentiles (by the maximum that the catalogue states for the parameter). */
static cubed_status name_labels(expr_builder *b, const arguments *a, cubed_array **made)
{
    for (int i = 0; i < a->call->n; i++) {
        const cubed_param *p = param_of(a, i);
        const cubed_value *v = &a->list[i].value;
        if (!(p->flags & CUBED_PARAM_LABELS) || v->kind != CUBED_VALUE_FLOATS) continue;
        double *q;
        EXPR_TRY(expr_alloc(b, a->call, v->n, sizeof *q, &q));
        for (int k = 0; k < v->n; k++) q[k] = v->as.reals[k] / p->most;
        const cubed_status st = expr_name_quantiles(b, a->call, q, v->n, a->like, NULL, made);
        lang_free(q);
        return st;
    }
    return CUBED_OK;
}

/* If a string resembles one of the parameter's choices without being one, rejects it and suggests that choice. cubed_call rejects
 * all other strings. */
static cubed_status check_choice(expr_builder *b, const arguments *a, int i)
{
    const cubed_param *p = param_of(a, i);
    const cubed_value *v = &a->list[i].value;
    lang_guess guess;
    char text[GUESS_TEXT], expected[512];
    if (!p || !p->choices || v->kind != CUBED_VALUE_STRING || accepts(p, CUBED_VALUE_STRING))
        return CUBED_OK;
    lang_guess_init(&guess, v->as.string);
    for (const cubed_choice *c = p->choices; c->name; c++) {
        if (strcmp(c->name, v->as.string) == 0) return CUBED_OK;
        lang_guess_try(&guess, c->name, strlen(c->name));
    }
    if (!guess.best[0]) return CUBED_OK;
    cubed_param_expected(p, expected, sizeof expected);
    return expr_fail(b->err, CUBED_E_ARG, b->text, (a->nodes[i] ? a->nodes[i] : a->call)->at,
                     "%s: %s is '%s'%s, expected %s", a->function->name, p->name, v->as.string,
                     lang_guess_text(&guess, text), expected);
}

/* Adds to an error the position of the argument that caused it, or of the call. Returns `st`. */
static cubed_status locate(expr_builder *b, const arguments *a, cubed_status st)
{
    const int wrong = st == CUBED_OK ? 0 : b->err->argument;
    return expr_located(b, wrong > 0 && a->nodes[wrong - 1] ? a->nodes[wrong - 1] : a->call, st);
}

static bool has_argument(const arguments *a, const char *name)
{
    for (int i = 0; i < a->call->n; i++) {
        const cubed_param *p = param_of(a, i);
        if (p && strcmp(p->name, name) == 0) return true;
    }
    return false;
}

/* Computes the number of elements of the results, unless the call passes it. */
static cubed_status add_count(expr_builder *b, arguments *a)
{
    cubed_array *offsets, *numbers;
    int64_t most, count;
    if (!a->function->counts || has_argument(a, "count")) return CUBED_OK;
    EXPR_TRY(locate(
        b, a, cubed_call_offsets(b->ctx, a->function, a->list, a->n, &offsets, &most, b->err)));
    if (!offsets) return CUBED_OK;
    EXPR_TRY(expr_count_now(b, a->call, offsets, most, &numbers, &count));
    a->list[a->n++] = (cubed_argument){.name = "offsets",
                                       .value = {.kind = CUBED_VALUE_ARRAY, .as.array = numbers}};
    a->list[a->n++] =
        (cubed_argument){.name = "count", .value = {.kind = CUBED_VALUE_INT, .as.integer = count}};
    return CUBED_OK;
}

/* Calls the function with the arguments in `a`. Errors show the position of a wrong argument. */
static cubed_status call_made(expr_builder *b, arguments *a, cubed_results *results)
{
    for (int i = 0; i < a->n; i++) EXPR_TRY(check_choice(b, a, i));
    add_task_mem(a, b->host->task_mem);
    EXPR_TRY(add_count(b, a));
    return locate(b, a, cubed_call(b->ctx, a->function, a->list, a->n, results, b->err));
}

cubed_status expr_call_function(expr_builder *b, const expr *e, const cubed_function *f,
                                cubed_results *results)
{
    arguments a;
    *results = (cubed_results){0, NULL};
    EXPR_TRY(check_names(b, f, e));
    cubed_status st = start(b, &a, f, e, 0);
    if (st == CUBED_OK) st = make_arguments(b, &a);
    if (st == CUBED_OK) st = pair_all_weights(b, &a);
    if (st == CUBED_OK) st = check_operands(b, &a);
    if (st == CUBED_OK) st = call_made(b, &a, results);
    if (st == CUBED_OK) {
        if (results->n > 0) note_coords(b, &a, results->arrays[0]);
        st = name_labels(b, &a, results->arrays);
        if (st != CUBED_OK) cubed_results_free(b->ctx, results);
    }
    end(&a);
    return st;
}

/* Appends an argument with a name. Its value is not set. */
static cubed_argument *add_argument(arguments *a, const char *name, const expr *e)
{
    a->nodes[a->n] = e;
    a->list[a->n].name = a->list[a->n].spelled = name;
    return &a->list[a->n++];
}

static bool is_given(const expr_given *given, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(given[i].name, name) == 0) return true;
    }
    return false;
}

static cubed_status make_given(expr_builder *b, arguments *a, const expr_given *given, int n)
{
    for (int i = 0; i < n; i++) {
        if (given[i].value.kind == CUBED_VALUE_NONE && !given[i].at) continue;
        cubed_argument *to = add_argument(a, given[i].name, given[i].at);
        to->value = given[i].value;
        if (to->value.kind == CUBED_VALUE_ARRAY) cubed_array_ref(to->value.as.array);
        if (to->value.kind == CUBED_VALUE_NONE)
            EXPR_TRY(put(b, a, a->n - 1, param_of(a, a->n - 1)));
    }
    for (int i = 0; i < a->call->n; i++) {
        const expr *e = a->call->child[i];
        if (e->kind != EXPR_KEYWORD || is_given(given, n, e->text)) continue;
        add_argument(a, e->text, e->child[0]);
        const cubed_param *p = param_of(a, a->n - 1);
        if (p) EXPR_TRY(put(b, a, a->n - 1, p));
        /* No parameter has the name of this keyword argument. The caller of expr_call_given reads the argument. */
        else
            a->n--;
    }
    return put_waiting(b, a);
}

cubed_status expr_call_given(expr_builder *b, const expr *e, const cubed_function *f,
                             const expr_given *given, int n, cubed_array **out)
{
    arguments a;
    cubed_results results;
    cubed_status st = start(b, &a, f, e, n);
    if (st == CUBED_OK) st = make_given(b, &a, given, n);
    if (st == CUBED_OK) st = call_made(b, &a, &results);
    if (st == CUBED_OK) {
        *out = results.arrays[0];
        results.arrays[0] = NULL;
        cubed_results_free(b->ctx, &results);
    }
    end(&a);
    return st;
}
