/* Panels of orthogonal factors for type T; see linalg_panel.h. */

static inline T *F(row_of)(const cb_panel *s, int64_t row)
{
    return (T *)s->at + (s->rows + row) * s->width;
}

/* c (m x n) =, += or -= a (m x k) b (k x n) */
static void F(multiply)(const cb_panel *s, cb_gemm_mode mode, int64_t m, int64_t n, int64_t k,
                        const T *a, int64_t lda, const T *b, int64_t ldb,
                        T *c, /* NOLINT(readability-non-const-parameter): is made */
                        int64_t ldc)
{
    const cb_gemm g = {
        m, n, k, a, b, c, lda, ldb, ldc, mode, s->products.scratch, s->products.cancel};
    s->products.F(gemm)(&g);
}

/* Copies m rows of n reflectors to v contiguously, with explicit zeros and ones. The first row is `top` rows above
 * (negative: below) the diagonal. */
static void F(clean)(int64_t m, int64_t n, int64_t top, const T *a, int64_t ld, T *v)
{
    for (int64_t i = 0; i < m; i++, a += ld, v += n) {
        for (int64_t j = 0; j < n; j++) v[j] = i - top > j ? a[j] : F(make)(i - top == j, 0);
    }
}

/* --- Panels to the left ------------------------------------------------------------------------------- */

/* Multiplies the top by T or T^H, between the two passes over a panel. */
static void F(turn)(const cb_panel *s, const scratch *w, bool adjoint)
{
    const T *t = s->in, *turned = t;
    T *top = s->at;
    int64_t n = s->step;
    if (adjoint) {
        F(conj_transposed)(n, n, t, n, w->v);
        turned = w->v;
    }
    F(multiply)(s, CB_GEMM_SET, n, s->width, n, turned, n, top, s->width, w->x, s->width);
    memcpy(top, w->x, (size_t)(n * s->width) * sizeof(T));
}

static void F(apply_block)(const cb_panel *s, const scratch *w, int64_t panel, bool adjoint)
{
    const bool second = s->column % 2 == 0;
    const int64_t first = panel * s->step, n = s->step;
    const int64_t lo = cb_max_i64(s->from, first), m = s->from + s->have - lo;
    T *top = s->at, *to = F(row_of)(s, lo);
    if (s->from < 0 && second) F(turn)(s, w, adjoint);
    if (s->from < 0 && !second) F(clear)(s->rows * s->width, top);
    if (s->from < 0 || m <= 0) return;
    const T *v = (const T *)s->in + (lo - s->from) * n;
    if (lo < first + n) {
        F(clean)(m, n, first - lo, v, n, w->v);
        v = w->v;
    }
    if (second) {
        F(multiply)(s, CB_GEMM_SUBTRACT, m, s->width, n, v, n, top, s->width, to, s->width);
    } else {
        F(conj_transposed)(m, n, v, n, w->v_h);
        F(multiply)(s, CB_GEMM_ADD, n, s->width, m, w->v_h, m, to, s->width, top, s->width);
    }
}

/* --- The panel itself --------------------------------------------------------------------------------- */

/* a (m x s->width) is the part below the panel's diagonal; t is its triangle, stored in the top. */
typedef struct F(own) {
    const cb_panel *s;
    const scratch *w;
    T *a, *t;
    int64_t m;
} F(own);

/* x (hi - lo x n) = V^H c for the reflectors lo to hi - 1; c has rows from `lo` on, `width` apart. If `second` >= 0, the
 * columns of c are reflectors themselves, which start at row `second`. */
static void F(adjoint_times)(const F(own) * o, int64_t lo, int64_t hi, const T *c, int64_t n,
                             int64_t second, T *x)
{
    const cb_panel *s = o->s;
    const int64_t k = hi - lo, start = second < 0 ? lo : second;
    cb_gemm_mode mode = CB_GEMM_SET;
    for (int64_t i = start; i < o->m; i += s->rows, mode = CB_GEMM_ADD) {
        int64_t rows = cb_min_i64(s->rows, o->m - i), ld = s->width;
        const T *b = c + i * ld;
        F(clean)(rows, k, lo - i, o->a + i * ld + lo, ld, o->w->v);
        F(conj_transposed)(rows, k, o->w->v, k, o->w->v_h);
        if (second >= 0) {
            F(clean)(rows, n, second - i, b, ld, o->w->v);
            b = o->w->v;
            ld = n;
        }
        F(multiply)(s, mode, k, n, rows, o->w->v_h, rows, b, ld, x, n);
    }
}

