/* Rows of functions that interpolate images, with the names of scipy.ndimage. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "cubed/interpolation.h"
#include "image_args.h"

#define CATEGORY .category = "interpolation"

/* --- Arguments ----------------------------------------------------------------------------------------- */

static const cubed_choice boundaries[] = {{"reflect", CUBED_SPLINE_REFLECT},
                                          {"grid-mirror", CUBED_SPLINE_REFLECT},
                                          {"constant", CUBED_SPLINE_CONSTANT},
                                          {"grid-constant", CUBED_SPLINE_GRID_CONSTANT},
                                          {"nearest", CUBED_SPLINE_NEAREST},
                                          {"mirror", CUBED_SPLINE_MIRROR},
                                          {"grid-wrap", CUBED_SPLINE_GRID_WRAP},
                                          {"wrap", CUBED_SPLINE_WRAP},
                                          {NULL, 0}};

#define SPLINE_ORDER PARAM_INT("order", 0, 3, "Order of the splines, 0 to 5.")
/* The parameters output, order, mode, cval and prefilter, in this order. */
#define SPLINE                                                                                     \
    PARAM_DTYPE("output", 0, "Type of the result. None: the type of `input`."), SPLINE_ORDER,      \
        PARAM_CHOICE("mode", 0, CUBED_SPLINE_CONSTANT, boundaries,                                 \
                     "Values beyond the ends: `cval` (``constant``), values interpolated with "    \
                     "`cval` as the elements there (``grid-constant``), the nearest element "      \
                     "(``nearest``), elements mirrored about the edge (``reflect``, "              \
                     "``grid-mirror``) or about the last element (``mirror``), or elements of "    \
                     "the other end (``grid-wrap``; with ``wrap``, the first and the last "        \
                     "element are at the same position)."),                                        \
        {PARAM("cval", ACCEPTS(FLOAT) | ACCEPTS(COMPLEX), 0,                                       \
               "The element beyond the ends for ``\"constant\"`` and ``\"grid-constant\"``."),     \
         FLOAT_DEFAULT(0)},                                                                        \
        PARAM_BOOL("prefilter", 0, true,                                                           \
                   "Whether to compute coefficients of splines. False: `input` consists of "       \
                   "coefficients from `spline_filter`.")

static cubed_spline_options take_spline(const cb_call *c, int output)
{
    cubed_spline_options o = CUBED_SPLINE_OPTIONS_INIT;
    const cubed_value *value = &c->values[output + 3];
    const int64_t order = cb_call_int(c, output + 1);
    o.dtype = cb_call_dtype(c, output);
    o.order = order < 0 || order > INT32_MAX ? -1 : (int)order;
    o.boundary = (cubed_spline_boundary)cb_call_choice(c, output + 2);
    if (value->kind == CUBED_VALUE_COMPLEX) {
        o.value = value->as.complex_parts[0];
        o.imaginary = value->as.complex_parts[1];
    } else {
        o.value = cb_call_real(c, output + 3);
    }
    o.prefilter = cb_call_bool(c, output + 4);
    return o;
}

static cubed_status take_image(const cb_call *c, cb_image *image)
{
    CB_TRY(cb_image_take(c, (cb_image_places){-1, -1, -1}, image));
    if (image->ndim > 0) return CUBED_OK;
    return cb_fail(c->err, CUBED_E_ARG, "%s: the image has no axis, expected at least one",
                   c->function->name);
}

/* --- Coefficients -------------------------------------------------------------------------------------- */

#define COEFFICIENTS                                                                               \
    PARAM_DTYPE("output", 0, "Type of the result. None: float64, or complex128."),                 \
        PARAM_CHOICE("mode", 0, CUBED_SPLINE_MIRROR, boundaries,                                   \
                     "Values beyond the ends in the functions that will use the coefficients: "    \
                     "``constant``, ``grid-constant`` and ``wrap`` count as ``mirror``, and "      \
                     "``nearest`` counts as ``reflect``.")

static const cubed_param filter1d_params[] = {
    IMAGE, SPLINE_ORDER,
    PARAM_AXIS("axis", 0, -1, "The axis; negative numbers count from the last."), COEFFICIENTS};
static const cubed_param filter_params[] = {IMAGE, SPLINE_ORDER, COEFFICIENTS};

enum { ALL_AXES, ONE_AXIS };

