/* Products of matrices, T by T; see linalg.h. */

/* c (m x n) -= a (m x k) b (k x n) */
static inline void F(subtract_product)(const cb_products *p, int64_t m, int64_t n, int64_t k,
                                       const T *a, int64_t lda, const T *b, int64_t ldb,
                                       T *c, /* NOLINT(readability-non-const-parameter): is made */
                                       int64_t ldc)
{
    const cb_gemm g = {m, n, k, a, b, c, lda, ldb, ldc, CB_GEMM_SUBTRACT, p->scratch};
    p->F(gemm)(&g);
}

/* to (n x m) = conj(a)^T of a (m x n) */
static inline void F(conj_transposed)(int64_t m, int64_t n, const T *a, int64_t lda, T *to)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) to[j * m + i] = F(conj)(a[i * lda + j]);
    }
}
