/* Python functions on blocks of arrays: the function "python" of plans (cubed/sys/block.h).
 *
 * Its parameters are a cubed_python_params and pickled code, which cubed.runtime._call runs. The function takes the GIL, and
 * passes the blocks to Python as memory views without copying them (cubed/runtime/_call.py). */
#include <stdio.h>
#include <string.h>

#include "core.h"
#include "cubed/sys/python_code.h"
#include "meter.h"

/* --- The function ------------------------------------------------------------------------------------- */

/* Returns a block as (memory, type, shape). */
static PyObject *block_tuple(const cubed_block *b, int access)
{
    static char nothing[1];
    PyObject *memory = Py_NewRef(Py_None), *shape = core_tuple(b->shape, b->ndim);
    PyObject *dtype = core_dtype_name(b->dtype), *tuple = NULL;
    if (b->data || access == PyBUF_READ) {
        size_t bytes = cubed_python_bytes(b);
        Py_DECREF(memory);
        memory = PyMemoryView_FromMemory(bytes ? b->data : nothing, (Py_ssize_t)bytes, access);
    }
    if (memory && dtype && shape) tuple = PyTuple_Pack(3, memory, dtype, shape);
    Py_XDECREF(memory);
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    return tuple;
}

static PyObject *block_list(const cubed_block *blocks, int n, int access)
{
    PyObject *list = PyList_New(n);
    for (int i = 0; list && i < n; i++) {
        PyObject *item = block_tuple(&blocks[i], access);
        if (!item || PyList_SetItem(list, i, item) < 0) Py_CLEAR(list);
    }
    return list;
}

static bool find_call_block(core_state *s)
{
    if (s->call_block) return true;
    PyObject *module = PyImport_ImportModule("cubed.runtime._call");
    s->call_block = module ? PyObject_GetAttrString(module, "call_block") : NULL;
    Py_XDECREF(module);
    return s->call_block != NULL;
}

/* Calls cubed.runtime._call.call_block(params, inputs, outputs, index). It returns None, the bytes that imports allocated, or
 * (status, message) of a failure. */
static PyObject *call_python(core_state *s, const cubed_block_call *call)
{
    PyObject *answer = NULL;
    if (!find_call_block(s)) return NULL;
    PyObject *params = PyMemoryView_FromMemory((char *)(uintptr_t)call->params,
                                               (Py_ssize_t)call->params_size, PyBUF_READ);
    PyObject *inputs = block_list(call->in, call->nin, PyBUF_READ);
    PyObject *outputs = block_list(call->out, call->nout, PyBUF_WRITE);
    PyObject *index = core_tuple(call->index, call->nsymbols);
    if (params && inputs && outputs && index)
        answer = PyObject_CallFunctionObjArgs(s->call_block, params, inputs, outputs, index, NULL);
    Py_XDECREF(params);
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    Py_XDECREF(index);
    return answer;
}

static cubed_status run(const cubed_block_call *call, void *ctx, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    PyGILState_STATE gil = PyGILState_Ensure();
    core_meter meter;
    core_call self;
    core_meter_begin(&meter);
    core_call_begin(ctx, &self);
    PyObject *answer = call_python(ctx, call);
    core_call_end(ctx, &self);
    uint64_t taken = core_meter_end(&meter);
    if (answer && PyLong_Check(answer)) {
        taken += PyLong_AsUnsignedLongLong(answer);
        Py_DECREF(answer);
        answer = Py_NewRef(Py_None);
    }
    if (call->library_taken) *call->library_taken = taken;
    if (!answer) {
        st = core_catch(err);
    } else if (answer != Py_None) {
        st = core_failed(answer, err);
    }
    Py_XDECREF(answer);
    PyGILState_Release(gil);
    return st;
}

