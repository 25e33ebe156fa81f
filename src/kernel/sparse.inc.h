/* Products of a sparse matrix with interleaved vectors of T. Each vector is summed separately, so that processor vectors of any
 * width give the same bits. */
#define NAME(name) CB_PASTE(name, TAG)

typedef T NAME(part)
    __attribute__((vector_size(NV_LANES * sizeof(T)), aligned(sizeof(T)), may_alias));

static inline vec NAME(load)(const T *x)
{
    return __builtin_convertvector(*(const NAME(part) *)x, vec);
}

static void NAME(interleave)(void *to, const void *x, int64_t step, int64_t cells, int n)
{
    T *restrict y = to;
    const T *restrict own = x;
    if (n == CB_SPARSE_LANES) {
        for (int64_t i = 0; i < cells; i++) {
            for (int p = 0; p < CB_SPARSE_LANES; p++)
                y[CB_SPARSE_LANES * i + p] = own[p * step + i];
        }
        return;
    }
    for (int p = 0; p < CB_SPARSE_LANES; p++) {
        for (int64_t i = 0; i < cells; i++)
            y[CB_SPARSE_LANES * i + p] = p < n ? own[p * step + i] : 0;
    }
}

/* Computes the sums of row r without NaN. */
static void NAME(sums_of_present)(const cb_sparse_rows *s, int64_t r, double out[CB_SPARSE_LANES])
{
    lanes sum = {{{0}}}, present = {{{0}}};
    lane_bits nan = {{{0}}};
    double all = 0;
    bool negative = false;
    for (int64_t k = s->starts[r]; k < s->starts[r + 1]; k++) {
        const T *at = (const T *)s->x + CB_SPARSE_LANES * (s->column[k] - s->base);
        const double w = s->value[k];
        const vec weight = (vec){0} + w;
        all += w;
        negative = negative || w < 0;
        for (int v = 0; v < NV; v++) {
            const vec e = NAME(load)(at + v * NV_LANES);
            /* NOLINTNEXTLINE(misc-redundant-expression): NaN differs from itself */
            const vec_bits is_nan = (vec_bits)(e != e);
            nan.v[v] |= is_nan;
            sum.v[v] += (vec)((vec_bits)(weight * e) & ~is_nan);
            present.v[v] += (vec)((vec_bits)weight & ~is_nan);
        }
    }
    const double *sums = (const double *)&sum, *part = (const double *)&present;
    const int64_t *missing = (const int64_t *)&nan;
    for (int p = 0; p < CB_SPARSE_LANES; p++) {
        if (!missing[p])
            out[p] = sums[p];
        else if (!negative && cb_sparse_is_enough(all, part[p], s->na_threshold))
            out[p] = sums[p] * (all / part[p]);
        else
            out[p] = NAN;
    }
}

static void NAME(sums)(const cb_sparse_rows *s)
{
    const T *x = s->x;
    T *y = s->y;
    for (int64_t r = s->from; r < s->to; r++) {
        const int64_t first = s->starts[r], end = s->starts[r + 1];
        lanes sum = {{{0}}};
        double all[CB_SPARSE_LANES];
        bool is_nan = first == end;
        for (int64_t k = first; k < end; k++) {
            const T *at = x + CB_SPARSE_LANES * (s->column[k] - s->base);
            const vec weight = (vec){0} + s->value[k];
            for (int v = 0; v < NV; v++) sum.v[v] += weight * NAME(load)(at + v * NV_LANES);
        }
        memcpy(all, &sum, sizeof all);
        for (int p = 0; p < s->n; p++) is_nan = is_nan || all[p] != all[p];
        if (is_nan && s->skipna) NAME(sums_of_present)(s, r, all);
        for (int p = 0; p < s->n; p++) y[p * s->y_step + r] = first == end ? (T)NAN : (T)all[p];
    }
}

#undef NAME
#undef T
#undef TAG
