/* Reductions by group of one type and variant. Parameters: T (element type), S (type of sums), TAG, SKIP, COUNTS (0 or 1),
 * SUMS (whether the type has sums) and IS_MISSING(x); TAG, SKIP and COUNTS are undefined at the end. */
#define FN(name) CB_PASTE(name, TAG)

/* Reduces the value x at position `position` into state i. It is inlined with a constant kind. */
static inline __attribute__((always_inline)) void FN(step)(cb_group_kind kind, void *restrict a,
                                                           void *restrict b, void *restrict c,
                                                           int64_t i, T x, int64_t position)
{
    T *value = a;
    S *sum = a;
    double *m2 = a, *mean = b, *count = kind == CB_GROUP_COUNT ? a : kind == CB_GROUP_M2 ? c : b;
    int64_t *at = b;
    const bool missing = IS_MISSING(x), skip = SKIP && missing;
    switch (kind) {
    case CB_GROUP_COUNT: count[i] += missing ? 0.0 : 1.0; break;
    case CB_GROUP_SUM: sum[i] += skip ? (S)0 : (S)x; break;
    case CB_GROUP_PROD: sum[i] *= skip ? (S)1 : (S)x; break;
    case CB_GROUP_MIN:
    case CB_GROUP_MAX: {
        const bool none = IS_MISSING(value[i]);
        const bool better = kind == CB_GROUP_MIN ? x < value[i] : x > value[i];
        const bool take = SKIP ? !missing && (none || better) : missing || (!none && better);
        value[i] = take ? x : value[i];
        break;
    }
    case CB_GROUP_M2: {
        const double w = skip ? 0.0 : 1.0, n = count[i] + w;
        const double d = skip ? 0.0 : (double)x - mean[i], part = d / (n > 0 ? n : 1.0);
        count[i] = n;
        mean[i] += part;
        m2[i] += d * (d - part);
        break;
    }
    case CB_GROUP_ARGMIN:
    case CB_GROUP_ARGMAX: {
        const bool none = IS_MISSING(value[i]), before = position < at[i];
        const bool better = kind == CB_GROUP_ARGMIN ? x < value[i] : x > value[i];
        const bool wins =
            missing ? !none || before : !none && (better || (x == value[i] && before));
        if (!skip && (at[i] < 0 || wins)) {
            value[i] = x;
            at[i] = position;
        }
        break;
    }
    default:
        if (!skip && (at[i] < 0 || (position < at[i]) == (kind == CB_GROUP_FIRST))) {
            value[i] = x;
            at[i] = position;
        }
    }
    if (COUNTS && kind != CB_GROUP_COUNT && kind != CB_GROUP_M2) count[i] += missing ? 0.0 : 1.0;
}

static inline __attribute__((always_inline)) void
FN(loop)(cb_group_kind kind, const cb_group_box *box, const void *x_, void *const *planes)
{
    const T *x = x_;
    for (int64_t o = 0; o < box->outer; o++, x += box->n * box->inner) {
        for (int64_t lo = 0; lo < box->inner; lo += box->width) {
            int64_t rest = box->inner - lo, w = rest < box->width ? rest : box->width;
            for (int64_t k = 0; k < box->n; k++) {
                if (box->codes[k] < 0) continue;
                const T *restrict row = x + k * box->inner + lo;
                int64_t to = (o * box->ngroups + box->codes[k]) * box->inner + lo;
                int64_t position = kind >= CB_GROUP_ARGMIN ? box->positions[k] : 0;
                CB_IVDEP
                for (int64_t i = 0; i < w; i++)
                    FN(step)(kind, planes[0], planes[1], planes[2], to + i, row[i], position);
            }
        }
    }
}

static void FN(count)(const cb_group_box *box, const void *x, void *const *planes)
{
    FN(loop)(CB_GROUP_COUNT, box, x, planes);
}
#if SUMS
static void FN(sum)(const cb_group_box *box, const void *x, void *const *planes)
{
    FN(loop)(CB_GROUP_SUM, box, x, planes);
}
static void FN(prod)(const cb_group_box *box, const void *x, void *const *planes)
{
    FN(loop)(CB_GROUP_PROD, box, x, planes);
}
static void FN(m2)(const cb_group_box *box, const void *x, void *const *planes)
{
    FN(loop)(CB_GROUP_M2, box, x, planes);
}
#endif
static void FN(min)(const cb_group_box *box, const void *x, void *const *planes)
{
    FN(loop)(CB_GROUP_MIN, box, x, planes);
}
static void FN(max)(const cb_group_box *box, const void *x, void *const *planes)
{
    FN(loop)(CB_GROUP_MAX, box, x, planes);
}
#if !COUNTS
static void FN(argmin)(const cb_group_box *box, const void *x, void *const *planes)
{
    FN(loop)(CB_GROUP_ARGMIN, box, x, planes);
}
static void FN(argmax)(const cb_group_box *box, const void *x, void *const *planes)
{
    FN(loop)(CB_GROUP_ARGMAX, box, x, planes);
}
static void FN(first)(const cb_group_box *box, const void *x, void *const *planes)
{
    FN(loop)(CB_GROUP_FIRST, box, x, planes);
}
static void FN(last)(const cb_group_box *box, const void *x, void *const *planes)
{
    FN(loop)(CB_GROUP_LAST, box, x, planes);
}
#endif

static void FN(fill)(cb_group_table *t, cb_group_variant v, cb_group_type type)
{
    t->fn[CB_GROUP_COUNT][v][type] = FN(count);
#if SUMS
    t->fn[CB_GROUP_SUM][v][type] = FN(sum);
    t->fn[CB_GROUP_PROD][v][type] = FN(prod);
    t->fn[CB_GROUP_M2][v][type] = FN(m2);
#endif
    t->fn[CB_GROUP_MIN][v][type] = FN(min);
    t->fn[CB_GROUP_MAX][v][type] = FN(max);
#if !COUNTS
    t->fn[CB_GROUP_ARGMIN][v][type] = FN(argmin);
    t->fn[CB_GROUP_ARGMAX][v][type] = FN(argmax);
    t->fn[CB_GROUP_FIRST][v][type] = FN(first);
    t->fn[CB_GROUP_LAST][v][type] = FN(last);
#endif
}
#undef FN
#undef TAG
#undef SKIP
#undef COUNTS
