/* Areas on the sphere.
 *
 * Polygons are clipped by the planes of great circles, one after another (Sutherland and Hodgman 1974). Their areas are sums
 * of spherical triangles (Van Oosterom and Strackee 1983).
 *
 * Parts between circles of latitude need no corners on these circles. The projection to longitude and height above the
 * equator's plane preserves areas (Lambert 1772). So an area is an integral of heights along the edges (Green's theorem, as
 * in Jones 1999 for SCRIP). The integral of heights along a great circle, which is the area between the edge and the
 * equator, has a closed form.
 *
 * The integral of the position over a part of the sphere is half the integral of r x dr along its boundary (Stokes). */
#include "block/sphere.h"

#include <math.h>
#include <stddef.h>

int64_t cb_degrees_find_far(const double *v, int64_t n, double most)
{
    for (int64_t i = 0; i < n; i++) {
        if (isfinite(v[i]) && fabs(v[i]) > most) return i;
    }
    return -1;
}

cb_vec cb_vec_of(double lat, double lon)
{
    const double c = cos(lat * CB_DEGREE);
    return (cb_vec){c * cos(lon * CB_DEGREE), c * sin(lon * CB_DEGREE), sin(lat * CB_DEGREE)};
}

double cb_vec_dot(cb_vec a, cb_vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

cb_vec cb_vec_cross(cb_vec a, cb_vec b)
{
    return (cb_vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static cb_vec unit(cb_vec a)
{
    const double s = 1 / sqrt(cb_vec_dot(a, a));
    return (cb_vec){a.x * s, a.y * s, a.z * s};
}

/* --- Polygons ------------------------------------------------------------------------------------------ */

/* Two corners are treated as one corner if their squared distance is less than this. The radius of the sphere is 1, so a
 * centimetre on the earth is a distance of 1.6e-9. */
static const double SAME2 = 1e-24;
/* A polygon counts as a line if its area is at most this fraction of its squared extent. */
static const double LINE = 1e-11;
/* A sine of an angle counts as 0 unless its absolute value is larger than this, because smaller values may be rounding errors. */
static const double ANGLE = 1e-9;

/* Returns the square of the largest distance between two corners. */
static double extent2(const cb_polygon *p)
{
    double far2 = 0;
    for (int i = 0; i < p->n; i++) {
        for (int j = 0; j < i; j++) far2 = fmax(far2, cb_vec_distance2(p->at[i], p->at[j]));
    }
    return far2;
}

int64_t cb_corners_distinct(cb_vec *at, int64_t n)
{
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) {
        if (k == 0 || cb_vec_distance2(at[i], at[k - 1]) > SAME2) at[k++] = at[i];
    }
    while (k > 1 && cb_vec_distance2(at[0], at[k - 1]) <= SAME2) k--;
    return k;
}

void cb_polygon_of(cb_polygon *p, const double *lat, const double *lon, int corners)
{
    for (p->n = 0; p->n < corners && p->n < CB_POLYGON_MOST / 2; p->n++)
        p->at[p->n] = cb_vec_of(lat[p->n], lon[p->n]);
    p->n = (int)cb_corners_distinct(p->at, p->n);
    const double area = p->n < 3 ? 0 : cb_polygon_area(p);
    if (p->n < 3 || (fabs(area) <= LINE * extent2(p) && !cb_polygon_crosses_itself(p))) {
        p->n = 0;
        return;
    }
    if (area < 0) {
        for (int i = 0, j = p->n - 1; i < j; i++, j--) {
            const cb_vec v = p->at[i];
            p->at[i] = p->at[j];
            p->at[j] = v;
        }
    }
}

void cb_polygon_cut(cb_polygon *p, cb_vec normal)
{
    cb_polygon q = {.n = 0};
    double side[CB_POLYGON_MOST];
    bool any_out = false;
    const double rounding = 1e-15 * sqrt(cb_vec_dot(normal, normal));
    for (int i = 0; i < p->n; i++) {
        side[i] = cb_vec_dot(p->at[i], normal);
        if (fabs(side[i]) <= rounding) side[i] = 0;
        any_out = any_out || side[i] < 0;
    }
    if (!any_out) return;
    for (int i = 0; i < p->n && q.n < CB_POLYGON_MOST - 2; i++) {
        const int j = i + 1 < p->n ? i + 1 : 0;
        if (side[i] >= 0) q.at[q.n++] = p->at[i];
        if ((side[i] > 0 && side[j] < 0) || (side[i] < 0 && side[j] > 0)) {
            const double a = fabs(side[j]), b = fabs(side[i]);
            const cb_vec u = p->at[i], v = p->at[j];
            q.at[q.n++] = unit((cb_vec){a * u.x + b * v.x, a * u.y + b * v.y, a * u.z + b * v.z});
        }
    }
    if (q.n < 3) q.n = 0;
    *p = q;
}

void cb_polygon_clip(cb_polygon *p, const cb_polygon *by)
{
    for (int i = 0; i < by->n && p->n > 0; i++)
        cb_polygon_cut(p, cb_vec_cross(by->at[i], by->at[i + 1 < by->n ? i + 1 : 0]));
}

/* Returns the signed area: positive if the corners a, b, c are counterclockwise. */
static double triangle_area(cb_vec a, cb_vec b, cb_vec c)
{
    /* Differences of corners preserve the precision of small triangles. */
    const cb_vec ab = {b.x - a.x, b.y - a.y, b.z - a.z}, ac = {c.x - a.x, c.y - a.y, c.z - a.z};
    const double volume = cb_vec_dot(a, cb_vec_cross(ab, ac));
    const double around = 1 + cb_vec_dot(a, b) + cb_vec_dot(b, c) + cb_vec_dot(c, a);
    return 2 * atan2(volume, around);
}

double cb_polygon_area(const cb_polygon *p)
{
    double area = 0;
    for (int i = 1; i + 1 < p->n; i++) area += triangle_area(p->at[0], p->at[i], p->at[i + 1]);
    return area;
}

/* Returns the sine of the angle from edge a-b to the edge from b to c; positive to the left. */
static double turning(cb_vec a, cb_vec b, cb_vec c)
{
    const cb_vec ab = {b.x - a.x, b.y - a.y, b.z - a.z}, bc = {c.x - b.x, c.y - b.y, c.z - b.z};
    return cb_vec_dot(b, cb_vec_cross(ab, bc)) / sqrt(cb_vec_dot(ab, ab) * cb_vec_dot(bc, bc));
}

bool cb_polygon_is_convex(const cb_polygon *p)
{
    for (int i = 0; i < p->n; i++) {
        if (turning(p->at[i], p->at[(i + 1) % p->n], p->at[(i + 2) % p->n]) < -ANGLE) return false;
    }
    return true;
}

/* Returns true if c and d are on different sides of the edge a-b, and neither is on it. */
static bool are_apart(cb_vec a, cb_vec b, cb_vec c, cb_vec d)
{
    const double e = turning(a, b, c), f = turning(a, b, d);
    return fabs(e) > ANGLE && fabs(f) > ANGLE && (e < 0) != (f < 0);
}

/* Returns true if n corners turn to the left, or all to the right. The edges of four such corners do not cross. Those of five
 * may cross, as in a pentagram. */
static bool turn_one_way(const cb_vec *at, int64_t n)
{
    bool left = false, right = false;
    for (int64_t i = 0; i < n; i++) {
        const double t = turning(at[i], at[(i + 1) % n], at[(i + 2) % n]);
        left = left || t > ANGLE;
        right = right || t < -ANGLE;
    }
    return !(left && right);
}

bool cb_corners_cross(const cb_vec *at, int64_t n)
{
    if (n < 4 || (n == 4 && turn_one_way(at, n))) return false;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i + 2; j < n; j++) {
            const int64_t end = j + 1 < n ? j + 1 : 0;
            if (end != i && are_apart(at[i], at[i + 1], at[j], at[end]) &&
                are_apart(at[j], at[end], at[i], at[i + 1]))
                return true;
        }
    }
    return false;
}

