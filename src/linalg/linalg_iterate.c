#include "linalg/linalg_iterate.h"

#include <math.h>

#include "linalg/linalg_shared.h"

/* Maximum number of steps per value. About three are typical. */
#define MOST_STEPS 60

static double *row(cb_vectors v, int64_t i) { return v.rows + i * v.stride; }

/* Replaces rows i and k by c i + s k and c k - s i. */
static void rotate(cb_vectors v, int64_t i, int64_t k, double c, double s)
{
    if (!v.rows) return;
    double *restrict x = row(v, i), *restrict y = row(v, k);
    for (int64_t j = 0; j < v.width; j++) {
        double t = c * x[j] + s * y[j];
        y[j] = c * y[j] - s * x[j];
        x[j] = t;
    }
}

static void swap_rows(cb_vectors v, int64_t i, int64_t k)
{
    if (!v.rows) return;
    for (int64_t j = 0; j < v.width; j++) {
        double t = row(v, i)[j];
        row(v, i)[j] = row(v, k)[j];
        row(v, k)[j] = t;
    }
}

/* Computes the rotation that maps (f, g) to (r, 0). Returns r. */
static double rotation(double f, double g, double *c, double *s)
{
    double r = sqrt(f * f + g * g);
    if (!(r > 0x1p-500)) r = cb_hypot(f, g); /* the squares lost digits, or r is not finite */
    *c = r == 0 ? 1 : f / r;
    *s = r == 0 ? 0 : g / r;
    return r;
}

/* Sorts values in place, and rows with them, with as few swaps as possible. */
static void sort_values(int64_t n, double *values, bool descending, cb_vectors a, cb_vectors b)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t best = i;
        for (int64_t k = i + 1; k < n; k++) {
            if (descending ? values[k] > values[best] : values[k] < values[best]) best = k;
        }
        if (best == i) continue;
        double t = values[i];
        values[i] = values[best];
        values[best] = t;
        swap_rows(a, i, best);
        swap_rows(b, i, best);
    }
}

/* --- Bidiagonal -------------------------------------------------------------------------------------- */

typedef struct bidiagonal {
    double *s, *e;
    cb_vectors left, right;
} bidiagonal;

/* If s[end - 1] is 0, eliminates e[end - 2] by rotations up to column `start`. */
static void deflate_last(const bidiagonal *m, int64_t start, int64_t end)
{
    double f = m->e[end - 2], c, s;
    m->e[end - 2] = 0;
    for (int64_t j = end - 2; j >= start; j--) {
        m->s[j] = rotation(m->s[j], f, &c, &s);
        if (j > start) {
            f = -s * m->e[j - 1];
            m->e[j - 1] *= c;
        }
        rotate(m->right, j, end - 1, c, s);
    }
}

/* If s[at] is 0, eliminates e[at] by rotations down to row `end`. */
static void deflate_row(const bidiagonal *m, int64_t at, int64_t end)
{
    double f = m->e[at], c, s;
    m->e[at] = 0;
    for (int64_t j = at + 1; j < end; j++) {
        m->s[j] = rotation(m->s[j], f, &c, &s);
        f = -s * m->e[j];
        m->e[j] *= c;
        rotate(m->left, j, at, c, s);
    }
}

/* Computes the first rotation of a step from Wilkinson's shift of B^T B. f and g are scaled. */
static void first_rotation(const bidiagonal *m, int64_t start, int64_t end, double *f, double *g)
{
    const double *s = m->s, *e = m->e;
    double scale = fmax(fmax(fmax(fabs(s[end - 1]), fabs(s[end - 2])), fabs(e[end - 2])),
                        fmax(fabs(s[start]), fabs(e[start])));
    double last = s[end - 1] / scale, before = s[end - 2] / scale, beside = e[end - 2] / scale;
    double first = s[start] / scale, next = e[start] / scale;
    double b = ((before + last) * (before - last) + beside * beside) / 2;
    double c = (last * beside) * (last * beside), shift = 0;
    if (b != 0 || c != 0) shift = c / (b + copysign(sqrt(b * b + c), b));
    *f = (first + last) * (first - last) + shift;
    *g = first * next;
}

