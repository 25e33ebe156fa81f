/* Shared by the files of this folder only. */
#ifndef CB_API_PKG_H
#define CB_API_PKG_H

#include "cubed/array_api.h"
#include "cubed/blockwise.h"
#include "plan/graph.h"

/* Blocks are made about this large where an operation has the choice: large enough that a task is worth
 * its dispatch, small enough that several fit a task. Where not even that does the optimiser cuts them
 * finer. */
#define CB_API_BLOCK_BYTES ((int64_t)32 << 20)

/* Bytes that are brought together at most where a function knows another way: of what tasks may use a
 * quarter, as they need about three times as much. 0: it is not known. */
uint64_t cb_api_line_bytes(uint64_t task_mem);

/* Whether lines of x along an axis are too long for a task; and how they are sorted, in parts that are merged
 * (sort_runs.c). `values`, `positions`: NULL if they are not wanted. `beside`: int64 of x's shape that take the
 * place of positions; NULL: positions. */
bool cb_api_sorts_in_runs(const cubed_array *x, int axis, bool positions, uint64_t task_mem);
CUBED_MUST_CHECK cubed_status cb_api_sort_runs(cubed_array *x, cubed_array *beside, int axis,
                                               bool descending, uint64_t task_mem,
                                               cubed_array **values, cubed_array **positions,
                                               cubed_error *err);

/* x in one dimension. */
CUBED_MUST_CHECK cubed_status cb_api_flatten(cubed_array *x, cubed_array **out, cubed_error *err);
/* The elements of x (or their positions) where a mask is true, of which `count` are; the offsets are of its
 * blocks of `chunk` elements (nonzero.c). */
CUBED_MUST_CHECK cubed_status cb_api_pick(cubed_array *x, cubed_array *mask, cubed_array *offsets,
                                          int64_t chunk, int64_t count, cubed_array **out,
                                          cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_api_positions(cubed_array *mask, cubed_array *offsets,
                                               int64_t chunk, int64_t count, cubed_array **out,
                                               cubed_error *err);

/* Extents of blocks of x: axes in `whole` (bit d) are whole, the others as they are chunked, or shorter
 * if a block would have more than CB_API_BLOCK_BYTES of `item_size` each. */
void cb_api_blocks(const cubed_array *x, uint32_t whole, size_t item_size,
                   int64_t chunks[CUBED_MAX_NDIM]);
/* The same with another bound in its place. */
void cb_api_blocks_within(const cubed_array *x, uint32_t whole, int64_t bytes, size_t item_size,
                          int64_t chunks[CUBED_MAX_NDIM]);
/* What a task holds that calls a function once: operands, results, scratch memory, and the largest chunk that an
 * operand comes from, decoded and encoded. `call` has extents and types; inputs are blocks of `from`. */
CUBED_MUST_CHECK cubed_status cb_api_call_bytes(const char *function, const cubed_block_call *call,
                                                const cubed_array *const *from, uint64_t *out,
                                                cubed_error *err);
/* Makes an axis of an array of ndim dimensions positive. */
CUBED_MUST_CHECK cubed_status cb_api_axis(const char *what, int ndim, int *axis, cubed_error *err);

/* Several, each once, as bits. */
CUBED_MUST_CHECK cubed_status cb_api_axes(const char *what, int ndim, const int *axes, int n,
                                          uint32_t *mask, cubed_error *err);

/* Singular values of matrices (m x n, m >= n), or eigenvalues of Hermitian ones, that no task holds (band.c);
 * *fits: whether a task holds a band of them, else there is no result. */
CUBED_MUST_CHECK cubed_status cb_api_band_values(cubed_array *x, bool hermitian, uint64_t task_mem,
                                                 bool *fits, cubed_array **out, cubed_error *err);

/* The functions of matrices that no task holds (panel_factors.c); x and b are of types that are computed with.
 * If tasks do not even hold one column, a plan is refused. */
CUBED_MUST_CHECK cubed_status cb_api_panel_cholesky(cubed_array *x, bool upper, uint64_t task_mem,
                                                    cubed_array **out, cubed_error *err);
/* What is NULL is not wanted. */
CUBED_MUST_CHECK cubed_status cb_api_panel_slogdet(cubed_array *x, uint64_t task_mem,
                                                   cubed_array **sign, cubed_array **logabsdet,
                                                   cubed_array **det, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_api_panel_inv(cubed_array *x, uint64_t task_mem, cubed_array **out,
                                               cubed_error *err);
/* `batch`: the extents of both in front of matrices, broadcast. */
CUBED_MUST_CHECK cubed_status cb_api_panel_solve(cubed_array *x, cubed_array *b,
                                                 const int64_t *batch, uint64_t task_mem,
                                                 cubed_array **out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_api_panel_qr(cubed_array *x, bool complete, uint64_t task_mem,
                                              cubed_array **q, cubed_array **r, cubed_error *err);

/* cubed_solve as a part of another function, which has that name. */
CUBED_MUST_CHECK cubed_status cb_api_solve(const char *name, cubed_array *x1, cubed_array *x2,
                                           uint64_t task_mem, cubed_array **out, cubed_error *err);

#endif
