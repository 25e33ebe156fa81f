/* exp, log and pow of one float type, computed by the library SLEEF. Parameters: T, TAG, N (number of lanes of a vector), CALL(f)
 * (SLEEF's function f), VLOAD and VSTORE (load and store of a vector), and POW, the C library's function. */
#define FN(name) CB_PASTE(name, TAG)

static void FN(exp)(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    T *d = dst;
    const T *x = a;
    size_t i = 0;
    (void)b;
    (void)c;
    for (; i + N <= n; i += N) VSTORE(d + i, CALL(exp)(VLOAD(x + i)));
    if (i < n) {
        T t[N] = {0};
        for (size_t j = i; j < n; j++) t[j - i] = x[j];
        VSTORE(t, CALL(exp)(VLOAD(t)));
        for (size_t j = i; j < n; j++) d[j] = t[j - i];
    }
}

static void FN(log)(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    T *d = dst;
    const T *x = a;
    size_t i = 0;
    (void)b;
    (void)c;
    for (; i + N <= n; i += N) VSTORE(d + i, CALL(log)(VLOAD(x + i)));
    if (i < n) {
        T t[N] = {0};
        for (size_t j = i; j < n; j++) t[j - i] = x[j];
        VSTORE(t, CALL(log)(VLOAD(t)));
        for (size_t j = i; j < n; j++) d[j] = t[j - i];
    }
}

/* SLEEF overflows too early near the top of the range: it returns infinity even for the largest number to the power of 1.
 * So infinite lanes are recomputed by the C library. */
static void FN(pow)(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    T *d = dst;
    const T *x = a, *y = b;
    (void)c;
    for (size_t i = 0; i < n; i += N) {
        T t[N] = {0}, u[N] = {0}, r[N];
        size_t lanes = n - i < N ? n - i : N;
        bool is_infinite = false;
        memcpy(t, x + i, lanes * sizeof(T));
        memcpy(u, y + i, lanes * sizeof(T));
        VSTORE(r, CALL(pow)(VLOAD(t), VLOAD(u)));
        for (size_t j = 0; j < N; j++) is_infinite |= isinf(r[j]) != 0;
        for (size_t j = 0; is_infinite && j < lanes; j++) {
            if (isinf(r[j])) r[j] = POW(t[j], u[j]);
        }
        memcpy(d + i, r, lanes * sizeof(T));
    }
}
#undef FN
