/* Expressions as strings (cubed/lang.h). */
#include <string.h>

#include "core.h"
#include "cubed/lang.h"

/* Arrays and callbacks that an expression may use. The GIL is released while the expression is built, and callbacks take it. */
typedef struct host {
    core_state *state;
    Py_ssize_t n;
    const char **name;
    cubed_array **array;
    bool *used;
    char *known; /* all names in one string, for messages */
    /* coordinate(name, of) -> Array or None; `of` is the array with the coordinate, or None */
    PyObject *coordinate;
    PyObject *count; /* count(number, array, most) -> (Array, last), as in cubed_expr_host */
    int ncounted;
} host;

static cubed_array *find(host *h, const char *name)
{
    for (Py_ssize_t i = 0; i < h->n; i++) {
        if (strcmp(h->name[i], name) != 0) continue;
        h->used[i] = true;
        return h->array[i];
    }
    return NULL;
}

static cubed_status lookup(void *ctx, const char *name, cubed_array **out, const char **known,
                           cubed_error *err)
{
    host *h = ctx;
    cubed_array *x = find(h, name);
    (void)err;
    *known = h->known;
    *out = x ? cubed_array_ref(x) : NULL;
    return CUBED_OK;
}

static cubed_status find_coordinate_of(void *ctx, const char *of, const char *name,
                                       cubed_array **out, cubed_error *err)
{
    host *h = ctx;
    cubed_array *given = find(h, name);
    *out = given ? cubed_array_ref(given) : NULL;
    if (given) return CUBED_OK;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *made = PyObject_CallFunction(h->coordinate, "sz", name, of);
    cubed_array *x = made && made != Py_None ? core_unwrap(h->state, made) : NULL;
    if (x) *out = cubed_array_ref(x);
    Py_XDECREF(made);
    const cubed_status st = PyErr_Occurred() ? core_catch(err) : CUBED_OK;
    PyGILState_Release(gil);
    return st;
}

static cubed_status find_coordinate(void *ctx, const char *name, cubed_array **out,
                                    cubed_error *err)
{
    return find_coordinate_of(ctx, NULL, name, out, err);
}

/* Parses a pair (array, last). */
static bool take_numbers(core_state *s, PyObject *pair, cubed_array **numbers, int64_t *last)
{
    PyObject *made;
    long long n;
    if (!core_is_tuple("count", pair) || !PyArg_ParseTuple(pair, "OL", &made, &n)) return false;
    cubed_array *x = core_unwrap(s, made);
    if (!x) return false;
    if (n < 0) {
        PyErr_Format(PyExc_ValueError, "eval: count is %lld, expected 0 or more", n);
        return false;
    }
    *numbers = cubed_array_ref(x);
    *last = n;
    return true;
}

static cubed_status count(void *ctx, cubed_array *x, int64_t most, cubed_array **numbers,
                          int64_t *last, cubed_error *err)
{
    host *h = ctx;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *wrapped = core_wrap(h->state, cubed_array_ref(x)), *made = NULL;
    if (wrapped)
        made = PyObject_CallFunction(h->count, "iOL", h->ncounted++, wrapped, (long long)most);
    const bool is_done = made && take_numbers(h->state, made, numbers, last);
    Py_XDECREF(made);
    Py_XDECREF(wrapped);
    const cubed_status st = is_done ? CUBED_OK : core_catch(err);
    PyGILState_Release(gil);
    return st;
}

/* Raises an error of the language with "eval: " in front of its message. Returns NULL. */
static PyObject *raise_located(const cubed_error *err)
{
    static const char where[] = "eval: ";
    cubed_error named = *err;
    const int room = (int)(sizeof named.message - sizeof where);
    if (err->status != CUBED_E_FUNCTION)
        snprintf(named.message, sizeof named.message, "%s%.*s", where, room, err->message);
    return core_raise(&named);
}

/* Joins names to "u, v"; "none" if there are no names. */
static char *join_names(PyObject *names)
{
    PyObject *comma = PyUnicode_FromString(", ");
    PyObject *text = comma ? PyUnicode_Join(comma, names) : NULL;
    Py_ssize_t size = 0;
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    char *out = utf8 ? PyMem_Calloc((size_t)size + sizeof "none", 1) : NULL;
    if (utf8 && !out) PyErr_NoMemory();
    if (out) memcpy(out, size ? utf8 : "none", size ? (size_t)size : sizeof "none");
    Py_XDECREF(text);
    Py_XDECREF(comma);
    return out;
}

static void free_host(host *h)
{
    PyMem_Free(h->name);
    PyMem_Free(h->array);
    PyMem_Free(h->used);
    PyMem_Free(h->known);
}

/* Gets the arrays and names of two tuples, which must outlive *h. Returns false with an exception set. The caller frees *h in any
 * case. */
static bool take_arrays(PyObject *names, PyObject *arrays, host *h)
{
    h->n = PyTuple_Size(names);
    if (h->n < 0 || PyTuple_Size(arrays) != h->n) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "eval: names and arrays differ in number");
        return false;
    }
    h->name = PyMem_Calloc((size_t)h->n + 1, sizeof *h->name);
    h->array = PyMem_Calloc((size_t)h->n + 1, sizeof *h->array);
    h->used = PyMem_Calloc((size_t)h->n + 1, sizeof *h->used);
    if (!h->name || !h->array || !h->used) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < h->n; i++) {
        h->name[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), NULL);
        h->array[i] = h->name[i] ? core_unwrap(h->state, PyTuple_GetItem(arrays, i)) : NULL;
        if (!h->array[i]) return false;
    }
    return (h->known = join_names(names)) != NULL;
}

