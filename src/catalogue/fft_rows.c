/* Fourier transforms. */
#include "base/error.h"
#include "cubed/array_api.h"
#include "rows.h"

#define CATEGORY .category = "fft"

static const cubed_choice norms[] = {{"backward", CUBED_FFT_BACKWARD},
                                     {"ortho", CUBED_FFT_ORTHO},
                                     {"forward", CUBED_FFT_FORWARD},
                                     {NULL, 0}};

#define NORM                                                                                       \
    {                                                                                              \
        PARAM("norm", ACCEPTS(CHOICE) | ACCEPTS(NONE), 0,                                          \
              "Where to divide by the number of elements: in the inverse transform "               \
              "(``\"backward\"``), in both transforms by its square root (``\"ortho\"``), or in "  \
              "the forward transform (``\"forward\"``)."),                                         \
            CHOICE_DEFAULT(CUBED_FFT_BACKWARD), .choices = norms                                   \
    }

/* Returns the norm at position i, or the default if it is None. */
static cubed_fft_norm get_norm(const cb_call *c, int i)
{
    return cb_call_has(c, i) ? (cubed_fft_norm)cb_call_choice(c, i) : CUBED_FFT_BACKWARD;
}

/* --- Along one axis ----------------------------------------------------------------------------------- */

static const cubed_param one_params[] = {
    PARAM_ARRAY("x", "Input array."),
    {PARAM("n", ACCEPTS(INT) | ACCEPTS(NONE), 0,
           "Length of the transform: the axis is truncated, or padded with zeros. None: the length "
           "of the axis.")},
    PARAM_AXIS("axis", 0, -1, "Axis that is transformed; negative numbers count from the last."),
    NORM,
    PARAM_TASK_MEM,
};

static cubed_status along_axis(const cb_call *c, cubed_transform transform)
{
    cubed_fft_options o = CUBED_FFT_OPTIONS_INIT;
    const int axis = cb_call_axis(c, 2);
    o.s = cb_call_has(c, 1) ? &c->values[1].as.integer : NULL;
    o.axes = &axis;
    o.naxes = 1;
    o.norm = get_norm(c, 3);
    o.task_mem = cb_call_task_mem(c);
    return cubed_fft_with(transform, cb_call_array(c, 0), &o, c->out, c->err);
}

static cubed_status call_fft(const cb_call *c) { return along_axis(c, CUBED_TRANSFORM_FFT); }
static cubed_status call_ifft(const cb_call *c) { return along_axis(c, CUBED_TRANSFORM_IFFT); }
static cubed_status call_rfft(const cb_call *c) { return along_axis(c, CUBED_TRANSFORM_RFFT); }
static cubed_status call_irfft(const cb_call *c) { return along_axis(c, CUBED_TRANSFORM_IRFFT); }
static cubed_status call_hfft(const cb_call *c) { return along_axis(c, CUBED_TRANSFORM_HFFT); }
static cubed_status call_ihfft(const cb_call *c) { return along_axis(c, CUBED_TRANSFORM_IHFFT); }

/* --- Along several axes ------------------------------------------------------------------------------- */

#define LENGTHS                                                                                    \
    {                                                                                              \
        PARAM("s", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(NONE), 0,                                \
              "Lengths of the transform along the axes. None: the lengths of the axes.")           \
    }

static const cubed_param many_params[] = {
    PARAM_ARRAY("x", "Input array."),
    LENGTHS,
    PARAM_AXES(
        "axes", 0,
        "Axes that are transformed. None: the last axes, one for each length in `s`, or all axes."),
    NORM,
    PARAM_TASK_MEM,
};

static const int64_t last_two[] = {-2, -1};
static const cubed_param two_params[] = {
    PARAM_NAMED_ARRAY("a", "Input array."),
    LENGTHS,
    {PARAM("axes", ACCEPTS(INT) | ACCEPTS(INTS), CUBED_PARAM_AXIS, "Axes that are transformed."),
     .fallback = {.kind = CUBED_VALUE_INTS, .n = 2, .as.ints = last_two}},
    NORM,
    PARAM_TASK_MEM,
};

