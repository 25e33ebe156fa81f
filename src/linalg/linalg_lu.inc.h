/* Functions of whole matrices by their triangular factors, for type T; see linalg_shared.h. */
#include "linalg/linalg_triangle.inc.h"

/* Solves a x = b, with the triangular factors of a. x (n x m) replaces b. */
static void F(lu_solve)(const work *w)
{
    T *b = w->b;
    for (int64_t k = 0; k < w->n; k++) {
        if (w->pivot[k] != k) F(swap)(w->m, b + k * w->m, b + w->pivot[k] * w->m);
    }
    F(solve_unit_lower)(&w->products, w->n, w->m, w->a, w->n, b, w->m);
    F(solve_upper)(&w->products, w->n, w->m, w->a, w->n, b, w->m);
}

/* Computes the product of U's diagonal and the signs of the swaps as unit * 2**exponent, with |unit| in [1/2, 2) or 0,
 * without intermediate overflow. */
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

/* Replaces a by conj(a)^T. */
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

/* --- Functions of one matrix of a block ----------------------------------------------------------------- */

static bool F(cholesky_one)(const cubed_block_call *call, const work *w, int64_t i, bool upper)
{
    T *a = w->a;
    int64_t n = w->n;
    cb_linalg_load(&call->in[0], i, n * n, a);
    if (upper) F(conj_transpose)(a, n);
    if (!F(cholesky)(&(cb_cholesky){n, w->b, &w->products}, a, n)) return false;
    for (int64_t k = 0; k < n; k++) {
        for (int64_t j = k + 1; j < n; j++) a[k * n + j] = F(make)(0, 0);
    }
    if (upper) F(conj_transpose)(a, n);
    cb_linalg_store(&call->out[0], i, n * n, a);
    return true;
}

/* Stores the permutation matrix P of P L U, whose rows are rows of the identity matrix. */
static void F(store_order)(const cubed_block *out, const work *w, int64_t i)
{
    T *row = w->b;
    for (int64_t k = 0; k < w->n; k++) w->order[k] = k;
    for (int64_t k = 0; k < cb_min_i64(w->n, w->m); k++) {
        int64_t other = w->order[w->pivot[k]];
        w->order[w->pivot[k]] = w->order[k];
        w->order[k] = other;
    }
    for (int64_t k = 0; k < w->n; k++) w->place[w->order[k]] = k;
    F(clear)(w->n, row);
    for (int64_t k = 0; k < w->n; k++) {
        row[w->place[k]] = F(make)(1, 0);
        cb_linalg_store(out, i * w->n + k, w->n, row);
        row[w->place[k]] = F(make)(0, 0);
    }
}

static void F(lu_one)(const cubed_block_call *call, const work *w, int64_t i)
{
    const cubed_block *p = &call->out[0], *l = &call->out[1], *u = &call->out[2];
    const int64_t n = w->n, m = w->m, least = cb_min_i64(n, m);
    T *a = w->a, *row = w->b;
    cb_linalg_load(&call->in[0], i, n * m, a);
    /* If a column has no pivot, its elements from the diagonal on are 0. The column of L then equals a column of the identity
     * matrix. */
    (void)F(lu)(&(cb_lu){a, n, least, m, w->panel, w->pivot, &w->products});
    for (int64_t k = 0; k < least && least < m; k++) {
        if (w->pivot[k] != k) F(swap)(m - least, a + k * m + least, a + w->pivot[k] * m + least);
    }
    if (least < m) F(solve_unit_lower)(&w->products, n, m - least, a, m, a + least, m);
    if (p->data) F(store_order)(p, w, i);
    for (int64_t k = 0; k < n && l->data; k++) {
        F(clear)(least, row);
        memcpy(row, a + k * m, (size_t)cb_min_i64(k, least) * sizeof *row);
        if (k < least) row[k] = F(make)(1, 0);
        cb_linalg_store(l, i * n + k, least, row);
    }
    for (int64_t k = 0; k < least && u->data; k++) {
        F(clear)(k, row);
        memcpy(row + k, a + k * m + k, (size_t)(m - k) * sizeof *row);
        cb_linalg_store(u, i * least + k, m, row);
    }
}

static bool F(solve_one)(const cubed_block_call *call, work *w, int64_t i, int64_t of_a,
                         int64_t of_b)
{
    T *a = w->a, *b = w->b;
    if (of_a != w->factored) {
        cb_linalg_load(&call->in[0], of_a, w->n * w->n, a);
        if (F(lu)(&(cb_lu){a, w->n, w->n, w->n, w->panel, w->pivot, &w->products}) < w->n)
            return false;
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
    (void)F(lu)(&(cb_lu){a, w->n, w->n, w->n, w->panel, w->pivot, &w->products});
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
