/* Matrices that no task holds, factored in panels of columns: how wide they are, and views of them as
 * functions of panels read them (linalg/linalg_panel.h). */
#ifndef CB_API_PANELS_H
#define CB_API_PANELS_H

#include "ops/steps.h"
#include "plan/graph.h"

/* Panels of `step` columns, given in blocks of so many rows. */
typedef struct cb_panels {
    cb_steps *s;
    cubed_dtype dtype; /* float64 or complex128 */
    int batch;         /* axes in front of matrices */
    int64_t shape[CUBED_MAX_NDIM];
    int64_t n, step, rows; /* n: rows of the matrix */
} cb_panels;

/* The widest panels of n rows for `function` that tasks hold; if they hold none, few panels, whose plan is
 * refused. */
CUBED_MUST_CHECK cubed_status cb_panels_choose(cb_panels *p, const char *function,
                                               uint64_t task_mem, cubed_error *err);
/* Number of panels of so many columns. */
static inline int64_t cb_panels_count(const cb_panels *p, int64_t columns)
{
    return cb_ceil_div(columns, p->step);
}
/* The columns of panel number k of a matrix of so many. */
static inline int64_t cb_panels_width(const cb_panels *p, int64_t k, int64_t columns)
{
    return cb_min_i64(p->step, columns - k * p->step);
}

/* Rows and columns of the matrices of x; NULL if there are none. */
cubed_array *cb_panels_part(cb_steps *s, cubed_array *x, int64_t row, int64_t rows, int64_t column,
                            int64_t columns);
/* Those of `list` that are there, below one another or side by side. */
cubed_array *cb_panels_concat(cb_steps *s, cubed_array *const *list, int n, bool side_by_side);
/* x in double precision, stored in chunks that are blocks of its panels: a task has no memory left for what it is
 * decoded from. */
cubed_array *cb_panels_stored(const cb_panels *p, cubed_array *x);
/* NULL if there are none. */
cubed_array *cb_panels_zeros(const cb_panels *p, int64_t rows, int64_t columns);
/* x (n x at most `step`) below rows of zeros, and wider by columns of zeros. */
cubed_array *cb_panels_own(const cb_panels *p, cubed_array *x);
/* A column of blocks from panel number k, `made` by a function: its top and the rows from its diagonal on, with
 * zeros between them. */
cubed_array *cb_panels_lower(const cb_panels *p, cubed_array *made, int64_t k);
/* Its square on the diagonal as the top, and the rows above, then zeros. */
cubed_array *cb_panels_upper(const cb_panels *p, cubed_array *made, int64_t k);
/* The rows of panel `of` as the top, and the rows from there on. */
cubed_array *cb_panels_below(const cb_panels *p, cubed_array *made, int64_t of, int64_t rows);
/* What a function makes of columns of blocks: a panel so wide. */
cubed_array *cb_panels_call(const cb_panels *p, const char *function, cubed_array *const *columns,
                            int n, int64_t panels, bool option, int64_t width);
/* The rows of the matrix in panels, side by side: `height` of them. */
cubed_array *cb_panels_join(const cb_panels *p, cubed_array *const *made, int n, int64_t height);

#endif
