/* Rows of measurements of labelled objects. A name ends in "_labels" if the name in scipy.ndimage, such as "mean", is the name
 * of another function. */
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "context/context.h"
#include "cubed/measurements.h"
#include "image_args.h"

#define CATEGORY .category = "measurements"

/* --- Arguments ----------------------------------------------------------------------------------------- */

#define MEASURED(NOTES) PARAM_LIKE("input", NOTES)
#define LABELS                                                                                     \
    {                                                                                              \
        PARAM("labels", ACCEPTS(ARRAY) | ACCEPTS(BOOL) | ACCEPTS(INT) | ACCEPTS(NONE),             \
              CUBED_PARAM_LIKE,                                                                    \
              "Label of each element; broadcasts with `input`. None: all elements are one "        \
              "object.")                                                                           \
    }
#define INDEX                                                                                      \
    {                                                                                              \
        PARAM("index", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(LIST) | ACCEPTS(NONE), 0,            \
              "Labels of the measured objects, in any order. None: the elements with labels "      \
              "above 0 are one object.")                                                           \
    }

/* An image, its objects, and the memory that they use. */
typedef struct arguments {
    cubed_array *labels; /* a reference, or NULL */
    cubed_objects objects;
    int64_t shape[CUBED_MAX_NDIM];
    int64_t *index; /* numbers of nested lists; NULL if the index is not nested */
    int64_t n;
} arguments;

static cubed_status take_labels(const cb_call *c, int i, arguments *out)
{
    const cubed_value *v = &c->values[i];
    if (v->kind == CUBED_VALUE_NONE) return CUBED_OK;
    if (v->kind == CUBED_VALUE_ARRAY) {
        out->labels = cubed_array_ref(v->as.array);
    } else {
        const cubed_scalar label = {.i64 = v->kind == CUBED_VALUE_BOOL ? v->as.boolean
                                                                       : v->as.integer};
        CB_TRY(cubed_array_full(c->ctx, CUBED_INT64, 0, NULL, NULL, &label, &out->labels, c->err));
    }
    out->objects.labels = out->labels;
    return CUBED_OK;
}

/* Copies the integers of nested lists with the given extents, in C order, to *to, and advances *to. Returns false if an item is
 * not an integer, or if the extents differ. */
static bool copy_labels(const cubed_value *v, const int64_t *extents, int depth, int64_t **to)
{
    if (depth == 0) {
        if (v->kind == CUBED_VALUE_BOOL)
            *(*to)++ = v->as.boolean;
        else if (v->kind == CUBED_VALUE_INT)
            *(*to)++ = v->as.integer;
        else
            return false;
        return true;
    }
    if (v->kind != CUBED_VALUE_LIST || v->n != extents[0]) return false;
    for (int k = 0; k < v->n; k++)
        if (!copy_labels(&v->as.items[k], extents + 1, depth - 1, to)) return false;
    return true;
}

/* Counts the integers in nested lists, which may have different lengths. */
static int64_t count_items(const cubed_value *v)
{
    int64_t n = 0;
    if (v->kind != CUBED_VALUE_LIST) return 1;
    for (int k = 0; k < v->n; k++) n += count_items(&v->as.items[k]);
    return n;
}

static cubed_status take_nested(const cb_call *c, int i, arguments *out)
{
    const cubed_value *v = &c->values[i];
    int64_t n;
    out->objects.ndim = cb_image_extents(v, out->shape);
    out->n = count_items(v);
    out->index = cb_alloc(&c->ctx->alloc, (size_t)out->n * sizeof *out->index);
    if (!out->index)
        return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: %lld labels", (long long)out->n);
    int64_t *to = out->index;
    const bool fits = !cb_count(out->objects.ndim, out->shape, &n) && n == out->n;
    out->objects.index = out->index;
    if (fits && copy_labels(v, out->shape, out->objects.ndim, &to)) return CUBED_OK;
    return cb_call_blame(
        c, i,
        cb_fail(c->err, CUBED_E_TYPE,
                "%s: index has items that are not integers, or lists of different lengths, "
                "expected integers",
                c->function->name));
}

