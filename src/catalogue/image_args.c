/* Reads arguments that several image functions share. */
#include "image_args.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "context/context.h"

const cubed_choice cb_image_boundaries[] = {{"reflect", CUBED_BOUNDARY_REFLECT},
                                            {"constant", CUBED_BOUNDARY_CONSTANT},
                                            {"nearest", CUBED_BOUNDARY_NEAREST},
                                            {"mirror", CUBED_BOUNDARY_MIRROR},
                                            {"wrap", CUBED_BOUNDARY_WRAP},
                                            {"grid-mirror", CUBED_BOUNDARY_REFLECT},
                                            {"grid-constant", CUBED_BOUNDARY_CONSTANT},
                                            {"grid-wrap", CUBED_BOUNDARY_WRAP},
                                            {NULL, 0}};

/* --- Options ------------------------------------------------------------------------------------------- */

static cubed_status wrong_count(const cb_call *c, int i, int n, int naxes)
{
    return cb_call_blame(c, i,
                         cb_fail(c->err, CUBED_E_ARG,
                                 "%s: %s has %d entries for %d axes, expected one for each axis",
                                 c->function->name, c->function->params[i].name, n, naxes));
}

static cubed_status take_axes(const cb_call *c, int i, cb_image *out)
{
    int n = 0;
    const int *given = i < 0 ? NULL : cb_call_axes(c, i, out->axes, &n);
    out->naxes = given ? n : out->ndim;
    for (int k = 0; k < out->naxes; k++) {
        out->axes[k] = given ? given[k] : k;
        if (given) CB_TRY(cb_call_check_axis(c, i, out->ndim, given[k], &out->axes[k]));
        if (k > 0 && out->axes[k] <= out->axes[k - 1])
            return cb_call_blame(c, i,
                                 cb_fail(c->err, CUBED_E_ARG,
                                         "%s: axis %d follows axis %d, expected increasing axes",
                                         c->function->name, out->axes[k], out->axes[k - 1]));
        out->mask |= 1u << out->axes[k];
    }
    return CUBED_OK;
}

/* Reads the boundary modes of the axes: one mode for all axes, or a list. */
static cubed_status take_modes(const cb_call *c, int i, cb_image *out)
{
    const cubed_value *v = &c->values[i];
    char shown[64];
    bool is_known = v->kind == CUBED_VALUE_CHOICE || v->n == out->naxes;
    for (int k = 0; k < out->naxes && is_known; k++) {
        const cubed_choice *choice = cb_image_boundaries;
        out->boundaries[out->axes[k]] = (cubed_filter_boundary)v->as.integer;
        if (v->kind == CUBED_VALUE_CHOICE) continue;
        const cubed_value *item = &v->as.items[k];
        is_known = item->kind == CUBED_VALUE_STRING;
        while (is_known && choice->name && strcmp(choice->name, item->as.string) != 0) choice++;
        is_known = is_known && choice->name;
        out->boundaries[out->axes[k]] = (cubed_filter_boundary)choice->number;
    }
    if (is_known) return CUBED_OK;
    cubed_value_format(v, shown, sizeof shown);
    return cb_call_blame(c, i,
                         cb_fail(c->err, CUBED_E_ARG,
                                 "%s: mode is %s, expected 'reflect', 'constant', 'nearest', "
                                 "'mirror' or 'wrap', or a list with one of these for each of %d "
                                 "axes",
                                 c->function->name, shown, out->naxes));
}

cubed_status cb_image_take(const cb_call *c, cb_image_places at, cb_image *out)
{
    memset(out, 0, sizeof *out);
    out->options = (cubed_filter_options)CUBED_FILTER_OPTIONS_INIT;
    out->x = cb_call_array(c, 0);
    out->ndim = cubed_array_ndim(out->x);
    CB_TRY(take_axes(c, at.axes, out));
    if (at.output >= 0) {
        CB_TRY(take_modes(c, at.output + 1, out));
        out->options.dtype = cb_call_dtype(c, at.output);
        out->options.value = cb_call_real(c, at.output + 2);
        out->options.boundaries = out->boundaries;
    }
    if (at.origin >= 0) {
        CB_TRY(cb_image_integers(c, at.origin, out, 0, out->origins));
        out->options.origins = out->origins;
    }
    return CUBED_OK;
}

cubed_status cb_image_axis(const cb_call *c, int i, const cb_image *image, int *axis)
{
    if (image->ndim == 0)
        return cb_fail(c->err, CUBED_E_ARG, "%s: the image has no axis, expected at least one",
                       c->function->name);
    return cb_call_check_axis(c, i, image->ndim, cb_call_int(c, i), axis);
}

cubed_status cb_image_integers(const cb_call *c, int i, const cb_image *image, int64_t other,
                               int64_t out[CUBED_MAX_NDIM])
{
    int n;
    const int64_t *given = cb_call_ints(c, i, &n);
    const bool is_one = c->values[i].kind == CUBED_VALUE_INT;
    if (!is_one && n != image->naxes) return wrong_count(c, i, n, image->naxes);
    for (int d = 0; d < image->ndim; d++) out[d] = other;
    for (int k = 0; k < image->naxes; k++) out[image->axes[k]] = given[is_one ? 0 : k];
    return CUBED_OK;
}

