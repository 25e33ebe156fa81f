/* Calls functions of the catalogue. Converts Python objects to checked values. */
#include "core.h"

#include <string.h>

/* Memory of a list, in front of its items. */
typedef struct room {
    struct room *next;
    PyObject *owner; /* tuple with references to the objects of the items */
} room;

/* Values of a call, and memory of their lists. */
typedef struct taken {
    cubed_argument arguments[CUBED_MAX_PARAMS];
    room *rooms;
} taken;

/* Allocates memory for n items of a list. Takes the reference `owner`, which may be NULL, and keeps it as long as the memory. */
static void *list_room(taken *t, Py_ssize_t n, size_t size, PyObject *owner)
{
    room *made = PyMem_Calloc(1, sizeof *made + (size_t)n * size);
    if (!made) {
        Py_XDECREF(owner);
        return PyErr_NoMemory();
    }
    *made = (room){t->rooms, owner};
    t->rooms = made;
    return made + 1;
}

static void free_rooms(taken *t)
{
    while (t->rooms) {
        room *first = t->rooms;
        t->rooms = first->next;
        Py_XDECREF(first->owner);
        PyMem_Free(first);
    }
}

static bool accepts(const cubed_param *p, cubed_value_kind kind)
{
    return (p->accepts >> kind & 1) != 0;
}

static bool refuse(const cubed_function *f, const cubed_param *p, PyObject *object)
{
    char expected[512];
    cubed_param_expected(p, expected, sizeof expected);
    PyErr_Format(PyExc_TypeError, "%s: %s is %R, expected %s", f->name, p->name, object, expected);
    return false;
}

/* --- Numbers ------------------------------------------------------------------------------------------ */

/* Converts an integer. If it does not fit in int64, it becomes a float if the parameter accepts one. */
static bool take_integer(const cubed_param *p, PyObject *number, cubed_value *v)
{
    int overflow;
    const long long i = PyLong_AsLongLongAndOverflow(number, &overflow);
    *v = (cubed_value){.kind = CUBED_VALUE_INT, .as.integer = i};
    if (overflow == 0) return !PyErr_Occurred();
    if (!accepts(p, CUBED_VALUE_FLOAT)) {
        PyErr_Format(PyExc_OverflowError, "%s is %S, expected a 64-bit integer", p->name, number);
        return false;
    }
    *v = (cubed_value){.kind = CUBED_VALUE_FLOAT, .as.real = PyFloat_AsDouble(number)};
    return !PyErr_Occurred();
}

/* Returns true if the value of an object is available without computation. Arrays of libraries other than NumPy may be lazy. */
static bool is_plain(PyObject *object)
{
    if (!PyObject_HasAttrString(object, "shape")) return true;
    PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__module__");
    const bool plain =
        module && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "numpy") == 0;
    Py_XDECREF(module);
    PyErr_Clear();
    return plain;
}

/* Returns true if an object has a length. A list is not a number, even if it has one element. */
static bool has_length(PyObject *object)
{
    const bool has = PyObject_Size(object) >= 0;
    PyErr_Clear();
    return has;
}

/* Returns a new reference: to the Python number of a NumPy scalar or array without axes, otherwise to the object itself. */
static PyObject *python_number(PyObject *object)
{
    PyObject *item =
        PyObject_HasAttrString(object, "shape") ? PyObject_CallMethod(object, "item", NULL) : NULL;
    PyErr_Clear();
    return item ? item : Py_NewRef(object);
}

/* Converts a Python number. Sets *is_number to false if the object is not a number. */
static bool take_python_number(const cubed_param *p, PyObject *object, cubed_value *v,
                               bool *is_number)
{
    *is_number = true;
    if (PyBool_Check(object)) {
        *v = (cubed_value){.kind = CUBED_VALUE_BOOL, .as.boolean = object == Py_True};
    } else if (PyLong_Check(object)) {
        return take_integer(p, object, v);
    } else if (PyFloat_Check(object)) {
        *v = (cubed_value){.kind = CUBED_VALUE_FLOAT, .as.real = PyFloat_AsDouble(object)};
    } else if (PyComplex_Check(object)) {
        *v = (cubed_value){
            .kind = CUBED_VALUE_COMPLEX,
            .as.complex_parts = {PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)}};
    } else {
        *is_number = false;
    }
    return true;
}

