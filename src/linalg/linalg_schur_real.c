/* Francis's QR iterations with double shifts for real matrices (Golub and Van Loan, "Matrix Computations", 7.5). Uses real
 * numbers only, so conjugate eigenvalues are exactly conjugate. */
#include "linalg/linalg_schur.h"

/* Maximum number of steps per eigenvalue. About two are typical. */
#define MOST_STEPS 60

typedef struct schur {
    int64_t n;
    double *h, *zt;
} schur;

/* --- Iteration --------------------------------------------------------------------------------------- */

/* Applies the reflection that maps x[0..count-1] to (beta, 0, ...) to rows, columns and vectors k to k + count - 1. */
static double reflect(const schur *m, int64_t k, int64_t count, const double *x, int64_t left,
                      int64_t top, int64_t bottom, int64_t right)
{
    double v[3] = {1, 0, 0}, sum = 0;
    int64_t n = m->n;
    for (int64_t i = 1; i < count; i++) sum = cb_hypot(sum, x[i]);
    if (sum < CB_TINY) return x[0];
    double beta = -copysign(cb_hypot(x[0], sum), x[0]), tau = (beta - x[0]) / beta;
    for (int64_t i = 1; i < count; i++) v[i] = x[i] / (x[0] - beta);
    for (int64_t j = left; j < right; j++) {
        double *column = m->h + k * n + j, w = 0;
        for (int64_t i = 0; i < count; i++) w += v[i] * column[i * n];
        for (int64_t i = 0; i < count; i++) column[i * n] -= tau * w * v[i];
    }
    for (int64_t r = top; r <= bottom; r++) {
        double *row = m->h + r * n + k, w = 0;
        for (int64_t i = 0; i < count; i++) w += v[i] * row[i];
        for (int64_t i = 0; i < count; i++) row[i] -= tau * w * v[i];
    }
    for (int64_t j = 0; m->zt && j < n; j++) {
        double *column = m->zt + k * n + j, w = 0;
        for (int64_t i = 0; i < count; i++) w += v[i] * column[i * n];
        for (int64_t i = 0; i < count; i++) column[i * n] -= tau * w * v[i];
    }
    return beta;
}

/* Performs one double step on rows first..last, at least three, with shifts of the given sum and product. */
static void step(const schur *m, int64_t first, int64_t last, double sum, double product)
{
    int64_t n = m->n, top = m->zt ? 0 : first, right = m->zt ? n : last + 1;
    const double *a = m->h + first * (n + 1), *b = a + n, *c = b + n;
    double x[3] = {a[0] * (a[0] - sum) + a[1] * b[0] + product, b[0] * (a[0] + b[1] - sum),
                   b[0] * c[1]};
    for (int64_t k = first; k < last; k++) {
        int64_t count = cb_min_i64(3, last - k + 1);
        double *column = m->h + k * n + k - 1;
        if (k > first) {
            for (int64_t i = 0; i < count; i++) x[i] = column[i * n];
        }
        double beta = reflect(m, k, count, x, k, top, cb_min_i64(k + 3, last), right);
        if (k == first) continue;
        column[0] = beta;
        for (int64_t i = 1; i < count; i++) column[i * n] = 0;
    }
}

/* Chooses sum and product of the shifts of a step. */
static void choose_shifts(const schur *m, int64_t first, int64_t last, int64_t steps, double *sum,
                          double *product)
{
    const int64_t n = m->n;
    const double *end = m->h + last * (n + 1);
    if (steps % 10 == 0) { /* no progress: exceptional shifts, near one end of the block */
        const double *at = steps % 20 == 0 ? end : m->h + (first + 2) * (n + 1);
        double w = fabs(at[-1]) + fabs(at[-n - 2]);
        double middle = 0.75 * w + (at == end ? end[0] : at[-2 * (n + 1)]);
        *sum = 2 * middle;
        *product = middle * middle + 0.4375 * w * w;
        return;
    }
    double half = (end[-n - 1] - end[0]) / 2, square = half * half + end[-1] * end[-n];
    *sum = end[0] + end[-n - 1];
    *product = end[0] * end[-n - 1] - end[-1] * end[-n];
    if (square < 0) return;
    /* If both shifts are real, using the one closer to the last element twice converges more reliably. */
    double near = end[0] + half - copysign(sqrt(square), half);
    *sum = 2 * near;
    *product = near * near;
}

/* Rotates rows and columns k and k + 1: x' = c x + s y, y' = c y - s x. */
static void rotate(const schur *m, int64_t k, double c, double s)
{
    int64_t n = m->n;
    for (int64_t j = k; j < n; j++) {
        double *x = m->h + k * n + j, t = c * x[0] + s * x[n];
        x[n] = c * x[n] - s * x[0];
        x[0] = t;
    }
    for (int64_t i = 0; i <= k + 1; i++) {
        double *x = m->h + i * n + k, t = c * x[0] + s * x[1];
        x[1] = c * x[1] - s * x[0];
        x[0] = t;
    }
    for (int64_t j = 0; j < n; j++) {
        double *x = m->zt + k * n + j, t = c * x[0] + s * x[n];
        x[n] = c * x[n] - s * x[0];
        x[0] = t;
    }
}