cubed_status cb_image_reals(const cb_call *c, int i, const cb_image *image, double other,
                            double out[CUBED_MAX_NDIM])
{
    const cubed_value *given = &c->values[i];
    const bool is_list = given->kind == CUBED_VALUE_FLOATS;
    if (is_list && given->n != image->naxes) return wrong_count(c, i, given->n, image->naxes);
    for (int d = 0; d < image->ndim; d++) out[d] = other;
    for (int k = 0; k < image->naxes; k++)
        out[image->axes[k]] = is_list ? given->as.reals[k] : cb_call_real(c, i);
    return CUBED_OK;
}

cubed_status cb_image_check_origin(const cb_call *c, int i, int64_t extent, int64_t origin)
{
    const int64_t least = -(extent / 2), most = extent - 1 - extent / 2;
    if (origin >= least && origin <= most) return CUBED_OK;
    return cb_call_blame(c, i,
                         cb_fail(c->err, CUBED_E_ARG,
                                 "%s: origin is %lld, expected %lld to %lld for %lld elements",
                                 c->function->name, (long long)origin, (long long)least,
                                 (long long)most, (long long)extent));
}

/* --- Boxes --------------------------------------------------------------------------------------------- */

static bool is_list(const cubed_value *v) { return v->kind == CUBED_VALUE_LIST; }

int cb_image_extents(const cubed_value *v, int64_t extents[CUBED_MAX_NDIM])
{
    int depth = 0;
    while (is_list(v) && depth < CUBED_MAX_NDIM) {
        extents[depth++] = v->n;
        if (v->n == 0) break;
        v = &v->as.items[0];
    }
    return depth;
}

/* Returns true if nested lists have these extents everywhere, and real numbers as items. The recursion depth is limited,
 * because the catalogue limits the depth of lists. */
static bool is_box(const cubed_value *v, const int64_t *extents, int depth)
{
    if (depth == 0)
        return v->kind == CUBED_VALUE_BOOL || v->kind == CUBED_VALUE_INT ||
               v->kind == CUBED_VALUE_FLOAT;
    if (!is_list(v) || v->n != extents[0]) return false;
    for (int i = 0; i < v->n; i++) {
        if (!is_box(&v->as.items[i], extents + 1, depth - 1)) return false;
    }
    return true;
}

/* Copies the numbers of nested lists in C order to *to, and advances *to. */
static void copy_numbers(const cubed_value *v, double **to)
{
    switch (v->kind) {
    case CUBED_VALUE_BOOL: *(*to)++ = v->as.boolean; break;
    case CUBED_VALUE_INT: *(*to)++ = (double)v->as.integer; break;
    case CUBED_VALUE_FLOAT: *(*to)++ = v->as.real; break;
    default:
        for (int i = 0; i < v->n; i++) copy_numbers(&v->as.items[i], to);
    }
}

/* Copies the numbers of nested lists with the given extents to *out. */
static cubed_status take_numbers(const cb_call *c, int i, const int64_t *extents, int depth,
                                 cb_image_box *out)
{
    const char *name = c->function->params[i].name;
    const cubed_value *v = &c->values[i];
    out->n = 1;
    for (int k = 0; k < depth; k++)
        if (cb_mul_i64(out->n, extents[k], &out->n) || out->n > INT32_MAX) out->n = INT32_MAX;
    if (out->n == 0)
        return cb_call_blame(c, i,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "%s: %s has no elements, expected at least one",
                                     c->function->name, name));
    /* Checks all lengths. If lists have different lengths, the extents may describe a box with far more elements than the
     * lists. */
    if (out->n == INT32_MAX || !is_box(v, extents, depth))
        return cb_call_blame(c, i,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "%s: %s has rows of different lengths or items that are not "
                                     "numbers, expected lists of equal length with real numbers",
                                     c->function->name, name));
    out->numbers = cb_alloc(&c->ctx->alloc, (size_t)out->n * sizeof *out->numbers);
    if (!out->numbers)
        return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: a box of %lld elements",
                       (long long)out->n);
    double *to = out->numbers;
    copy_numbers(v, &to);
    return CUBED_OK;
}

cubed_status cb_image_box_take(const cb_call *c, int i, const cb_image *image, cb_image_box *out)
{
    int64_t extents[CUBED_MAX_NDIM];
    const int depth = cb_image_extents(&c->values[i], extents);
    *out = (cb_image_box){.n = 1};
    if (depth != image->naxes)
        return cb_call_blame(c, i,
                             cb_fail(c->err, CUBED_E_ARG,
                                     "%s: %s has %d axes, expected one for each axis that is "
                                     "filtered: %d",
                                     c->function->name, c->function->params[i].name, depth,
                                     image->naxes));
    for (int d = 0; d < image->ndim; d++) out->size[d] = 1;
    for (int k = 0; k < depth; k++) out->size[image->axes[k]] = extents[k];
    return take_numbers(c, i, extents, depth, out);
}

