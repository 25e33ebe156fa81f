#include "linalg/linalg_bidiagonal.inc.h"

/* Loads matrix number i to `a`. If the matrix has fewer rows than columns, loads its adjoint. */
static void F(load)(const cubed_block *x, int64_t i, const work *s, T *a)
{
    T *as_is = s->wide ? s->out_left : a;
    cb_linalg_load(x, i, s->m * s->n, as_is);
    if (!s->wide) return;
    F(conj_transposed)(s->n, s->m, as_is, s->m, a);
}

/* Copies rows of real vectors, in descending order of their values, to the first columns of an m x n matrix. The remaining
 * columns equal columns of the identity matrix. */
static void F(take_vectors)(const cb_divide *w, const double *rows, int64_t stride, int64_t m,
                            int64_t n, T *to)
{
    enum { COLUMNS = 8 };
    const int64_t have = w->n;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = i < have ? have : 0; j < n; j++) to[i * n + j] = F(make)(i == j, 0);
    }
    for (int64_t j = 0; j < have; j += COLUMNS) {
        const int64_t end = cb_min_i64(j + COLUMNS, have);
        for (int64_t i = 0; i < have; i++) {
            for (int64_t k = j; k < end; k++)
                to[i * n + k] = F(make)(rows[w->order[have - 1 - k] * stride + i], 0);
        }
    }
}

static void F(store_adjoint)(const cubed_block *x, int64_t i, int64_t m, int64_t n, const T *a,
                             T *room)
{
    F(conj_transposed)(m, n, a, n, room);
    cb_linalg_store(x, i, m * n, room);
}

/* Stores the vectors: a = u s vh; if wide, a^H = u s vh, so a = v s u^H. */
static void F(store_vectors)(const cubed_block_call *call, work *s, int64_t i)
{
    const cubed_block *u = &call->out[0], *vh = &call->out[2];
    const int64_t m = s->m, n = s->n;
    T *a = s->a, *left = s->out_left, *right = s->out_right;
    F(take_vectors)(&s->divide, s->divide.u, n, m, s->columns, left);
    const F(reflectors) q = {.a = a, .ld = n, .tau = s->tau_q, .count = n};
    F(wy_multiply)(&s->wy, m, s->columns, q, false, left, s->columns);
    F(take_vectors)(&s->divide, s->divide.v, n + 1, n, n, right);
    const F(reflectors) p = {.a = a, .ld = n, .below = 1, .tau = s->tau_p, .count = n - 1};
    F(wy_multiply)(&s->wy, n, n, p, true, right, n);
    if (s->wide) {
        if (u->data) cb_linalg_store(u, i, n * n, right);
        if (vh->data) F(store_adjoint)(vh, i, m, s->columns, left, a);
    } else {
        if (u->data) cb_linalg_store(u, i, m * s->columns, left);
        if (vh->data) F(store_adjoint)(vh, i, n, n, right, a);
    }
}

static bool F(svd_one)(const cubed_block_call *call, work *s, int64_t i)
{
    T *a = s->a;
    const cubed_block *values = &call->out[s->vectors ? 1 : 0];
    const int64_t n = s->n;
    double *ordered = s->e;
    F(load)(&call->in[0], i, s, a);
    int exponent = F(scale_to_one)(s->m * n, a);
    F(bidiagonalize)(s, a);
    if (cb_is_cancelled(&s->products)) return false;
    if (!s->vectors) {
        if (!cb_bidiagonal_svd(n, s->d, s->e, (cb_vectors){0}, (cb_vectors){0}, s->products.cancel))
            return false;
        ordered = s->d;
    } else {
        if (!cb_divide_svd(&s->divide, s->d, s->e)) return false;
        for (int64_t k = 0; k < n; k++) ordered[k] = s->d[s->divide.order[n - 1 - k]];
    }
    for (int64_t k = 0; k < n; k++) ordered[k] = ldexp(ordered[k], exponent);
    if (values->data) cb_linalg_store(values, i, n, ordered);
    if (s->vectors) F(store_vectors)(call, s, i);
    return true;
}
