/* Sorts unsigned keys with vectors. Parameters: K, an unsigned type, BITS, its width, and the vector operations of
 * sort.isa.c for that width; K and BITS are undefined at the end.
 *
 * Quicksort: keys less than a pivot are packed in place. The other keys are packed in `temp`, and then copied after the smaller
 * keys (Bramas, A novel hybrid quicksort algorithm vectorized using AVX-512, 2017; Blacher, Giesen, Sanders, Wassenberg,
 * Vectorized and performance-portable quicksort, 2022). Keys that fit in registers are sorted by bitonic networks (Batcher
 * 1968). */
#define FN(name) CB_JOIN(name, BITS)
#define LANES    (512 / BITS)
/* Maximum number of keys that are sorted in registers. */
#define FEW (REGISTERS * LANES)

/* Performs each step for all vectors before the next step, because steps depend on each other and vectors do not. Loops over
 * distances are unrolled by hand, because GCC does not unroll them. */
static inline ALWAYS void FN(exchange_all)(V *v, int n, int x)
{
    UNROLL for (int i = 0; i < n; i++) v[i] = FN(exchange)(v[i], x);
}

static inline ALWAYS void FN(merge_lanes)(V *v, int n)
{
    if (LANES > 8) FN(exchange_all)(v, n, 8);
    FN(exchange_all)(v, n, 4);
    FN(exchange_all)(v, n, 2);
    FN(exchange_all)(v, n, 1);
}

/* Compares mirrored groups first, then their halves. */
static inline ALWAYS void FN(sort_lanes)(V *v, int n)
{
    FN(exchange_all)(v, n, 1);
    FN(exchange_all)(v, n, 3);
    FN(exchange_all)(v, n, 1);
    FN(exchange_all)(v, n, 7);
    FN(exchange_all)(v, n, 2);
    FN(exchange_all)(v, n, 1);
    if (LANES == 8) return;
    FN(exchange_all)(v, n, 15);
    FN(exchange_all)(v, n, 4);
    FN(exchange_all)(v, n, 2);
    FN(exchange_all)(v, n, 1);
}

static inline ALWAYS void FN(compare)(V *v, int n, int distance)
{
    UNROLL for (int i = 0; i < n; i++)
    {
        if (i & distance) continue;
        V a = v[i], b = v[i + distance];
        v[i] = FN(least)(a, b);
        v[i + distance] = FN(greatest)(a, b);
    }
}

/* Merges sorted sequences of `half` vectors into sequences of twice the length. */
static inline ALWAYS void FN(merge_all)(V *v, int vectors, int half)
{
    UNROLL for (int at = 0; at < vectors; at += 2 * half)
    {
        V mirrored[REGISTERS / 2];
        UNROLL for (int i = 0; i < half; i++) mirrored[i] = FN(mirror)(v[at + 2 * half - 1 - i]);
        UNROLL for (int i = 0; i < half; i++)
        {
            v[at + half + i] = FN(greatest)(v[at + i], mirrored[i]);
            v[at + i] = FN(least)(v[at + i], mirrored[i]);
        }
    }
    /* Both halves are bitonic. */
    if (half >= 8) FN(compare)(v, vectors, 4);
    if (half >= 4) FN(compare)(v, vectors, 2);
    if (half >= 2) FN(compare)(v, vectors, 1);
    FN(merge_lanes)(v, vectors);
}

/* Sorts n keys in the given number of vectors. Padding is not less than any key. */
static inline ALWAYS void FN(sort_in)(K *keys, int64_t n, int vectors)
{
    V v[REGISTERS];
    UNROLL for (int i = 0; i < vectors; i++) v[i] =
        FN(load_some)(keys + (ptrdiff_t)i * LANES, n - (int64_t)i * LANES);
    FN(sort_lanes)(v, vectors);
    if (vectors >= 2) FN(merge_all)(v, vectors, 1);
    if (vectors >= 4) FN(merge_all)(v, vectors, 2);
    if (vectors >= 8) FN(merge_all)(v, vectors, 4);
    if (vectors >= 16) FN(merge_all)(v, vectors, 8);
    UNROLL for (int i = 0; i < vectors; i++)
        FN(store_some)(keys + (ptrdiff_t)i * LANES, n - (int64_t)i * LANES, v[i]);
}

