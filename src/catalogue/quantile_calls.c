/* Calls of quantiles that functions of arrays and of fields share. */
#include "base/alloc.h"
#include "base/error.h"
#include "call.h"
#include "context/context.h"
#include "cubed/array_api.h"

enum { X, Q, METHOD = 3 };

/* Computes weighted quantiles. For a single q, the result does not have the first axis. */
static cubed_status weighted(const cb_call *c, cubed_array *weights, const double *q, int n,
                             const cubed_quantile_options *o)
{
    const int front = 0;
    cubed_array *all;
    if (o->method != CUBED_QUANTILE_INVERTED_CDF)
        return cb_call_blame(
            c, METHOD,
            cb_fail(c->err, CUBED_E_ARG,
                    "%s: method is '%s', expected 'inverted_cdf', the only one with weights",
                    c->function->name, cb_call_choice_name(c, METHOD)));
    CB_TRY(cubed_weighted_quantiles(cb_call_array(c, X), weights, q, n, o, &all, c->err));
    if (c->values[Q].kind == CUBED_VALUE_FLOATS) {
        *c->out = all;
        return CUBED_OK;
    }
    const cubed_status st = cubed_squeeze(all, &front, 1, c->out, c->err);
    cubed_array_unref(all);
    return st;
}

cubed_status cb_call_quantiles(const cb_call *c, cubed_array *weights, double whole,
                               const cubed_quantile_options *o)
{
    const cubed_value *given = &c->values[Q];
    const bool is_list = given->kind == CUBED_VALUE_FLOATS;
    const int n = is_list ? given->n : 1;
    const double one = is_list ? 0 : cb_call_real(c, Q);
    cubed_array *x = cb_call_array(c, X);
    const size_t bytes = (size_t)n * sizeof(double);
    double *q = cb_alloc(&c->ctx->alloc, bytes);
    if (!q) return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: %d quantiles", n);
    for (int i = 0; i < n; i++) q[i] = (is_list ? given->as.reals[i] : one) / whole;
    const cubed_status st = weights   ? weighted(c, weights, q, n, o)
                            : is_list ? cubed_quantiles(x, q, n, o, c->out, c->err)
                                      : cubed_quantile(x, q[0], o, c->out, c->err);
    cb_free(&c->ctx->alloc, q, bytes);
    return st;
}
