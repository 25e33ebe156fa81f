/* Parameters of the built-in block functions as stored in plans: fixed-width integers without padding. */
#ifndef CB_BLOCK_PARAMS_H
#define CB_BLOCK_PARAMS_H

#include <stdint.h>

#include "cubed/base.h"

/* "sort", "argsort": one input and one output of the same shape. */
typedef struct cb_sort_params {
    int32_t axis;
    int32_t descending; /* 0 or 1 */
} cb_sort_params;

/* "matmul": number of axes of each kind. a has the axes batch, rows, summed; b has batch, summed, columns; the output has
 * batch, rows, columns. Batch axes of a and b may have extent 1. */
typedef struct cb_matmul_params {
    int32_t batch, rows, summed, columns;
} cb_matmul_params;

/* "take", "take_along_axis": x, whose axis is divided into blocks that are passed one after another, and int64 positions
 * along it; negative ones count from the end. "take" has positions in one axis, which replaces x's axis; "take_along_axis"
 * has one position per element of the result. */
typedef struct cb_take_params {
    int32_t axis;
    int32_t unused; /* 0 */
    int64_t extent; /* extent of x's axis */
} cb_take_params;

/* "wrap": int64 positions of any shape. Its parameters are a cb_take_params. */

/* "require": an array, and a bool for each of its elements. The parameters are an error message with its terminating
 * NUL. */
#define CB_REQUIRE_BYTES 200

/* "pick_fields": records, and a result whose first axes are those of the records. The pieces of a record follow one another in
 * the result. The other axes of the result have the same extent in all blocks. The parameters are a list of pieces. */
typedef struct cb_piece_params {
    int32_t offset, size; /* offset in a record, and size, in bytes */
    /* Size of the units whose bytes are reversed; 1: bytes are not reversed. */
    int32_t unit;
} cb_piece_params;

/* "replace": strings that broadcast with the result, which may have strings of another length. Optional inputs are a mask and
 * second strings; the second strings replace the first strings where the mask is true. Records of one type are also possible. No
 * parameters. "text" creates a single string or record from the bytes of its parameters. */

/* "join_texts": two strings that broadcast with the result, whose length is at least the sum of their lengths. No
 * parameters. */

/* "join_characters": characters (S1), whose last axis becomes the bytes of the resulting strings. No parameters. */

/* "compare_texts": two operands that broadcast with the result. */
typedef struct cb_compare_params {
    int32_t op; /* cubed_op */
} cb_compare_params;

/* "extreme_text": strings and, optionally, their int64 positions. Results have extent 1 along reduced axes; an optional
 * second result is the position, the least of equal strings. Without input positions, a position is the sum of the
 * element's indices in the array times `stride`. */
typedef struct cb_extreme_params {
    int32_t largest; /* 0 or 1 */
    int32_t unused;  /* 0 */
    int64_t stride[CUBED_MAX_NDIM];
} cb_extreme_params;

/* "count_true": for a mask in one dimension, the number of true elements in each `chunk` elements. */
typedef struct cb_count_true_params {
    int64_t chunk;
} cb_count_true_params;

/* "cell_areas": latitudes and longitudes of the corners of cells, in degrees, along the last axis. The result is the area of each
 * cell on the unit sphere. No parameters. All are float64. */

/* "degrees": an axis of coordinates or its bounds, of float64. The result is the same numbers. */
typedef struct cb_degrees_params {
    int32_t is_lon; /* 0: latitudes; 1: longitudes, which may jump by 360 */
    int32_t
        is_bound; /* 0: the axis is one block and has ascending or descending numbers; 1: bounds in two columns */
} cb_degrees_params;

/* "histogram": followed by bins + 1 non-descending edges as doubles. "bincount" has no parameters. */
typedef struct cb_histogram_params {
    int64_t bins;
} cb_histogram_params;

/* "searchsorted": sorted elements along one axis, and values to find among them. Each call gets one block of the sorted
 * elements, in order. */
typedef struct cb_search_params {
    int32_t right; /* 0 or 1 */
} cb_search_params;

/* "isin": elements, and an array of any shape with the members of the set. Each call gets one block of the members. */
typedef struct cb_isin_params {
    int32_t invert; /* 0 or 1 */
    /* 1 if one operand has a signed type and the other is uint64. Then an element with the highest of 64 bits set equals no
     * element of the other operand. */
    int32_t positive;
} cb_isin_params;