/* Converts a NumPy scalar or another object that is a number. Sets *is_number to false if the object is not a number. */
static bool take_other_number(const cubed_param *p, PyObject *object, cubed_value *v,
                              bool *is_number)
{
    *is_number = is_plain(object) && !has_length(object);
    if (!*is_number) return true;
    PyObject *number = python_number(object);
    bool done = take_python_number(p, number, v, is_number);
    if (!*is_number && PyIndex_Check(number)) {
        PyObject *index = PyNumber_Index(number);
        Py_DECREF(number);
        number = index;
        *is_number = number != NULL;
        done = !number || take_integer(p, number, v);
    } else if (!*is_number && PyObject_HasAttrString(number, "__float__")) {
        *v = (cubed_value){.kind = CUBED_VALUE_FLOAT, .as.real = PyFloat_AsDouble(number)};
        *is_number = !PyErr_Occurred();
    }
    if (!*is_number) PyErr_Clear();
    Py_XDECREF(number);
    return done;
}

/* --- Lists -------------------------------------------------------------------------------------------- */

static bool take_arrays(core_state *s, taken *t, const cubed_param *p, PyObject *list,
                        cubed_value *v)
{
    const Py_ssize_t n = PyTuple_Size(list);
    cubed_array **arrays = list_room(t, n, sizeof *arrays, Py_NewRef(list));
    if (!arrays) return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GetItem(list, i);
        if (item == Py_None && (p->flags & CUBED_PARAM_GAPS)) continue; /* NULL */
        if (!(arrays[i] = core_unwrap(s, item))) return false;
    }
    *v = (cubed_value){.kind = CUBED_VALUE_ARRAYS, .n = (int)n, .as.arrays = arrays};
    return true;
}

static bool take_floats(taken *t, PyObject *list, cubed_value *v)
{
    const Py_ssize_t n = PyTuple_Size(list);
    double *reals = list_room(t, n, sizeof *reals, NULL);
    if (!reals) return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GetItem(list, i);
        if (!is_plain(item))
            PyErr_SetString(PyExc_TypeError, "not a number");
        else
            reals[i] = PyFloat_AsDouble(item);
        if (PyErr_Occurred()) return false;
    }
    *v = (cubed_value){.kind = CUBED_VALUE_FLOATS, .n = (int)n, .as.reals = reals};
    return true;
}

static bool take_ints(taken *t, PyObject *list, cubed_value *v)
{
    const Py_ssize_t n = PyTuple_Size(list);
    int64_t *ints = list_room(t, n, sizeof *ints, NULL);
    if (!ints) return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GetItem(list, i);
        if (!is_plain(item)) PyErr_SetString(PyExc_TypeError, "not an integer");
        PyObject *number = PyErr_Occurred() ? NULL : PyNumber_Index(item);
        ints[i] = number ? PyLong_AsLongLong(number) : -1;
        Py_XDECREF(number);
        if (PyErr_Occurred()) return false;
    }
    *v = (cubed_value){.kind = CUBED_VALUE_INTS, .n = (int)n, .as.ints = ints};
    return true;
}

/* Converts an item of a list that is nested in `deep` other lists. */
static bool take_item(taken *t, const cubed_param *p, PyObject *item, int deep, cubed_value *v);

/* Maximum nesting of lists. The catalogue needs less. */
enum { MOST_DEEP = 8 };

static bool take_items(taken *t, const cubed_param *p, PyObject *object, int deep, cubed_value *v)
{
    PyObject *list = deep < MOST_DEEP ? PySequence_Tuple(object) : NULL;
    if (!list) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "lists within lists");
        return false;
    }
    const Py_ssize_t n = PyTuple_Size(list);
    cubed_value *items = list_room(t, n, sizeof *items, list);
    if (!items) return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!take_item(t, p, PyTuple_GetItem(list, i), deep + 1, &items[i])) return false;
    }
    *v = (cubed_value){.kind = CUBED_VALUE_LIST, .n = (int)n, .as.items = items};
    return true;
}

static bool take_item(taken *t, const cubed_param *p, PyObject *item, int deep, cubed_value *v)
{
    bool is_number;
    *v = (cubed_value){.kind = CUBED_VALUE_NONE};
    if (item == Py_None) return true;
    if (PyUnicode_Check(item)) {
        v->kind = CUBED_VALUE_STRING;
        return (v->as.string = PyUnicode_AsUTF8AndSize(item, NULL)) != NULL;
    }
    if (!take_python_number(p, item, v, &is_number)) return false;
    if (is_number) return true;
    if (!take_other_number(p, item, v, &is_number)) return false;
    if (is_number) return true;
    if (PySequence_Check(item) && is_plain(item)) return take_items(t, p, item, deep, v);
    PyErr_SetString(PyExc_TypeError, "not a number");
    return false;
}

