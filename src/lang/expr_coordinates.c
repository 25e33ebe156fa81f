/* Computes the coordinates of results along dimensions whose elements a function selects, concatenates or combines. */
#include <inttypes.h>
#include <string.h>

#include "lang/about.h"
#include "lang/expr_builder.h"
#include "lang/expr_json.h"
#include "lang/lang_arrays.h"
#include "lang/lang_memory.h"

/* Copies the coordinate of dimension d of x, the array of `of`. Returns false if the dimension has no name. Free it with
 * expr_coord_free. */
static bool coordinate_of(expr_builder *b, const expr *of, const cubed_array *x, int d,
                          cubed_expr_coord *out)
{
    const char *dim = cubed_array_dim_name(x, d);
    const int64_t extent = cubed_array_shape(x)[d];
    if (!dim) return false;
    expr_about about = expr_about_of(b, of);
    const cubed_expr_coord *had = expr_find_coord(&about, dim);
    *out = had ? expr_coord_copy(b, had)
               : (cubed_expr_coord){.dim = expr_text(b, "%s", dim),
                                    .whole = extent,
                                    .part = {0, extent, 1, false}};
    expr_about_free(&about);
    return true;
}

void expr_note_cut(expr_builder *b, const expr *call, const cubed_array *x, int d)
{
    const char *dim = cubed_array_dim_name(x, d);
    if (dim)
        expr_about_note(b, call, (cubed_expr_coord){.dim = expr_text(b, "%s", dim), .cut = true});
}

void expr_note_part(expr_builder *b, const expr *call, const expr *of, const cubed_array *x, int d,
                    cubed_slice s)
{
    cubed_expr_coord c;
    if (!coordinate_of(b, of, x, d, &c)) return;
    if (!c.cut) expr_coord_cut(&c, &s);
    expr_about_note(b, call, c);
}

/* --- Arrays of coordinates ---------------------------------------------------------------------------- */

/* Returns true if a coordinate was created. A failure is not an error of the call: the result of the call then has no coordinate.
 * Only lack of memory is recorded. */
static bool is_made(expr_builder *b, cubed_status st)
{
    if (st == CUBED_E_NOMEM) b->no_memory = true;
    return st == CUBED_OK;
}

/* Returns elements c->part of `base` along its first axis. Returns NULL if `base` does not have the coordinate's extent. */
static cubed_array *part_of(expr_builder *b, const cubed_expr_coord *c, cubed_array *base)
{
    cubed_slice slices[2] = {c->part};
    cubed_array *out = NULL;
    cubed_error ignored = CUBED_ERROR_INIT;
    if (!base || cubed_array_ndim(base) > 2 || cubed_array_ndim(base) < 1 ||
        cubed_array_shape(base)[0] != c->whole)
        return NULL;
    if (cubed_array_ndim(base) == 2)
        slices[1] = (cubed_slice){0, cubed_array_shape(base)[1], 1, false};
    return is_made(b, cubed_slice_array(base, slices, &out, &ignored)) ? out : NULL;
}

static cubed_array *input(expr_builder *b, const char *name)
{
    cubed_array *x = NULL;
    cubed_error ignored = CUBED_ERROR_INIT;
    if (!b->host->coordinate || !name ||
        !is_made(b, b->host->coordinate(b->host->ctx, name, &x, &ignored)))
        return NULL;
    return x;
}

/* Sets out[0] to the elements of a coordinate, and out[1] to its bounds. Each is NULL if it does not exist. The caller owns
 * both. */
static void open_both(expr_builder *b, const cubed_expr_coord *c, cubed_array *out[2])
{
    cubed_array *base = c->made ? cubed_array_ref(c->made) : input(b, c->dim);
    cubed_array *bounds = NULL;
    json_t *attrs = base ? expr_json_attrs(b, base) : NULL;
    if (c->made)
        bounds = c->bounds ? cubed_array_ref(c->bounds) : NULL;
    else if (base)
        bounds = input(b, json_string_value(json_object_get(attrs, "bounds")));
    out[0] = base && cubed_array_ndim(base) == 1 ? part_of(b, c, base) : NULL;
    out[1] = bounds && cubed_array_ndim(bounds) == 2 && cubed_array_shape(bounds)[1] == 2
                 ? part_of(b, c, bounds)
                 : NULL;
    json_decref(attrs);
    cubed_array_unref(base);
    cubed_array_unref(bounds);
}

