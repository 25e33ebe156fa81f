/* Fourier transforms. */
#include "core.h"

#include <string.h>

static bool find(const char *name, cubed_transform *out)
{
    static const char *const names[] = {"fft", "ifft", "rfft", "irfft", "hfft", "ihfft"};
    for (int i = 0; i < 6; i++) {
        if (strcmp(names[i], name) != 0) continue;
        *out = (cubed_transform)i;
        return true;
    }
    core_unknown("name", name, "fft, ifft, rfft, irfft, hfft or ihfft");
    return false;
}

static bool take_norm(const char *name, cubed_fft_norm *out)
{
    static const char *const names[] = {"backward", "ortho", "forward"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], name) != 0) continue;
        *out = (cubed_fft_norm)i;
        return true;
    }
    core_unknown("norm", name, "'backward', 'ortho' or 'forward'");
    return false;
}

static PyObject *fft(PyObject *module, PyObject *args)
{
    const char *name, *norm;
    PyObject *object, *s_arg, *axes_arg;
    int64_t s[CUBED_MAX_NDIM];
    int axes[CUBED_MAX_NDIM], ns = 0;
    unsigned long long task_mem;
    cubed_fft_options o = CUBED_FFT_OPTIONS_INIT;
    cubed_transform which;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "sOOOsK", &name, &object, &s_arg, &axes_arg, &norm, &task_mem) ||
        !(x = core_unwrap(core_get_state(module), object)) || !find(name, &which) ||
        !take_norm(norm, &o.norm) || (s_arg != Py_None && !core_ints("s", s_arg, s, &ns)) ||
        !core_axes("axes", axes_arg, axes, &o.naxes))
        return NULL;
    if (s_arg != Py_None && ns != o.naxes)
        return PyErr_Format(PyExc_ValueError, "s has %d entries for %d axes", ns, o.naxes);
    o.s = s_arg == Py_None ? NULL : s;
    o.axes = axes;
    o.task_mem = task_mem;
    cubed_status st = cubed_fft_with(which, x, &o, &out, &err);
    return core_finish(module, st, out, &err);
}

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

static PyObject *fftshift(PyObject *module, PyObject *args)
{
    int back, room[CUBED_MAX_NDIM], naxes;
    const int *axes;
    PyObject *object, *axes_arg;
    cubed_array *x, *out;
    cubed_error err = CUBED_ERROR_INIT;
    if (!PyArg_ParseTuple(args, "pOO", &back, &object, &axes_arg) ||
        !(x = core_unwrap(core_get_state(module), object)) ||
        !core_axes_or_all("axes", axes_arg, room, &axes, &naxes))
        return NULL;
    cubed_status st = back ? cubed_ifftshift(x, axes, naxes, &out, &err)
                           : cubed_fftshift(x, axes, naxes, &out, &err);
    return core_finish(module, st, out, &err);
}

PyMethodDef core_fft_methods[] = {
    {"fft", fft, METH_VARARGS,
     "fft(name: Transform, x: Array, s: Sequence[int] | None, axes: Sequence[int], norm: Norm, "
     "task_mem: int, /) -> Array"},
    {"fftfreq", fftfreq, METH_VARARGS,
     "fftfreq(of_real: bool, n: int, d: float, dtype: str, /) -> Array"},
    {"fftshift", fftshift, METH_VARARGS,
     "fftshift(back: bool, x: Array, axes: Sequence[int] | None, /) -> Array"},
    {NULL, NULL, 0, NULL},
};
