/* Counts digits of keys of one width. Parameters: K, an unsigned type, and BITS, its width; both are undefined at the
 * end. */
#define FN(name) CB_COUNTS_PASTE(name, BITS)

/* Counts digits of the keys whose bits from `higher` up equal `prefix`. If there may be NaN (keys of all ones), does not
 * count them and returns their number. */
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
