/* Selects the k-th smallest of many keys of one width. Parameters: K, an unsigned type, and BITS, its width; both are undefined
 * at the end.
 *
 * Each round counts the keys in buckets of equal width, between the smallest and the largest key. Then it keeps only the keys of
 * the bucket that contains the k-th key. So each round divides the range of the keys by about 2**BUCKET_BITS, whatever the keys
 * are. */
#define FN(name) CB_SELECT_PASTE(name, BITS)

static int64_t FN(drop_ones)(void *data, int64_t n)
{
    K *keys = data;
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        K key = keys[i];
        keys[kept] = key;
        kept += key != (K) ~(K)0;
    }
    return kept;
}

static bool FN(has_ones)(const void *data, int64_t n)
{
    const K *keys = data;
    K most = 0;
    for (int64_t i = 0; i < n; i++) most = keys[i] > most ? keys[i] : most;
    return most == (K) ~(K)0;
}

static void FN(scatter)(const void *data, int64_t n, const uint32_t *places, void *to)
{
    const K *keys = data;
    for (int64_t i = 0; i < n; i++) {
        if (places[i] != CB_SELECT_NOWHERE) ((K *)to)[places[i]] = keys[i];
    }
}

static uint64_t FN(get)(const void *keys, int64_t i) { return ((const K *)keys)[i]; }

static K FN(kth_of_few)(const K *keys, int64_t n, int64_t k)
{
    K sorted[FEW];
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i;
        for (; at > 0 && sorted[at - 1] > keys[i]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = keys[i];
    }
    return sorted[k];
}

/* Counts the keys of each bucket. Bucket b contains the keys from least + (b << shift) up to the next bucket. Keys with even and
 * odd indices have separate counters, so the increments for two adjacent equal keys do not depend on each other. */
static void FN(count_buckets)(const K *keys, int64_t n, K least, int shift,
                              uint32_t count[1 << BUCKET_BITS])
{
    uint32_t odd[1 << BUCKET_BITS] = {0};
    int64_t i = 0;
    memset(count, 0, sizeof odd);
    for (; i + 1 < n; i += 2) {
        count[(K)(keys[i] - least) >> shift]++;
        odd[(K)(keys[i + 1] - least) >> shift]++;
    }
    if (i < n) count[(K)(keys[i] - least) >> shift]++;
    for (int b = 0; b < 1 << BUCKET_BITS; b++) count[b] += odd[b];
}

static K FN(kth)(const K *keys, int64_t n, int64_t k, K *temp)
{
    while (n > FEW) {
        uint32_t count[1 << BUCKET_BITS];
        K least = keys[0], most = keys[0], bucket = 0;
        int shift = 0;
        int64_t kept = 0;
        for (int64_t i = 1; i < n; i++) {
            least = keys[i] < least ? keys[i] : least;
            most = keys[i] > most ? keys[i] : most;
        }
        if (least == most) return least;
        while ((K)(most - least) >> shift >= 1 << BUCKET_BITS) shift++;
        FN(count_buckets)(keys, n, least, shift, count);
        for (; k >= count[bucket]; bucket++) k -= count[bucket];
        for (int64_t i = 0; i < n; i++) {
            K key = keys[i];
            temp[kept] = key;
            kept += (K)(key - least) >> shift == bucket;
        }
        keys = temp;
        n = kept;
    }
    return FN(kth_of_few)(keys, n, k);
}

static void FN(select)(const void *data, int64_t n, int64_t k, void *temp, uint64_t out[2])
{
    const K *keys = data;
    K key = FN(kth)(keys, n, k, temp), next = (K) ~(K)0;
    int64_t up_to = 0;
    for (int64_t i = 0; i < n; i++) {
        K above = keys[i] > key ? keys[i] : (K) ~(K)0;
        next = above < next ? above : next;
        up_to += keys[i] <= key;
    }
    out[0] = key;
    out[1] = up_to > k + 1 || up_to == n ? key : next;
}

#undef FN
#undef K
#undef BITS
