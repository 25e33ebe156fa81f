/* Chunks in Python's form. The entry of an axis is a chunk length, a tuple of the lengths of all chunks, or None to keep the
 * present chunks. */
#include <string.h>

#include "core.h"

/* Parses the tuple of an axis. */
static bool take_list(PyObject *tuple, core_chunks *out, int d)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    int64_t *lengths = PyMem_Calloc((size_t)n + 1, sizeof *lengths), longest = 1;
    if (!lengths) {
        PyErr_NoMemory();
        return false;
    }
    out->list[d] = (cubed_chunk_list){lengths, n};
    for (Py_ssize_t i = 0; i < n; i++) {
        lengths[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
        if (lengths[i] == -1 && PyErr_Occurred()) return false;
        if (lengths[i] > longest) longest = lengths[i];
    }
    out->length[d] = longest;
    return true;
}

static bool take(PyObject *seq, int ndim, core_chunks *out)
{
    Py_ssize_t n = PySequence_Size(seq);
    if (n < 0) return false;
    if (n != ndim) {
        PyErr_Format(PyExc_ValueError, "chunks has %zd entries, expected %d", n, ndim);
        return false;
    }
    for (int d = 0; d < ndim; d++) {
        PyObject *item = PySequence_GetItem(seq, d);
        if (!item) return false;
        bool list = PyTuple_Check(item);
        bool ok = !list || take_list(item, out, d);
        if (item == Py_None)
            out->length[d] = CUBED_CHUNKS_KEPT;
        else if (!list)
            out->length[d] = PyLong_AsLongLong(item);
        Py_DECREF(item);
        if (!ok || PyErr_Occurred()) return false;
    }
    return true;
}

bool core_take_chunks(PyObject *seq, int ndim, core_chunks *out)
{
    memset(out, 0, sizeof *out);
    if (take(seq, ndim, out)) return true;
    core_free_chunks(out);
    return false;
}

void core_free_chunks(core_chunks *chunks)
{
    for (int d = 0; d < CUBED_MAX_NDIM; d++) {
        PyMem_Free((void *)(uintptr_t)chunks->list[d].lengths);
        chunks->list[d].lengths = NULL;
    }
}
