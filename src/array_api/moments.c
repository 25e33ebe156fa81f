/* Central moments, and statistics that use them. */
#include <math.h>

#include "array_api/api_pkg.h"
#include "array_api/sample.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "cubed/stats.h"
#include "dtype/scalar.h"

bool cb_sample_take(cb_sample *m, cb_steps *s, const char *name, cubed_array *x,
                    const cubed_reduce_options *options)
{
    const cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    char text[CUBED_DTYPE_TEXT_CAP];
    uint32_t axes = UINT32_MAX;
    *m = (cb_sample){.s = s, .o = CUBED_REDUCE_OPTIONS_INIT, .n = 1};
    if (s->st != CUBED_OK) return false;
    s->st = CB_OPTIONS_TAKE(name, options, &m->o, s->err);
    if (s->st != CUBED_OK) return false;
    if (kind > CUBED_KIND_FLOAT)
        s->st = cb_fail(s->err, CUBED_E_TYPE, "%s: the type of x is %s, expected real numbers",
                        name, cubed_dtype_text(x->node.dtype, text));
    else if (m->o.axes)
        s->st = cb_api_axes(name, x->node.grid->ndim, m->o.axes, m->o.naxes, &axes, s->err);
    if (s->st != CUBED_OK) return false;
    for (int d = 0; d < x->node.grid->ndim; d++) {
        if (axes >> d & 1) m->n *= (double)x->shape[d];
    }
    m->keepdims = m->o.keepdims;
    m->o.keepdims = true;
    m->x = kind < CUBED_KIND_FLOAT ? cb_step_cast(s, x, CUBED_FLOAT64) : x;
    m->mean = cb_sample_mean(m, m->x);
    return m->mean;
}

cubed_array *cb_sample_mean(const cb_sample *m, cubed_array *x)
{
    return x ? cb_step_reduce(m->s, CUBED_REDUCE_MEAN, x, &m->o) : NULL;
}

cubed_array *cb_sample_sum(const cb_sample *m, cubed_array *x)
{
    return x ? cb_step_reduce(m->s, CUBED_REDUCE_SUM, x, &m->o) : NULL;
}

cubed_array *cb_sample_end(const cb_sample *m, cubed_array *x)
{
    cubed_array *y = NULL;
    if (!x || m->keepdims) return x;
    return cb_step(m->s, cubed_squeeze(x, m->o.axes, m->o.naxes, &y, m->s->err), &y);
}

/* --- Moments ------------------------------------------------------------------------------------------------ */

/* Computes the moment of order `order` about `centre`, or about the mean if `centre` is NULL. */
static cubed_array *moment(const cb_sample *m, double order, cubed_array *centre)
{
    cubed_array *away = cb_step_binary(m->s, CUBED_OP_SUBTRACT, m->x, centre ? centre : m->mean);
    return cb_sample_mean(m, cb_step_by(m->s, CUBED_OP_POW, away, order));
}

static cubed_array *variance(cb_sample *m)
{
    if (!m->variance) m->variance = moment(m, 2, NULL);
    return m->variance;
}

cubed_status cubed_moment(cubed_array *x, double order, const double *center,
                          const cubed_reduce_options *options, cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = NULL;
    cb_sample m;
    if (!cb_sample_take(&m, &s, "moment", x, options)) return cb_steps_end(&s, NULL, out);
    /* the moments of order 0 and 1 are exactly 1 and 0, except NaN where the mean is NaN */
    if (order == 0 || (order == 1 && !center))
        y = cb_step_op(&s, CUBED_OP_WHERE, cb_step_binary(&s, CUBED_OP_EQUAL, m.mean, m.mean),
                       cb_step_number(&s, m.mean, order == 0), m.mean);
    else
        y = moment(&m, order, center ? cb_step_number(&s, m.x, *center) : NULL);
    return cb_steps_end(&s, cb_sample_end(&m, y), out);
}