static cubed_status call_filter(const cb_call *c)
{
    const int output = c->which == ONE_AXIS ? 3 : 2;
    const int64_t order = cb_call_int(c, 1);
    cubed_spline_options o = CUBED_SPLINE_OPTIONS_INIT;
    cb_image image;
    CB_TRY(take_image(c, &image));
    const bool is_complex = cubed_dtype_kind(cubed_array_dtype(image.x)) == CUBED_KIND_COMPLEX;
    const cubed_dtype wide = is_complex ? CUBED_COMPLEX128 : CUBED_FLOAT64;
    const cubed_dtype *given = cb_call_dtype(c, output);
    uint32_t axes = image.mask;
    if (c->which == ONE_AXIS) {
        int axis;
        CB_TRY(cb_image_axis(c, 2, &image, &axis));
        axes = 1u << axis;
    }
    o.order = order < 0 || order > INT32_MAX ? -1 : (int)order;
    o.boundary = (cubed_spline_boundary)cb_call_choice(c, output + 1);
    o.dtype = given ? given : &wide;
    return cubed_spline_filter(image.x, axes, &o, c->out, c->err);
}

/* --- Functions that scale, shift or rotate images ------------------------------------------------------ */

static const cubed_param zoom_params[] = {
    IMAGE,
    {PARAM("zoom", ACCEPTS(FLOAT) | ACCEPTS(FLOATS), CUBED_PARAM_REQUIRED,
           "Factor by which the image is scaled: one number, or one for each axis.")},
    SPLINE,
    PARAM_BOOL("grid_mode", NAMED, false,
               "Whether the distance between the outer edges of the first and the last element is "
               "scaled. False: the distance between their centres is scaled."),
};

static cubed_status call_zoom(const cb_call *c)
{
    double zoom[CUBED_MAX_NDIM];
    int64_t shape[CUBED_MAX_NDIM];
    bool same = true;
    cb_image image;
    CB_TRY(take_image(c, &image));
    CB_TRY(cb_image_reals(c, 1, &image, 1, zoom));
    const cubed_spline_options o = take_spline(c, 2);
    const int centres = cb_call_bool(c, 7) ? 0 : 1;
    const int64_t *from = cubed_array_shape(image.x);
    for (int d = 0; d < image.ndim; d++) {
        const double extent = nearbyint((double)from[d] * zoom[d]);
        if (!(extent >= 0 && extent < 0x1p53))
            return cb_call_blame(c, 1,
                                 cb_fail(c->err, CUBED_E_ARG,
                                         "zoom: zoom is %g for %" PRId64
                                         " elements along axis %d, expected 0 or more",
                                         zoom[d], from[d], d));
        same = same && zoom[d] == 1;
        shape[d] = (int64_t)extent;
        const int64_t to = shape[d] - centres;
        zoom[d] = to == 0 ? 1 : (double)(from[d] - centres) / (double)to;
    }
    const cubed_affine map = {.factors = zoom, .centred = !centres, .shape = shape};
    if (same && o.prefilter)
        return cubed_astype(image.x, o.dtype ? *o.dtype : cubed_array_dtype(image.x), c->out,
                            c->err);
    return cubed_affine_transform(image.x, &map, &o, c->out, c->err);
}

static const cubed_param shift_params[] = {
    IMAGE,
    {PARAM("shift", ACCEPTS(FLOAT) | ACCEPTS(FLOATS), CUBED_PARAM_REQUIRED,
           "Number of elements by which the image moves: one number, or one for each axis. Element "
           "0 moves to this position.")},
    SPLINE,
};

static cubed_status call_shift(const cb_call *c)
{
    double factors[CUBED_MAX_NDIM], offset[CUBED_MAX_NDIM];
    cb_image image;
    CB_TRY(take_image(c, &image));
    CB_TRY(cb_image_reals(c, 1, &image, 0, offset));
    const cubed_spline_options o = take_spline(c, 2);
    for (int d = 0; d < image.ndim; d++) {
        if (!isfinite(offset[d]))
            return cb_call_blame(c, 1,
                                 cb_fail(c->err, CUBED_E_ARG,
                                         "shift: shift has a value that is not finite along axis "
                                         "%d, expected numbers of elements",
                                         d));
        factors[d] = 1;
        offset[d] = -offset[d];
    }
    const cubed_affine map = {.factors = factors, .offset = offset};
    return cubed_affine_transform(image.x, &map, &o, c->out, c->err);
}

/* --- Affine maps --------------------------------------------------------------------------------------- */

