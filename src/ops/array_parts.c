/* Opens arrays at several places as one array, their concatenation. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/pool.h"
#include "base/text.h"
#include "ops/ops_pkg.h"

/* Writes a value as JSON, for example "hours since 2000-01-01". Writes "none" if there is no value. */
static void put_value(const json_t *v, cb_buf *out)
{
    if (!v || !cb_json_dump(v, JSON_ENCODE_ANY, out)) cb_buf_puts(out, "none");
}

static cubed_status other_value(const char *url, const char *first_url, const char *name,
                                const json_t *is, const json_t *expected, const cubed_context *ctx,
                                cubed_error *err)
{
    cb_buf a, b;
    cb_buf_init(&a, &ctx->alloc);
    cb_buf_init(&b, &ctx->alloc);
    put_value(is, &a);
    put_value(expected, &b);
    cubed_status st =
        a.failed || b.failed
            ? cb_fail(err, CUBED_E_NOMEM, "no memory for attributes")
            : cb_fail(err, CUBED_E_ARG, "%s: the attribute %s is %.200s, expected %.200s as in %s",
                      url, name, a.data, b.data, first_url);
    cb_buf_free(&a);
    cb_buf_free(&b);
    return st;
}

/* Checks the attributes that describe the encoding of values. */
static cubed_status check_attributes(const cubed_array *first, const char *first_url,
                                     const cubed_array *x, const char *url, cubed_error *err)
{
    static const char *const names[] = {"units",      "calendar",      "scale_factor", "add_offset",
                                        "_FillValue", "missing_value", "_Unsigned",    "dtype"};
    const char *texts[2] = {cubed_array_attrs(first), cubed_array_attrs(x)};
    json_t *attrs[2] = {NULL, NULL};
    cubed_status st;
    if (strcmp(texts[0], texts[1]) == 0) return CUBED_OK;
    for (int i = 0; i < 2; i++)
        CB_GO(cb_json_parse(i ? url : first_url, texts[i], strlen(texts[i]), &attrs[i], err));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *expected = json_object_get(attrs[0], names[i]);
        const json_t *is = json_object_get(attrs[1], names[i]);
        if (expected == is || json_equal(expected, is)) continue;
        CB_GO(other_value(url, first_url, names[i], is, expected, x->ctx, err));
    }
out:
    json_decref(attrs[0]);
    json_decref(attrs[1]);
    return st;
}

/* Checks that a part has the properties of the first one, such as type and fill value. Only the extents along `axis` may differ
 * (-1: none). */
static cubed_status check_part(const cubed_array *first, const char *first_url,
                               const cubed_array *x, const char *url, int axis, cubed_error *err)
{
    char a[CUBED_DTYPE_TEXT_CAP], b[CUBED_DTYPE_TEXT_CAP];
    const cb_grid *f = first->node.grid, *g = x->node.grid;
    if (first->node.dtype != x->node.dtype)
        return cb_fail(err, CUBED_E_ARG, "%s: the type is %s, expected %s as in %s", url,
                       cubed_dtype_text(x->node.dtype, a), cubed_dtype_text(first->node.dtype, b),
                       first_url);
    if (f->ndim != g->ndim)
        return cb_fail(err, CUBED_E_ARG, "%s: there are %d dimensions, expected %d as in %s", url,
                       g->ndim, f->ndim, first_url);
    for (int d = 0; d < f->ndim; d++) {
        const char *name = cubed_array_dim_name(x, d), *expected = cubed_array_dim_name(first, d);
        if (!cb_text_equal(name, expected))
            return cb_fail(err, CUBED_E_ARG, "%s: dimension %d is called %s, expected %s as in %s",
                           url, d, name ? name : "nothing", expected ? expected : "nothing",
                           first_url);
        if (d != axis && f->axis[d].extent != g->axis[d].extent)
            return cb_fail(err, CUBED_E_ARG,
                           "%s: dimension %s%s(axis %d) has %" PRId64 " elements, expected %" PRId64
                           " as in %s",
                           url, name ? name : "", name ? " " : "", d, g->axis[d].extent,
                           f->axis[d].extent, first_url);
    }
    cubed_scalar fill, own;
    const bool has = cubed_array_missing_value(first, &fill);
    if (has != cubed_array_missing_value(x, &own) ||
        (has && memcmp(&fill, &own, cubed_dtype_size(x->node.dtype)) != 0))
        return cb_fail(err, CUBED_E_ARG, "%s: the fill value differs from that of %s", url,
                       first_url);
    return check_attributes(first, first_url, x, url, err);
}

/* Returns the axis of a dimension; -1 if there is none. */
static int axis_of(const cubed_array *x, const char *dim)
{
    for (int d = 0; dim && d < x->node.grid->ndim; d++) {
        if (cb_text_equal(cubed_array_dim_name(x, d), dim)) return d;
    }
    return dim ? -1 : 0;
}

/* Copies the first array's names, attributes and missing value. */
static cubed_status as_first(cubed_array *first, cubed_array *x, cubed_array **out,
                             cubed_error *err)
{
    cb_node n = cb_graph_like(x, CB_NODE_VIEW, x->node.dtype);
    const cb_map map = cb_map_identity(x->node.grid->ndim);
    n.map = &map;
    n.attrs = first->node.attrs;
    n.dim_names = first->node.dim_names;
    cb_op_keep_fill(first, &n);
    return cb_graph_add(x->ctx, &n, &x, out, err);
}

typedef struct opening {
    cubed_context *ctx;
    const char *const *urls;
    cubed_array **parts;
} opening;

static cubed_status open_part(void *ctx, size_t i, cubed_error *err)
{
    const opening *o = ctx;
    return cubed_array_open(o->ctx, o->urls[i], &o->parts[i], err);
}

cubed_status cubed_array_open_parts(cubed_context *ctx, const char *const *urls, int n,
                                    const char *dim, cubed_array **out, cubed_error *err)
{
    cubed_array *joined = NULL;
    cubed_status st = CUBED_OK;
    int axis = -1;
    if (n < 1)
        return cb_fail(err, CUBED_E_ARG, "no parts of an array are given, expected at least one");
    cubed_array **parts = cb_alloc_zero(&ctx->alloc, (size_t)n * sizeof *parts);
    if (!parts) return cb_fail(err, CUBED_E_NOMEM, "no memory for %d parts of an array", n);
    opening o = {ctx, urls, parts};
    const unsigned at_once = cb_store_at_once(&ctx->stores, urls[0]);
    CB_GO(cb_pool_each(&ctx->alloc, (size_t)n, (unsigned)cb_min_size(at_once, CB_STORE_THREADS),
                       open_part, &o, err));
    axis = axis_of(parts[0], dim);
    if (axis >= parts[0]->node.grid->ndim)
        CB_GO(
            cb_fail(err, CUBED_E_ARG, "%s has no axis along which parts could be joined", urls[0]));
    for (int i = 1; i < n; i++) CB_GO(check_part(parts[0], urls[0], parts[i], urls[i], axis, err));
    if (n == 1 || axis < 0) {
        *out = cubed_array_ref(parts[0]);
        goto out;
    }
    CB_GO(cubed_concat(parts, n, axis, &joined, err));
    CB_GO(as_first(parts[0], joined, out, err));
out:
    cubed_array_unref(joined);
    for (int i = 0; i < n; i++) cubed_array_unref(parts[i]);
    cb_free(&ctx->alloc, parts, (size_t)n * sizeof *parts);
    return st;
}