/* Calls cubed.runtime._call.load(params). Ignores a failure, because the first task raises it again. */
static void load(const void *params, size_t params_size, void *ctx)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *memory =
        PyMemoryView_FromMemory((char *)(uintptr_t)params, (Py_ssize_t)params_size, PyBUF_READ);
    PyObject *module =
        memory && find_call_block(ctx) ? PyImport_ImportModule("cubed.runtime._call") : NULL;
    PyObject *answer = module ? PyObject_CallMethod(module, "load", "O", memory) : NULL;
    if (!answer && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
    PyErr_Clear();
    Py_XDECREF(answer);
    Py_XDECREF(memory);
    Py_XDECREF(module);
    PyGILState_Release(gil);
}

/* Calls cubed.runtime._call.forget(digest). */
static void ended(const void *params, size_t params_size, void *ctx)
{
    const core_state *s = ctx;
    const cubed_python_params *p = params;
    (void)params_size;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *module = s->call_block ? PyImport_ImportModule("cubed.runtime._call") : NULL;
    PyObject *answer = module ? PyObject_CallMethod(module, "forget", "y#", (const char *)p->digest,
                                                    (Py_ssize_t)sizeof p->digest)
                              : NULL;
    PyErr_Clear();
    Py_XDECREF(answer);
    Py_XDECREF(module);
    PyGILState_Release(gil);
}

cubed_status core_add_python_fn(core_state *s, cubed_error *err)
{
    s->python_fn = (cubed_block_fn){.struct_size = sizeof s->python_fn,
                                    .version = CUBED_BLOCK_VERSION,
                                    .name = CUBED_PYTHON_NAME,
                                    .check = cubed_python_check,
                                    .need = cubed_python_need,
                                    .run = run,
                                    .title = cubed_python_title,
                                    .code = true,
                                    .ctx = s,
                                    .ended = ended,
                                    .load = load};
    return cubed_context_add_block_fn(s->ctx, &s->python_fn, err);
}

/* --- Creating the operation --------------------------------------------------------------------------- */

/* Memory that the description of an operand refers to. */
typedef struct operand {
    int64_t shape[CUBED_MAX_NDIM];
    core_chunks chunks;
    int symbols[CUBED_MAX_NDIM];
    cubed_block_halo halo[CUBED_MAX_NDIM];
} operand;

static bool same_length(const char *what, int n, int ndim)
{
    if (n == ndim) return true;
    PyErr_Format(PyExc_ValueError, "%s has %d entries, expected %d", what, n, ndim);
    return false;
}

/* Parses ((before, after, padded), ...). */
static bool take_halo(PyObject *tuple, int ndim, cubed_block_halo *halo)
{
    if (!same_length("halo", (int)PyTuple_Size(tuple), ndim)) return false;
    for (int d = 0; d < ndim; d++) {
        int padded;
        long long before, after;
        PyObject *item = PyTuple_GetItem(tuple, d);
        if (!core_is_tuple("halo", item) ||
            !PyArg_ParseTuple(item, "LLp", &before, &after, &padded))
            return false;
        halo[d] = (cubed_block_halo){before, after, padded};
    }
    return true;
}

/* Parses (array, symbols, chunks, halo). */
static bool take_input(core_state *s, PyObject *tuple, cubed_block_input *in, operand *own)
{
    PyObject *array, *symbols, *chunks, *halo;
    int nsymbols;
    if (!core_is_tuple("input", tuple) ||
        !PyArg_ParseTuple(tuple, "OOOO!", &array, &symbols, &chunks, &PyTuple_Type, &halo) ||
        !(in->array = core_unwrap(s, array)) ||
        !core_axes("symbols", symbols, own->symbols, &nsymbols))
        return false;
    in->symbols = own->symbols;
    in->chunks = own->chunks.length;
    int ndim = cubed_array_ndim(in->array);
    return same_length("symbols", nsymbols, ndim) && take_halo(halo, ndim, own->halo) &&
           core_take_chunks(chunks, ndim, &own->chunks);
}

