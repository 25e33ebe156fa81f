/* Rows of functions of fields on grids: areas of cells, missing elements, and statistics over horizontal and vertical axes under
 * CDO's names. */
#include "base/error.h"
#include "cubed/array_api.h"
#include "cubed/fields.h"
#include "rows.h"

#define CATEGORY .category = "fields"

/* --- Areas --------------------------------------------------------------------------------------------- */

static const cubed_choice edges[] = {
    {"great_circles", CUBED_EDGES_GREAT_CIRCLES}, {"latitudes", CUBED_EDGES_LATITUDES}, {NULL, 0}};

static const cubed_param area_params[] = {
    PARAM_LIKE("lat", "Latitudes of the centres of cells, in degrees."),
    PARAM_LIKE("lon", "Longitudes of the centres of cells, in degrees."),
    PARAM_OPTIONAL_ARRAY("lat_bounds", NAMED,
                         "Lower and upper bounds of latitudes, or latitudes of the corners of each "
                         "cell. None: midpoints between neighbouring latitudes."),
    PARAM_OPTIONAL_ARRAY("lon_bounds", NAMED, "Like `lat_bounds`, for longitudes."),
    PARAM_CHOICE("edges", NAMED, CUBED_EDGES_GREAT_CIRCLES, edges,
                 "Northern and southern edges of cells: great circles, as in CDO, or circles of "
                 "latitude, which give exact zonal bands."),
    {PARAM("radius", ACCEPTS(FLOAT), NAMED, "Radius of the sphere in metres."),
     FLOAT_DEFAULT(CUBED_EARTH_RADIUS)},
};

static cubed_status call_gridarea(const cb_call *c)
{
    cubed_area_options o = CUBED_AREA_OPTIONS_INIT;
    o.lat_bounds = cb_call_array(c, 2);
    o.lon_bounds = cb_call_array(c, 3);
    o.edges = (cubed_cell_edges)cb_call_choice(c, 4);
    o.radius = cb_call_real(c, 5);
    return cubed_grid_area(cb_call_array(c, 0), cb_call_array(c, 1), &o, c->out, c->err);
}

/* --- Missing elements ----------------------------------------------------------------------------------- */

#define FILLED                                                                                     \
    PARAM_NAMED_ARRAY("x", "Fields along the last axes. NaN marks missing elements."),             \
        PARAM_LIKE("lat", "Latitudes in degrees: an axis, or one for each cell."),                 \
        PARAM_LIKE("lon", "Longitudes, like `lat`.")
#define OF_CELLS                                                                                   \
    PARAM_BOOL("unstructured", NAMED, false,                                                       \
               "Whether latitudes and longitudes of one dimension are those of cells, not of "     \
               "axes.")

static const cubed_param nearest_params[] = {FILLED, OF_CELLS};
static const cubed_param distance_params[] = {
    FILLED,
    {PARAM_IN("neighbours", ACCEPTS(INT), 0, 1, 64, "Number of elements in a mean."),
     INT_DEFAULT(4)},
    OF_CELLS};

static cubed_status call_fill(const cb_call *c)
{
    const int last = c->function->nparams - 1;
    cubed_fill_options o = CUBED_FILL_OPTIONS_INIT;
    o.neighbours = last == 4 ? (int)cb_call_int(c, 3) : 1;
    o.unstructured = cb_call_bool(c, last);
    return cubed_fill_missing(cb_call_array(c, 0), cb_call_array(c, 1), cb_call_array(c, 2), &o,
                              c->out, c->err);
}

/* --- Statistics ---------------------------------------------------------------------------------------- */

static const int64_t both[2] = {-2, -1};

#define FIELD PARAM_NAMED_ARRAY("x", "Real numbers. NaN marks missing elements.")
#define WEIGHTS(NOTES)                                                                             \
    {                                                                                              \
        PARAM("weights", ACCEPTS(ARRAY) | ACCEPTS(NONE), CUBED_PARAM_REQUIRED | CUBED_PARAM_LIKE,  \
              NOTES)                                                                               \
    }
#define AREAS                                                                                      \
    WEIGHTS("A weight for each element along the axes, such as the areas from `gridarea`, or "     \
            "weights that broadcast to `x`. None: equal weights.")
#define LAYERS                                                                                     \
    WEIGHTS("A weight for each element along the axis, such as the thickness of layers, or "       \
            "weights that broadcast to `x`. None: equal weights.")
#define BOTH_AXES                                                                                  \
    {                                                                                              \
        PARAM("axis", ACCEPTS(INT) | ACCEPTS(INTS), NAMED | CUBED_PARAM_AXIS,                      \
              "Horizontal axes: two, or one for an unstructured grid."),                           \
            .fallback = {                                                                          \
                .kind = CUBED_VALUE_INTS,                                                          \
                .n = 2,                                                                            \
                .as.ints = both                                                                    \
            }                                                                                      \
    }
