/* Parameters of the built-in block functions, as stored in plans: fixed-width numbers without padding. A name in quotes is the
 * name of a function. Its comment describes the function's operands and results (blocks of arrays) and the structure of its
 * parameters. Functions without parameters are also described here. */
#ifndef CB_BLOCK_PARAMS_H
#define CB_BLOCK_PARAMS_H

#include <stdint.h>

#include "cubed/base.h"

/* "sort", "argsort": one input and one output of the same shape. "argsort" outputs the positions that sort the input. */
typedef struct cb_sort_params {
    int32_t axis;
    int32_t descending; /* 0 or 1 */
} cb_sort_params;

/* "matmul": the product of a and b, matrix by matrix. The structure has the number of axes of each kind. The order of the axes
 * is:
 *
 *   a       batch, rows, summed
 *   b       batch, summed, columns
 *   output  batch, rows, columns
 *
 * A batch axis of a or b may have extent 1; it is then broadcast. */
typedef struct cb_matmul_params {
    int32_t batch, rows, summed, columns;
} cb_matmul_params;

/* "take", "take_along_axis": take elements of x by their int64 positions along an axis. Negative positions count from the axis's
 * end. Each call gets one block of the axis. "take" has a list of positions, and the result has an axis of this length in place
 * of the axis of x. "take_along_axis" has a position for each element of the result. */
typedef struct cb_take_params {
    int32_t axis;
    int32_t unused; /* 0 */
    int64_t extent; /* extent of the axis in the whole array x */
} cb_take_params;

/* "wrap": converts int64 positions of any shape: a negative position, which counts from the axis's end, becomes the position from
 * its start. Fails if a position is out of bounds. The parameters are a cb_take_params. */

/* "require": copies an array. A second input has a bool for each element; the function fails at the first one that is false. The
 * parameters are an error message of at most CB_REQUIRE_BYTES bytes, terminating NUL included. */
#define CB_REQUIRE_BYTES 200

/* "pick_fields": copies pieces (ranges of bytes) of each record, such as a field, to the result. The pieces of a record follow
 * one another in the result. The first axes of the result are those of the records; the other axes are not divided into blocks.
 * The parameters are an array of pieces. */
typedef struct cb_piece_params {
    int32_t offset, size; /* offset in a record, and size, in bytes */
    /* Size in bytes of the units whose bytes are reversed, to change the byte order: 2, 4 or 8. 1: no bytes are reversed. */
    int32_t unit;
} cb_piece_params;

/* "replace": copies strings, which are truncated or padded to the length of the result's type. With a mask (bool) and a third
 * input, it copies strings of the third input where the mask is true. All inputs broadcast to the result. Instead of strings, all
 * operands but the mask may be records of one type. No parameters.
 *
 * "text": outputs a single string or record, whose bytes are the parameters. No inputs. */

/* "join_texts": appends the strings of the second input to those of the first one. Both broadcast to the result. The length of
 * the result's type is at least the sum of the inputs' lengths. No parameters. */

/* "join_characters": joins strings of one byte (S1) along their last axis: result strings are as long as this axis. No
 * parameters. */

/* "compare_texts": compares the strings of two inputs, which broadcast to the result. */
typedef struct cb_compare_params {
    int32_t op; /* a cubed_op, CUBED_OP_EQUAL to CUBED_OP_GREATER_EQUAL */
} cb_compare_params;

/* "extreme_text": the smallest or the largest string. Results have extent 1 along the reduced axes. An optional second result is
 * the int64 position of the string; of equal strings, the least position. A second input may have the positions. Without this
 * input, the position of an element is the sum of index * stride over the axes, where indices refer to the whole array. */
typedef struct cb_extreme_params {
    int32_t largest; /* 0 or 1 */
    int32_t unused;  /* 0 */
    int64_t stride[CUBED_MAX_NDIM];
} cb_extreme_params;

/* "count_true": counts the true elements of a mask in one dimension, separately for each `chunk` elements. */
typedef struct cb_count_true_params {
    int64_t chunk;
} cb_count_true_params;

/* "cell_areas": the area of each cell on the unit sphere. The two inputs are the latitudes and the longitudes of the cells'
 * corners, in degrees; their last axis has the corners of a cell. All operands are float64. No parameters. */

