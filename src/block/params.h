/* Parameters of the library's own functions on blocks, as they are in plans: no padding, integers of a
 * fixed width. */
#ifndef CB_BLOCK_PARAMS_H
#define CB_BLOCK_PARAMS_H

#include <stdint.h>

#include "cubed/base.h"

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

/* "wrap" has the same: int64 positions of any shape. */

/* "require": an array and a bool for each of its elements. The parameters are the message of an error, a string with
 * its terminating NUL. */
#define CB_REQUIRE_BYTES 200

/* "replace": texts that broadcast with the result, which has some length of their family; with a mask and
 * texts that take the place of the first ones where it is true. No parameters. "text" makes one of
 * them, whose bytes are the parameters. */

/* "join_texts": two strings that broadcast with the result, whose length is at least the sum of theirs. No parameters. */

/* "join_characters": characters (S1), whose last axis the texts of the result have as their bytes. No parameters. */

/* "compare_texts": two operands that broadcast with the result. */
typedef struct cb_compare_params {
    int32_t op; /* cubed_op */
} cb_compare_params;

/* "extreme_text": texts, and int64 positions that are theirs; the result has extent 1 along axes that are reduced,
 * and positions, the least of equal texts, are a second one. Where there are no positions they are the sums of
 * indices in the array by `stride`. */
typedef struct cb_extreme_params {
    int32_t largest; /* 0 or 1 */
    int32_t unused;  /* 0 */
    int64_t stride[CUBED_MAX_NDIM];
} cb_extreme_params;

/* "count_true": of a mask in one dimension, how many elements are true of each `chunk` of them. */
typedef struct cb_count_true_params {
    int64_t chunk;
} cb_count_true_params;

/* "histogram": bins + 1 edges, which do not descend, follow as doubles. "bincount" has no parameters. */
typedef struct cb_histogram_params {
    int64_t bins;
} cb_histogram_params;

/* "searchsorted": x1, one axis in blocks that are given one after another, and values to be found. */
typedef struct cb_search_params {
    int32_t right; /* 0 or 1 */
} cb_search_params;

/* "isin": elements, and members of any shape, whose blocks are given one after another. */
typedef struct cb_isin_params {
    int32_t invert; /* 0 or 1 */
    int32_t
        positive; /* 1: 64-bit integers of the highest bit, which stand for numbers that they are not, are equal
                         to nothing */
} cb_isin_params;

/* "quantile": of all elements of `naxes` axes from `axis` on together; `count` of them, from 0 to 1, follow
 * as doubles. The output has them in front, then x's other axes, which may have axes of extent 1 between
 * them. `skip_nan`: of what is not NaN. "refine_keys", "find_keys": the same, without axes. */
typedef struct cb_quantile_params {
    int32_t axis, naxes;
    int32_t method;   /* cubed_quantile_method */
    int32_t skip_nan; /* 0 or 1 */
    int32_t dtype;    /* of the elements */
    int32_t wide;     /* 1: numbers between elements are float64 whatever these are; else 0 */
    int64_t count;
} cb_quantile_params;

/* "group_quantile": the same of each group of elements; a second input has the number of each element's group
 * along the axes, negative of none. The output has one axis of groups in the place of the axes; it is of
 * floats: of the elements' type unless `wide`, which is float64. */
typedef struct cb_group_quantile_params {
    int64_t ngroups;
    int32_t wide;                /* 0 or 1 */
    int32_t unused;              /* 0 */
    cb_quantile_params quantile; /* numbers follow */
} cb_group_quantile_params;

/* "count_keys": of all elements of `naxes` axes from `axis` on together, the digit of `bits` bits from bit
 * number `shift` on. */
typedef struct cb_count_params {
    int32_t axis, naxes;
    int32_t shift, bits;
} cb_count_params;

/* Runs of a line whose axis is `axis` (operands have extent 1 along all others): parts are `part` elements
 * each, the last one of `extent` elements is shorter; a run is some parts, and `fan` runs are merged into
 * one. */
typedef struct cb_runs {
    int32_t axis;
    int32_t descending; /* 0 or 1 */
    int64_t extent, part, run, fan;
} cb_runs;

/* "sort_run": a part of x in order. "merge_runs": a part of runs that are merged, from ranges of the runs
 * that hold it: pairs of positions, one of each run, and the elements there. `positions`: elements come
 * with int64 positions, or other numbers that "sort_run" has as a second input. Results are the elements,
 * positions, and so many lists of samples, whose steps follow as int64: of each part every step-th element,
 * and the last one. */
typedef struct cb_sort_run_params {
    cb_runs runs;
    int32_t positions, samples;
} cb_sort_run_params;

/* "merge_bounds": of each part of runs that are merged ranges of the runs that hold it, found in samples of
 * every `step` elements. A second input is gathered by the first one, ranges that hold the part, too;
 * alone it is all of the runs. Ranges of the result are of samples of every `finer` elements (1: elements). */
typedef struct cb_bounds_params {
    cb_runs runs;
    int64_t step, finer;
} cb_bounds_params;

/* What a transform along an axis of n elements is multiplied by: 1, 1 / sqrt(n) or 1 / n. */
typedef enum cb_fft_scale { CB_FFT_SCALE_ONE, CB_FFT_SCALE_SQRT, CB_FFT_SCALE_N } cb_fft_scale;

/* "fft": one complex input, one output of the same shape. "rfft": along real_axis n real numbers become
 * n / 2 + 1 complex ones; "irfft": the other way round, overwriting its input.
 *
 * With a twiddle axis, which is none that is transformed, there is one axis that is: its element k is then
 * multiplied by the power k * j of the root of unity of order `twiddle_n`, with j the position along the
 * twiddle axis. Not of "irfft". */
typedef struct cb_fft_params {
    int64_t n[CUBED_MAX_NDIM]; /* by axis; 0: not transformed */
    int64_t twiddle_n;         /* 0 without a twiddle axis */
    int32_t real_axis;         /* -1 of "fft" */
    int32_t twiddle_axis;      /* -1: none */
    int32_t forward;           /* 0 or 1 */
    int32_t scale;             /* cb_fft_scale */
} cb_fft_params;

/* "group": x, whose grouped axes are naxes from `axis` on, and the group of each of their elements; planes
 * of states (kernel/group.h) with one axis of groups in their place. */
typedef struct cb_group_params {
    int64_t ngroups;
    /* Of the grouped axes: where x begins in the array that positions are those of, and that array's
     * extents. */
    int64_t start[CUBED_MAX_NDIM], extent[CUBED_MAX_NDIM];
    int32_t axis, naxes;
    int32_t kind, variant; /* cb_group_kind, cb_group_variant */
    int32_t time;          /* 1: x is of times, as int64 */
    int32_t zero;
} cb_group_params;

/* "rolling": x, whose blocks come with what there is of `before` elements in front of them and `after` behind
 * them along each axis, and a result for each element. */
typedef struct cb_rolling_params {
    int64_t before[CUBED_MAX_NDIM], after[CUBED_MAX_NDIM];
    int64_t min_count;
    double correction;
    int32_t reduction; /* cubed_group_reduction */
    int32_t unused;    /* 0 */
} cb_rolling_params;

#endif
