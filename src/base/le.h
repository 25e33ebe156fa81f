/* Fixed-width integers as little-endian bytes on any machine. */
#ifndef CB_BASE_LE_H
#define CB_BASE_LE_H

#include <stdint.h>

static inline void cb_le_put(uint8_t *at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(v >> (8 * i));
}

static inline uint64_t cb_le_get(const uint8_t *at, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint64_t)at[i] << (8 * i);
    return v;
}

#endif
