/* Factorisations of matrices that do not fit in a task. A matrix is factored in panels: groups of adjacent columns, one task
 * after another. These functions choose the width of panels, and arrange panels as inputs of the functions in
 * linalg/linalg_panel.h.
 *
 * Inputs and results of panel functions are columns of blocks: arrays of `rows` + n rows and up to `step` columns. The first
 * `rows` rows, the top of a panel, contain additional data such as pivots. The other n rows are rows of the matrix. */
#ifndef CB_API_PANELS_H
#define CB_API_PANELS_H

#include "ops/steps.h"
#include "plan/graph.h"

/* Panels of `step` columns, in blocks of `rows` rows. */
typedef struct cb_panels {
    cb_steps *s;
    cubed_dtype dtype; /* float64 or complex128 */
    int batch;         /* number of axes before the matrices */
    int64_t shape[CUBED_MAX_NDIM];
    int64_t n, step, rows; /* n: number of rows of the matrix */
} cb_panels;

/* Sets `step` and `rows` to the widest panels for `function` whose task and plan fit in `task_mem` bytes. The size of the plan is
 * an estimate. If no panels fit by the estimate, sets panels that may fit, because a plan can be smaller than its estimate. If no
 * panels can fit, sets 64 panels or fewer: their plan is built quickly, and is refused because its tasks are too large.
 * CUBED_E_BUDGET if n is 0. */
CUBED_MUST_CHECK cubed_status cb_panels_choose(cb_panels *p, const char *function,
                                               uint64_t task_mem, cubed_error *err);
/* Returns the number of panels of a matrix with `columns` columns. */
static inline int64_t cb_panels_count(const cb_panels *p, int64_t columns)
{
    return cb_ceil_div(columns, p->step);
}
/* Returns the number of columns of panel number k of a matrix with `columns` columns. */
static inline int64_t cb_panels_width(const cb_panels *p, int64_t k, int64_t columns)
{
    return cb_min_i64(p->step, columns - k * p->step);
}

/* Returns a range of rows and columns of the matrices of x; NULL if the range is empty. */
cubed_array *cb_panels_part(cb_steps *s, cubed_array *x, int64_t row, int64_t rows, int64_t column,
                            int64_t columns);
/* Concatenates the entries of `list` that are not NULL, below each other or side by side. */
cubed_array *cb_panels_concat(cb_steps *s, cubed_array *const *list, int n, bool side_by_side);
/* Returns x in double precision, stored in chunks that are blocks of its panels, because a task has no memory left to decode
 * other chunks. */
cubed_array *cb_panels_stored(const cb_panels *p, cubed_array *x);
/* Returns a matrix of zeros, or NULL if `rows` or `columns` is 0. */
cubed_array *cb_panels_zeros(const cb_panels *p, int64_t rows, int64_t columns);
/* Returns x, the last rows of a panel, as a column of blocks: adds rows of zeros above x, and columns of zeros up to `step`
 * columns. */
cubed_array *cb_panels_own(const cb_panels *p, cubed_array *x);
/* Returns a part of panel number k as a column of blocks, from the result `made` of a panel function. From top to bottom, the
 * column contains the panel's top, zeros above the panel's diagonal, and the rows from the diagonal on. */
cubed_array *cb_panels_lower(const cb_panels *p, cubed_array *made, int64_t k);
/* Returns panel number k as a column of blocks, from the result `made` of a panel function. From top to bottom, the column
 * contains the panel's square on the diagonal, zeros in the other rows of the top, the rows above the square, and zeros. */
cubed_array *cb_panels_upper(const cb_panels *p, cubed_array *made, int64_t k);
/* Returns panel number `of` as a column of blocks, from the result `made` of a panel function. The top of the column begins with
 * a copy of `rows` rows of the matrix, from the panel's diagonal on, and ends with zeros. Below the top, the column contains
 * zeros for the rows above the diagonal, then the rows from the diagonal on. */
cubed_array *cb_panels_below(const cb_panels *p, cubed_array *made, int64_t of, int64_t rows);
/* Calls a panel function and returns its result, a panel of `width` columns.
 *
 * columns  n columns of blocks, which are the function's input, one after another
 * panels, option  parameters of the function (cb_panel_params) */
cubed_array *cb_panels_call(const cb_panels *p, const char *function, cubed_array *const *columns,
                            int n, int64_t panels, bool option, int64_t width);
/* Returns the first `height` rows of a matrix: concatenates n panels side by side, without their tops. */
cubed_array *cb_panels_join(const cb_panels *p, cubed_array *const *made, int n, int64_t height);

#endif
