/* Arrays that can be recreated for another allowed_mem.
 *
 * Some functions divide arrays according to the memory of tasks, which is a TaskMem among their arguments. Their arrays, and all
 * arrays that are computed from these, keep the call that made them: their recipe. If a plan is refused, such arrays are
 * recreated to find out whether another allowed_mem is enough (core_remake). */
#include "core.h"

/* Maximum nesting of containers in arguments that are searched for arrays. */
#define MOST_LEVELS 4

/* --- The memory of tasks ---------------------------------------------------------------------------------- */

static PyType_Slot task_mem_slots[] = {
    {Py_tp_doc, "The part of allowed_mem, in bytes, that is left for the data of a task."},
    {0, NULL},
};

PyType_Spec core_task_mem_spec = {
    .name = "cubed._core.TaskMem",
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = task_mem_slots,
};

/* --- Functions that keep their calls ----------------------------------------------------------------------- */

typedef struct recorder {
    PyObject_HEAD PyObject *function;
    /* the module's state, which exists as long as the function, because the function holds the module */
    core_state *state;
} recorder;

static bool depends(const core_state *s, PyObject *value, int level)
{
    const PyTypeObject *type = Py_TYPE(value);
    if (type == s->array_type) return ((core_array *)value)->recipe != NULL;
    if (type == s->task_mem_type) return true;
    if (level == MOST_LEVELS) return false;
    if (PyTuple_Check(value)) {
        for (Py_ssize_t i = 0, n = PyTuple_Size(value); i < n; i++) {
            if (depends(s, PyTuple_GetItem(value, i), level + 1)) return true;
        }
    } else if (PyList_Check(value)) {
        for (Py_ssize_t i = 0, n = PyList_Size(value); i < n; i++) {
            if (depends(s, PyList_GetItem(value, i), level + 1)) return true;
        }
    }
    return false;
}

/* Sets the recipe of an array that has none. */
static void keep(const core_state *s, PyObject *made, PyObject *call, int index)
{
    core_array *a = (core_array *)made;
    if (Py_TYPE(made) != s->array_type || a->recipe) return;
    a->recipe = Py_NewRef(call);
    a->output = index;
}

static PyObject *new_call(PyObject *function, PyObject *args, PyObject *kwargs)
{
    return PyTuple_Pack(3, function, args, kwargs ? kwargs : Py_None);
}

static PyObject *call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    const recorder *r = (recorder *)self;
    PyObject *made = PyObject_Call(r->function, args, kwargs);
    if (!made || !depends(r->state, args, 0)) return made;
    PyObject *how = new_call(r->function, args, kwargs);
    if (!how) {
        Py_DECREF(made);
        return NULL;
    }
    keep(r->state, made, how, -1);
    for (Py_ssize_t i = 0, n = PyTuple_Check(made) ? PyTuple_Size(made) : 0; i < n; i++)
        keep(r->state, PyTuple_GetItem(made, i), how, (int)i);
    Py_DECREF(how);
    return made;
}

static PyObject *get_attribute(PyObject *self, PyObject *name)
{
    return PyObject_GetAttr(((recorder *)self)->function, name);
}

static PyObject *represent(PyObject *self) { return PyObject_Repr(((recorder *)self)->function); }

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((recorder *)self)->function);
    return 0;
}

static int clear(PyObject *self)
{
    Py_CLEAR(((recorder *)self)->function);
    return 0;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyType_Slot recorder_slots[] = {
    {Py_tp_call, call},
    {Py_tp_getattro, get_attribute},
    {Py_tp_repr, represent},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_dealloc, dealloc},
    {0, NULL},
};

