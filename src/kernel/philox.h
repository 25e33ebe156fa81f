/* Philox4x64-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11. A block of four words is
 * a function of a 256-bit counter and a 128-bit key, both with the lowest word first. */
#ifndef CB_KERNEL_PHILOX_H
#define CB_KERNEL_PHILOX_H

#include <stdint.h>

static inline void cb_philox(const uint64_t counter[4], const uint64_t key[2], uint64_t out[4])
{
    uint64_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint64_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        unsigned __int128 p0 = (unsigned __int128)0xD2E7470EE14C6C93u * c0;
        unsigned __int128 p1 = (unsigned __int128)0xCA5A826395121157u * c2;
        c0 = (uint64_t)(p1 >> 64) ^ c1 ^ k0;
        c2 = (uint64_t)(p0 >> 64) ^ c3 ^ k1;
        c1 = (uint64_t)p1;
        c3 = (uint64_t)p0;
        k0 += 0x9E3779B97F4A7C15u;
        k1 += 0xBB67AE8584CAA73Bu;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* Computes the four words for counter {counter, 0, 0, 0} and key {key, 0}. NumPy's Philox(key=key) increments its counter
 * before it draws, so its first block is the block of counter 1 here. */
static inline void cb_philox4x64(uint64_t counter, uint64_t key, uint64_t out[4])
{
    cb_philox((const uint64_t[4]){counter, 0, 0, 0}, (const uint64_t[2]){key, 0}, out);
}

#endif
