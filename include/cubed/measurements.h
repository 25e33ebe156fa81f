/* Measurements of labelled objects in images, by the names of scipy.ndimage. */
#ifndef CUBED_MEASUREMENTS_H
#define CUBED_MEASUREMENTS_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Measurements of labelled objects. */
typedef enum cubed_measurement {
    /* Sum of numbers, as float64 or complex. If there is one object, its sum has the type that sums of x have. 0 for an object
     * without elements. */
    CUBED_MEASURE_SUM,
    /* Mean of numbers, as float64 or complex. This and the next two measurements are NaN for an object without elements. */
    CUBED_MEASURE_MEAN,
    /* variance of numbers, as float64; the divisor is the number of elements */
    CUBED_MEASURE_VARIANCE,
    CUBED_MEASURE_STANDARD_DEVIATION,
    /* Minimum and maximum of real numbers and times, in x's type. 0 for an object without elements. */
    CUBED_MEASURE_MINIMUM,
    CUBED_MEASURE_MAXIMUM,
    /* Median of real numbers, in x's type if that is a floating-point type, else float64. NaN for an object without elements. */
    CUBED_MEASURE_MEDIAN,
    /* As int64, the first position of the extreme along each axis of x. The last axis of the result has an element for each
     * axis of x. 0 for an object without elements. */
    CUBED_MEASURE_MINIMUM_POSITION,
    CUBED_MEASURE_MAXIMUM_POSITION,
    /* Mean position along each axis of x, weighted by the elements, as float64 or complex. The last axis of the result has an
     * element for each axis of x. */
    CUBED_MEASURE_CENTER_OF_MASS,
    CUBED_MEASUREMENTS
} cubed_measurement;

/* Objects of an image: sets of elements with the same label. */
typedef struct cubed_objects {
    cubed_array *
        labels; /* integers or bools that broadcast with the image; NULL: all elements are one object */
    /* Labels of the measured objects: an array in C order. A label may be repeated, and need not occur in `labels`. NULL
     * (`ndim` is then 0): all elements with labels above 0 are one object. If `labels` is NULL, cubed_measure_objects ignores
     * `index`. */
    const int64_t *index;
    int ndim;             /* number of axes of `index`; 0: one label */
    const int64_t *shape; /* extents of `index` */
} cubed_objects;

/* Measures the objects of an image. The result has the shape of the index. If an object has a NaN or NaT, its measurement is
 * NaN or NaT.
 *
 * x         numbers or times; broadcasts with the labels
 * task_mem  bytes that a task may use; 0: unknown
 *
 * x and the labels are read once, chunk by chunk (twice for centres of mass). A task holds a chunk of x and of the labels, and
 * 8 to 24 bytes for each object. If a median does not fit in a task, x is read once for each object and every 4 to 16 bits of
 * an element.
 *
 * Errors: CUBED_E_TYPE for labels that are not integers, and for elements of a type that the measurement does not accept;
 * CUBED_E_ARG for shapes that do not broadcast, and for positions in an image without axes. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_measure_objects(cubed_array *x,
                                                              const cubed_objects *objects,
                                                              cubed_measurement which,
                                                              uint64_t task_mem, cubed_array **out,
                                                              cubed_error *err);
/* Counts the elements of each object in `bins` intervals of equal width from `low` to `high`; `high` belongs to the last
 * interval. The result is int64, in the shape of the index with an additional last axis of `bins` elements. NaN is in no
 * interval.
 *
 * Errors: CUBED_E_TYPE unless x has real numbers and the labels are integers; CUBED_E_ARG for shapes that do not broadcast,
 * for less than 1 interval or 2^31 and more, for ends that are not finite or not ascending, and for an index without labels. */
CUBED_API CUBED_MUST_CHECK cubed_status
cubed_histogram_objects(cubed_array *x, const cubed_objects *objects, double low, double high,
                        int64_t bins, uint64_t task_mem, cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