/* Records arrays as coordinate `dim` and its bounds (may be NULL). Takes ownership of `key` and both arrays. */
static void note_made(expr_builder *b, const expr *call, const char *dim, char *key,
                      cubed_array *made, cubed_array *bounds)
{
    const int64_t n = cubed_array_shape(made)[0];
    cubed_expr_coord c = {
        .dim = expr_text(b, "%s", dim), .whole = n, .part = {0, n, 1, false}, .bounds = bounds};
    c.key = key;
    json_t *attrs = expr_json_attrs(b, made);
    json_object_del(attrs, "bounds");
    if (bounds) expr_json_put_text(b, attrs, "bounds", "%s_bnds", dim);
    if (expr_json_describe(b, made, attrs, &c.made) != CUBED_OK) b->no_memory = true;
    json_decref(attrs);
    cubed_array_unref(made);
    expr_about_note(b, call, c);
}

/* Returns a key that differs between coordinates. It consists of the prefix `before`, and the key and part of coordinate c. */
static char *key_of(expr_builder *b, const char *before, const cubed_expr_coord *c)
{
    return expr_text(b, "%s%s%s%" PRId64 ":%" PRId64 ":%" PRId64, before, c->key ? c->key : "",
                     c->key ? "@" : "", c->part.start, c->part.len, c->part.step);
}

/* Returns true if all n arrays have the same units and calendar. */
static bool have_same_units(expr_builder *b, cubed_array *const *x, int n)
{
    static const char *const names[] = {"units", "calendar"};
    json_t *first = expr_json_attrs(b, x[0]);
    bool same = true;
    for (int i = 1; i < n && same; i++) {
        json_t *own = expr_json_attrs(b, x[i]);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            const json_t *a = json_object_get(first, names[k]), *c = json_object_get(own, names[k]);
            same = same && (a == c || json_equal(a, c));
        }
        json_decref(own);
    }
    json_decref(first);
    return same;
}

/* Concatenates n arrays along their first axis. The result has the attributes of the first array. Returns NULL after an error. */
static cubed_array *join(expr_builder *b, cubed_array *const *x, int n)
{
    cubed_array *plain, *out = NULL;
    cubed_error ignored = CUBED_ERROR_INIT;
    if (!is_made(b, cubed_concat(x, n, 0, &plain, &ignored))) return NULL;
    /* this fails only if memory is exhausted, because attributes of an array are valid */
    if (cubed_array_with_attrs(plain, cubed_array_attrs(x[0]), &out, &ignored) != CUBED_OK) {
        out = NULL;
        b->no_memory = true;
    }
    cubed_array_unref(plain);
    return out;
}

void expr_note_joined(expr_builder *b, const expr *call, const expr *const *of,
                      cubed_array *const *x, int n, int d)
{
    const char *dim = cubed_array_dim_name(x[0], d);
    cubed_array **parts[2], *joined[2] = {NULL, NULL};
    char *key = expr_text(b, "joined");
    bool has[2] = {true, true};
    for (int k = 0; k < 2; k++) parts[k] = lang_alloc((size_t)n * sizeof *parts[k]);
    const bool made = parts[0] && parts[1];
    if (!made) b->no_memory = true;
    for (int i = 0; i < n && made; i++) {
        cubed_array *both[2] = {NULL, NULL};
        cubed_expr_coord c;
        const char *name = cubed_array_dim_name(x[i], d);
        if (dim && name && strcmp(dim, name) == 0 && coordinate_of(b, of[i], x[i], d, &c)) {
            if (!c.cut) open_both(b, &c, both);
            char *longer = expr_text(b, "%s ", key);
            expr_text_free(key);
            key = key_of(b, longer, &c);
            expr_text_free(longer);
            expr_coord_free(&c);
        }
        for (int k = 0; k < 2; k++) {
            parts[k][i] = both[k];
            has[k] = has[k] && both[k];
        }
    }
    for (int k = 0; k < 2; k++) {
        if (made && has[k] && have_same_units(b, parts[k], n)) joined[k] = join(b, parts[k], n);
        for (int i = 0; i < n && made; i++) cubed_array_unref(parts[k][i]);
        lang_free(parts[k]);
    }
    if (joined[0]) {
        note_made(b, call, dim, key, joined[0], joined[1]);
        return;
    }
    cubed_array_unref(joined[1]);
    expr_text_free(key);
    for (int i = 0; i < n; i++) expr_note_cut(b, call, x[i], d);
}