static void release(const cb_call *c, arguments *a)
{
    cubed_array_unref(a->labels);
    cb_free(&c->ctx->alloc, a->index, (size_t)a->n * sizeof *a->index);
}

/* Gets the objects from the argument at position `labels` and the arguments after it. Call release with *out, even after an
 * error. */
static cubed_status take_objects(const cb_call *c, int labels, arguments *out)
{
    const cubed_value *index = &c->values[labels + 1];
    *out = (arguments){.n = 0};
    out->objects.shape = out->shape;
    CB_TRY(take_labels(c, labels, out));
    switch (index->kind) {
    case CUBED_VALUE_INT: out->objects.index = &index->as.integer; return CUBED_OK;
    case CUBED_VALUE_INTS:
        out->objects.ndim = 1;
        out->shape[0] = index->n;
        /* The list may be NULL if it is empty, but the index must not be NULL. */
        out->objects.index = index->n > 0 ? index->as.ints : out->shape;
        return CUBED_OK;
    case CUBED_VALUE_LIST: return take_nested(c, labels + 1, out);
    default: return CUBED_OK;
    }
}

/* --- Functions ----------------------------------------------------------------------------------------- */

static const cubed_param number_params[] = {MEASURED("Numbers."), LABELS, INDEX, PARAM_TASK_MEM};
static const cubed_param real_params[] = {MEASURED("Real numbers."), LABELS, INDEX, PARAM_TASK_MEM};
static const cubed_param ordered_params[] = {MEASURED("Real numbers or times."), LABELS, INDEX,
                                             PARAM_TASK_MEM};

static cubed_status call_measurement(const cb_call *c)
{
    arguments a;
    cubed_status st = take_objects(c, 1, &a);
    if (st == CUBED_OK)
        st = cubed_measure_objects(cb_call_array(c, 0), &a.objects, (cubed_measurement)c->which,
                                   cb_call_task_mem(c), c->out, c->err);
    release(c, &a);
    return st;
}

static cubed_status call_extrema(const cb_call *c)
{
    static const cubed_measurement which[] = {CUBED_MEASURE_MINIMUM, CUBED_MEASURE_MAXIMUM,
                                              CUBED_MEASURE_MINIMUM_POSITION,
                                              CUBED_MEASURE_MAXIMUM_POSITION};
    arguments a;
    cubed_status st = take_objects(c, 1, &a);
    for (int k = 0; k < 4 && st == CUBED_OK; k++)
        st = cubed_measure_objects(cb_call_array(c, 0), &a.objects, which[k], cb_call_task_mem(c),
                                   &c->out[k], c->err);
    release(c, &a);
    return st;
}

static const cubed_param histogram_params[] = {
    MEASURED("Real numbers."),
    {PARAM("min", ACCEPTS(FLOAT), CUBED_PARAM_REQUIRED, "Lower end of the first interval.")},
    {PARAM("max", ACCEPTS(FLOAT), CUBED_PARAM_REQUIRED,
           "Upper end of the last interval, which includes it.")},
    PARAM_REQUIRED_INT("bins", 0, "Number of intervals."),
    LABELS,
    INDEX,
    PARAM_TASK_MEM,
};

static cubed_status call_histogram(const cb_call *c)
{
    arguments a;
    cubed_status st = take_objects(c, 4, &a);
    if (st == CUBED_OK)
        st = cubed_histogram_objects(cb_call_array(c, 0), &a.objects, cb_call_real(c, 1),
                                     cb_call_real(c, 2), cb_call_int(c, 3), cb_call_task_mem(c),
                                     c->out, c->err);
    release(c, &a);
    return st;
}

/* --- Rows ---------------------------------------------------------------------------------------------- */

