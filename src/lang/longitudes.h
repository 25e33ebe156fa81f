/* Ranges of longitudes, which go around the globe. */
#ifndef CUBED_LANG_LONGITUDES_H
#define CUBED_LANG_LONGITUDES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether a coordinate holds longitudes in degrees, by its units, its standard name or its own name. False if its values are
 * packed. */
bool longitudes_are(const char *name, const json_t *attrs);

/* The elements of a range: `n` from `first` on, which continue with element 0 behind the last one if `wraps`. */
typedef struct longitudes_range {
    int64_t first, n;
    bool wraps;
    bool
        closed; /* it wraps, and the first and the last element are one meridian: the last one is left out */
} longitudes_range;

typedef enum longitudes_result {
    LONGITUDES_FOUND,
    LONGITUDES_NONE,      /* no element is in the range */
    LONGITUDES_UNORDERED, /* the elements neither rise nor fall along the axis */
    LONGITUDES_TOO_WIDE,  /* the range has more than 360 degrees */
    LONGITUDES_HOLE       /* the range wraps, but the axis does not go around the globe */
} longitudes_result;

/* `x` in a floating-point type whose significand has `digits` bits, as a coordinate of that type stores it. */
double longitudes_round(double x, int digits);

/* Finds the elements of `v` from longitude `west` eastwards to `east`, ends included. Both may differ from the elements by
 * whole circles. `digits` as for longitudes_round. */
longitudes_result longitudes_find(const double *v, int64_t n, double west, double east, int digits,
                                  longitudes_range *out);

/* Positions of the elements of a range that wraps, and labels that rise or fall as the axis does: of two branches the one that
 * begins closer to -180 and not before it, as CDO's sellonlatbox has them. Both arrays have room for range->n elements. Returns
 * the number of elements. */
int64_t longitudes_place(const double *v, int64_t n, const longitudes_range *range, int64_t *at,
                         double *label);

/* Degrees between two meridians, 0 to 180. */
double longitudes_apart(double a, double b);

#endif
