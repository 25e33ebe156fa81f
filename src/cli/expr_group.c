/* Reductions by group, and of windows. Labels that are not codes are read when the expression is built: which groups there
 * are decides the shape of the result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "expr_builder.h"

/* Labels are held in memory twice. */
#define MAX_LABELS ((int64_t)1 << 24)

/* Values of labels and the groups among them, in order. Of floats and of everything else. */
typedef struct labels {
    int64_t n, ngroups;
    bool floats;
    union label {
        int64_t i;
        double f;
    } * value, *group;
} labels;

static int by_integer(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int by_float(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void free_labels(labels *l)
{
    cli_free(l->value);
    cli_free(l->group);
}

static bool is_missing(const labels *l, int64_t k, bool time)
{
    return l->floats ? isnan(l->value[k].f) : time && l->value[k].i == INT64_MIN;
}

static void find_groups(labels *l, bool time)
{
    int64_t there = 0, n = 0;
    l->group = cli_alloc((size_t)(l->n + 1) * sizeof *l->group);
    for (int64_t k = 0; k < l->n; k++) {
        if (!is_missing(l, k, time)) l->group[there++] = l->value[k];
    }
    qsort(l->group, (size_t)there, sizeof *l->group, l->floats ? by_float : by_integer);
    for (int64_t k = 0; k < there; k++) {
        bool same = n > 0 && (l->floats ? l->group[k].f == l->group[n - 1].f
                                        : l->group[k].i == l->group[n - 1].i);
        if (!same) l->group[n++] = l->group[k];
    }
    l->ngroups = n;
}

cubed_status expr_compute(expr_builder *b, cubed_array *x, void *to)
{
    cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    cubed_run_options run = CUBED_RUN_OPTIONS_INIT;
    cubed_target target = {.array = x, .data = to};
    cubed_plan *plan;
    options.max_workers = 1;
    run.executor = "single-threaded";
    EXPR_TRY(cubed_plan_new(b->ctx, &target, 1, &options, &plan, b->err));
    cubed_status st = cubed_run(plan, &run, NULL, b->err);
    cubed_plan_unref(plan);
    return st;
}

static cubed_status read_labels(expr_builder *b, const expr *e, cubed_array *by, labels *l)
{
    cubed_array *x;
    cubed_dtype dtype = cubed_array_dtype(by);
    cubed_kind kind = cubed_dtype_kind(dtype);
    *l = (labels){.n = 1, .floats = kind == CUBED_KIND_FLOAT};
    if (kind == CUBED_KIND_COMPLEX || kind == CUBED_KIND_TEXT || dtype == CUBED_UINT64)
        return expr_reject(b, e, "labels are of numbers, times, or codes with ngroups=");
    for (int d = 0; d < cubed_array_ndim(by); d++) {
        int64_t extent = cubed_array_shape(by)[d];
        if (extent > MAX_LABELS || l->n * extent > MAX_LABELS)
            return expr_reject(b, e,
                               "more than 16777216 labels: make codes of them, and give ngroups=");
        l->n *= extent;
    }
    EXPR_TRY(
        expr_located(b, e, cubed_astype(by, l->floats ? CUBED_FLOAT64 : CUBED_INT64, &x, b->err)));
    l->value = cli_alloc((size_t)(l->n + 1) * sizeof *l->value);
    cubed_status st = expr_located(b, e, expr_compute(b, x, l->value));
    cubed_array_unref(x);
    if (st == CUBED_OK)
        find_groups(l, kind == CUBED_KIND_TIME);
    else
        free_labels(l);
    return st;
}

static void release(void *owner) { cli_free(owner); }

cubed_status expr_own_array(expr_builder *b, const expr *e, cubed_dtype dtype, int ndim,
                            const int64_t *shape, void *data, cubed_array **out)
{
    cubed_status st = expr_located(
        b, e, cubed_array_from_memory(b->ctx, dtype, ndim, shape, NULL, NULL, data, out, b->err));
    if (st == CUBED_OK)
        cubed_array_set_owner(*out, release, data);
    else
        cli_free(data);
    return st;
}

/* The number of each label's group; -1 where it is missing. */
static cubed_status codes_of(expr_builder *b, const expr *e, const cubed_array *by, labels *l,
                             cubed_array **out)
{
    bool time = cubed_dtype_kind(cubed_array_dtype(by)) == CUBED_KIND_TIME;
    int64_t *codes = cli_alloc((size_t)(l->n + 1) * sizeof *codes);
    for (int64_t k = 0; k < l->n; k++) {
        const union label *at = NULL;
        if (!is_missing(l, k, time))
            at = bsearch(&l->value[k], l->group, (size_t)l->ngroups, sizeof *l->group,
                         l->floats ? by_float : by_integer);
        codes[k] = at ? at - l->group : -1;
    }
    return expr_own_array(b, e, CUBED_INT64, cubed_array_ndim(by), cubed_array_shape(by), codes,
                          out);
}

static cubed_status call_group_labels(expr_builder *b, const expr *e, cubed_array **out)
{
    int n;
    labels l;
    cubed_array *by, *x;
    EXPR_TRY(expr_check_args(b, e, 1, 1, NULL, &n));
    EXPR_TRY(expr_get_array(b, e->child[0], &by));
    cubed_status st = read_labels(b, e->child[0], by, &l);
    if (st == CUBED_OK) {
        cli_free(l.value);
        st = expr_own_array(b, e, l.floats ? CUBED_FLOAT64 : CUBED_INT64, 1, &l.ngroups, l.group,
                            &x);
    }
    if (st == CUBED_OK) {
        st = expr_located(b, e, cubed_astype(x, cubed_array_dtype(by), out, b->err));
        cubed_array_unref(x);
    }
    cubed_array_unref(by);
    return st;
}

static int axis_named(const cubed_array *x, const char *name)
{
    for (int d = 0; name && d < cubed_array_ndim(x); d++) {
        const char *other = cubed_array_dim_name(x, d);
        if (other && strcmp(other, name) == 0) return d;
    }
    return -1;
}

/* By axis= or dim=, else those that have the names of the labels' dimensions, else the first ones. */
static cubed_status grouped_axes(expr_builder *b, const expr *e, const cubed_array *x,
                                 const cubed_array *by, int *n, int axes[CUBED_MAX_NDIM])
{
    EXPR_TRY(expr_get_axes(b, e, NULL, x, n, axes));
    if (*n >= 0) return CUBED_OK;
    *n = cubed_array_ndim(by);
    for (int d = 0; d < *n; d++) {
        axes[d] = axis_named(x, cubed_array_dim_name(by, d));
        if (axes[d] < 0) break;
        if (d == *n - 1) return CUBED_OK;
    }
    for (int d = 0; d < *n; d++) axes[d] = d;
    return CUBED_OK;
}

static cubed_status get_options(expr_builder *b, const expr *e, const char *name,
                                cubed_group_reduction *reduction, cubed_group_options *o)
{
    const expr *ddof = expr_keyword(e, "ddof"), *least = expr_keyword(e, "min_count");
    expr_value v;
    *o = (cubed_group_options)CUBED_GROUP_OPTIONS_INIT;
    if (!cubed_group_reduction_parse(name, reduction, &o->skip_nan))
        return expr_reject(b, e->child[2],
                           "expected count, sum, prod, mean, var, std, min, max, any, all, first, "
                           "last, argmin or argmax, or nan in front of it");
    EXPR_TRY(expr_get_bool(b, e, "skipna", &o->skip_nan));
    o->task_mem = b->host->task_mem;
    if (least) EXPR_TRY(expr_get_int(b, least, &o->min_count));
    if (ddof) {
        EXPR_TRY(expr_get_number(b, ddof, &v));
        o->correction = v.re;
    }
    return CUBED_OK;
}

/* The codes that are given, or those of labels. */
static cubed_status get_codes(expr_builder *b, const expr *e, cubed_array *by, cubed_array **codes,
                              int64_t *ngroups)
{
    const expr *given = expr_keyword(e, "ngroups");
    labels l;
    if (given) {
        EXPR_TRY(expr_get_int(b, given, ngroups));
        *codes = cubed_array_ref(by);
        return CUBED_OK;
    }
    EXPR_TRY(read_labels(b, e->child[1], by, &l));
    *ngroups = l.ngroups;
    cubed_status st = codes_of(b, e, by, &l, codes);
    free_labels(&l);
    return st;
}

static cubed_status call_groupby(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"axis", "dim",       "ngroups", "skipna",
                                        "ddof", "min_count", NULL};
    int n, naxes, axes[CUBED_MAX_NDIM];
    int64_t ngroups = 0;
    cubed_group_reduction reduction;
    cubed_group_options options;
    cubed_array *x = NULL, *by = NULL, *codes = NULL;
    EXPR_TRY(expr_check_args(b, e, 3, 3, names, &n));
    if (e->child[2]->kind != EXPR_STRING)
        return expr_reject(b, e->child[2], "expected the name of a reduction in quotes");
    EXPR_TRY(get_options(b, e, e->child[2]->text, &reduction, &options));
    cubed_status st = expr_get_array(b, e->child[0], &x);
    if (st == CUBED_OK) st = expr_get_array(b, e->child[1], &by);
    if (st == CUBED_OK) st = grouped_axes(b, e, x, by, &naxes, axes);
    if (st == CUBED_OK) st = get_codes(b, e, by, &codes, &ngroups);
    if (st == CUBED_OK)
        st = expr_located(
            b, e,
            cubed_groupby_reduce(x, codes, axes, naxes, ngroups, reduction, &options, out, b->err));
    cubed_array_unref(x);
    cubed_array_unref(by);
    cubed_array_unref(codes);
    return st;
}

/* Windows as Xarray has them: up to the element, or around it. */
static cubed_status get_windows(expr_builder *b, const expr *e, const cubed_array *x, int *n,
                                cubed_window windows[CUBED_MAX_NDIM])
{
    int naxes, axes[CUBED_MAX_NDIM];
    int64_t length[CUBED_MAX_NDIM];
    bool center = false;
    EXPR_TRY(expr_get_ints(b, e->child[1], n, length));
    EXPR_TRY(expr_get_axes(b, e, NULL, x, &naxes, axes));
    EXPR_TRY(expr_get_bool(b, e, "center", &center));
    if (naxes < 0) {
        naxes = *n == 1 ? 1 : 0;
        axes[0] = 0;
    }
    if (naxes != *n) return expr_reject(b, e, "expected an axis for each length: axis= or dim=");
    for (int i = 0; i < *n; i++) {
        if (length[i] < 1) return expr_reject(b, e->child[1], "expected lengths of at least 1");
        const int64_t before = center ? length[i] / 2 : length[i] - 1;
        windows[i] = (cubed_window){axes[i], before, length[i] - 1 - before};
    }
    return CUBED_OK;
}

static cubed_status roll_windows(expr_builder *b, const expr *e, cubed_array *x, cubed_array **out)
{
    const expr *least = expr_keyword(e, "min_periods"), *ddof = expr_keyword(e, "ddof");
    cubed_rolling_options o = CUBED_ROLLING_OPTIONS_INIT;
    cubed_window windows[CUBED_MAX_NDIM];
    cubed_group_reduction reduction;
    bool skip_nan;
    int n;
    expr_value v;
    if (!cubed_group_reduction_parse(e->child[2]->text, &reduction, &skip_nan))
        return expr_reject(b, e->child[2], "expected count, sum, prod, mean, var, std, min or max");
    EXPR_TRY(get_windows(b, e, x, &n, windows));
    for (int i = 0; i < n; i++) {
        if (__builtin_mul_overflow(o.min_count, windows[i].before + 1 + windows[i].after,
                                   &o.min_count))
            return expr_reject(b, e->child[1], "windows of more than 2**63 elements");
    }
    if (least) EXPR_TRY(expr_get_int(b, least, &o.min_count));
    if (ddof) {
        EXPR_TRY(expr_get_number(b, ddof, &v));
        o.correction = v.re;
    }
    return expr_located(b, e, cubed_rolling_reduce(x, windows, n, reduction, &o, out, b->err));
}

static cubed_status call_rolling(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"axis", "dim", "center", "min_periods", "ddof", NULL};
    int n;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 3, 3, names, &n));
    if (e->child[2]->kind != EXPR_STRING)
        return expr_reject(b, e->child[2], "expected the name of a reduction in quotes");
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = roll_windows(b, e, x, out);
    cubed_array_unref(x);
    return st;
}

const expr_function expr_group_functions[] = {{.name = "groupby", .fn = call_groupby},
                                              {.name = "rolling", .fn = call_rolling},
                                              {.name = "group_labels", .fn = call_group_labels},
                                              {.name = NULL}};