bool cb_polygon_crosses_itself(const cb_polygon *p) { return cb_corners_cross(p->at, p->n); }

/* --- Bands of latitude --------------------------------------------------------------------------------- */

/* Returns true at a pole. The planes of two meridians a quarter of a degree apart meet within 1e-13 of the pole. */
static bool is_pole(cb_vec v) { return v.x * v.x + v.y * v.y < 1e-24; }

/* Returns the longitude of b minus that of a, from -pi to pi. */
static double turn(cb_vec a, cb_vec b)
{
    return atan2(a.x * b.y - a.y * b.x, a.x * b.x + a.y * b.y);
}

/* Integrates the height along the great circle from a to b over the longitude. */
static double height_integral(cb_vec a, cb_vec b, double dlon)
{
    /* tan(latitude / 2) */
    const double ta = a.z / (1 + sqrt(a.x * a.x + a.y * a.y));
    const double tb = b.z / (1 + sqrt(b.x * b.x + b.y * b.y));
    return 2 * atan(tan(dlon / 2) * (ta + tb) / (1 + ta * tb));
}

/* Limits the height z to the band, and returns its distance from the height of the band's lower circle. */
static double clamped(double z, const cb_band *band)
{
    return (z < band->low ? band->low : z > band->high ? band->high : z) - band->low;
}

