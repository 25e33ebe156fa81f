/* The type of plans: creation and inspection. */
#include <string.h>

#include "cubed/sys/message.h"
#include "py_plan.h"

/* --- Creating plans ----------------------------------------------------------------------------------- */

/* Memory that the pointers of a target refer to. */
typedef struct target {
    int64_t chunks[CUBED_MAX_NDIM], shards[CUBED_MAX_NDIM];
} target;

static bool take_extents(PyObject *options, const char *name, int ndim, int64_t *own,
                         const int64_t **out)
{
    int n;
    PyObject *value = PyDict_GetItemString(options, name);
    if (!value || value == Py_None) return true;
    if (!core_ints(name, value, own, &n)) return false;
    if (n != ndim) {
        PyErr_Format(PyExc_ValueError, "%s has %d entries, expected %d", name, n, ndim);
        return false;
    }
    *out = own;
    return true;
}

static bool take_text(PyObject *options, const char *name, const char **out)
{
    PyObject *value = PyDict_GetItemString(options, name);
    if (!value || value == Py_None) return true;
    *out = PyUnicode_AsUTF8AndSize(value, NULL);
    return *out != NULL;
}

static bool take_flag(PyObject *options, const char *name, bool *out)
{
    PyObject *value = PyDict_GetItemString(options, name);
    int truth = value ? PyObject_IsTrue(value) : 0;
    *out = truth == 1;
    return truth >= 0;
}

/* Parses the position in an existing array where a region begins, as from `region_target`. */
static bool take_region(PyObject *options, int ndim, cubed_target *t)
{
    const int64_t *start = NULL, *lo = NULL, *hi = NULL;
    if (!take_extents(options, "region", ndim, t->region_start, &start) ||
        !take_extents(options, "region_lo", ndim, t->region_lo, &lo) ||
        !take_extents(options, "region_hi", ndim, t->region_hi, &hi))
        return false;
    t->region = start != NULL;
    t->region_has_part = lo && hi;
    return true;
}

/* Parses (array, None) or (array, dict). */
static bool take_target(core_state *s, PyObject *pair, cubed_target *t, target *own)
{
    PyObject *object, *options;
    if (!core_is_tuple("target", pair) || !PyArg_ParseTuple(pair, "OO", &object, &options))
        return false;
    t->array = core_unwrap(s, object);
    if (!t->array || options == Py_None) return t->array != NULL;
    if (!PyDict_Check(options)) {
        PyErr_Format(PyExc_TypeError, "options of a target are %R, expected a dict", options);
        return false;
    }
    int ndim = cubed_array_ndim(t->array);
    PyObject *format = PyDict_GetItemString(options, "zarr_format");
    t->zarr_format = format ? (int)PyLong_AsLong(format) : 0;
    return !PyErr_Occurred() && take_text(options, "url", &t->url) &&
           take_text(options, "writes", &t->writes) && take_text(options, "codecs", &t->codecs) &&
           take_text(options, "name", &t->name) &&
           take_extents(options, "chunks", ndim, own->chunks, &t->chunks) &&
           take_extents(options, "shards", ndim, own->shards, &t->shards) &&
           take_flag(options, "skip_empty", &t->skip_empty) && take_region(options, ndim, t) &&
           take_flag(options, "durable", &t->durable) &&
           take_flag(options, "overwrite", &t->overwrite);
}

/* Returns the objects that the targets hold. Returns NULL with an exception set. */
static PyObject *held_by(PyObject *targets)
{
    Py_ssize_t n = PyTuple_Size(targets);
    PyObject *all = PyTuple_New(n);
    for (Py_ssize_t i = 0; all && i < n; i++) {
        const core_array *a = (core_array *)PyTuple_GetItem(PyTuple_GetItem(targets, i), 0);
        if (PyTuple_SetItem(all, i, Py_NewRef(a->held ? a->held : Py_None)) < 0) Py_CLEAR(all);
    }
    return all;
}

/* Context of cubed_plan_options.params: compile(bytes) -> bytes, for Python functions. */
typedef struct compiling {
    PyObject *function;
    PyObject *made; /* list of all bytes that `function` returned, until the plan is made */
} compiling;

static cubed_status compile_params(void *ctx, const char *function, const void *params, size_t size,
                                   const void **out, size_t *out_size, cubed_error *err)
{
    const compiling *c = ctx;
    cubed_status st = CUBED_OK;
    char *bytes;
    Py_ssize_t n;
    if (strcmp(function, "python") != 0) return CUBED_OK;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *given = PyBytes_FromStringAndSize(params, (Py_ssize_t)size);
    PyObject *other = given ? PyObject_CallFunctionObjArgs(c->function, given, NULL) : NULL;
    if (other && PyBytes_AsStringAndSize(other, &bytes, &n) == 0 &&
        PyList_Append(c->made, other) == 0) {
        *out = bytes;
        *out_size = (size_t)n;
    } else {
        st = core_catch(err);
    }
    Py_XDECREF(other);
    Py_XDECREF(given);
    PyGILState_Release(gil);
    return st;
}

