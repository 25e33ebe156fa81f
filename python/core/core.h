/* cubed._core: the public C API for Python, on the limited API of Python 3.11.
 *
 * Everything here holds the GIL but where it says that it lets go of it. Functions return NULL (or
 * false) with an exception set. */
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

/* A call of users' code (interrupt.c), on the stack of the thread that runs it. */
typedef struct core_call {
    unsigned long thread;
    bool told; /* to end */
    struct core_call *next;
} core_call;

typedef struct core_state {
    cubed_context *ctx;
    PyTypeObject *array_type, *plan_type, *task_mem_type, *recorder_type;
    cubed_source_fn readers;
    cubed_raised_fn raised;
    PyObject *load; /* of a worker: makes an object of the bytes that travel in a plan; else NULL */
    PyObject *call_block; /* of cubed.runtime._call; NULL until a block needs it */
    cubed_block_fn python_fn;
    core_call *calls;             /* those that run now */
    int nruns;                    /* of plans, now */
    struct core_added *added;     /* executors of Python */
    struct core_origins *origins; /* NULL: nobody wants to know where arrays were made */
} core_state;

core_state *core_get_state(PyObject *module);
/* The context, when stores are about to be opened: these look at the environment as it is then. */
cubed_context *core_context(core_state *s);
extern struct PyModuleDef core_module;

/* A lazy array: immutable, hashable by identity. `held` is what reads for it (readers.c), so that the garbage
 * collector sees it, and what core_hold was given: an object, a tuple of such, or NULL. It is the array's tag, too. */
typedef struct core_array {
    PyObject_HEAD cubed_array *x;
    PyObject *held;
    /* How it is made for another allowed_mem (recipes.c); NULL if it does not depend on allowed_mem. */
    PyObject *recipe;
    int output; /* its place among the results of that call; -1: it is the only one */
} core_array;

/* --- convert.c ------------------------------------------------------------------------------------ */

/* A ValueError that names the argument, what it is and what it might be; returns NULL. */
PyObject *core_unknown(const char *argument, const char *value, const char *expected);
bool core_dtype(PyObject *name, cubed_dtype *out);
PyObject *core_dtype_name(cubed_dtype dtype);
/* Whether it is a tuple; else raises TypeError. */
bool core_is_tuple(const char *what, PyObject *object);
/* A sequence of at most CUBED_MAX_NDIM integers. */
bool core_ints(const char *what, PyObject *seq, int64_t *out, int *n);
/* The same into ints, for axes. */
bool core_axes(const char *what, PyObject *seq, int *out, int *n);
PyObject *core_tuple(const int64_t *values, int n);
/* A Python number as an element of that type. */
bool core_scalar(PyObject *value, cubed_dtype dtype, cubed_scalar *out);
/* The array in an argument. */
cubed_array *core_unwrap(core_state *s, PyObject *object);
bool core_pair(PyObject *module, PyObject *left, PyObject *right, cubed_array **x1,
               cubed_array **x2);
/* Takes over the reference. */
PyObject *core_wrap(core_state *s, cubed_array *x);
/* An array like x that holds an object, too, as does what is made of it. */
PyObject *core_hold(core_state *s, cubed_array *x, PyObject *object);
/* What a function that made x, or failed, returns. */
PyObject *core_finish(PyObject *module, cubed_status st, cubed_array *x, const cubed_error *err);
/* The same for several: a tuple. */
PyObject *core_finish_all(PyObject *module, cubed_status st, cubed_array **x, int n,
                          const cubed_error *err);

/* --- failures.c ------------------------------------------------------------------------------------ */

/* Raises what is behind the error, else what belongs to its status, with its `origins` where it has any;
 * returns NULL. */
PyObject *core_raise(const cubed_error *err);
/* The other way round: the exception that is set, which is cleared, as an error. Those that may pass when
 * it is tried again are OSError and what is derived from it. */
cubed_status core_catch(cubed_error *err);
/* The same of what Python's code has kept: (status, message, number). */
cubed_status core_failed(PyObject *answer, cubed_error *err);
/* Takes memory of the engine away from a memoryview. False if somebody looks at it still: what was raised is
 * forgotten then. */
bool core_let_go(PyObject *memory, uint64_t raised);
/* Makes exceptions that worker processes raised known to the context; else an exception is set. */
bool core_add_raised(core_state *s);

/* --- origins.c ------------------------------------------------------------------------------------- */

/* No more noting of lines that make arrays. */
void core_stop_origins(core_state *s);
/* The number of the line that runs now; 0: it is not noted. Never fails. */
uint32_t core_origin(core_state *s);

/* --- recipes.c ------------------------------------------------------------------------------------- */

/* Has the module's functions keep calls whose arrays depend on a TaskMem. */
bool core_record_calls(PyObject *module, const PyMethodDef *methods);
/* A tuple of arrays as the calls that made them make them for another TaskMem: a new reference. */
PyObject *core_remake(core_state *s, PyObject *arrays, uint64_t task_mem);

/* --- interrupt.c ----------------------------------------------------------------------------------- */

/* Around each call of users' code for a task. */
void core_call_begin(core_state *s, core_call *c);
void core_call_end(core_state *s, core_call *c);
/* In a child that was forked: what ran in the parent does not run here. */
void core_forget_calls(core_state *s);
/* Raises KeyboardInterrupt in those that run, if they can only be of the run that is interrupted. */
void core_interrupt_calls(core_state *s);

/* --- py_chunks.c ----------------------------------------------------------------------------------- */

/* Extents of chunks; of axes with a list that of the longest. */
typedef struct core_chunks {
    int64_t length[CUBED_MAX_NDIM];
    cubed_chunk_list list[CUBED_MAX_NDIM]; /* lengths NULL: chunks are alike */
} core_chunks;
/* A sequence with an integer, or a tuple of integers, for each of ndim axes. */
bool core_take_chunks(PyObject *seq, int ndim, core_chunks *out);
void core_free_chunks(core_chunks *chunks);

/* --- apply.c --------------------------------------------------------------------------------------- */

/* Makes the function "python" known to the context. */
cubed_status core_add_python_fn(core_state *s, cubed_error *err);

/* --- engine.c ------------------------------------------------------------------------------------- */

/* What a run by an executor of Python is opened with: cubed_run_options.executor_ctx. */
typedef struct core_engine {
    core_state *state;
    PyObject *object;                /* see engine.c */
    const cubed_executor_vtable *vt; /* NULL: the executor is none of Python */
} core_engine;
core_engine core_engine_of(core_state *s, const char *name, PyObject *object);
/* Frees what executors of Python were added with; the context is gone. */
void core_forget_engines(core_state *s);

/* --- py_report.c ---------------------------------------------------------------------------------- */

/* A plan's drawing as text: "svg", "inside" (of a page) or "dot". */
PyObject *core_draw_plan(const cubed_plan *plan, const char *format);
/* Starts a new record of a run in *out, in the place of the one that is there (or NULL). */
bool core_record(cubed_plan *plan, bool apart, report **out);
PyObject *core_plan_requests(const cubed_plan *plan, bool apart);
/* "timeline" or "memory" as SVG. */
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
/* Makes sources that are Python objects known to the context (readers.c). */
bool core_add_readers(core_state *s);

#endif