/* A height whose absolute value is below this counts as a height on the equator, because its sign may be a rounding error. */
static const double ON_EQUATOR = 1e-15;

/* Finds the positions on the chord from a to b, from 0 to 1 and in order, at which the edge has height z. The point on the
 * sphere above the chord's point q has this height if q.z = z * |q|. */
static int crossings(cb_vec a, cb_vec b, double z, double *at)
{
    const cb_vec d = {b.x - a.x, b.y - a.y, b.z - a.z}, normal = cb_vec_cross(a, d);
    const cb_vec e = {a.x * d.z - d.x * a.z, a.y * d.z - d.y * a.z, 0};
    const double q2 = d.z * d.z - z * z * cb_vec_dot(d, d);
    const double q1 = a.z * d.z - z * z * cb_vec_dot(a, d);
    const double q0 = a.z * a.z - z * z * cb_vec_dot(a, a);
    /* The discriminant q1^2 - q2 q0 is z^2 times this number. Differences of q would be rounding errors near the equator. */
    const double root = cb_vec_dot(e, e) - z * z * cb_vec_dot(normal, normal);
    int n = 0;
    if (root < 0) return 0;
    /* Computes both roots without cancellation. */
    const double s = -(q1 + (q1 >= 0 ? fabs(z) : -fabs(z)) * sqrt(root));
    const double roots[2] = {q2 != 0 ? s / q2 : -1, s != 0 ? q0 / s : -1};
    for (int i = 0; i < 2; i++) {
        const double t = roots[i];
        const double h = a.z + t * d.z;
        /* The other root has the height -z. At the equator both roots are equal. */
        if (!(t > 0 && t < 1) || (fabs(z) > ON_EQUATOR && (h < 0) != (z < 0))) continue;
        at[n++] = t;
    }
    if (n == 2 && at[0] > at[1]) {
        const double t = at[0];
        at[0] = at[1];
        at[1] = t;
    }
    return n;
}

/* Integrates r x dr along the great circle from a to b. */
static cb_vec arc_moment(cb_vec a, cb_vec b)
{
    /* The difference b - a preserves the precision of short arcs, unlike the points themselves. */
    const cb_vec n = cb_vec_cross(a, (cb_vec){b.x - a.x, b.y - a.y, b.z - a.z});
    const double sine = sqrt(cb_vec_dot(n, n));
    const double by = sine > 0 ? atan2(sine, cb_vec_dot(a, b)) / sine : 1;
    return (cb_vec){n.x * by, n.y * by, n.z * by};
}

