/* Points, convex cells and areas on the unit sphere. */
#ifndef CB_GRID_SPHERE_H
#define CB_GRID_SPHERE_H

#include <stdbool.h>
#include <stdint.h>

#define CB_PI     3.14159265358979323846
#define CB_DEGREE (CB_PI / 180)

typedef struct cb_vec {
    double x, y, z;
} cb_vec;

cb_vec cb_vec_of(double lat, double lon); /* of degrees */
double cb_vec_dot(cb_vec a, cb_vec b);
cb_vec cb_vec_cross(cb_vec a, cb_vec b);
/* Straight distance, squared. */
double cb_vec_distance2(cb_vec a, cb_vec b);

/* A polygon whose edges are parts of great circles, counterclockwise seen from outside. */
enum { CB_POLYGON_MOST = 160 };
typedef struct cb_polygon {
    int n;
    cb_vec at[CB_POLYGON_MOST];
} cb_polygon;

/* Makes the polygon of corners in degrees, without repeated corners; turns it counterclockwise. n is 0 if fewer than three
 * corners are left. */
void cb_polygon_of(cb_polygon *p, const double *lat, const double *lon, int corners);
/* Leaves the part of p on the side of the plane through the origin to which `normal` points. */
void cb_polygon_cut(cb_polygon *p, cb_vec normal);
/* Leaves the part of p inside a convex polygon. */
void cb_polygon_clip(cb_polygon *p, const cb_polygon *by);
double cb_polygon_area(const cb_polygon *p);
/* Area of the part of p between two heights above the plane of the equator: sines of latitudes. p spans less than half a
 * turn of longitude; poles are corners or outside. */
double cb_polygon_band_area(const cb_polygon *p, double low, double high);

/* A box around points of space. */
typedef struct cb_space_box {
    double lo[3], hi[3];
} cb_space_box;

/* The box of a polygon, edges included. */
void cb_polygon_box(const cb_polygon *p, cb_space_box *box);
/* The box of the cell between two latitudes and two longitudes, in degrees, at most a turn apart. */
void cb_lonlat_box(double south, double north, double west, double east, cb_space_box *box);

#endif