static const cubed_param affine_params[] = {
    IMAGE,
    {PARAM("matrix", ACCEPTS(LIST), CUBED_PARAM_REQUIRED,
           "Maps positions in the result to positions in `input`: a factor for each axis, or a "
           "matrix with a row for each axis of `input` and a column for each axis of the result. A "
           "matrix may have the offset as an additional last column, and then also an additional "
           "last row 0, ..., 0, 1.")},
    {PARAM("offset", ACCEPTS(FLOAT) | ACCEPTS(FLOATS), 0,
           "Position in `input` of the first element of the result: one number for all axes, or "
           "one for each axis. Ignored if `matrix` contains the offset."),
     FLOAT_DEFAULT(0)},
    {PARAM("output_shape", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(NONE), 0,
           "Shape of the result, which may have a different number of axes from `input`. None: the "
           "shape of `input`.")},
    SPLINE,
};

/* An affine map: a matrix with an offset, or one factor per axis instead of the matrix. */
typedef struct affine {
    double matrix[CUBED_MAX_NDIM * CUBED_MAX_NDIM], offset[CUBED_MAX_NDIM], factors[CUBED_MAX_NDIM];
    bool has_matrix;
    int n, m; /* n: number of axes of the image; m: number of axes of the result */
    /* number of rows and columns of the matrix, the larger of n and m; elements beyond n rows or m columns are 0 */
    int columns;
} affine;

static cubed_status bad_matrix(const cb_call *c, const cb_image_box *t, int depth, int n, int m)
{
    if (n != m)
        return cb_call_blame(c, 1,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "affine_transform: matrix has %d axes and %" PRId64
                                     " rows, expected a matrix of %d x %d for an image of %d axes "
                                     "and a result of %d",
                                     depth, t->size[0], n, m, n, m));
    return cb_call_blame(
        c, 1,
        cb_fail(c->err, CUBED_E_ARG,
                "affine_transform: matrix has %d axes and %" PRId64
                " rows, expected %d factors, or a matrix of %d x %d or %d x %d, or one of %d x %d "
                "with 0, ..., 0, 1 in the last row",
                depth, t->size[0], n, n, n, n, n + 1, n + 1, n + 1));
}

/* Sets the rows of the matrix. Also sets the offset if the argument has an additional column for it, as in SciPy. */
static cubed_status set_matrix(const cb_call *c, const cb_image_box *t, int depth, affine *out)
{
    const int n = out->n, m = out->m;
    const int64_t rows = t->size[0], columns = depth == 2 ? t->size[1] : 1;
    const bool has_offset = depth == 2 && columns == n + 1;
    bool sound = depth == 2 || (depth == 1 && n == m);
    sound = sound && (rows == n || (rows == n + 1 && has_offset));
    sound = sound && (depth == 1 || (has_offset ? n : columns) == m);
    for (int j = 0; sound && rows == n + 1 && j <= n; j++)
        sound = t->numbers[(int64_t)n * columns + j] == (j == n);
    if (!sound) return bad_matrix(c, t, depth, n, m);
    out->has_matrix = depth == 2;
    out->columns = n > m ? n : m;
    for (int d = 0; d < n; d++) {
        if (depth == 1) {
            out->factors[d] = t->numbers[d];
            out->has_matrix = out->has_matrix || t->numbers[d] == 0;
            continue;
        }
        memcpy(out->matrix + (ptrdiff_t)d * out->columns, t->numbers + d * columns,
               (size_t)m * sizeof(double));
        if (has_offset) out->offset[d] = t->numbers[d * columns + n];
    }
    if (depth == 2) return CUBED_OK;
    /* SciPy adds the offset after the multiplication by the factors. cubed_affine adds it before. */
    for (int d = 0; d < n; d++) {
        out->matrix[d * n + d] = out->factors[d];
        if (!out->has_matrix) out->offset[d] /= out->factors[d];
    }
    return CUBED_OK;
}

/* Transforms an image with a different number of axes than the result. The image or the result gets axes of extent 1, so
 * that both have the same number of axes. */
static cubed_status transform_axes(const cb_call *c, cubed_array *x, const affine *a,
                                   const cubed_affine *map, const cubed_spline_options *o)
{
    const int ndim = a->columns;
    cubed_affine whole = *map;
    int64_t of_x[CUBED_MAX_NDIM], shape[CUBED_MAX_NDIM];
    int axes[CUBED_MAX_NDIM];
    cubed_array *image = NULL, *made = NULL;
    for (int d = 0; d < ndim; d++) {
        of_x[d] = d < a->n ? cubed_array_shape(x)[d] : 1;
        shape[d] = d < a->m ? map->shape[d] : 1;
        axes[d] = a->m + d;
        if (d >= a->n) whole.kept |= 1U << d;
    }
    whole.shape = shape;
    cubed_status st = cubed_reshape(x, ndim, of_x, &image, c->err);
    if (st == CUBED_OK) st = cubed_affine_transform(image, &whole, o, &made, c->err);
    if (st == CUBED_OK) st = cubed_squeeze(made, axes, ndim - a->m, c->out, c->err);
    cubed_array_unref(image);
    cubed_array_unref(made);
    return st;
}

