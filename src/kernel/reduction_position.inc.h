/* Kernels of argmin and argmax, which find the position of the first extreme value (minimum or maximum). The including file
 * defines these macros:
 *
 * T, TAG                   element type, and suffix of the functions' names
 * MORE(a, b)               returns whether a is more extreme than b
 * IS_NAN(a), NOT_A_NUMBER  test for NaN, and a NaN
 * LEAST                    the least extreme number
 * FAR                      a position after every position
 *
 * A state s has the position of the extreme value in s[0], converted to T, and the value in s[1]. Which of two states is
 * kept does not depend on the order of reductions. */
#define FN(name)     CB_PASTE(name, TAG)
#define BEFORE(a, b) (MORE(a, b) | (IS_NAN(a) & !IS_NAN(b)))
#define SAME(a, b)   (((a) == (b)) | (IS_NAN(a) & IS_NAN(b)))

static void FN(init)(void *const *s, size_t n)
{
    T *at = s[0], *best = s[1];
    for (size_t i = 0; i < n; i++) {
        at[i] = FAR;
        best[i] = LEAST;
    }
}

static inline void FN(join)(T *at, T *best, T place, T v)
{
    bool take = (bool)(BEFORE(v, *best) | (SAME(v, *best) & (place < *at)));
    *at = take ? place : *at;
    *best = take ? v : *best;
}

static void FN(rows)(void *const *s, const void *x, size_t n, int64_t position)
{
    T *at = s[0], *best = s[1];
    const T *v = x;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) FN(join)(&at[i], &best[i], (T)position, v[i]);
}

static void FN(merge)(void *const *s, void *const *t, size_t n, int64_t ns, int64_t nt)
{
    T *at = s[0], *best = s[1];
    const T *place = t[0], *v = t[1];
    (void)ns;
    (void)nt;
    CB_IVDEP
    for (size_t i = 0; i < n; i++) FN(join)(&at[i], &best[i], place[i], v[i]);
}

/* Returns the most extreme of n values; NaN if one of them is NaN. NaNs are counted in a separate loop, because compilers would
 * not vectorise the search with a comparison for NaN in it. */
static inline T FN(extreme)(const T *v, size_t n)
{
    T lane[8];
    size_t whole = n / 8 * 8;
    int64_t nans = 0;
    for (size_t i = 0; i < n; i++) nans += IS_NAN(v[i]);
    for (size_t l = 0; l < 8; l++) lane[l] = LEAST;
    for (size_t i = 0; i < whole; i += 8) {
        for (size_t l = 0; l < 8; l++) lane[l] = MORE(v[i + l], lane[l]) ? v[i + l] : lane[l];
    }
    for (size_t i = whole; i < n; i++) lane[0] = MORE(v[i], lane[0]) ? v[i] : lane[0];
    for (size_t l = 1; l < 8; l++) lane[0] = MORE(lane[l], lane[0]) ? lane[l] : lane[0];
    return nans ? NOT_A_NUMBER : lane[0];
}

/* Reduces n contiguous elements into one state; `position` is the position of the first element. First only the extreme value is
 * computed, because that loop is vectorised. Its position is searched for only if the state changes, which is rare. */
static void FN(run)(void *const *s, const void *x, size_t n, int64_t position)
{
    T *at = s[0], *best = s[1];
    const T *v = x;
    size_t i = 0;
    if (n == 0) return;
    T value = FN(extreme)(v, n);
    if (BEFORE(*best, value) | (SAME(*best, value) & (*at < (T)position))) return;
    while (!SAME(v[i], value)) i++;
    FN(join)(at, best, (T)(position + (int64_t)i), value);
}

static void FN(runs)(void *const *s, const void *x, size_t r, size_t n, int64_t position)
{
    T *at = s[0], *best = s[1];
    const T *v = x;
    for (size_t i = 0; i < n; i++, v += r) {
        T value = v[0], place = (T)position;
        for (size_t j = 1; j < r; j++) {
            bool take = (bool)(BEFORE(v[j], value));
            place = take ? (T)(position + (int64_t)j) : place;
            value = take ? v[j] : value;
        }
        FN(join)(&at[i], &best[i], place, value);
    }
}
#undef FN
#undef BEFORE
#undef SAME
#undef T
#undef TAG
#undef LEAST
