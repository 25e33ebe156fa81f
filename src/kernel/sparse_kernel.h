/* Products of a sparse matrix with several vectors at the same time. The elements of the vectors are interleaved. */
#ifndef CB_KERNEL_SPARSE_H
#define CB_KERNEL_SPARSE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Number of vectors that are interleaved: element i of vector p is at position CB_SPARSE_LANES * i + p. */
enum { CB_SPARSE_LANES = 8 };

/* Rows of a sparse matrix in compressed row form, and the vectors. The weights of row r are value[k], in column[k], for k from
 * starts[r] to starts[r + 1] - 1. */
typedef struct cb_sparse_rows {
    int64_t from, to; /* rows to compute: from .. to - 1 */
    const int64_t *starts;
    const int32_t *column;
    const double *value;
    const void *x; /* interleaved elements of the vectors, from column `base` on */
    int64_t base;
    void *y; /* results: element r of vector p is y[p * y_step + r] */
    int64_t y_step;
    int n; /* number of vectors that have results, at most CB_SPARSE_LANES */
    /* Leave out NaN, and multiply the sum by the sum of all weights / the sum of the weights of elements that are not NaN. */
    bool skipna;
    /* With skipna: maximum share of a row's sum of weights that may belong to NaN, 0 to 1. */
    double na_threshold;
} cb_sparse_rows;

typedef struct cb_sparse_fns {
    /* Interleaves `cells` elements of n vectors. Vector p begins at element p * step of x. The elements of the vectors from n to
     * CB_SPARSE_LANES - 1 become 0. */
    void (*interleave)(void *to, const void *x, int64_t step, int64_t cells, int n);
    /* Computes y: for each row, the sum of its weights times elements of x, in float64 and in the order of the weights. The
     * result of a row without weights is NaN. With skipna, the result of a row with NaN elements is NaN in two cases: the NaN
     * have a larger share of the weights than na_threshold, or a weight of the row is negative. */
    void (*sums)(const cb_sparse_rows *s);
} cb_sparse_fns;

/* Returns whether a row has a result although elements are missing: whether the share of missing weights, 1 - present / all, is
 * at most na_threshold. Allows for rounding errors of the two sums of weights, `all` and `present`. Returns false if no weight
 * is present. */
static inline bool cb_sparse_is_enough(double all, double present, double na_threshold)
{
    const double rounding = 1e-12 * fabs(all);
    return fabs(present) > rounding && fabs(all - present) <= na_threshold * fabs(all) + rounding;
}

#endif
