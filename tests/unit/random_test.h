/* Random numbers for tests, equal in each run. */
#ifndef RANDOM_TEST_H
#define RANDOM_TEST_H

#include <stdint.h>

static uint64_t random_state = 1;

/* Returns a number from lo to hi, both included. */
static inline int64_t between(int64_t lo, int64_t hi)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return lo + (int64_t)((random_state >> 33) % (uint64_t)(hi - lo + 1));
}

/* From 0 to n - 1. */
static inline int pick(int n) { return (int)between(0, n - 1); }

#endif