cubed_status cb_image_table_take(const cb_call *c, int i, int *depth, cb_image_box *out)
{
    int64_t extents[CUBED_MAX_NDIM];
    *out = (cb_image_box){.n = 1};
    *depth = cb_image_extents(&c->values[i], extents);
    memcpy(out->size, extents, (size_t)*depth * sizeof *extents);
    return take_numbers(c, i, extents, *depth, out);
}

void cb_image_box_free(const cb_call *c, cb_image_box *box)
{
    cb_free(&c->ctx->alloc, box->numbers, (size_t)box->n * sizeof *box->numbers);
    box->numbers = NULL;
}

/* --- Structures ---------------------------------------------------------------------------------------- */

static cubed_status take_flags(const cb_call *c, cb_image_structure *out)
{
    const cb_image_box *box = &out->footprint;
    out->flags = cb_alloc(&c->ctx->alloc, (size_t)box->n);
    if (!out->flags)
        return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: a box of %lld elements",
                       (long long)box->n);
    for (int64_t i = 0; i < box->n; i++) out->flags[i] = box->numbers[i] != 0;
    memcpy(out->size, box->size, sizeof out->size);
    out->of = (cubed_structure){.size = out->size, .footprint = out->flags};
    return CUBED_OK;
}

cubed_status cb_image_structure_take(const cb_call *c, int size, int footprint, int heights,
                                     const cb_image *image, cb_image_structure *out)
{
    const bool has_heights = heights >= 0 && cb_call_has(c, heights);
    *out = (cb_image_structure){.of = {.size = out->size}};
    if (cb_call_has(c, size) && cb_call_has(c, footprint))
        return cb_call_blame(c, footprint,
                             cb_fail(c->err, CUBED_E_ARG, "%s: expected either size or footprint",
                                     c->function->name));
    if (!cb_call_has(c, size) && !cb_call_has(c, footprint) && !has_heights)
        return cb_fail(c->err, CUBED_E_ARG, "%s: give one of size%s", c->function->name,
                       heights < 0 ? " and footprint" : ", footprint and structure");
    if (cb_call_has(c, footprint)) {
        CB_TRY(cb_image_box_take(c, footprint, image, &out->footprint));
        CB_TRY(take_flags(c, out));
    }
    if (cb_call_has(c, size)) CB_TRY(cb_image_integers(c, size, image, 1, out->size));
    if (!has_heights) return CUBED_OK;
    CB_TRY(cb_image_box_take(c, heights, image, &out->heights));
    for (int64_t i = 0; i < out->heights.n; i++)
        if (isnan(out->heights.numbers[i]))
            return cb_call_blame(
                c, heights,
                cb_fail(c->err, CUBED_E_ARG,
                        "%s: structure has NaN, expected numbers: footprint selects the elements",
                        c->function->name));
    for (int d = 0; d < image->ndim && out->flags; d++)
        if (out->size[d] != out->heights.size[d])
            return cb_call_blame(c, heights,
                                 cb_fail(c->err, CUBED_E_ARG,
                                         "%s: structure and footprint have %lld and %lld elements "
                                         "along axis %d, expected the same number",
                                         c->function->name, (long long)out->heights.size[d],
                                         (long long)out->size[d], d));
    /* As in SciPy, the argument `structure` has precedence: its shape replaces the argument `size`. */
    memcpy(out->size, out->heights.size, sizeof out->size);
    out->of.heights = out->heights.numbers;
    return CUBED_OK;
}

cubed_status cb_image_footprint_take(const cb_call *c, int i, const cb_image *image,
                                     cb_image_structure *out)
{
    *out = (cb_image_structure){.of = {.size = out->size}};
    if (cb_call_has(c, i)) {
        CB_TRY(cb_image_box_take(c, i, image, &out->footprint));
        return take_flags(c, out);
    }
    int64_t n = 1;
    for (int d = 0; d < image->ndim; d++) out->footprint.size[d] = 1;
    for (int k = 0; k < image->naxes; k++) {
        out->footprint.size[image->axes[k]] = 3;
        if (cb_mul_i64(n, 3, &n) || n > INT32_MAX)
            return cb_fail(c->err, CUBED_E_ARG,
                           "%s: a box of 3 elements along each of %d axes is too large",
                           c->function->name, image->naxes);
    }
    out->footprint.n = n;
    out->footprint.numbers = cb_alloc(&c->ctx->alloc, (size_t)n * sizeof(double));
    if (!out->footprint.numbers)
        return cb_fail(c->err, CUBED_E_NOMEM, "out of memory: a box of %lld elements",
                       (long long)n);
    for (int64_t k = 0; k < n; k++) {
        int away = 0;
        for (int64_t left = k, a = 0; a < image->naxes; a++, left /= 3) away += left % 3 != 1;
        out->footprint.numbers[k] = away <= 1;
    }
    return take_flags(c, out);
}

void cb_image_structure_free(const cb_call *c, cb_image_structure *s)
{
    cb_free(&c->ctx->alloc, s->flags, (size_t)s->footprint.n);
    cb_image_box_free(c, &s->footprint);
    cb_image_box_free(c, &s->heights);
}
