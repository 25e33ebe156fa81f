/* Reduction to bidiagonal form in panels of columns and rows: half of the work is products of matrices (Dongarra, Sorensen and
 * Hammarling, "Block reduction of matrices to condensed forms for eigenvalue computations", 1989). The columns of V and U are the
 * left and right reflectors of a panel. A panel's update of the m x n matrix a, V Y^H + X U^H, is subtracted from the rest of a
 * when the panel is complete. V and X are stored side by side in rows of 2 b, and so are Y and U. */

/* Subtracts `rows` times conj(row) from c (m elements). Uses the first `left` columns of the first part and the first `right`
 * columns of the second part. */
static void F(take_line)(const cb_products *p, int64_t m, int64_t b, int64_t left, int64_t right,
                         const T *rows, const T *row, T *c)
{
    T x[CB_WY_BLOCK];
    F(negate_conj)(left, row, x);
    F(add_times)(p, m, left, rows, 2 * b, x, c);
    F(negate_conj)(right, row + b, x);
    F(add_times)(p, m, right, rows + b, 2 * b, x, c);
}

/* Matrices a and b, whose rows have two parts of `width` columns. The first `left` columns of the first part and the first
 * `right` columns of the second part are in use. */
typedef struct F(halves) {
    const T *a, *b; /* m and n rows */
    int64_t m, n, width, left, right;
} F(halves);

/* Subtracts a b^H x from y (m elements). Uses the columns of both parts that are in use. */
static void F(take_products)(const cb_products *p, F(halves) h, const T *x, T *y)
{
    const int64_t ld = 2 * h.width;
    T z[CB_WY_BLOCK];
    F(clear)(h.left, z);
    F(add_adjoint_times)(p, h.n, h.left, h.b, ld, x, z);
    F(negate)(h.left, z);
    F(add_times)(p, h.m, h.left, h.a, ld, z, y);
    F(clear)(h.right, z);
    F(add_adjoint_times)(p, h.n, h.right, h.b + h.width, ld, x, z);
    F(negate)(h.right, z);
    F(add_times)(p, h.m, h.right, h.a + h.width, ld, z, y);
}

/* Copies n adjacent elements to `to`, where they are `step` elements apart. */
static void F(spread)(int64_t n, const T *x, T *to, int64_t step)
{
    for (int64_t i = 0; i < n; i++) to[i * step] = x[i];
}

/* Reduces column k of a, which is column number `done` of the panel, by a left reflector. Appends the reflector to V, and a
 * column to Y. */
static void F(reduce_column)(const work *s, T *a, int64_t b, int64_t k, int64_t done)
{
    const int64_t n = s->n, m = s->m - k, rest = n - k - 1;
    const cb_products *p = &s->products;
    T *tau = (T *)s->tau_q + k, *v = s->v, *y = s->w;
    T *left = (T *)s->left + k * 2 * b, *right = (T *)s->right + (k + 1) * 2 * b;
    for (int64_t i = 0; i < m; i++) v[i] = a[(k + i) * n + k];
    F(take_line)(p, m, b, done, done, left, right - 2 * b, v);
    *tau = F(reflect)(m, v, &s->d[k]);
    for (int64_t i = 1; i < m; i++) a[(k + i) * n + k] = v[i];
    F(spread)(m, v, left + done, 2 * b);
    F(clear)(rest, y);
    F(add_adjoint_times)(p, m, rest, a + k * n + k + 1, n, v, y);
    const F(halves) before = {
        .a = right, .b = left, .m = rest, .n = m, .width = b, .left = done, .right = done};
    F(take_products)(p, before, v, y);
    for (int64_t j = 0; j < rest; j++) y[j] = F(mul)(*tau, y[j]);
    F(spread)(rest, y, right + done, 2 * b);
}

/* Reduces row k of a, which is row number `done` of the panel, by a right reflector. Appends the reflector to U, and a column to
 * X. */
static void F(reduce_row)(const work *s, T *a, int64_t b, int64_t k, int64_t done)
{
    const int64_t n = s->n, m = s->m - k - 1, rest = n - k - 1;
    const cb_products *p = &s->products;
    T *tau = (T *)s->tau_p + k, *u = s->v, *x = s->w, *row = a + k * n + k + 1;
    T *left = (T *)s->left + (k + 1) * 2 * b, *right = (T *)s->right + (k + 1) * 2 * b;
    for (int64_t j = 0; j < rest; j++) u[j] = F(conj)(row[j]);
    F(take_line)(p, rest, b, done + 1, done, right, left - 2 * b, u);
    *tau = F(reflect)(rest, u, &s->e[k]);
    for (int64_t j = 1; j < rest; j++) row[j] = u[j];
    F(spread)(rest, u, right + b + done, 2 * b);
    F(clear)(m, x);
    F(add_times)(p, m, rest, row + n, n, u, x);
    const F(halves) before = {
        .a = left, .b = right, .m = m, .n = rest, .width = b, .left = done + 1, .right = done};
    F(take_products)(p, before, u, x);
    for (int64_t i = 0; i < m; i++) x[i] = F(mul)(*tau, x[i]);
    F(spread)(m, x, left + b + done, 2 * b);
}

/* Reduces a (m x n, m >= n) to a real bidiagonal matrix (d, e). Left reflectors are stored in the columns of a, right
 * reflectors in its rows. */
static void F(bidiagonalize)(const work *s, T *a)
{
    const int64_t n = s->n;
    for (int64_t k0 = 0; k0 < n && !cb_is_cancelled(&s->products); k0 += CB_WY_BLOCK) {
        const int64_t b = cb_min_i64(CB_WY_BLOCK, n - k0), top = k0 + b, m = s->m - top;
        for (int64_t k = k0; k < top && !cb_is_cancelled(&s->products); k++) {
            F(reduce_column)(s, a, b, k, k - k0);
            if (k < n - 1) F(reduce_row)(s, a, b, k, k - k0);
        }
        F(conj_transposed)(n - top, 2 * b, (T *)s->right + top * 2 * b, 2 * b, s->adjoint);
        F(subtract_product)
        (&s->products, (cb_gemm){.m = m,
                                 .n = n - top,
                                 .k = 2 * b,
                                 .a = (T *)s->left + top * 2 * b,
                                 .lda = 2 * b,
                                 .b = s->adjoint,
                                 .ldb = n - top,
                                 .c = a + top * (n + 1),
                                 .ldc = n});
    }
}