/* Context of cubed_plan_options.remake, which recreates the targets' arrays for another allowed_mem. */
typedef struct remaking {
    core_state *state;
    PyObject *arrays; /* tuple of the arrays of the plan */
    /* the last tuple of arrays that the callback returned; NULL before its first call */
    PyObject *made;
    uint64_t reserved_mem;
    bool reserve_a_quarter;
} remaking;

static cubed_status remake_arrays(void *ctx, uint64_t allowed_mem, cubed_array **arrays,
                                  cubed_error *err)
{
    remaking *r = ctx;
    cubed_status st = CUBED_OK;
    uint64_t reserved = r->reserved_mem;
    if (r->reserve_a_quarter && reserved > allowed_mem / 4) reserved = allowed_mem / 4;
    const uint64_t task_mem = allowed_mem > reserved ? allowed_mem - reserved : 1;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *made = core_remake(r->state, r->arrays, task_mem);
    for (Py_ssize_t i = 0, n = made ? PyTuple_Size(made) : 0; made && i < n; i++) {
        arrays[i] = core_unwrap(r->state, PyTuple_GetItem(made, i));
        if (!arrays[i]) Py_CLEAR(made);
    }
    if (made) {
        Py_XDECREF(r->made);
        r->made = made;
    } else {
        st = core_catch(err);
    }
    PyGILState_Release(gil);
    return st;
}

/* A call of Plan or Plan.check, with the memory that its options and targets refer to. */
typedef struct plan_call {
    /* borrowed: the caller's tuple of targets, which keeps their strings and arrays */
    PyObject *list;
    cubed_plan_options options;
    cubed_target *targets;
    target *own;
    int n;
    compiling compile;
    remaking remake;
} plan_call;

static bool take_targets(core_state *s, plan_call *c)
{
    const Py_ssize_t n = PyTuple_Size(c->list);
    c->targets = PyMem_Calloc((size_t)n + 1, sizeof *c->targets);
    c->own = PyMem_Calloc((size_t)n + 1, sizeof *c->own);
    if (!c->targets || !c->own || n > INT_MAX) {
        PyErr_NoMemory();
        return false;
    }
    for (; c->n < n; c->n++) {
        if (!take_target(s, PyTuple_GetItem(c->list, c->n), &c->targets[c->n], &c->own[c->n]))
            return false;
    }
    return true;
}

/* Prepares the recreation of arrays, if any array has a recipe. Only arrays with recipes depend on allowed_mem. */
static bool take_remaking(core_state *s, plan_call *c)
{
    bool depends = false;
    for (int i = 0; i < c->n && !depends; i++) {
        const core_array *a = (core_array *)PyTuple_GetItem(PyTuple_GetItem(c->list, i), 0);
        depends = a->recipe != NULL;
    }
    if (!depends) return true;
    PyObject *arrays = PyTuple_New(c->n);
    for (int i = 0; arrays && i < c->n; i++) {
        PyObject *x = PyTuple_GetItem(PyTuple_GetItem(c->list, i), 0);
        if (PyTuple_SetItem(arrays, i, Py_NewRef(x)) < 0) Py_CLEAR(arrays);
    }
    c->remake = (remaking){s, arrays, NULL, c->options.reserved_mem, c->options.reserve_a_quarter};
    c->options.remake = remake_arrays;
    c->options.remake_ctx = &c->remake;
    return arrays != NULL;
}

/* Parses the arguments of a call. The caller must end the call in any case. Returns false with an exception set. */
static bool take_call(core_state *s, PyObject *args, PyObject *kwargs, plan_call *c)
{
    static char *names[] = {"targets",        "allowed_mem", "reserved_mem", "max_workers",
                            "work_dir",       "optimize",    "share_tasks",  "reserve_a_quarter",
                            "other_machines", "compile",     "partials",     NULL};
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    unsigned long long allowed = 0, reserved = CUBED_DEFAULT_RESERVED_MEM;
    int optimize = 1, share = 0, quarter = 0, other_machines = 0;
    *c = (plan_call){.compile = {Py_None, NULL}};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|KKIzppppOz", names, &PyTuple_Type, &c->list,
                                     &allowed, &reserved, &o.max_workers, &o.work_dir, &optimize,
                                     &share, &quarter, &other_machines, &c->compile.function,
                                     &o.partials) ||
        !take_targets(s, c))
        return false;
    o.allowed_mem = allowed;
    o.reserved_mem = reserved;
    o.optimize = optimize;
    o.share_tasks = share;
    o.reserve_a_quarter = quarter;
    o.other_machines = other_machines;
    if (c->compile.function != Py_None) {
        c->compile.made = PyList_New(0);
        if (!c->compile.made) return false;
        o.params = compile_params;
        o.params_ctx = &c->compile;
    }
    c->options = o;
    return take_remaking(s, c);
}