#define ONE_AXIS(DEFAULT, NOTES)                                                                   \
    {                                                                                              \
        PARAM("axis", ACCEPTS(INT) | ACCEPTS(INTS), NAMED | CUBED_PARAM_AXIS, NOTES),              \
            INT_DEFAULT(DEFAULT)                                                                   \
    }
#define ZONAL      ONE_AXIS(-1, "The axis of longitudes.")
#define MERIDIONAL ONE_AXIS(-2, "The axis of latitudes.")
#define VERTICAL   ONE_AXIS(-3, "The axis of levels.")
#define KEEPDIMS                                                                                   \
    PARAM_BOOL("keepdims", NAMED, false, "Whether to keep the reduced axes, with one element.")

static const cubed_param fld_params[] = {FIELD, BOTH_AXES, KEEPDIMS};
static const cubed_param weighted_fld_params[] = {FIELD, AREAS, BOTH_AXES, KEEPDIMS};
static const cubed_param zon_params[] = {FIELD, ZONAL, KEEPDIMS};
static const cubed_param mer_params[] = {FIELD, MERIDIONAL, KEEPDIMS};
static const cubed_param weighted_mer_params[] = {FIELD, AREAS, MERIDIONAL, KEEPDIMS};
static const cubed_param vert_params[] = {FIELD, VERTICAL, KEEPDIMS};
static const cubed_param weighted_vert_params[] = {FIELD, LAYERS, VERTICAL, KEEPDIMS};

/* Reads the axes from argument i, and checks that x has each of them. */
static cubed_status take_axes(const cb_call *c, int i, int axes[CUBED_MAX_NDIM], int *n)
{
    const int ndim = cubed_array_ndim(cb_call_array(c, 0));
    cb_call_axes(c, i, axes, n);
    for (int k = 0; k < *n; k++) CB_TRY(cb_call_check_axis(c, i, ndim, axes[k], &axes[k]));
    return CUBED_OK;
}

static cubed_status call_statistic(const cb_call *c)
{
    int axes[CUBED_MAX_NDIM];
    cubed_field_options o = CUBED_FIELD_OPTIONS_INIT;
    /* the axes follow the weights, if the function has weights */
    const int axis = c->function->nparams - 2;
    CB_TRY(take_axes(c, axis, axes, &o.naxes));
    o.axes = axes;
    o.keepdims = cb_call_bool(c, axis + 1);
    cubed_array *weights = axis == 2 ? cb_call_array(c, 1) : NULL;
    const cubed_status st = cubed_field_reduce(cb_call_array(c, 0), weights,
                                               (cubed_field_statistic)c->which, &o, c->out, c->err);
    return st == CUBED_OK ? st : cb_context(c->err, st, "%s", c->function->name);
}

/* --- Percentiles --------------------------------------------------------------------------------------- */

#define PERCENTILE(AXIS)                                                                           \
    {                                                                                              \
        FIELD,                                                                                     \
            {PARAM_IN("q", ACCEPTS(FLOAT) | ACCEPTS(FLOATS),                                       \
                      CUBED_PARAM_REQUIRED | CUBED_PARAM_LABELS, 0, 100,                           \
                      "Percentile, from 0 to 100, or a list of percentiles.")},                    \
            AXIS, KEEPDIMS,                                                                        \
            PARAM_CHOICE(                                                                          \
                "method", NAMED, CUBED_QUANTILE_INVERTED_CDF, cb_quantile_methods,                 \
                "Method of interpolation between elements, by its name in NumPy or CDO."),         \
            PARAM_TASK_MEM                                                                         \
    }

static const cubed_param fldpctl_params[] = PERCENTILE(BOTH_AXES);
static const cubed_param zonpctl_params[] = PERCENTILE(ZONAL);
static const cubed_param merpctl_params[] = PERCENTILE(MERIDIONAL);

static cubed_status call_percentile(const cb_call *c)
{
    enum { AXIS = 2, KEEP, METHOD };
    int axes[CUBED_MAX_NDIM];
    cubed_quantile_options o = CUBED_QUANTILE_OPTIONS_INIT;
    CB_TRY(take_axes(c, AXIS, axes, &o.naxes));
    o.axes = axes;
    o.keepdims = cb_call_bool(c, KEEP);
    o.method = (cubed_quantile_method)cb_call_choice(c, METHOD);
    o.skip_nan = true;
    o.task_mem = cb_call_task_mem(c);
    return cb_call_quantiles(c, NULL, 100, &o);
}

/* --- Rows ---------------------------------------------------------------------------------------------- */

#define FLOATS                                                                                     \
    "The shape of `x` without the reduced axes; the type of `x`, or float64 for integers."