#define SHAPED    "The shape of `index`; 0-d for one object. "
#define NAN_EMPTY "NaN for an object without elements."
#define AS_LAST   "The shape of `index`, and a last axis with a number for each axis of the image. "
#define ROW(NAME, PARAMETERS, WHICH, ATTRS, SUMMARY, RETURNS)                                      \
    {                                                                                              \
        {(NAME),                                                                                   \
         CATEGORY,                                                                                 \
         .summary = (SUMMARY),                                                                     \
         .returns = (RETURNS),                                                                     \
         PARAMS(PARAMETERS),                                                                       \
         .attrs = (ATTRS),                                                                         \
         .coords = CUBED_COORDS_CUT},                                                              \
            .call = call_measurement, .which = (WHICH)                                             \
    }

static const cb_row rows[] = {
    ROW("center_of_mass", number_params, CUBED_MEASURE_CENTER_OF_MASS, CUBED_ATTRS_NONE,
        "Computes the centre of mass of each labelled object; elements are weights of their "
        "positions.",
        AS_LAST NAN_EMPTY),
    {{"extrema", CATEGORY,
      .summary = "Finds the minimum and maximum of each labelled object, and their positions.",
      .returns = "The results of ``minimum_labels``, ``maximum_labels``, ``minimum_position`` and "
                 "``maximum_position``.",
      PARAMS(ordered_params),
      .results = {"minimum", "maximum", "minimum_position", "maximum_position"},
      .coords = CUBED_COORDS_CUT},
     .call = call_extrema},
    {{"histogram_labels", CATEGORY,
      .summary = "Counts the elements of each labelled object in intervals of equal width.",
      .returns = "int64: the shape of `index`, and a last axis with a count for each interval.",
      PARAMS(histogram_params), .coords = CUBED_COORDS_CUT},
     .call = call_histogram},
    ROW("maximum_labels", ordered_params, CUBED_MEASURE_MAXIMUM, CUBED_ATTRS_SAME,
        "Finds the maximum of each labelled object.",
        SHAPED "The type of `input`; 0 for an object without elements."),
    ROW("maximum_position", ordered_params, CUBED_MEASURE_MAXIMUM_POSITION, CUBED_ATTRS_NONE,
        "Finds the position of the first maximum of each labelled object.",
        AS_LAST "int64; zeros for an object without elements."),
    ROW("mean_labels", number_params, CUBED_MEASURE_MEAN, CUBED_ATTRS_SAME,
        "Computes the mean of each labelled object.", SHAPED "float64; " NAN_EMPTY),
    ROW("median_labels", real_params, CUBED_MEASURE_MEDIAN, CUBED_ATTRS_SAME,
        "Computes the median of each labelled object.",
        SHAPED "The floating-point type of `input`, or float64; " NAN_EMPTY),
    ROW("minimum_labels", ordered_params, CUBED_MEASURE_MINIMUM, CUBED_ATTRS_SAME,
        "Finds the minimum of each labelled object.",
        SHAPED "The type of `input`; 0 for an object without elements."),
    ROW("minimum_position", ordered_params, CUBED_MEASURE_MINIMUM_POSITION, CUBED_ATTRS_NONE,
        "Finds the position of the first minimum of each labelled object.",
        AS_LAST "int64; zeros for an object without elements."),
    ROW("standard_deviation_labels", number_params, CUBED_MEASURE_STANDARD_DEVIATION,
        CUBED_ATTRS_SAME, "Computes the standard deviation of each labelled object.",
        SHAPED "float64; " NAN_EMPTY),
    ROW("sum_labels", number_params, CUBED_MEASURE_SUM, CUBED_ATTRS_SAME,
        "Computes the sum of each labelled object.",
        SHAPED "float64, or for one object the type of the sum of `input`; 0 for an object without "
               "elements."),
    ROW("variance_labels", number_params, CUBED_MEASURE_VARIANCE, CUBED_ATTRS_SQUARE,
        "Computes the variance of each labelled object.", SHAPED "float64; " NAN_EMPTY),
};
const cb_rows cb_measurement_rows = ROWS(rows);
