/* Ranges of longitudes, which may wrap around the globe. */
#ifndef CUBED_LANG_LONGITUDES_H
#define CUBED_LANG_LONGITUDES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns true if a coordinate has longitudes in degrees, according to its units, standard name or name. Returns false if its
 * values are packed. */
bool longitudes_are(const char *name, const json_t *attrs);

/* The elements of a range: `n` elements from `first`. If `wraps`, element 0 follows the last element of the axis. */
typedef struct longitudes_range {
    int64_t first, n;
    bool wraps;
    bool
        /* The range wraps, and its first and last element are on the same meridian, so the last element is left out. */
        closed;
} longitudes_range;

typedef enum longitudes_result {
    LONGITUDES_FOUND,
    LONGITUDES_NONE,      /* no element is in the range */
    LONGITUDES_UNORDERED, /* the axis neither increases nor decreases monotonically */
    LONGITUDES_TOO_WIDE,  /* the range is wider than 360 degrees */
    LONGITUDES_HOLE       /* the range wraps, but the axis does not go around the globe */
} longitudes_result;

/* Rounds x to a floating-point type whose significand has `digits` bits. */
double longitudes_round(double x, int digits);

/* Finds the elements of `v` from longitude `west` eastwards to `east`, both included.
 *
 * west, east  may differ from the elements by multiples of 360 degrees
 * digits      number of bits of the significand of the floating-point type in which longitudes are compared */
longitudes_result longitudes_find(const double *v, int64_t n, double west, double east, int digits,
                                  longitudes_range *out);

/* Writes positions of the elements of a range that wraps, and labels that increase or decrease without a jump. The westernmost
 * label is in -180 to 180 degrees, as with CDO's sellonlatbox. Both arrays have room for range->n elements. Returns the number of
 * elements. */
int64_t longitudes_place(const double *v, int64_t n, const longitudes_range *range, int64_t *at,
                         double *label);

/* Returns the distance between two meridians in degrees, 0 to 180. */
double longitudes_apart(double a, double b);

#endif
