/* Panels of orthogonal factors for type T; see linalg_panel.h. */

static inline T *F(row_of)(const cb_panel *s, int64_t row)
{
    return (T *)s->at + (s->rows + row) * s->width;
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

/* Multiplies the top of the panel by T or T^H of a panel of reflectors to the left. Called between two passes over the blocks of
 * those reflectors: the first pass adds V^H times the panel to the top, the second subtracts V times the top from the panel. */
static void F(turn)(const cb_panel *s, const scratch *w, bool adjoint)
{
    const T *t = s->in, *turned = t;
    T *top = s->at;
    int64_t n = s->step;
    if (adjoint) {
        F(conj_transposed)(n, n, t, n, w->v);
        turned = w->v;
    }
    F(product)
    (&s->products, CB_GEMM_SET,
     (cb_gemm){.m = n,
               .n = s->width,
               .k = n,
               .a = turned,
               .lda = n,
               .b = top,
               .ldb = s->width,
               .c = w->x,
               .ldc = s->width});
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
        F(product)
        (&s->products, CB_GEMM_SUBTRACT,
         (cb_gemm){.m = m,
                   .n = s->width,
                   .k = n,
                   .a = v,
                   .lda = n,
                   .b = top,
                   .ldb = s->width,
                   .c = to,
                   .ldc = s->width});
    } else {
        F(conj_transposed)(m, n, v, n, w->v_h);
        F(product)
        (&s->products, CB_GEMM_ADD,
         (cb_gemm){.m = n,
                   .n = s->width,
                   .k = m,
                   .a = w->v_h,
                   .lda = m,
                   .b = to,
                   .ldb = s->width,
                   .c = top,
                   .ldc = s->width});
    }
}

/* --- The panel itself --------------------------------------------------------------------------------- */

/* The panel that is factored. `a` (m x s->width) contains its rows from the diagonal on. `t` is the triangular factor T of the
 * product of the panel's reflectors, 1 - V T V^H. It is stored in the top of the panel, at s->at. */
typedef struct F(own) {
    const cb_panel *s;
    const scratch *w;
    T *a, *t;
    int64_t m;
} F(own);

/* Computes x = V^H c, with hi - lo rows and n columns, for the reflectors lo to hi - 1. Uses the rows of c from row `lo`
 * on, which are `width` apart. If `second` >= 0, the columns of c are reflectors themselves, which start at row `second`. */
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
        F(product)
        (&s->products, mode,
         (cb_gemm){.m = k,
                   .n = n,
                   .k = rows,
                   .a = o->w->v_h,
                   .lda = rows,
                   .b = b,
                   .ldb = ld,
                   .c = x,
                   .ldc = n});
    }
}

/* Multiplies columns `from` to `to` - 1 by (1 - V T V^H)^H of the reflectors lo to hi - 1. */
static void F(reflect_others)(const F(own) * o, int64_t lo, int64_t hi, int64_t from, int64_t to)
{
    const int64_t k = hi - lo, n = to - from, ld = o->s->width;
    T *x = o->w->x, *y = o->w->y;
    F(adjoint_times)(o, lo, hi, o->a + from, n, -1, x);
    F(conj_transposed)(k, k, o->t + lo * ld + lo, ld, o->w->v);
    F(product)
    (&o->s->products, CB_GEMM_SET,
     (cb_gemm){.m = k, .n = n, .k = k, .a = o->w->v, .lda = k, .b = x, .ldb = n, .c = y, .ldc = n});
    for (int64_t i = lo; i < o->m; i += o->s->rows) {
        int64_t rows = cb_min_i64(o->s->rows, o->m - i);
        F(clean)(rows, k, lo - i, o->a + i * ld + lo, ld, o->w->v);
        F(product)
        (&o->s->products, CB_GEMM_SUBTRACT,
         (cb_gemm){.m = rows,
                   .n = n,
                   .k = k,
                   .a = o->w->v,
                   .lda = k,
                   .b = y,
                   .ldb = n,
                   .c = o->a + i * ld + from,
                   .ldc = ld});
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
    F(product)
    (&o->s->products, CB_GEMM_SET,
     (cb_gemm){.m = k,
               .n = n,
               .k = n,
               .a = o->w->x,
               .lda = n,
               .b = o->t + mid * ld + mid,
               .ldb = ld,
               .c = o->w->y,
               .ldc = n});
    for (int64_t i = 0; i < k; i++) F(clear)(n, beside + i * ld);
    F(product)
    (&o->s->products, CB_GEMM_SUBTRACT,
     (cb_gemm){.m = k,
               .n = n,
               .k = k,
               .a = o->t + lo * ld + lo,
               .lda = ld,
               .b = o->w->y,
               .ldb = n,
               .c = beside,
               .ldc = ld});
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
