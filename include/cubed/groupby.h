/* Reductions by group: of the elements along one or more axes those that have the same label. */
#ifndef CUBED_GROUPBY_H
#define CUBED_GROUPBY_H

#include "cubed/array_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cubed_group_reduction {
    CUBED_GROUP_COUNT, /* int64 */
    CUBED_GROUP_SUM,   /* types as cubed_reduce has them, also of the following */
    CUBED_GROUP_PROD,
    CUBED_GROUP_MEAN,
    CUBED_GROUP_VAR,
    CUBED_GROUP_STD,
    CUBED_GROUP_MIN, /* also of times, as the others below; NaN and "not a time" win */
    CUBED_GROUP_MAX,
    CUBED_GROUP_ANY,
    CUBED_GROUP_ALL,
    CUBED_GROUP_FIRST, /* in C order of the grouped axes */
    CUBED_GROUP_LAST,
    CUBED_GROUP_ARGMIN, /* int64: the first position, in C order of the grouped axes; of NaN if there is one */
    CUBED_GROUP_ARGMAX,
    CUBED_GROUP_REDUCTIONS
} cubed_group_reduction;

typedef struct cubed_group_options {
    size_t struct_size;
    bool skip_nan;     /* NaN and "not a time" do not count; not of any, all */
    double correction; /* var, std: divisor is N - correction */
    /* Groups with fewer elements are `fill`. At least 1 but for count, sum, prod, any and all; more than
     * the correction for var and std. Not of first, last, argmin, argmax. */
    int64_t min_count;
    /* An element of the result's type. NULL: NaN, "not a time", -1 of argmin and argmax, false of any, true
     * of all, 0 else. */
    const cubed_scalar *fill;
    /* What a task may use: states of a block are no more than a part of it. It has no influence on values.
     * 0: not known. */
    uint64_t task_mem;
    /* Groups that no code names are `fill`, also of count, sum and prod with min_count 0. Unlike min_count,
     * this counts missing elements that skip_nan passes over. */
    bool fill_absent;
} cubed_group_options;
#define CUBED_GROUP_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(cubed_group_options), false, 0.0, 0, NULL, 0, false                                 \
    }

/* `codes`, of integers, has the extents of x's `axes`, in their order, and says for each element there which
 * group it belongs to: 0 to ngroups - 1, or a negative number: none. A run fails with CUBED_E_INDEX if there
 * is a larger one. The result has the axis of groups in place of the first of these axes, and lacks the
 * others.
 *
 * x is read once, block by block. A task holds the states of all groups for a block across the other axes: 8
 * to 24 bytes for each group and element of it, besides a block of x; blocks are cut finer than chunks where
 * that is more than a quarter of task_mem, or does not fit. Floats are added in float64, in the order of the
 * elements within each of up to 16 parts of the grouped axes; how many there are depends on shape, chunks and
 * types alone. Variances are Welford's, merged by Chan's formula. CUBED_E_TYPE for complex numbers and text. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_groupby_reduce(cubed_array *x, cubed_array *codes,
                                                             const int *axes, int naxes,
                                                             int64_t ngroups,
                                                             cubed_group_reduction reduction,
                                                             const cubed_group_options *options,
                                                             cubed_array **out, cubed_error *err);
/* The groups of elements along axes of an array: `codes` has the extents of its axes from `axis` on. */
typedef struct cubed_groups {
    cubed_array *
        codes; /* numbers of groups, from 0 to ngroups - 1; elements with other numbers are in no group */
    int axis;
    int64_t ngroups;
} cubed_groups;

/* The exact quantiles q[0..n) of each group, by `options`, whose axes are not looked at: in front of the result's
 * axes there is one of n, and the axis of groups is in place of those of the codes. float64 if `wide` or x is not of
 * floats, else x's type; NaN of groups without elements.
 *
 * x is read once, whole along these axes in a task, which holds it once more for some lines: see
 * CUBED_E_BUDGET. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_group_quantiles(cubed_array *x,
                                                              const cubed_groups *groups,
                                                              const double *q, int n, bool wide,
                                                              const cubed_quantile_options *options,
                                                              cubed_array **out, cubed_error *err);
/* "sum", ...; NULL if there is none. */
CUBED_API const char *cubed_group_reduction_name(cubed_group_reduction reduction);
/* The inverse; false if there is none. With "nan" in front, *skip_nan is set. */
CUBED_API bool cubed_group_reduction_parse(const char *name, cubed_group_reduction *out,
                                           bool *skip_nan);
/* The type of the result. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_group_result_dtype(cubed_group_reduction reduction,
                                                                 cubed_dtype dtype,
                                                                 cubed_dtype *out,
                                                                 cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
