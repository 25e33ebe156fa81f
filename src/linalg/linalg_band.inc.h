/* Band matrices for type T; see linalg_band.c. */

/* Address of element (i, j) of the band. Elements of a row are adjacent. Elements of a column are s->ld - 1 elements apart. */
static inline T *F(at)(const work *s, int64_t i, int64_t j)
{
    return (T *)s->a + i * s->ld + j - i + s->b;
}

static void F(load)(const cubed_block *x, int64_t number, const work *s)
{
    const int64_t n = s->n, b = s->b, width = 2 * b;
    const size_t item = cubed_dtype_size(x->dtype);
    F(clear)(n * s->ld, s->a);
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = i / b * b, end = cb_min_i64(n, i + b + 1);
        cubed_block row = *x;
        row.data = (char *)x->data + (size_t)((number * n + i) * width + i - first) * item;
        cb_linalg_load(&row, 0, end - i, F(at)(s, i, i));
    }
}

/* Fills the part below the diagonal of the n x n square that begins at (c, c) with the conjugates of the part above. */
static void F(mirror)(const work *s, int64_t c, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        for (int64_t j = 0; j < i; j++) *F(at)(s, c + i, c + j) = F(conj)(*F(at)(s, c + j, c + i));
    }
}

/* Applies a reflection to n elements, `step` apart; u receives the reflector. */
static T F(reflect_line)(int64_t n, T *x, int64_t step, bool conjugated, T *u)
{
    double beta;
    for (int64_t j = 0; j < n; j++) u[j] = conjugated ? F(conj)(x[j * step]) : x[j * step];
    T tau = F(reflect)(n, u, &beta);
    for (int64_t j = 0; j < n; j++) x[j * step] = F(make)(j == 0 ? beta : 0, 0);
    return tau;
}

/* Reduces b elements of row r, from column c on, to one element, by a reflection of columns. At the end of the matrix, there are
 * fewer than b elements. Applies the reflection also to the rows below r. Then reflects rows c to c + b - 1: with the same
 * reflector if the matrix is Hermitian, otherwise with a reflector that clears column c below the diagonal. */
static void F(reduce_row)(const work *s, int64_t r, int64_t c)
{
    const int64_t n = cb_min_i64(s->b, s->n - c), last = c + n, step = s->ld - 1;
    const int64_t end = cb_min_i64(s->n, last + s->b);
    T *u = s->u;
    T tau = F(reflect_line)(n, F(at)(s, r, c), 1, true, u);
    if (s->hermitian) F(mirror)(s, c, n);
    F(reflect_columns)(last - r - 1, n, tau, u, F(at)(s, r + 1, c), step);
    int64_t from = c;
    if (!s->hermitian) {
        tau = F(reflect_line)(n, F(at)(s, c, c), step, false, u);
        from++;
    }
    F(reflect_rows)(n, end - from, F(conj)(tau), u, F(at)(s, c, from), step, s->w);
}

static bool F(band_one)(const cubed_block_call *call, const work *s, int64_t i)
{
    const int64_t n = s->n;
    F(load)(&call->in[0], i, s);
    const int exponent = F(scale_to_one)(n * s->ld, s->a);
    if (!s->hermitian && n > 0) { /* make the first element real */
        T tau = F(reflect_line)(1, F(at)(s, 0, 0), 1, false, s->u);
        F(reflect_rows)
        (1, cb_min_i64(n, s->b + 1) - 1, F(conj)(tau), s->u, F(at)(s, 0, 1), s->ld - 1, s->w);
    }
    for (int64_t k = 0; k + 1 < n && !cubed_block_cancelled(call); k++) {
        F(reduce_row)(s, k, k + 1);
        for (int64_t r = k + 1; r + s->b < n; r += s->b) F(reduce_row)(s, r, r + s->b);
    }
    if (cubed_block_cancelled(call)) return false;
    for (int64_t k = 0; k < n; k++) {
        /* Iterations on tridiagonal matrices proceed upwards from the last row, and converge if rows get smaller in that
         * direction. So the rows of Hermitian matrices are stored in reverse order. */
        const int64_t row = s->hermitian ? n - 1 - k : k, next = s->hermitian ? row - 1 : row;
        s->d[k] = F(real)(*F(at)(s, row, row));
        s->e[k] = k + 1 < n ? F(real)(*F(at)(s, next, next + 1)) : 0;
    }
    bool ok = s->hermitian ? cb_tridiagonal_eigen(n, s->d, s->e, (cb_vectors){0}, call->cancel)
                           : cb_bidiagonal_svd(n, s->d, s->e, (cb_vectors){0}, (cb_vectors){0},
                                               call->cancel);
    if (!ok) return false;
    for (int64_t k = 0; k < n; k++) s->d[k] = ldexp(s->d[k], exponent);
    if (call->out[0].data) cb_linalg_store(&call->out[0], i, n, s->d);
    return true;
}
