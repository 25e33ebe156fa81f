/* Sorts keys if the instruction set can pack the elements selected by a mask. */
#include <string.h>

#include "kernel/kernel_isa.h"

#if CB_ISA_LEVEL >= 4
#include <immintrin.h>

#define ALWAYS __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL   _Pragma("clang loop unroll(full)")
#define UNROLL_4 _Pragma("clang loop unroll_count(4)")
#else
#define UNROLL   _Pragma("GCC unroll 32")
#define UNROLL_4 _Pragma("GCC unroll 4")
#endif
#define V         __m512i
#define REGISTERS 16
/* Minimum number of keys for which a larger sample for the pivot is worthwhile. */
#define MANY 1024

static inline V load64(const uint64_t *p) { return _mm512_loadu_si512(p); }
static inline V load32(const uint32_t *p) { return _mm512_loadu_si512(p); }
static inline void store64(uint64_t *p, V v) { _mm512_storeu_si512(p, v); }
static inline void store32(uint32_t *p, V v) { _mm512_storeu_si512(p, v); }
static inline V splat64(uint64_t key) { return _mm512_set1_epi64((int64_t)key); }
static inline V splat32(uint32_t key) { return _mm512_set1_epi32((int32_t)key); }
static inline V least64(V a, V b) { return _mm512_min_epu64(a, b); }
static inline V least32(V a, V b) { return _mm512_min_epu32(a, b); }
static inline V greatest64(V a, V b) { return _mm512_max_epu64(a, b); }
static inline V greatest32(V a, V b) { return _mm512_max_epu32(a, b); }
/* Masks with one bit per lane. */
typedef __mmask8 mask64;
typedef __mmask16 mask32;
static inline mask64 less64(V a, V b) { return _mm512_cmplt_epu64_mask(a, b); }
static inline mask32 less32(V a, V b) { return _mm512_cmplt_epu32_mask(a, b); }
static inline mask64 not_greater64(V a, V b) { return _mm512_cmple_epu64_mask(a, b); }
static inline mask32 not_greater32(V a, V b) { return _mm512_cmple_epu32_mask(a, b); }
static inline mask64 greater64(V a, V b) { return _mm512_cmpgt_epu64_mask(a, b); }
static inline mask32 greater32(V a, V b) { return _mm512_cmpgt_epu32_mask(a, b); }
static inline mask64 not_less64(V a, V b) { return _mm512_cmpge_epu64_mask(a, b); }
static inline mask32 not_less32(V a, V b) { return _mm512_cmpge_epu32_mask(a, b); }
/* Packs in a register, because compressing stores are slow on some processors. */
static inline V pack64(V v, mask64 m) { return _mm512_maskz_compress_epi64(m, v); }
static inline V pack32(V v, mask32 m) { return _mm512_maskz_compress_epi32(m, v); }

/* Returns the mask of the first n lanes. */
static inline uint32_t first_lanes(int64_t n, int64_t lanes)
{
    return n <= 0 ? 0 : (uint32_t)(UINT64_C(1) << (n < lanes ? n : lanes)) - 1;
}
static inline V load_some64(const uint64_t *p, int64_t n)
{
    return _mm512_mask_loadu_epi64(splat64(UINT64_MAX), (__mmask8)first_lanes(n, 8), p);
}
static inline V load_some32(const uint32_t *p, int64_t n)
{
    return _mm512_mask_loadu_epi32(splat32(UINT32_MAX), (__mmask16)first_lanes(n, 16), p);
}
static inline void store_some64(uint64_t *p, int64_t n, V v)
{
    _mm512_mask_storeu_epi64(p, (__mmask8)first_lanes(n, 8), v);
}
static inline void store_some32(uint32_t *p, int64_t n, V v)
{
    _mm512_mask_storeu_epi32(p, (__mmask16)first_lanes(n, 16), v);
}

/* Exchanges lanes i and i ^ x; x is a constant. */
static inline ALWAYS V swap64(V v, int x)
{
    if (x == 1) return _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x4e);
    if (x == 2) return _mm512_permutex_epi64(v, 0x4e);
    if (x == 3) return _mm512_permutex_epi64(v, 0x1b);
    if (x == 4) return _mm512_shuffle_i64x2(v, v, 0x4e);
    return _mm512_permutexvar_epi64(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), v);
}
static inline ALWAYS V swap32(V v, int x)
{
    if (x == 1) return _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0xb1);
    if (x == 2) return _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x4e);
    if (x == 3) return _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x1b);
    if (x == 4) return _mm512_shuffle_i32x4(v, v, 0xb1);
    if (x == 7) return _mm512_shuffle_epi32(_mm512_shuffle_i32x4(v, v, 0xb1), (_MM_PERM_ENUM)0x1b);
    if (x == 8) return _mm512_shuffle_i32x4(v, v, 0x4e);
    return _mm512_permutexvar_epi32(
        _mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), v);
}
static inline ALWAYS V mirror64(V v) { return swap64(v, 7); }
static inline ALWAYS V mirror32(V v) { return swap32(v, 15); }

/* Returns a mask of the lanes whose index has the highest bit of x set. These lanes receive the greater of the keys of lanes i
 * and i ^ x. */
static inline ALWAYS uint32_t upper_lanes(int x)
{
    return x >= 8 ? 0xff00 : x >= 4 ? 0xf0f0 : x >= 2 ? 0xcccc : 0xaaaa;
}
static inline ALWAYS V exchange64(V v, int x)
{
    const V other = swap64(v, x);
    return _mm512_mask_max_epu64(_mm512_min_epu64(v, other), (__mmask8)upper_lanes(x), v, other);
}
static inline ALWAYS V exchange32(V v, int x)
{
    const V other = swap32(v, x);
    return _mm512_mask_max_epu32(_mm512_min_epu32(v, other), (__mmask16)upper_lanes(x), v, other);
}

#define K    uint32_t
#define BITS 32
#include "kernel/sort.inc.h"
#define K    uint64_t
#define BITS 64
#include "kernel/sort.inc.h"
#endif

void CB_ISA_NAME(cb_fill_sort)(cb_kernels *k)
{
#if CB_ISA_LEVEL >= 4
    k->sort32 = sort32;
    k->sort64 = sort64;
#else
    (void)k;
#endif
}