/* Computes the eigenvalues of the 2 x 2 block at k. If they are real, makes the block triangular. */
static void split_pair(const schur *m, int64_t k, cb_complex *values)
{
    double *up = m->h + k * (m->n + 1), *low = up + m->n;
    double half = (up[0] - low[1]) / 2, square = half * half + up[1] * low[0];
    if (square < 0) {
        double middle = low[1] + half, root = sqrt(-square);
        values[0] = make_z(middle, root);
        values[1] = make_z(middle, -root);
        return;
    }
    double far = half + copysign(sqrt(square), half);
    values[0] = make_z(low[1] + far, 0);
    values[1] = make_z(far == 0 ? low[1] : low[1] - up[1] * low[0] / far, 0);
    if (m->zt) {
        double r = cb_hypot(low[0], far);
        rotate(m, k, r == 0 ? 1 : far / r, r == 0 ? 0 : low[0] / r);
        values[0].re = up[0];
        values[1].re = low[1];
    }
    low[0] = 0;
}

bool cb_schur_d(int64_t n, double *h,
                double *zt, /* NOLINT(readability-non-const-parameter): steps change it */
                cb_complex *values, const cubed_cancel *cancel)
{
    const schur m = {.n = n, .h = h, .zt = zt};
    int64_t steps = 0, left = MOST_STEPS * n;
    for (int64_t last = n - 1; last >= 0;) {
        int64_t first = last;
        for (; first > 0; first--) {
            const double *at = h + first * n + first;
            double beside = fabs(at[0]) + fabs(at[-n - 1]);
            if (fabs(at[-1]) <= CB_EPSILON * (beside == 0 ? 1 : beside)) break;
        }
        if (first > 0) h[first * n + first - 1] = 0;
        const double *end = h + last * (n + 1);
        if (first >= last - 1) {
            if (first == last)
                values[last] = make_z(*end, 0);
            else
                split_pair(&m, first, values + first);
            if (!isfinite(values[first].re) || !isfinite(values[last].re)) return false;
            last = first - 1;
            steps = 0;
            continue;
        }
        steps++; /* counts the steps for this eigenvalue */
        if (--left < 0 || cubed_cancel_is_set(cancel)) return false;
        double sum, product;
        choose_shifts(&m, first, last, steps, &sum, &product);
        step(&m, first, last, sum, product);
    }
    return true;
}

/* --- Eigenvectors ------------------------------------------------------------------------------------ */

/* Returns the product of columns `from` + 1 to k of row i of t, and the same elements of y. */
static cb_complex row_times(const double *t, int64_t n, int64_t i, int64_t from, int64_t k,
                            const cb_complex *y)
{
    cb_complex sum = make_z(0, 0);
    for (int64_t j = from + 1; j <= k; j++) sum = add_z(sum, scaled_z(t[i * n + j], y[j]));
    return sum;
}

static double size(cb_complex x) { return fabs(x.re) + fabs(x.im); }

static cb_complex at_least(cb_complex x, double least)
{
    return size(x) < least ? make_z(least, 0) : x;
}

/* Solves (t - value) y = 0 in rows i - 1 and i, a 2 x 2 block. */
static void solve_pair(const double *t, int64_t n, int64_t i, int64_t k, cb_complex value,
                       double least, cb_complex *y)
{
    const double *up = t + (i - 1) * (n + 1), *low = up + n;
    cb_complex a = sub_z(make_z(up[0], 0), value), d = sub_z(make_z(low[1], 0), value);
    cb_complex p = row_times(t, n, i - 1, i, k, y), q = row_times(t, n, i, i, k, y);
    cb_complex det = sub_z(mul_z(a, d), make_z(up[1] * low[0], 0));
    det = at_least(det, least * (fabs(up[1]) + fabs(low[0]) + least));
    y[i - 1] = div_z(sub_z(scaled_z(up[1], q), mul_z(d, p)), det);
    y[i] = div_z(sub_z(scaled_z(low[0], p), mul_z(a, q)), det);
}

void cb_schur_vector_d(int64_t n, const double *t, double norm, int64_t k, cb_complex value,
                       cb_complex *y)
{
    const double least = CB_EPSILON * norm + 0x1p-500;
    int64_t i = k - 1;
    y[k] = make_z(1, 0);
    if (value.im != 0) {
        const double *up = t + (k - 1) * (n + 1), *low = up + n;
        if (fabs(low[0]) > fabs(up[1])) {
            y[k] = make_z(low[0], 0);
            y[k - 1] = sub_z(value, make_z(low[1], 0));
        } else {
            y[k - 1] = make_z(up[1], 0);
            y[k] = sub_z(value, make_z(up[0], 0));
        }
        i = k - 2;
    }
    while (i >= 0) {
        bool pair = i > 0 && t[i * n + i - 1] != 0;
        if (pair) {
            solve_pair(t, n, i, k, value, least, y);
            i--;
        } else {
            cb_complex divisor = sub_z(value, make_z(t[i * n + i], 0));
            y[i] = div_z(row_times(t, n, i, i, k, y), at_least(divisor, least));
        }
        if (size(y[i]) > 0x1p300 || size(y[i + pair]) > 0x1p300) {
            for (int64_t j = i; j <= k; j++) y[j] = scaled_z(0x1p-300, y[j]);
        }
        i--;
    }
}
