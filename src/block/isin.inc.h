/* Hash tables of keys of one type. Parameters: K, TAG, SAME(a, b), IS_ZERO(a) and HASH(a); all are undefined at the end. */
#define FN(name) CB_ISIN_PASTE(name, TAG)

/* Returns the entry of a key, or the free entry for it. Entries of zeros are free; a separate flag represents the key zero.
 * There is always a free entry. */
static inline size_t FN(find)(const K *table, size_t cap, K key)
{
    size_t at = (size_t)(((unsigned __int128)HASH(key) * cap) >> 64);
    while (!IS_ZERO(table[at]) && !SAME(table[at], key)) at = at + 1 == cap ? 0 : at + 1;
    return at;
}

static void FN(insert)(void *table, size_t cap, const void *keys, const bool *valid, int n,
                       bool *zero)
{
    K *t = table;
    const K *k = keys;
    for (int i = 0; i < n; i++) {
        if (!valid[i]) continue;
        if (IS_ZERO(k[i]))
            *zero = true;
        else
            t[FN(find)(t, cap, k[i])] = k[i];
    }
}

static void FN(look_up)(const void *table, size_t cap, const void *keys, const bool *valid, int n,
                        bool zero, bool *found)
{
    const K *t = table, *k = keys;
    for (int i = 0; i < n; i++) {
        if (!valid[i] || found[i]) continue;
        found[i] = IS_ZERO(k[i]) ? zero : !IS_ZERO(t[FN(find)(t, cap, k[i])]);
    }
}
#undef FN
#undef K
#undef TAG
#undef SAME
#undef IS_ZERO
#undef HASH
