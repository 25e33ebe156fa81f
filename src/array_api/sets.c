/* Sets of elements. */
#include "array_api/api_pkg.h"
#include "base/error.h"

static cubed_status cut(cubed_array *x, int64_t from, int64_t len, cubed_array **out,
                        cubed_error *err)
{
    const cubed_slice slice = {from, len, 1, false};
    return cubed_slice_array(x, &slice, out, err);
}

cubed_status cubed_first_of_equals(cubed_array *sorted, cubed_array **out, cubed_error *err)
{
    const cubed_scalar yes = {.b = true};
    if (sorted->node.grid.ndim != 1)
        return cb_fail(err, CUBED_E_ARG, "first_of_equals: x has %d dimensions, expected 1",
                       sorted->node.grid.ndim);
    const int64_t n = sorted->shape[0], one = 1, none = 0;
    if (n <= 1)
        return cubed_array_full(sorted->ctx, CUBED_BOOL, 1, n ? &one : &none, &one, &yes, out, err);
    cubed_array *front = NULL, *behind = NULL, *first = NULL, *differs = NULL;
    cubed_status st = CUBED_OK;
    CB_GO(cut(sorted, 1, n - 1, &behind, err));
    CB_GO(cut(sorted, 0, n - 1, &front, err));
    cubed_array *const pair[2] = {behind, front};
    CB_GO(cubed_elementwise(CUBED_OP_NOT_EQUAL, pair, 2, &differs, err));
    CB_GO(cubed_array_full(sorted->ctx, CUBED_BOOL, 1, &one, &one, &yes, &first, err));
    cubed_array *const parts[2] = {first, differs};
    CB_GO(cubed_concat(parts, 2, 0, out, err));
out:
    cubed_array_unref(front);
    cubed_array_unref(behind);
    cubed_array_unref(first);
    cubed_array_unref(differs);
    return st;
}
