/* Reductions by group over one block.
 *
 * x has the shape (outer, n, inner); the axis of length n is grouped. States have the shape (outer, groups, inner). Elements of x
 * are reduced into the state of their group at the same outer and inner position, in the order of the grouped axis. So the order
 * of floating-point additions is the same for all instruction sets. */
#ifndef CB_KERNEL_GROUP_H
#define CB_KERNEL_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/* The result that is computed for each group. The state of a kind consists of one to three arrays, called planes, each with one
 * element for each state. The comments list the types and contents of the planes. T is the element type, and S is the type of
 * sums: int64, uint64 or float64. Counts are float64 and exclude missing values, except in CB_GROUP_M2 with CB_GROUP_ALL. A
 * position of -1 means that the group has no element yet; the value is then undefined. */
typedef enum cb_group_kind {
    CB_GROUP_COUNT, /* count */
    CB_GROUP_SUM,   /* the sum, of type S; with CB_GROUP_SKIP_COUNT also a count */
    CB_GROUP_PROD,  /* the product, of type S; with CB_GROUP_SKIP_COUNT also a count */
    /* minimum or maximum, of type T; with CB_GROUP_SKIP_COUNT also a count; missing values propagate unless they are skipped */
    CB_GROUP_MIN,
    CB_GROUP_MAX,
    /* As float64: sum of squared deviations from the mean (Welford 1962), mean, and count. */
    CB_GROUP_M2,
    /* minimum or maximum, of type T, and its smallest position as int64. Unless missing values are skipped, the first missing
     * value is the result if there is one. */
    CB_GROUP_ARGMIN,
    CB_GROUP_ARGMAX,
    CB_GROUP_FIRST, /* the value at the smallest position, of type T, and the position as int64 */
    CB_GROUP_LAST,  /* the value at the greatest position, of type T, and the position as int64 */
    CB_GROUP_KINDS
} cb_group_kind;

/* Missing values are NaN and "not a time". */
typedef enum cb_group_variant {
    CB_GROUP_ALL,        /* includes missing values */
    CB_GROUP_SKIP,       /* skips missing values */
    CB_GROUP_SKIP_COUNT, /* skips missing values and counts the other values */
    CB_GROUP_VARIANTS
} cb_group_variant;

typedef enum cb_group_type {
    CB_GROUP_INT64,
    CB_GROUP_UINT64,
    CB_GROUP_TIME, /* int64, with the smallest int64 as missing value: "not a time" (NaT) */
    CB_GROUP_FLOAT32,
    CB_GROUP_FLOAT64,
    CB_GROUP_TYPES
} cb_group_type;

#define CB_GROUP_MAX_PLANES 3

/* Arguments of a reduction by group. */
typedef struct cb_group_box {
    int64_t outer, n, inner; /* shape of x; the axis of length n is grouped */
    int64_t ngroups;
    /* Number of inner positions that are processed together, for all n elements of the grouped axis. */
    int64_t width;
    /* Group of each of the n elements, below ngroups; negative for elements in no group. */
    const int64_t *codes;
    /* Position of each of the n elements, for CB_GROUP_ARGMIN to CB_GROUP_LAST only. */
    const int64_t *positions;
} cb_group_box;

/* x and planes are in C order. */
typedef void (*cb_group_fn)(const cb_group_box *box, const void *x, void *const *planes);

/* Functions of one instruction set. An entry is NULL if the combination is not defined: INT64 and UINT64 have no missing values,
 * so they have only CB_GROUP_ALL; TIME has no sum, product or M2. */
typedef struct cb_group_table {
    cb_group_fn fn[CB_GROUP_KINDS][CB_GROUP_VARIANTS][CB_GROUP_TYPES];
} cb_group_table;

/* Returns the number of planes, 1 to CB_GROUP_MAX_PLANES. */
int cb_group_planes(cb_group_kind kind, cb_group_variant variant);

#endif