/* Reads the lengths of axes. If no axes are given, the lengths are those of the last axes, which are written to `room`. */
static cubed_status take_lengths(const cb_call *c, int room[CUBED_MAX_NDIM], cubed_fft_options *o)
{
    const cubed_value *s = &c->values[1];
    const int ndim = cubed_array_ndim(cb_call_array(c, 0));
    if (s->kind == CUBED_VALUE_NONE) return CUBED_OK;
    const int n = s->kind == CUBED_VALUE_INT ? 1 : s->n;
    o->s = s->kind == CUBED_VALUE_INT ? &s->as.integer : s->as.ints;
    if (o->axes && n != o->naxes)
        return cb_call_blame(c, 1,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "%s: s has %d lengths, expected one for each of %d axes",
                                     c->function->name, n, o->naxes));
    if (n > ndim)
        return cb_call_blame(
            c, 1,
            cb_fail(c->err, CUBED_E_ARG,
                    "%s: s has %d lengths, expected at most %d, one for each axis of the array",
                    c->function->name, n, ndim));
    if (o->axes) return CUBED_OK;
    for (int i = 0; i < n; i++) room[i] = ndim - n + i;
    o->axes = room;
    o->naxes = n;
    return CUBED_OK;
}

static cubed_status along_axes(const cb_call *c, cubed_transform transform)
{
    cubed_fft_options o = CUBED_FFT_OPTIONS_INIT;
    int room[CUBED_MAX_NDIM];
    o.axes = cb_call_axes(c, 2, room, &o.naxes);
    o.norm = get_norm(c, 3);
    o.task_mem = cb_call_task_mem(c);
    CB_TRY(take_lengths(c, room, &o));
    return cubed_fft_with(transform, cb_call_array(c, 0), &o, c->out, c->err);
}

static cubed_status call_fftn(const cb_call *c) { return along_axes(c, CUBED_TRANSFORM_FFT); }
static cubed_status call_ifftn(const cb_call *c) { return along_axes(c, CUBED_TRANSFORM_IFFT); }
static cubed_status call_rfftn(const cb_call *c) { return along_axes(c, CUBED_TRANSFORM_RFFT); }
static cubed_status call_irfftn(const cb_call *c) { return along_axes(c, CUBED_TRANSFORM_IRFFT); }

/* --- Frequencies -------------------------------------------------------------------------------------- */

static const cubed_param freq_params[] = {
    PARAM_REQUIRED_INT("n", CUBED_PARAM_POSITION_ONLY, "Length of the transform."),
    {PARAM("d", ACCEPTS(FLOAT), 0, "Distance between samples."), FLOAT_DEFAULT(1)},
    PARAM_DTYPE("dtype", NAMED, "Data type of the frequencies, float32 or float64. None: float64."),
    PARAM_DEVICE,
};

static cubed_status call_fftfreq(const cb_call *c)
{
    const cubed_dtype *dtype = cb_call_dtype(c, 2);
    return cubed_fftfreq(c->ctx, cb_call_int(c, 0), cb_call_real(c, 1),
                         dtype ? *dtype : CUBED_FLOAT64, c->out, c->err);
}

static cubed_status call_rfftfreq(const cb_call *c)
{
    const cubed_dtype *dtype = cb_call_dtype(c, 2);
    return cubed_rfftfreq(c->ctx, cb_call_int(c, 0), cb_call_real(c, 1),
                          dtype ? *dtype : CUBED_FLOAT64, c->out, c->err);
}

static const cubed_param shift_params[] = {
    PARAM_ARRAY("x", "Input array."),
    PARAM_AXES("axes", 0, "Axes whose halves are swapped. None: all."),
};

static cubed_status call_fftshift(const cb_call *c)
{
    int room[CUBED_MAX_NDIM], n;
    const int *axes = cb_call_axes(c, 1, room, &n);
    return cubed_fftshift(cb_call_array(c, 0), axes, n, c->out, c->err);
}

static cubed_status call_ifftshift(const cb_call *c)
{
    int room[CUBED_MAX_NDIM], n;
    const int *axes = cb_call_axes(c, 1, room, &n);
    return cubed_ifftshift(cb_call_array(c, 0), axes, n, c->out, c->err);
}

