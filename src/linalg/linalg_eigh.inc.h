#include "linalg/linalg_tridiagonal.inc.h"

/* Copies the eigenvectors of the tridiagonal matrix to columns. */
static void F(take_vectors)(const cb_divide *w, T *to)
{
    enum { COLUMNS = 8 };
    const int64_t n = w->n;
    for (int64_t j = 0; j < n; j += COLUMNS) {
        const int64_t end = cb_min_i64(j + COLUMNS, n);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t k = j; k < end; k++)
                to[i * n + k] = F(make)(w->v[w->order[k] * (n + 1) + i], 0);
        }
    }
}

static bool F(eigh_one)(const cubed_block_call *call, work *s, int64_t i)
{
    const int64_t n = s->n;
    const cubed_block *values = &call->out[0], *vectors = s->vectors ? &call->out[1] : NULL;
    T *a = s->a, *q = s->q;
    double *ordered = s->e;
    cb_linalg_load(&call->in[0], i, n * n, a);
    /* Clear the elements above the diagonal, because they are ignored and must not affect the scale. */
    for (int64_t k = 0; k < n; k++) {
        for (int64_t j = k + 1; j < n; j++) a[k * n + j] = F(make)(0, 0);
        a[k * n + k] = F(make)(F(real)(a[k * n + k]), 0);
    }
    int exponent = F(scale_to_one)(n * n, a);
    F(tridiagonalize)(s, a);
    if (cb_is_cancelled(&s->products)) return false;
    if (!s->vectors) {
        if (!cb_tridiagonal_eigen(n, s->d, s->e, (cb_vectors){0}, s->products.cancel)) return false;
        ordered = s->d;
    } else {
        if (!cb_divide_eigen(&s->divide, s->d, s->e)) return false;
        for (int64_t k = 0; k < n; k++) ordered[k] = s->d[s->divide.order[k]];
    }
    for (int64_t k = 0; k < n; k++) ordered[k] = ldexp(ordered[k], exponent);
    if (values->data) cb_linalg_store(values, i, n, ordered);
    if (!vectors || !vectors->data) return true;
    F(take_vectors)(&s->divide, q);
    const F(reflectors) r = {.a = a, .ld = n, .below = 1, .tau = s->tau, .count = n - 1};
    F(wy_multiply)(&s->wy, n, n, r, false, q, n);
    cb_linalg_store(vectors, i, n * n, q);
    return true;
}
