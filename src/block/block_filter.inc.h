/* Filters of elements of one type. Parameters: T, TAG, TO_T(v), which truncates a double to an element, and LESS(a, b); all are
 * undefined at the end. */
#define FN(name) CB_FILTER_PASTE(name, TAG)

/* Applies a linear filter along one axis. Computes n contiguous elements of the result. The n elements of x that have the same
 * weight are also contiguous. The order of additions is that of SciPy. If the weights are symmetric or antisymmetric, the sum
 * begins with the middle element, and adds pairs of elements, the outermost pair first. Otherwise the sum begins with the last
 * element, and adds the other elements in order. */
static void FN(correlate)(void *to, const void *from, const axis_filter *f, int64_t n)
{
    T *y = to;
    const T *x = from;
    double sum[TILE];
    const int64_t inner = f->inner, half = f->n / 2;
    for (int64_t at = 0; at < n; at += TILE) {
        const int64_t many = cb_min_i64(TILE, n - at);
        const T *tile = x + at;
        if (f->symmetry == 0) {
            const T *last = tile + (f->n - 1) * inner;
            for (int64_t i = 0; i < many; i++) sum[i] = (double)last[i] * f->weights[f->n - 1];
            for (int64_t k = 0; k < f->n - 1; k++) {
                const T *row = tile + k * inner;
                for (int64_t i = 0; i < many; i++) sum[i] += (double)row[i] * f->weights[k];
            }
        } else {
            const T *middle = tile + half * inner;
            for (int64_t i = 0; i < many; i++) sum[i] = (double)middle[i] * f->weights[half];
            for (int64_t k = 0; k < half; k++) {
                const T *before = tile + k * inner, *after = tile + (f->n - 1 - k) * inner;
                const double w = f->weights[k], sign = f->symmetry;
                for (int64_t i = 0; i < many; i++)
                    sum[i] += ((double)before[i] + sign * (double)after[i]) * w;
            }
        }
        for (int64_t i = 0; i < many; i++) y[at + i] = TO_T(sum[i]);
    }
}

static void FN(mean)(void *to, const void *from, const axis_filter *f, int64_t n)
{
    T *y = to;
    const T *x = from;
    double sum[TILE];
    for (int64_t at = 0; at < n; at += TILE) {
        const int64_t many = cb_min_i64(TILE, n - at);
        for (int64_t i = 0; i < many; i++) sum[i] = 0;
        for (int64_t k = 0; k < f->n; k++) {
            const T *row = x + at + k * f->inner;
            for (int64_t i = 0; i < many; i++) sum[i] += (double)row[i];
        }
        for (int64_t i = 0; i < many; i++) y[at + i] = TO_T(sum[i] / (double)f->n);
    }
}

static void FN(extreme)(void *to, const void *from, const axis_filter *f, int64_t n, bool largest)
{
    T *y = to;
    const T *x = from;
    memcpy(y, x, (size_t)n * sizeof *y);
    for (int64_t k = 1; k < f->n; k++) {
        const T *row = x + k * f->inner;
        for (int64_t i = 0; i < n; i++) y[i] = LESS(row[i], y[i]) != largest ? row[i] : y[i];
    }
}

static void FN(least)(void *to, const void *from, const axis_filter *f, int64_t n)
{
    FN(extreme)(to, from, f, n, false);
}

static void FN(greatest)(void *to, const void *from, const axis_filter *f, int64_t n)
{
    FN(extreme)(to, from, f, n, true);
}

/* Returns the element of rank `rank` among n elements, which are reordered. */
static T FN(selected)(T *v, int64_t n, int64_t rank)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const T pivot = v[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (LESS(v[i], pivot)) i++;
            while (LESS(pivot, v[j])) j--;
            if (i > j) break;
            const T moved = v[i];
            v[i++] = v[j];
            v[j--] = moved;
        }
        if (rank <= j)
            high = j;
        else if (rank >= i)
            low = i;
        else
            break;
    }
    return v[rank];
}

/* Computes n contiguous elements. Each has rank `rank` among the elements of x at `offsets` from its position. */
static void FN(rank)(void *to, const void *from, const int64_t *offsets, int64_t count,
                     int64_t rank, void *room, int64_t n)
{
    T *y = to, *v = room;
    const T *x = from;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < count; k++) v[k] = x[i + offsets[k]];
        y[i] = FN(selected)(v, count, rank);
    }
}

/* Computes n contiguous weighted sums, in the order of the weights. */
static void FN(weigh)(void *to, const void *from, const box_filter *f, int64_t n)
{
    T *y = to;
    double sum[TILE];
    for (int64_t at = 0; at < n; at += TILE) {
        const int64_t many = cb_min_i64(TILE, n - at);
        for (int64_t i = 0; i < many; i++) sum[i] = 0;
        for (int64_t k = 0; k < f->n; k++) {
            const T *row = (const T *)from + at + f->offsets[k];
            const double w = f->numbers[k];
            for (int64_t i = 0; i < many; i++) sum[i] += w * (double)row[i];
        }
        for (int64_t i = 0; i < many; i++) y[at + i] = TO_T(sum[i]);
    }
}

/* Computes n contiguous minima or maxima of elements. */
static void FN(flat)(void *to, const void *from, const box_filter *f, int64_t n)
{
    T *y = to;
    memcpy(y, (const T *)from + f->offsets[0], (size_t)n * sizeof *y);
    for (int64_t k = 1; k < f->n; k++) {
        const T *row = (const T *)from + f->offsets[k];
        for (int64_t i = 0; i < n; i++) y[i] = LESS(row[i], y[i]) != f->largest ? row[i] : y[i];
    }
}

/* Computes n contiguous minima or maxima of elements plus the numbers that are added to them. */
static void FN(raised)(void *to, const void *from, const box_filter *f, int64_t n)
{
    T *y = to;
    double best[TILE];
    for (int64_t at = 0; at < n; at += TILE) {
        const int64_t many = cb_min_i64(TILE, n - at);
        const T *first = (const T *)from + at + f->offsets[0];
        for (int64_t i = 0; i < many; i++) best[i] = (double)first[i] + f->numbers[0];
        for (int64_t k = 1; k < f->n; k++) {
            const T *row = (const T *)from + at + f->offsets[k];
            for (int64_t i = 0; i < many; i++) {
                const double v = (double)row[i] + f->numbers[k];
                best[i] = ORDERED_FLOATS(v, best[i]) != f->largest ? v : best[i];
            }
        }
        for (int64_t i = 0; i < many; i++) y[at + i] = TO_T(best[i]);
    }
}

static const filter_fns FN(filters) = {FN(correlate), FN(mean),  FN(least), FN(greatest),
                                       FN(rank),      FN(weigh), FN(flat),  FN(raised)};
#undef FN
#undef T
#undef TAG
#undef TO_T
#undef LESS
