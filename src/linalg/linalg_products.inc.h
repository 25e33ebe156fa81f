/* Products of matrices for type T; see linalg_shared.h. */

/* Computes a product in this mode, with the scratch of p. */
static inline void F(product)(const cb_products *p, cb_gemm_mode mode, cb_gemm g)
{
    g.mode = mode;
    g.scratch = p->scratch;
    g.cancel = p->cancel;
    p->F(gemm)(&g);
}

/* Subtracts the product of a (m x k) and b (k x n) from c (m x n). */
static inline void F(subtract_product)(const cb_products *p, cb_gemm g)
{
    F(product)(p, CB_GEMM_SUBTRACT, g);
}

/* Adds the product of a (m x n) and x to p (m elements). */
static inline void F(add_times)(const cb_products *s, int64_t m, int64_t n, const T *a, int64_t ld,
                                const T *x,
                                T *p) /* NOLINT(readability-non-const-parameter): is made */
{
    const cb_matvec g = {.m = m, .n = n, .a = a, .lda = ld, .x = x, .p = p};
    s->F(matvec)(&g);
}

/* Adds a^H y to q (n elements); a is m x n. */
static inline void F(add_adjoint_times)(const cb_products *s, int64_t m, int64_t n, const T *a,
                                        int64_t ld, const T *y,
                                        T *q) /* NOLINT(readability-non-const-parameter): is made */
{
    const cb_matvec g = {.m = m, .n = n, .a = a, .lda = ld, .y = y, .q = q};
    s->F(matvec)(&g);
}

/* Stores conj(a)^T in `to` (n x m); a is m x n. Writes whole cache lines. */
static inline void F(conj_transposed)(int64_t m, int64_t n, const T *a, int64_t lda, T *to)
{
    enum { ROWS = 8 };
    for (int64_t i = 0; i < m; i += ROWS) {
        const int64_t end = cb_min_i64(i + ROWS, m);
        for (int64_t j = 0; j < n; j++) {
            for (int64_t k = i; k < end; k++) to[j * m + k] = F(conj)(a[k * lda + j]);
        }
    }
}
