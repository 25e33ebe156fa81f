/* Computes the size of the scratch memory of matrix products. */
#include "base/checked.h"
#include "kernel/kernel.h"

size_t cb_gemm_scratch(cubed_dtype dtype, int64_t m, int64_t n, int64_t k)
{
    bool is_complex = cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX;
    size_t size = cubed_dtype_size(dtype) / (is_complex ? 2 : 1);
    size_t columns = cb_sat_mul((size_t)n, is_complex ? 2 : 1);
    size_t depth = cb_min_size(cb_sat_mul((size_t)k, is_complex ? 2 : 1), CB_GEMM_KC);
    size_t rows = cb_min_size(cb_sat_add((size_t)m, CB_GEMM_MAX_MR - 1), CB_GEMM_MC);
    size_t a = (rows * depth + 63) * size;
    size_t b =
        cb_min_size(cb_sat_add(cb_sat_mul(columns, size), CB_GEMM_MAX_NR_BYTES), CB_GEMM_NC_BYTES) *
        depth;
    return a + b;
}