PyType_Spec core_recorder_spec = {
    .name = "cubed._core.Function",
    .basicsize = sizeof(recorder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = recorder_slots,
};

bool core_record_calls(PyObject *module, const PyMethodDef *methods)
{
    core_state *s = core_get_state(module);
    allocfunc alloc = (allocfunc)PyType_GetSlot(s->recorder_type, Py_tp_alloc);
    for (; methods->ml_name; methods++) {
        PyObject *function = PyObject_GetAttrString(module, methods->ml_name);
        recorder *r = function ? (recorder *)alloc(s->recorder_type, 0) : NULL;
        if (!r) {
            Py_XDECREF(function);
            return false;
        }
        r->function = function;
        r->state = s;
        const int added = PyObject_SetAttrString(module, methods->ml_name, (PyObject *)r);
        Py_DECREF(r);
        if (added < 0) return false;
    }
    return true;
}

/* --- Python functions of this module ---------------------------------------------------------------------- */

/* Returns a new reference to an array that has its own recipe. The result of a function may be one of its arguments, whose recipe
 * stays: a recipe that contained its own array could never end. */
static PyObject *with_recipe(core_state *s, PyObject *made, PyObject *call, int index)
{
    cubed_array *x = core_unwrap(s, made);
    PyObject *out = x ? core_wrap(s, cubed_array_ref(x)) : NULL;
    if (out) keep(s, out, call, index);
    return out;
}

static PyObject *all_with_recipe(core_state *s, PyObject *made, PyObject *call)
{
    if (!PyTuple_Check(made)) return with_recipe(s, made, call, -1);
    PyObject *out = PyTuple_New(PyTuple_Size(made));
    for (Py_ssize_t i = 0; out && i < PyTuple_Size(made); i++) {
        PyObject *item = with_recipe(s, PyTuple_GetItem(made, i), call, (int)i);
        if (!item || PyTuple_SetItem(out, i, item) < 0) Py_CLEAR(out);
    }
    return out;
}

static PyObject *record(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    if (PyTuple_Size(args) < 1) {
        PyErr_SetString(PyExc_TypeError, "record: expected a function and its arguments");
        return NULL;
    }
    PyObject *function = PyTuple_GetItem(args, 0), *out = NULL;
    PyObject *rest = PyTuple_GetSlice(args, 1, PyTuple_Size(args));
    PyObject *made = rest ? PyObject_CallObject(function, rest) : NULL;
    if (made && depends(s, rest, 0)) {
        PyObject *how = new_call(function, rest, NULL);
        if (how) out = all_with_recipe(s, made, how);
        Py_XDECREF(how);
    } else {
        out = Py_XNewRef(made);
    }
    Py_XDECREF(made);
    Py_XDECREF(rest);
    return out;
}

/* --- Recipes ----------------------------------------------------------------------------------------------- */

/* Repeats calls, each once. Chains of calls may be longer than the C stack, so waiting calls are in a list. */
typedef struct remaker {
    core_state *state;
    PyObject *task_mem;
    PyObject *made;    /* dict: results by the address of their call, which the arrays keep alive */
    PyObject *waiting; /* list of calls; the calls that a call needs are after it */
} remaker;

static PyObject *result_of(const remaker *r, PyObject *call)
{
    PyObject *key = PyLong_FromVoidPtr(call);
    PyObject *found = key ? PyDict_GetItemWithError(r->made, key) : NULL;
    Py_XDECREF(key);
    return found;
}

/* Adds the calls that the arrays in a value need and that were not repeated yet. */
static bool wait_for_calls(const remaker *r, PyObject *value, int level)
{
    PyObject *key, *item;
    Py_ssize_t at = 0;
    if (Py_TYPE(value) == r->state->array_type) {
        PyObject *call = ((core_array *)value)->recipe;
        if (!call || result_of(r, call)) return !PyErr_Occurred();
        return PyList_Append(r->waiting, call) == 0;
    }
    if (level == MOST_LEVELS) return true;
    bool ok = true;
    if (PyTuple_CheckExact(value)) {
        for (Py_ssize_t i = 0, n = PyTuple_Size(value); i < n && ok; i++)
            ok = wait_for_calls(r, PyTuple_GetItem(value, i), level + 1);
    } else if (PyList_CheckExact(value)) {
        for (Py_ssize_t i = 0; i < PyList_Size(value) && ok; i++)
            ok = wait_for_calls(r, PyList_GetItem(value, i), level + 1);
    } else if (PyDict_CheckExact(value)) {
        while (ok && PyDict_Next(value, &at, &key, &item)) ok = wait_for_calls(r, item, level + 1);
    }
    return ok;
}

static PyObject *remade(const remaker *r, PyObject *value, int level);

static PyObject *remade_array(const remaker *r, PyObject *object)
{
    const core_array *a = (core_array *)object;
    PyObject *made = a->recipe ? result_of(r, a->recipe) : object;
    if (made && a->recipe && a->output >= 0)
        made = PyTuple_Check(made) ? PyTuple_GetItem(made, a->output)
                                   : PyList_GetItem(made, a->output);
    return Py_XNewRef(made);
}

static PyObject *remade_dict(const remaker *r, PyObject *dict, int level)
{
    PyObject *out = PyDict_New(), *key, *item;
    Py_ssize_t at = 0;
    while (out && PyDict_Next(dict, &at, &key, &item)) {
        PyObject *part = remade(r, item, level);
        if (!part || PyDict_SetItem(out, key, part) < 0) Py_CLEAR(out);
        Py_XDECREF(part);
    }
    return out;
}

static PyObject *remade_list(const remaker *r, PyObject *list, int level)
{
    PyObject *out = PyList_New(0);
    for (Py_ssize_t i = 0, n = PySequence_Size(list); out && i < n; i++) {
        PyObject *item = PySequence_GetItem(list, i), *part = item ? remade(r, item, level) : NULL;
        if (!part || PyList_Append(out, part) < 0) Py_CLEAR(out);
        Py_XDECREF(part);
        Py_XDECREF(item);
    }
    return out;
}

/* Returns a new reference to a value in which arrays are recreated and the TaskMem is replaced. */
static PyObject *remade(const remaker *r, PyObject *value, int level)
{
    if (Py_TYPE(value) == r->state->task_mem_type) return Py_NewRef(r->task_mem);
    if (Py_TYPE(value) == r->state->array_type) return remade_array(r, value);
    if (level == MOST_LEVELS) return Py_NewRef(value);
    if (PyDict_CheckExact(value)) return remade_dict(r, value, level + 1);
    if (PyList_CheckExact(value)) return remade_list(r, value, level + 1);
    if (!PyTuple_CheckExact(value)) return Py_NewRef(value);
    PyObject *list = remade_list(r, value, level + 1), *out = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return out;
}

static bool repeat_call(const remaker *r, PyObject *call)
{
    PyObject *kwargs = PyTuple_GetItem(call, 2), *named = NULL, *made = NULL;
    PyObject *args = remade(r, PyTuple_GetItem(call, 1), 0), *key = PyLong_FromVoidPtr(call);
    if (args && key && (kwargs == Py_None || (named = remade(r, kwargs, 0))))
        made = PyObject_Call(PyTuple_GetItem(call, 0), args, named);
    const bool ok = made && PyDict_SetItem(r->made, key, made) == 0;
    Py_XDECREF(made);
    Py_XDECREF(named);
    Py_XDECREF(key);
    Py_XDECREF(args);
    return ok;
}

/* Repeats the last waiting call, or first adds the calls that it needs. */
static bool repeat_last(const remaker *r)
{
    const Py_ssize_t n = PyList_Size(r->waiting);
    PyObject *call = Py_NewRef(PyList_GetItem(r->waiting, n - 1));
    bool ok = true;
    if (!result_of(r, call))
        ok = !PyErr_Occurred() && wait_for_calls(r, PyTuple_GetItem(call, 1), 0) &&
             wait_for_calls(r, PyTuple_GetItem(call, 2), 0);
    if (ok && PyList_Size(r->waiting) == n)
        ok = (result_of(r, call) || (!PyErr_Occurred() && repeat_call(r, call))) &&
             PyList_SetSlice(r->waiting, n - 1, n, NULL) == 0;
    Py_DECREF(call);
    return ok;
}

PyObject *core_remake(core_state *s, PyObject *arrays, uint64_t task_mem)
{
    remaker r = {.state = s, .made = PyDict_New(), .waiting = PyList_New(0)};
    PyObject *out = NULL;
    r.task_mem =
        PyObject_CallFunction((PyObject *)s->task_mem_type, "K", (unsigned long long)task_mem);
    bool ok = r.made && r.waiting && r.task_mem && wait_for_calls(&r, arrays, 0);
    while (ok && PyList_Size(r.waiting) > 0) ok = repeat_last(&r);
    if (ok) out = remade(&r, arrays, 0);
    Py_XDECREF(r.task_mem);
    Py_XDECREF(r.waiting);
    Py_XDECREF(r.made);
    return out;
}

PyMethodDef core_recipe_methods[] = {
    {"record", record, METH_VARARGS,
     "record(function: Callable[..., Any], /, *args: Any) -> Any\n"
     "Returns function(*args), an array or a tuple of arrays. If the arguments depend on a "
     "TaskMem, records the call, so that it can be repeated with another TaskMem. The repeated "
     "call may divide the arrays differently."},
    {NULL, NULL, 0, NULL},
};
