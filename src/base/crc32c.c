#include "base/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
/* SSE4.2, which has this instruction, is part of every instruction set that the kernels are compiled for. */
__attribute__((target("sse4.2"))) uint32_t cb_crc32c(uint32_t before, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint64_t c = (uint32_t)~before;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        c = __builtin_ia32_crc32di(c, v);
    }
    for (; n; n--, p++) c = __builtin_ia32_crc32qi((uint32_t)c, *p);
    return ~(uint32_t)c;
}
#else
uint32_t cb_crc32c(uint32_t before, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint32_t table[256], c = ~before;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t v = i;
        for (int k = 0; k < 8; k++) v = v & 1 ? v >> 1 ^ 0x82F63B78u : v >> 1;
        table[i] = v;
    }
    for (; n; n--, p++) c = table[(c ^ *p) & 255] ^ c >> 8;
    return ~c;
}
#endif
