/* Grids in files, and files of weights (cubed/grid_files.h). */
#include "core.h"

#include "cubed/grid_files.h"

static PyObject *coordinate_kind(PyObject *module, PyObject *args)
{
    const char *name, *attrs;
    (void)module;
    if (!PyArg_ParseTuple(args, "sz", &name, &attrs)) return NULL;
    const char kind[2] = {cubed_coordinate_kind(name, attrs), 0};
    return PyUnicode_FromString(kind);
}

static PyObject *units_are_radians(PyObject *module, PyObject *object)
{
    const char *units = PyUnicode_AsUTF8AndSize(object, NULL);
    (void)module;
    return units ? PyBool_FromLong(cubed_units_are_radians(units)) : NULL;
}

/* Returns the rotated pole of a grid mapping, or None for other attributes. */
static PyObject *rotated_pole(PyObject *module, PyObject *object)
{
    const char *attrs = PyUnicode_AsUTF8AndSize(object, NULL);
    double pole[3];
    (void)module;
    if (!attrs) return NULL;
    if (!cubed_rotated_pole(attrs, pole)) Py_RETURN_NONE;
    return Py_BuildValue("(ddd)", pole[0], pole[1], pole[2]);
}

/* Returns a tuple of n arrays, and takes ownership of their references. A NULL array becomes None. */
static PyObject *tuple_of(core_state *s, cubed_array **x, int n)
{
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; i < n; i++) {
        PyObject *item = x[i] ? core_wrap(s, x[i]) : Py_NewRef(Py_None);
        if (!tuple)
            Py_XDECREF(item);
        else if (!item || PyTuple_SetItem(tuple, i, item) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* Returns the tuple of a grid: its four arrays, its mask, whether it is a list of cells, and its names. Takes ownership of the
 * grid. */
static PyObject *parts_of_grid(core_state *s, cubed_grid *grid, const cubed_grid_names *names)
{
    cubed_grid_cells cells = CUBED_GRID_CELLS_INIT;
    cubed_array *made[5] = {NULL};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st = cubed_grid_get(grid, &cells, &err);
    if (st == CUBED_OK) st = cubed_grid_mask(s->ctx, grid, &made[4], &err);
    if (st == CUBED_OK) st = cubed_grid_arrays(s->ctx, grid, made, &err);
    const bool is_list = !cells.regular && cells.ndim == 1;
    cubed_grid_free(grid);
    if (st != CUBED_OK) {
        cubed_array_unref(made[4]);
        return core_raise(&err);
    }
    PyObject *arrays = tuple_of(s, made, 5);
    if (!arrays) return NULL;
    return Py_BuildValue("(NN(ssss))", arrays, PyBool_FromLong(is_list), names->lat, names->lon,
                         names->dim[0], names->dim[1]);
}

static PyObject *open_grid(PyObject *module, PyObject *object)
{
    core_state *s = core_get_state(module);
    const char *place = PyUnicode_AsUTF8AndSize(object, NULL);
    cubed_grid_names names;
    cubed_grid *grid = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st;
    if (!place) return NULL;
    cubed_context *ctx = core_context(s);
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_grid_open(ctx, place, &grid, &names, &err);
    Py_END_ALLOW_THREADS;
    return st == CUBED_OK ? parts_of_grid(s, grid, &names) : core_raise(&err);
}

static PyObject *parse_grid(PyObject *module, PyObject *object)
{
    core_state *s = core_get_state(module);
    const char *text = PyUnicode_AsUTF8AndSize(object, NULL);
    const cubed_grid_names names = {.lat = ""};
    cubed_grid *grid = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (!text) return NULL;
    if (cubed_grid_parse(core_context(s), text, &grid, &err) != CUBED_OK) return core_raise(&err);
    return parts_of_grid(s, grid, &names);
}

/* Creates a grid from a tuple of latitudes and longitudes, optionally their bounds, and optionally a mask as the last item. Sets
 * *out to NULL if the tuple is empty. */
static bool take_grid(core_state *s, const char *what, PyObject *tuple, bool unstructured,
                      cubed_grid **out)
{
    cubed_array *x[5] = {NULL}, *mask = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    *out = NULL;
    if (!core_is_tuple(what, tuple)) return false;
    const Py_ssize_t n = PyTuple_Size(tuple);
    if (n == 0) return true;
    if (n < 2 || n > 5) {
        PyErr_Format(PyExc_ValueError, "%s has %zd arrays, expected 2 to 5", what, n);
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        x[i] = core_unwrap(s, PyTuple_GetItem(tuple, i));
        if (!x[i]) return false;
    }
    if (n % 2 == 1) {
        mask = x[n - 1];
        x[n - 1] = NULL;
    }
    cubed_status st = cubed_grid_from_arrays(x[0], x[1], x[2], x[3], unstructured, out, &err);
    if (st == CUBED_OK && mask) st = cubed_grid_set_mask(*out, mask, &err);
    if (st == CUBED_OK) return true;
    cubed_grid_free(*out);
    *out = NULL;
    (void)core_raise(&err);
    return false;
}

static PyObject *rotated_grid(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    PyObject *axes;
    double pole[3];
    cubed_grid_cells cells = CUBED_GRID_CELLS_INIT;
    cubed_grid *regular = NULL, *grid = NULL;
    cubed_array *made[4];
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "O(ddd)", &axes, &pole[0], &pole[1], &pole[2]) ||
        !take_grid(s, "axes", axes, false, &regular))
        return NULL;
    if (!regular) return PyErr_Format(PyExc_ValueError, "axes has no arrays, expected 2 or 4");
    cubed_status st = cubed_grid_get(regular, &cells, &err);
    if (st == CUBED_OK) st = cubed_grid_new_rotated(s->ctx, &cells, pole, &grid, &err);
    if (st == CUBED_OK) st = cubed_grid_arrays(s->ctx, grid, made, &err);
    cubed_grid_free(regular);
    cubed_grid_free(grid);
    return st == CUBED_OK ? tuple_of(s, made, 4) : core_raise(&err);
}

