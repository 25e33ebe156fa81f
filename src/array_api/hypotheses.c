/* Test statistics of hypothesis tests about means and counts. */
#include <math.h>

#include "array_api/api_pkg.h"
#include "array_api/sample.h"
#include "base/error.h"
#include "cubed/stats.h"

static cubed_array *variance(const cb_sample *m, double correction)
{
    cubed_reduce_options o = m->o;
    o.correction = correction;
    return cb_step_reduce(m->s, CUBED_REDUCE_VAR, m->x, &o);
}

/* --- Means ---------------------------------------------------------------------------------------------------- */

/* Computes t of one sample. `popmean` broadcasts with the means, which lack the reduced axes. */
static cubed_array *t_of_one(const cb_sample *m, cubed_array *popmean)
{
    cubed_array *spread = cb_step_by(m->s, CUBED_OP_DIVIDE, variance(m, 1), m->n);
    cubed_array *away = cb_sample_end(m, m->mean);
    spread = cb_sample_end(m, cb_step_unary(m->s, CUBED_OP_SQRT, spread));
    if (!popmean) popmean = cb_step_number(m->s, away, 0);
    return cb_step_binary(m->s, CUBED_OP_DIVIDE,
                          cb_step_binary(m->s, CUBED_OP_SUBTRACT, away, popmean), spread);
}

cubed_status cubed_ttest_1samp(cubed_array *x, cubed_array *popmean,
                               const cubed_reduce_options *options, cubed_array **out,
                               cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = NULL;
    cb_sample m;
    if (cb_sample_take(&m, &s, "ttest_1samp", x, options)) y = t_of_one(&m, popmean);
    return cb_steps_end(&s, y, out);
}

cubed_status cubed_ttest_rel(cubed_array *a, cubed_array *b, const cubed_reduce_options *options,
                             cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = a->ctx, .err = err};
    cubed_array *y = NULL;
    cb_sample m[2], both;
    if (!cb_sample_take(&m[0], &s, "ttest_rel", a, options) ||
        !cb_sample_take(&m[1], &s, "ttest_rel", b, options))
        return cb_steps_end(&s, NULL, out);
    if (m[0].n != m[1].n)
        s.st = cb_fail(err, CUBED_E_ARG,
                       "ttest_rel: the samples have %.0f and %.0f elements, expected equal numbers",
                       m[0].n, m[1].n);
    cubed_array *away =
        s.st == CUBED_OK ? cb_step_binary(&s, CUBED_OP_SUBTRACT, m[0].x, m[1].x) : NULL;
    if (away && cb_sample_take(&both, &s, "ttest_rel", away, options)) y = t_of_one(&both, NULL);
    return cb_steps_end(&s, y, out);
}

/* Pools the variances v of two samples, weighted by their degrees of freedom. */
static cubed_array *pooled(cb_steps *s, cubed_array *const v[2], double n, double m,
                           cubed_array **df)
{
    cubed_array *sum =
        cb_step_binary(s, CUBED_OP_ADD, cb_step_by(s, CUBED_OP_MULTIPLY, v[0], n - 1),
                       cb_step_by(s, CUBED_OP_MULTIPLY, v[1], m - 1));
    sum = cb_step_by(s, CUBED_OP_DIVIDE, sum, n + m - 2);
    *df = cb_step_float(s, n + m - 2);
    return cb_step_by(s, CUBED_OP_MULTIPLY, sum, 1 / n + 1 / m);
}

static cubed_array *unpooled(cb_steps *s, cubed_array *const v[2], double n, double m,
                             cubed_array **df)
{
    cubed_array *a = cb_step_by(s, CUBED_OP_DIVIDE, v[0], n),
                *b = cb_step_by(s, CUBED_OP_DIVIDE, v[1], m);
    cubed_array *sum = cb_step_binary(s, CUBED_OP_ADD, a, b);
    cubed_array *of =
        cb_step_binary(s, CUBED_OP_ADD,
                       cb_step_by(s, CUBED_OP_DIVIDE, cb_step_unary(s, CUBED_OP_SQUARE, a), n - 1),
                       cb_step_by(s, CUBED_OP_DIVIDE, cb_step_unary(s, CUBED_OP_SQUARE, b), m - 1));
    cubed_array *free =
        cb_step_binary(s, CUBED_OP_DIVIDE, cb_step_unary(s, CUBED_OP_SQUARE, sum), of);
    /* If both variances are 0, t is NaN, and the degrees of freedom do not matter. */
    *df = cb_step_op(s, CUBED_OP_WHERE, cb_step_binary(s, CUBED_OP_EQUAL, free, free), free,
                     cb_step_number(s, free, 1));
    return sum;
}

cubed_status cubed_ttest_ind(cubed_array *a, cubed_array *b, bool equal_var,
                             const cubed_reduce_options *options, cubed_array **out,
                             cubed_array **df, cubed_error *err)
{
    cb_steps s = {.ctx = a->ctx, .err = err};
    cb_sample m[2];
    if (!cb_sample_take(&m[0], &s, "ttest_ind", a, options) ||
        !cb_sample_take(&m[1], &s, "ttest_ind", b, options))
        return cb_steps_end(&s, NULL, out);
    cubed_array *const v[2] = {variance(&m[0], 1), variance(&m[1], 1)};
    cubed_array *free = NULL;
    cubed_array *spread = (equal_var ? pooled : unpooled)(&s, v, m[0].n, m[1].n, &free);
    cubed_array *away = cb_step_binary(&s, CUBED_OP_SUBTRACT, m[0].mean, m[1].mean);
    cubed_array *y =
        cb_step_binary(&s, CUBED_OP_DIVIDE, away, cb_step_unary(&s, CUBED_OP_SQRT, spread));
    y = cb_sample_end(&m[0], y);
    if (!equal_var) free = cb_sample_end(&m[0], free);
    if (s.st == CUBED_OK && df) *df = cubed_array_ref(free);
    return cb_steps_end(&s, y, out);
}

