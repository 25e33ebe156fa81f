#include "meter.h"

#include <malloc.h>

/* Struct of numpy/ndarraytypes.h, version 1, which is declared here because NumPy's headers do not support the limited API. */
typedef struct data_allocator {
    void *ctx;
    void *(*malloc)(void *ctx, size_t size);
    void *(*calloc)(void *ctx, size_t n, size_t size);
    void *(*realloc)(void *ctx, void *p, size_t size);
    void (*free)(void *ctx, void *p, size_t size);
} data_allocator;

typedef struct data_handler {
    char name[127];
    uint8_t version;
    data_allocator allocator;
} data_handler;

#define CAPSULE_NAME "mem_handler"
/* Indices of functions in NumPy's table, which never change. */
#define SET_HANDLER 304
#define GET_HANDLER 305

typedef struct counter {
    data_handler handler; /* must be first, because NumPy sees only this part */
    PyObject *base;       /* NumPy's previous allocator, which allocates the memory */
    data_allocator to;    /* its functions */
    int64_t live, peak;
} counter;

static void grow(counter *c, int64_t bytes)
{
    c->live += bytes;
    if (c->live < 0) c->live = 0; /* arrays that were allocated before have been freed */
    if (c->live > c->peak) c->peak = c->live;
}

static void *count_malloc(void *ctx, size_t size)
{
    counter *c = ctx;
    void *p = c->to.malloc(c->to.ctx, size);
    if (p) grow(c, (int64_t)size);
    return p;
}

static void *count_calloc(void *ctx, size_t n, size_t size)
{
    counter *c = ctx;
    void *p = c->to.calloc(c->to.ctx, n, size);
    if (p) grow(c, (int64_t)(n * size));
    return p;
}

static void *count_realloc(void *ctx, void *p, size_t size)
{
    counter *c = ctx;
    int64_t old = p ? (int64_t)malloc_usable_size(p) : 0;
    void *moved = c->to.realloc(c->to.ctx, p, size);
    if (moved) grow(c, (int64_t)size - old);
    return moved;
}

static void count_free(void *ctx, void *p, size_t size)
{
    counter *c = ctx;
    c->to.free(c->to.ctx, p, size);
    if (p) grow(c, -(int64_t)size);
}

static void end_counter(PyObject *capsule)
{
    counter *c = PyCapsule_GetPointer(capsule, CAPSULE_NAME);
    if (!c) return;
    Py_XDECREF(c->base);
    PyMem_Free(c);
}

/* Returns NumPy's table of functions. On failure returns NULL without an exception. */
static void **numpy_table(void)
{
    static const char *const modules[] = {"numpy._core._multiarray_umath",
                                          "numpy.core._multiarray_umath"};
    void **table = NULL;
    for (size_t i = 0; i < sizeof modules / sizeof *modules && !table; i++) {
        PyObject *module = PyImport_ImportModule(modules[i]);
        PyObject *capsule = module ? PyObject_GetAttrString(module, "_ARRAY_API") : NULL;
        if (capsule) table = PyCapsule_GetPointer(capsule, NULL);
        Py_XDECREF(capsule);
        Py_XDECREF(module);
        PyErr_Clear();
    }
    return table;
}

typedef PyObject *(*set_handler_fn)(PyObject *handler);
typedef PyObject *(*get_handler_fn)(void);

/* Creates an allocator that calls the present one. On failure returns NULL without an exception. */
static PyObject *make_counter(void **table)
{
    get_handler_fn get = (get_handler_fn)table[GET_HANDLER];
    PyObject *base = get();
    const data_handler *h = base ? PyCapsule_GetPointer(base, CAPSULE_NAME) : NULL;
    counter *c = h && h->version == 1 ? PyMem_Calloc(1, sizeof *c) : NULL;
    PyObject *capsule = NULL;
    if (c) {
        c->handler = (data_handler){.name = "cubed", .version = 1};
        c->handler.allocator =
            (data_allocator){c, count_malloc, count_calloc, count_realloc, count_free};
        c->to = h->allocator;
        capsule = PyCapsule_New(c, CAPSULE_NAME, end_counter);
        if (capsule)
            c->base = Py_NewRef(base);
        else
            PyMem_Free(c);
    }
    Py_XDECREF(base);
    PyErr_Clear();
    return capsule;
}

void core_meter_begin(core_meter *m)
{
    void **table = numpy_table();
    *m = (core_meter){NULL, NULL};
    if (!table) return;
    m->mine = make_counter(table);
    if (m->mine) m->before = ((set_handler_fn)table[SET_HANDLER])(m->mine);
    PyErr_Clear();
}

uint64_t core_meter_end(core_meter *m)
{
    PyObject *type, *value, *trace; /* the exception that the measured call has set, or NULL */
    PyErr_Fetch(&type, &value, &trace);
    void **table = m->before ? numpy_table() : NULL;
    const counter *c = m->mine ? PyCapsule_GetPointer(m->mine, CAPSULE_NAME) : NULL;
    uint64_t peak = c ? (uint64_t)c->peak : 0;
    PyObject *mine = table ? ((set_handler_fn)table[SET_HANDLER])(m->before) : NULL;
    PyErr_Clear();
    Py_XDECREF(mine);
    Py_XDECREF(m->mine);
    Py_XDECREF(m->before);
    PyErr_Restore(type, value, trace);
    return peak;
}
