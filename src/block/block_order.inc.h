/* Computes and sorts keys of one width. Parameters: K, an unsigned type, and BITS, its width; both are undefined at the end.
 *
 * Sorting has three algorithms, which are all stable:
 *
 *   up to FEW keys                                                 insertion sort
 *   keys of fewer than 32 bits, or more than MOST_IN_BUCKETS keys  radix sort by bytes, from the lowest byte
 *   otherwise                                                      buckets by the highest bits in which keys differ, recursively;
 *                                                                  at depth MOST_DEPTH, buckets are sorted by radix sort
 *
 * Positions (`pos`, NULL if there are none) move with their keys. */
#define FN(name) CB_ORDER_PASTE(name, BITS)

#define SIGN ((K)((K)1 << (BITS - 1)))

static inline __attribute__((always_inline)) K FN(one_key)(K bits, cb_order_kind kind, K infinity,
                                                           bool descending, cb_order_seen *seen)
{
    K key = bits;
    if (kind == CB_ORDER_SIGNED) key = bits ^ SIGN;
    /* the smallest time sorts after all others */
    if (kind == CB_ORDER_TIME) key = (K)(bits - 1) ^ SIGN;
    if (kind == CB_ORDER_FLOAT) {
        K magnitude = (K)(bits & (K)~SIGN);
        bool nan = magnitude > infinity, minus_zero = bits == SIGN;
        key = bits & SIGN ? (K)~bits : (K)(bits | SIGN);
        if (minus_zero) key = SIGN;
        if (nan) key = (K) ~(K)0;
        seen->nan |= nan;
        seen->minus_zero |= minus_zero;
    }
    return descending ? (K)~key : key;
}

static inline K FN(one_value)(K key, cb_order_kind kind, bool descending)
{
    if (descending) key = (K)~key;
    if (kind == CB_ORDER_SIGNED) return key ^ SIGN;
    if (kind == CB_ORDER_TIME) return (K)((key ^ SIGN) + 1);
    if (kind == CB_ORDER_FLOAT) return key & SIGN ? key ^ SIGN : (K)~key;
    return key;
}

/* Computes keys of n elements `stride` bytes apart. */
static inline __attribute__((always_inline)) void FN(keys_of_kind)(const char *from, int64_t stride,
                                                                   int64_t n, cb_order_kind kind,
                                                                   K infinity, bool descending,
                                                                   K *keys, cb_order_seen *seen)
{
    for (int64_t i = 0; i < n; i++)
        keys[i] = FN(one_key)(*(const K *)(from + i * stride), kind, infinity, descending, seen);
}

static void FN(make_keys)(const char *from, int64_t stride, int64_t n, const cb_order *o, void *to,
                          cb_order_seen *seen)
{
    K *keys = to, infinity = (K)o->infinity;
    bool down = o->descending;
    switch (o->kind) {
    case CB_ORDER_PLAIN:
        FN(keys_of_kind)(from, stride, n, CB_ORDER_PLAIN, infinity, down, keys, seen);
        break;
    case CB_ORDER_SIGNED:
        FN(keys_of_kind)(from, stride, n, CB_ORDER_SIGNED, infinity, down, keys, seen);
        break;
    case CB_ORDER_FLOAT:
        FN(keys_of_kind)(from, stride, n, CB_ORDER_FLOAT, infinity, down, keys, seen);
        break;
    case CB_ORDER_TIME:
        FN(keys_of_kind)(from, stride, n, CB_ORDER_TIME, infinity, down, keys, seen);
        break;
    }
}

static uint64_t FN(value_of)(uint64_t key, const cb_order *o)
{
    return FN(one_value)((K)key, o->kind, o->descending);
}

/* Computes keys of adjacent lines: each row of elements is read while it is in the cache. Rows are prefetched explicitly,
 * because processors do not predict long strides. */
