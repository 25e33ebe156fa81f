/* Triangular factors, T by T; see linalg.h. Matrices are halved, so that nearly all work is products of
 * matrices (Toledo, "Locality of reference in LU decomposition with partial pivoting", SIMAX 1997). */

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

/* Columns `lo` to `hi` of `a` from row `lo` on, which are in `panel`, its rows one after another. */
static int64_t F(lu_panel)(T *panel, int64_t n, int64_t lo, int64_t hi, int64_t *pivot)
{
    int64_t singular = n, width = hi - lo;
    for (int64_t k = lo; k < hi; k++) {
        int64_t p = k;
        double most = -1;
        for (int64_t i = k; i < n; i++) {
            T x = panel[(i - lo) * width + k - lo];
            double size = fabs(F(real)(x)) + fabs(F(imag)(x));
            if (size > most) {
                most = size;
                p = i;
            }
        }
        pivot[k] = p;
        if (most == 0) {
            if (singular == n) singular = k;
            continue;
        }
        T *top = panel + (k - lo) * width, *rest = top + k - lo + 1;
        if (p != k) F(swap)(width, panel + (p - lo) * width, top);
        for (int64_t i = k + 1; i < n; i++) {
            T *row = panel + (i - lo) * width + k - lo;
            row[0] = F(div)(row[0], top[k - lo]);
            F(axpy)(hi - k - 1, F(scaled)(-1, row[0]), rest, row + 1);
        }
    }
    return singular;
}

static int64_t F(lu_columns)(const work *w, int64_t lo, int64_t hi)
{
    T *a = w->a, *panel = w->panel;
    int64_t n = w->n, width = hi - lo, mid = lo + width / 2;
    if (width > CB_LINALG_BASE) {
        int64_t singular = F(lu_columns)(w, lo, mid);
        F(solve_unit_lower)
        (&w->products, mid - lo, hi - mid, a + lo * n + lo, n, a + lo * n + mid, n);
        F(subtract_product)
        (&w->products, n - mid, hi - mid, mid - lo, a + mid * n + lo, n, a + lo * n + mid, n,
         a + mid * n + mid, n);
        return cb_min_i64(singular, F(lu_columns)(w, mid, hi));
    }
    for (int64_t i = lo; i < n; i++)
        memcpy(panel + (i - lo) * width, a + i * n + lo, (size_t)width * sizeof(T));
    int64_t singular = F(lu_panel)(panel, n, lo, hi, w->pivot);
    for (int64_t k = lo; k < hi; k++) {
        if (w->pivot[k] != k) F(swap)(n, a + w->pivot[k] * n, a + k * n);
    }
    for (int64_t i = lo; i < n; i++)
        memcpy(a + i * n + lo, panel + (i - lo) * width, (size_t)width * sizeof(T));
    return singular;
}

/* Rows of `a` (n x n) are eliminated from those below: L without its diagonal of ones, and U. Row k was
 * swapped with row pivot[k]. Returns the first k without a pivot; n if there is none. */
static int64_t F(lu)(const work *w) { return F(lu_columns)(w, 0, w->n); }

/* b (n x m) becomes what `a` times it was, with the factors of a. */
static void F(lu_solve)(const work *w)
{
    T *b = w->b;
    for (int64_t k = 0; k < w->n; k++) {
        if (w->pivot[k] != k) F(swap)(w->m, b + k * w->m, b + w->pivot[k] * w->m);
    }
    F(solve_unit_lower)(&w->products, w->n, w->m, w->a, w->n, b, w->m);
    F(solve_upper)(&w->products, w->n, w->m, w->a, w->n, b, w->m);
}

/* The product of U's diagonal and of the swaps' signs is unit * 2**exponent, |unit| in [1/2, 2) or 0: no
 * overflow on the way. */
static void F(lu_det)(const T *a, int64_t n, const int64_t *pivot, T *unit, int64_t *exponent)
{
    T product = F(make)(1, 0);
    *exponent = 0;
    for (int64_t k = 0; k < n; k++) {
        T x = a[k * n + k];
        int e = 0;
        double size = fmax(fabs(F(real)(x)), fabs(F(imag)(x)));
        if (isfinite(size)) (void)frexp(size, &e);
        product = F(mul)(product, F(make)(ldexp(F(real)(x), -e), ldexp(F(imag)(x), -e)));
        *exponent += e;
        size = fmax(fabs(F(real)(product)), fabs(F(imag)(product)));
        e = 0;
        if (isfinite(size)) (void)frexp(size, &e);
        product = F(make)(ldexp(F(real)(product), -e), ldexp(F(imag)(product), -e));
        *exponent += e;
        if (pivot[k] != k) product = F(scaled)(-1, product);
    }
    *unit = product;
}

