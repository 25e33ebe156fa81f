/* Fourier transforms. */
#include "core.h"

#include <string.h>

typedef cubed_status (*one_axis)(cubed_array *x, const int64_t *n, int axis, cubed_fft_norm norm,
                                 cubed_array **out, cubed_error *err);
typedef cubed_status (*many_axes)(cubed_array *x, const int64_t *s, const int *axes, int naxes,
                                  cubed_fft_norm norm, cubed_array **out, cubed_error *err);

static const struct {
    const char *name;
    one_axis one;
    many_axes many;
} transforms[] = {
    {"fft", cubed_fft, NULL},       {"ifft", cubed_ifft, NULL},   {"rfft", cubed_rfft, NULL},
    {"irfft", cubed_irfft, NULL},   {"hfft", cubed_hfft, NULL},   {"ihfft", cubed_ihfft, NULL},
    {"fftn", NULL, cubed_fftn},     {"ifftn", NULL, cubed_ifftn}, {"rfftn", NULL, cubed_rfftn},
    {"irfftn", NULL, cubed_irfftn},
};

/* Its row in the table; -1 with an exception if there is none. */
static int find(const char *name, bool many)
{
    for (size_t i = 0; i < sizeof transforms / sizeof *transforms; i++) {
        if (strcmp(transforms[i].name, name) == 0 && (transforms[i].many != NULL) == many)
            return (int)i;
    }
    PyErr_Format(PyExc_ValueError, "there is no transform %s", name);
    return -1;
}

static bool take_norm(const char *name, cubed_fft_norm *out)
{
    static const char *const names[] = {"backward", "ortho", "forward"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], name) != 0) continue;
        *out = (cubed_fft_norm)i;
        return true;
    }
    PyErr_Format(PyExc_ValueError, "norm is '%s', expected 'backward', 'ortho' or 'forward'", name);
    return false;
}

/* fft(name, x, n or None, axis, norm) */
static PyObject *fft(PyObject *module, PyObject *args)
{
    const char *name, *norm_name;
    PyObject *object, *n_arg;
    int64_t n = 0;
    int axis;
    cubed_fft_norm norm;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sOOis", &name, &object, &n_arg, &axis, &norm_name) ||
        !(x = core_unwrap(core_get_state(module), object)) || !take_norm(norm_name, &norm))
        return NULL;
    int row = find(name, false);
    if (row < 0) return NULL;
    if (n_arg != Py_None) n = PyLong_AsLongLong(n_arg);
    if (PyErr_Occurred()) return NULL;
    cubed_status st = transforms[row].one(x, n_arg == Py_None ? NULL : &n, axis, norm, &out, &err);
    return core_finish(module, st, out, &err);
}

/* fftn(name, x, s or None, axes or None, norm); s needs axes. */
static PyObject *fftn(PyObject *module, PyObject *args)
{
    const char *name, *norm_name;
    PyObject *object, *s_arg, *axes_arg;
    int64_t s[CUBED_MAX_NDIM];
    int axes[CUBED_MAX_NDIM], ns = 0, naxes = 0;
    cubed_fft_norm norm;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sOOOs", &name, &object, &s_arg, &axes_arg, &norm_name) ||
        !(x = core_unwrap(core_get_state(module), object)) || !take_norm(norm_name, &norm) ||
        (s_arg != Py_None && !core_ints("s", s_arg, s, &ns)) ||
        (axes_arg != Py_None && !core_axes("axes", axes_arg, axes, &naxes)))
        return NULL;
    int row = find(name, true);
    if (row < 0) return NULL;
    if (s_arg != Py_None && ns != naxes)
        return PyErr_Format(PyExc_ValueError, "s has %d entries for %d axes", ns, naxes);
    cubed_status st = transforms[row].many(
        x, s_arg == Py_None ? NULL : s, axes_arg == Py_None ? NULL : axes, naxes, norm, &out, &err);
    return core_finish(module, st, out, &err);
}

/* fftfreq(of_real, n, d, dtype) */
static PyObject *fftfreq(PyObject *module, PyObject *args)
{
    int of_real;
    long long n;
    double d;
    PyObject *name;
    cubed_dtype dtype;
    cubed_array *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "pLdO", &of_real, &n, &d, &name) || !core_dtype(name, &dtype))
        return NULL;
    cubed_context *ctx = core_get_state(module)->ctx;
    cubed_status st = of_real ? cubed_rfftfreq(ctx, n, d, dtype, &out, &err)
                              : cubed_fftfreq(ctx, n, d, dtype, &out, &err);
    return core_finish(module, st, out, &err);
}

/* fftshift(back, x, axes or None) */
static PyObject *fftshift(PyObject *module, PyObject *args)
{
    int back, axes[CUBED_MAX_NDIM], naxes = 0;
    PyObject *object, *axes_arg;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "pOO", &back, &object, &axes_arg) ||
        !(x = core_unwrap(core_get_state(module), object)) ||
        (axes_arg != Py_None && !core_axes("axes", axes_arg, axes, &naxes)))
        return NULL;
    const int *which = axes_arg == Py_None ? NULL : axes;
    cubed_status st = back ? cubed_ifftshift(x, which, naxes, &out, &err)
                           : cubed_fftshift(x, which, naxes, &out, &err);
    return core_finish(module, st, out, &err);
}

PyMethodDef core_fft_methods[] = {
    {"fft", fft, METH_VARARGS, NULL},
    {"fftn", fftn, METH_VARARGS, NULL},
    {"fftfreq", fftfreq, METH_VARARGS, NULL},
    {"fftshift", fftshift, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