static inline __attribute__((always_inline)) void FN(lines_of_kind)(const cb_order_lines *l,
                                                                    cb_order_kind kind,
                                                                    const cb_order *o,
                                                                    cb_order_seen *seen)
{
    const cb_order_lines x = *l;
    const K infinity = (K)o->infinity;
    const bool descending = o->descending;
    for (int64_t i = 0; i < x.n; i++) {
        const K *row = (const K *)(x.from + i * x.stride);
        const char *ahead = x.from + cb_min_i64(i + ROWS_AHEAD, x.n - 1) * x.stride;
        __builtin_prefetch(ahead);
        __builtin_prefetch(ahead + x.lines * (int64_t)sizeof(K) - 1);
        for (int k = 0; k < x.lines; k++)
            ((K *)(x.to + (size_t)k * x.to_stride))[i] =
                FN(one_key)(row[k], kind, infinity, descending, seen);
    }
}

static void FN(make_lines)(const cb_order_lines *l, const cb_order *o, cb_order_seen *seen)
{
    switch (o->kind) {
    case CB_ORDER_PLAIN: FN(lines_of_kind)(l, CB_ORDER_PLAIN, o, seen); break;
    case CB_ORDER_SIGNED: FN(lines_of_kind)(l, CB_ORDER_SIGNED, o, seen); break;
    case CB_ORDER_FLOAT: FN(lines_of_kind)(l, CB_ORDER_FLOAT, o, seen); break;
    case CB_ORDER_TIME: FN(lines_of_kind)(l, CB_ORDER_TIME, o, seen); break;
    }
}

static void FN(put_lines)(const char *from, size_t from_stride, int64_t n, int lines, char *to,
                          int64_t stride)
{
    for (int64_t i = 0; i < n; i++) {
        K *row = (K *)(to + i * stride);
        for (int k = 0; k < lines; k++) row[k] = ((const K *)(from + (size_t)k * from_stride))[i];
    }
}

