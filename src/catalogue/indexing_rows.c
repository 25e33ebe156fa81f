/* Elements at positions. */
#include "base/error.h"
#include "cubed/array_api.h"
#include "rows.h"

#define CATEGORY .category = "indexing"

#define INPUT PARAM_ARRAY("x", "Input array.")
#define POSITIONS(KINDS)                                                                           \
    {                                                                                              \
        PARAM("indices", ACCEPTS(ARRAY) | (KINDS),                                                 \
              CUBED_PARAM_REQUIRED | CUBED_PARAM_POSITION_ONLY | CUBED_PARAM_LIKE,                 \
              "Positions; negative ones count from the end.")                                      \
    }

/* The elements at one position, without the axis. */
static cubed_status take_one(const cb_call *c, int axis)
{
    cubed_array *x = cb_call_array(c, 0);
    const int ndim = cubed_array_ndim(x);
    int at = 0;
    const int64_t *shape = cubed_array_shape(x), position = cb_call_int(c, 1);
    cubed_slice slices[CUBED_MAX_NDIM];
    CB_TRY(cb_call_check_axis(c, 2, ndim, axis, &at));
    if (position < -shape[at] || position >= shape[at])
        return cb_call_blame(c, 1,
                             cb_fail(c->err, CUBED_E_INDEX,
                                     "take: position %lld is out of bounds for axis %d of %lld "
                                     "elements",
                                     (long long)position, at, (long long)shape[at]));
    for (int d = 0; d < ndim; d++) slices[d] = (cubed_slice){0, shape[d], 1, false};
    slices[at] = (cubed_slice){position < 0 ? position + shape[at] : position, 1, 1, true};
    return cubed_slice_array(x, slices, c->out, c->err);
}

static const cubed_param take_params[] = {
    INPUT,
    POSITIONS(ACCEPTS(INT)),
    PARAM_AXIS_OR_NONE("axis", 0, "The axis. None: the only one."),
};

static cubed_status call_take(const cb_call *c)
{
    cubed_array *x = cb_call_array(c, 0), *positions = cb_call_array(c, 1);
    const int ndim = cubed_array_ndim(x), axis = cb_call_has(c, 2) ? cb_call_axis(c, 2) : 0;
    if (!cb_call_has(c, 2) && ndim != 1)
        return cb_call_blame(
            c, 0,
            cb_fail(c->err, CUBED_E_ARG, "take: axis is needed for an array with %d axes", ndim));
    return positions ? cubed_take(x, positions, axis, c->out, c->err) : take_one(c, axis);
}

static const cubed_param along_params[] = {
    INPUT,
    POSITIONS(0),
    PARAM_AXIS("axis", NAMED, -1, "The axis."),
};

static cubed_status call_take_along_axis(const cb_call *c)
{
    return cubed_take_along_axis(cb_call_array(c, 0), cb_call_array(c, 1), cb_call_axis(c, 2),
                                 c->out, c->err);
}

/* --- Rows --------------------------------------------------------------------------------------------- */

#define MOVES .attrs = CUBED_ATTRS_VIEW, .moves = true, .coords = CUBED_COORDS_CUT

static const cb_row rows[] = {
    {{"take", CATEGORY, .summary = "The elements at positions along an axis.",
      .returns = "The type of `x`, with an element along the axis for each position; without the "
                 "axis for a number.",
      PARAMS(take_params), MOVES},
     .call = call_take},
    {{"take_along_axis", CATEGORY,
      .summary = "The elements at positions of their own in each line along an axis.",
      .returns = "The type of `x`, in the shape of the positions.", PARAMS(along_params), MOVES},
     .call = call_take_along_axis},
};

const cb_rows cb_indexing_rows = ROWS(rows);
