#include "ops/shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

const char *cb_extents_text(int ndim, const int64_t *shape, char text[CB_SHAPE_TEXT_CAP])
{
    size_t n = (size_t)snprintf(text, CB_SHAPE_TEXT_CAP, "(");
    for (int d = 0; d < ndim; d++)
        n += (size_t)snprintf(text + n, CB_SHAPE_TEXT_CAP - n, "%s%" PRId64, d ? ", " : "",
                              shape[d]);
    snprintf(text + n, CB_SHAPE_TEXT_CAP - n, ")");
    return text;
}

const char *cb_shape_text(const cubed_array *x, char text[CB_SHAPE_TEXT_CAP])
{
    return cb_extents_text(x->node.grid->ndim, x->shape, text);
}

int cb_shape_join(int *ndim, int64_t shape[CUBED_MAX_NDIM], const cubed_array *x)
{
    const int more = x->node.grid->ndim - *ndim;
    if (more > 0) {
        memmove(shape + more, shape, sizeof *shape * (size_t)*ndim);
        for (int d = 0; d < more; d++) shape[d] = 1;
        *ndim += more;
    }
    const int lead = *ndim - x->node.grid->ndim;
    for (int d = lead; d < *ndim; d++) {
        const int64_t n = x->shape[d - lead];
        if (n == 1 || n == shape[d]) continue;
        if (shape[d] != 1) return d;
        shape[d] = n;
    }
    return -1;
}

cubed_status cb_op_broadcast_shape(const char *name, cubed_array *const *args, int nargs, int *ndim,
                                   int64_t shape[CUBED_MAX_NDIM], cubed_error *err)
{
    *ndim = 0;
    for (int i = 0; i < nargs; i++) {
        char a[CB_SHAPE_TEXT_CAP], b[CB_SHAPE_TEXT_CAP];
        if (cb_shape_join(ndim, shape, args[i]) >= 0)
            return cb_fail(err, CUBED_E_ARG, "%s: shapes %s and %s do not broadcast", name,
                           cb_shape_text(args[0], a), cb_shape_text(args[i], b));
    }
    return CUBED_OK;
}