/* --- Rows --------------------------------------------------------------------------------------------- */

#define COMPLEX "Complex, in the precision of the input."
#define REAL    "Real, in the precision of the input."
/* The axis of frequencies has no coordinate, because the input's coordinate does not describe it. */
#define CUTS .coords = CUBED_COORDS_CUT

static const cb_row rows[] = {
    {{"fft", CATEGORY, .summary = "The Fourier transform along an axis.", .returns = COMPLEX,
      PARAMS(one_params), CUTS},
     .call = call_fft},
    {{"fft2", CATEGORY, .summary = "The Fourier transform of two axes.", .returns = COMPLEX,
      PARAMS(two_params), CUTS},
     .call = call_fftn},
    {{"fftfreq", CATEGORY, .summary = "The frequencies of the elements of `fft`.",
      .returns = "``(n,)``.", PARAMS(freq_params)},
     .call = call_fftfreq},
    {{"fftn", CATEGORY, .summary = "The Fourier transform along several axes.", .returns = COMPLEX,
      PARAMS(many_params), CUTS},
     .call = call_fftn},
    {{"fftshift", CATEGORY, .summary = "Moves frequency 0 to the middle of the axes.",
      .returns = "The shape and type of the input.", PARAMS(shift_params), CUTS},
     .call = call_fftshift},
    {{"hfft", CATEGORY, .summary = "The Fourier transform of a Hermitian sequence, which is real.",
      .returns = REAL, PARAMS(one_params), CUTS},
     .call = call_hfft},
    {{"ifft", CATEGORY, .summary = "The inverse Fourier transform along an axis.",
      .returns = COMPLEX, PARAMS(one_params), CUTS},
     .call = call_ifft},
    {{"ifft2", CATEGORY, .summary = "The inverse Fourier transform of two axes.",
      .returns = COMPLEX, PARAMS(two_params), CUTS},
     .call = call_ifftn},
    {{"ifftn", CATEGORY, .summary = "The inverse Fourier transform along several axes.",
      .returns = COMPLEX, PARAMS(many_params), CUTS},
     .call = call_ifftn},
    {{"ifftshift", CATEGORY, .summary = "The inverse of `fftshift`.",
      .returns = "The shape and type of the input.", PARAMS(shift_params), CUTS},
     .call = call_ifftshift},
    {{"ihfft", CATEGORY, .summary = "The inverse of `hfft`.", .returns = COMPLEX,
      PARAMS(one_params), CUTS},
     .call = call_ihfft},
    {{"irfft", CATEGORY,
      .summary = "The inverse of `rfft`: n real numbers, by default 2 * (m - 1) if x has m.",
      .returns = REAL, PARAMS(one_params), CUTS},
     .call = call_irfft},
    {{"irfft2", CATEGORY, .summary = "The inverse of `rfft2`, over two axes.", .returns = REAL,
      PARAMS(two_params), CUTS},
     .call = call_irfftn},
    {{"irfftn", CATEGORY, .summary = "The inverse of `rfftn`.", .returns = REAL,
      PARAMS(many_params), CUTS},
     .call = call_irfftn},
    {{"rfft", CATEGORY,
      .summary = "The Fourier transform of n real numbers along an axis: n // 2 + 1 numbers.",
      .returns = COMPLEX, PARAMS(one_params), CUTS},
     .call = call_rfft},
    {{"rfft2", CATEGORY,
      .summary = "The Fourier transform of real numbers over two axes: n // 2 + 1 along the last.",
      .returns = COMPLEX, PARAMS(two_params), CUTS},
     .call = call_rfftn},
    {{"rfftfreq", CATEGORY, .summary = "The frequencies of the elements of `rfft`.",
      .returns = "``(n // 2 + 1,)``.", PARAMS(freq_params)},
     .call = call_rfftfreq},
    {{"rfftn", CATEGORY,
      .summary =
          "The Fourier transform of real numbers over several axes: n // 2 + 1 along the last.",
      .returns = COMPLEX, PARAMS(many_params), CUTS},
     .call = call_rfftn},
};

const cb_rows cb_fft_rows = ROWS(rows);
