/* Reductions by group of every instruction set, compared with a scalar reference: all kinds, variants and types. */
#include "kernel_test.h"

#include "kernel/group.h"

enum { OUTER = 2, N = 37, INNER = 5, GROUPS = 4, CELLS = OUTER * GROUPS * INNER };

/* Elements as double, of which the types represent all, and whether they are missing. */
static double numbers[OUTER * N * INNER];
static bool missing[OUTER * N * INNER];
static int64_t codes[N], positions[N];

static size_t bytes_of(cb_group_type t) { return t == CB_GROUP_FLOAT32 ? 4 : 8; }

static bool has_missing(cb_group_type t) { return t >= CB_GROUP_TIME; }

static bool is_defined(cb_group_kind k, cb_group_variant v, cb_group_type t)
{
    if (v != CB_GROUP_ALL && !has_missing(t)) return false;
    if (t == CB_GROUP_TIME && (k == CB_GROUP_SUM || k == CB_GROUP_PROD || k == CB_GROUP_M2))
        return false;
    return v != CB_GROUP_SKIP_COUNT || k < CB_GROUP_ARGMIN;
}

static void put(cb_group_type t, void *to, double v, bool is_missing)
{
    const double d = is_missing ? (double)NAN : v;
    const float f = (float)d;
    const int64_t i = is_missing ? INT64_MIN : (int64_t)v;
    if (t == CB_GROUP_FLOAT64)
        memcpy(to, &d, sizeof d);
    else if (t == CB_GROUP_FLOAT32)
        memcpy(to, &f, sizeof f);
    else
        memcpy(to, &i, sizeof i);
}

/* Returns a value as double, NaN if it is missing. */
static double get(cb_group_type t, const void *from)
{
    double d;
    float f;
    int64_t i;
    if (t == CB_GROUP_FLOAT64) return memcpy(&d, from, sizeof d), d;
    if (t == CB_GROUP_FLOAT32) return memcpy(&f, from, sizeof f), (double)f;
    memcpy(&i, from, sizeof i);
    return t == CB_GROUP_TIME && i == INT64_MIN ? (double)NAN : (double)i;
}

static bool is_same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* The state of one group at one outer and inner position. */
typedef struct state {
    double value, mean, count; /* value: NaN if there is none, or a missing one */
    int64_t at;
    bool begun;
} state;

static bool is_better(cb_group_kind k, double x, double than)
{
    return k == CB_GROUP_MIN || k == CB_GROUP_ARGMIN ? x < than : x > than;
}

static void reduce(cb_group_kind k, bool skip, state *s, double x, int64_t position)
{
    if (k == CB_GROUP_M2 ? !(skip && isnan(x)) : !isnan(x)) s->count++;
    if (skip && isnan(x)) return;
    if (k == CB_GROUP_SUM) s->value += x;
    if (k == CB_GROUP_PROD) s->value *= x;
    if (k == CB_GROUP_M2) {
        const double d = x - s->mean, part = d / s->count;
        s->mean += part;
        s->value += d * (d - part);
    }
    if (k < CB_GROUP_MIN || k == CB_GROUP_M2) return;
    bool take = !s->begun;
    if (k == CB_GROUP_MIN || k == CB_GROUP_MAX)
        take = take || isnan(x) || (!isnan(s->value) && is_better(k, x, s->value));
    else if (k == CB_GROUP_FIRST || k == CB_GROUP_LAST)
        take = take || (position < s->at) == (k == CB_GROUP_FIRST);
    else if (isnan(x) || isnan(s->value))
        take = take || (isnan(x) && (!isnan(s->value) || position < s->at));
    else
        take = take || is_better(k, x, s->value) || (x == s->value && position < s->at);
    if (take) {
        s->value = x;
        s->at = position;
    }
    s->begun = true;
}

/* Initial contents of the planes: no element yet. */
static void begin(cb_group_kind k, cb_group_variant v, cb_group_type t, void *const *planes)
{
    const bool positioned = k >= CB_GROUP_ARGMIN, extreme = k == CB_GROUP_MIN || k == CB_GROUP_MAX;
    for (int c = 0; c < CELLS; c++) {
        double none = k == CB_GROUP_PROD;
        if (k == CB_GROUP_MIN) none = 1000;
        if (k == CB_GROUP_MAX) none = t == CB_GROUP_UINT64 ? 0 : -1000;
        const size_t size = k == CB_GROUP_SUM || k == CB_GROUP_PROD ? 8 : bytes_of(t);
        char *first = planes[0];
        if (k == CB_GROUP_COUNT || k == CB_GROUP_M2)
            ((double *)planes[0])[c] = 0;
        else if (size == 8 && bytes_of(t) == 4)
            ((double *)planes[0])[c] = none;
        else
            put(t, first + (size_t)c * size, none, extreme && v != CB_GROUP_ALL);
        if (positioned) ((int64_t *)planes[1])[c] = -1;
        for (int p = 1; p < cb_group_planes(k, v) && !positioned; p++) ((double *)planes[p])[c] = 0;
    }
}

