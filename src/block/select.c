#include "block/select.h"

#include <string.h>

/* Maximum number of keys for insertion sort. */
#define FEW 24
/* Number of bits of a digit: keys are distributed by the highest bits in which they differ. */
#define BUCKET_BITS 8

#define CB_SELECT_JOIN(a, b)  a##b
#define CB_SELECT_PASTE(a, b) CB_SELECT_JOIN(a, b)
#define CB_KEY_TEMPLATE       "block/select.inc.h"
#include "block/each_key.inc.h"

static const cb_select_width widths[] = {
    {drop_ones8, has_ones8, select8, scatter8, get8},
    {drop_ones16, has_ones16, select16, scatter16, get16},
    {drop_ones32, has_ones32, select32, scatter32, get32},
    {drop_ones64, has_ones64, select64, scatter64, get64},
};

const cb_select_width *cb_select_width_of(size_t key_size)
{
    return &widths[key_size == 1 ? 0 : key_size == 2 ? 1 : key_size == 4 ? 2 : 3];
}