/* x (m x n) = x times the inverse of l^H, l lower triangular. */
static void F(solve_right)(const work *w, int64_t m, int64_t n, const T *l, T *x)
{
    int64_t half = n / 2, ld = w->n;
    if (n > CB_LINALG_BASE) {
        F(solve_right)(w, m, half, l, x);
        F(conj_transposed)(n - half, half, l + half * ld, ld, w->b);
        F(subtract_product)(&w->products, m, n - half, half, x, ld, w->b, n - half, x + half, ld);
        F(solve_right)(w, m, n - half, l + half * ld + half, x + half);
        return;
    }
    if (m > 1) { /* x^H in rows of m */
        T *rows = w->b;
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

/* The lower triangular factor of `a` (n x n), of which the lower triangle is read, in its place. false: it is
 * not positive definite. */
static bool F(cholesky)(const work *w, T *a, int64_t n)
{
    enum { ROWS = 128 };
    int64_t half = n / 2, rest = n - half, ld = w->n;
    T *below = a + half * ld, *right = below + half;
    if (n > CB_LINALG_BASE) {
        if (!F(cholesky)(w, a, half)) return false;
        F(solve_right)(w, rest, half, a, below);
        F(conj_transposed)(rest, half, below, ld, w->b);
        for (int64_t i = 0; i < rest; i += ROWS) { /* what is above the diagonal has no meaning */
            int64_t end = cb_min_i64(i + ROWS, rest);
            F(subtract_product)
            (&w->products, end - i, end, half, below + i * ld, ld, w->b, rest, right + i * ld, ld);
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

/* a = conj(a)^T */
static void F(conj_transpose)(T *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            T x = F(conj)(a[i * n + j]);
            a[i * n + j] = F(conj)(a[j * n + i]);
            a[j * n + i] = x;
        }
        a[i * n + i] = F(conj)(a[i * n + i]);
    }
}

/* --- One of a block ---------------------------------------------------------------------------------- */

static bool F(cholesky_one)(const cubed_block_call *call, const work *w, int64_t i, bool upper)
{
    T *a = w->a;
    int64_t n = w->n;
    cb_linalg_load(&call->in[0], i, n * n, a);
    if (upper) F(conj_transpose)(a, n);
    if (!F(cholesky)(w, a, n)) return false;
    for (int64_t k = 0; k < n; k++) {
        for (int64_t j = k + 1; j < n; j++) a[k * n + j] = F(make)(0, 0);
    }
    if (upper) F(conj_transpose)(a, n);
    cb_linalg_store(&call->out[0], i, n * n, a);
    return true;
}

static bool F(solve_one)(const cubed_block_call *call, work *w, int64_t i, int64_t of_a,
                         int64_t of_b)
{
    T *a = w->a, *b = w->b;
    if (of_a != w->factored) {
        cb_linalg_load(&call->in[0], of_a, w->n * w->n, a);
        if (F(lu)(w) < w->n) return false;
        w->factored = of_a;
    }
    if (call->nin > 1) {
        cb_linalg_load(&call->in[1], of_b, w->n * w->m, b);
    } else {
        for (int64_t k = 0; k < w->n * w->n; k++) b[k] = F(make)(k % (w->n + 1) == 0, 0);
    }
    F(lu_solve)(w);
    cb_linalg_store(&call->out[0], i, w->n * w->m, b);
    return true;
}

static void F(det_one)(const cubed_block_call *call, const work *w, int64_t i)
{
    T *a = w->a, unit, det;
    int64_t exponent;
    cb_linalg_load(&call->in[0], i, w->n * w->n, a);
    (void)F(lu)(w);
    F(lu_det)(a, w->n, w->pivot, &unit, &exponent);
    if (call->nout == 1) {
        int e = (int)cb_max_i64(-5000, cb_min_i64(5000, exponent));
        det = F(make)(ldexp(F(real)(unit), e), ldexp(F(imag)(unit), e));
        cb_linalg_store(&call->out[0], i, 1, &det);
        return;
    }
    double size = F(abs)(unit), logarithm = log(size) + (double)exponent * M_LN2;
    T sign = size == 0 ? unit : F(scaled)(1 / size, unit);
    if (call->out[0].data) cb_linalg_store(&call->out[0], i, 1, &sign);
    if (call->out[1].data) cb_linalg_store(&call->out[1], i, 1, &logarithm);
}