/* --- Windows ------------------------------------------------------------------------------------------ */

/* Returns column k of bounds, shifted so that element i has the bound of element i - by. At the ends, the first or last
 * bound is repeated. */
static cubed_status shifted(cubed_array *bounds, int k, int64_t by, cubed_array **out,
                            cubed_error *err)
{
    const int64_t n = cubed_array_shape(bounds)[0], move = by < 0 ? -by : by;
    const int64_t most = move < n - 1 ? move : n - 1;
    const cubed_slice slices[2] = {{by < 0 ? most : 0, n - most, 1, false}, {k, 1, 1, false}};
    const int64_t before[2] = {by < 0 ? 0 : most, 0}, after[2] = {by < 0 ? most : 0, 0};
    cubed_pad_options o = CUBED_PAD_OPTIONS_INIT;
    cubed_array *part;
    o.mode = CUBED_PAD_EDGE;
    EXPR_TRY(cubed_slice_array(bounds, slices, &part, err));
    const cubed_status st = cubed_pad_with(part, before, after, &o, out, err);
    cubed_array_unref(part);
    return st;
}

/* Returns the minimum or maximum of four columns, elementwise. */
static cubed_status extreme(cubed_op op, cubed_array *const *column, cubed_array **out,
                            cubed_error *err)
{
    cubed_array *pair[2] = {NULL, NULL};
    cubed_status st = CUBED_OK;
    for (int i = 0; i < 2 && st == CUBED_OK; i++)
        st = cubed_elementwise(op, &column[i == 0 ? 0 : 2], 2, &pair[i], err);
    if (st == CUBED_OK) st = cubed_elementwise(op, pair, 2, out, err);
    for (int i = 0; i < 2; i++) cubed_array_unref(pair[i]);
    return st;
}

/* Computes the bounds of windows: the minimum and maximum of the bounds of their first and last cells. If the bounds of an
 * element are in descending order, the bounds of its window are also in descending order. Returns NULL after an error. */
static cubed_array *window_bounds(expr_builder *b, cubed_array *bounds, int64_t before,
                                  int64_t after)
{
    enum { ENDS, OWN = 4, LOW = 6, HIGH, FALLS, LEFT, RIGHT, COUNT };
    const int64_t by[3] = {before, -after, 0};
    cubed_array *x[COUNT] = {NULL}, *out = NULL;
    /* errors are ignored: after an error, the coordinate has no bounds */
    cubed_error err = CUBED_ERROR_INIT;
    cubed_status st = CUBED_OK;
    for (int i = 0; i < LOW && st == CUBED_OK; i++)
        st = shifted(bounds, i % 2, by[i / 2], &x[i], &err);
    if (st == CUBED_OK) st = extreme(CUBED_OP_MINIMUM, x + ENDS, &x[LOW], &err);
    if (st == CUBED_OK) st = extreme(CUBED_OP_MAXIMUM, x + ENDS, &x[HIGH], &err);
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_GREATER, x + OWN, 2, &x[FALLS], &err);
    cubed_array *left[3] = {x[FALLS], x[HIGH], x[LOW]}, *right[3] = {x[FALLS], x[LOW], x[HIGH]};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_WHERE, left, 3, &x[LEFT], &err);
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_WHERE, right, 3, &x[RIGHT], &err);
    if (st == CUBED_OK) st = cubed_concat(x + LEFT, 2, 1, &out, &err);
    if (!is_made(b, st)) out = NULL;
    for (int i = 0; i < COUNT; i++) cubed_array_unref(x[i]);
    return out;
}

void expr_note_window(expr_builder *b, const expr *call, const expr *of, const cubed_array *x,
                      int d, int64_t before, int64_t after)
{
    cubed_expr_coord c;
    cubed_array *both[2] = {NULL, NULL};
    if (!coordinate_of(b, of, x, d, &c)) return;
    if (!c.cut) open_both(b, &c, both);
    if (both[0] && both[1] && cubed_array_shape(both[1])[0] > 0) {
        char *name = expr_text(b, "window %" PRId64 " %" PRId64 " ", before, after);
        note_made(b, call, c.dim, key_of(b, name, &c), both[0],
                  window_bounds(b, both[1], before, after));
        both[0] = NULL;
        expr_text_free(name);
    }
    for (int k = 0; k < 2; k++) cubed_array_unref(both[k]);
    expr_coord_free(&c);
}
