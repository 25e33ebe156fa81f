/* Sorted lines for reductions that skip missing elements. A line consists of the elements along the reduced axes at one
 * position of the other axes. In a sorted line, missing elements are at the end. */
#ifndef CB_API_KNOWN_LINES_H
#define CB_API_KNOWN_LINES_H

#include "array_api/api_pkg.h"
#include "ops/steps.h"

typedef struct cb_known_lines {
    cb_steps *s;
    cubed_array *x;
    uint32_t
        reduced; /* bit d: axis d of x is reduced. The elements along all reduced axes form one line. */
    bool keepdims;
    int axis;            /* the axis of each line */
    cubed_array *sorted; /* the sorted lines */
    cubed_array
        *known; /* number of elements that are not missing; int64, with extent 1 along the axis */
} cb_known_lines;

/* Sorts the lines of x. `is_missing` receives lines and returns a bool for each element. Before the call, the caller sets the
 * fields s, x, reduced and keepdims. After an error, which is recorded in s, the fields sorted and known are NULL. */
void cb_known_lines_sort(cb_known_lines *l, uint64_t task_mem,
                         cubed_array *(*is_missing)(cb_steps *s, cubed_array *lines));
/* Reshapes y, an array with extent 1 along l->axis, to the shape of a reduction of x. Returns NULL if y is NULL. */
cubed_array *cb_known_lines_result(cb_known_lines *l, cubed_array *y);
/* Returns the element of each line at a position, in the shape of a reduction. If all elements of a line are missing, its
 * position is negative, and the returned element is arbitrary. */
cubed_array *cb_known_lines_take(cb_known_lines *l, cubed_array *at);

#endif
