/* The extension module cubed._core: Python bindings of the public C API, for the limited API of Python 3.11.
 *
 * All functions must be called with the GIL held. Comments state which functions release it temporarily. On failure,
 * functions return NULL or false, with an exception set. */
#ifndef CORE_H
#define CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "cubed/cubed.h"
#include "cubed/sys/block.h"
#include "cubed/sys/executor.h"
#include "cubed/sys/raised.h"
#include "cubed/sys/source.h"
#include "report/report.h"

/* A call of user code in a task (interrupt.c), on the stack of the thread that runs it. */
typedef struct core_call {
    unsigned long thread;
    bool told; /* an exception that ends the call was raised in the call's thread */
    struct core_call *next;
} core_call;

typedef struct core_state {
    cubed_context *ctx;
    PyTypeObject *array_type, *plan_type, *task_mem_type, *recorder_type;
    cubed_source_fn readers;
    cubed_raised_fn raised;
    PyObject *
        load; /* in a worker process: function that makes an object from bytes of a plan; otherwise NULL */
    PyObject *call_block; /* cubed.runtime._call.call_block; NULL until it is first needed */
    cubed_block_fn python_fn;
    core_call *calls;             /* linked list of the running calls */
    int nruns;                    /* number of plans that are running */
    struct core_added *added;     /* linked list of executors written in Python */
    struct core_origins *origins; /* NULL: the lines that create arrays are not recorded */
} core_state;

core_state *core_get_state(PyObject *module);
/* Returns the context, after updating its variables from the environment. Use it before opening stores. */
cubed_context *core_context(core_state *s);
extern struct PyModuleDef core_module;

/* A lazy array, which is immutable and hashed by identity. `held` contains the objects that read data for the array
 * (readers.c) and those passed to core_hold: one object, a tuple of objects, or NULL. Here the garbage collector can visit
 * them. The tag of `x` is also `held`. */
typedef struct core_array {
    PyObject_HEAD cubed_array *x;
    PyObject *held;
    /* call that creates the array again for another allowed_mem (recipes.c); NULL if the array does not depend on allowed_mem */
    PyObject *recipe;
    int output; /* index of the array among the results of that call; -1: it is the only result */
} core_array;

/* --- convert.c ------------------------------------------------------------------------------------ */

/* Raises ValueError "ARGUMENT is 'VALUE', expected EXPECTED". Returns NULL. */
PyObject *core_unknown(const char *argument, const char *value, const char *expected);
bool core_dtype(PyObject *name, cubed_dtype *out);
PyObject *core_dtype_name(cubed_dtype dtype);
/* Returns true if the object is a tuple. Otherwise raises TypeError. */
bool core_is_tuple(const char *what, PyObject *object);
/* Converts a sequence of at most CUBED_MAX_NDIM integers. */
bool core_ints(const char *what, PyObject *seq, int64_t *out, int *n);
/* Converts a sequence of at most CUBED_MAX_NDIM axes. Values beyond the range of axes are clamped, so they stay invalid. */
bool core_axes(const char *what, PyObject *seq, int *out, int *n);
PyObject *core_tuple(const int64_t *values, int n);
/* Converts a Python object to an element of type `dtype`. */
bool core_scalar(PyObject *value, cubed_dtype dtype, cubed_scalar *out);
/* Returns the array of an argument, which stays owned by the argument. Raises TypeError for other objects. */
cubed_array *core_unwrap(core_state *s, PyObject *object);
bool core_pair(PyObject *module, PyObject *left, PyObject *right, cubed_array **x1,
               cubed_array **x2);
/* Creates a Python object for an array, and takes ownership of the caller's reference, even on failure. */
PyObject *core_wrap(core_state *s, cubed_array *x);
/* Creates an array equal to x that holds a reference to `object`. Arrays that are computed from it also hold this reference. */
PyObject *core_hold(core_state *s, cubed_array *x, PyObject *object);
/* Converts the outcome of a library call to the return value of a function of the module. If `st` is CUBED_OK, returns x as a
 * Python object; otherwise returns NULL with the exception for `err`. */
PyObject *core_finish(PyObject *module, cubed_status st, cubed_array *x, const cubed_error *err);
/* Returns a tuple of n arrays, or NULL with the exception for the error. */
PyObject *core_finish_all(PyObject *module, cubed_status st, cubed_array **x, int n,
                          const cubed_error *err);

/* --- failures.c ------------------------------------------------------------------------------------ */

/* Raises the exception that caused the error if it was kept, otherwise the exception for the status. The exception gets the
 * fields that cubed.base._origins and cubed.exceptions describe. Returns NULL. */
PyObject *core_raise(const cubed_error *err);
/* Converts the current Python exception to an error of the library, and clears the exception. OSError and its subclasses become
 * transient errors. Returns the status of the error. */