/* Integrates r x dr along a circle of latitude with height z and a radius, from the longitude of a over `dlon` to that of b. */
static cb_vec circle_moment(cb_vec a, cb_vec b, double z, double radius, double dlon)
{
    const double ra = sqrt(a.x * a.x + a.y * a.y), rb = sqrt(b.x * b.x + b.y * b.y);
    const double zr = z * radius;
    return (cb_vec){-zr * (b.y / rb - a.y / ra), zr * (b.x / rb - a.x / ra),
                    radius * radius * dlon};
}

static void add(cb_vec *to, cb_vec v)
{
    to->x += v.x;
    to->y += v.y;
    to->z += v.z;
}

/* Integrates along an edge whose height is limited to a band: the height above the lower circle, over the longitude, or r x dr if
 * `moment` is not NULL. */
static double edge_integral(cb_vec a, cb_vec b, const cb_band *band, cb_vec *moment)
{
    const double low = band->low, high = band->high;
    double at[6] = {0};
    int n = 1;
    double sum = 0;
    n += crossings(a, b, low, at + n);
    n += crossings(a, b, high, at + n);
    at[n++] = 1;
    for (int i = 1; i < n; i++) {
        for (int j = i; j > 1 && at[j] < at[j - 1]; j--) {
            const double t = at[j];
            at[j] = at[j - 1];
            at[j - 1] = t;
        }
    }
    cb_vec from = a;
    for (int i = 1; i < n; i++) {
        const double t = at[i], m = (at[i - 1] + t) / 2;
        const cb_vec to = i == n - 1 ? b
                                     : unit((cb_vec){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y),
                                                     a.z + t * (b.z - a.z)});
        const cb_vec middle =
            unit((cb_vec){a.x + m * (b.x - a.x), a.y + m * (b.y - a.y), a.z + m * (b.z - a.z)});
        const double dlon = turn(from, to);
        if (moment)
            add(moment, middle.z >= high  ? circle_moment(from, to, high, band->high_radius, dlon)
                        : middle.z <= low ? circle_moment(from, to, low, band->low_radius, dlon)
                                          : arc_moment(from, to));
        else if (middle.z >= high)
            sum += (high - low) * dlon;
        else if (middle.z > low)
            sum += height_integral(from, to, dlon) - low * dlon;
        from = to;
    }
    return sum;
}

cb_vec cb_polygon_moment(const cb_polygon *p)
{
    cb_vec sum = {0, 0, 0};
    for (int i = 0; i < p->n; i++) add(&sum, arc_moment(p->at[i], p->at[i + 1 < p->n ? i + 1 : 0]));
    return (cb_vec){sum.x / 2, sum.y / 2, sum.z / 2};
}

/* Returns the point with the longitude of a, and the height z and radius limited to the band. */
static cb_vec limited(cb_vec a, double z, double radius, const cb_band *band)
{
    const double r = sqrt(a.x * a.x + a.y * a.y);
    if (z < band->low) z = band->low, radius = band->low_radius;
    if (z > band->high) z = band->high, radius = band->high_radius;
    return (cb_vec){a.x / r * radius, a.y / r * radius, z};
}

/* Integrates r x dr over a pole from a to b, whose heights are limited to the band. */
static cb_vec pole_moment(cb_vec a, cb_vec b, double pole, const cb_band *band)
{
    const double ra = sqrt(a.x * a.x + a.y * a.y), rb = sqrt(b.x * b.x + b.y * b.y);
    const cb_vec a_end = limited(a, pole, 0, band), b_end = limited(b, pole, 0, band);
    const double z = a_end.z, radius = z == pole  ? 0
                                       : pole > 0 ? band->high_radius
                                                  : band->low_radius;
    cb_vec sum = arc_moment(limited(a, a.z, ra, band), a_end);
    add(&sum, circle_moment(a, b, z, radius, turn(a, b)));
    add(&sum, arc_moment(b_end, limited(b, b.z, rb, band)));
    return sum;
}