static bool all_used(const host *h)
{
    for (Py_ssize_t i = 0; i < h->n; i++) {
        if (h->used[i]) continue;
        PyErr_Format(PyExc_ValueError,
                     "eval: the expression does not use the array \"%s\"; leave it out",
                     h->name[i]);
        return false;
    }
    return true;
}

/* Returns a new reference to an array, or to None if it is NULL. */
static PyObject *array_or_none(core_state *s, cubed_array *x)
{
    return x ? core_wrap(s, cubed_array_ref(x)) : Py_NewRef(Py_None);
}

/* Returns (dimension, first, length, step, whole, described, made) for the coordinate of an axis of a result. Returns None if the
 * coordinate is the input's. */
static PyObject *coordinate_of(core_state *s, const cubed_expr_result *r, int d)
{
    const char *dim = cubed_array_dim_name(r->array, d);
    const cubed_expr_coord *c = dim ? cubed_expr_result_coord(r, dim) : NULL;
    if (!c) return Py_NewRef(Py_None);
    PyObject *made = array_or_none(s, c->made);
    if (!made) return NULL;
    return Py_BuildValue("(sLLLLNN)", dim, (long long)c->part.start, (long long)c->part.len,
                         (long long)c->part.step, (long long)c->whole, PyBool_FromLong(!c->cut),
                         made);
}

/* Returns the coordinates of all axes of a result. */
static PyObject *coordinates_of(core_state *s, const cubed_expr_result *r)
{
    const int ndim = cubed_array_ndim(r->array);
    PyObject *tuple = PyTuple_New(ndim);
    for (int d = 0; d < ndim && tuple; d++) {
        PyObject *item = coordinate_of(s, r, d);
        if (!item || PyTuple_SetItem(tuple, d, item) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

/* Returns the arrays of all results, and their coordinates. */
static PyObject *pair_of(core_state *s, const cubed_expr_results *r)
{
    const int n = cubed_expr_results_count(r);
    PyObject *arrays = PyTuple_New(n), *coordinates = PyTuple_New(n);
    for (int i = 0; i < n && arrays && coordinates; i++) {
        const cubed_expr_result *one = cubed_expr_results_at(r, i);
        PyObject *item = core_wrap(s, cubed_array_ref(one->array));
        if (!item || PyTuple_SetItem(arrays, i, item) < 0) Py_CLEAR(arrays);
        item = coordinates_of(s, one);
        if (!item || PyTuple_SetItem(coordinates, i, item) < 0) Py_CLEAR(coordinates);
    }
    PyObject *pair = arrays && coordinates ? PyTuple_Pack(2, arrays, coordinates) : NULL;
    Py_XDECREF(arrays);
    Py_XDECREF(coordinates);
    return pair;
}

static PyObject *eval(PyObject *module, PyObject *args)
{
    const char *text;
    PyObject *names, *arrays, *made = NULL;
    unsigned long long task_mem;
    int named;
    host h = {.state = core_get_state(module)};
    cubed_expr *expr = NULL;
    cubed_expr_results *results = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st;
    if (!PyArg_ParseTuple(args, "sOOOOKp", &text, &names, &arrays, &h.coordinate, &h.count,
                          &task_mem, &named))
        return NULL;
    if (!core_is_tuple("names", names) || !core_is_tuple("arrays", arrays)) return NULL;
    if (!take_arrays(names, arrays, &h)) goto out;
    const cubed_expr_host functions = {.lookup = lookup,
                                       .ctx = &h,
                                       .raw = true,
                                       .named = named,
                                       .task_mem = task_mem,
                                       .count = count,
                                       .count_ctx = &h,
                                       .coordinate = find_coordinate,
                                       .coordinate_of = find_coordinate_of};
    cubed_context *ctx = core_context(h.state);
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_expr_parse(text, &expr, &err);
    if (st == CUBED_OK) st = cubed_expr_build(expr, ctx, &functions, &results, &err);
    Py_END_ALLOW_THREADS;
    if (st != CUBED_OK)
        raise_located(&err);
    else if (all_used(&h))
        made = pair_of(h.state, results);
out:
    cubed_expr_results_free(results);
    cubed_expr_free(expr);
    free_host(&h);
    return made;
}

static PyObject *eval_names(PyObject *module, PyObject *object)
{
    cubed_expr *expr;
    cubed_error err = CUBED_ERROR_INIT;
    const char *text = PyUnicode_AsUTF8AndSize(object, NULL);
    (void)module;
    if (!text) return NULL;
    if (cubed_expr_parse(text, &expr, &err) != CUBED_OK) return raise_located(&err);
    const char *twice = cubed_expr_repeated(expr), *name;
    PyObject *list = twice ? NULL : PyList_New(0);
    if (twice)
        PyErr_Format(PyExc_ValueError,
                     "eval: the name \"%s\" has two values, of which only the last would be a "
                     "result: give each its own name, or one that starts with _",
                     twice);
    bool is_bare;
    for (int i = 0; list && (name = cubed_expr_name(expr, i, &is_bare)) != NULL; i++) {
        PyObject *item = Py_BuildValue("(sN)", name, PyBool_FromLong(is_bare));
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    cubed_expr_free(expr);
    return list;
}

PyMethodDef core_eval_methods[] = {
    {"eval", eval, METH_VARARGS,
     "eval(text: str, names: tuple[str, ...], arrays: tuple[Array, ...], coordinate: "
     "Callable[[str, str | None], Array | None], count: "
     "Callable[[int, Array, int], tuple[Array, int]], "
     "task_mem: int, named: bool, /) -> "
     "tuple[tuple[Array, ...], tuple[tuple[ExpressionCoordinate | None, ...], ...]]"},
    {"eval_names", eval_names, METH_O, "eval_names(text: str, /) -> list[tuple[str, bool]]"},
    {NULL, NULL, 0, NULL},
};