static void FN(sort_1)(K *keys, int64_t n) { FN(sort_in)(keys, n, 1); }
static __attribute__((noinline)) void FN(sort_2)(K *keys, int64_t n) { FN(sort_in)(keys, n, 2); }
static __attribute__((noinline)) void FN(sort_4)(K *keys, int64_t n) { FN(sort_in)(keys, n, 4); }
static __attribute__((noinline)) void FN(sort_8)(K *keys, int64_t n) { FN(sort_in)(keys, n, 8); }
static __attribute__((noinline)) void FN(sort_16)(K *keys, int64_t n) { FN(sort_in)(keys, n, 16); }

static void FN(sort_few)(K *keys, int64_t n)
{
    if (n <= LANES)
        FN(sort_1)(keys, n);
    else if (n <= 2 * LANES)
        FN(sort_2)(keys, n);
    else if (n <= 4 * LANES)
        FN(sort_4)(keys, n);
    else if (n <= 8 * LANES)
        FN(sort_8)(keys, n);
    else
        FN(sort_16)(keys, n);
}

/* Returns the median of a sample from all parts of the keys. */
static K FN(pivot)(const K *keys, int64_t n)
{
    K sample[64];
    const int64_t count = n < MANY ? LANES : 64;
    for (int64_t i = 0; i < count; i++) sample[i] = keys[i * (n / count) + n / count / 2];
    FN(sort_few)(sample, count);
    return sample[count / 2];
}

/* Moves keys less than the pivot (`or_equal`: not greater) to the front, and returns their number. Stores beyond the end of
 * either group only overwrite keys that were read before, and are overwritten by later stores. */
static inline ALWAYS int64_t FN(divide)(K *keys, int64_t n, K pivot, bool or_equal, K *temp)
{
    const V p = FN(splat)(pivot);
    int64_t low = 0, i = 0;
    for (; i + LANES <= n; i += LANES) {
        V v = FN(load)(keys + i);
        FN(mask) less = or_equal ? FN(not_greater)(v, p) : FN(less)(v, p);
        FN(mask) others = or_equal ? FN(greater)(v, p) : FN(not_less)(v, p);
        FN(store)(keys + low, FN(pack)(v, less));
        FN(store)(temp + (i - low), FN(pack)(v, others));
        low += __builtin_popcount(less);
    }
    if (i < n) {
        V v = FN(load_some)(keys + i, n - i);
        uint32_t some = first_lanes(n - i, LANES);
        uint32_t less = some & (or_equal ? FN(not_greater)(v, p) : FN(less)(v, p));
        const int count = __builtin_popcount(less);
        FN(store_some)(keys + low, count, FN(pack)(v, (FN(mask))less));
        FN(store_some)(temp + (i - low), n - i - count, FN(pack)(v, (FN(mask))(some & ~less)));
        low += count;
    }
    memcpy(keys + low, temp, (size_t)(n - low) * sizeof(K));
    return low;
}

/* Recurses into the smaller side, so the recursion depth is at most log2(n). Returns false, with keys in any order, if bad
 * pivots were so frequent that sorting would take too long. */
static bool FN(quicksort)(K *keys, int64_t n, K *temp, int tries)
{
    while (n > FEW) {
        if (tries-- == 0) return false;
        const K pivot = FN(pivot)(keys, n);
        int64_t low = FN(divide)(keys, n, pivot, false, temp);
        if (low == 0) { /* the pivot is the minimum: all keys equal to it are in place */
            low = FN(divide)(keys, n, pivot, true, temp);
        } else if (low < n - low) {
            if (!FN(quicksort)(keys, low, temp, tries)) return false;
        } else {
            if (!FN(quicksort)(keys + low, n - low, temp, tries)) return false;
            n = low;
            continue;
        }
        keys += low;
        n -= low;
    }
    FN(sort_few)(keys, n);
    return true;
}

static bool FN(sort)(void *keys, int64_t n, void *temp)
{
    const int levels = 64 - __builtin_clzll((uint64_t)n | 1);
    return FN(quicksort)(keys, n, temp, 3 * levels);
}

#undef FN
#undef LANES
#undef FEW
#undef K
#undef BITS
