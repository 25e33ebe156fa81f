/* Panels of triangular factors for type T; see linalg_panel.h. */
#include "linalg/linalg_triangle.inc.h"

/* Row `row` of the matrix in the panel. */
static inline T *F(row_of)(const cb_panel *s, int64_t row)
{
    return (T *)s->at + (s->rows + row) * s->width;
}

/* Subtracts the block's rows (`depth` columns) times x from rows lo to hi - 1 of the panel. */
static void F(subtract_rows)(const cb_panel *s, int64_t lo, int64_t hi, int64_t depth, const T *x)
{
    if (lo >= hi) return;
    F(subtract_product)
    (&s->products, (cb_gemm){.m = hi - lo,
                             .n = s->width,
                             .k = depth,
                             .a = (const T *)s->in + (lo - s->from) * s->step,
                             .lda = s->step,
                             .b = x,
                             .ldb = s->width,
                             .c = F(row_of)(s, lo),
                             .ldc = s->width});
}

/* Repeats the row swaps of a panel to the left: swaps row `first` + k with the row down[k] rows below it. `down` is the input
 * block. */
static bool F(swap_rows)(const cb_panel *s, int64_t first, int64_t n)
{
    const T *down = s->in;
    for (int64_t k = 0; k < n; k++) {
        double by = F(real)(down[k]);
        if (!(by >= 0 && by < (double)(s->n - first - k))) return false;
        if (by > 0)
            F(swap)(s->width, F(row_of)(s, first + k), F(row_of)(s, first + k + (int64_t)by));
    }
    return true;
}

/* Applies a block of panel number `panel` of L to the panel that the call computes. The top of panel number `panel` contains its
 * pivots. */
static bool F(forward)(const cb_panel *s, int64_t panel)
{
    int64_t first = panel * s->step, n = cb_min_i64(s->step, s->n - first);
    int64_t end = s->from + s->have;
    T *x = F(row_of)(s, first);
    if (s->from < 0) return F(swap_rows)(s, first, n);
    if (end <= first) return true;
    if (s->from <= first) {
        const T *l = (const T *)s->in + (first - s->from) * s->step;
        F(solve_unit_lower)(&s->products, n, s->width, l, s->step, x, s->width);
    }
    F(subtract_rows)(s, cb_max_i64(s->from, first + n), end, n, x);
    return true;
}

/* Applies a block of panel number `panel` of U to the panel that the call computes. The top of panel number `panel` is its square
 * on the diagonal. */
static void F(backward)(const cb_panel *s, int64_t panel)
{
    int64_t first = panel * s->step, n = cb_min_i64(s->step, s->n - first);
    T *x = F(row_of)(s, first);
    if (s->from < 0)
        F(solve_upper)(&s->products, n, s->width, s->in, s->step, x, s->width);
    else
        F(subtract_rows)(s, s->from, cb_min_i64(s->from + s->have, first), n, x);
}

/* Applies a block of an earlier panel of L to panel number `panel`: subtracts the block times the adjoint of those rows of the
 * earlier panel that are at the diagonal of panel number `panel`. The top of the earlier panel contains these rows. */
static void F(subtract_square)(const cb_panel *s, int64_t panel)
{
    T *top = s->at;
    if (s->from < 0)
        F(conj_transposed)(s->width, s->step, s->in, s->step, top);
    else
        F(subtract_rows)(s, cb_max_i64(s->from, panel * s->step), s->from + s->have, s->step, top);
}

/* Factors the panel. The first row of the top receives the distance by which each row was swapped, the second the diagonal
 * of U. Returns false if a column has no pivot. */
static bool F(factor_lu)(const cb_panel *s, const scratch *w, int64_t panel)
{
    int64_t first = panel * s->step, left = s->n - first;
    const cb_lu f = {F(row_of)(s, first), left, s->width, s->width, NULL, w->pivot, &s->products};
    bool regular = F(lu)(&f) == left;
    T *top = s->at;
    F(clear)(s->rows * s->width, top);
    for (int64_t k = 0; k < s->width; k++) {
        top[k] = F(make)((double)(w->pivot[k] - k), 0);
        top[s->width + k] = F(row_of)(s, first + k)[k];
    }
    return regular;
}

static bool F(factor_cholesky)(const cb_panel *s, const scratch *w, int64_t panel)
{
    int64_t first = panel * s->step, width = s->width;
    const cb_cholesky f = {width, w->temp, &s->products};
    T *l = F(row_of)(s, first);
    if (!F(cholesky)(&f, l, width)) return false;
    F(clear)((s->rows + first) * width, s->at);
    for (int64_t k = 0; k < width; k++) F(clear)(width - k - 1, l + k * width + k + 1);
    for (int64_t i = first + width; i < s->n; i += s->rows)
        F(solve_right)(&f, cb_min_i64(s->rows, s->n - i), width, l, F(row_of)(s, i));
    return true;
}
