/* Reductions by group: over all elements, along one or more axes, that have the same label. */
#ifndef CUBED_GROUPBY_H
#define CUBED_GROUPBY_H

#include "cubed/array_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reductions by group. */
typedef enum cubed_group_reduction {
    CUBED_GROUP_COUNT, /* int64 */
    /* The results of this and the following reductions have the types of cubed_reduce. */
    CUBED_GROUP_SUM,
    CUBED_GROUP_PROD,
    CUBED_GROUP_MEAN,
    CUBED_GROUP_VAR,
    CUBED_GROUP_STD,
    /* This and the following reductions also accept times; NaN and NaT propagate. */
    CUBED_GROUP_MIN,
    CUBED_GROUP_MAX,
    CUBED_GROUP_ANY,
    CUBED_GROUP_ALL,
    CUBED_GROUP_FIRST, /* first element in C order of the grouped axes */
    CUBED_GROUP_LAST,
    /* Int64: first position of the extreme in C order of the grouped axes, or of the first NaN if there is one. */
    CUBED_GROUP_ARGMIN,
    CUBED_GROUP_ARGMAX,
    CUBED_GROUP_REDUCTIONS
} cubed_group_reduction;

typedef struct cubed_group_options {
    size_t struct_size;
    bool skip_nan;     /* skip elements that are NaN or NaT; not accepted for any and all */
    double correction; /* divisor of var and std: N - correction */
    /* Minimum number of elements of a group; groups with fewer elements have the result `fill`. A lower minimum is raised: to 0
     * for count, sum and prod, to more than the correction for var and std, and to 1 otherwise. CUBED_E_ARG for values above 1
     * with first, last, argmin and argmax. */
    int64_t min_count;
    /* An element of the result's type. NULL: NaN or NaT; -1 for argmin and argmax; false for any, true for all; 0
     * otherwise. */
    const cubed_scalar *fill;
    /* Bytes that a task may use; 0: unknown. The states (partial results of all groups) of a block use at most a quarter of
     * these bytes. Values do not depend on task_mem. */
    uint64_t task_mem;
    /* Groups without elements have the result `fill`, even for count, sum and prod with min_count 0. Unlike min_count, this
     * option also counts elements that skip_nan skips. */
    bool fill_absent;
} cubed_group_options;
#define CUBED_GROUP_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(cubed_group_options), false, 0.0, 0, NULL, 0, false                                 \
    }

/* Reduces the groups of x's elements along `axes`. In the result, an axis of groups replaces the first of these axes; the other
 * ones are removed.
 *
 * codes  integers with the extents of x's `axes`, in their order: the group of each element, 0 to ngroups - 1; negative: the
 *        element is in no group
 *
 * x is read once, block by block. A task holds a block of x, and the states (partial results) of all groups for a block across
 * the other axes. The states use 8 to 24 bytes for each group and element of this block. Blocks are smaller than chunks if the
 * states exceed a quarter of task_mem, or if the task does not fit in memory.
 *
 * Floats are added in float64, in the order of the elements within each of up to 16 parts of the grouped axes. The number of
 * parts depends only on shape, chunks and types. Variances are computed by Welford's method and merged by Chan's formula.
 *
 * Errors: CUBED_E_TYPE for complex numbers and strings, and unless `codes` has integers; CUBED_E_ARG for codes of another
 * shape; a run fails with CUBED_E_INDEX if a code is not less than ngroups. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_groupby_reduce(cubed_array *x, cubed_array *codes,
                                                             const int *axes, int naxes,
                                                             int64_t ngroups,
                                                             cubed_group_reduction reduction,
                                                             const cubed_group_options *options,
                                                             cubed_array **out, cubed_error *err);
/* The groups of elements along axes of an array: `codes` has the extents of the array's axes from `axis` on. */
typedef struct cubed_groups {
    cubed_array
        *codes; /* group numbers, 0 to ngroups - 1; elements with other numbers are in no group */
    int axis;
    int64_t ngroups;
} cubed_groups;

/* Computes the exact quantiles q[0..n) of each group. The axes in `options` are ignored. The result has an axis of n elements
 * in front, and the axis of groups in place of the axes of the codes. Groups without elements give NaN.
 *
 * wide  the result is float64. False: the result has x's type if that is a floating-point type, otherwise float64
 *
 * x is read once. A task holds whole lines of x along the axes of the codes, and a copy of some lines. The plan is refused
 * (CUBED_E_BUDGET) if a task cannot hold them. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_group_quantiles(cubed_array *x,
                                                              const cubed_groups *groups,
                                                              const double *q, int n, bool wide,
                                                              const cubed_quantile_options *options,
                                                              cubed_array **out, cubed_error *err);
/* Returns the name of a reduction, such as "sum"; NULL for another number. */
CUBED_API const char *cubed_group_reduction_name(cubed_group_reduction reduction);
/* Looks up a reduction by name. The prefix "nan" sets *skip_nan to true; without it, *skip_nan does not change. Returns false
 * if there is no such reduction. */
CUBED_API bool cubed_group_reduction_parse(const char *name, cubed_group_reduction *out,
                                           bool *skip_nan);
/* Gets the type of the result of a reduction by group of elements of type `dtype`. CUBED_E_TYPE if the reduction does not
 * accept the type. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_group_result_dtype(cubed_group_reduction reduction,
                                                                 cubed_dtype dtype,
                                                                 cubed_dtype *out,
                                                                 cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
