/* Selects elements by a mask. */
#include <string.h>

#include "base/checked.h"
#include "kernel/kernel.h"

/* Copies every element to the next free position, which advances only if the element is selected. So there are no branches to
 * predict. The caller limits n to the number of free positions, so no copy is out of bounds. */
static inline __attribute__((always_inline)) int64_t pick(size_t size, const char *x,
                                                          const uint8_t *mask, int64_t n, char *dst)
{
    int64_t picked = 0;
    for (int64_t i = 0; i < n; i++) {
        memcpy(dst + (size_t)picked * size, x + (size_t)i * size, size);
        picked += mask[i] != 0;
    }
    return picked;
}

static int64_t pick_sized(size_t size, const char *x, const uint8_t *mask, int64_t n, char *dst)
{
    switch (size) {
    case 1: return pick(1, x, mask, n, dst);
    case 2: return pick(2, x, mask, n, dst);
    case 4: return pick(4, x, mask, n, dst);
    case 8: return pick(8, x, mask, n, dst);
    case 16: return pick(16, x, mask, n, dst);
    default: return pick(size, x, mask, n, dst);
    }
}

int64_t cb_compress(size_t size, const void *x, const uint8_t *mask, int64_t n, int64_t *at,
                    void *dst, int64_t room)
{
    int64_t picked = 0;
    while (*at < n && picked < room) {
        int64_t some = cb_min_i64(n - *at, room - picked);
        picked += pick_sized(size, (const char *)x + (size_t)*at * size, mask + *at, some,
                             (char *)dst + (size_t)picked * size);
        *at += some;
    }
    return picked;
}

int64_t cb_count_true(const uint8_t *mask, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) count += mask[i] != 0;
    return count;
}