static cubed_status call_affine(const cb_call *c)
{
    affine a = {.has_matrix = false};
    cb_image image;
    cb_image_box table;
    int depth;
    CB_TRY(take_image(c, &image));
    CB_TRY(cb_image_reals(c, 2, &image, 0, a.offset));
    a.n = a.m = image.ndim;
    const int64_t *shape = cb_call_has(c, 3) ? cb_call_ints(c, 3, &a.m) : NULL;
    if (a.m < 1 || a.m > CUBED_MAX_NDIM)
        return cb_call_blame(c, 3,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "affine_transform: output_shape has %d extents, expected 1 to "
                                     "%d",
                                     a.m, CUBED_MAX_NDIM));
    cubed_status st = cb_image_table_take(c, 1, &depth, &table);
    if (st == CUBED_OK) st = set_matrix(c, &table, depth, &a);
    cb_image_box_free(c, &table);
    CB_TRY(st);
    cubed_affine map = {.matrix = a.has_matrix ? a.matrix : NULL,
                        .factors = a.has_matrix ? NULL : a.factors,
                        .offset = a.offset,
                        .shape = shape};
    const cubed_spline_options o = take_spline(c, 4);
    if (a.n != a.m) return transform_axes(c, image.x, &a, &map, &o);
    return cubed_affine_transform(image.x, &map, &o, c->out, c->err);
}

/* --- Rotation ------------------------------------------------------------------------------------------ */

static const cubed_param rotate_params[] = {
    IMAGE,
    {PARAM("angle", ACCEPTS(FLOAT), CUBED_PARAM_REQUIRED, "Angle in degrees.")},
    PARAM_AXES("axes", 0, "The two axes of the plane. None: the first two."),
    PARAM_BOOL("reshape", 0, true,
               "Whether the result is large enough for the whole rotated image. False: the result "
               "has the shape of `input`."),
    SPLINE,
};

static cubed_status take_plane(const cb_call *c, const cb_image *image, int plane[2])
{
    int room[CUBED_MAX_NDIM], n = 2;
    const int *given = cb_call_axes(c, 2, room, &n);
    if (image->ndim < 2)
        return cb_fail(c->err, CUBED_E_ARG, "rotate: the image has %d axes, expected at least 2",
                       image->ndim);
    plane[0] = 0;
    plane[1] = 1;
    if (!given) return CUBED_OK;
    for (int k = 0; k < 2 && n == 2; k++)
        CB_TRY(cb_call_check_axis(c, 2, image->ndim, given[k], &plane[k]));
    if (n != 2)
        return cb_call_blame(
            c, 2, cb_fail(c->err, CUBED_E_ARG, "rotate: axes has %d axes, expected two", n));
    if (plane[0] == plane[1])
        return cb_call_blame(c, 2,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "rotate: axes are %d and %d, expected two different ones",
                                     given[0], given[1]));
    if (plane[0] > plane[1]) {
        const int first = plane[1];
        plane[1] = plane[0];
        plane[0] = first;
    }
    return CUBED_OK;
}

/* Computes cosine and sine, which are exact for multiples of 90 degrees. */
static void set_turn(double angle, double *cosine, double *sine)
{
    int quarter;
    const double rest = remquo(angle, 90, &quarter) * (M_PI / 180);
    const double c = cos(rest), s = sin(rest);
    quarter &= 3;
    *cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
    *sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
}

/* Returns the extent of a rotated rectangle along an axis. `y` and `x` are the projections of its sides. */
static int64_t projected(double y, double x)
{
    const double least = fmin(fmin(0, x), fmin(y, y + x)), most = fmax(fmax(0, x), fmax(y, y + x));
    return (int64_t)(most - least + 0.5);
}