/* Callback that finds arrays of a file of weights. */
typedef struct finder {
    core_state *state;
    PyObject *find;
} finder;

static cubed_status find(void *ctx, const char *name, cubed_array **out, cubed_error *err)
{
    finder *f = ctx;
    *out = NULL;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *made = PyObject_CallFunction(f->find, "s", name);
    cubed_array *x = made && made != Py_None ? core_unwrap(f->state, made) : NULL;
    if (x) *out = cubed_array_ref(x);
    Py_XDECREF(made);
    const cubed_status st = PyErr_Occurred() ? core_catch(err) : CUBED_OK;
    PyGILState_Release(gil);
    return st;
}

/* Parses the shape of a grid. If the shape is unknown, it has no extents. */
static bool take_shape(const char *what, PyObject *seq, int *ndim, int64_t out[2])
{
    int64_t extent[CUBED_MAX_NDIM] = {1, 1};
    if (!core_ints(what, seq, extent, ndim)) return false;
    if (*ndim > 2) {
        PyErr_Format(PyExc_ValueError, "%s has %d extents, expected 1 or 2", what, *ndim);
        return false;
    }
    out[0] = *ndim > 0 ? extent[0] : 1;
    out[1] = *ndim > 1 ? extent[1] : 1;
    return true;
}

static PyObject *read_weights(PyObject *module, PyObject *args)
{
    finder f = {.state = core_get_state(module)};
    cubed_weights_input in = CUBED_WEIGHTS_INPUT_INIT;
    PyObject *source, *target;
    unsigned long long memory;
    cubed_weights *w = NULL;
    cubed_weights_shape shape;
    cubed_array *made[3];
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st;
    if (!PyArg_ParseTuple(args, "OsOOK", &f.find, &in.name, &source, &target, &memory) ||
        !take_shape("source_shape", source, &in.shape.source_ndim, in.shape.source) ||
        !take_shape("target_shape", target, &in.shape.target_ndim, in.shape.target))
        return NULL;
    in.find = find;
    in.ctx = &f;
    in.memory = memory;
    cubed_context *ctx = core_context(f.state);
    Py_BEGIN_ALLOW_THREADS;
    st = cubed_weights_read(ctx, &in, &w, &err);
    if (st == CUBED_OK) {
        (void)cubed_weights_get(w, &shape, NULL, NULL, NULL);
        st = cubed_weights_arrays(w, made, &err);
    }
    Py_END_ALLOW_THREADS;
    cubed_weights_unref(w);
    if (st != CUBED_OK) return core_raise(&err);
    PyObject *arrays = tuple_of(f.state, made, 3);
    if (!arrays) return NULL;
    return Py_BuildValue("(NNN)", arrays, core_tuple(shape.source, shape.source_ndim),
                         core_tuple(shape.target, shape.target_ndim));
}