/* Multiplies columns `from` to `to` - 1 by (1 - V T V^H)^H of the reflectors lo to hi - 1. */
static void F(reflect_others)(const F(own) * o, int64_t lo, int64_t hi, int64_t from, int64_t to)
{
    const int64_t k = hi - lo, n = to - from, ld = o->s->width;
    T *x = o->w->x, *y = o->w->y;
    F(adjoint_times)(o, lo, hi, o->a + from, n, -1, x);
    F(conj_transposed)(k, k, o->t + lo * ld + lo, ld, o->w->v);
    F(multiply)(o->s, CB_GEMM_SET, k, n, k, o->w->v, k, x, n, y, n);
    for (int64_t i = lo; i < o->m; i += o->s->rows) {
        int64_t rows = cb_min_i64(o->s->rows, o->m - i);
        F(clean)(rows, k, lo - i, o->a + i * ld + lo, ld, o->w->v);
        F(multiply)
        (o->s, CB_GEMM_SUBTRACT, rows, n, k, o->w->v, k, y, n, o->a + i * ld + from, ld);
    }
}

/* Computes one reflector after another. */
static void F(factor_few)(const F(own) * o, int64_t lo, int64_t hi)
{
    const int64_t ld = o->s->width;
    T *v = o->w->one, *z = o->w->of, *t = o->t;
    for (int64_t k = lo; k < hi; k++) {
        double beta;
        T tau = F(reflect_column)(o->a, o->m, ld, k, k, v, &beta);
        F(reflect_rows)
        (o->m - k, hi - k - 1, F(conj)(tau), v, o->a + k * ld + k + 1, ld, z);
        F(clear)(k - lo, z);
        for (int64_t i = k; i < o->m; i++) {
            for (int64_t l = lo; l < k; l++)
                z[l - lo] = F(add)(z[l - lo], F(mul)(F(conj)(o->a[i * ld + l]), v[i - k]));
        }
        for (int64_t i = lo; i < k; i++) {
            T sum = F(make)(0, 0);
            for (int64_t l = i; l < k; l++) sum = F(add)(sum, F(mul)(t[i * ld + l], z[l - lo]));
            t[i * ld + k] = F(scaled)(-1, F(mul)(tau, sum));
        }
        t[k * ld + k] = tau;
    }
}

/* Computes reflectors lo to hi - 1 recursively in halves; T of both halves has -T1 (V1^H V2) T2 as its upper right block
 * (Elmroth and Gustavson, "Applying recursion to serial and parallel QR factorization", 2000). */
static void F(factor_columns)(const F(own) * o, int64_t lo, int64_t hi)
{
    const int64_t mid = lo + (hi - lo) / 2, k = mid - lo, n = hi - mid, ld = o->s->width;
    if (hi - lo <= CB_LINALG_BASE) {
        F(factor_few)(o, lo, hi);
        return;
    }
    F(factor_columns)(o, lo, mid);
    F(reflect_others)(o, lo, mid, mid, hi);
    F(factor_columns)(o, mid, hi);
    T *beside = o->t + lo * ld + mid;
    F(adjoint_times)(o, lo, mid, o->a + mid, n, mid, o->w->x);
    F(multiply)(o->s, CB_GEMM_SET, k, n, n, o->w->x, n, o->t + mid * ld + mid, ld, o->w->y, n);
    for (int64_t i = 0; i < k; i++) F(clear)(n, beside + i * ld);
    F(multiply)(o->s, CB_GEMM_SUBTRACT, k, n, k, o->t + lo * ld + lo, ld, o->w->y, n, beside, ld);
}

/* Columns to the right of the last row have no reflectors. */
static void F(factor)(const cb_panel *s, const scratch *w, int64_t panel)
{
    const int64_t first = panel * s->step, m = s->n - first, count = cb_min_i64(s->width, m);
    F(clear)(s->rows * s->width, s->at);
    if (count <= 0) return;
    const F(own) o = {s, w, F(row_of)(s, first), s->at, m};
    F(factor_columns)(&o, 0, count);
    if (count < s->width) F(reflect_others)(&o, 0, count, count, s->width);
}
