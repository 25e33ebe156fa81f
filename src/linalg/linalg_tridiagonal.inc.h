/* Reduction of Hermitian matrices to tridiagonal form in panels of columns: half of the work is products of matrices
 * (Dongarra, Sorensen and Hammarling, "Block reduction of matrices to condensed forms for eigenvalue computations",
 * 1989). */

/* Computes w = a v. The lower triangle of `a` gives the Hermitian matrix (m x m). */
static void F(hermitian_times)(const cb_products *p, int64_t m, const T *a, int64_t ld, const T *v,
                               T *w)
{
    enum { ROWS = 32 };
    F(clear)(m, w);
    for (int64_t i = 0; i < m; i += ROWS) {
        const int64_t end = cb_min_i64(i + ROWS, m);
        const cb_matvec left = {end - i, i, a + i * ld, ld, v, w + i, v + i, w};
        if (i > 0) p->F(matvec)(&left);
        for (int64_t k = i; k < end; k++) {
            const T *row = a + k * ld;
            T sum = F(add)(F(dot)(k - i, row + i, v + i), F(scaled)(F(real)(row[k]), v[k]));
            w[k] = F(add)(w[k], sum);
            F(axpy_conj)(k - i, v[k], row + i, w + i);
        }
    }
}

/* Gets column k with the pending update of the panel's columns k0 to k - 1, V W^H + W V^H, subtracted. V and W are stored
 * side by side in rows of 2 b. */
static void F(take_column)(const work *s, const T *a, int64_t b, int64_t k, int64_t done, T *column)
{
    const int64_t n = s->n;
    const T *v = (const T *)s->panel + k * 2 * b, *w = v + b;
    T x[CB_WY_BLOCK];
    for (int64_t i = k; i < n; i++) column[i - k] = a[i * n + k];
    F(negate_conj)(done, w, x);
    F(add_times)(&s->products, n - k, done, v, 2 * b, x, column);
    F(negate_conj)(done, v, x);
    F(add_times)(&s->products, n - k, done, w, 2 * b, x, column);
}

/* Computes w = (a - V W^H - W V^H) v for the rows and columns after k. */
static void F(take_product)(const work *s, const T *a, int64_t b, int64_t k, int64_t done,
                            const T *v, T *w)
{
    const int64_t m = s->n - k - 1, ld = s->n;
    const T *of_v = (const T *)s->panel + (k + 1) * 2 * b, *of_w = of_v + b;
    T x[CB_WY_BLOCK], y[CB_WY_BLOCK];
    F(hermitian_times)(&s->products, m, a + (k + 1) * (ld + 1), ld, v, w);
    F(clear)(done, x);
    F(clear)(done, y);
    F(add_adjoint_times)(&s->products, m, done, of_w, 2 * b, v, x);
    F(add_adjoint_times)(&s->products, m, done, of_v, 2 * b, v, y);
    F(negate)(done, x);
    F(negate)(done, y);
    F(add_times)(&s->products, m, done, of_v, 2 * b, x, w);
    F(add_times)(&s->products, m, done, of_w, 2 * b, y, w);
}

/* Reduces columns k0 to k0 + b - 1. */
static void F(reduce_panel)(const work *s, T *a, int64_t k0, int64_t b)
{
    const int64_t n = s->n;
    T *tau = s->tau, *v = s->v, *w = s->w;
    for (int64_t k = k0; k < k0 + b && !cb_is_cancelled(&s->products); k++) {
        const int64_t m = n - k - 1, done = k - k0;
        T *panel = (T *)s->panel + (k + 1) * 2 * b + done;
        F(take_column)(s, a, b, k, done, v);
        s->d[k] = F(real)(v[0]);
        v++;
        tau[k] = F(reflect)(m, v, &s->e[k]);
        for (int64_t i = 1; i < m; i++) a[(k + 1 + i) * n + k] = v[i];
        F(take_product)(s, a, b, k, done, v, w);
        /* subtract half of w's component along v */
        for (int64_t i = 0; i < m; i++) w[i] = F(mul)(tau[k], w[i]);
        F(axpy)(m, F(scaled)(-0.5, F(mul)(tau[k], F(dot_conj)(m, w, v))), v, w);
        for (int64_t i = 0; i < m; i++) {
            panel[i * 2 * b] = v[i];
            panel[i * 2 * b + b] = w[i];
        }
        v--;
    }
}

/* Subtracts V W^H + W V^H from a, in the rows and columns from `top` on. Elements above the diagonal become undefined. */
static void F(update_rest)(const work *s, T *a, int64_t top, int64_t b)
{
    enum { ROWS = 128 };
    const int64_t n = s->n, m = n - top, both = 2 * b;
    const T *panel = (const T *)s->panel + top * both;
    T *rows = s->adjoint;
    F(conj_transposed)(m, b, panel + b, both, rows);
    F(conj_transposed)(m, b, panel, both, rows + b * m);
    for (int64_t i = 0; i < m; i += ROWS) {
        const int64_t end = cb_min_i64(i + ROWS, m);
        F(subtract_product)
        (&s->products, (cb_gemm){.m = end - i,
                                 .n = end,
                                 .k = both,
                                 .a = panel + i * both,
                                 .lda = both,
                                 .b = rows,
                                 .ldb = m,
                                 .c = a + (top + i) * n + top,
                                 .ldc = n});
    }
}

/* Reduces the Hermitian matrix given by the lower triangle of `a` to a real tridiagonal one (d, e). Reflectors are stored
 * in the columns below the subdiagonal. */
static void F(tridiagonalize)(const work *s, T *a)
{
    const int64_t n = s->n;
    for (int64_t k = 0; k < n - 1 && !cb_is_cancelled(&s->products); k += CB_WY_BLOCK) {
        const int64_t b = cb_min_i64(CB_WY_BLOCK, n - 1 - k);
        F(reduce_panel)(s, a, k, b);
        F(update_rest)(s, a, k + b, b);
    }
    if (n > 0) s->d[n - 1] = F(real)(a[n * n - 1]);
}
