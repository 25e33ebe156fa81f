/* Reductions by group over one block.
 *
 * States are planes of (outer, groups, inner). Elements of x with the same outer and inner position and group g are reduced into
 * the state of g, one after another. Their order is that of the axis between outer and inner. So the order of
 * floating-point additions is that of the elements for all instruction sets. */
#ifndef CB_KERNEL_GROUP_H
#define CB_KERNEL_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/* The result that is computed for each group. The state of a kind consists of one to three arrays, called planes, each with one
 * element for each group. The comments list the types and contents of the planes. T is the element type, and S is the type of
 * sums: int64, uint64 or float64. Counts are float64 and exclude missing values. A position of -1 means that the group has no
 * element yet. The value is then undefined. */
typedef enum cb_group_kind {
    CB_GROUP_COUNT, /* count */
    CB_GROUP_SUM,   /* the sum, of type S, and a count if the variant counts */
    CB_GROUP_PROD,  /* the product, of type S, and a count if the variant counts */
    /* the extreme, of type T, and a count if the variant counts; missing values propagate unless they are skipped */
    CB_GROUP_MIN,
    CB_GROUP_MAX,
    /* As float64: sum of squared deviations from the mean (Welford 1962), mean, and count. */
    CB_GROUP_M2,
    /* the extreme, of type T, and its first position as int64; or the position of the first missing value, unless missing values
     * are skipped */
    CB_GROUP_ARGMIN,
    CB_GROUP_ARGMAX,
    CB_GROUP_FIRST, /* the value at the smallest position, of type T, and the position as int64 */
    CB_GROUP_LAST,
    CB_GROUP_KINDS
} cb_group_kind;

/* Missing values are NaN and "not a time". */
typedef enum cb_group_variant {
    CB_GROUP_ALL,        /* includes missing values */
    CB_GROUP_SKIP,       /* skips missing values */
    CB_GROUP_SKIP_COUNT, /* skips missing values and counts others */
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

typedef struct cb_group_box {
    int64_t outer, n, inner; /* extents of x */
    int64_t ngroups;
    int64_t width; /* number of inner positions that are processed together for all n */
    /* The group of each of n elements, below ngroups; negative if it is in no group. */
    const int64_t *codes;
    /* The position of each of n elements, for CB_GROUP_ARGMIN to CB_GROUP_LAST. */
    const int64_t *positions;
} cb_group_box;

/* x and planes are in C order. */
typedef void (*cb_group_fn)(const cb_group_box *box, const void *x, void *const *planes);

/* An entry is NULL if the reduction is not defined: UINT64 and INT64 have no missing values, and times have no sums. */
typedef struct cb_group_table {
    cb_group_fn fn[CB_GROUP_KINDS][CB_GROUP_VARIANTS][CB_GROUP_TYPES];
} cb_group_table;

int cb_group_planes(cb_group_kind kind, cb_group_variant variant);

#endif
