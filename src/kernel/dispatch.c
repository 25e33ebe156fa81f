/* Selects the instruction set: detected, or named by the caller. */
#include <string.h>

#include "kernel/kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef void (*fill_fn)(cb_kernels *k);

struct level {
    const char *name;
    fill_fn fill[19];
};

#define FILLS(isa)                                                                                 \
    void cb_fill_elem_##isa(cb_kernels *k), cb_fill_math_##isa(cb_kernels *k),                     \
        cb_fill_complex_##isa(cb_kernels *k), cb_fill_cast_##isa(cb_kernels *k),                   \
        cb_fill_half_##isa(cb_kernels *k), cb_fill_scan_##isa(cb_kernels *k),                      \
        cb_fill_reduce_##isa(cb_kernels *k), cb_fill_super_##isa(cb_kernels *k),                   \
        cb_fill_move_##isa(cb_kernels *k), cb_fill_functions_##isa(cb_kernels *k),                 \
        cb_fill_random_##isa(cb_kernels *k), cb_fill_reduce_position_##isa(cb_kernels *k),         \
        cb_fill_gemm_##isa(cb_kernels *k), cb_fill_group_##isa(cb_kernels *k),                     \
        cb_fill_sort_##isa(cb_kernels *k), cb_fill_matvec_##isa(cb_kernels *k),                    \
        cb_fill_stream_##isa(cb_kernels *k), cb_fill_rolling_##isa(cb_kernels *k),                 \
        cb_fill_sparse_##isa(cb_kernels *k)
#define LIST(isa)                                                                                  \
    {                                                                                              \
        cb_fill_elem_##isa, cb_fill_math_##isa, cb_fill_complex_##isa, cb_fill_cast_##isa,         \
            cb_fill_half_##isa, cb_fill_scan_##isa, cb_fill_reduce_##isa, cb_fill_super_##isa,     \
            cb_fill_move_##isa, cb_fill_functions_##isa, cb_fill_random_##isa,                     \
            cb_fill_reduce_position_##isa, cb_fill_gemm_##isa, cb_fill_group_##isa,                \
            cb_fill_sort_##isa, cb_fill_matvec_##isa, cb_fill_stream_##isa, cb_fill_rolling_##isa, \
            cb_fill_sparse_##isa                                                                   \
    }

#if defined(__x86_64__)
FILLS(v2);
FILLS(v3);
FILLS(v4);
static const struct level levels[] = {
    {"x86-64-v4", LIST(v4)},
    {"x86-64-v3", LIST(v3)},
    {"x86-64-v2", LIST(v2)},
};

static bool machine_has(int level)
{
    __builtin_cpu_init();
    bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    return level == 0 ? v4 : level == 1 ? v3 : v2;
}

void cb_stream_fence(void) { _mm_sfence(); }
#else
#if defined(__aarch64__)
FILLS(neon);
static const struct level levels[] = {{"neon", LIST(neon)}};
#else
FILLS(base);
static const struct level levels[] = {{"base", LIST(base)}};
#endif

static bool machine_has(int level) { return level == 0; }

void cb_stream_fence(void) {}
#endif

enum { NLEVELS = (int)(sizeof levels / sizeof *levels) };

bool cb_kernels_init(const char *isa, cb_kernels *out)
{
    for (int i = 0; i < NLEVELS; i++) {
        if (!machine_has(i) || (isa && strcmp(isa, levels[i].name) != 0)) continue;
        memset(out, 0, sizeof *out);
        out->isa = levels[i].name;
        for (size_t f = 0; f < sizeof levels[i].fill / sizeof(fill_fn); f++) levels[i].fill[f](out);
        return true;
    }
    return false;
}

void cb_kernels_available(const char *names[5])
{
    int n = 0;
    for (int i = 0; i < NLEVELS; i++) {
        if (machine_has(i)) names[n++] = levels[i].name;
    }
    names[n] = NULL;
}
