/* Fast hashes that are not cryptographic: of a number, and of a sequence of words. */
#ifndef CB_BASE_MIX_H
#define CB_BASE_MIX_H

#include <stdint.h>

/* Mixes x: each bit of the result depends on all bits of x. The finaliser of SplitMix64 (Steele, Lea and Flood 2014). Different
 * numbers have different results. */
static inline uint64_t cb_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* FNV-1a (Fowler, Noll and Vo), 64 bits: begins with CB_FNV_START, and adds one byte, or one word, at a time. */
#define CB_FNV_START UINT64_C(0xcbf29ce484222325)
static inline uint64_t cb_fnv_add(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * UINT64_C(0x100000001b3);
}

#endif