cb_vec cb_polygon_band_moment(const cb_polygon *p, const cb_band *band)
{
    cb_vec sum = {0, 0, 0};
    for (int i = 0; i < p->n; i++) {
        const cb_vec a = p->at[i];
        int j = i + 1 < p->n ? i + 1 : 0;
        if (is_pole(a)) continue;
        const bool over_pole = is_pole(p->at[j]);
        const double pole = p->at[j].z > 0 ? 1 : -1;
        while (is_pole(p->at[j])) j = j + 1 < p->n ? j + 1 : 0;
        if (over_pole)
            add(&sum, pole_moment(a, p->at[j], pole, band));
        else
            (void)edge_integral(a, p->at[j], band, &sum);
    }
    return (cb_vec){sum.x / 2, sum.y / 2, sum.z / 2};
}

cb_band cb_band_of(double south, double north)
{
    return (cb_band){.low = sin(south * CB_DEGREE),
                     .high = sin(north * CB_DEGREE),
                     .low_radius = fabs(south) == 90 ? 0 : cos(south * CB_DEGREE),
                     .high_radius = fabs(north) == 90 ? 0 : cos(north * CB_DEGREE)};
}

cb_vec cb_lonlat_moment(double south, double north, double west, double east)
{
    const double s = south * CB_DEGREE, n = north * CB_DEGREE;
    const double w = west * CB_DEGREE, e = east * CB_DEGREE;
    /* Differences of sines and cosines in the form of products preserve the precision of small cells. */
    const double middle = (s + n) / 2, high = n - s, wide = e - w;
    const double r = high / 2 + cos(2 * middle) * sin(high) / 2; /* integral of cos^2 */
    const double chord = 2 * sin(wide / 2), along = (w + e) / 2;
    return (cb_vec){r * chord * cos(along), r * chord * sin(along),
                    sin(2 * middle) * sin(high) / 2 * wide};
}

double cb_polygon_band_area(const cb_polygon *p, const cb_band *band)
{
    double area = 0;
    for (int i = 0; i < p->n; i++) {
        const cb_vec a = p->at[i];
        int j = i + 1 < p->n ? i + 1 : 0;
        if (is_pole(a)) continue;
        /* One or several corners at a pole form an edge along all longitudes between the neighbouring corners. */
        const bool over_pole = is_pole(p->at[j]);
        const double z = p->at[j].z;
        while (is_pole(p->at[j])) j = j + 1 < p->n ? j + 1 : 0;
        if (over_pole)
            area -= clamped(z, band) * turn(a, p->at[j]);
        else
            area -= edge_integral(a, p->at[j], band, NULL);
    }
    return area;
}

/* --- Boxes --------------------------------------------------------------------------------------------- */

static void widen(cb_space_box *box, cb_vec v)
{
    const double c[3] = {v.x, v.y, v.z};
    for (int d = 0; d < 3; d++) {
        box->lo[d] = fmin(box->lo[d], c[d]);
        box->hi[d] = fmax(box->hi[d], c[d]);
    }
}

static const cb_space_box NOTHING = {{2, 2, 2}, {-2, -2, -2}};

/* Adds a margin to all sides, because the surface of the sphere is up to `bulge` away from the chords. */
static void pad(cb_space_box *box, double bulge)
{
    for (int d = 0; d < 3; d++) {
        box->lo[d] -= bulge + 1e-12;
        box->hi[d] += bulge + 1e-12;
    }
}

void cb_polygon_box(const cb_polygon *p, cb_space_box *box)
{
    *box = NOTHING;
    for (int i = 0; i < p->n; i++) widen(box, p->at[i]);
    /* If d is the largest distance between two corners, the polygon rises at most d^2 / 2 above a plane through its corners. */
    pad(box, fmin(2, extent2(p) / 2));
}

void cb_lonlat_box(double south, double north, double west, double east, cb_space_box *box)
{
    *box = NOTHING;
    for (int i = 0; i <= 8; i++) {
        const double lon = west + (east - west) * i / 8;
        widen(box, cb_vec_of(south, lon));
        widen(box, cb_vec_of(north, lon));
        if (south < 0 && north > 0) widen(box, cb_vec_of(0, lon));
    }
    /* The arc between two of these meridians rises by this height above its chord. */
    pad(box, 1 - cos((east - west) / 16 * CB_DEGREE));
}