/* Returns the index of the first of n sorted keys that is not less than `key`. */
static int64_t FN(lower_bound)(const K *keys, int64_t n, K key)
{
    int64_t lo = 0;
    while (n > 0) {
        int64_t half = n / 2;
        if (keys[lo + half] < key) {
            lo += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return lo;
}

/* Converts sorted keys to elements in place. Zeros of either sign and NaN, which keys do not distinguish, are taken from
 * the original elements in order. */
static void FN(make_values)(void *data, int64_t n, const cb_order *o, cb_order_seen seen,
                            const char *from, int64_t stride)
{
    K *keys = data, infinity = (K)o->infinity;
    cb_order_seen unused = {false, false};
    K zero = FN(one_key)(0, o->kind, infinity, o->descending, &unused);
    K nan = o->descending ? 0 : (K) ~(K)0;
    int64_t at_zero = seen.minus_zero ? FN(lower_bound)(keys, n, zero) : 0;
    int64_t at_nan = seen.nan ? FN(lower_bound)(keys, n, nan) : 0;
    for (int64_t i = 0; i < n; i++) keys[i] = FN(one_value)(keys[i], o->kind, o->descending);
    if (!seen.minus_zero && !seen.nan) return;
    for (int64_t i = 0; i < n; i++) {
        K bits = *(const K *)(from + i * stride), magnitude = (K)(bits & (K)~SIGN);
        if (seen.minus_zero && magnitude == 0) keys[at_zero++] = bits;
        if (magnitude > infinity) keys[at_nan++] = bits;
    }
}

static void FN(insertion)(K *keys, uint32_t *pos, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        K key = keys[i];
        uint32_t p = pos ? pos[i] : 0;
        int64_t k = i;
        for (; k > 0 && keys[k - 1] > key; k--) {
            keys[k] = keys[k - 1];
            if (pos) pos[k] = pos[k - 1];
        }
        keys[k] = key;
        if (pos) pos[k] = p;
    }
}

/* Sorts keys by radix sort, by bytes from the lowest. `temp` and `temp_pos` are as large as keys and pos. */
static void FN(count_bytes)(K *data, uint32_t *pos, int64_t n, K *temp, uint32_t *temp_pos)
{
    enum { BYTES = BITS / 8 };
    K *keys = data, *to = temp;
    uint32_t count[BYTES][256];
    memset(count, 0, sizeof count);
    for (int64_t i = 0; i < n; i++) {
        for (int b = 0; b < BYTES; b++) count[b][keys[i] >> (8 * b) & 255]++;
    }
    for (int b = 0; b < BYTES; b++) {
        uint32_t *c = count[b], sum = 0;
        /* This byte is the same in all keys. */
        if (c[keys[0] >> (8 * b) & 255] == (uint32_t)n) continue;
        for (int v = 0; v < 256; v++) {
            uint32_t here = c[v];
            c[v] = sum;
            sum += here;
        }
        if (pos) {
            for (int64_t i = 0; i < n; i++) {
                uint32_t at = c[keys[i] >> (8 * b) & 255]++;
                to[at] = keys[i];
                temp_pos[at] = pos[i];
            }
            uint32_t *swapped = pos;
            pos = temp_pos;
            temp_pos = swapped;
        } else {
            for (int64_t i = 0; i < n; i++) to[c[keys[i] >> (8 * b) & 255]++] = keys[i];
        }
        K *swapped = keys;
        keys = to;
        to = swapped;
    }
    if (keys == data) return;
    memcpy(data, keys, (size_t)n * sizeof(K));
    if (pos) memcpy(temp_pos, pos, (size_t)n * sizeof *pos);
}

/* Finds the smallest and largest key. Returns whether keys are in order. */
static bool FN(find_range)(const K *keys, int64_t n, K *least, K *greatest)
{
    K lo = keys[0], hi = keys[0], unordered = 0;
    for (int64_t i = 1; i < n; i++) {
        lo = keys[i] < lo ? keys[i] : lo;
        hi = keys[i] > hi ? keys[i] : hi;
        unordered |= (K)(keys[i] < keys[i - 1]);
    }
    *least = lo;
    *greatest = hi;
    return !unordered;
}

/* Distributes keys into buckets between the smallest and the largest key. Then sorts each bucket while it is in the cache: by
 * insertion if it has few keys, otherwise recursively. */
static void FN(into_buckets)(K *keys, uint32_t *pos, int64_t n, K *temp, uint32_t *temp_pos,
                             int depth)
{
    uint32_t count[((size_t)1 << MOST_BUCKET_BITS) + 1];
    K least, greatest;
    if (n <= FEW_IN_BUCKET) {
        FN(insertion)(keys, pos, n);
        return;
    }
    if (FN(find_range)(keys, n, &least, &greatest)) return;
    if (depth == MOST_DEPTH) {
        FN(count_bytes)(keys, pos, n, temp, temp_pos);
        return;
    }
    const int bits = 64 - __builtin_clzll((uint64_t)(K)(greatest - least));
    const int wanted = 62 - __builtin_clzll((uint64_t)n); /* about two or more keys per bucket */
    const int digit = wanted < MOST_BUCKET_BITS ? wanted : MOST_BUCKET_BITS;
    const int shift = bits > digit ? bits - digit : 0;
    const size_t nbuckets = (size_t)((K)(greatest - least) >> shift) + 1;
    memset(count, 0, (nbuckets + 1) * sizeof *count);
    for (int64_t i = 0; i < n; i++) count[((K)(keys[i] - least) >> shift) + 1]++;
    for (size_t b = 1; b < nbuckets; b++) count[b] += count[b - 1];
    /* count[b] is the start of bucket b and, after its keys were moved, its end. */
    for (int64_t i = 0; i < n; i++) {
        uint32_t at = count[(K)(keys[i] - least) >> shift]++;
        temp[at] = keys[i];
        if (pos) temp_pos[at] = pos[i];
    }
    memcpy(keys, temp, (size_t)n * sizeof(K));
    if (pos) memcpy(pos, temp_pos, (size_t)n * sizeof *pos);
    if (shift == 0) return;
    for (size_t b = 0; b < nbuckets; b++) {
        uint32_t from = b ? count[b - 1] : 0, here = count[b] - from;
        if (here > 1) FN(into_buckets)
        (keys + from, pos ? pos + from : NULL, here, temp + from, pos ? temp_pos + from : NULL,
         depth + 1);
    }
}

static void FN(sort_keys)(void *data, uint32_t *pos, int64_t n, void *temp, uint32_t *temp_pos)
{
    if (n <= FEW)
        FN(insertion)(data, pos, n);
    else if (BITS < 32 || n > MOST_IN_BUCKETS)
        FN(count_bytes)(data, pos, n, temp, temp_pos);
    else
        FN(into_buckets)(data, pos, n, temp, temp_pos, 0);
}

#undef FN
#undef SIGN
#undef K
#undef BITS
