/* Numbers of one width T into lines of double precision and back; included once for each width. A line
 * starts every `pitch` doubles. Lines lie side by side in memory: `count` of them, element i of the first
 * one at `stride` * i, each element of `parts` numbers. */
#define NAME(what) CB_FFT_PASTE(what, T)

static void NAME(load_)(const void *memory, int64_t stride, const lines *l, int64_t n)
{
    const T *from = memory;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < l->count; k++) {
            for (int p = 0; p < l->parts; p++)
                l->line[k * l->pitch + i * l->parts + p] = (double)from[k * l->parts + p];
        }
        from += stride * l->parts;
    }
}

static void NAME(store_)(void *memory, int64_t stride, const lines *l, int64_t n)
{
    T *to = memory;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < l->count; k++) {
            for (int p = 0; p < l->parts; p++)
                to[k * l->parts + p] = (T)l->line[k * l->pitch + i * l->parts + p];
        }
        to += stride * l->parts;
    }
}

#undef NAME
#undef T
