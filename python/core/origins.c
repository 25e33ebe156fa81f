/* Records the lines of the program that create arrays, for errors of their tasks.
 *
 * A line is recorded as a code object and the position of an instruction, which costs next to nothing. The line number is
 * computed only when it is needed. Lines are numbered in the order of their first use, and the latest KEPT lines are kept. */
#include <stdlib.h>

#include "core.h"

enum { KEPT = 4096, MOST_FRAMES = 64 };

typedef struct origin {
    PyObject *code;
    int position;
} origin;

typedef struct core_origins {
    PyObject *back, *lasti, *filename; /* names of the attributes f_back, f_lasti and co_filename */
    PyObject *package;                 /* directory of this package, with a separator */
    /* part of a file name by which code of libraries is recognised */
    PyObject *libraries;
    uint32_t next;
    origin kept[KEPT];   /* line number i is in kept[i % KEPT] */
    uint32_t find[KEPT]; /* at the hash of a line: number of the last line with this hash */
} core_origins;

static bool start(core_state *s, PyObject *package)
{
    if (s->origins) return true;
    core_origins *o = calloc(1, sizeof *o);
    if (!o) {
        PyErr_NoMemory();
        return false;
    }
    s->origins = o;
    o->next = 1;
    o->back = PyUnicode_InternFromString("f_back");
    o->lasti = PyUnicode_InternFromString("f_lasti");
    o->filename = PyUnicode_InternFromString("co_filename");
    o->libraries = PyUnicode_FromString("site-packages");
    o->package = Py_NewRef(package);
    if (o->back && o->lasti && o->filename && o->libraries) return true;
    core_stop_origins(s);
    return false;
}

void core_stop_origins(core_state *s)
{
    core_origins *o = s->origins;
    s->origins = NULL;
    if (!o) return;
    for (int i = 0; i < KEPT; i++) Py_XDECREF(o->kept[i].code);
    Py_XDECREF(o->back);
    Py_XDECREF(o->lasti);
    Py_XDECREF(o->filename);
    Py_XDECREF(o->libraries);
    Py_XDECREF(o->package);
    free(o);
}

/* Returns the owner of code: 0 for this package, 1 for a library, 2 for the program. */
static int rank_of(const core_origins *o, PyObject *code)
{
    PyObject *name = PyObject_GetAttr(code, o->filename);
    int rank = 0;
    if (name && PyUnicode_Tailmatch(name, o->package, 0, PY_SSIZE_T_MAX, -1) != 1)
        rank = PyUnicode_Find(name, o->libraries, 0, PY_SSIZE_T_MAX, 1) < 0 ? 2 : 1;
    Py_XDECREF(name);
    return rank;
}

static uint32_t number_of(core_origins *o, PyObject *frame, PyObject *code)
{
    PyObject *lasti = PyObject_GetAttr(frame, o->lasti);
    if (!lasti) return 0;
    int position = (int)PyLong_AsLong(lasti);
    Py_DECREF(lasti);
    uintptr_t hash = (((uintptr_t)code >> 4) * 31 + (uintptr_t)position) % KEPT;
    uint32_t number = o->find[hash];
    const origin *found = &o->kept[number % KEPT];
    if (number && found->code == code && found->position == position) return number;
    number = o->next++;
    if (number == 0) number = o->next++; /* skip 0, which means "no line" */
    origin *slot = &o->kept[number % KEPT];
    PyObject *old = slot->code;
    *slot = (origin){Py_NewRef(code), position};
    o->find[hash] = number;
    Py_XDECREF(old); /* may run code of the program, which may create arrays */
    return number;
}

uint32_t core_origin(core_state *s)
{
    core_origins *o = s->origins;
    uint32_t number = 0;
    int best = 0;
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    Py_XINCREF(frame);
    /* Find the program's own line, even if it called the package through libraries; if there is none, the nearest line. */
    for (int i = 0; i < MOST_FRAMES && frame && frame != Py_None && best < 2; i++) {
        PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
        int rank = rank_of(o, code);
        if (rank > best) {
            number = number_of(o, frame, code);
            best = rank;
        }
        Py_DECREF(code);
        PyObject *back = best < 2 ? PyObject_GetAttr(frame, o->back) : NULL;
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    PyErr_Clear(); /* ignore errors: the array then has no line */
    return number;
}

static PyObject *get_origin(PyObject *module, PyObject *args)
{
    const core_origins *o = core_get_state(module)->origins;
    unsigned int number;
    if (!PyArg_ParseTuple(args, "I", &number)) return NULL;
    if (!o || number >= o->next || o->next - number > KEPT || !o->kept[number % KEPT].code)
        return Py_NewRef(Py_None);
    const origin *found = &o->kept[number % KEPT];
    return Py_BuildValue("(Oi)", found->code, found->position);
}

/* Starts recording if `package` is the package's directory with a separator, and stops it if `package` is None. Returns whether
 * lines were recorded before. */
static PyObject *note_origins(PyObject *module, PyObject *package)
{
    core_state *s = core_get_state(module);
    bool was = s->origins != NULL;
    if (package == Py_None)
        core_stop_origins(s);
    else if (!start(s, package))
        return NULL;
    return PyBool_FromLong(was);
}

PyMethodDef core_origin_methods[] = {
    {"origin", get_origin, METH_VARARGS, "origin(number: int, /) -> tuple[CodeType, int] | None"},
    {"note_origins", note_origins, METH_O, "note_origins(package: str | None, /) -> bool"},
    {NULL, NULL, 0, NULL},
};