/* Returns a list with (name, array) for each known array of a file of weights. */
static PyObject *parts_of(core_state *s, const cubed_weights *w, const cubed_grid *source,
                          const cubed_grid *target)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; i < CUBED_WEIGHTS_ARRAYS && list; i++) {
        cubed_array *x = NULL;
        cubed_error err = CUBED_ERROR_INIT;
        if (cubed_weights_array(s->ctx, w, source, target, i, &x, &err) != CUBED_OK) {
            Py_CLEAR(list);
            return core_raise(&err);
        }
        if (!x) continue;
        PyObject *array = core_wrap(s, x);
        PyObject *pair = array ? Py_BuildValue("(sN)", cubed_weights_array_name(i), array) : NULL;
        if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

static PyObject *weights_parts(PyObject *module, PyObject *args)
{
    core_state *s = core_get_state(module);
    cubed_weights_shape shape = {0, 0, {0, 0}, {0, 0}};
    PyObject *links, *grids[2], *shapes[2], *list = NULL;
    cubed_grid *grid[2] = {NULL, NULL};
    cubed_array *x[3];
    cubed_weights *w = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_remap_method method = CUBED_REMAP_BILINEAR;
    const char *name;
    int unstructured[2];
    char attrs[512];
    if (!PyArg_ParseTuple(args, "OOOOOpps", &links, &shapes[0], &shapes[1], &grids[0], &grids[1],
                          &unstructured[0], &unstructured[1], &name) ||
        !core_is_tuple("links", links) ||
        !take_shape("source_shape", shapes[0], &shape.source_ndim, shape.source) ||
        !take_shape("target_shape", shapes[1], &shape.target_ndim, shape.target))
        return NULL;
    if (PyTuple_Size(links) != 3)
        return PyErr_Format(PyExc_ValueError, "links has %zd arrays, expected 3",
                            PyTuple_Size(links));
    if (*name && !cubed_remap_method_find(name, &method))
        return core_unknown("method", name, "the name of a method of remap");
    for (int i = 0; i < 3; i++) {
        x[i] = core_unwrap(s, PyTuple_GetItem(links, i));
        if (!x[i]) return NULL;
    }
    if (!take_grid(s, "source", grids[0], unstructured[0], &grid[0]) ||
        !take_grid(s, "target", grids[1], unstructured[1], &grid[1]))
        goto out;
    if (cubed_weights_from_arrays(&shape, x[0], x[1], x[2], &w, &err) != CUBED_OK) {
        (void)core_raise(&err);
        goto out;
    }
    cubed_weights_attrs(method, grid[0], grid[1], attrs);
    list = parts_of(s, w, grid[0], grid[1]);
out:
    cubed_weights_unref(w);
    for (int k = 0; k < 2; k++) cubed_grid_free(grid[k]);
    return list ? Py_BuildValue("(Ns)", list, attrs) : NULL;
}

PyMethodDef core_grid_methods[] = {
    {"coordinate_kind", coordinate_kind, METH_VARARGS,
     "coordinate_kind(name: str, attrs: str | None, /) -> str"},
    {"units_are_radians", units_are_radians, METH_O, "units_are_radians(units: str, /) -> bool"},
    {"open_grid", open_grid, METH_O,
     "open_grid(place: str, /) -> tuple[tuple[Array | None, ...], bool, "
     "tuple[str, str, str, str]]"},
    {"parse_grid", parse_grid, METH_O,
     "parse_grid(text: str, /) -> tuple[tuple[Array | None, ...], bool, "
     "tuple[str, str, str, str]]"},
    {"rotated_pole", rotated_pole, METH_O,
     "rotated_pole(attrs: str, /) -> tuple[float, float, float] | None"},
    {"rotated_grid", rotated_grid, METH_VARARGS,
     "rotated_grid(axes: tuple[Array, ...], pole: tuple[float, float, float], /) -> "
     "tuple[Array, ...]"},
    {"read_weights", read_weights, METH_VARARGS,
     "read_weights(find: Callable[[str], Array | None], name: str, source_shape: Sequence[int], "
     "target_shape: Sequence[int], memory: int, /) -> "
     "tuple[tuple[Array, ...], tuple[int, ...], tuple[int, ...]]"},
    {"weights_parts", weights_parts, METH_VARARGS,
     "weights_parts(links: tuple[Array, ...], source_shape: Sequence[int], target_shape: "
     "Sequence[int], source: tuple[Array, ...], target: tuple[Array, ...], source_unstructured: "
     "bool, target_unstructured: bool, method: str, /) -> tuple[list[tuple[str, Array]], str]"},
    {NULL, NULL, 0, NULL},
};
