#include "lang/longitudes.h"

#include <math.h>
#include <string.h>

#include "lang/lang_arrays.h"

#define CIRCLE 360.0
/* Tolerance in degrees for sums with multiples of 360, which are rounded. */
#define CLOSE 1e-9

bool longitudes_are(const char *name, const json_t *attrs)
{
    static const char *const eastwards[] = {"degrees_east", "degree_east", "degrees_E", "degree_E",
                                            "degreesE",     "degreeE",     NULL};
    static const char *const degrees[] = {"degrees", "degree", "deg", NULL};
    static const char *const standard[] = {"longitude", "grid_longitude", NULL};
    static const char *const names[] = {"lon", "longitude", "lons", "long", "rlon", NULL};
    const char *units = lang_attribute_text(attrs, "units");
    const char *standard_name = lang_attribute_text(attrs, "standard_name");
    if (json_object_get(attrs, "scale_factor") || json_object_get(attrs, "add_offset"))
        return false;
    if (lang_is_one_of(units, eastwards)) return true;
    if (units && !lang_is_one_of(units, degrees)) return false;
    return lang_is_one_of(standard_name, standard) ||
           (!standard_name && lang_is_one_of(name, names));
}

double longitudes_apart(double a, double b) { return fabs(remainder(a - b, CIRCLE)); }

double longitudes_round(double x, int digits)
{
    int exponent;
    const double part = frexp(x, &exponent);
    if (digits >= 53 || !isfinite(x)) return x;
    return ldexp(rint(ldexp(part, digits)), exponent - digits);
}

/* Returns true if x + 360 * circles is in the range from west to east. The ends are rounded to the coordinate's type and
 * belong to the range. */
static bool is_in(double x, double west, double east, double circles, int digits)
{
    const double off = CIRCLE * circles, close = circles == 0 ? 0 : CLOSE;
    return x >= longitudes_round(west - off, digits) - close &&
           x <= longitudes_round(east - off, digits) + close;
}

/* Adds a multiple of 360 to x so that it is in a range. If two such numbers exist, *out is the western one. Returns false if
 * there is none. */
static bool place_in(double x, double west, double east, int digits, double *out)
{
    const double least = ceil((west - x) / CIRCLE) - 1;
    for (int i = 0; i < 4; i++) {
        const double circles = least + i;
        if (!is_in(x, west, east, circles, digits)) continue;
        *out = x + CIRCLE * circles;
        return true;
    }
    return false;
}

/* Returns the step from element i to the next one, in -180 to 180 degrees. The last step goes to element 0. */
static double step_of(const double *v, int64_t n, int64_t i)
{
    return remainder(v[(i + 1) % n] - v[i], CIRCLE);
}

/* Returns 1 if all steps go east, -1 if all go west. Returns 0 otherwise, or if they go around the globe more than once. */
static int direction(const double *v, int64_t n)
{
    double sum = 0;
    int sign = 1;
    for (int64_t i = 0; i + 1 < n; i++) {
        const double step = step_of(v, n, i);
        if (i == 0) sign = step < 0 ? -1 : 1;
        if (!(step * sign > 0)) return 0;
        sum += fabs(step);
    }
    return sum <= CIRCLE + CLOSE ? sign : 0;
}

/* Returns the degrees from the last element to the first one, in the direction `sign`. */
static double gap_of(const double *v, int64_t n, int sign)
{
    const double gap = fmod(sign * (v[0] - v[n - 1]) + 4 * CIRCLE, CIRCLE);
    return gap > CIRCLE - CLOSE ? 0 : gap;
}

static double widest_step(const double *v, int64_t n)
{
    double widest = 0;
    for (int64_t i = 0; i + 1 < n; i++) widest = fmax(widest, fabs(step_of(v, n, i)));
    return widest;
}

longitudes_result longitudes_find(const double *v, int64_t n, double west, double east, int digits,
                                  longitudes_range *out)
{
    const int sign = direction(v, n);
    double place, best = 0;
    int64_t count = 0, run = 0;
    if (west > east) east += CIRCLE * ceil((west - east) / CIRCLE);
    if (east - west > CIRCLE + CLOSE) return LONGITUDES_TOO_WIDE;
    if (sign == 0 && n > 1) return LONGITUDES_UNORDERED;
    *out = (longitudes_range){0, 0, false, false};
    /* If all elements are in the range already, the axis stays unchanged, even if both ends of the range are on the same
     * meridian. */
    while (out->n < n && is_in(v[out->n], west, east, 0, digits)) out->n++;
    if (out->n == n && n > 0) return LONGITUDES_FOUND;
    for (int64_t i = 0; i < n; i++) {
        if (!place_in(v[i], west, east, digits, &place)) continue;
        if (count++ > 0 && (place - best) * sign >= 0) continue;
        best = place;
        out->first = i;
    }
    if (count == 0) return LONGITUDES_NONE;
    while (run < count && place_in(v[(out->first + run) % n], west, east, digits, &place)) run++;
    if (run < count) return LONGITUDES_UNORDERED;
    out->n = count;
    out->wraps = out->first + count > n;
    if (!out->wraps) return LONGITUDES_FOUND;
    const double gap = gap_of(v, n, sign);
    out->closed = gap < CLOSE;
    return gap > 1.5 * widest_step(v, n) + CLOSE ? LONGITUDES_HOLE : LONGITUDES_FOUND;
}

int64_t longitudes_place(const double *v, int64_t n, const longitudes_range *range, int64_t *at,
                         double *label)
{
    int64_t count = 0;
    for (int64_t k = 0; k < range->n; k++) {
        const int64_t i = (range->first + k) % n;
        if (range->closed && i == n - 1) continue;
        at[count] = i;
        label[count] = v[i];
        /* Adds multiples of 360 to a label, so that it differs from the previous one by at most 180. */
        if (count > 0) label[count] -= CIRCLE * round((v[i] - label[count - 1]) / CIRCLE);
        count++;
    }
    const double west = fmin(label[0], label[count - 1]);
    const double circles = floor((west + 180 + CLOSE) / CIRCLE);
    for (int64_t k = 0; k < count; k++) label[k] -= CIRCLE * circles;
    return count;
}
