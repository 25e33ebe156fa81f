/* Lists of the items nearest to a point, for searches. */
#ifndef CB_BLOCK_NEAR_LIST_H
#define CB_BLOCK_NEAR_LIST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* An item and its squared distance. */
typedef struct cb_space_near {
    int32_t item;
    int32_t
        place; /* position of the item in the order of the index; 0 if the index has no such order */
    double distance2;
} cb_space_near;

/* Distances whose relative difference is less than this count as equal, because coordinates have a rounding error of 1e-16. */
#define CB_NEAR_TIE 1e-11

static inline bool cb_near_is_before(const cb_space_near *a, const cb_space_near *b)
{
    const double apart =
        CB_NEAR_TIE * (a->distance2 > b->distance2 ? a->distance2 : b->distance2) + 1e-28;
    if (fabs(a->distance2 - b->distance2) <= apart) return a->item < b->item;
    return a->distance2 < b->distance2;
}

/* Inserts an item into the list of the *n nearest of at most k items, or drops the item. */
static inline void cb_near_insert(cb_space_near *list, int *n, int k, cb_space_near item)
{
    int i = *n;
    if (i == k && !cb_near_is_before(&item, &list[k - 1])) return;
    if (i < k)
        (*n)++;
    else
        i--;
    for (; i > 0 && cb_near_is_before(&item, &list[i - 1]); i--) list[i] = list[i - 1];
    list[i] = item;
}

/* Returns the squared distance beyond which the list accepts no item. The caller knows that there are k items with a squared
 * distance of at most `most`. */
static inline double cb_near_reach(const cb_space_near *list, int n, int k, double most)
{
    return (n == k ? list[k - 1].distance2 : most) * (1 + CB_NEAR_TIE) + 1e-28;
}

#endif
