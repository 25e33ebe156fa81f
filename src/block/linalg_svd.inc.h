/* a (m x n, m >= n) becomes a real bidiagonal matrix (d, e) between reflectors: those of the left side in
 * columns, those of the right side in rows. */
static void F(bidiagonalize)(const work *s, T *a)
{
    int64_t m = s->m, n = s->n;
    T *tau_q = s->tau_q, *tau_p = s->tau_p, *v = s->v, *w = s->w;
    for (int64_t k = 0; k < n; k++) {
        tau_q[k] = F(reflect_column)(a, m, n, k, k, v, &s->d[k]);
        F(reflect_rows)(m - k, n - k - 1, F(conj)(tau_q[k]), v, a + k * n + k + 1, n, w);
        if (k == n - 1) continue;
        T *right = a + k * n + k + 1;
        for (int64_t j = 0; j < n - k - 1; j++) v[j] = F(conj)(right[j]);
        tau_p[k] = F(reflect)(n - k - 1, v, &s->e[k]);
        F(reflect_columns)(m - k - 1, n - k - 1, tau_p[k], v, right + n, n);
        for (int64_t j = 1; j < n - k - 1; j++) right[j] = v[j];
    }
}

/* The product of the right side's reflectors. */
static void F(form_p)(const work *s, const T *a, T *p)
{
    const T *tau = s->tau_p;
    T *v = s->v;
    int64_t n = s->n;
    for (int64_t i = 0; i < n * n; i++) p[i] = F(make)(i % (n + 1) == 0, 0);
    for (int64_t k = n - 2; k >= 0; k--) {
        v[0] = F(make)(1, 0);
        for (int64_t j = 1; j < n - k - 1; j++) v[j] = a[k * n + k + 1 + j];
        F(reflect_rows)(n - k - 1, n - k - 1, tau[k], v, p + (k + 1) * (n + 1), n, s->w);
    }
}

/* In a, or its adjoint if it is wide. */
static void F(load)(const cubed_block *x, int64_t i, const work *s, T *a)
{
    T *as_is = s->wide ? s->b : a;
    cb_linalg_load(x, i, s->m * s->n, as_is);
    if (!s->wide) return;
    F(conjugate)(s->m * s->n, as_is);
    F(transpose)(s->n, s->m, as_is, a);
}

static void F(store_vectors)(const cubed_block_call *call, const work *s, int64_t i)
{
    const cubed_block *u = &call->out[0], *vh = &call->out[2];
    T *left = s->a, *right = s->p, *transposed = s->b;
    if (s->wide) { /* a = (u s vh)^H = v s u^H */
        F(transpose_square)(s->n, right);
        if (u->data) cb_linalg_store(u, i, s->n * s->n, right);
        F(conjugate)(s->columns * s->m, left);
        if (vh->data) cb_linalg_store(vh, i, s->columns * s->m, left);
        return;
    }
    F(transpose)(s->columns, s->m, left, transposed);
    if (u->data) cb_linalg_store(u, i, s->m * s->columns, transposed);
    F(conjugate)(s->n * s->n, right);
    if (vh->data) cb_linalg_store(vh, i, s->n * s->n, right);
}

static bool F(svd_one)(const cubed_block_call *call, const work *s, int64_t i)
{
    T *a = s->a, *q = s->b, *p = s->p;
    const cubed_block *values = &call->out[s->vectors ? 1 : 0];
    cb_vectors left = {NULL, 0}, right = {NULL, 0};
    F(load)(&call->in[0], i, s, a);
    int exponent = F(scale_to_one)(s->m * s->n, a);
    F(bidiagonalize)(s, a);
    if (s->vectors) {
        F(form_q)(s->m, s->columns, a, s->n, 0, s->tau_q, s->n, q, s->v, s->w);
        F(form_p)(s, a, p);
        F(transpose)(s->m, s->columns, q, a);
        F(transpose_square)(s->n, p);
        left = (cb_vectors){(double *)a, s->m * F(parts)};
        right = (cb_vectors){(double *)p, s->n * F(parts)};
    }
    if (!cb_bidiagonal_svd(s->n, s->d, s->e, left, right)) return false;
    for (int64_t k = 0; k < s->n; k++) s->d[k] = ldexp(s->d[k], exponent);
    if (values->data) cb_linalg_store(values, i, s->n, s->d);
    if (s->vectors) F(store_vectors)(call, s, i);
    return true;
}
