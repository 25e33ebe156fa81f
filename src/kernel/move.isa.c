/* Fills, gathers, and stores that bypass the caches. */
#include <string.h>

#include "kernel/kernel_isa.h"

#if CB_ISA_LEVEL >= 2
#include <immintrin.h>
#endif

/* The value is read before the loop, because the compiler must assume that a store to dst may change it. */
static void splat(void *dst, const void *value, size_t size, size_t n)
{
    char *d = dst;
    uint16_t v2;
    uint32_t v4;
    uint64_t v8[2];
    switch (size) {
    case 1: memset(d, *(const unsigned char *)value, n); return;
    case 2:
        memcpy(&v2, value, 2);
        for (size_t i = 0; i < n; i++) memcpy(d + 2 * i, &v2, 2);
        return;
    case 4:
        memcpy(&v4, value, 4);
        for (size_t i = 0; i < n; i++) memcpy(d + 4 * i, &v4, 4);
        return;
    case 8:
        memcpy(v8, value, 8);
        for (size_t i = 0; i < n; i++) memcpy(d + 8 * i, v8, 8);
        return;
    case 16:
        memcpy(v8, value, 16);
        for (size_t i = 0; i < n; i++) memcpy(d + 16 * i, v8, 16);
        return;
    default: /* strings */
        for (size_t i = 0; i < n; i++) memcpy(d + size * i, value, size);
        return;
    }
}

static void index_fill(int64_t *dst, int64_t start, int64_t step, size_t n)
{
    for (size_t i = 0; i < n; i++) dst[i] = start + step * (int64_t)i;
}

static void gather(void *dst, const void *src, int64_t stride, size_t size, size_t n)
{
    char *d = dst;
    const char *s = src;
    if (stride == (int64_t)size) {
        memcpy(d, s, n * size);
        return;
    }
    switch (size) {
    case 1:
        for (size_t i = 0; i < n; i++, s += stride) d[i] = *s;
        return;
    case 2:
        for (size_t i = 0; i < n; i++, s += stride) memcpy(d + 2 * i, s, 2);
        return;
    case 4:
        for (size_t i = 0; i < n; i++, s += stride) memcpy(d + 4 * i, s, 4);
        return;
    case 8:
        for (size_t i = 0; i < n; i++, s += stride) memcpy(d + 8 * i, s, 8);
        return;
    case 16:
        for (size_t i = 0; i < n; i++, s += stride) memcpy(d + 16 * i, s, 16);
        return;
    default:
        for (size_t i = 0; i < n; i++, s += stride) memcpy(d + size * i, s, size);
        return;
    }
}

static void stream(void *dst, const void *src, size_t bytes)
{
#if CB_ISA_LEVEL >= 2
    char *d = dst;
    const char *s = src;
    size_t head = -(uintptr_t)d & 63;
    if (head > bytes) head = bytes;
    memcpy(d, s, head);
    d += head;
    s += head;
    bytes -= head;
    for (; bytes >= 64; bytes -= 64, d += 64, s += 64) {
#if CB_ISA_LEVEL == 4
        _mm512_stream_si512((__m512i *)d, _mm512_loadu_si512(s));
#elif CB_ISA_LEVEL == 3
        _mm256_stream_si256((__m256i *)d, _mm256_loadu_si256((const __m256i *)s));
        _mm256_stream_si256((__m256i *)(d + 32), _mm256_loadu_si256((const __m256i *)(s + 32)));
#else
        for (int k = 0; k < 64; k += 16)
            _mm_stream_si128((__m128i *)(d + k), _mm_loadu_si128((const __m128i *)(s + k)));
#endif
    }
    memcpy(d, s, bytes);
#else
    memcpy(dst, src, bytes);
#endif
}

void CB_ISA_NAME(cb_fill_move)(cb_kernels *k)
{
    k->splat = splat;
    k->index = index_fill;
    k->gather = gather;
    k->stream = stream;
}
