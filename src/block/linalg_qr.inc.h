/* a (m x n) becomes R above reflectors, of which there are min(m, n). */
static void F(qr)(int64_t m, int64_t n, T *a, T *tau, T *v, T *w)
{
    int64_t count = cb_min_i64(m, n);
    for (int64_t k = 0; k < count; k++) {
        double beta;
        tau[k] = F(reflect_column)(a, m, n, k, k, v, &beta);
        F(reflect_rows)(m - k, n - k - 1, F(conj)(tau[k]), v, a + k * n + k + 1, n, w);
    }
}

/* --- Many reflectors at once ------------------------------------------------------------------------- */

/* c (m x n) = a (m x k) b (k x n), of which a and c are dense. */
static void F(product)(const work *s, int64_t m, int64_t n, int64_t k, const T *a, const T *b,
                       int64_t ldb, T *c) /* NOLINT(readability-non-const-parameter): is made */
{
    const cb_gemm g = {m, n, k, a, b, c, k, ldb, n, CB_GEMM_SET, s->products.scratch};
    s->products.F(gemm)(&g);
}

/* V, V^H, T and T^H of the reflectors k to k + b - 1, kept in the columns of a: their product is 1 - V T V^H
 * (Schreiber and Van Loan, "A storage-efficient WY representation", SISSC 1989). */
static void F(gather)(const work *s, int64_t k, int64_t b)
{
    const T *a = s->a, *tau = (const T *)s->tau + k;
    T *v = s->panel, *t = s->t, *inner = s->x;
    int64_t m = s->m - k;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < b; j++)
            v[i * b + j] = i > j ? a[(k + i) * s->n + k + j] : F(make)(i == j, 0);
    }
    F(conj_transposed)(m, b, v, b, s->panel_h);
    F(product)(s, b, b, m, s->panel_h, v, b, inner);
    for (int64_t j = 0; j < b; j++) {
        for (int64_t i = 0; i < b; i++) {
            T sum = F(make)(0, 0); /* of row i of T with V^H v[j] */
            for (int64_t l = i; l < j; l++)
                sum = F(add)(sum, F(mul)(t[i * b + l], inner[l * b + j]));
            t[i * b + j] = i < j    ? F(scaled)(-1, F(mul)(tau[j], sum))
                           : i == j ? tau[j]
                                    : F(make)(0, 0);
        }
    }
    F(conj_transposed)(b, b, t, b, s->t_h);
}

/* c (m - k x n), from row k on, becomes (1 - V t V^H) c; t: T or T^H. */
static void F(reflect_block)(const work *s, int64_t k, int64_t b, const T *t, int64_t n, T *c,
                             int64_t ld)
{
    F(product)(s, b, n, s->m - k, s->panel_h, c, ld, s->x);
    F(product)(s, b, n, b, t, s->x, n, s->y);
    F(subtract_product)(&s->products, s->m - k, n, b, s->panel, b, s->y, n, c, ld);
}

static void F(qr_blocked)(const work *s)
{
    T *a = s->a, *panel = s->panel, *tau = s->tau;
    int64_t count = cb_min_i64(s->m, s->n), n = s->n;
    for (int64_t k = 0; k < count; k += BLOCK) {
        int64_t b = cb_min_i64(BLOCK, count - k), m = s->m - k;
        for (int64_t i = 0; i < m; i++)
            memcpy(panel + i * b, a + (k + i) * n + k, (size_t)b * sizeof(T));
        F(qr)(m, b, panel, tau + k, s->v, s->w);
        for (int64_t i = 0; i < m; i++)
            memcpy(a + (k + i) * n + k, panel + i * b, (size_t)b * sizeof(T));
        if (k + b == n) continue;
        F(gather)(s, k, b);
        F(reflect_block)(s, k, b, s->t_h, n - k - b, a + k * n + k + b, n);
    }
}

static void F(form_q_blocked)(const work *s)
{
    T *q = s->q;
    int64_t count = cb_min_i64(s->m, s->n), n = s->columns;
    for (int64_t i = 0; i < s->m; i++) {
        for (int64_t j = 0; j < n; j++) q[i * n + j] = F(make)(i == j, 0);
    }
    for (int64_t k = (count - 1) / BLOCK * BLOCK; k >= 0; k -= BLOCK) {
        int64_t b = cb_min_i64(BLOCK, count - k);
        F(gather)(s, k, b);
        F(reflect_block)(s, k, b, s->t, n - k, q + k * n + k, n);
    }
}

/* --- One of a block ---------------------------------------------------------------------------------- */

static void F(qr_one)(const cubed_block_call *call, const work *s, int64_t i)
{
    const cubed_block *q = &call->out[0], *r = &call->out[1];
    T *a = s->a;
    cb_linalg_load(&call->in[0], i, s->m * s->n, a);
    int64_t count = cb_min_i64(s->m, s->n);
    if (count > BLOCK)
        F(qr_blocked)(s);
    else
        F(qr)(s->m, s->n, a, s->tau, s->v, s->w);
    if (q->data) {
        if (count > BLOCK)
            F(form_q_blocked)(s);
        else
            F(form_q)(s->m, s->columns, a, s->n, 0, s->tau, count, s->q, s->v, s->w);
        cb_linalg_store(q, i, s->m * s->columns, s->q);
    }
    if (!r->data) return;
    for (int64_t row = 1; row < s->columns; row++) {
        int64_t zeros = row < s->m ? cb_min_i64(row, s->n) : s->n;
        for (int64_t k = 0; k < zeros; k++) a[row * s->n + k] = F(make)(0, 0);
    }
    cb_linalg_store(r, i, s->columns * s->n, a);
}
