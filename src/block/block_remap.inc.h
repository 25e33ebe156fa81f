/* Products of a sparse matrix with planes of T, for "remap". */
#define NAME2(name, tag) name##_##tag
#define NAME1(name, tag) NAME2(name, tag)
#define NAME(name)       NAME1(name, TAG)

/* Rows of PLANES planes at once, so that a weight is read once for all of them. Planes of x are `cells` elements apart, those
 * of the result `rows`. */
static void NAME(sums)(const matrix *m, const T *x, T *y, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        double sum[PLANES] = {0};
        for (int64_t k = m->starts[r]; k < m->starts[r + 1]; k++) {
            const double w = m->value[k];
            const T *at = x + m->column[k];
            for (int p = 0; p < PLANES; p++) sum[p] += w * (double)at[p * m->cells];
        }
        const bool empty = m->starts[r] == m->starts[r + 1];
        for (int p = 0; p < PLANES; p++) y[p * m->rows + r] = empty ? (T)NAN : (T)sum[p];
    }
}

static void NAME(sums_of_one)(const matrix *m, const T *x, T *y, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        double sum = 0;
        for (int64_t k = m->starts[r]; k < m->starts[r + 1]; k++)
            sum += m->value[k] * (double)x[m->column[k]];
        y[r] = m->starts[r] == m->starts[r + 1] ? (T)NAN : (T)sum;
    }
}

/* The same for elements of which some are NaN. Without any in a row the result has the same bits as above. */
static void NAME(sums_of_present)(const matrix *m, const T *x, T *y, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        double sum = 0, present = 0, all = 0;
        bool missing = false, negative = false;
        for (int64_t k = m->starts[r]; k < m->starts[r + 1]; k++) {
            const double w = m->value[k], v = (double)x[m->column[k]];
            const bool is_nan = isnan(v);
            all += w;
            negative = negative || w < 0;
            missing = missing || is_nan;
            present += is_nan ? 0 : w;
            sum += is_nan ? 0 : w * v;
        }
        /* The rest of a gradient is none. */
        if (missing)
            sum =
                !negative && is_enough(all, present, m->na_threshold) ? sum * (all / present) : NAN;
        y[r] = m->starts[r] == m->starts[r + 1] ? (T)NAN : (T)sum;
    }
}

static bool NAME(any_nan)(const T *x, int64_t n)
{
    bool found = false;
    for (int64_t i = 0; i < n; i++) found |= x[i] != x[i];
    return found;
}

static void NAME(apply)(const cubed_block_call *call, const matrix *m, int64_t planes)
{
    const T *x = call->in[0].data;
    T *y = call->out[0].data;
    for (int64_t p = 0; p < planes;) {
        const int64_t n = planes - p >= PLANES ? PLANES : 1;
        const T *from = x + p * m->cells;
        T *to = y + p * m->rows;
        const bool masked = m->skipna && NAME(any_nan)(from, n * m->cells);
        for (int64_t r = 0; r < m->rows && !cubed_block_cancelled(call); r += ROWS) {
            const int64_t end = m->rows - r < ROWS ? m->rows : r + ROWS;
            if (masked) {
                for (int64_t i = 0; i < n; i++)
                    NAME(sums_of_present)(m, from + i * m->cells, to + i * m->rows, r, end);
            } else if (n == PLANES) {
                NAME(sums)(m, from, to, r, end);
            } else {
                NAME(sums_of_one)(m, from, to, r, end);
            }
        }
        p += n;
    }
}

#undef NAME2
#undef NAME1
#undef NAME
#undef T
#undef TAG
