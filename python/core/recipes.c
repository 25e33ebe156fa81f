/* Arrays that can be made again for another allowed_mem.
 *
 * Some functions cut arrays for the memory that tasks may use, which is a TaskMem among their arguments. Their arrays, and
 * all that is made of these, keep the call that made them: its recipe. A refused plan makes such arrays again, to know what
 * another allowance needs (cubed.planning._again). */
#include "core.h"

/* Containers within arguments that are searched for arrays. */
#define MOST_LEVELS 4

/* --- The memory of tasks ---------------------------------------------------------------------------------- */

static PyType_Slot task_mem_slots[] = {
    {Py_tp_doc, "Bytes that are left for the data of a task, of those that are allowed."},
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
    core_state *state; /* of the module, which the function refers to */
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

/* Gives an array its recipe unless it has one. */
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

/* --- Functions of Python ---------------------------------------------------------------------------------- */

/* A new reference to an array, with a recipe of its own. The result of a function may be one of its arguments, whose
 * recipe stays: a recipe that named its own array could never end. */
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

static PyObject *recipe(PyObject *module, PyObject *object)
{
    if (!core_unwrap(core_get_state(module), object)) return NULL;
    const core_array *a = (core_array *)object;
    if (!a->recipe) Py_RETURN_NONE;
    return Py_BuildValue("(Oi)", a->recipe, a->output);
}

PyMethodDef core_recipe_methods[] = {
    {"record", record, METH_VARARGS,
     "record(function: Callable[..., Any], /, *args: Any) -> Any\n"
     "The result of function(*args), an array or a tuple of arrays. If the arguments depend on a "
     "TaskMem, the arrays are made again by the same call, which may cut them otherwise."},
    {"recipe", recipe, METH_O,
     "recipe(x: Array, /) -> tuple[tuple[Any, tuple[Any, ...], dict[str, Any] | None], int] | "
     "None\n"
     "The call that made an array which depends on a TaskMem, and the array's place among its "
     "results; -1: it is the only one."},
    {NULL, NULL, 0, NULL},
};
