/* Products of a sparse matrix with planes of T, for "remap". */
#define NAME2(name, tag) name##_##tag
#define NAME1(name, tag) NAME2(name, tag)
#define NAME(name)       NAME1(name, TAG)

/* Returns the sum of row r without NaN. If the row has no NaN, the result has the same bits as the sum of all products. */
static double NAME(sum_of_present)(const matrix *m, const T *x, int64_t r)
{
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
    if (!missing) return sum;
    /* If the row has a negative weight, it contains a gradient, and the sum of a part of a gradient has no meaning. */
    return !negative && cb_sparse_is_enough(all, present, m->na_threshold) ? sum * (all / present)
                                                                           : NAN;
}

/* Computes the sums of the rows for one plane. */
static void NAME(sums_of_one)(const matrix *m, const T *x, T *y, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        double sum = 0;
        for (int64_t k = m->starts[r]; k < m->starts[r + 1]; k++)
            sum += m->value[k] * (double)x[m->column[k]];
        if (m->skipna && isnan(sum)) sum = NAME(sum_of_present)(m, x, r);
        y[r] = m->starts[r] == m->starts[r + 1] ? (T)NAN : (T)sum;
    }
}

/* Multiplies all planes. Planes of x are `cells` elements apart, and planes of the result are `rows` elements apart. */
static void NAME(apply)(const cubed_block_call *call, const matrix *m, int64_t planes,
                        const cb_sparse_fns *fns)
{
    for (int64_t p = 0; p < planes; p += CB_SPARSE_LANES) {
        const int n = (int)cb_min_i64(CB_SPARSE_LANES, planes - p);
        const T *x = (const T *)call->in[0].data + p * m->cells;
        T *y = (T *)call->out[0].data + p * m->rows;
        for (int64_t r = 0; r < m->rows && !cubed_block_cancelled(call);) {
            const strip s = strip_from(m, r, n);
            if (s.is_near) {
                const cb_sparse_rows of = {.from = r,
                                           .to = s.end,
                                           .starts = m->starts,
                                           .column = m->column,
                                           .value = m->value,
                                           .x = m->window,
                                           .base = s.base,
                                           .y = y,
                                           .y_step = m->rows,
                                           .n = n,
                                           .skipna = m->skipna,
                                           .na_threshold = m->na_threshold};
                fns->interleave(m->window, x + s.base, m->cells, s.cells, n);
                fns->sums(&of);
            } else {
                for (int64_t i = 0; i < n; i++)
                    NAME(sums_of_one)(m, x + i * m->cells, y + i * m->rows, r, s.end);
            }
            r = s.end;
        }
    }
}

#undef NAME2
#undef NAME1
#undef NAME
#undef T
#undef TAG