static void end_call(plan_call *c)
{
    Py_XDECREF(c->compile.made);
    Py_XDECREF(c->remake.arrays);
    Py_XDECREF(c->remake.made);
    PyMem_Free(c->targets);
    PyMem_Free(c->own);
}

/* Creates the Python object of a plan. Takes ownership of the plan and of the list of flags. */
static PyObject *plan_object(PyTypeObject *type, const plan_call *c, cubed_plan *plan,
                             unsigned char *is_memory)
{
    PyObject *held = held_by(c->list);
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    core_plan *self = held ? (core_plan *)alloc(type, 0) : NULL;
    if (!self) {
        Py_XDECREF(held);
        cubed_plan_unref(plan);
        PyMem_Free(is_memory);
        return NULL;
    }
    self->plan = plan;
    self->held = held;
    self->nresults = c->n;
    self->is_memory = is_memory;
    return (PyObject *)self;
}

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *module = PyType_GetModule(type), *out = NULL;
    core_state *s = module ? core_get_state(module) : NULL;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st;
    cubed_plan *plan;
    unsigned char *is_memory = NULL;
    plan_call c;
    if (!s) return NULL;
    if (!take_call(s, args, kwargs, &c)) goto out;
    is_memory = PyMem_Calloc((size_t)c.n + 1, 1);
    if (!is_memory) {
        PyErr_NoMemory();
        goto out;
    }
    for (int i = 0; i < c.n; i++) is_memory[i] = c.targets[i].url == NULL;
    cubed_context *ctx = core_context(s);
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_plan_new(ctx, c.targets, c.n, &c.options, &plan, &err);
    Py_END_ALLOW_THREADS;
    if (st == CUBED_OK) {
        out = plan_object(type, &c, plan, is_memory);
        is_memory = NULL;
    } else {
        core_raise(&err);
    }
out:
    PyMem_Free(is_memory);
    end_call(&c);
    return out;
}

/* Parses the numbers of targets of plans that run one after another. Their sum must be n. */
static int *take_counts(PyObject *list, int n)
{
    const Py_ssize_t nplans = PyTuple_Size(list);
    int *counts = PyMem_Calloc((size_t)nplans + 1, sizeof *counts);
    long long all = 0;
    if (!counts) return (int *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < nplans && all >= 0 && all <= n; i++) {
        const long count = PyLong_AsLong(PyTuple_GetItem(list, i));
        all = count < 0 || count > n ? -1 : all + count;
        counts[i] = (int)count;
    }
    if (all == n && !PyErr_Occurred()) return counts;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "counts are %R, expected the %d targets of all plans", list,
                     n);
    PyMem_Free(counts);
    return NULL;
}

static PyObject *plan_check(PyTypeObject *type, PyObject *args)
{
    PyObject *module = PyType_GetModule(type), *list, *targets, *limits, *rest, *out = NULL;
    core_state *s = module ? core_get_state(module) : NULL;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st;
    int *counts = NULL;
    plan_call c;
    if (!s ||
        !PyArg_ParseTuple(args, "O!OO!", &PyTuple_Type, &list, &targets, &PyDict_Type, &limits) ||
        !(rest = PyTuple_Pack(1, targets)))
        return NULL;
    if (!take_call(s, rest, limits, &c) || !(counts = take_counts(list, c.n))) goto out;
    cubed_context *ctx = core_context(s);
    const int nplans = (int)PyTuple_Size(list);
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_plan_check(ctx, c.targets, counts, nplans, &c.options, &err);
    Py_END_ALLOW_THREADS;
    out = st == CUBED_OK ? Py_NewRef(Py_None) : core_raise(&err);
out:
    PyMem_Free(counts);
    end_call(&c);
    Py_DECREF(rest);
    return out;
}

/* Returns the bytes of memory that are needed to make a NetCDF file of the targets. Raises an exception if that is impossible. */
static PyObject *plan_netcdf_mem(PyTypeObject *type, PyObject *args)
{
    PyObject *list, *out = NULL;
    uint64_t mem;
    cubed_error err = CUBED_ERROR_INIT;
    PyObject *module = PyType_GetModule(type);
    if (!module || !PyArg_ParseTuple(args, "O!", &PyTuple_Type, &list)) return NULL;
    const Py_ssize_t n = PyTuple_Size(list);
    if (n > INT_MAX) return PyErr_NoMemory();
    cubed_target *targets = PyMem_Calloc((size_t)n + 1, sizeof *targets);
    target *own = PyMem_Calloc((size_t)n + 1, sizeof *own);
    bool ok = targets && own;
    if (!ok) PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n && ok; i++)
        ok = take_target(core_get_state(module), PyTuple_GetItem(list, i), &targets[i], &own[i]);
    if (ok)
        out = cubed_netcdf_check(targets, (int)n, &mem, &err) == CUBED_OK
                  ? PyLong_FromUnsignedLongLong(mem)
                  : core_raise(&err);
    PyMem_Free(targets);
    PyMem_Free(own);
    return out;
}

