/* Functions for random distributions. They use only IEEE operations, so every instruction set gives the same bits. The vectorised
 * functions of math.isa.c do not give the same bits. */
#ifndef CB_KERNEL_RANDOM_MATH_H
#define CB_KERNEL_RANDOM_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Returns -log(x) for a positive normal number x = 2**e * m, with m in [sqrt(1/2), sqrt(2)). Uses log(m) = 2 atanh(s) with
 * |s| < 0.172. The first omitted term of the series is below 2**-60 of the sum. */
static inline double cb_minus_log(double x)
{
    const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
    uint64_t bits;
    double m;
    memcpy(&bits, &x, sizeof bits);
    int64_t e = (int64_t)(bits - 0x3FE6A09E667F3BCDu) >> 52;
    bits -= (uint64_t)e << 52;
    memcpy(&m, &bits, sizeof m);
    double f = m - 1, s = f / (2 + f), z = s * s, r = 1.0 / 21;
    r = r * z + 1.0 / 19;
    r = r * z + 1.0 / 17;
    r = r * z + 1.0 / 15;
    r = r * z + 1.0 / 13;
    r = r * z + 1.0 / 11;
    r = r * z + 1.0 / 9;
    r = r * z + 1.0 / 7;
    r = r * z + 1.0 / 5;
    r = r * z + 1.0 / 3;
    /* 2s = f - s f, whose first term is exact. */
    double tail = s * (f - 2 * z * r), k = (double)-e;
    return k * ln2_high + (k * ln2_low - (f - tail));
}

static inline double cb_ratio(const double p[8], const double q[8], double r)
{
    double a = p[7], b = q[7];
    for (int i = 6; i >= 0; i--) {
        a = a * r + p[i];
        b = b * r + q[i];
    }
    return a / b;
}

/* Returns -z, where z is the quantile of the standard normal distribution for the probability p, 0 < p <= 1/2. The relative error
 * is below 1e-15. Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37 (1988),
 * PPND16. */
static inline double cb_normal_quantile(double p)
{
    static const double a[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[8] = {1,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3};
    static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                5.76949722146069140550e0,  3.64784832476320460504e0,
                                1.27045825245236838258e0,  2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                1.78482653991729133580e0,  2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[8] = {1,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    double q = 0.5 - p;
    if (q <= 0.425) return q * cb_ratio(a, b, 0.180625 - q * q);
    double r = sqrt(cb_minus_log(p));
    return r <= 5 ? cb_ratio(c, d, r - 1.6) : cb_ratio(e, f, r - 5);
}

#endif
