/* exp, log, pow of one float type. Takes T, TAG, N (lanes), CALL(f), VLOAD, VSTORE. */
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

static void FN(pow)(void *dst, const void *a, const void *b, const void *c, size_t n)
{
    T *d = dst;
    const T *x = a, *y = b;
    size_t i = 0;
    (void)c;
    for (; i + N <= n; i += N) VSTORE(d + i, CALL(pow)(VLOAD(x + i), VLOAD(y + i)));
    if (i < n) {
        T t[N] = {0}, u[N] = {0};
        for (size_t j = i; j < n; j++) {
            t[j - i] = x[j];
            u[j - i] = y[j];
        }
        VSTORE(t, CALL(pow)(VLOAD(t), VLOAD(u)));
        for (size_t j = i; j < n; j++) d[j] = t[j - i];
    }
}
#undef FN
