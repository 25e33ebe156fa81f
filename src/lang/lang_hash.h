/* Hashes of labels and positions, to find out whether two coordinates are equal. */
#ifndef LANG_HASH_H
#define LANG_HASH_H

#include <stdint.h>

/* FNV-1a (Fowler, Noll and Vo), 64 bits: begins with LANG_HASH_START, and adds one byte, or one word, at a time. */
#define LANG_HASH_START UINT64_C(0xcbf29ce484222325)
static inline uint64_t lang_hash_add(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * UINT64_C(0x100000001b3);
}

#endif
