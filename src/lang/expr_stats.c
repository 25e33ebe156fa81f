/* Statistics of samples: moments, and what tests compute. */
#include <limits.h>

#include "lang/expr_builder.h"
#include "lang/lang_memory.h"

static cubed_status call_moment(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"order", "center", "axis", "dim", "keepdims", NULL};
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    int n, axes[CUBED_MAX_NDIM];
    expr_value order = {.re = 1}, center;
    cubed_array *x;
    EXPR_TRY(expr_check_args(b, e, 1, 3, names, &n));
    const expr *power = n > 1 ? e->child[1] : expr_keyword(e, "order");
    const expr *about = expr_keyword(e, "center");
    if (power) EXPR_TRY(expr_get_number(b, power, &order));
    if (about) EXPR_TRY(expr_get_number(b, about, &center));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_reduced(b, e, n > 2 ? e->child[2] : NULL, x, axes, &o);
    if (st == CUBED_OK)
        st = expr_located(b, e,
                          cubed_moment(x, order.re, about ? &center.re : NULL, &o, out, b->err));
    cubed_array_unref(x);
    return st;
}

enum { KURTOSIS, SKEW, SKEWTEST, KURTOSISTEST, NORMALTEST };

static cubed_status call_shape(expr_builder *b, const expr *e, int which, cubed_array **out)
{
    static const char *const names[] = {"fisher", "bias", "axis", "dim", "keepdims", NULL};
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    int n, axes[CUBED_MAX_NDIM];
    bool bias = true, fisher = true;
    cubed_array *x;
    /* Skewness has no fisher=, tests have no bias= either. */
    EXPR_TRY(expr_check_args(b, e, 1, 2, names + (which < SKEWTEST ? which : 2), &n));
    EXPR_TRY(expr_get_bool(b, e, "bias", &bias));
    EXPR_TRY(expr_get_bool(b, e, "fisher", &fisher));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_reduced(b, e, n > 1 ? e->child[1] : NULL, x, axes, &o);
    if (st == CUBED_OK) {
        switch (which) {
        case KURTOSIS: st = cubed_kurtosis(x, fisher, bias, &o, out, b->err); break;
        case SKEW: st = cubed_skew(x, bias, &o, out, b->err); break;
        case SKEWTEST: st = cubed_skewtest(x, &o, out, b->err); break;
        case KURTOSISTEST: st = cubed_kurtosistest(x, &o, out, b->err); break;
        default: st = cubed_normaltest(x, &o, out, b->err);
        }
        st = expr_located(b, e, st);
    }
    cubed_array_unref(x);
    return st;
}

enum { ONE, RELATED, INDEPENDENT };

static cubed_status call_ttest(expr_builder *b, const expr *e, int which, cubed_array **out)
{
    static const char *const names[] = {"equal_var", "axis", "dim", "keepdims", NULL};
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    int n, axes[CUBED_MAX_NDIM];
    bool equal_var = true;
    cubed_array *x, *y = NULL;
    EXPR_TRY(expr_check_args(b, e, 2, 3, names + (which != INDEPENDENT), &n));
    EXPR_TRY(expr_get_bool(b, e, "equal_var", &equal_var));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_elements(b, e->child[1], x, &y);
    if (st == CUBED_OK) st = expr_get_reduced(b, e, n > 2 ? e->child[2] : NULL, x, axes, &o);
    if (st == CUBED_OK) {
        switch (which) {
        case ONE: st = cubed_ttest_1samp(x, y, &o, out, b->err); break;
        case RELATED: st = cubed_ttest_rel(x, y, &o, out, b->err); break;
        default: st = cubed_ttest_ind(x, y, equal_var, &o, out, NULL, b->err);
        }
        st = expr_located(b, e, st);
    }
    cubed_array_unref(y);
    cubed_array_unref(x);
    return st;
}

/* chisquare has its own power. */
static cubed_status call_divergence(expr_builder *b, const expr *e, int takes_power,
                                    cubed_array **out)
{
    static const char *const names[] = {"lambda_", "axis", "dim", "keepdims", NULL};
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    int n, axes[CUBED_MAX_NDIM];
    expr_value power = {.re = 1};
    cubed_array *x, *expected = NULL;
    EXPR_TRY(expr_check_args(b, e, 1, 2, names + !takes_power, &n));
    const expr *lambda = expr_keyword(e, "lambda_");
    if (lambda) EXPR_TRY(expr_get_number(b, lambda, &power));
    EXPR_TRY(expr_get_array(b, e->child[0], &x));
    cubed_status st = expr_get_reduced(b, e, NULL, x, axes, &o);
    if (st == CUBED_OK && n > 1) st = expr_get_elements(b, e->child[1], x, &expected);
    if (st == CUBED_OK)
        st = expr_located(b, e, cubed_power_divergence(x, expected, power.re, &o, out, b->err));
    cubed_array_unref(expected);
    cubed_array_unref(x);
    return st;
}

static cubed_status call_f_oneway(expr_builder *b, const expr *e, cubed_array **out)
{
    static const char *const names[] = {"axis", "dim", "keepdims", NULL};
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    int n, made = 0, axes[CUBED_MAX_NDIM];
    EXPR_TRY(expr_check_args(b, e, 2, INT_MAX, names, &n));
    cubed_array **samples = lang_alloc((size_t)n * sizeof *samples);
    cubed_status st = CUBED_OK;
    for (; made < n && st == CUBED_OK; made += st == CUBED_OK)
        st = expr_get_array(b, e->child[made], &samples[made]);
    if (st == CUBED_OK) st = expr_get_reduced(b, e, NULL, samples[0], axes, &o);
    if (st == CUBED_OK) st = expr_located(b, e, cubed_f_oneway(samples, n, &o, out, b->err));
    for (int i = 0; i < made; i++) cubed_array_unref(samples[i]);
    lang_free(samples);
    return st;
}

const expr_function expr_stats_functions[] = {
    {.name = "moment", .fn = call_moment},
    {"skew", NULL, call_shape, SKEW},
    {"kurtosis", NULL, call_shape, KURTOSIS},
    {"skewtest", NULL, call_shape, SKEWTEST},
    {"kurtosistest", NULL, call_shape, KURTOSISTEST},
    {"normaltest", NULL, call_shape, NORMALTEST},
    {"ttest_1samp", NULL, call_ttest, ONE},
    {"ttest_rel", NULL, call_ttest, RELATED},
    {"ttest_ind", NULL, call_ttest, INDEPENDENT},
    {"power_divergence", NULL, call_divergence, true},
    {"chisquare", NULL, call_divergence, false},
    {.name = "f_oneway", .fn = call_f_oneway},
    {.name = NULL},
};
