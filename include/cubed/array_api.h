/* Functions of the Python Array API standard that work on whole blocks. Lazy, as all of
 * cubed/array.h. Results are stored, in chunks that their functions choose. */
#ifndef CUBED_ARRAY_API_H
#define CUBED_ARRAY_API_H

#include "cubed/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Sorting ---------------------------------------------------------------------------------------- */

/* The elements in order along an axis (which may be negative), and the positions (int64) that put them in
 * order. Equal elements stay in theirs, also descending, and zeros of either sign are equal. NaN counts as
 * larger than all numbers, "not a time" as larger than all times; complex numbers are ordered by their
 * real parts, then by their imaginary ones. An axis is in one block: a task needs memory for three times
 * its elements. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_sort(cubed_array *x, int axis, bool descending,
                                                   cubed_array **out, cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_argsort(cubed_array *x, int axis, bool descending,
                                                      cubed_array **out, cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
