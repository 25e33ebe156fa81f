/* One fold with a single plane of state. Takes T, TAG, START(T), JOIN(state, x); undefines T and
 * TAG. */
#define FN(name) CB_PASTE(name, TAG)

static void FN(init)(void *s0, void *s1, size_t n)
{
    T *s = s0;
    (void)s1;
    for (size_t i = 0; i < n; i++) s[i] = START(T);
}

static void FN(rows)(void *s0, void *s1, const void *x, size_t n, int64_t count)
{
    T *s = s0;
    const T *v = x;
    (void)s1;
    (void)count;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) s[i] = JOIN(s[i], v[i]);
}

static void FN(run)(void *s0, void *s1, const void *x, size_t n, int64_t count)
{
    T *s = s0;
    const T *v = x;
    T lane[8];
    size_t i = 0;
    (void)s1;
    (void)count;
    for (int l = 0; l < 8; l++) lane[l] = START(T);
    for (; i + 8 <= n; i += 8) {
        for (int l = 0; l < 8; l++) lane[l] = JOIN(lane[l], v[i + (size_t)l]);
    }
    for (size_t l = 0; i + l < n; l++) lane[l] = JOIN(lane[l], v[i + l]);
    for (int l = 0; l < 4; l++) lane[l] = JOIN(lane[l], lane[l + 4]);
    lane[0] = JOIN(lane[0], lane[2]);
    lane[1] = JOIN(lane[1], lane[3]);
    lane[0] = JOIN(lane[0], lane[1]);
    s[0] = JOIN(s[0], lane[0]);
}

static void FN(merge)(void *s0, void *s1, const void *t0, const void *t1, size_t n, int64_t ns,
                      int64_t nt)
{
    (void)t1;
    (void)ns;
    (void)nt;
    FN(rows)(s0, s1, t0, n, 0);
}
#undef FN
#undef T
#undef TAG
