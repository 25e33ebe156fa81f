/* Householder's reflectors H = 1 - tau v v^H with v[0] = 1, as LAPACK has them. */

/* Without overflow or loss of small elements: scaled by a power of 2. */
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

/* Turns x (n >= 1) into v so that H^H x = (beta, 0, ..., 0) with beta real. Numbers that have lost digits
 * as they are so small are made larger first: H is orthogonal all the same. */
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

/* a = (1 - tau v v^H) a for the m x n matrix whose rows are `ld` apart; w: n numbers. */
static inline void F(reflect_rows)(int64_t m, int64_t n, T tau, const T *v, T *a, int64_t ld, T *w)
{
    if (F(real)(tau) == 0 && F(imag)(tau) == 0) return;
    for (int64_t j = 0; j < n; j++) w[j] = F(make)(0, 0);
    for (int64_t i = 0; i < m; i++) F(axpy)(n, F(conj)(v[i]), a + i * ld, w);
    for (int64_t i = 0; i < m; i++) F(axpy)(n, F(scaled)(-1, F(mul)(tau, v[i])), w, a + i * ld);
}

/* a = a (1 - tau v v^H) */
static inline void F(reflect_columns)(int64_t m, int64_t n, T tau, const T *v, T *a, int64_t ld)
{
    if (F(real)(tau) == 0 && F(imag)(tau) == 0) return;
    for (int64_t i = 0; i < m; i++) {
        T sum = F(mul)(tau, F(dot)(n, a + i * ld, v));
        F(axpy_conj)(n, F(scaled)(-1, sum), v, a + i * ld);
    }
}

/* Reflectors that are kept in the columns of `a` from row k + below on, k the column: q (m x n) becomes the
 * first n columns of their product, unless cancel (may be NULL) is set. v: m numbers, w: n. */
static inline void F(form_q)(int64_t m, int64_t n, const T *a, int64_t ld, int64_t below,
                             const T *tau, int64_t count, T *q, T *v, T *w,
                             const cubed_cancel *cancel)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) q[i * n + j] = F(make)(i == j, 0);
    }
    for (int64_t k = count - 1; k >= 0 && !cubed_cancel_is_set(cancel); k--) {
        int64_t top = k + below;
        v[0] = F(make)(1, 0);
        for (int64_t i = top + 1; i < m; i++) v[i - top] = a[i * ld + k];
        /* Rows above and columns left of `top` are still those of 1. */
        F(reflect_rows)(m - top, n - top, tau[k], v, q + top * n + top, n, w);
    }
}

/* Takes x[] from column k of `a`, from row `top` on, and reflects it; what is left of v is put back. */
static inline T F(reflect_column)(T *a, int64_t m, int64_t ld, int64_t top, int64_t k, T *v,
                                  double *beta)
{
    for (int64_t i = top; i < m; i++) v[i - top] = a[i * ld + k];
    T tau = F(reflect)(m - top, v, beta);
    a[top * ld + k] = F(make)(*beta, 0);
    for (int64_t i = top + 1; i < m; i++) a[i * ld + k] = v[i - top];
    return tau;
}