/* "quantile": quantiles over all elements of `naxes` combined axes from `axis` on, followed by `count` numbers from 0 to 1
 * as doubles. The output starts with the axis of quantiles, followed by x's other axes, possibly with axes of extent 1
 * between them. `skip_nan` ignores NaN. "refine_keys" and "find_keys" use these parameters without axes. */
typedef struct cb_quantile_params {
    int32_t axis, naxes;
    int32_t method;   /* a cubed_quantile_method */
    int32_t skip_nan; /* 0 or 1 */
    int32_t dtype;    /* type of the elements */
    int32_t wide;     /* 1: interpolated values are float64 for all element types; otherwise 0 */
    int64_t count;
} cb_quantile_params;

/* "group_quantile": quantiles per group of elements. A second input has the group of each element along the axes; negative:
 * none. In the output, an axis of groups replaces these axes. Results are float64 if `wide`, otherwise the elements'
 * floating-point type. */
typedef struct cb_group_quantile_params {
    int64_t ngroups;
    int32_t wide;                /* 0 or 1 */
    int32_t unused;              /* 0 */
    cb_quantile_params quantile; /* parameters of the quantiles; the list of quantiles follows */
} cb_group_quantile_params;

/* "count_keys": counts the digit of `bits` bits from bit `shift` on, over all elements of `naxes` combined axes from `axis`
 * on. */
typedef struct cb_count_params {
    int32_t axis, naxes;
    int32_t shift, bits;
} cb_count_params;

/* Runs of a line along `axis`; operands have extent 1 along all other axes. A part has `part` elements, the last one of
 * `extent` elements possibly fewer. A run consists of parts; `fan` runs are merged into one. */
typedef struct cb_runs {
    int32_t axis;
    int32_t descending; /* 0 or 1 */
    int64_t extent, part, run, fan;
} cb_runs;

/* "sort_run": sorts a part of x. "merge_runs": makes a part of merged runs, from the ranges of the runs that contain it:
 * pairs of positions, one pair per run, and the elements in them.
 *
 * With `positions`, elements have int64 positions, or other numbers that are the second input of "sort_run". Outputs are
 * the elements, the positions, and `samples` lists of samples, whose steps follow as int64: every step-th element of each
 * part, and its last one. */
typedef struct cb_sort_run_params {
    cb_runs runs;
    int32_t positions, samples;
} cb_sort_run_params;

/* "merge_bounds": for each part of merged runs, finds the ranges of the runs that contain it, from samples of every `step`
 * elements. A second input contains only the samples in the ranges given by the first input; a single input contains all
 * samples. Resulting ranges are in samples of every `finer` elements (1: elements). */
typedef struct cb_bounds_params {
    cb_runs runs;
    int64_t step, finer;
} cb_bounds_params;

/* Factor of a transform along an axis of n elements: 1, 1 / sqrt(n) or 1 / n. */
typedef enum cb_fft_scale { CB_FFT_SCALE_ONE, CB_FFT_SCALE_SQRT, CB_FFT_SCALE_N } cb_fft_scale;

/* "fft": one complex input, one output of the same shape. "rfft": along real_axis n real numbers become n / 2 + 1 complex
 * ones. "irfft": the inverse, overwriting its input.
 *
 * With a twiddle axis, exactly one other axis is transformed. Its element k is then multiplied by power k * j of the root of
 * unity of order `twiddle_n`. j is the position along the twiddle axis. Not for "irfft". */
typedef struct cb_fft_params {
    /* Length of the transform along each axis; 0: the axis is not transformed. */
    int64_t n[CUBED_MAX_NDIM];
    int64_t twiddle_n;    /* order of the root of unity; 0: no twiddle axis */
    int32_t real_axis;    /* -1 for "fft" */
    int32_t twiddle_axis; /* -1: none */
    int32_t forward;      /* 0 or 1 */
    int32_t scale;        /* a cb_fft_scale */
} cb_fft_params;

/* "group": x, whose grouped axes are naxes from `axis` on, and the group of each of their elements. Outputs are planes of
 * states (kernel/group.h), in which one axis of groups replaces the grouped axes. */
typedef struct cb_group_params {
    int64_t ngroups;
    /* For grouped axes: start of x in the array that positions refer to, and that array's extents. */
    int64_t start[CUBED_MAX_NDIM], extent[CUBED_MAX_NDIM];
    int32_t axis, naxes;
    int32_t kind, variant; /* a cb_group_kind and a cb_group_variant */
    int32_t time;          /* 1: x contains times, as int64 */
    int32_t zero;
} cb_group_params;

