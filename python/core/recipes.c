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

static void keep(const core_state *s, PyObject *made, PyObject *call, int index)
{
    core_array *a = (core_array *)made;
    if (Py_TYPE(made) != s->array_type || a->recipe) return;
    a->recipe = Py_NewRef(call);
    a->output = index;
}

static PyObject *call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    const recorder *r = (recorder *)self;
    PyObject *made = PyObject_Call(r->function, args, kwargs);
    if (!made || !depends(r->state, args, 0)) return made;
    PyObject *how = PyTuple_Pack(3, r->function, args, kwargs ? kwargs : Py_None);
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

/* --- Recipes ----------------------------------------------------------------------------------------------- */

static PyObject *recipe(PyObject *module, PyObject *object)
{
    if (!core_unwrap(core_get_state(module), object)) return NULL;
    const core_array *a = (core_array *)object;
    if (!a->recipe) Py_RETURN_NONE;
    return Py_BuildValue("(Oi)", a->recipe, a->output);
}

PyMethodDef core_recipe_methods[] = {
    {"recipe", recipe, METH_O,
     "recipe(x: Array, /) -> tuple[tuple[Any, tuple[Any, ...], dict[str, Any] | None], int] | "
     "None\n"
     "The call that made an array which depends on a TaskMem, and the array's place among its "
     "results; -1: it is the only one."},
    {NULL, NULL, 0, NULL},
};
