/* Factors a (m x n) into R and min(m, n) reflectors below it, in place. */
static void F(qr)(int64_t m, int64_t n, T *a, T *tau, T *v, T *w)
{
    int64_t count = cb_min_i64(m, n);
    for (int64_t k = 0; k < count; k++) {
        double beta;
        tau[k] = F(reflect_column)(a, m, n, k, k, v, &beta);
        F(reflect_rows)(m - k, n - k - 1, F(conj)(tau[k]), v, a + k * n + k + 1, n, w);
    }
}

/* Factors s->a into R and reflectors below it, in place, in blocks of columns. Each block is copied, so that its elements are
 * contiguous. */
static void F(qr_blocked)(work *s)
{
    T *a = s->a, *panel = s->wy.v, *tau = s->tau;
    int64_t count = cb_min_i64(s->m, s->n), n = s->n;
    for (int64_t k = 0; k < count && !cb_is_cancelled(&s->products); k += CB_WY_BLOCK) {
        int64_t b = cb_min_i64(CB_WY_BLOCK, count - k), m = s->m - k;
        for (int64_t i = 0; i < m; i++)
            memcpy(panel + i * b, a + (k + i) * n + k, (size_t)b * sizeof(T));
        F(qr)(m, b, panel, tau + k, s->v, s->w);
        for (int64_t i = 0; i < m; i++)
            memcpy(a + (k + i) * n + k, panel + i * b, (size_t)b * sizeof(T));
        if (k + b == n) continue;
        F(wy_columns)(&s->wy, m, b, a + k * (n + 1), n, tau + k);
        F(wy_apply)(&s->wy, true, n - k - b, a + k * n + k + b, n);
    }
}

/* Forms s->q, the product of the reflectors, from the last block of reflectors to the first. A block is applied only to the
 * columns from its first reflector on, because the columns to the left still equal the identity matrix. */
static void F(form_q_blocked)(work *s)
{
    T *q = s->q, *a = s->a, *tau = s->tau;
    int64_t count = cb_min_i64(s->m, s->n), n = s->columns;
    for (int64_t i = 0; i < s->m; i++) {
        for (int64_t j = 0; j < n; j++) q[i * n + j] = F(make)(i == j, 0);
    }
    for (int64_t k = (count - 1) / CB_WY_BLOCK * CB_WY_BLOCK;
         k >= 0 && !cb_is_cancelled(&s->products); k -= CB_WY_BLOCK) {
        F(wy_columns)
        (&s->wy, s->m - k, cb_min_i64(CB_WY_BLOCK, count - k), a + k * (s->n + 1), s->n, tau + k);
        F(wy_apply)(&s->wy, false, n - k, q + k * n + k, n);
    }
}

/* --- Functions of one matrix of a block --------------------------------------------------------------- */

static void F(factor)(const cubed_block_call *call, work *s, int64_t i)
{
    cb_linalg_load(&call->in[0], i, s->m * s->n, s->a);
    if (cb_min_i64(s->m, s->n) > CB_WY_BLOCK)
        F(qr_blocked)(s);
    else
        F(qr)(s->m, s->n, s->a, s->tau, s->v, s->w);
}

/* Stores the part of a on and above the diagonal. Destroys the part below. */
static void F(store_r)(const cubed_block *r, const work *s, int64_t i)
{
    T *a = s->a;
    for (int64_t row = 1; row < s->columns; row++) {
        int64_t zeros = row < s->m ? cb_min_i64(row, s->n) : s->n;
        for (int64_t k = 0; k < zeros; k++) a[row * s->n + k] = F(make)(0, 0);
    }
    cb_linalg_store(r, i, s->columns * s->n, a);
}

static void F(qr_one)(const cubed_block_call *call, work *s, int64_t i)
{
    const cubed_block *q = &call->out[0], *r = &call->out[1];
    const int64_t count = cb_min_i64(s->m, s->n);
    const F(reflectors) reflectors = {.a = s->a, .ld = s->n, .tau = s->tau, .count = count};
    F(factor)(call, s, i);
    if (q->data) {
        if (count > CB_WY_BLOCK)
            F(form_q_blocked)(s);
        else
            F(form_q)(s->m, s->columns, reflectors, s->q, s->v, s->w, call->cancel);
        cb_linalg_store(q, i, s->m * s->columns, s->q);
    }
    if (r->data) F(store_r)(r, s, i);
}

static void F(reflectors_one)(const cubed_block_call *call, work *s, int64_t i)
{
    const cubed_block *v = &call->out[0], *vt = &call->out[1], *r = &call->out[2];
    const int64_t m = s->m, k = s->columns;
    F(factor)(call, s, i);
    if (cb_is_cancelled(&s->products)) return;
    if (k > 0) F(wy_columns)(&s->wy, m, k, s->a, s->n, s->tau);
    if (v->data) cb_linalg_store(v, i, m * k, s->wy.v);
    if (vt->data && k > 0) {
        F(product)
        (&s->products, CB_GEMM_SET,
         (cb_gemm){.m = m,
                   .n = k,
                   .k = k,
                   .a = s->wy.v,
                   .lda = k,
                   .b = s->wy.t,
                   .ldb = k,
                   .c = s->wy.v_h,
                   .ldc = k});
        cb_linalg_store(vt, i, m * k, s->wy.v_h);
    }
    if (r->data) F(store_r)(r, s, i);
}
