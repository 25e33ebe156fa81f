/* Points, cells and areas on the unit sphere. */
#ifndef CB_BLOCK_SPHERE_H
#define CB_BLOCK_SPHERE_H

#include <stdbool.h>
#include <stdint.h>

#define CB_PI     3.14159265358979323846
#define CB_DEGREE (CB_PI / 180)

/* Largest absolute values of coordinates in degrees. Latitudes may exceed the poles by rounding errors, for instance after
 * conversion from radians. Longitudes may be up to ten turns around the earth. */
#define CB_MOST_LAT (90 + 1e-6)
#define CB_MOST_LON 3600.0

/* Ends of messages about refused values and cells. CB_DEGREES_EXPECTED is a format string, whose two arguments are the largest
 * allowed value. */
#define CB_DEGREES_EXPECTED                                                                        \
    "expected degrees from -%g to %g; correct the value, or convert the coordinates to degrees"
#define CB_CORNERS_EXPECTED                                                                        \
    "expected bounds in the order of the corners around the cell; change their order"

/* Returns the position of the first finite number outside of -most to most, or -1. */
int64_t cb_degrees_find_far(const double *v, int64_t n, double most);

typedef struct cb_vec {
    double x, y, z;
} cb_vec;

/* Returns the point on the unit sphere at a latitude and a longitude in degrees. */
cb_vec cb_vec_of(double lat, double lon);
double cb_vec_dot(cb_vec a, cb_vec b);
cb_vec cb_vec_cross(cb_vec a, cb_vec b);
/* Returns the square of the straight-line distance between two points. */
static inline double cb_vec_distance2(cb_vec a, cb_vec b)
{
    const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

/* A polygon on the sphere. Its edges are arcs of great circles. Its corners are counterclockwise, as seen from outside the
 * sphere. */
enum { CB_POLYGON_MOST = 160 };
typedef struct cb_polygon {
    int n;
    cb_vec at[CB_POLYGON_MOST];
} cb_polygon;

/* Creates a polygon of corners in degrees, in either order. Removes repeated corners. Sets p->n to 0 if fewer than three corners
 * are left, or if they are on one line. */
void cb_polygon_of(cb_polygon *p, const double *lat, const double *lon, int corners);
/* Clips p by the plane through the origin with the given normal. Keeps the part on the side to which `normal` points. */
void cb_polygon_cut(cb_polygon *p, cb_vec normal);
/* Replaces p by the part of p that is inside the convex polygon `by`. If p is concave, the parts may be connected by edges
 * without area. */
void cb_polygon_clip(cb_polygon *p, const cb_polygon *by);
double cb_polygon_area(const cb_polygon *p);
bool cb_polygon_is_convex(const cb_polygon *p);
/* Returns true if two edges of the polygon with these n corners cross, which shows that the corners are in a wrong order.
 * Neighbouring corners must differ. */
bool cb_corners_cross(const cb_vec *at, int64_t n);
bool cb_polygon_crosses_itself(const cb_polygon *p);
/* Removes corners that repeat the previous one, in place. The corner before the first one is the last one. Returns the number of
 * the remaining corners. */
int64_t cb_corners_distinct(cb_vec *at, int64_t n);

/* The part of the sphere between two circles of latitude: their heights above the equator's plane, which are sines of latitudes,
 * and their radii. */
typedef struct cb_band {
    double low, high, low_radius, high_radius;
} cb_band;

/* Returns the band between two latitudes in degrees, from south to north. */
cb_band cb_band_of(double south, double north);
/* Returns the area of the part of p in a band. p spans less than 180 degrees of longitude. A pole is either a corner of p or
 * outside of p. */
double cb_polygon_band_area(const cb_polygon *p, const cb_band *band);

/* Return the integral of the position over a polygon, and over the part of a polygon in a band. The polygon of the second
 * function spans less than 180 degrees of longitude, and a pole is either one of its corners or outside. The integral divided by
 * the area is the centroid. */
cb_vec cb_polygon_moment(const cb_polygon *p);
cb_vec cb_polygon_band_moment(const cb_polygon *p, const cb_band *band);
/* Returns the integral of the position over a cell between two latitudes and two longitudes in degrees. */
cb_vec cb_lonlat_moment(double south, double north, double west, double east);

/* A bounding box in space, with sides parallel to the axes. */
typedef struct cb_space_box {
    double lo[3], hi[3];
} cb_space_box;

/* Sets *box to the bounding box of a polygon and its edges. */
void cb_polygon_box(const cb_polygon *p, cb_space_box *box);
/* Sets *box to the bounding box, in space, of the cell between two latitudes and two longitudes in degrees. `east` is at most
 * 360 degrees more than `west`. */
void cb_lonlat_box(double south, double north, double west, double east, cb_space_box *box);

#endif
