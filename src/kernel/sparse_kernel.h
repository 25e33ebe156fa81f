/* Products of a sparse matrix with several vectors at once, whose elements are interleaved. */
#ifndef CB_KERNEL_SPARSE_H
#define CB_KERNEL_SPARSE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Number of vectors that are interleaved: element i of vector p is at position CB_SPARSE_LANES * i + p. */
enum { CB_SPARSE_LANES = 8 };

/* Rows of a matrix. Weight k of row r is value[k], for k from starts[r] to starts[r + 1] - 1. */
typedef struct cb_sparse_rows {
    int64_t from, to; /* the first row, and the end of the rows */
    const int64_t *starts;
    const int32_t *column;
    const double *value;
    const void *x; /* interleaved elements, the first of which belong to column `base` */
    int64_t base;
    void *y; /* results: element r of vector p is at position p * y_step + r */
    int64_t y_step;
    int n;               /* number of vectors that have results, at most CB_SPARSE_LANES */
    bool skipna;         /* leave out NaN, and scale the sum by the weights of the other elements */
    double na_threshold; /* with skipna: largest part of a row's weights that may belong to NaN */
} cb_sparse_rows;

typedef struct cb_sparse_fns {
    /* Interleaves `cells` elements of n vectors, which are `step` elements apart. Absent vectors become 0. */
    void (*interleave)(void *to, const void *x, int64_t step, int64_t cells, int n);
    /* Sums of products in float64, in the order of the weights. An empty row is NaN. With skipna a row with NaN is NaN if more
     * of its weights than na_threshold belong to NaN, or if one of its weights is negative. */
    void (*sums)(const cb_sparse_rows *s);
} cb_sparse_fns;

/* Returns whether the part of a row's weights that is missing is small enough. Sums of weights have rounding errors. */
static inline bool cb_sparse_is_enough(double all, double present, double na_threshold)
{
    const double rounding = 1e-12 * fabs(all);
    return fabs(present) > rounding && fabs(all - present) <= na_threshold * fabs(all) + rounding;
}

#endif
