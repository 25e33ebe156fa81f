/* Parameters of the library's own functions on blocks, as they are in plans: no padding, integers of a
 * fixed width. */
#ifndef CB_BLOCK_PARAMS_H
#define CB_BLOCK_PARAMS_H

#include <stdint.h>

/* "sort", "argsort": one input, one output of the same shape. */
typedef struct cb_sort_params {
    int32_t axis;
    int32_t descending; /* 0 or 1 */
} cb_sort_params;

/* "matmul": how many axes there are of each kind. a has batch, rows, summed; b has batch, summed,
 * columns; the output has batch, rows, columns. Batch axes of a and b may have extent 1. */
typedef struct cb_matmul_params {
    int32_t batch, rows, summed, columns;
} cb_matmul_params;

/* "take", "take_along_axis": x, whose axis is cut into blocks that are given one after another, and
 * positions along it (int64), from the end if negative. "take" has them in one axis, which takes the
 * place of x's; "take_along_axis" has one for every element of the result. */
typedef struct cb_take_params {
    int32_t axis;
    int32_t unused; /* 0 */
    int64_t extent; /* of x's axis */
} cb_take_params;

/* "searchsorted": x1, one axis in blocks that are given one after another, and values to be found. */
typedef struct cb_search_params {
    int32_t right; /* 0 or 1 */
} cb_search_params;

#endif
