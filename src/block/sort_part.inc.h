/* Picking keys of one width. Takes K, an unsigned type, and BITS, its bits; undefines both. */
#define FN(name) CB_PART_PASTE(name, BITS)

/* Places of the keys that are in the part; equal ones are counted in the bounds. */
static int64_t FN(pick)(const void *data, int64_t n, bound *from, bound *to, uint32_t *places)
{
    const K *keys = data;
    int64_t picked = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t key = keys[i];
        bool behind = key > from->key, before = key < to->key;
        if (key == from->key) behind = from->seen++ >= from->rank;
        if (key == to->key) before = to->seen++ < to->rank;
        places[picked] = (uint32_t)i;
        picked += behind && before;
    }
    return picked;
}

#undef FN
#undef K
#undef BITS
