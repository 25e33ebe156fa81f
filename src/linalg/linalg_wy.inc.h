/* Blocks of reflectors for type T; see linalg_wy.h. */

/* Completes a block after w->v (m x b) was set. */
static inline void F(wy_complete)(cb_wy *w, int64_t m, int64_t b, const T *tau)
{
    T *t = w->t, *inner = w->x;
    w->m = m;
    w->b = b;
    F(conj_transposed)(m, b, w->v, b, w->v_h);
    F(product)
    (w->products, CB_GEMM_SET,
     (cb_gemm){
         .m = b, .n = b, .k = m, .a = w->v_h, .lda = m, .b = w->v, .ldb = b, .c = inner, .ldc = b});
    for (int64_t j = 0; j < b; j++) {
        for (int64_t i = 0; i < b; i++) {
            T sum = F(make)(0, 0); /* row i of T times V^H v[j] */
            for (int64_t l = i; l < j; l++)
                sum = F(add)(sum, F(mul)(t[i * b + l], inner[l * b + j]));
            t[i * b + j] = i < j    ? F(scaled)(-1, F(mul)(tau[j], sum))
                           : i == j ? tau[j]
                                    : F(make)(0, 0);
        }
    }
    F(conj_transposed)(b, b, t, b, w->t_h);
}

/* Creates a block of the b reflectors that are stored in the columns of `a` (m rows). Reflector j begins in row j. */
static inline void F(wy_columns)(cb_wy *w, int64_t m, int64_t b, const T *a, int64_t ld,
                                 const T *tau)
{
    T *v = w->v;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < b; j++) v[i * b + j] = i > j ? a[i * ld + j] : F(make)(i == j, 0);
    }
    F(wy_complete)(w, m, b, tau);
}

/* Creates a block of the b reflectors that are stored in the rows of `a` (m columns). Reflector j begins in column j. */
static inline void F(wy_rows)(cb_wy *w, int64_t m, int64_t b, const T *a, int64_t ld, const T *tau)
{
    T *v = w->v;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < b; j++) v[i * b + j] = i > j ? a[j * ld + i] : F(make)(i == j, 0);
    }
    F(wy_complete)(w, m, b, tau);
}

/* Replaces c (w->m x n) by the product of the block's reflectors, or the adjoint of this product, times c. */
static inline void F(wy_apply)(const cb_wy *w, bool adjoint, int64_t n, T *c, int64_t ld)
{
    F(product)
    (w->products, CB_GEMM_SET,
     (cb_gemm){.m = w->b,
               .n = n,
               .k = w->m,
               .a = w->v_h,
               .lda = w->m,
               .b = c,
               .ldb = ld,
               .c = w->x,
               .ldc = n});
    F(product)
    (w->products, CB_GEMM_SET,
     (cb_gemm){.m = w->b,
               .n = n,
               .k = w->b,
               .a = adjoint ? w->t_h : w->t,
               .lda = w->b,
               .b = w->x,
               .ldb = n,
               .c = w->y,
               .ldc = n});
    F(product)
    (w->products, CB_GEMM_SUBTRACT,
     (cb_gemm){.m = w->m,
               .n = n,
               .k = w->b,
               .a = w->v,
               .lda = w->b,
               .b = w->y,
               .ldb = n,
               .c = c,
               .ldc = ld});
}

/* Replaces c (m x n, rows `ldc` apart) by the product of the reflectors times c. `in_rows`: reflector k is stored in row k of
 * r.a, from column k + below on. */
static inline void F(wy_multiply)(cb_wy *w, int64_t m, int64_t n, F(reflectors) r, bool in_rows,
                                  T *c, int64_t ldc)
{
    const int64_t ld = r.ld;
    for (int64_t k = (r.count - 1) / CB_WY_BLOCK * CB_WY_BLOCK;
         k >= 0 && r.count > 0 && !cb_is_cancelled(w->products); k -= CB_WY_BLOCK) {
        int64_t b = cb_min_i64(CB_WY_BLOCK, r.count - k), top = k + r.below;
        if (in_rows)
            F(wy_rows)(w, m - top, b, r.a + k * ld + top, ld, r.tau + k);
        else
            F(wy_columns)(w, m - top, b, r.a + top * ld + k, ld, r.tau + k);
        F(wy_apply)(w, false, n, c + top * ldc, ldc);
    }
}
