#include "linalg/linalg_shared.h"

#include "base/error.h"

int64_t cb_linalg_count(const cubed_block *x, int core)
{
    int64_t n = 1;
    for (int d = 0; d < x->ndim - core; d++) n *= x->shape[d];
    return n;
}

static bool is_single(cubed_dtype dtype)
{
    return dtype == CUBED_FLOAT32 || dtype == CUBED_COMPLEX64;
}

void cb_linalg_load(const cubed_block *x, int64_t i, int64_t n, void *to)
{
    if (cb_is_complex(x->dtype)) n *= 2;
    double *out = to;
    if (is_single(x->dtype)) {
        const float *from = (const float *)x->data + i * n;
        for (int64_t k = 0; k < n; k++) out[k] = (double)from[k];
    } else {
        const double *from = (const double *)x->data + i * n;
        for (int64_t k = 0; k < n; k++) out[k] = from[k];
    }
}

void cb_linalg_store(const cubed_block *x, int64_t i, int64_t n, const void *from)
{
    if (cb_is_complex(x->dtype)) n *= 2;
    const double *in = from;
    if (is_single(x->dtype)) {
        float *to = (float *)x->data + i * n;
        for (int64_t k = 0; k < n; k++) to[k] = (float)in[k];
    } else {
        double *to = (double *)x->data + i * n;
        for (int64_t k = 0; k < n; k++) to[k] = in[k];
    }
}

/* --- Checks ---------------------------------------------------------------------------------------- */

static cubed_dtype counterpart(cubed_dtype dtype, bool complex)
{
    bool single = is_single(dtype);
    if (complex) return single ? CUBED_COMPLEX64 : CUBED_COMPLEX128;
    return single ? CUBED_FLOAT32 : CUBED_FLOAT64;
}

static cubed_status check_types(const cubed_block_call *call, cb_linalg_types types,
                                cubed_error *err)
{
    cubed_dtype type = call->in[0].dtype;
    if (type != CUBED_FLOAT32 && type != CUBED_FLOAT64 && !cb_is_complex(type))
        return cb_fail(err, CUBED_E_TYPE, "the function is not defined for %s",
                       cubed_dtype_name(type));
    for (int i = 0; i < call->nin + call->nout; i++) {
        const cubed_block *x = i < call->nin ? &call->in[i] : &call->out[i - call->nin];
        cubed_dtype want = type;
        if ((types.real | types.complex) >> i & 1) want = counterpart(type, types.complex >> i & 1);
        if (x->dtype != want)
            return cb_fail(err, CUBED_E_FORMAT, "the operands have different types");
    }
    return CUBED_OK;
}

cubed_status cb_linalg_check(const cubed_block_call *call, int nin, int nout, size_t params_size,
                             const int *core, cb_linalg_types types, cubed_error *err)
{
    if (call->params_size != params_size || call->nin != nin || call->nout != nout)
        return cb_fail(err, CUBED_E_FORMAT,
                       "the number of operands or size of parameters does not match the function");
    CB_TRY(check_types(call, types, err));
    int batch = call->out[0].ndim - core[nin];
    for (int i = 0; i < nin + nout; i++) {
        const cubed_block *x = i < nin ? &call->in[i] : &call->out[i - nin];
        if (batch < 0 || x->ndim != batch + core[i])
            return cb_fail(err, CUBED_E_FORMAT,
                           "the dimensions of operands do not match the function");
        for (int d = 0; d < batch; d++) {
            if (x->shape[d] != call->out[0].shape[d] && !(i < nin && x->shape[d] == 1))
                return cb_fail(err, CUBED_E_FORMAT,
                               "the operands have different numbers of matrices");
        }
    }
    return CUBED_OK;
}

cubed_status cb_linalg_shape(const cubed_block *x, int64_t rows, int64_t columns, cubed_error *err)
{
    if (cb_rows(x) == rows && cb_columns(x) == columns) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "a matrix of %lld x %lld, expected %lld x %lld",
                   (long long)cb_rows(x), (long long)cb_columns(x), (long long)rows,
                   (long long)columns);
}

cubed_status cb_linalg_length(const cubed_block *x, int64_t n, cubed_error *err)
{
    if (cb_columns(x) == n) return CUBED_OK;
    return cb_fail(err, CUBED_E_FORMAT, "a vector of %lld elements, expected %lld",
                   (long long)cb_columns(x), (long long)n);
}

cubed_status cb_linalg_no_convergence(cubed_error *err)
{
    return cb_fail(err, CUBED_E_LINALG,
                   "the algorithm does not converge: a matrix has elements that are not finite");
}
