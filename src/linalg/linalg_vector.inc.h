/* Loops over contiguous elements. The order of summation is fixed. */

/* y += a x */
static inline void F(axpy)(int64_t n, T a, const T *x, T *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = F(add)(y[i], F(mul)(a, x[i]));
}

/* y += a conj(x) */
static inline void F(axpy_conj)(int64_t n, T a, const T *x, T *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = F(add)(y[i], F(mul)(a, F(conj)(x[i])));
}

/* Returns the sum of x y. */
static inline T F(dot)(int64_t n, const T *x, const T *y)
{
    T s[4] = {F(make)(0, 0), F(make)(0, 0), F(make)(0, 0), F(make)(0, 0)};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) s[k] = F(add)(s[k], F(mul)(x[i + k], y[i + k]));
    }
    for (; i < n; i++) s[0] = F(add)(s[0], F(mul)(x[i], y[i]));
    return F(add)(F(add)(s[0], s[2]), F(add)(s[1], s[3]));
}

/* Returns the sum of conj(x) y. */
static inline T F(dot_conj)(int64_t n, const T *x, const T *y)
{
    T s[4] = {F(make)(0, 0), F(make)(0, 0), F(make)(0, 0), F(make)(0, 0)};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) s[k] = F(add)(s[k], F(mul)(F(conj)(x[i + k]), y[i + k]));
    }
    for (; i < n; i++) s[0] = F(add)(s[0], F(mul)(F(conj)(x[i]), y[i]));
    return F(add)(F(add)(s[0], s[2]), F(add)(s[1], s[3]));
}

static inline void F(swap)(int64_t n, T *x, T *y)
{
    for (int64_t i = 0; i < n; i++) {
        T t = x[i];
        x[i] = y[i];
        y[i] = t;
    }
}

/* Returns the largest magnitude of a real or imaginary part. Ignores NaN. */
static inline double F(largest)(int64_t n, const T *x)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        double re = fabs(F(real)(x[i])), im = fabs(F(imag)(x[i]));
        if (re > most) most = re;
        if (im > most) most = im;
    }
    return most;
}

static inline void F(clear)(int64_t n, T *x)
{
    for (int64_t i = 0; i < n; i++) x[i] = F(make)(0, 0);
}

/* to = -conj(x) */
static inline void F(negate_conj)(int64_t n, const T *x, T *to)
{
    for (int64_t i = 0; i < n; i++) to[i] = F(scaled)(-1, F(conj)(x[i]));
}

static inline void F(negate)(int64_t n, T *x)
{
    for (int64_t i = 0; i < n; i++) x[i] = F(scaled)(-1, x[i]);
}
