/* Changes the length of an array by changing its metadata only. */
#include <inttypes.h>
#include <string.h>

#include "zarr/zarr_pkg.h"

typedef struct change {
    const char *path;
    int axis;
    int64_t from, to;
} change;

/* Returns false if the document lists the chunks one by one. */
static bool is_regular(const json_t *doc)
{
    const json_t *grid = json_object_get(doc, "chunk_grid");
    const char *name = json_string_value(json_object_get(grid, "name"));
    return !grid || (name && strcmp(name, "regular") == 0);
}

static cubed_status set_shape(void *ctx, json_t *doc, bool *changed, cubed_error *err)
{
    const change *c = ctx;
    json_t *shape = json_object_get(doc, "shape");
    const json_t *length = json_array_get(shape, (size_t)c->axis);
    if (!json_is_integer(length))
        return cb_fail(err, CUBED_E_FORMAT, "%s: expected a shape with an axis %d", c->path,
                       c->axis);
    if (!is_regular(doc))
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: the chunks are irregular, expected regular ones: rechunk the array",
                       c->path);
    if (json_integer_value(length) != c->from)
        return cb_fail(err, CUBED_E_EXISTS,
                       "%s has %" PRId64 " elements along axis %d, expected %" PRId64
                       ": another process has changed its length",
                       c->path, (int64_t)json_integer_value(length), c->axis, c->from);
    *changed = c->from != c->to;
    return json_array_set_new(shape, (size_t)c->axis, json_integer(c->to)) == 0
               ? CUBED_OK
               : cb_fail(err, CUBED_E_NOMEM, "out of memory: the shape of %s", c->path);
}

cubed_status cb_zarr_set_length(cubed_store *store, const char *path, int format, int axis,
                                int64_t from, int64_t to, cubed_error *err)
{
    change c = {*path ? path : "the array", axis, from, to};
    if (axis < 0 || to < 0)
        return cb_fail(err, CUBED_E_ARG, "%s: axis %d of length %" PRId64 ", expected 0 or more",
                       c.path, axis, to);
    const cubed_status st =
        cb_zarr_change_doc(store, path, format == 3 ? "zarr.json" : ".zarray", set_shape, &c, err);
    return st == CUBED_OK ? st : cb_context(err, st, "%s", store->url);
}
