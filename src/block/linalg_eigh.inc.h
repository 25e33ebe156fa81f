/* The Hermitian matrix with the lower triangle of `a` becomes a real tridiagonal one (d, e); reflectors stay
 * in the columns below it. */
static void F(tridiagonalize)(const work *s, T *a)
{
    int64_t n = s->n;
    T *tau = s->tau, *v = s->v, *w = s->w;
    for (int64_t k = 0; k < n - 1; k++) {
        int64_t m = n - k - 1;
        T *rest = a + (k + 1) * (n + 1);
        s->d[k] = F(real)(a[k * n + k]);
        tau[k] = F(reflect_column)(a, n, n, k + 1, k, v, &s->e[k]);
        if (F(real)(tau[k]) == 0 && F(imag)(tau[k]) == 0) continue;
        /* w = tau a v */
        for (int64_t i = 0; i < m; i++) {
            const T *row = rest + i * n;
            w[i] = F(add)(F(dot)(i, row, v), F(scaled)(F(real)(row[i]), v[i]));
            F(axpy_conj)(i, v[i], row, w);
        }
        for (int64_t i = 0; i < m; i++) w[i] = F(mul)(tau[k], w[i]);
        /* a -= w v^H + v w^H, where w has lost half of its part along v */
        T half = F(scaled)(-0.5, F(mul)(tau[k], F(dot_conj)(m, w, v)));
        F(axpy)(m, half, v, w);
        for (int64_t i = 0; i < m; i++) {
            F(axpy_conj)(i + 1, F(scaled)(-1, v[i]), w, rest + i * n);
            F(axpy_conj)(i + 1, F(scaled)(-1, w[i]), v, rest + i * n);
        }
    }
    if (n > 0) s->d[n - 1] = F(real)(a[n * n - 1]);
}

static bool F(eigh_one)(const cubed_block_call *call, const work *s, int64_t i)
{
    int64_t n = s->n;
    T *a = s->a, *q = s->q;
    cb_vectors vectors = {NULL, 0};
    cb_linalg_load(&call->in[0], i, n * n, a);
    for (int64_t k = 0; k < n;
         k++) { /* what is above the diagonal does not count, nor how large it is */
        for (int64_t j = k + 1; j < n; j++) a[k * n + j] = F(make)(0, 0);
        a[k * n + k] = F(make)(F(real)(a[k * n + k]), 0);
    }
    int exponent = F(scale_to_one)(n * n, a);
    F(tridiagonalize)(s, a);
    if (q) {
        F(form_q)(n, n, a, n, 1, s->tau, n - 1, q, s->v, s->w);
        F(transpose_square)(n, q);
        vectors = (cb_vectors){(double *)q, n * F(parts)};
    }
    if (!cb_tridiagonal_eigen(n, s->d, s->e, vectors)) return false;
    for (int64_t k = 0; k < n; k++) s->d[k] = ldexp(s->d[k], exponent);
    if (call->out[0].data) cb_linalg_store(&call->out[0], i, n, s->d);
    if (!q || !call->out[1].data) return true;
    F(transpose_square)(n, q);
    cb_linalg_store(&call->out[1], i, n * n, q);
    return true;
}
