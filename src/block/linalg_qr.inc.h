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

static void F(qr_one)(const cubed_block_call *call, const work *s, int64_t i)
{
    const cubed_block *q = &call->out[0], *r = &call->out[1];
    T *a = s->a;
    cb_linalg_load(&call->in[0], i, s->m * s->n, a);
    F(qr)(s->m, s->n, a, s->tau, s->v, s->w);
    if (q->data) {
        F(form_q)(s->m, s->columns, a, s->n, 0, s->tau, cb_min_i64(s->m, s->n), s->q, s->v, s->w);
        cb_linalg_store(q, i, s->m * s->columns, s->q);
    }
    if (!r->data) return;
    for (int64_t row = 1; row < s->columns; row++) {
        int64_t zeros = row < s->m ? cb_min_i64(row, s->n) : s->n;
        for (int64_t k = 0; k < zeros; k++) a[row * s->n + k] = F(make)(0, 0);
    }
    cb_linalg_store(r, i, s->columns * s->n, a);
}