/* Parses (dtype, shape, chunks, symbols). */
static bool take_output(PyObject *tuple, cubed_block_output *out, operand *own)
{
    PyObject *dtype, *shape, *chunks, *symbols;
    int nsymbols;
    if (!core_is_tuple("output", tuple) ||
        !PyArg_ParseTuple(tuple, "OOOO", &dtype, &shape, &chunks, &symbols) ||
        !core_dtype(dtype, &out->dtype) || !core_ints("shape", shape, own->shape, &out->ndim) ||
        !core_axes("symbols", symbols, own->symbols, &nsymbols))
        return false;
    out->shape = own->shape;
    out->chunks = own->chunks.length;
    out->symbols = own->symbols;
    return same_length("symbols", nsymbols, out->ndim) &&
           core_take_chunks(chunks, out->ndim, &own->chunks);
}

/* Creates an operation on blocks. Symbols and blocks have the form of cubed_blockwise. */
static PyObject *blockwise(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    const char *params;
    Py_ssize_t size;
    PyObject *ins, *outs, *answer = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "y#O!O!", &params, &size, &PyTuple_Type, &ins, &PyTuple_Type,
                          &outs))
        return NULL;
    Py_ssize_t nin = PyTuple_Size(ins), nout = PyTuple_Size(outs), n = nin + nout;
    if (n > INT_MAX) return PyErr_NoMemory();
    operand *own = PyMem_Calloc((size_t)n + 1, sizeof *own);
    cubed_block_input *inputs = PyMem_Calloc((size_t)nin + 1, sizeof *inputs);
    cubed_block_output *outputs = PyMem_Calloc((size_t)nout + 1, sizeof *outputs);
    cubed_array **arrays = PyMem_Calloc((size_t)nout + 1, sizeof(cubed_array *));
    const cubed_block_halo **halos = PyMem_Calloc((size_t)nin + 1, sizeof(cubed_block_halo *));
    const cubed_chunk_list **lists = PyMem_Calloc((size_t)n + 1, sizeof(cubed_chunk_list *));
    if (!own || !inputs || !outputs || !arrays || !halos || !lists) {
        PyErr_NoMemory();
        goto out;
    }
    for (Py_ssize_t i = 0; i < nin; i++) {
        if (!take_input(s, PyTuple_GetItem(ins, i), &inputs[i], &own[i])) goto out;
        halos[i] = own[i].halo;
    }
    for (Py_ssize_t i = 0; i < nout; i++) {
        if (!take_output(PyTuple_GetItem(outs, i), &outputs[i], &own[nin + i])) goto out;
    }
    for (Py_ssize_t i = 0; i < n; i++) lists[i] = own[i].chunks.list;
    const cubed_block_cuts cuts = {lists, lists + nin};
    const cubed_block_operation operation = {.function = s->python_fn.name,
                                             .params = params,
                                             .params_size = (size_t)size,
                                             .inputs = inputs,
                                             .nin = (int)nin,
                                             .outputs = outputs,
                                             .nout = (int)nout,
                                             .halos = halos,
                                             .cuts = &cuts};
    cubed_status st = cubed_blockwise(s->ctx, &operation, arrays, &err);
    answer = core_finish_all(module, st, arrays, (int)nout, &err);
out:
    for (Py_ssize_t i = 0; own && i < n; i++) core_free_chunks(&own[i].chunks);
    PyMem_Free(lists);
    PyMem_Free(own);
    PyMem_Free(inputs);
    PyMem_Free(outputs);
    PyMem_Free(arrays);
    PyMem_Free(halos);
    return answer;
}

PyMethodDef core_apply_methods[] = {
    {"blockwise", blockwise, METH_VARARGS,
     "blockwise(params: bytes, inputs: tuple[BlockInput, ...], outputs: tuple[BlockOutput, ...], "
     "/) -> tuple[Array, ...]"},
    {NULL, NULL, 0, NULL},
};
