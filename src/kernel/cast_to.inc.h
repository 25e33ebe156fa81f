/* One cast. Parameters, in addition to those of cast_from.inc.h: T (the new type), T_TAG, and T_KIND (like F_KIND, but 4 for
 * uint64, because it has numbers that int64 does not have); all are undefined at the end. */
#if F_KIND == 3
#define RE(x) ((x).re)
#else
#define RE(x) (x)
#endif

static void FROM_FN(T_TAG)(void *dst, const void *src, size_t n)
{
    T *d = dst;
    const F *x = src;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) {
#if T_KIND == 3 && F_KIND == 3
        T v = {x[i].re, x[i].im};
        d[i] = v;
#elif T_KIND == 3
        T v = {x[i], 0};
        d[i] = v;
#elif T_KIND == 0 && F_KIND == 3
        d[i] = x[i].re != 0 || x[i].im != 0;
#elif T_KIND == 0
        d[i] = x[i] != 0;
#elif T_KIND == 1 && F_KIND >= 2
        d[i] = (T)(uint64_t)cb_f64_to_i64(RE(x[i]));
#elif T_KIND == 4 && F_KIND >= 2
        d[i] = cb_f64_to_u64(RE(x[i]));
#else
        d[i] = (T)RE(x[i]);
#endif
    }
}
#undef RE
#undef T
#undef T_TAG
#undef T_KIND
