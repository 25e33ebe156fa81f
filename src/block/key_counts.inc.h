/* Counting digits of keys of one width. Takes K, an unsigned type, and BITS, its bits; undefines both. */
#define FN(name) CB_COUNTS_PASTE(name, BITS)

/* Of the keys whose bits from `higher` on are `prefix`; returns the number of NaN (keys of ones) if there may
 * be some, which are not among them. */
static int64_t FN(count_digits)(const void *data, int64_t n, int shift, int higher, uint64_t prefix,
                                bool may_be_nan, int64_t *counts)
{
    const K *keys = data;
    const K mask = (K)(((uint64_t)1 << (higher - shift)) - 1);
    int64_t nans = 0;
    for (int64_t i = 0; i < n; i++) {
        K key = keys[i];
        if (may_be_nan && key == (K) ~(K)0)
            nans++;
        else if (higher == BITS || key >> higher == (K)prefix)
            counts[key >> shift & mask]++;
    }
    return nans;
}

#undef FN
#undef K
#undef BITS