#define SAME "The shape of `x` without the reduced axes; the type of `x`."
#define ORDERED                                                                                    \
    "The shape of `x` without the reduced axes; if `q` is a list, the percentiles are the first "  \
    "axis. The type of `x`, or floats."

#define ROW(NAME, WHICH, SUMMARY, RETURNS, LIST, METHOD, RULE)                                     \
    {                                                                                              \
        {(NAME),                                                                                   \
         CATEGORY,                                                                                 \
         .summary = (SUMMARY),                                                                     \
         .returns = (RETURNS),                                                                     \
         PARAMS(LIST),                                                                             \
         .attrs = CUBED_ATTRS_##RULE,                                                              \
         .cell_method = (METHOD)},                                                                 \
            .call = call_statistic, .which = CUBED_FIELD_##WHICH                                   \
    }

/* Rows of the statistics of a family. `OF` names the field ("a field"), `BY` the weights (" by area", or ""). */
#define FAMILY(PREFIX, OF, BY, PLAIN, WEIGHTED)                                                    \
    ROW(PREFIX "avg", AVG, "The mean of " OF BY "; NaN if an element is missing.", FLOATS,         \
        WEIGHTED, "mean", REDUCE),                                                                 \
        ROW(PREFIX "max", MAX, "The largest element of " OF ".", SAME, PLAIN, "maximum", REDUCE),  \
        ROW(PREFIX "mean", MEAN, "The mean of " OF BY ".", FLOATS, WEIGHTED, "mean", REDUCE),      \
        ROW(PREFIX "min", MIN, "The smallest element of " OF ".", SAME, PLAIN, "minimum", REDUCE), \
        ROW(PREFIX "range", RANGE, "The largest element of " OF " minus the smallest.", FLOATS,    \
            PLAIN, "range", REDUCE),                                                               \
        ROW(PREFIX "std", STD, "The standard deviation of " OF BY ".", FLOATS, WEIGHTED,           \
            "standard_deviation", REDUCE),                                                         \
        ROW(PREFIX "std1", STD1, "The sample standard deviation of " OF BY ".", FLOATS, WEIGHTED,  \
            "standard_deviation", REDUCE),                                                         \
        ROW(PREFIX "sum", SUM, "The sum of the elements of " OF ", without weights.", FLOATS,      \
            PLAIN, "sum", REDUCE),                                                                 \
        ROW(PREFIX "var", VAR, "The variance of " OF BY ".", FLOATS, WEIGHTED, "variance",         \
            SQUARE),                                                                               \
        ROW(PREFIX "var1", VAR1, "The sample variance of " OF BY ".", FLOATS, WEIGHTED,            \
            "variance", SQUARE)

#define PCTL(NAME, OF, LIST)                                                                       \
    {                                                                                              \
        {(NAME),                                                                                   \
         CATEGORY,                                                                                 \
         .summary = "Percentiles of " OF ", without weights.",                                     \
         .returns = ORDERED,                                                                       \
         PARAMS(LIST),                                                                             \
         .attrs = CUBED_ATTRS_REDUCE},                                                             \
            .call = call_percentile                                                                \
    }

static const cb_row rows[] = {
    FAMILY("fld", "a field", ", weighted by area", fld_params, weighted_fld_params),
    ROW("fldint", INTEGRAL, "The integral over a field: the sum of elements times areas.", FLOATS,
        weighted_fld_params, "sum", REDUCE),
    PCTL("fldpctl", "a field", fldpctl_params),
    {{"gridarea", CATEGORY, .summary = "The areas of the cells of a grid, in square metres.",
      .returns = "float64: ``(nlat, nlon)``, or one area for each cell if cells have corners.",
      PARAMS(area_params)},
     .call = call_gridarea},
    FAMILY("mer", "each meridian", ", weighted by area", mer_params, weighted_mer_params),
    PCTL("merpctl", "each meridian", merpctl_params),
    {{"setmisstodis", CATEGORY,
      .summary = "Fields whose missing elements are means of the nearest elements, weighted by "
                 "inverse distance.",
      .returns = "The shape and type of x.", PARAMS(distance_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_fill},
    {{"setmisstonn", CATEGORY,
      .summary = "Fields whose missing elements are replaced by the nearest elements.",
      .returns = "The shape and type of x.", PARAMS(nearest_params), .attrs = CUBED_ATTRS_SAME},
     .call = call_fill},
    FAMILY("vert", "each column", ", weighted by thickness", vert_params, weighted_vert_params),
    FAMILY("zon", "each circle of latitude", "", zon_params, zon_params),
    PCTL("zonpctl", "each circle of latitude", zonpctl_params),
};

const cb_rows cb_field_rows = ROWS(rows);
