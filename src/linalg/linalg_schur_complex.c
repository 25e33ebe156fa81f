/* QR iterations with single shifts for complex matrices. */
#include "linalg/linalg_schur.h"

/* Maximum number of steps per eigenvalue. About three are typical. */
#define MOST_STEPS 60

static double size(cb_complex x) { return fabs(x.re) + fabs(x.im); }

/* Gets the rotation (c s; -conj(s) c) that maps (f, g) to (r, 0), and returns r. */
static cb_complex rotation(cb_complex f, cb_complex g, double *c, cb_complex *s)
{
    double of_f = abs_z(f), of_g = abs_z(g), r = cb_hypot(of_f, of_g);
    *c = 1;
    *s = make_z(0, 0);
    if (of_g < CB_TINY) return f;
    *c = of_f / r;
    cb_complex unit = of_f < CB_TINY ? make_z(1, 0) : scaled_z(1 / of_f, f);
    *s = scaled_z(1 / r, mul_z(unit, conj_z(g)));
    return scaled_z(r, unit);
}

/* Replaces n numbers x and y, `step` apart, by c x + s y and c y - conj(s) x. */
static void rotate(int64_t n, int64_t step, cb_complex *x, cb_complex *y, double c, cb_complex s)
{
    for (int64_t i = 0; i < n * step; i += step) {
        cb_complex t = add_z(scaled_z(c, x[i]), mul_z(s, y[i]));
        y[i] = sub_z(scaled_z(c, y[i]), mul_z(conj_z(s), x[i]));
        x[i] = t;
    }
}

/* Returns the eigenvalue of the last 2 x 2 block that is closer to its last element. */
static cb_complex wilkinson(const cb_complex *h, int64_t n, int64_t last)
{
    const cb_complex *up = h + (last - 1) * n + last - 1, *low = up + n;
    cb_complex half = scaled_z(0.5, sub_z(up[0], low[1]));
    cb_complex bc = mul_z(up[1], low[0]);
    cb_complex square = add_z(mul_z(half, half), bc), root;
    double r = abs_z(square);
    root.re = sqrt((r + fabs(square.re)) / 2);
    root.im = root.re == 0 ? 0 : fabs(square.im) / (2 * root.re);
    if (square.re < 0) root = make_z(root.im, root.re);
    root.im = copysign(root.im, square.im);
    if (half.re * root.re + half.im * root.im < 0) root = scaled_z(-1, root);
    cb_complex sum = add_z(half, root);
    return size(sum) == 0 ? low[1] : sub_z(low[1], div_z(bc, sum));
}

/* Performs one QR step on rows first..last. If vectors are requested, the step transforms all of h, otherwise only this block. */
static void step(int64_t n, cb_complex *h, cb_complex *zt, int64_t first, int64_t last,
                 cb_complex shift)
{
    int64_t top = zt ? 0 : first, end = zt ? n : last + 1;
    cb_complex x = sub_z(h[first * (n + 1)], shift), y = h[(first + 1) * n + first];
    for (int64_t k = first; k < last; k++) {
        cb_complex *upper = h + k * n, *lower = upper + n, s;
        double c;
        cb_complex r = rotation(x, y, &c, &s);
        if (k > first) {
            upper[k - 1] = r;
            lower[k - 1] = make_z(0, 0);
        }
        rotate(end - k, 1, upper + k, lower + k, c, s);
        int64_t bottom = cb_min_i64(k + 2, last);
        rotate(bottom - top + 1, n, h + top * n + k, h + top * n + k + 1, c, conj_z(s));
        if (zt) rotate(n, 1, zt + k * n, zt + (k + 1) * n, c, conj_z(s));
        if (k + 2 > last) continue;
        x = lower[k];
        y = lower[n + k];
    }
}

bool cb_schur_z(int64_t n, cb_complex *h, cb_complex *zt, cb_complex *values,
                const cubed_cancel *cancel)
{
    int64_t steps = 0, left = MOST_STEPS * n;
    for (int64_t last = n - 1; last >= 0;) {
        int64_t first = last;
        for (; first > 0; first--) {
            const cb_complex *at = h + first * n + first;
            double beside = size(at[0]) + size(at[-n - 1]);
            if (size(at[-1]) <= CB_EPSILON * (beside == 0 ? 1 : beside)) break;
        }
        if (first > 0) h[first * n + first - 1] = make_z(0, 0);
        if (first == last) {
            values[last] = h[last * (n + 1)];
            if (!isfinite(size(values[last]))) return false;
            last--;
            steps = 0;
            continue;
        }
        steps++; /* counts the steps for this eigenvalue */
        if (--left < 0 || cubed_cancel_is_set(cancel)) return false;
        cb_complex shift = wilkinson(h, n, last);
        if (steps % 10 == 0) /* after ten steps without convergence, use an exceptional shift */
            shift = add_z(make_z(1.5 * size(h[last * n + last - 1]), 0), h[last * (n + 1)]);
        step(n, h, zt, first, last, shift);
    }
    return true;
}

void cb_schur_vector_z(int64_t n, const cb_complex *t, double norm, int64_t k, cb_complex value,
                       cb_complex *y)
{
    const double least = CB_EPSILON * norm + 0x1p-1000;
    y[k] = make_z(1, 0);
    for (int64_t i = k - 1; i >= 0; i--) {
        cb_complex sum = make_z(0, 0), divisor = sub_z(value, t[i * n + i]);
        for (int64_t j = i + 1; j <= k; j++) sum = add_z(sum, mul_z(t[i * n + j], y[j]));
        if (size(divisor) < least) divisor = make_z(least, 0);
        y[i] = div_z(sum, divisor);
        if (size(y[i]) < 0x1p300) continue;
        for (int64_t j = i; j <= k; j++) y[j] = scaled_z(0x1p-300, y[j]);
    }
}