static bool take_ints_or_items(taken *t, const cubed_param *p, PyObject *list, cubed_value *v)
{
    if (accepts(p, CUBED_VALUE_INTS) && take_ints(t, list, v)) return true;
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return false;
    PyErr_Clear();
    return take_items(t, p, list, 0, v);
}

static bool take_list(core_state *s, taken *t, const cubed_function *f, const cubed_param *p,
                      PyObject *object, cubed_value *v)
{
    PyObject *list = PySequence_Tuple(object);
    bool done;
    if (!list) return false;
    if (PyTuple_Size(list) > INT32_MAX)
        done = refuse(f, p, object);
    else if (accepts(p, CUBED_VALUE_ARRAYS))
        done = take_arrays(s, t, p, list, v);
    else if (accepts(p, CUBED_VALUE_LIST))
        done = take_ints_or_items(t, p, list, v);
    else if (accepts(p, CUBED_VALUE_FLOATS))
        done = take_floats(t, list, v);
    else if (accepts(p, CUBED_VALUE_INTS))
        done = take_ints(t, list, v);
    else
        done = refuse(f, p, object);
    Py_DECREF(list);
    if (!done && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        return refuse(f, p, object);
    }
    return done;
}

/* --- Slices ------------------------------------------------------------------------------------------- */

/* Converts a part of a slice. Sets *out to NULL for None. */
static bool take_bound(PyObject *slice, const char *name, int64_t *to, const int64_t **out)
{
    PyObject *bound = PyObject_GetAttrString(slice, name), *number = NULL;
    const bool is_none = bound == Py_None;
    if (bound && !is_none) number = PyNumber_Index(bound);
    if (number) *to = PyLong_AsLongLong(number);
    *out = number ? to : NULL;
    Py_XDECREF(number);
    Py_XDECREF(bound);
    return !PyErr_Occurred();
}

static bool take_slice(taken *t, PyObject *object, cubed_value *v)
{
    typedef struct parts {
        cubed_slice_bounds bounds;
        int64_t numbers[3];
    } parts;
    parts *made = list_room(t, 1, sizeof *made, NULL);
    if (!made || !take_bound(object, "start", &made->numbers[0], &made->bounds.start) ||
        !take_bound(object, "stop", &made->numbers[1], &made->bounds.stop) ||
        !take_bound(object, "step", &made->numbers[2], &made->bounds.step))
        return false;
    *v = (cubed_value){.kind = CUBED_VALUE_SLICE, .as.slice = &made->bounds};
    return true;
}

/* --- Calls -------------------------------------------------------------------------------------------- */

static bool take(core_state *s, taken *t, const cubed_function *f, const cubed_param *p,
                 PyObject *object, cubed_value *v)
{
    bool is_number;
    *v = (cubed_value){.kind = CUBED_VALUE_NONE};
    if (object == Py_None) return true;
    if (PyObject_TypeCheck(object, s->array_type)) {
        *v = (cubed_value){.kind = CUBED_VALUE_ARRAY, .as.array = ((core_array *)object)->x};
        return true;
    }
    if (!take_python_number(p, object, v, &is_number)) return false;
    if (is_number) return true;
    if (PyUnicode_Check(object)) {
        v->kind = CUBED_VALUE_STRING;
        return (v->as.string = PyUnicode_AsUTF8AndSize(object, NULL)) != NULL;
    }
    if (PyTuple_Check(object) || PyList_Check(object)) return take_list(s, t, f, p, object, v);
    if (PySlice_Check(object)) return take_slice(t, object, v);
    if (!take_other_number(p, object, v, &is_number)) return false;
    if (is_number) return true;
    if (PySequence_Check(object) && has_length(object) && is_plain(object))
        return take_list(s, t, f, p, object, v);
    return refuse(f, p, object);
}

/* Wraps the results, and takes ownership of their references. Returns one array, or a tuple if the function has several results
 * or any number of them. */
static PyObject *wrap_results(PyObject *module, const cubed_function *f, cubed_results *results)
{
    core_state *s = core_get_state(module);
    const bool is_one = !f->results[0] && !f->any_results;
    PyObject *tuple = is_one ? NULL : PyTuple_New(results->n), *one = NULL;
    for (int i = 0; i < results->n && (is_one || tuple); i++) {
        one = core_wrap(s, results->arrays[i]);
        results->arrays[i] = NULL;
        if (!is_one && (!one || PyTuple_SetItem(tuple, i, one) < 0)) Py_CLEAR(tuple);
    }
    cubed_results_free(s->ctx, results);
    return is_one ? one : tuple;
}