/* Replaces y by NaN where the variance is so small that it may consist of rounding errors. */
static cubed_array *unless_flat(cb_sample *m, cubed_array *y)
{
    cubed_array *least =
        cb_step_by(m->s, CUBED_OP_MULTIPLY, m->mean, cb_dtype_epsilon(m->x->node.dtype));
    least = least ? cb_step_op(m->s, CUBED_OP_SQUARE, least, NULL, NULL) : NULL;
    cubed_array *flat = cb_step_binary(m->s, CUBED_OP_LESS_EQUAL, variance(m), least);
    return cb_step_op(m->s, CUBED_OP_WHERE, flat, cb_step_number(m->s, y, (double)NAN), y);
}

static cubed_array *skewness(cb_sample *m, bool bias)
{
    cubed_array *y = cb_step_binary(m->s, CUBED_OP_DIVIDE, moment(m, 3, NULL),
                                    cb_step_by(m->s, CUBED_OP_POW, variance(m), 1.5));
    if (!bias && m->n > 2)
        y = cb_step_by(m->s, CUBED_OP_MULTIPLY, y, sqrt((m->n - 1) * m->n) / (m->n - 2));
    return unless_flat(m, y);
}

/* Computes the kurtosis, which is 3 for a normal distribution. */
static cubed_array *kurtosis(cb_sample *m, unsigned flags)
{
    const double n = m->n;
    cubed_array *square = variance(m);
    square = square ? cb_step_op(m->s, CUBED_OP_SQUARE, square, NULL, NULL) : NULL;
    cubed_array *y = cb_step_binary(m->s, CUBED_OP_DIVIDE, moment(m, 4, NULL), square);
    if (!(flags & CUBED_KURTOSIS_BIAS) && n > 3) {
        y = cb_step_by(m->s, CUBED_OP_MULTIPLY, y, n * n - 1);
        y = cb_step_by(m->s, CUBED_OP_SUBTRACT, y, 3 * ((n - 1) * (n - 1)));
        y = cb_step_by(m->s, CUBED_OP_DIVIDE, y, (n - 2) * (n - 3));
        y = cb_step_by(m->s, CUBED_OP_ADD, y, 3);
    }
    if (flags & CUBED_KURTOSIS_FISHER) y = cb_step_by(m->s, CUBED_OP_SUBTRACT, y, 3);
    return unless_flat(m, y);
}

cubed_status cubed_skew(cubed_array *x, bool bias, const cubed_reduce_options *options,
                        cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = NULL;
    cb_sample m;
    if (cb_sample_take(&m, &s, "skew", x, options)) y = cb_sample_end(&m, skewness(&m, bias));
    return cb_steps_end(&s, y, out);
}

cubed_status cubed_kurtosis(cubed_array *x, unsigned flags, const cubed_reduce_options *options,
                            cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = NULL;
    cb_sample m;
    CB_TRY(cb_check_flags("kurtosis", flags, CUBED_KURTOSIS_FISHER | CUBED_KURTOSIS_BIAS, err));
    if (cb_sample_take(&m, &s, "kurtosis", x, options)) y = cb_sample_end(&m, kurtosis(&m, flags));
    return cb_steps_end(&s, y, out);
}

/* --- Tests of normality --------------------------------------------------------------------------------------- */

static bool has_elements(const cb_sample *m, const char *name, int least)
{
    if (m->n >= least) return true;
    m->s->st = cb_fail(m->s->err, CUBED_E_ARG, "%s: there are %.0f elements, expected at least %d",
                       name, m->n, least);
    return false;
}

/* Applies D'Agostino's transformation to the skewness. */
static cubed_array *skew_statistic(cb_sample *m)
{
    cb_steps *s = m->s;
    const double n = m->n;
    if (!has_elements(m, "skewtest", 8)) return NULL;
    const double beta =
        3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9));
    const double w2 = -1 + sqrt(2 * (beta - 1));
    cubed_array *y = cb_step_by(s, CUBED_OP_MULTIPLY, skewness(m, true),
                                sqrt((n + 1) * (n + 3) / (6 * (n - 2))));
    /* replace 0 by 1, like SciPy */
    y = cb_step_op(s, CUBED_OP_WHERE, cb_step_by(s, CUBED_OP_EQUAL, y, 0), cb_step_number(s, y, 1),
                   y);
    y = cb_step_by(s, CUBED_OP_DIVIDE, y, sqrt(2 / (w2 - 1)));
    cubed_array *root = y ? cb_step_op(s, CUBED_OP_SQUARE, y, NULL, NULL) : NULL;
    root = cb_step_by(s, CUBED_OP_ADD, root, 1);
    root = root ? cb_step_op(s, CUBED_OP_SQRT, root, NULL, NULL) : NULL;
    y = cb_step_binary(s, CUBED_OP_ADD, y, root);
    y = y ? cb_step_op(s, CUBED_OP_LOG, y, NULL, NULL) : NULL;
    return cb_step_by(s, CUBED_OP_MULTIPLY, y, 1 / sqrt(0.5 * log(w2)));
}