static void check_combination(cb_group_fn fn, cb_group_kind k, cb_group_variant v, cb_group_type t,
                              int64_t width)
{
    static int64_t memory[CB_GROUP_MAX_PLANES][CELLS], data[OUTER * N * INNER];
    void *const planes[CB_GROUP_MAX_PLANES] = {memory[0], memory[1], memory[2]};
    const cb_group_box box = {OUTER, N, INNER, GROUPS, width, codes, positions};
    const bool skip = v != CB_GROUP_ALL, sums = k == CB_GROUP_SUM || k == CB_GROUP_PROD;
    const cb_group_type of = sums && t == CB_GROUP_FLOAT32 ? CB_GROUP_FLOAT64 : t;
    state expected[CELLS];
    for (int i = 0; i < OUTER * N * INNER; i++)
        put(t, (char *)data + (size_t)i * bytes_of(t), numbers[i], has_missing(t) && missing[i]);
    begin(k, v, t, planes);
    for (int c = 0; c < CELLS; c++) expected[c] = (state){.value = k == CB_GROUP_PROD, .at = -1};
    for (int i = 0; i < OUTER * N * INNER; i++) {
        const int n = i / INNER % N,
                  cell = (i / INNER / N * GROUPS + (int)codes[n]) * INNER + i % INNER;
        if (codes[n] < 0) continue;
        reduce(k, skip, &expected[cell], get(t, (char *)data + (size_t)i * bytes_of(t)),
               positions[n]);
    }
    fn(&box, data, planes);
    for (int c = 0; c < CELLS; c++) {
        const state *s = &expected[c];
        const double *count = planes[k == CB_GROUP_M2 ? 2 : k == CB_GROUP_COUNT ? 0 : 1];
        const bool counts = k == CB_GROUP_COUNT || k == CB_GROUP_M2 || v == CB_GROUP_SKIP_COUNT;
        bool ok = !counts || count[c] == s->count;
        if (k == CB_GROUP_M2) {
            const double m2 = ((double *)planes[0])[c], mean = ((double *)planes[1])[c];
            ok = ok && is_same(m2, s->value) && is_same(mean, s->mean);
        } else if (k >= CB_GROUP_ARGMIN) {
            ok = ok && ((int64_t *)planes[1])[c] == s->at;
        }
        if (k != CB_GROUP_COUNT && k != CB_GROUP_M2 && (s->begun || sums))
            ok = ok && is_same(get(of, (char *)planes[0] + (size_t)c * bytes_of(of)), s->value);
        if (!ok)
            fail_msg("kind %d, variant %d, type %d, width %d: cell %d", k, v, t, (int)width, c);
    }
}

static void fill_data(void)
{
    uint64_t random = 7;
    for (int i = 0; i < OUTER * N * INNER; i++) {
        numbers[i] = (double)(1 + next_random(&random) % 5);
        missing[i] = next_random(&random) % 4 == 0;
    }
    for (int i = 0; i < N; i++) {
        codes[i] = (int64_t)(next_random(&random) % (GROUPS + 1)) - 1;
        positions[i] = (int64_t)(i * 23 % N); /* in another order */
    }
}

static void check_all(const cb_kernels *k)
{
    fill_data();
    for (int kind = 0; kind < CB_GROUP_KINDS; kind++) {
        for (int v = 0; v < CB_GROUP_VARIANTS; v++) {
            for (int t = 0; t < CB_GROUP_TYPES; t++) {
                const cb_group_fn fn = k->group.fn[kind][v][t];
                if ((fn != NULL) !=
                    is_defined((cb_group_kind)kind, (cb_group_variant)v, (cb_group_type)t))
                    fail_msg("kind %d, variant %d, type %d: defined %d", kind, v, t, fn != NULL);
                if (!fn) continue;
                check_combination(fn, (cb_group_kind)kind, (cb_group_variant)v, (cb_group_type)t,
                                  2);
                check_combination(fn, (cb_group_kind)kind, (cb_group_variant)v, (cb_group_type)t,
                                  64);
            }
        }
    }
}

static void test_all(void **state_)
{
    (void)state_;
    for_each_isa(check_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
