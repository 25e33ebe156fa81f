/* Householder reflectors H = 1 - tau v v^H with v[0] = 1, with the conventions of LAPACK. */

/* Norm without overflow or loss of small elements: scales by a power of 2. */
static inline double F(norm)(int64_t n, const T *x)
{
    double sum = 0, scale;
    int e = 0;
    double most = F(largest)(n, x);
    if (isfinite(most)) (void)frexp(most, &e);
    e = e > 1000 ? 1000 : e < -1000 ? -1000 : e;
    scale = ldexp(1, -e);
    for (int64_t i = 0; i < n; i++) {
        double re = scale * F(real)(x[i]), im = scale * F(imag)(x[i]);
        sum += re * re + im * im;
    }
    return ldexp(sqrt(sum), e);
}

/* Replaces x (n >= 1) by v so that H^H x = (beta, 0, ..., 0) with real beta. Very small numbers, which have lost digits,
 * are scaled up first; H is still orthogonal. */
static inline T F(reflect)(int64_t n, T *x, double *beta)
{
    T alpha = x[0];
    double rest = F(norm)(n - 1, x + 1), size = cb_hypot(F(abs)(alpha), rest), up = 1;
    x[0] = F(make)(1, 0);
    *beta = F(real)(alpha);
    if (rest == 0 && F(imag)(alpha) == 0) return F(make)(0, 0);
    if (size < 0x1p-900) {
        up = 0x1p1000;
        alpha = F(scaled)(up, alpha);
        for (int64_t i = 1; i < n; i++) x[i] = F(scaled)(up, x[i]);
        size = cb_hypot(F(abs)(alpha), F(norm)(n - 1, x + 1));
    }
    double reflected = -copysign(size, F(real)(alpha));
    T difference = F(sub)(alpha, F(make)(reflected, 0));
    for (int64_t i = 1; i < n; i++) x[i] = F(div)(x[i], difference);
    *beta = reflected / up;
    return F(make)((reflected - F(real)(alpha)) / reflected, -F(imag)(alpha) / reflected);
}

/* Replaces a, an m x n matrix with rows `ld` apart, by (1 - tau v v^H) a. w has space for n numbers. */
static inline void F(reflect_rows)(int64_t m, int64_t n, T tau, const T *v, T *a, int64_t ld, T *w)
{
    if (F(real)(tau) == 0 && F(imag)(tau) == 0) return;
    for (int64_t j = 0; j < n; j++) w[j] = F(make)(0, 0);
    for (int64_t i = 0; i < m; i++) F(axpy)(n, F(conj)(v[i]), a + i * ld, w);
    for (int64_t i = 0; i < m; i++) F(axpy)(n, F(scaled)(-1, F(mul)(tau, v[i])), w, a + i * ld);
}

/* Replaces a by a (1 - tau v v^H). */
static inline void F(reflect_columns)(int64_t m, int64_t n, T tau, const T *v, T *a, int64_t ld)
{
    if (F(real)(tau) == 0 && F(imag)(tau) == 0) return;
    for (int64_t i = 0; i < m; i++) {
        T sum = F(mul)(tau, F(dot)(n, a + i * ld, v));
        F(axpy_conj)(n, F(scaled)(-1, sum), v, a + i * ld);
    }
}

/* Reflector k is stored in column k of `a` from row k + below on; rows of `a` are `ld` apart. */
typedef struct F(reflectors) {
    const T *a;
    int64_t ld, below;
    const T *tau;
    int64_t count;
} F(reflectors);

/* Forms the first n columns of the product of reflectors, q (m x n), unless cancel (may be NULL) is set. v has room for m
 * numbers, w for n. */
static inline void F(form_q)(int64_t m, int64_t n, F(reflectors) r, T *q, T *v, T *w,
                             const cubed_cancel *cancel)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) q[i * n + j] = F(make)(i == j, 0);
    }
    for (int64_t k = r.count - 1; k >= 0 && !cubed_cancel_is_set(cancel); k--) {
        int64_t top = k + r.below;
        v[0] = F(make)(1, 0);
        for (int64_t i = top + 1; i < m; i++) v[i - top] = r.a[i * r.ld + k];
        /* The rows above `top` and the columns to the left of `top` still equal the identity matrix. */
        F(reflect_rows)(m - top, n - top, r.tau[k], v, q + top * n + top, n, w);
    }
}

/* Reflects column k of `a` from row `top` on in place: stores beta and the rest of v. */
static inline T F(reflect_column)(T *a, int64_t m, int64_t ld, int64_t top, int64_t k, T *v,
                                  double *beta)
{
    for (int64_t i = top; i < m; i++) v[i - top] = a[i * ld + k];
    T tau = F(reflect)(m - top, v, beta);
    a[top * ld + k] = F(make)(*beta, 0);
    for (int64_t i = top + 1; i < m; i++) a[i * ld + k] = v[i - top];
    return tau;
}
