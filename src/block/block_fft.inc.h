/* Copies adjacent lines of a block, with elements of type T, to lines of double precision, and back. Included once per type.
 *
 * In the block, element i of line k is element i * stride + k; an element has l->parts numbers. In double precision, a line is
 * contiguous, and the lines start l->pitch doubles apart. */
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
