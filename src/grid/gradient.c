/* Gradients by least squares over neighbours (Barth and Jespersen 1989), weighted by the inverse squared distance. */
#include "grid/gradient.h"

#include <math.h>

/* Corners are equal if their distance is less than this fraction of the cell's largest extent. */
static const double SAME_CORNER = 1e-3;
/* Neighbours are on one line if the determinant of their matrix is less than this fraction of its squared trace. */
static const double ONE_LINE = 1e-6;
/* Centroids closer than this fraction of the distance to the furthest neighbour belong to copies of one cell, such as the columns
 * that overlap in grids of ocean models. */
static const double SAME_CELL = 1e-6;
/* A cell has no gradient if its centroid is closer than this to the centre of the sphere, because the cell is then larger than
 * about half of the sphere. The centroid of a hemisphere has a distance of 1/2. */
static const double LEAST_RADIUS = 0.4;

enum { MOST_CORNERS = CB_POLYGON_MOST / 4 };

static int corners_of(const cubed_grid *g, int64_t i, cb_vec *out)
{
    const double *y = g->lat_bounds + i * g->corners, *x = g->lon_bounds + i * g->corners;
    for (int k = 0; k < g->corners; k++) out[k] = cb_vec_of(y[k], x[k]);
    return g->corners;
}

static bool is_pole(cb_vec v) { return v.x * v.x + v.y * v.y < 1e-20; }

/* Arguments of the search for cells that share a corner with a cell. */
typedef struct search {
    const cb_gradients *g;
    cb_gradient *to;
    int n;
    cb_vec corner[MOST_CORNERS];
    double same2; /* squared distance below which corners are equal */
} search;

/* Returns true if cell i shares a corner with the cell of the search. A pole does not count, because all cells around the pole
 * may have it as a corner. */
static bool share_corner(const search *s, int32_t i)
{
    cb_vec other[MOST_CORNERS];
    const int n = corners_of(s->g->grid, i, other);
    for (int a = 0; a < s->n; a++) {
        for (int b = 0; b < n && !is_pole(s->corner[a]); b++) {
            if (cb_vec_distance2(s->corner[a], other[b]) <= s->same2) return true;
        }
    }
    return false;
}

/* Adds a neighbour, unless it has no area or is more than a quarter of the way around the earth. */
static void add_neighbour(const cb_gradients *g, cb_gradient *to, int64_t i)
{
    if (i == to->of || to->n == CB_GRADIENT_MOST ||
        !(cb_vec_dot(g->centroids[i], g->centroids[to->of]) > 0))
        return;
    to->cell[to->n++] = (int32_t)i;
}

static cubed_status add_found(void *ctx, int32_t i, cubed_error *err)
{
    search *s = ctx;
    (void)err;
    if (share_corner(s, i)) add_neighbour(s->g, s->to, i);
    return CUBED_OK;
}

static cubed_status find_neighbours(const cb_gradients *g, const cb_space_box *around,
                                    cb_gradient *to, cubed_error *err)
{
    const cubed_grid *grid = g->grid;
    if (grid->regular) {
        const int64_t width = grid->shape[1], j = to->of / width, i = to->of % width;
        if (j > 0) add_neighbour(g, to, to->of - width);
        if (j + 1 < grid->shape[0]) add_neighbour(g, to, to->of + width);
        if (i > 0 || grid->circular) add_neighbour(g, to, j * width + (i > 0 ? i : width) - 1);
        if (i + 1 < width || grid->circular)
            add_neighbour(g, to, j * width + (i + 1 < width ? i + 1 : 0));
        return CUBED_OK;
    }
    search s = {.g = g, .to = to};
    s.n = corners_of(grid, to->of, s.corner);
    for (int a = 0; a < s.n; a++) {
        for (int b = 0; b < a; b++)
            s.same2 = fmax(s.same2, cb_vec_distance2(s.corner[a], s.corner[b]));
    }
    s.same2 *= SAME_CORNER * SAME_CORNER;
    return cb_space_overlaps(g->index, around, add_found, &s, err);
}

static cb_vec minus(cb_vec a, cb_vec b) { return (cb_vec){a.x - b.x, a.y - b.y, a.z - b.z}; }

static cb_vec scaled(cb_vec a, double by) { return (cb_vec){a.x * by, a.y * by, a.z * by}; }

/* Sets two unit vectors that are at right angles to each other and to `up`. */
static void tangents(cb_vec up, cb_vec *a, cb_vec *b)
{
    const cb_vec axis = fabs(up.z) < 0.7 ? (cb_vec){0, 0, 1} : (cb_vec){1, 0, 0};
    *a = cb_vec_cross(axis, up);
    *a = scaled(*a, 1 / sqrt(cb_vec_dot(*a, *a)));
    *b = cb_vec_cross(up, *a);
    *b = scaled(*b, 1 / sqrt(cb_vec_dot(*b, *b)));
}

/* Sets the coefficients of the neighbours: (sum of w d d')^-1 w d, for distances d in the tangent plane. */
static void fit(const cb_gradients *g, cb_gradient *to)
{
    const cb_vec centre = g->centroids[to->of];
    double x[CB_GRADIENT_MOST], y[CB_GRADIENT_MOST], w[CB_GRADIENT_MOST], furthest = 0;
    double xx = 0, xy = 0, yy = 0;
    cb_vec a, b;
    tangents(centre, &a, &b);
    for (int k = 0; k < to->n; k++) {
        const cb_vec d = minus(g->centroids[to->cell[k]], centre);
        x[k] = cb_vec_dot(d, a);
        y[k] = cb_vec_dot(d, b);
        furthest = fmax(furthest, x[k] * x[k] + y[k] * y[k]);
    }
    for (int k = 0; k < to->n; k++) {
        const double d2 = x[k] * x[k] + y[k] * y[k];
        w[k] = d2 > SAME_CELL * SAME_CELL * furthest ? 1 / d2 : 0;
        xx += w[k] * x[k] * x[k];
        xy += w[k] * x[k] * y[k];
        yy += w[k] * y[k] * y[k];
    }
    const double trace = xx + yy, determinant = xx * yy - xy * xy;
    const bool is_plane = determinant > ONE_LINE * trace * trace;
    for (int k = 0; k < to->n; k++) {
        double u = 0, v = 0;
        if (is_plane) {
            u = w[k] * (yy * x[k] - xy * y[k]) / determinant;
            v = w[k] * (xx * y[k] - xy * x[k]) / determinant;
        } else if (trace > 0) {
            /* If the neighbours are on one line, the matrix is its trace times the projection onto that line. */
            u = w[k] * x[k] / trace;
            v = w[k] * y[k] / trace;
        }
        to->by[k] = (cb_vec){u * a.x + v * b.x, u * a.y + v * b.y, u * a.z + v * b.z};
    }
}

cubed_status cb_gradient_of(const cb_gradients *g, int32_t cell, const cb_space_box *around,
                            const cb_gradient **out, cubed_error *err)
{
    cb_gradient *to = &g->cache[cell % CB_GRADIENT_CACHE];
    const cb_vec centre = g->centroids[cell];
    *out = to;
    if (to->of == cell) return CUBED_OK;
    to->of = cell;
    to->n = 0;
    if (cb_vec_dot(centre, centre) < LEAST_RADIUS * LEAST_RADIUS) return CUBED_OK;
    const cubed_status st = find_neighbours(g, around, to, err);
    if (st == CUBED_OK) fit(g, to);
    if (st != CUBED_OK) to->of = -1;
    return st;
}
