/* Triangular factors for type T; see linalg_shared.h. Matrices are halved recursively, so that nearly all work is products
 * of matrices (Toledo, "Locality of reference in LU decomposition with partial pivoting", SIMAX 1997). */

/* Replaces b (n x m) by the inverse of a times b; a is unit lower triangular. */
static void F(solve_unit_lower)(const cb_products *p, int64_t n, int64_t m, const T *a, int64_t lda,
                                T *b, int64_t ldb)
{
    int64_t half = n / 2;
    if (n > CB_LINALG_BASE) {
        F(solve_unit_lower)(p, half, m, a, lda, b, ldb);
        F(subtract_product)
        (p, (cb_gemm){.m = n - half,
                      .n = m,
                      .k = half,
                      .a = a + half * lda,
                      .lda = lda,
                      .b = b,
                      .ldb = ldb,
                      .c = b + half * ldb,
                      .ldc = ldb});
        F(solve_unit_lower)(p, n - half, m, a + half * lda + half, lda, b + half * ldb, ldb);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++)
            F(axpy)(m, F(scaled)(-1, a[i * lda + k]), b + k * ldb, b + i * ldb);
    }
}

/* Replaces b (n x m) by the inverse of a times b; a is upper triangular. */
static void F(solve_upper)(const cb_products *p, int64_t n, int64_t m, const T *a, int64_t lda,
                           T *b, int64_t ldb)
{
    int64_t half = n / 2;
    if (n > CB_LINALG_BASE) {
        F(solve_upper)(p, n - half, m, a + half * lda + half, lda, b + half * ldb, ldb);
        F(subtract_product)
        (p, (cb_gemm){.m = half,
                      .n = m,
                      .k = n - half,
                      .a = a + half,
                      .lda = lda,
                      .b = b + half * ldb,
                      .ldb = ldb,
                      .c = b,
                      .ldc = ldb});
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

/* Factors columns `lo` to `hi` - 1 from row `lo` on, which are in `panel` with rows `ld` apart. */
static int64_t F(lu_panel)(T *panel, int64_t ld, int64_t rows, int64_t lo, int64_t hi,
                           int64_t *pivot)
{
    int64_t singular = rows;
    for (int64_t k = lo; k < hi; k++) {
        int64_t p = k;
        double most = -1;
        for (int64_t i = k; i < rows; i++) {
            double size = F(size)(panel[(i - lo) * ld + k - lo]);
            if (size > most) {
                most = size;
                p = i;
            }
        }
        pivot[k] = p;
        if (most == 0) {
            if (singular == rows) singular = k;
            continue;
        }
        T *top = panel + (k - lo) * ld, *rest = top + k - lo + 1;
        if (p != k) F(swap)(hi - lo, panel + (p - lo) * ld, top);
        for (int64_t i = k + 1; i < rows; i++) {
            T *row = panel + (i - lo) * ld + k - lo;
            row[0] = F(div)(row[0], top[k - lo]);
            F(axpy)(hi - k - 1, F(scaled)(-1, row[0]), rest, row + 1);
        }
    }
    return singular;
}

static int64_t F(lu_columns)(const cb_lu *f, int64_t lo, int64_t hi)
{
    T *a = f->a, *panel = f->panel ? f->panel : a + lo * f->ld + lo;
    int64_t rows = f->rows, ld = f->ld, width = hi - lo, mid = lo + width / 2;
    if (width > CB_LINALG_BASE) {
        int64_t singular = F(lu_columns)(f, lo, mid);
        F(solve_unit_lower)
        (f->products, mid - lo, hi - mid, a + lo * ld + lo, ld, a + lo * ld + mid, ld);
        F(subtract_product)
        (f->products, (cb_gemm){.m = rows - mid,
                                .n = hi - mid,
                                .k = mid - lo,
                                .a = a + mid * ld + lo,
                                .lda = ld,
                                .b = a + lo * ld + mid,
                                .ldb = ld,
                                .c = a + mid * ld + mid,
                                .ldc = ld});
        return cb_min_i64(singular, F(lu_columns)(f, mid, hi));
    }
    for (int64_t i = lo; i < rows && f->panel; i++)
        memcpy(panel + (i - lo) * width, a + i * ld + lo, (size_t)width * sizeof(T));
    int64_t singular = F(lu_panel)(panel, f->panel ? width : ld, rows, lo, hi, f->pivot);
    for (int64_t i = lo; i < rows && f->panel; i++)
        memcpy(a + i * ld + lo, panel + (i - lo) * width, (size_t)width * sizeof(T));
    for (int64_t k = lo; k < hi; k++) {
        T *row = a + k * ld, *other = a + f->pivot[k] * ld;
        if (row == other) continue;
        F(swap)(lo, other, row);
        F(swap)(f->columns - hi, other + hi, row + hi);
    }
    return singular;
}

/* Factors a in place into L, without its unit diagonal, and U. Row k was swapped with row pivot[k]. Returns the first
 * column without a pivot, or the number of rows if there is none. */
static int64_t F(lu)(const cb_lu *f) { return F(lu_columns)(f, 0, f->columns); }

/* Replaces x (m x n) by x times the inverse of l^H; l is lower triangular. */
static void F(solve_right)(const cb_cholesky *w, int64_t m, int64_t n, const T *l, T *x)
{
    int64_t half = n / 2, ld = w->ld;
    if (n > CB_LINALG_BASE) {
        F(solve_right)(w, m, half, l, x);
        F(conj_transposed)(n - half, half, l + half * ld, ld, w->temp);
        F(subtract_product)
        (w->products, (cb_gemm){.m = m,
                                .n = n - half,
                                .k = half,
                                .a = x,
                                .lda = ld,
                                .b = w->temp,
                                .ldb = n - half,
                                .c = x + half,
                                .ldc = ld});
        F(solve_right)(w, m, n - half, l + half * ld + half, x + half);
        return;
    }
    if (m > 1) { /* work on x^H, whose rows have m elements */
        T *rows = w->temp;
        F(conj_transposed)(m, n, x, ld, rows);
        for (int64_t i = 0; i < n; i++) {
            T *row = rows + i * m;
            for (int64_t k = 0; k < i; k++)
                F(axpy)(m, F(scaled)(-1, l[i * ld + k]), rows + k * m, row);
            for (int64_t k = 0; k < m; k++) row[k] = F(scaled)(1 / F(real)(l[i * ld + i]), row[k]);
        }
        for (int64_t i = 0; i < m; i++) {
            for (int64_t j = 0; j < n; j++) x[i * ld + j] = F(conj)(rows[j * m + i]);
        }
        return;
    }
    for (int64_t j = 0; j < n && m == 1; j++) {
        T sum = F(sub)(x[j], F(dot_conj)(j, l + j * ld, x));
        x[j] = F(scaled)(1 / F(real)(l[j * ld + j]), sum);
    }
}

/* Computes the lower triangular factor of `a` (n x n) in place, reading only the lower triangle. Returns false if the
 * matrix is not positive definite. */
static bool F(cholesky)(const cb_cholesky *w, T *a, int64_t n)
{
    enum { ROWS = 128 };
    int64_t half = n / 2, rest = n - half, ld = w->ld;
    T *below = a + half * ld, *right = below + half;
    if (n > CB_LINALG_BASE) {
        if (!F(cholesky)(w, a, half)) return false;
        F(solve_right)(w, rest, half, a, below);
        F(conj_transposed)(rest, half, below, ld, w->temp);
        /* elements above the diagonal become undefined */
        for (int64_t i = 0; i < rest; i += ROWS) {
            int64_t end = cb_min_i64(i + ROWS, rest);
            F(subtract_product)
            (w->products, (cb_gemm){.m = end - i,
                                    .n = end,
                                    .k = half,
                                    .a = below + i * ld,
                                    .lda = ld,
                                    .b = w->temp,
                                    .ldb = rest,
                                    .c = right + i * ld,
                                    .ldc = ld});
        }
        return F(cholesky)(w, right, rest);
    }
    for (int64_t i = 0; i < n; i++) {
        T *row = a + i * ld;
        F(solve_right)(w, 1, i, a, row);
        double left = F(real)(row[i]) - F(real)(F(dot_conj)(i, row, row));
        if (!(left > 0) || isinf(left)) return false;
        row[i] = F(make)(sqrt(left), 0);
    }
    return true;
}
