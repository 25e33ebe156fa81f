/* Scales n numbers by a power of 2 so that the largest magnitude is near 1. Returns the exponent. */
static inline int F(scale_to_one)(int64_t n, T *a)
{
    double most = F(largest)(n, a), scale;
    int e = 0;
    if (isfinite(most)) (void)frexp(most, &e);
    e = e > 1000 ? 1000 : e < -1000 ? -1000 : e;
    scale = ldexp(1, -e);
    for (int64_t i = 0; i < n; i++) a[i] = F(scaled)(scale, a[i]);
    return e;
}

static inline void F(transpose)(int64_t m, int64_t n, const T *a, T *to)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) to[j * m + i] = a[i * n + j];
    }
}

static inline void F(transpose_square)(int64_t n, T *a)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            T t = a[i * n + j];
            a[i * n + j] = a[j * n + i];
            a[j * n + i] = t;
        }
    }
}

static inline void F(conjugate)(int64_t n, T *a)
{
    for (int64_t i = 0; i < n; i++) a[i] = F(conj)(a[i]);
}