/* "degrees": copies latitudes or longitudes in degrees (float64). Fails if a finite number is out of range, or if the numbers of
 * an axis are neither ascending nor descending. */
typedef struct cb_degrees_params {
    int32_t is_lon; /* 0: latitudes; 1: longitudes, which may jump by multiples of 360 */
    int32_t
        is_bound; /* 0: the input is one axis of coordinates, in one block; 1: bounds of coordinates, in two columns */
} cb_degrees_params;

/* "fill_missing": replaces missing elements of fields. Inputs are x, and float64 latitudes and longitudes in degrees, which are
 * not split. If `regular`, the last two axes of x are an axis of latitudes and one of longitudes. Otherwise the last axes of x
 * have the shape of the coordinates. */
typedef struct cb_fill_params {
    int32_t regular;    /* 0 or 1 */
    int32_t neighbours; /* 1 to CB_MOST_NEIGHBOURS */
} cb_fill_params;
enum { CB_MOST_NEIGHBOURS = 64 };
/* Name of the user's function in error messages, which depends on the number of neighbours. */
#define CB_FILL_NAME(neighbours) ((neighbours) == 1 ? "setmisstonn" : "setmisstodis")

/* "histogram": counts elements in bins, or sums their weights (a second input). bins + 1 non-descending edges follow as doubles.
 * "bincount": counts each integer, or sums its weights; no parameters. */
typedef struct cb_histogram_params {
    int64_t bins;
} cb_histogram_params;

/* "searchsorted": the position of each value (second input) among sorted elements (first input, one dimension). Each call gets
 * one block of the sorted elements. */
typedef struct cb_search_params {
    int32_t right; /* 0: the position before equal elements; 1: the position after them */
} cb_search_params;

/* "isin": whether each element of the first input is a member of a set, the second input (any shape). Each call gets one block of
 * the members. */
typedef struct cb_isin_params {
    int32_t invert; /* 1: the result is true for elements that are not members; 0: for members */
    /* 1 if the operands were cast to uint64, because one had a signed integer type and the other uint64; otherwise 0. With 1, an
     * element whose highest bit is set equals no element of the other operand, whose type did not have this value. */
    int32_t positive;
} cb_isin_params;

/* "quantile": quantiles over the elements of `naxes` axes, from `axis` on. The probabilities follow: `count` doubles from 0 to 1.
 * The first axis of the output has the quantiles. The other axes of x follow, possibly with axes of extent 1 between them.
 * "refine_keys" and "find_keys" have the same parameters, but use no axes. */
typedef struct cb_quantile_params {
    int32_t axis, naxes;
    int32_t method;   /* a cubed_quantile_method */
    int32_t skip_nan; /* 1: ignore NaN; otherwise 0 */
    int32_t dtype;    /* type of the elements */
    int32_t wide;     /* 1: interpolated values are float64 for all element types; otherwise 0 */
    int64_t count;
} cb_quantile_params;

/* "group_quantile": quantiles of groups of elements. A second input has the group of each element along the axes of `quantile`; a
 * negative number means no group. In the output, an axis of groups replaces these axes. Results have the type of the elements if
 * it is a floating-point type and `wide` is 0, otherwise float64. */
typedef struct cb_group_quantile_params {
    int64_t ngroups;
    int32_t wide;                /* 0 or 1 */
    int32_t unused;              /* 0 */
    cb_quantile_params quantile; /* parameters of the quantiles; the probabilities follow */
} cb_group_quantile_params;

/* "count_keys": counts how often each value of a digit occurs in the keys of the elements (block_order.h), over `naxes` axes from
 * `axis` on. The digit consists of `bits` bits of a key, from bit `shift` on. key_counts.c describes the operands. */
typedef struct cb_count_params {
    int32_t axis, naxes;
    int32_t shift, bits;
} cb_count_params;

/* A line of elements, along `axis`, that is sorted by merging. Operands have extent 1 along all other axes. The line is divided
 * into runs (sorted sequences), and runs into parts. Adjacent runs, `fan` at a time, are merged into one. All lengths are numbers
 * of elements; the last run and the last part may be shorter. */
typedef struct cb_runs {
    int32_t axis;
    int32_t descending; /* 0 or 1 */
    /* extent: length of the line. part: length of a part, the elements that one call sorts or outputs. run: length of a run, a
     * multiple of `part`. fan: number of runs that are merged into one. */
    int64_t extent, part, run, fan;
} cb_runs;

