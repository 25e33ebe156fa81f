/* Student's t distribution. Uses the incomplete beta function (Abramowitz and Stegun, 26.5.8 and 26.7.1). With many degrees of
 * freedom, uses an expansion about the normal distribution instead (Hill, "Algorithm 395", CACM 1970). Included by
 * functions.inc.h. */

/* Returns log(gamma(a + 1/2) / gamma(a)), by its asymptotic series for arguments of at least 20. For smaller arguments, a
 * recurrence leads to an argument of at least 20. */
static inline WIDE FN(log_gamma_step)(WIDE a)
{
    WIDE factor = 1;
    while (a < 20) {
        factor *= a / (a + (WIDE)0.5);
        a += 1;
    }
    const WIDE r = 1 / (a * a);
    const WIDE series = (((((WIDE)691 / 180224 * r - (WIDE)31 / 18432) * r + (WIDE)17 / 14336) * r -
                          (WIDE)1 / 640) *
                             r +
                         (WIDE)1 / 192) *
                            r -
                        (WIDE)1 / 8;
    return W(log)(a) / 2 + series / a + W(log)(factor);
}

/* Returns the continued fraction of the incomplete beta function, by the method of Lentz. */
static inline WIDE FN(beta_fraction)(WIDE a, WIDE b, WIDE x)
{
    enum { MOST_STEPS = 4000 };
    WIDE c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m < MOST_STEPS; m++) {
        const WIDE even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const WIDE odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        h *= d * c;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        h *= d * c;
        if (d * c == 1) break;
    }
    return h;
}

/* Returns the probability that Student's t is below -|t|. */
static inline WIDE FN(student_tail)(WIDE df, WIDE t)
{
    const WIDE z = t * t / df, root2 = (WIDE)1.414213562373095048801688724209698L;
    if (z == 0) return isinf(df) ? W(erfc)(W(fabs)(t) / root2) / 2 : (WIDE)0.5;
    if (isinf(z)) return 0;
    if (df >= 10000) {
        const WIDE a = df - (WIDE)0.5, b = 48 * a * a, u = W(sqrt)(a * W(log1p)(z)), s = u * u;
        const WIDE more = (s + 3) / b - (((4 * s + 33) * s + 240) * s + 855) /
                                            (10 * b * (b + (WIDE)0.8 * s * s + 100));
        return W(erfc)(u * (1 + more) / root2) / 2;
    }
    const WIDE a = df / 2, x = 1 / (1 + z), half = (WIDE)0.5;
    const WIDE log_pi = (WIDE)1.144729885849400174143427351353059L;
    const WIDE front =
        W(exp)(-a * W(log1p)(z) + (W(log)(z) - W(log1p)(z) - log_pi) / 2 + FN(log_gamma_step)(a));
    if (x * (a + (WIDE)2.5) < a + 1) return front * FN(beta_fraction)(a, half, x) / df;
    return half - front * FN(beta_fraction)(half, a, z * x);
}

/* Returns the probability that Student's t with df degrees of freedom is at most t. */
static inline T FN(stdtr1)(T df, T t)
{
    if (!(df > 0) || isnan(t)) return (T)NAN;
    const WIDE tail = FN(student_tail)(df, t);
    return (T)(t > 0 ? 1 - tail : tail);
}