/* "rolling": x, whose blocks include up to `before` elements before and `after` elements after them along each axis, and
 * one result per element. */
typedef struct cb_rolling_params {
    int64_t before[CUBED_MAX_NDIM], after[CUBED_MAX_NDIM];
    int64_t min_count;
    double correction;
    int32_t reduction; /* number of a cubed_group_reduction */
    int32_t unused;    /* 0 */
} cb_rolling_params;

/* "filter": x, whose blocks include a halo of `before` elements before and `after` elements after them along each axis, and a
 * result for each element. Some kinds filter one axis after another, the other kinds all elements of a box at once. After the
 * structure follow, in C order for boxes:
 *
 * CB_FILTER_CORRELATE             double: weights of each axis in `axes`, one axis after another
 * CB_FILTER_RANK                  a byte for each element of the box, 1 if it counts
 * CB_FILTER_WEIGHTS               double: a weight for each element of the box
 * CB_FILTER_LEAST, CB_FILTER_GREATEST  double: a number for each element of the box, which is added to it; NaN if the
 *                                 element does not count */
typedef enum cb_filter_kind {
    CB_FILTER_CORRELATE,
    CB_FILTER_MEAN,
    CB_FILTER_MIN,
    CB_FILTER_MAX,
    CB_FILTER_RANK,
    CB_FILTER_WEIGHTS,
    CB_FILTER_LEAST,
    CB_FILTER_GREATEST,
    CB_FILTER_KINDS
} cb_filter_kind;
typedef struct cb_filter_params {
    int64_t before[CUBED_MAX_NDIM], after[CUBED_MAX_NDIM];
    int64_t rank;  /* rank for CB_FILTER_RANK, among the elements that the footprint selects */
    int32_t kind;  /* a cb_filter_kind */
    uint32_t axes; /* bit d: axis d is filtered; 0 for boxes */
} cb_filter_params;

/* Elements of an image beyond its ends; the order is that of cubed_spline_boundary. */
typedef enum cb_interpolate_end {
    CB_INTERPOLATE_REFLECT,
    CB_INTERPOLATE_MIRROR,
    CB_INTERPOLATE_NEAREST,
    CB_INTERPOLATE_WRAP,
    CB_INTERPOLATE_CONSTANT,
    CB_INTERPOLATE_GRID_WRAP,
    CB_INTERPOLATE_GRID_CONSTANT,
    CB_INTERPOLATE_ENDS
} cb_interpolate_end;

/* "interpolate": the input is a part of an image of coefficients, float64 or complex128. The output has a result for each element
 * of its block, at the position that an affine map gives. The map follows as doubles: for each axis of the image an offset, then
 * `ndim` rows of factors, or, if `diagonal`, one factor for each axis: position = (index + offset) * factor. `centred` counts
 * diagonal positions from the edges of elements.
 *
 * "interpolate_at": blocks of an image, which are passed one after another, and positions: float64, an axis of the image's
 * axes in front of the output's. Outputs are sums, float64 or complex128, and results. No map follows. */
typedef struct cb_interpolate_params {
    int64_t extent[CUBED_MAX_NDIM]; /* extents of the image */
    int64_t
        pad; /* number of padding elements in front of interpolated axes, which positions do not count */
    double value, imaginary;   /* value beyond the ends, and its imaginary part */
    int32_t order;             /* order of the splines, 0 to 5 */
    int32_t end;               /* a cb_interpolate_end */
    int32_t diagonal, centred; /* 0 or 1 */
    uint32_t kept, unused; /* kept: bit d: axis d is not interpolated, as with order 0. unused: 0 */
} cb_interpolate_params;

/* Returns whether a kind filters all elements of a box at once. */
static inline bool cb_filter_takes_box(int32_t kind) { return kind >= CB_FILTER_RANK; }

/* "remap": x, whose last `from` axes are a part of a source grid with `cells` cells; starts (int64) of the rows of a sparse
 * matrix, one more than rows; columns (int32); values (float64). Rows are the cells of the result's last `to` axes. The first
 * start is `first`, and the column of x's first cell is `base`. */
typedef struct cb_remap_params {
    int64_t cells, first, base;
    int32_t from, to;
    int32_t skipna; /* 0 or 1 */
    int32_t
        copies; /* 0: sums; 1: rows have one weight, whose element is copied whatever its type; 2: the value with the
                       largest weight is copied */
    double na_threshold;
} cb_remap_params;

#endif
