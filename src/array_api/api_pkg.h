/* Declarations shared by the files of this folder only. */
#ifndef CB_API_PKG_H
#define CB_API_PKG_H

#include "cubed/array_api.h"
#include "cubed/blockwise.h"
#include "ops/number_steps.h"
#include "plan/graph.h"

/* Size in bytes of the blocks of an operation that can choose its blocks. It is large enough that the overhead of a task is
 * small, and small enough that a task's memory holds several blocks. If blocks of this size do not fit, the optimiser makes them
 * smaller. */
#define CB_API_BLOCK_BYTES ((int64_t)32 << 20)

/* Returns the maximum size in bytes of a block of whole lines, for functions that have another algorithm for longer lines. It is
 * a quarter of task_mem, because a task needs about three times the bytes of the block, but at most 256 MiB. If task_mem is 0
 * (unknown), it is CB_API_BLOCK_BYTES. */
uint64_t cb_api_line_bytes(uint64_t task_mem);

/* Sorting of lines (the elements along an axis) that are too long for a task (sort_runs.c).
 *
 * cb_api_sorts_in_runs  returns true if lines of x along the axis are too long
 * cb_api_sort_runs      sorts them in parts, and merges the sorted parts
 *
 * values     receives the sorted elements; NULL if the caller does not need them
 * positions  (bool) the caller needs positions
 * positions  (array) receives, for each sorted element, its position in the line, or its value in `beside`; NULL if not needed
 * beside     int64 array of x's shape, whose elements are moved together with those of x; NULL: positions */
bool cb_api_sorts_in_runs(const cubed_array *x, int axis, bool positions, uint64_t task_mem);
CUBED_MUST_CHECK cubed_status cb_api_sort_runs(cubed_array *x, cubed_array *beside, int axis,
                                               bool descending, uint64_t task_mem,
                                               cubed_array **values, cubed_array **positions,
                                               cubed_error *err);

/* Reshapes x to one dimension. */
CUBED_MUST_CHECK cubed_status cb_api_flatten(cubed_array *x, cubed_array **out, cubed_error *err);
/* Select the elements of x for which a mask is true (cb_api_pick), or return the positions at which the mask is true
 * (cb_api_positions). See nonzero.c.
 *
 * offsets  for each block of `chunk` elements of the mask: the number of true elements before the block
 * count    number of true elements of the mask */