/* Applies Anscombe's and Glynn's transformation to the kurtosis, in float64. */
static cubed_array *kurtosis_statistic(cb_sample *m)
{
    cb_steps *s = m->s;
    const double n = m->n;
    if (!has_elements(m, "kurtosistest", 5)) return NULL;
    const double spread = 24 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1) * (n + 3) * (n + 5));
    const double root = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) *
                        sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)));
    const double a = 6 + 8 / root * (2 / root + sqrt(1 + 4 / (root * root)));
    cubed_array *z =
        cb_step_by(s, CUBED_OP_SUBTRACT, kurtosis(m, CUBED_KURTOSIS_BIAS), 3 * (n - 1) / (n + 1));
    z = cb_step_by(s, CUBED_OP_DIVIDE, z, sqrt(spread));
    cubed_array *below = cb_step_by(s, CUBED_OP_MULTIPLY, z, sqrt(2 / (a - 4)));
    below = cb_step_by(s, CUBED_OP_ADD, below, 1);
    cubed_array *sign = cb_step_op(s, CUBED_OP_WHERE, cb_step_by(s, CUBED_OP_LESS, below, 0),
                                   cb_step_float(s, -1), cb_step_float(s, 1));
    cubed_array *size =
        cb_step_binary(s, CUBED_OP_DIVIDE, cb_step_number(s, below, 1 - 2 / a), below);
    size = size ? cb_step_op(s, CUBED_OP_ABS, size, NULL, NULL) : NULL;
    size = cb_step_by(s, CUBED_OP_POW, size, 1 / 3.0);
    cubed_array *second = cb_step_binary(s, CUBED_OP_MULTIPLY, sign, size);
    second = cb_step_op(s, CUBED_OP_WHERE, cb_step_by(s, CUBED_OP_EQUAL, below, 0),
                        cb_step_number(s, second, (double)NAN), second);
    z = cb_step_binary(s, CUBED_OP_SUBTRACT, cb_step_number(s, second, 1 - 2 / (9 * a)), second);
    return cb_step_by(s, CUBED_OP_DIVIDE, z, sqrt(2 / (9 * a)));
}

cubed_status cubed_skewtest(cubed_array *x, const cubed_reduce_options *options, cubed_array **out,
                            cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = NULL;
    cb_sample m;
    if (cb_sample_take(&m, &s, "skewtest", x, options)) y = cb_sample_end(&m, skew_statistic(&m));
    return cb_steps_end(&s, y, out);
}

cubed_status cubed_kurtosistest(cubed_array *x, const cubed_reduce_options *options,
                                cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = NULL;
    cb_sample m;
    if (cb_sample_take(&m, &s, "kurtosistest", x, options))
        y = cb_sample_end(&m, kurtosis_statistic(&m));
    return cb_steps_end(&s, y, out);
}

cubed_status cubed_normaltest(cubed_array *x, const cubed_reduce_options *options,
                              cubed_array **out, cubed_error *err)
{
    cb_steps s = {.ctx = x->ctx, .err = err};
    cubed_array *y = NULL, *both[2] = {NULL, NULL};
    cb_sample m;
    if (cb_sample_take(&m, &s, "normaltest", x, options)) both[0] = skew_statistic(&m);
    if (both[0]) both[1] = kurtosis_statistic(&m);
    for (int i = 0; i < 2; i++)
        both[i] = both[i] ? cb_step_op(&s, CUBED_OP_SQUARE, both[i], NULL, NULL) : NULL;
    y = cb_step_binary(&s, CUBED_OP_ADD, both[0], both[1]);
    return cb_steps_end(&s, y ? cb_sample_end(&m, y) : NULL, out);
}
