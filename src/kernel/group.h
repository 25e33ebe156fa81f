/* Reductions by group: loops over one block.
 *
 * States are planes of (outer, groups, inner), of which an element of group g takes in the element of x
 * that has its outer and inner position, one after another in the order of the axis in between: the order
 * of floating additions is that of the elements, whatever the instruction set. */
#ifndef CB_KERNEL_GROUP_H
#define CB_KERNEL_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/* Planes of each kind: S is int64, uint64 or float64, T the type of the elements. Counts are float64, of
 * what is not missing. A position of -1 says that there is none yet, and the value has no meaning. */
typedef enum cb_group_kind {
    CB_GROUP_COUNT, /* count */
    CB_GROUP_SUM,   /* S, count if the variant counts */
    CB_GROUP_PROD,  /* the same */
    CB_GROUP_MIN,   /* T, count if the variant counts; what is missing wins unless it is skipped */
    CB_GROUP_MAX,
    CB_GROUP_M2, /* float64: sum of squared deviations from the mean (Welford 1962); mean; count */
    CB_GROUP_ARGMIN, /* T, int64: the least value and its first position; the first one missing wins
                          unless it is skipped */
    CB_GROUP_ARGMAX,
    CB_GROUP_FIRST, /* T, int64: the value at the least position, and that */
    CB_GROUP_LAST,
    CB_GROUP_KINDS
} cb_group_kind;

/* Missing is NaN, or "not a time". */
typedef enum cb_group_variant {
    CB_GROUP_ALL,        /* also what is missing */
    CB_GROUP_SKIP,       /* not what is missing */
    CB_GROUP_SKIP_COUNT, /* the same, and count */
    CB_GROUP_VARIANTS
} cb_group_variant;

typedef enum cb_group_type {
    CB_GROUP_INT64,
    CB_GROUP_UINT64,
    CB_GROUP_TIME, /* int64; the least one is "not a time" */
    CB_GROUP_FLOAT32,
    CB_GROUP_FLOAT64,
    CB_GROUP_TYPES
} cb_group_type;

#define CB_GROUP_MAX_PLANES 3

typedef struct cb_group_box {
    int64_t outer, n, inner; /* extents of x */
    int64_t ngroups;
    int64_t width;            /* inner elements that are done for all n before the next ones */
    const int64_t *codes;     /* n: the group of each, below ngroups; negative: none */
    const int64_t *positions; /* n: what ARGMIN to LAST call them */
} cb_group_box;

/* x and planes in C order. */
typedef void (*cb_group_fn)(const cb_group_box *box, const void *x, void *const *planes);

/* NULL where there is none: UINT64 and INT64 have nothing missing, times no sums. */
typedef struct cb_group_table {
    cb_group_fn fn[CB_GROUP_KINDS][CB_GROUP_VARIANTS][CB_GROUP_TYPES];
} cb_group_table;

int cb_group_planes(cb_group_kind kind, cb_group_variant variant);

#endif
