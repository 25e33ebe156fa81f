/* Positions in sorted elements. Parameters: T, TAG and IS_NAN(x); all are undefined at the end. */
#define FN(name) CB_SEARCH_PASTE(name, TAG)

/* Returns the number of elements, among n sorted ones, that are less than a value (`right`: less or equal). NaN is the
 * largest. */
static int64_t FN(count_before)(const T *x, int64_t n, T value, bool right)
{
    int64_t lo = 0;
    while (n > 0) {
        int64_t half = n / 2;
        T a = x[lo + half];
        bool less = a < value || (IS_NAN(value) && !IS_NAN(a));
        bool more = a > value || (IS_NAN(a) && !IS_NAN(value));
        if (less || (right && !more)) {
            lo += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return lo;
}

/* Adds the positions in this block to *out, which already has the positions in earlier blocks. */
static void FN(search)(const void *x, int64_t n, const void *values, int64_t count, bool right,
                       int64_t *out)
{
    const T *v = values;
    for (int64_t i = 0; i < count; i++) out[i] += FN(count_before)(x, n, v[i], right);
}
#undef FN
#undef T
#undef TAG
#undef IS_NAN