static cubed_array *f_of(cb_steps *s, cubed_array *const *samples, cb_sample *taken, int n,
                         const cubed_reduce_options *options)
{
    cubed_array *within = NULL, *centre = NULL, *between = NULL;
    double total = 0;
    for (int i = 0; i < n; i++) {
        cb_sample *m = &taken[i];
        if (!cb_sample_take(m, s, "f_oneway", samples[i], options)) return NULL;
        cubed_array *squares = cb_step_by(s, CUBED_OP_MULTIPLY, variance(m, 0), m->n);
        cubed_array *sum = cb_step_by(s, CUBED_OP_MULTIPLY, m->mean, m->n);
        within = i ? cb_step_binary(s, CUBED_OP_ADD, within, squares) : squares;
        centre = i ? cb_step_binary(s, CUBED_OP_ADD, centre, sum) : sum;
        total += m->n;
    }
    centre = cb_step_by(s, CUBED_OP_DIVIDE, centre, total);
    for (int i = 0; i < n; i++) {
        cubed_array *away = cb_step_binary(s, CUBED_OP_SUBTRACT, taken[i].mean, centre);
        away =
            cb_step_by(s, CUBED_OP_MULTIPLY, cb_step_unary(s, CUBED_OP_SQUARE, away), taken[i].n);
        between = i ? cb_step_binary(s, CUBED_OP_ADD, between, away) : away;
    }
    return cb_step_binary(s, CUBED_OP_DIVIDE, cb_step_by(s, CUBED_OP_DIVIDE, between, n - 1),
                          cb_step_by(s, CUBED_OP_DIVIDE, within, total - n));
}

cubed_status cubed_f_oneway(cubed_array *const *samples, int n, const cubed_reduce_options *options,
                            cubed_array **out, cubed_error *err)
{
    cb_zone *zone;
    if (n < 2)
        return cb_fail(err, CUBED_E_ARG, "f_oneway: there are %d samples, expected at least 2", n);
    cb_steps s = {.ctx = samples[0]->ctx, .err = err};
    CB_TRY(cb_zone_new(&s.ctx->alloc, &zone, err));
    cb_sample *taken = cb_zone_alloc(zone, (size_t)n * sizeof *taken);
    if (!taken) s.st = cb_fail(err, CUBED_E_NOMEM, "no memory for %d samples", n);
    cubed_array *y = taken ? f_of(&s, samples, taken, n, options) : NULL;
    const cubed_status st = cb_steps_end(&s, y ? cb_sample_end(taken, y) : NULL, out);
    cb_zone_free(zone);
    return st;
}

/* --- Counts --------------------------------------------------------------------------------------------------- */

/* Returns 2 x log(x / y) in float64. The result is 0 where x is 0, unless y is NaN. */
static cubed_array *likelihoods(cb_steps *s, cubed_array *x, cubed_array *y)
{
    cubed_array *ratio = cb_step_cast(s, cb_step_binary(s, CUBED_OP_DIVIDE, x, y), CUBED_FLOAT64);
    if (!ratio) return NULL;
    cubed_array *is_number = cb_step_binary(s, CUBED_OP_EQUAL, ratio, ratio);
    cubed_array *none =
        cb_step_binary(s, CUBED_OP_LOGICAL_AND, cb_step_by(s, CUBED_OP_EQUAL, x, 0), is_number);
    cubed_array *log = cb_step_binary(s, CUBED_OP_MULTIPLY, cb_step_cast(s, x, CUBED_FLOAT64),
                                      cb_step_unary(s, CUBED_OP_LOG, ratio));
    log = cb_step_op(s, CUBED_OP_WHERE, none, cb_step_float(s, 0), log);
    return cb_step_by(s, CUBED_OP_MULTIPLY, log, 2);
}

cubed_status cubed_power_divergence(cubed_array *observed, cubed_array *expected, double power,
                                    const cubed_reduce_options *options, cubed_array **out,
                                    cubed_error *err)
{
    cb_steps s = {.ctx = observed->ctx, .err = err};
    cubed_array *terms;
    cb_sample m, given;
    if (!cb_sample_take(&m, &s, "power_divergence", observed, options) ||
        (expected && !cb_sample_take(&given, &s, "power_divergence", expected, options)))
        return cb_steps_end(&s, NULL, out);
    cubed_array *x = m.x, *y = expected ? given.x : m.mean;
    if (power == 1) {
        terms = cb_step_unary(&s, CUBED_OP_SQUARE, cb_step_binary(&s, CUBED_OP_SUBTRACT, x, y));
        terms = cb_step_binary(&s, CUBED_OP_DIVIDE, terms, y);
    } else if (power == 0) {
        terms = likelihoods(&s, x, y);
    } else if (power == -1) {
        terms = likelihoods(&s, y, x);
    } else {
        terms = cb_step_by(&s, CUBED_OP_POW, cb_step_binary(&s, CUBED_OP_DIVIDE, x, y), power);
        terms =
            cb_step_binary(&s, CUBED_OP_MULTIPLY, x, cb_step_by(&s, CUBED_OP_SUBTRACT, terms, 1));
        terms = cb_step_by(&s, CUBED_OP_MULTIPLY, terms, 2 / (power * (power + 1)));
    }
    return cb_steps_end(&s, cb_sample_end(&m, cb_sample_sum(&m, terms)), out);
}
