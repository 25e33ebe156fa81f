/* Sets of non-negative integers, as one bit per integer in 64-bit words. */
#ifndef CB_BASE_BITS_H
#define CB_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/checked.h"

/* Returns the number of words for n bits. */
static inline size_t cb_bits_words(int64_t n) { return (size_t)cb_ceil_div(n, 64); }
static inline bool cb_bits_has(const uint64_t *bits, int64_t i)
{
    return bits[i / 64] >> (i % 64) & 1;
}
static inline void cb_bits_add(uint64_t *bits, int64_t i)
{
    bits[i / 64] |= (uint64_t)1 << (i % 64);
}

#endif
