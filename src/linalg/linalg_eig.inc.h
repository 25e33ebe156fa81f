/* Balances a matrix: scales rows and columns by powers of 2 so that the sums of each row and its column are similar. by[i]
 * is the factor of column i (Osborne, "On pre-conditioning of matrices", JACM 1960). */
static void F(balance)(int64_t n, T *a, double *by)
{
    for (int64_t i = 0; i < n; i++) by[i] = 1;
    for (bool done = false; !done;) {
        done = true;
        for (int64_t i = 0; i < n; i++) {
            double row = 0, column = 0, f = 1;
            for (int64_t j = 0; j < n; j++) {
                if (j == i) continue;
                row += fabs(F(real)(a[i * n + j])) + fabs(F(imag)(a[i * n + j]));
                column += fabs(F(real)(a[j * n + i])) + fabs(F(imag)(a[j * n + i]));
            }
            if (!(row > 0x1p-900) || !(column > 0x1p-900) || !isfinite(row + column)) continue;
            double sum = row + column, c = column;
            while (c < row / 2 && f < 0x1p300) {
                f *= 2;
                c *= 4;
            }
            while (c >= row * 2 && f > 0x1p-300) {
                f /= 2;
                c /= 4;
            }
            if (f == 1 || c / f + row / f >= 0.95 * sum) continue;
            if (by[i] * f > 0x1p300 || by[i] * f < 0x1p-300) continue;
            done = false;
            by[i] *= f;
            for (int64_t j = 0; j < n; j++) a[i * n + j] = F(scaled)(1 / f, a[i * n + j]);
            for (int64_t j = 0; j < n; j++) a[j * n + i] = F(scaled)(f, a[j * n + i]);
        }
    }
}

/* Reduces a to upper Hessenberg form. zt (may be NULL) receives the transposed product of the reflectors. */
static void F(to_hessenberg)(const work *s, T *a, T *zt)
{
    int64_t n = s->n;
    T *tau = s->tau, *v = s->v, *w = s->w;
    for (int64_t k = 0; k < n - 2 && !is_cancelled(s); k++) {
        int64_t m = n - k - 1;
        double beta;
        tau[k] = F(reflect_column)(a, n, n, k + 1, k, v, &beta);
        F(reflect_rows)(m, m, F(conj)(tau[k]), v, a + (k + 1) * (n + 1), n, w);
        F(reflect_columns)(n, m, tau[k], v, a + k + 1, n);
    }
    if (zt) {
        const F(reflectors) r = {.a = a, .ld = n, .below = 1, .tau = tau, .count = n - 2};
        F(form_q)(n, n, r, zt, v, w, s->cancel);
        F(transpose_square)(n, zt);
    }
    for (int64_t i = 2; i < n; i++) {
        for (int64_t j = 0; j < i - 1; j++) a[i * n + j] = F(make)(0, 0);
    }
}

/* Computes eigenvector number k, with length 1 and a real largest element, and stores it in row k of s->vectors. */
static void F(make_vector)(const work *s, int64_t k, int64_t length)
{
    const T *zt = s->zt;
    const cb_complex *y = s->y;
    int64_t n = s->n;
    cb_complex *v = s->vectors + k * n, turn;
    double largest = 0;
    int64_t which = 0;
    for (int64_t i = 0; i < n; i++) v[i] = make_z(0, 0);
    for (int64_t j = 0; j < length; j++) {
        const T *row = zt + j * n;
        for (int64_t i = 0; i < n; i++)
            v[i] = add_z(v[i], mul_z(y[j], make_z(F(real)(row[i]), F(imag)(row[i]))));
    }
    for (int64_t i = 0; i < n; i++) v[i] = scaled_z(s->by[i], v[i]);
    double norm = norm_z(n, v);
    for (int64_t i = 0; i < n; i++) {
        v[i] = scaled_z(1 / norm, v[i]);
        if (abs_z(v[i]) <= largest) continue;
        largest = abs_z(v[i]);
        which = i;
    }
    if (s->values[k].im == 0 && F(parts) == 1) return; /* the vector is real */
    turn = scaled_z(1 / largest, conj_z(v[which]));
    for (int64_t i = 0; i < n; i++) v[i] = mul_z(turn, v[i]);
    v[which].im = 0;
}

static void F(make_vectors)(const work *s)
{
    const T *t = s->a;
    int64_t n = s->n;
    double norm = F(largest)(n * n, t);
    for (int64_t k = 0; k < n && !is_cancelled(s); k++) {
        bool pair = F(parts) == 1 && s->values[k].im != 0;
        F(cb_schur_vector)(n, t, norm, k + pair, s->values[k], s->y);
        F(make_vector)(s, k, k + pair + 1);
        if (!pair) continue;
        for (int64_t i = 0; i < n; i++) s->vectors[(k + 1) * n + i] = conj_z(s->vectors[k * n + i]);
        k++;
    }
}

static bool F(eig_one)(const cubed_block_call *call, const work *s, int64_t i)
{
    int64_t n = s->n;
    T *a = s->a, *zt = s->zt;
    cb_linalg_load(&call->in[0], i, n * n, a);
    int exponent = F(scale_to_one)(n * n, a);
    F(balance)(n, a, s->by);
    F(to_hessenberg)(s, a, zt);
    if (is_cancelled(s)) return false;
    if (!F(cb_schur)(n, a, zt, s->values, s->cancel)) return false;
    if (zt) {
        F(make_vectors)(s);
        transpose_square_z(n, s->vectors);
        if (call->out[1].data) cb_linalg_store(&call->out[1], i, n * n, s->vectors);
    }
    for (int64_t k = 0; k < n; k++)
        s->values[k] = make_z(ldexp(s->values[k].re, exponent), ldexp(s->values[k].im, exponent));
    if (call->out[0].data) cb_linalg_store(&call->out[0], i, n, s->values);
    return true;
}