/* Creates the Python object of a plan. Takes ownership of the plan. */
static PyObject *wrap(PyTypeObject *type, cubed_plan *plan)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    core_plan *self = (core_plan *)alloc(type, 0);
    if (self)
        self->plan = plan;
    else
        cubed_plan_unref(plan);
    return (PyObject *)self;
}

/* Loads a plan from saved bytes. It has no memory for results. */
static PyObject *plan_load(PyObject *object, PyObject *args)
{
    PyTypeObject *type = (PyTypeObject *)object;
    PyObject *module = PyType_GetModule(type);
    const char *data;
    Py_ssize_t size;
    int code;
    cubed_plan *plan = NULL;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    if (!module || !PyArg_ParseTuple(args, "y#p", &data, &size, &code)) return NULL;
    cubed_context *ctx = core_context(core_get_state(module));
    Py_BEGIN_ALLOW_THREADS;
    st = code ? cubed_plan_load_code(ctx, data, (size_t)size, &plan, &err)
              : cubed_plan_load(ctx, data, (size_t)size, &plan, &err);
    Py_END_ALLOW_THREADS;
    if (st != CUBED_OK) return core_raise(&err);
    return wrap(type, plan);
}

/* Fetches the plan of a run for a worker, which receives only the plan's location. */
static PyObject *plan_fetch(PyObject *object, PyObject *args)
{
    PyTypeObject *type = (PyTypeObject *)object;
    PyObject *module = PyType_GetModule(type);
    const char *work_dir, *key;
    cubed_plan *plan = NULL;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    if (!module || !PyArg_ParseTuple(args, "ss", &work_dir, &key)) return NULL;
    cubed_context *ctx = core_context(core_get_state(module));
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_plan_fetch(ctx, work_dir, key, &plan, &err);
    Py_END_ALLOW_THREADS;
    return st == CUBED_OK ? wrap(type, plan) : core_raise(&err);
}