/* "sort_run": sorts one part of x. "merge_runs": outputs one part of merged runs. Only some elements of each run are candidates
 * for this part. The inputs are the range of the candidates in each run (a start and an end), and the candidates themselves.
 *
 * The outputs are, in this order:
 *
 *   the sorted elements
 *   if `positions` is 1, an int64 number for each element: its position in the line, unless the second input of "sort_run" has
 *   another number. "merge_runs" has the numbers as its third input
 *   `samples` lists of samples. The step of each list follows the structure as int64: the list has every step-th element of the
 *   part, and the part's last element */
typedef struct cb_sort_run_params {
    cb_runs runs;
    int32_t positions, samples;
} cb_sort_run_params;

/* "merge_bounds": finds the ranges of the runs that contain each part of the merged run. It searches samples of the runs, one for
 * every `step` elements. A single input has all samples. With two inputs, the first has known ranges of samples, and the second
 * has only the samples in these ranges. The resulting ranges count samples of every `finer` elements; if `finer` is 1,
 * elements. */
typedef struct cb_bounds_params {
    cb_runs runs;
    int64_t step, finer;
} cb_bounds_params;

/* Factor by which results of a transform along an axis of n elements are multiplied: 1, 1 / sqrt(n) or 1 / n. */
typedef enum cb_fft_scale { CB_FFT_SCALE_ONE, CB_FFT_SCALE_SQRT, CB_FFT_SCALE_N } cb_fft_scale;

/* Fourier transforms along one or more axes:
 *
 *   "fft"    a real or complex input; a complex output of the same shape
 *   "rfft"   a real input; along real_axis, n numbers become n / 2 + 1 complex numbers
 *   "irfft"  the inverse of "rfft"; overwrites its input
 *
 * With a twiddle axis, which is not transformed, exactly one other axis is transformed. Afterwards, element k along the
 * transformed axis is multiplied by w ** (j * k). j is the position along the twiddle axis in the whole array. w is
 * exp(-2 pi i / twiddle_n), or its conjugate if `forward` is 0. Not for "irfft". */
typedef struct cb_fft_params {
    /* Length of the transform along each axis; 0: the axis is not transformed. */
    int64_t n[CUBED_MAX_NDIM];
    int64_t twiddle_n;    /* see above; 0: no twiddle axis */
    int32_t real_axis;    /* the axis that is real on one side of the transform; -1 for "fft" */
    int32_t twiddle_axis; /* -1: none */
    int32_t forward;      /* 0 or 1 */
    int32_t scale;        /* a cb_fft_scale */
} cb_fft_params;

/* "group": reduces elements by group. The grouped axes of x are `naxes` axes from `axis` on. A second input has the group of each
 * element along these axes, as int64. The outputs are the planes of the states (partial results; see kernel/group.h). In the
 * planes, one axis of groups replaces the grouped axes. */
typedef struct cb_group_params {
    int64_t ngroups;
    /* For each grouped axis: the index at which x starts in the whole array, and the extent of the whole array. Positions refer
     * to the whole array. */
    int64_t start[CUBED_MAX_NDIM], extent[CUBED_MAX_NDIM];
    int32_t axis, naxes;
    int32_t kind, variant; /* a cb_group_kind and a cb_group_variant */
    int32_t time;          /* 1: x contains times, as int64; otherwise 0 */
    int32_t zero;          /* unused, 0 */
} cb_group_params;

/* "rolling": reduces a moving window around each element. The window of an element has `before` elements before it and `after`
 * elements after it, along each axis. A block of x has the elements of the result's block and those of their windows; windows end
 * at the ends of the array. */
typedef struct cb_rolling_params {
    int64_t before[CUBED_MAX_NDIM], after[CUBED_MAX_NDIM];
    /* Minimum number of values other than NaN in a window. With fewer values, the result is NaN, except for counts. */
    int64_t min_count;
    /* For variances and standard deviations: the sum of squares is divided by count - correction. */
    double correction;
    int32_t reduction; /* number of a cubed_group_reduction */
    int32_t unused;    /* 0 */
} cb_rolling_params;

/* Kinds of "filter". Each result is computed from the elements around it. The kinds before CB_FILTER_RANK filter along one axis
 * after another. The other kinds filter all elements of a box together. The comments list the data that follow cb_filter_params;
 * data of a box are in C order. */
