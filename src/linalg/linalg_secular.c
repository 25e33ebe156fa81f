#include "linalg/linalg_secular.h"

#include <math.h>

#include "linalg/linalg_shared.h"

/* Maximum number of steps. About six are typical; bisection needs more. */
#define MOST_STEPS 100

/* Sums of z^2 / (gap - y), and of the derivative of this term: over the poles up to the root's own pole, and over later
 * poles. */
typedef struct sums {
    double below, above, slope_below, slope_above;
} sums;

static double add_poles(int64_t n, const double *squares, const double *gaps, double y,
                        double *slope)
{
    enum { LANES = 8 };
    double s[LANES] = {0}, t[LANES] = {0}, sum = 0;
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        for (int l = 0; l < LANES; l++) {
            double r = 1 / (gaps[j + l] - y), q = squares[j + l] * r;
            s[l] += q;
            t[l] += q * r;
        }
    }
    for (; j < n; j++) {
        double r = 1 / (gaps[j] - y), q = squares[j] * r;
        s[0] += q;
        t[0] += q * r;
    }
    *slope = 0;
    for (int l = 0; l < LANES; l++) {
        sum += s[l];
        *slope += t[l];
    }
    return sum;
}

static sums add_all(int64_t n, int64_t i, const double *squares, const double *gaps, double y)
{
    sums f;
    f.below = add_poles(i + 1, squares, gaps, y, &f.slope_below);
    f.above = add_poles(n - i - 1, squares + i + 1, gaps + i + 1, y, &f.slope_above);
    return f;
}

/* Returns the root of c + s / (p - x) + t / (q - x) between the poles p and q. */
static double between_poles(double c, double s, double t, double p, double q)
{
    double a = c * (p + q) + s + t, b = c * p * q + s * q + t * p;
    double root = sqrt(fabs(a * a - 4 * b * c));
    return a > 0 ? 2 * b / (a + root) : (a - root) / (2 * c);
}

/* d[j]^2 - d[origin]^2 */
static void make_gaps(int64_t n, const double *d, int64_t origin, double *gaps)
{
    for (int64_t j = 0; j < n; j++) gaps[j] = (d[j] - d[origin]) * (d[j] + d[origin]);
}

/* Finds root i, which is between poles i and i + 1. The last root exceeds pole n - 1 by at most the sum of squares. Solves for
 * the distance from the nearer pole, which becomes the origin. Each step solves an equation with only the two neighbouring poles,
 * which has the same value and slopes at the current point (R. Li, "Solving secular equations stably and efficiently", LAPACK
 * working note 89, 1993), or bisects if the result would leave the bracket. */
static double solve_one(int64_t n, int64_t i, const double *d, const double *squares, double sum,
                        double *gaps)
{
    int64_t origin = i;
    make_gaps(n, d, i, gaps);
    double wide = i + 1 < n ? gaps[i + 1] : sum, next = i + 1 < n ? squares[i + 1] : 0;
    double half = wide / 2;
    sums f = add_all(n, i, squares, gaps, half);
    /* The terms of all poles except the two neighbours, evaluated in the middle. */
    double rest = 1 + f.below + f.above + squares[i] / half - next / half;
    double lo = 0, hi = half, p = 0, q = wide, y;
    if (1 + f.below + f.above < 0) {
        lo = half;
        hi = wide;
        if (i + 1 < n) {
            origin = i + 1;
            make_gaps(n, d, origin, gaps);
            lo = -half;
            hi = 0;
            p = -wide;
            q = 0;
        }
    }
    y = between_poles(rest, squares[i], next, p, q);
    for (int step = 0; step < MOST_STEPS; step++) {
        if (!(y > lo && y < hi)) {
            double near = lo > 0 ? lo : hi < 0 ? -hi : 0, far = lo >= 0 ? hi : -lo;
            double size = near > 0 && near * 4 < far ? sqrt(near) * sqrt(far)
                          : near > 0                 ? (near + far) / 2
                                                     : far / 1024;
            y = lo >= 0 ? size : -size;
            if (!(y > lo && y < hi)) break;
        }
        f = add_all(n, i, squares, gaps, y);
        double value = 1 + f.below + f.above, slope = f.slope_below + f.slope_above;
        if (!(fabs(value) > CB_EPSILON * (4 * (1 + f.above - f.below) + fabs(y) * slope))) break;
        if (value < 0)
            lo = y;
        else
            hi = y;
        double to_p = p - y, to_q = q - y;
        double c = value - to_p * f.slope_below - to_q * f.slope_above;
        y += between_poles(c, to_p * to_p * f.slope_below, to_q * to_q * f.slope_above, to_p, to_q);
    }
    for (int64_t j = 0; j < n; j++) gaps[j] -= y;
    return sqrt(d[origin] * d[origin] + y);
}

/* Computes the squares of the z for which the computed roots are exact: products over i of gaps[i][j], divided by
 * differences of poles. */
static void exact_squares(int64_t n, const double *d, const double *gaps, double *product)
{
    for (int64_t j = 0; j < n; j++) product[j] = -gaps[(n - 1) * n + j];
    for (int64_t i = 0; i < n - 1; i++) {
        const double *row = gaps + i * n;
        for (int64_t j = 0; j <= i; j++)
            product[j] *= row[j] / ((d[j] - d[i + 1]) * (d[j] + d[i + 1]));
        for (int64_t j = i + 1; j < n; j++) product[j] *= row[j] / ((d[j] - d[i]) * (d[j] + d[i]));
    }
}

void cb_secular_solve(int64_t n, const double *d, double *z, double *s, double *gaps, double *room)
{
    double *squares = room, sum = 0;
    for (int64_t j = 0; j < n; j++) {
        squares[j] = z[j] * z[j];
        sum += squares[j];
    }
    for (int64_t i = 0; i < n; i++) s[i] = solve_one(n, i, d, squares, sum, gaps + i * n);
    exact_squares(n, d, gaps, squares);
    for (int64_t j = 0; j < n; j++) z[j] = copysign(sqrt(fabs(squares[j])), z[j]);
}