CUBED_MUST_CHECK cubed_status cb_api_pick(cubed_array *x, cubed_array *mask, cubed_array *offsets,
                                          int64_t chunk, int64_t count, cubed_array **out,
                                          cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_api_positions(cubed_array *mask, cubed_array *offsets,
                                               int64_t chunk, int64_t count, cubed_array **out,
                                               cubed_error *err);

/* Like cb_api_blocks_within, with blocks of at most CB_API_BLOCK_BYTES bytes. */
void cb_api_blocks(const cubed_array *x, uint32_t whole, size_t item_size,
                   int64_t chunks[CUBED_MAX_NDIM]);
/* Chooses the blocks into which a function on whole blocks divides x.
 *
 * whole   bit d is set if axis d must not be divided. Other axes are divided into the chunks of x, or into shorter blocks if a
 *         block would have more than `bytes` bytes, with `item_size` bytes per element.
 * chunks  receives the extent of a block along each axis */
void cb_api_blocks_within(const cubed_array *x, uint32_t whole, int64_t bytes, size_t item_size,
                          int64_t chunks[CUBED_MAX_NDIM]);
/* Computes the memory of a task with one call of a function: operands, results, scratch memory, and the largest chunk of an
 * operand, decoded and encoded. `call` has extents and types; inputs are blocks of `from`. */
CUBED_MUST_CHECK cubed_status cb_api_call_bytes(const char *function, const cubed_block_call *call,
                                                const cubed_array *const *from, uint64_t *out,
                                                cubed_error *err);
/* Checks an axis of an array with ndim dimensions, and converts a negative number to the number of the axis from the start. */
CUBED_MUST_CHECK cubed_status cb_api_axis(const char *what, int ndim, int *axis, cubed_error *err);

/* Checks a list of axes, and sets bit d of *mask for each axis d in the list. An axis must not occur twice. */
CUBED_MUST_CHECK cubed_status cb_api_axes(const char *what, int ndim, const int *axes, int n,
                                          uint32_t *mask, cubed_error *err);

/* Reshapes the weights w, one for each element along the axes of x in the order of `axes`, so that they broadcast to x's shape
 * (field_statistics.c). Returns NULL, without an error, if w has other extents or there are no axes. The caller has checked
 * the axes. */
cubed_array *cb_api_weights(cb_steps *s, const cubed_array *x, cubed_array *w, const int *axes,
                            int naxes);
/* Returns the weights of x's elements: w if it has x's shape, otherwise the result of cb_api_weights. If cb_api_weights
 * does not support w's shape, or an axis is out of range, s fails with an error of `name` (weighted_reductions.c). */
cubed_array *cb_api_weights_of(cb_steps *s, const char *name, const cubed_array *x, cubed_array *w,
                               const int *axes, int naxes);

/* Creates an array from a copy of the numbers at `data`, which are in C order (copied.c).
 *
 * data    NULL: all elements are zero
 * chunks  NULL: chosen automatically */
cubed_array *cb_api_copied(cb_steps *s, cubed_dtype dtype, int ndim, const int64_t *shape,
                           const int64_t *chunks, const void *data);

/* Compares complex numbers as NumPy orders them: by real parts, and if these are equal, by imaginary parts. Returns a bool for
 * each element: true if a is greater (op CUBED_OP_MAXIMUM) or less (CUBED_OP_MINIMUM) than b. If the part that decides is NaN,
 * the result is false (math_functions.c). */
cubed_array *cb_api_complex_beyond(cb_steps *s, cubed_op op, cubed_array *a, cubed_array *b);

/* Computes singular values of matrices (m x n, m >= n), or eigenvalues of Hermitian matrices, that do not fit in a task
 * (band.c). *fits is false, and there is no result, if not even the band of a matrix fits. */
CUBED_MUST_CHECK cubed_status cb_api_band_values(cubed_array *x, bool hermitian, uint64_t task_mem,
                                                 bool *fits, cubed_array **out, cubed_error *err);

/* Functions of matrices that do not fit in a task (panel_factors.c). x and b must have a type in which matrices are computed. If
 * not even one column fits, the plan is refused. */
CUBED_MUST_CHECK cubed_status cb_api_panel_cholesky(cubed_array *x, bool upper, uint64_t task_mem,
                                                    cubed_array **out, cubed_error *err);
/* Pointers to outputs may be NULL if the caller does not need them. */
CUBED_MUST_CHECK cubed_status cb_api_panel_slogdet(cubed_array *x, uint64_t task_mem,
                                                   cubed_array **sign, cubed_array **logabsdet,
                                                   cubed_array **det, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_api_panel_inv(cubed_array *x, uint64_t task_mem, cubed_array **out,
                                               cubed_error *err);
/* `batch`: extents of the batch axes (all axes except the last two) after broadcasting x and b. */
CUBED_MUST_CHECK cubed_status cb_api_panel_solve(cubed_array *x, cubed_array *b,
                                                 const int64_t *batch, uint64_t task_mem,
                                                 cubed_array **out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_api_panel_qr(cubed_array *x, bool complete, uint64_t task_mem,
                                              cubed_array **q, cubed_array **r, cubed_error *err);

/* Solves the equations x1 x = x2. `name` is the function's name in messages. Operands, result and errors: see cubed_solve. */
CUBED_MUST_CHECK cubed_status cb_api_solve(const char *name, cubed_array *x1, cubed_array *x2,
                                           uint64_t task_mem, cubed_array **out, cubed_error *err);

#endif
