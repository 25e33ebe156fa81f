/* Halving, so that nearly all work is products of matrices (Toledo, "Locality of reference in LU decomposition
 * with partial pivoting", SIMAX 1997). */

/* c (m x n) -= a (m x k) b (k x n) */
static inline void F(subtract_product)(const cb_products *p, int64_t m, int64_t n, int64_t k,
                                       const T *a, int64_t lda, const T *b, int64_t ldb, T *c,
                                       int64_t ldc)
{
    const cb_gemm g = {m, n, k, a, b, c, lda, ldb, ldc, CB_GEMM_SUBTRACT, p->scratch};
    p->F(gemm)(&g);
}

/* b (n x m) = inverse of a, unit lower triangular, times b. */
static void F(solve_unit_lower)(const cb_products *p, int64_t n, int64_t m, const T *a, int64_t lda,
                                T *b, int64_t ldb)
{
    int64_t half = n / 2;
    if (n > CB_LINALG_BASE) {
        F(solve_unit_lower)(p, half, m, a, lda, b, ldb);
        F(subtract_product)(p, n - half, m, half, a + half * lda, lda, b, ldb, b + half * ldb, ldb);
        F(solve_unit_lower)(p, n - half, m, a + half * lda + half, lda, b + half * ldb, ldb);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++)
            F(axpy)(m, F(scaled)(-1, a[i * lda + k]), b + k * ldb, b + i * ldb);
    }
}

/* b (n x m) = inverse of a, upper triangular, times b. */
static void F(solve_upper)(const cb_products *p, int64_t n, int64_t m, const T *a, int64_t lda,
                           T *b, int64_t ldb)
{
    int64_t half = n / 2;
    if (n > CB_LINALG_BASE) {
        F(solve_upper)(p, n - half, m, a + half * lda + half, lda, b + half * ldb, ldb);
        F(subtract_product)(p, half, m, n - half, a + half, lda, b + half * ldb, ldb, b, ldb);
        F(solve_upper)(p, half, m, a, lda, b, ldb);
        return;
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        T *row = b + i * ldb;
        for (int64_t k = i + 1; k < n; k++)
            F(axpy)(m, F(scaled)(-1, a[i * lda + k]), b + k * ldb, row);
        for (int64_t j = 0; j < m; j++) row[j] = F(div)(row[j], a[i * lda + i]);
    }
}