/* Converts the arguments of a call to values. The caller frees them with free_rooms in any case. Returns false after an error. */
static bool take_all(core_state *s, PyObject *args, Py_ssize_t at, const cubed_function **function,
                     taken *t)
{
    const Py_ssize_t n = PyTuple_Size(args) - 1 - at;
    const char *called = n < 0 ? NULL : PyUnicode_AsUTF8AndSize(PyTuple_GetItem(args, 0), NULL);
    const char *name = called ? PyUnicode_AsUTF8AndSize(PyTuple_GetItem(args, at), NULL) : NULL;
    if (n < 0) PyErr_SetString(PyExc_TypeError, "call: the name of a function is missing");
    if (!name) return false;
    const cubed_function *f = *function = cubed_function_find(name);
    if (!f) return core_unknown("name", name, "a function of the catalogue") != NULL;
    if (n > f->nparams) {
        PyErr_Format(PyExc_TypeError, "%s: there are %zd values, expected at most %d", called, n,
                     f->nparams);
        return false;
    }
    cubed_function shown = *f;
    shown.name = called;
    for (int i = 0; i < n; i++) {
        const cubed_param *p = &f->params[i];
        cubed_argument *a = &t->arguments[i];
        a->spelled = p->name;
        if (!(p->flags & CUBED_PARAM_POSITION_ONLY)) a->name = p->name;
        if (!take(s, t, &shown, p, PyTuple_GetItem(args, at + 1 + i), &a->value)) return false;
    }
    return true;
}

/* Replaces the name of a row at the start of a message by the name that the user called. */
static void name_called(const char *row, const char *called, cubed_error *err)
{
    const size_t n = strlen(row), name = strlen(called);
    char rest[sizeof err->message];
    if (strncmp(err->message, row, n) != 0 || !strchr(": ", err->message[n])) return;
    memcpy(rest, err->message + n, sizeof rest - n);
    if (name >= sizeof err->message) return;
    memcpy(err->message, called, name);
    memcpy(err->message + name, rest, sizeof err->message - (name > n ? name : n));
    err->message[sizeof err->message - 1] = '\0';
}

/* Calls the row whose name is argument `at`. Errors have the name in argument 0. */
static PyObject *call_row(PyObject *module, PyObject *args, Py_ssize_t at)
{
    core_state *s = core_get_state(module);
    const cubed_function *f;
    PyObject *made = NULL;
    taken t = {.rooms = NULL};
    cubed_results results;
    cubed_error err = CUBED_ERROR_INIT;
    if (take_all(s, args, at, &f, &t)) {
        const int n = (int)(PyTuple_Size(args) - 1 - at);
        if (cubed_call(s->ctx, f, t.arguments, n, &results, &err) == CUBED_OK) {
            made = wrap_results(module, f, &results);
        } else {
            const char *called = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(args, 0), NULL);
            if (at > 0 && called) name_called(f->name, called, &err);
            core_raise(&err);
        }
    }
    free_rooms(&t);
    return made;
}

static PyObject *call(PyObject *module, PyObject *args) { return call_row(module, args, 0); }

static PyObject *call_as(PyObject *module, PyObject *args) { return call_row(module, args, 1); }

static PyObject *call_offsets(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    const cubed_function *f;
    PyObject *made = NULL;
    taken t = {.rooms = NULL};
    cubed_array *offsets;
    int64_t most = 0;
    cubed_error err = CUBED_ERROR_INIT;
    if (take_all(s, args, 0, &f, &t)) {
        const int n = (int)PyTuple_Size(args) - 1;
        if (cubed_call_offsets(s->ctx, f, t.arguments, n, &offsets, &most, &err) == CUBED_OK)
            made = Py_BuildValue("(NL)", offsets ? core_wrap(s, offsets) : Py_NewRef(Py_None),
                                 (long long)most);
        else
            core_raise(&err);
    }
    free_rooms(&t);
    return made;
}

PyMethodDef core_call_methods[] = {
    {"call", call, METH_VARARGS,
     "call(name: str, /, *values: Any) -> Any\n"
     "Calls a function of the catalogue with the values of its parameters, in their order. "
     "Parameters without a value have their defaults."},
    {"call_as", call_as, METH_VARARGS,
     "call_as(called: str, name: str, /, *values: Any) -> Any\n"
     "Like call, but errors begin with `called` instead of the name of the function."},
    {"call_offsets", call_offsets, METH_VARARGS,
     "call_offsets(name: str, /, *values: Any) -> tuple[Array | None, int]\n"
     "The offsets to compute before a call of a function that counts (None: nothing), and the "
     "greatest number of elements that is expected."},
    {NULL, NULL, 0, NULL},
};