static cubed_status call_rotate(const cb_call *c)
{
    const double angle = cb_call_real(c, 1);
    double matrix[CUBED_MAX_NDIM * CUBED_MAX_NDIM] = {0}, offset[CUBED_MAX_NDIM] = {0}, cosine,
                                   sine;
    int64_t shape[CUBED_MAX_NDIM];
    int plane[2];
    cb_image image;
    CB_TRY(take_image(c, &image));
    CB_TRY(take_plane(c, &image, plane));
    if (!isfinite(angle))
        return cb_call_blame(c, 1,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "rotate: angle is %g, expected a finite number of degrees",
                                     angle));
    const int n = image.ndim, a = plane[0], b = plane[1];
    const int64_t *from = cubed_array_shape(image.x);
    set_turn(angle, &cosine, &sine);
    for (int d = 0; d < n; d++) {
        shape[d] = from[d];
        matrix[d * n + d] = d == a || d == b ? cosine : 1;
    }
    matrix[a * n + b] = sine;
    matrix[b * n + a] = -sine;
    if (cb_call_bool(c, 3)) {
        const double y = (double)from[a], x = (double)from[b];
        shape[a] = projected(cosine * y, sine * x);
        shape[b] = projected(-sine * y, cosine * x);
    }
    const double centre[2] = {(double)(shape[a] - 1) / 2, (double)(shape[b] - 1) / 2};
    offset[a] = (double)(from[a] - 1) / 2 - (cosine * centre[0] + sine * centre[1]);
    offset[b] = (double)(from[b] - 1) / 2 - (-sine * centre[0] + cosine * centre[1]);
    const cubed_affine map = {.matrix = matrix,
                              .offset = offset,
                              .kept = image.mask & ~(1u << a | 1u << b),
                              .shape = shape};
    const cubed_spline_options o = take_spline(c, 4);
    return cubed_affine_transform(image.x, &map, &o, c->out, c->err);
}

/* --- Coordinates --------------------------------------------------------------------------------------- */

static const cubed_param coordinates_params[] = {
    IMAGE,
    PARAM_LIKE("coordinates", "Positions in `input`, as real numbers: item k along the first axis "
                              "has the positions along axis k of `input`. A position of NaN gives "
                              "`cval`, or NaN for ``\"grid-constant\"`` and an order above "
                              "0."),
    SPLINE,
};

static cubed_status call_coordinates(const cb_call *c)
{
    const cubed_spline_options o = take_spline(c, 2);
    return cubed_map_coordinates(cb_call_array(c, 0), cb_call_array(c, 1), &o, c->out, c->err);
}

/* --- Rows ---------------------------------------------------------------------------------------------- */

#define ROW(NAME, PARAMETERS, CALL, RETURNS, ATTRS, WHICH, SUMMARY)                                \
    {                                                                                              \
        {                                                                                          \
            (NAME),                                                                                \
            CATEGORY,                                                                              \
            .summary = (SUMMARY),                                                                  \
            .returns = (RETURNS),                                                                  \
            PARAMS(PARAMETERS),                                                                    \
            .attrs = (ATTRS)},                                                                     \
            .call = (CALL), .which = (WHICH)                                                       \
    }

static const cb_row rows[] = {
    ROW("affine_transform", affine_params, call_affine,
        "`output_shape`, and the type of `input` unless `output` is another type.",
        CUBED_ATTRS_SAME, 0, "Transforms an image by an affine map."),
    ROW("map_coordinates", coordinates_params, call_coordinates,
        "The shape of `coordinates` without its first axis, and the type of `input` unless "
        "`output` is another type.",
        CUBED_ATTRS_SAME, 0, "Interpolates an image at given coordinates."),
    ROW("rotate", rotate_params, call_rotate,
        "The shape of the rotated image, or with `reshape=False` the shape of `input`; the type of "
        "`input` unless `output` is another type.",
        CUBED_ATTRS_SAME, 0, "Rotates an image in a plane."),
    ROW("shift", shift_params, call_shift, SAME, CUBED_ATTRS_SAME, 0, "Shifts an image."),
    ROW("spline_filter", filter_params, call_filter, "The shape of `input`.", CUBED_ATTRS_NONE,
        ALL_AXES, "Coefficients of the splines through the elements of an image."),
    ROW("spline_filter1d", filter1d_params, call_filter, "The shape of `input`.", CUBED_ATTRS_NONE,
        ONE_AXIS, "Coefficients of the splines through the elements of an image along an axis."),
    ROW("zoom", zoom_params, call_zoom,
        "The shape of `input` times `zoom`, rounded, and its type unless `output` is another type.",
        CUBED_ATTRS_SAME, 0, "Scales an image."),
};
const cb_rows cb_interpolation_rows = ROWS(rows);