/* Loads functions on blocks and their imports, before the memory of the process is compared with the plan's. */
static PyObject *plan_load_functions(PyObject *object, PyObject *args)
{
    (void)args;
    const cubed_plan *plan = ((core_plan *)object)->plan;
    Py_BEGIN_ALLOW_THREADS;
    cubed_plan_load_functions(plan);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

/* Ends work on the plan in other threads as soon as possible, and all work that begins later. */
static PyObject *plan_stop(PyObject *object, PyObject *args)
{
    (void)args;
    cubed_cancel_set(&((core_plan *)object)->cancel);
    Py_RETURN_NONE;
}

/* Returns true if a task of work() in another thread has exceeded its time limit and does not end. It may never return. */
static PyObject *plan_is_stuck(PyObject *object, PyObject *args)
{
    (void)args;
    return PyBool_FromLong(cubed_cancel_is_set(&((core_plan *)object)->stuck));
}

/* Runs a range and returns its reports (cubed/sys/message.h). Only one range may run at a time. limits_memory and skip_done are
 * members of cubed_worker_options, time_ms a member of cubed_work_input. */
static PyObject *plan_work(PyObject *object, PyObject *args)
{
    core_plan *self = (core_plan *)object;
    const char *range;
    Py_ssize_t n;
    const void *reports = NULL;
    size_t size = 0;
    cubed_worker *worker = NULL;
    cubed_worker_options options = CUBED_WORKER_OPTIONS_INIT;
    cubed_work_input in = CUBED_WORK_INPUT_INIT;
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    PyObject *bytes = NULL;
    int limits_memory, skip_done;
    unsigned time_ms;
    if (!PyArg_ParseTuple(args, "y#pIp", &range, &n, &limits_memory, &time_ms, &skip_done))
        return NULL;
    if (self->running) {
        PyErr_SetString(PyExc_RuntimeError, "this plan is running already");
        return NULL;
    }
    self->running = true;
    options.plan = self->plan;
    options.stuck = &self->stuck;
    options.limits_memory = limits_memory;
    options.skip_done = skip_done;
    in.message = range;
    in.message_size = (size_t)n;
    in.cancel = &self->cancel;
    in.time_ms = time_ms;
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_worker_new(NULL, &options, &worker, &err);
    if (st == CUBED_OK) st = cubed_work(worker, &in, &reports, &size, &err);
    Py_END_ALLOW_THREADS;
    self->running = false;
    if (st == CUBED_OK) bytes = PyBytes_FromStringAndSize(reports, (Py_ssize_t)size);
    cubed_worker_free(worker);
    return st == CUBED_OK ? bytes : core_raise(&err);
}

static void dealloc(PyObject *object)
{
    core_plan *self = (core_plan *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    report_close(self->record);
    cubed_plan_unref(self->plan);
    /* The plan reads through these objects, so release them after the plan. */
    Py_XDECREF(self->held);
    PyMem_Free(self->is_memory);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((core_plan *)object)->held);
    return 0;
}

/* --- Inspecting plans --------------------------------------------------------------------------------- */

static PyObject *plan_save(PyObject *object, PyObject *args)
{
    core_plan *self = (core_plan *)object;
    cubed_error err = CUBED_ERROR_INIT;
    void *data;
    size_t size;
    (void)args;
    if (cubed_plan_save(self->plan, &data, &size, &err) != CUBED_OK) return core_raise(&err);
    PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    cubed_plan_free_bytes(self->plan, data, size);
    return bytes;
}

/* Returns the plan's ID, which identifies what is computed and where; "" if it is unknown. */
static PyObject *plan_id(PyObject *object, PyObject *args)
{
    const cubed_plan *plan = ((core_plan *)object)->plan;
    char id[CUBED_PLAN_ID_CAP];
    cubed_status st;
    cubed_error err = CUBED_ERROR_INIT;
    (void)args;
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_plan_get_id(plan, id, &err);
    Py_END_ALLOW_THREADS;
    return st == CUBED_OK ? PyUnicode_FromString(id) : core_raise(&err);
}

static PyObject *plan_info(PyObject *object, PyObject *args)
{
    cubed_plan_info i;
    (void)args;
    cubed_plan_get_info(((core_plan *)object)->plan, &i);
    return Py_BuildValue(
        "{sisisLsKsKsKsKsIsKsKsKsKsKsdsdsKszsOsO}", "num_stages", i.num_stages, "num_arrays",
        i.num_arrays, "num_tasks", (long long)i.num_tasks, "allowed_mem",
        (unsigned long long)i.allowed_mem, "reserved_mem", (unsigned long long)i.reserved_mem,
        "projected_mem", (unsigned long long)i.projected_mem, "metadata_mem",
        (unsigned long long)i.metadata_mem, "max_workers", i.max_workers, "intermediate_budget",
        (unsigned long long)i.intermediate_budget, "process_mem", (unsigned long long)i.process_mem,
        "bytes_read", (unsigned long long)i.bytes_read, "bytes_written",
        (unsigned long long)i.bytes_written, "requests", (unsigned long long)i.requests, "seconds",
        i.seconds, "compute_seconds", i.compute_seconds, "result_bytes",
        (unsigned long long)i.result_bytes, "work_dir", i.work_dir, "code",
        i.code ? Py_True : Py_False, "resumable", i.resumable ? Py_True : Py_False);
}

static PyObject *plan_warnings(PyObject *object, PyObject *args)
{
    PyObject *list = PyList_New(0);
    char text[1024];
    (void)args;
    for (int i = 0;
         list && cubed_plan_get_warning(((core_plan *)object)->plan, i, text, sizeof text); i++) {
        PyObject *item = PyUnicode_FromString(text);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *codec_list(const cubed_plan *plan, int id)
{
    PyObject *list = PyList_New(0);
    const char *name;
    for (int i = 0; list && (name = cubed_plan_get_codec(plan, id, i)); i++) {
        PyObject *item = PyUnicode_FromString(name);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *stored_dict(const cubed_plan *plan, const cubed_stored_info *s)
{
    PyObject *codecs = codec_list(plan, s->id);
    PyObject *shape = core_tuple(s->shape, s->ndim), *chunks = core_tuple(s->chunks, s->ndim);
    char dtype[CUBED_DTYPE_TEXT_CAP];
    long long size = 1, nchunks = 1;
    for (int d = 0; d < s->ndim; d++) {
        const int64_t chunk = s->chunks[d] > 0 ? s->chunks[d] : 1;
        size *= s->shape[d];
        nchunks *= s->shape[d] / chunk + (s->shape[d] % chunk != 0);
    }
    if (!shape || !chunks || !codecs) {
        Py_XDECREF(shape);
        Py_XDECREF(chunks);
        Py_XDECREF(codecs);
        return NULL;
    }
    return Py_BuildValue(
        "{sisssssOsOsssNsNsNsNsLsL}", "id", s->id, "name", s->name, "why", s->why, "is_source",
        s->is_source ? Py_True : Py_False, "is_target", s->is_target ? Py_True : Py_False, "dtype",
        cubed_dtype_text(s->dtype, dtype), "shape", shape, "chunks", chunks, "codecs", codecs,
        "array", PyLong_FromVoidPtr((void *)(uintptr_t)s->array), "nbytes",
        size * (long long)cubed_dtype_size(s->dtype), "nchunks", nchunks);
}

typedef cubed_status (*stored_fn)(const cubed_plan *plan, int stage, int i, cubed_stored_info *info,
                                  cubed_error *err);

static PyObject *stored_list(const cubed_plan *plan, int stage, int n, stored_fn fn)
{
    cubed_error err = CUBED_ERROR_INIT;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < n; i++) {
        cubed_stored_info info;
        PyObject *item = fn(plan, stage, i, &info, &err) == CUBED_OK ? stored_dict(plan, &info)
                                                                     : core_raise(&err);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* Returns [(number of another stage that reads the same arrays, reason why it is separate), ...]. */
static PyObject *apart_list(const cubed_plan *plan, int stage, int num_stages)
{
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < num_stages; k++) {
        const char *why = cubed_plan_why_apart(plan, stage, k);
        if (!why) continue;
        PyObject *item = Py_BuildValue("(is)", k, why);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* Returns [(name, number of elements, bytes of an element), ...]. */
static PyObject *operation_list(const cubed_plan *plan, int stage)
{
    enum { MOST = 64 };
    cubed_operation_info ops[MOST];
    int n;
    cubed_error err = CUBED_ERROR_INIT;
    if (cubed_plan_get_operations(plan, stage, ops, MOST, &n, &err) != CUBED_OK)
        return core_raise(&err);
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < n && i < MOST; i++) {
        PyObject *item =
            Py_BuildValue("(sdn)", ops[i].name, ops[i].elements, (Py_ssize_t)ops[i].item_size);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *plan_stages(PyObject *object, PyObject *args)
{
    const cubed_plan *plan = ((core_plan *)object)->plan;
    cubed_plan_info info;
    cubed_error err = CUBED_ERROR_INIT;
    PyObject *list = PyList_New(0);
    (void)args;
    cubed_plan_get_info(plan, &info);
    for (int i = 0; list && i < info.num_stages; i++) {
        cubed_stage_info s;
        PyObject *item = NULL;
        if (cubed_plan_get_stage(plan, i, &s, &err) != CUBED_OK) {
            core_raise(&err);
        } else {
            PyObject *inputs = stored_list(plan, i, s.num_inputs, cubed_plan_get_input);
            PyObject *outputs = stored_list(plan, i, s.num_outputs, cubed_plan_get_output);
            PyObject *apart = apart_list(plan, i, info.num_stages);
            PyObject *operations = operation_list(plan, i);
            if (inputs && outputs && apart && operations)
                item = Py_BuildValue("{sssLsIsKsKsKsKsKsdsdsdsdsOsOsOsO}", "name", s.name,
                                     "num_tasks", (long long)s.num_tasks, "coop", s.coop,
                                     "projected_mem", (unsigned long long)s.projected_mem,
                                     "bytes_read", (unsigned long long)s.bytes_read,
                                     "bytes_written", (unsigned long long)s.bytes_written,
                                     "chunks_read", (unsigned long long)s.chunks_read,
                                     "chunks_written", (unsigned long long)s.chunks_written,
                                     "seconds", s.seconds, "compute_seconds", s.compute_seconds,
                                     "read_seconds", s.read_seconds, "write_seconds",
                                     s.write_seconds, "inputs", inputs, "outputs", outputs, "apart",
                                     apart, "operations", operations);
            Py_XDECREF(inputs);
            Py_XDECREF(outputs);
            Py_XDECREF(apart);
            Py_XDECREF(operations);
        }
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* Gets the prices of one scheme from {scheme: (get, put, read, written)}. Returns false with an exception set. */
static bool price_of(PyObject *prices, const char *scheme, cubed_store_price *p)
{
    if (!cubed_store_list_price(scheme, p)) {
        PyErr_Format(PyExc_ValueError, "prices: no store has the scheme \"%s\"", scheme);
        return false;
    }
    PyObject *of = PyDict_GetItemString(prices, scheme);
    return !of || PyArg_ParseTuple(of, "dddd", &p->get, &p->put, &p->read, &p->written);
}

/* Checks all prices, even those of stores that the plan does not use. */
static bool check_prices(PyObject *prices)
{
    PyObject *scheme, *of;
    Py_ssize_t at = 0;
    while (PyDict_Next(prices, &at, &scheme, &of)) {
        cubed_store_price price;
        const char *name = PyUnicode_AsUTF8AndSize(scheme, NULL);
        if (!name || !price_of(prices, name, &price)) return false;
    }
    return true;
}

static PyObject *traffic_dict(const cubed_store_traffic *t, const cubed_store_price *price)
{
    return Py_BuildValue(
        "{sssKsKsKsKsKsKsKsKsKsdsdsdsdsdsd}", "scheme", t->scheme, "gets",
        (unsigned long long)t->gets, "heads", (unsigned long long)t->heads, "puts",
        (unsigned long long)t->puts, "lists", (unsigned long long)t->lists, "copies",
        (unsigned long long)t->copies, "deletes", (unsigned long long)t->deletes, "saved",
        (unsigned long long)t->saved, "bytes_read", (unsigned long long)t->bytes_read,
        "bytes_written", (unsigned long long)t->bytes_written, "cost", cubed_traffic_cost(t, price),
        "get_rate", t->get_rate, "put_rate", t->put_rate, "get_limit", t->get_limit, "put_limit",
        t->put_limit, "limit_seconds", t->limit_seconds);
}

static PyObject *plan_traffic(PyObject *object, PyObject *args)
{
    enum { MOST = 16 };
    cubed_store_traffic t[MOST];
    PyObject *prices;
    int apart, n;
    if (!PyArg_ParseTuple(args, "pO!", &apart, &PyDict_Type, &prices) || !check_prices(prices))
        return NULL;
    const cubed_plan *plan = ((core_plan *)object)->plan;
    Py_BEGIN_ALLOW_THREADS; /* sends requests to stores */
    cubed_plan_get_traffic(plan, apart, t, MOST, &n);
    Py_END_ALLOW_THREADS;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < n; i++) {
        cubed_store_price price;
        PyObject *item = NULL;
        if (price_of(prices, t[i].scheme, &price)) item = traffic_dict(&t[i], &price);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *promise_dict(const cubed_promise *x)
{
    char text[CUBED_PROMISE_TEXT_CAP];
    cubed_promise_text(x, text, sizeof text);
    return Py_BuildValue(
        "{sNsssssOsLsKsKsKsOsO}", "url", PyUnicode_DecodeFSDefault(x->url), "fence",
        cubed_fence_name(x->fence), "promise", text, "is_region", x->is_region ? Py_True : Py_False,
        "shared_chunks", (long long)x->shared_chunks, "claim_requests",
        (unsigned long long)x->claim_requests, "chunk_requests",
        (unsigned long long)x->chunk_requests, "bytes", (unsigned long long)x->bytes, "may_replace",
        x->may_replace ? Py_True : Py_False, "copies", x->copies ? Py_True : Py_False);
}

static PyObject *plan_targets(PyObject *object, PyObject *unused)
{
    const core_plan *self = (core_plan *)object;
    cubed_promise x;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st;
    PyObject *list = PyList_New(0);
    (void)unused;
    for (int i = 0; list && (st = cubed_plan_get_promise(self->plan, i, &x, &err)) == CUBED_OK;
         i++) {
        PyObject *item = promise_dict(&x);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    if (!list || st == CUBED_E_NOT_FOUND) return list;
    Py_DECREF(list);
    return core_raise(&err);
}

/* Returns the numbers of the lines that created the nodes that a stage computes and reads, the last line first. */
static PyObject *plan_origins(PyObject *object, PyObject *args)
{
    enum { MOST = 16 };
    uint32_t origins[MOST];
    int stage, n;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "i", &stage)) return NULL;
    if (cubed_plan_get_origins(((core_plan *)object)->plan, stage, origins, MOST, &n, &err) !=
        CUBED_OK)
        return core_raise(&err);
    int64_t numbers[MOST];
    for (int i = 0; i < n && i < MOST; i++) numbers[i] = origins[i];
    return core_tuple(numbers, n < MOST ? n : MOST);
}

static PyObject *plan_draw(PyObject *object, PyObject *args)
{
    const char *format;
    if (!PyArg_ParseTuple(args, "s", &format)) return NULL;
    return core_draw_plan(((core_plan *)object)->plan, format);
}

/* Describes the requests to stores on other machines as text. */
static PyObject *plan_requests(PyObject *object, PyObject *args)
{
    int apart;
    if (!PyArg_ParseTuple(args, "p", &apart)) return NULL;
    return core_plan_requests(((core_plan *)object)->plan, apart);
}

/* Records the events of the next run, if the caller wants a record. */
static PyObject *plan_record(PyObject *object, PyObject *args)
{
    core_plan *self = (core_plan *)object;
    int apart;
    if (!PyArg_ParseTuple(args, "p", &apart)) return NULL;
    if (self->running) { /* the run adds its events to the existing record */
        PyErr_SetString(PyExc_RuntimeError, "this plan is running already");
        return NULL;
    }
    return core_record(self->plan, apart, &self->record) ? Py_NewRef(Py_None) : NULL;
}

static const report *record_of(PyObject *object)
{
    const report *r = ((core_plan *)object)->record;
    if (!r) PyErr_SetString(PyExc_RuntimeError, "no run of this plan was recorded");
    return r;
}

static PyObject *plan_chart(PyObject *object, PyObject *args)
{
    const char *name;
    const report *r;
    if (!PyArg_ParseTuple(args, "s", &name) || !(r = record_of(object))) return NULL;
    return core_draw_record(r, name);
}

static PyObject *plan_report(PyObject *object, PyObject *args)
{
    const core_plan *self = (core_plan *)object;
    report_run run = {.stats = &self->stats};
    const report *r;
    if (!PyArg_ParseTuple(args, "sz", &run.executor, &run.error) || !(r = record_of(object)))
        return NULL;
    return core_report(r, &run);
}

static PyObject *plan_status(PyObject *object, PyObject *args)
{
    report_state state;
    const report *r;
    if (!PyArg_ParseTuple(args, "ssz", &state.executor, &state.state, &state.error) ||
        !(r = record_of(object)))
        return NULL;
    return core_status(r, &state);
}

/* Returns the index of the first chunk that the task produces. */
static PyObject *plan_block(PyObject *object, PyObject *args)
{
    int stage, ndim;
    long long task;
    int64_t block[CUBED_MAX_NDIM];
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "iL", &stage, &task)) return NULL;
    if (cubed_plan_get_block(((core_plan *)object)->plan, stage, task, block, &ndim, &err) !=
        CUBED_OK)
        return core_raise(&err);
    return core_tuple(block, ndim);
}

static PyMethodDef methods[] = {
    {"block", plan_block, METH_VARARGS, "block(stage: int, task: int, /) -> tuple[int, ...]"},
    {"draw", plan_draw, METH_VARARGS, "draw(format: Drawing, /) -> str"},
    {"requests", plan_requests, METH_VARARGS, "requests(apart: bool, /) -> str"},
    {"record", plan_record, METH_VARARGS, "record(apart: bool, /) -> None"},
    {"chart", plan_chart, METH_VARARGS, "chart(name: Chart, /) -> str"},
    {"report", plan_report, METH_VARARGS, "report(executor: str, error: str | None, /) -> str"},
    {"status", plan_status, METH_VARARGS,
     "status(executor: str, state: str, error: str | None, /) -> str"},
    {"run", (PyCFunction)(void (*)(void))core_run_plan, METH_VARARGS | METH_KEYWORDS,
     "run(results: tuple[Any, ...], executor: str | None, *, retries: int = ..., "
     "backups: bool = ..., task_timeout_ms: int = ..., resume: bool = ..., keep: int = ..., "
     "silence: int = ..., take_over: bool = ..., command: tuple[str, ...] = ..., "
     "engine: object = ..., callback: Callable[[dict[str, Any]], object] | None = ..., "
     "update: bool = ...) -> dict[str, Any]"},
    {"last_run", core_last_run, METH_NOARGS, "last_run() -> dict[str, Any]"},
    {"save", plan_save, METH_NOARGS, "save() -> bytes"},
    {"load", plan_load, METH_VARARGS | METH_CLASS, "load(data: bytes, code: bool, /) -> Plan"},
    {"fetch", plan_fetch, METH_VARARGS | METH_CLASS, "fetch(work_dir: str, key: str, /) -> Plan"},
    {"work", plan_work, METH_VARARGS,
     "work(message: bytes, limits_memory: bool, time_ms: int, skip_done: bool, /) -> bytes"},
    {"check", (PyCFunction)(void (*)(void))plan_check, METH_VARARGS | METH_CLASS,
     "check(counts: tuple[int, ...], targets: tuple[tuple[Array, Target | None], ...], limits: "
     "dict[str, Any], /) -> None"},
    {"netcdf_mem", (PyCFunction)(void (*)(void))plan_netcdf_mem, METH_VARARGS | METH_CLASS,
     "netcdf_mem(targets: tuple[tuple[Array, Target | None], ...], /) -> int"},
    {"load_functions", plan_load_functions, METH_NOARGS, "load_functions() -> None"},
    {"stop", plan_stop, METH_NOARGS, "stop() -> None"},
    {"is_stuck", plan_is_stuck, METH_NOARGS, "is_stuck() -> bool"},
    {"id", plan_id, METH_NOARGS, "id() -> str"},
    {"info", plan_info, METH_NOARGS, "info() -> dict[str, Any]"},
    {"warnings", plan_warnings, METH_NOARGS, "warnings() -> list[str]"},
    {"stages", plan_stages, METH_NOARGS, "stages() -> list[dict[str, Any]]"},
    {"targets", plan_targets, METH_NOARGS, "targets() -> list[dict[str, Any]]"},
    {"traffic", plan_traffic, METH_VARARGS,
     "traffic(apart: bool, prices: dict[str, tuple[float, float, float, float]], /) -> "
     "list[dict[str, Any]]"},
    {"origins", plan_origins, METH_VARARGS, "origins(stage: int, /) -> tuple[int, ...]"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, plan_new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_methods, methods},
    {Py_tp_doc, "The stages and tasks of a computation, decided and checked before a task runs."},
    {0, NULL},
};

PyType_Spec core_plan_spec = {
    .name = "cubed._core.Plan",
    .basicsize = sizeof(core_plan),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};