/* Performs one step of Golub and Kahan's implicit QR iteration on rows start..end-1. */
static void svd_step(const bidiagonal *m, int64_t start, int64_t end)
{
    double *d = m->s, *e = m->e, f, g, c, s;
    first_rotation(m, start, end, &f, &g);
    for (int64_t j = start; j < end - 1; j++) {
        double r = rotation(f, g, &c, &s);
        if (j > start) e[j - 1] = r;
        f = c * d[j] + s * e[j];
        e[j] = c * e[j] - s * d[j];
        g = s * d[j + 1];
        d[j + 1] *= c;
        rotate(m->right, j, j + 1, c, s);
        d[j] = rotation(f, g, &c, &s);
        f = c * e[j] + s * d[j + 1];
        d[j + 1] = c * d[j + 1] - s * e[j];
        if (j + 1 < end - 1) {
            g = s * e[j + 1];
            e[j + 1] *= c;
        }
        rotate(m->left, j, j + 1, c, s);
    }
    e[end - 2] = f;
}

static bool is_negligible(double x, double a, double b)
{
    return fabs(x) <= CB_TINY + CB_EPSILON * (fabs(a) + fabs(b));
}

bool cb_bidiagonal_svd(int64_t n, double *s, double *e, cb_vectors left, cb_vectors right,
                       const cubed_cancel *cancel)
{
    const bidiagonal m = {s, e, left, right};
    int64_t steps = 0;
    if (n > 0) e[n - 1] = 0;
    for (int64_t end = n; end > 0;) {
        /* Rows start..end-1 are a separate block. */
        int64_t start = end - 1, zero;
        while (start > 0 && !is_negligible(e[start - 1], s[start - 1], s[start])) start--;
        if (start > 0) e[start - 1] = 0;
        if (start == end - 1) {
            if (!isfinite(s[start])) return false;
            if (signbit(s[start])) {
                s[start] = -s[start];
                for (int64_t j = 0; right.rows && j < right.width; j++)
                    row(right, start)[j] = -row(right, start)[j];
            }
            end--;
            continue;
        }
        for (zero = end - 1; zero >= start; zero--) {
            double before = zero > start ? e[zero - 1] : 0, behind = zero < end - 1 ? e[zero] : 0;
            if (is_negligible(s[zero], before, behind)) break;
        }
        if (zero >= start) s[zero] = 0;
        if (zero == end - 1) {
            deflate_last(&m, start, end);
        } else if (zero >= start) {
            deflate_row(&m, zero, end);
        } else {
            if (++steps > MOST_STEPS * n || cubed_cancel_is_set(cancel)) return false;
            svd_step(&m, start, end);
        }
    }
    sort_values(n, s, true, left, right);
    return true;
}

/* --- Tridiagonal ------------------------------------------------------------------------------------- */

/* Performs one step of the implicit QL iteration on rows start..end, with Wilkinson's shift. */
static void eigen_step(double *d, double *e, int64_t start, int64_t end, cb_vectors vectors)
{
    double ratio = (d[start + 1] - d[start]) / (2 * e[start]);
    double g = d[end] - d[start] + e[start] / (ratio + copysign(cb_hypot(ratio, 1), ratio));
    double c = 1, s = 1, p = 0;
    for (int64_t i = end - 1; i >= start; i--) {
        double f = s * e[i], b = c * e[i];
        double r = rotation(g, f, &c, &s);
        e[i + 1] = r;
        if (r == 0) { /* element i + 1 next to the diagonal is 0, so the matrix splits here */
            d[i + 1] -= p;
            e[end] = 0;
            return;
        }
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate(vectors, i + 1, i, c, s);
    }
    d[start] -= p;
    e[start] = g;
    e[end] = 0;
}

bool cb_tridiagonal_eigen(int64_t n, double *d, double *e, cb_vectors vectors,
                          const cubed_cancel *cancel)
{
    int64_t steps = 0;
    if (n > 0) e[n - 1] = 0;
    for (int64_t start = 0; start < n;) {
        int64_t end = start;
        while (end < n - 1 && !is_negligible(e[end], d[end], d[end + 1])) end++;
        if (end == start) {
            if (!isfinite(d[start])) return false;
            start++;
            continue;
        }
        if (++steps > MOST_STEPS * n || cubed_cancel_is_set(cancel)) return false;
        eigen_step(d, e, start, end, vectors);
    }
    sort_values(n, d, false, vectors, (cb_vectors){0});
    return true;
}