typedef enum cb_filter_kind {
    /* Weighted sum. Doubles follow: the weights of each axis in `axes`, one axis after another. */
    CB_FILTER_CORRELATE,
    CB_FILTER_MEAN,
    CB_FILTER_MIN,
    CB_FILTER_MAX,
    /* The element of a given rank. A byte follows for each element of the box: 1 if the element counts, 0 if not. */
    CB_FILTER_RANK,
    /* Weighted sum. A double follows for each element of the box: its weight. */
    CB_FILTER_WEIGHTS,
    /* Minimum and maximum. A double follows for each element of the box: a number that is added to the element, NaN if the
     * element does not count. */
    CB_FILTER_LEAST,
    CB_FILTER_GREATEST,
    CB_FILTER_KINDS
} cb_filter_kind;
/* "filter": one result for each element of a block. The block of x is larger: along each axis, it has a halo of `before` elements
 * before and `after` elements after the result's block. */
typedef struct cb_filter_params {
    int64_t before[CUBED_MAX_NDIM], after[CUBED_MAX_NDIM];
    int64_t rank;  /* rank for CB_FILTER_RANK, among the elements that the footprint selects */
    int32_t kind;  /* a cb_filter_kind */
    uint32_t axes; /* bit d: axis d is filtered; 0 for boxes */
} cb_filter_params;

/* How an image continues beyond its ends. The values are those of cubed_spline_boundary, in the same order. */
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

/* Interpolation of an image by splines. The image consists of the coefficients of the splines, float64 or complex128.
 *
 * "interpolate": the input is a part of the image. An affine map gives the position in the image of each element of the output,
 * from its index in the whole output. The map follows the structure as doubles: an offset for each axis of the image, then
 * factors.
 *
 *   `diagonal` is 0          ndim rows of ndim factors: position[d] = sum over j of factor[d][j] * index[j] + offset[d]
 *   `diagonal` is 1          ndim factors: position[d] = (index[d] + offset[d]) * factor[d]
 *   and `centred` is also 1  position[d] = (index[d] + offset[d] + 0.5) * factor[d] - 0.5
 *
 * "interpolate_at": an input has the positions as float64; its first axis has one coordinate for each axis of the image, and its
 * other axes are those of the outputs. Each call gets one block of the image (the first input). The outputs are the sums so far,
 * float64 or complex128, and the results, which the last call writes. No map follows. */
typedef struct cb_interpolate_params {
    int64_t extent[CUBED_MAX_NDIM]; /* extents of the image, padding included */
    /* Number of padding elements at the start of each interpolated axis. Position 0 is the first element after them. */
    int64_t pad;
    double value, imaginary;   /* value beyond the ends: real and imaginary part */
    int32_t order;             /* order of the splines, 0 to 5 */
    int32_t end;               /* a cb_interpolate_end */
    int32_t diagonal, centred; /* 0 or 1 */
    /* kept: bit d is set if axis d is not interpolated: it has order 0 and no padding. unused: 0 */
    uint32_t kept, unused;
} cb_interpolate_params;

/* Returns true if a kind filters all elements of a box together, and not along one axis after another. */
static inline bool cb_filter_takes_box(int32_t kind) { return kind >= CB_FILTER_RANK; }

/* "remap": computes an array on another grid. Each cell of the target grid is a weighted sum of cells of the source grid; the
 * weights form a sparse matrix in compressed row form. The target grid is in the last `to` axes of the result, the source grid in
 * the last `from` axes of x. The block of x has `cells` cells of the source grid. The inputs are:
 *
 *   x        the elements
 *   starts   int64: indices of the first weight of each row (cell of the target grid), and of the end of the last row. The first
 *            number is `first`, because starts count from the first weight of the whole matrix
 *   columns  int32: source cell of each weight; the first cell of x has column `base`
 *   values   float64: the weights */
typedef struct cb_remap_params {
    int64_t cells, first, base;
    int32_t from, to;
    int32_t skipna; /* 0 or 1; see cb_sparse_rows */
    int32_t
        copies; /* 0: weighted sums; 1: copies the element of each row's only weight, of any type; 2: copies the value
                       whose weights have the largest sum */
    double na_threshold; /* see cb_sparse_rows */
} cb_remap_params;

#endif
