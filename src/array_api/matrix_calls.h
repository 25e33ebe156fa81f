/* Calls of functions on blocks of whole matrices. The last two axes of an array are those of the matrices. All other axes are
 * batch axes. */
#ifndef CB_API_MATRIX_CALLS_H
#define CB_API_MATRIX_CALLS_H

#include "plan/graph.h"

/* The result of a function for each matrix. `core` is its number of axes:
 *
 * 2  a matrix of extent[0] x extent[1]
 * 1  a vector of extent[0] elements
 * 0  a number */
typedef struct cb_matrix_result {
    cubed_dtype dtype;
    int core;
    int64_t extent[2];
} cb_matrix_result;

/* A function on matrices, and its results. */
typedef struct cb_matrix_job {
    const char *function;
    const void *params;
    size_t params_size;
    const cb_matrix_result *results;
    int nout;
} cb_matrix_job;

/* Gets the type for computations with matrices of type x: float64 for integers, float32 for half precision. CUBED_E_TYPE if x
 * is not a number; `name` is for messages. */
CUBED_MUST_CHECK cubed_status cb_matrix_dtype(const char *name, cubed_dtype x, cubed_dtype *out,
                                              cubed_error *err);
/* Casts x to `dtype`. CUBED_E_LINALG if x has fewer than two axes, or if `square` is set and its matrices are not square. */
CUBED_MUST_CHECK cubed_status cb_matrix_operand(const char *name, cubed_array *x, bool square,
                                                cubed_array **out, cubed_error *err);
/* Calls the function on blocks of whole matrices. A block has at most the batch extents of a chunk of x, and as many matrices as
 * fit in CB_API_BLOCK_BYTES, but at least one. */
CUBED_MUST_CHECK cubed_status cb_matrix_apply(const cb_matrix_job *j, cubed_array *x,
                                              cubed_array **outs, cubed_error *err);
/* Calls the function on blocks, each with as many whole matrices as fit. outs[i] is NULL for a result that the caller does not
 * need. */
CUBED_MUST_CHECK cubed_status cb_matrix_apply_to(const cb_matrix_job *j, cubed_array *x,
                                                 cubed_array **const *outs, cubed_error *err);
/* Sets *out to true if a task of `task_mem` bytes can hold one matrix of x (and of b, unless it is NULL), its results, and the
 * chunks from which it is read, or if task_mem is 0 (unknown). */
CUBED_MUST_CHECK cubed_status cb_matrix_fits(const cb_matrix_job *j, const cubed_array *x,
                                             const cubed_array *b, uint64_t task_mem, bool *out,
                                             cubed_error *err);

#endif