cubed_status core_catch(cubed_error *err);
/* Converts a failure that Python code has recorded, the tuple (status, message, number), to an error. */
cubed_status core_failed(PyObject *answer, cubed_error *err);
/* Releases a memoryview of the library's memory. Returns false if Python objects still use the memoryview; then also discards the
 * exception that was kept under the number `raised`. */
bool core_let_go(PyObject *memory, uint64_t raised);
/* Registers the functions that pass exceptions from worker processes to the context. */
bool core_add_raised(core_state *s);

/* --- origins.c ------------------------------------------------------------------------------------- */

/* Stops recording the lines that create arrays. */
void core_stop_origins(core_state *s);
/* Returns the number that identifies the line of the user's program that is running; 0 if lines are not recorded. Never fails. */
uint32_t core_origin(core_state *s);

/* --- recipes.c ------------------------------------------------------------------------------------- */

/* Wraps functions of the module. The wrappers record a call if its arrays depend on a TaskMem (the memory of a task), so that
 * core_remake can repeat the call with another task memory. */
bool core_record_calls(PyObject *module, const PyMethodDef *methods);
/* Repeats the recorded calls of a tuple of arrays for another task memory. Returns a new tuple of the resulting arrays. */
PyObject *core_remake(core_state *s, PyObject *arrays, uint64_t task_mem);

/* --- interrupt.c ----------------------------------------------------------------------------------- */

/* Call core_call_begin before, and core_call_end after, each call of the user's code in a task. Between them,
 * core_interrupt_calls can interrupt the call. */
void core_call_begin(core_state *s, core_call *c);
void core_call_end(core_state *s, core_call *c);
/* Removes the calls of the parent process. Call it in a child process after a fork. */
void core_forget_calls(core_state *s);
/* Raises KeyboardInterrupt in the running calls. Does nothing if several plans are running, because the calls may belong to
 * another plan. */
void core_interrupt_calls(core_state *s);

/* --- py_chunks.c ----------------------------------------------------------------------------------- */

/* Lengths of chunks along each axis. An axis with irregular chunks has a list of lengths, and `length` is the longest of them. */
typedef struct core_chunks {
    int64_t length[CUBED_MAX_NDIM];
    cubed_chunk_list list[CUBED_MAX_NDIM]; /* lengths NULL: chunks are regular */
} core_chunks;
/* Converts a sequence with an integer or a tuple of integers for each of ndim axes. */
bool core_take_chunks(PyObject *seq, int ndim, core_chunks *out);
void core_free_chunks(core_chunks *chunks);

/* --- apply.c --------------------------------------------------------------------------------------- */

/* Registers the function "python" with the context. */
cubed_status core_add_python_fn(core_state *s, cubed_error *err);

/* --- engine.c ------------------------------------------------------------------------------------- */

/* cubed_run_options.executor_ctx of a run by an executor written in Python. */
typedef struct core_engine {
    core_state *state;
    PyObject *object;                /* see engine.c */
    const cubed_executor_vtable *vt; /* NULL: the executor is not written in Python */
} core_engine;
core_engine core_engine_of(core_state *s, const char *name, PyObject *object);
/* Frees the executors written in Python. The context must have been freed before. */
void core_forget_engines(core_state *s);

/* --- py_report.c ---------------------------------------------------------------------------------- */

/* Returns a drawing of a plan as text. `format` is "svg", "inside" (SVG for embedding in a page), "dot" or "table". */
PyObject *core_draw_plan(const cubed_plan *plan, const char *format);
/* Starts a new record of a run in *out. Frees the record that was in *out, which may be NULL. */
bool core_record(cubed_plan *plan, bool apart, report **out);
/* Returns the requests of a plan to remote stores as text. Releases the GIL, because it may send requests to stores.
 * `apart` is true if workers do not share memory (report_get_requests). */
PyObject *core_plan_requests(const cubed_plan *plan, bool apart);
/* Returns a drawing of a record as SVG. `name` is "timeline", "memory" or "progress". */
PyObject *core_draw_record(const report *r, const char *name);
PyObject *core_report(const report *r, const report_run *run);
PyObject *core_status(const report *r, const report_state *state);

/* --- The types and functions of the module -------------------------------------------------------- */

extern PyType_Spec core_array_spec;                        /* py_array.c */
extern PyType_Spec core_plan_spec;                         /* py_plan.c */
extern PyType_Spec core_task_mem_spec, core_recorder_spec; /* recipes.c */
extern PyMethodDef core_source_methods[], core_function_methods[], core_view_methods[],
    core_cf_methods[], core_call_methods[], core_reader_methods[], core_zarr_methods[],
    core_apply_methods[], core_origin_methods[], core_engine_methods[], core_recipe_methods[],
    core_interrupt_methods[], core_eval_methods[], core_grid_methods[];
/* Registers the reader of sources that are Python objects (readers.c). */
bool core_add_readers(core_state *s);

#endif
