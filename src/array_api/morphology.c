/* Morphology of images: minima and maxima of boxes, and their differences. */
#include <inttypes.h>

#include "array_api/api_pkg.h"
#include "array_api/image_filters.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "ops/steps.h"

/* A structure and its mirror image about the centre of the box. The origins keep the centre at the same position. */
typedef struct mirrored {
    const cubed_structure *of;
    int64_t n, origins[CUBED_MAX_NDIM], mirrored_origins[CUBED_MAX_NDIM];
    /* footprint of the mirror image; NULL if the structure consists of all elements of the box */
    uint8_t *footprint;
    double *heights; /* heights of the mirror image; NULL if all are 0 */
} mirrored;

static void drop_mirrored(cubed_context *ctx, mirrored *m)
{
    cb_free(&ctx->alloc, m->footprint, (size_t)m->n);
    cb_free(&ctx->alloc, m->heights, (size_t)m->n * sizeof *m->heights);
    m->footprint = NULL;
    m->heights = NULL;
}

static cubed_status take_structure(const char *name, const cubed_array *x,
                                   const cubed_structure *of, const int64_t *origins, mirrored *m,
                                   cubed_error *err)
{
    *m = (mirrored){.of = of, .n = 1};
    for (int d = 0; d < x->node.grid->ndim; d++) {
        if (of->size[d] < 1 || cb_mul_i64(m->n, of->size[d], &m->n) || m->n > INT32_MAX)
            return cb_fail(err, CUBED_E_ARG,
                           "%s: size of axis %d is %" PRId64 ", expected 1 or more, and at most "
                           "2**31 elements in a box",
                           name, d, of->size[d]);
        m->origins[d] = origins ? origins[d] : 0;
        m->mirrored_origins[d] = -m->origins[d] - (of->size[d] % 2 == 0);
    }
    if (of->footprint) m->footprint = cb_alloc(&x->ctx->alloc, (size_t)m->n);
    if (of->heights) m->heights = cb_alloc(&x->ctx->alloc, (size_t)m->n * sizeof *m->heights);
    if ((of->footprint && !m->footprint) || (of->heights && !m->heights)) {
        drop_mirrored(x->ctx, m);
        return cb_fail(err, CUBED_E_NOMEM, "out of memory: a box of %" PRId64 " elements", m->n);
    }
    for (int64_t i = 0; i < m->n; i++) {
        if (m->footprint) m->footprint[i] = of->footprint[m->n - 1 - i];
        if (m->heights) m->heights[i] = of->heights[m->n - 1 - i];
    }
    return CUBED_OK;
}

static cubed_array *erosion(cb_steps *s, const char *name, cubed_array *x, const mirrored *m,
                            cubed_filter_options o)
{
    cubed_array *y = NULL;
    o.origins = m->origins;
    if (!x) return NULL;
    return cb_step(s, cb_filter_extreme(name, x, false, m->of, &o, &y, s->err), &y);
}

static cubed_array *dilation(cb_steps *s, const char *name, cubed_array *x, const mirrored *m,
                             cubed_filter_options o)
{
    cubed_array *y = NULL;
    const cubed_structure image = {m->of->size, m->footprint, m->heights};
    o.origins = m->mirrored_origins;
    if (!x) return NULL;
    return cb_step(s, cb_filter_extreme(name, x, true, &image, &o, &y, s->err), &y);
}

/* --- Grey-scale --------------------------------------------------------------------------------------- */

/* Returns a - b in NumPy's result type, or the exclusive or of bools, and casts it to dtype. */
static cubed_array *difference(cb_steps *s, cubed_array *a, cubed_array *b, cubed_dtype dtype)
{
    const bool is_bool = a && b && a->node.dtype == CUBED_BOOL && b->node.dtype == CUBED_BOOL;
    return cb_step_cast(
        s, cb_step_op(s, is_bool ? CUBED_OP_NOT_EQUAL : CUBED_OP_SUBTRACT, a, b, NULL), dtype);
}

/* Applies grey-scale morphology. Like SciPy, stores intermediates in x's type and the last result in the requested type. */
static cubed_array *grey(cb_steps *s, const char *name, cubed_array *x, cubed_morphology which,
                         const mirrored *m, const cubed_filter_options *last)
{
    const cubed_dtype dtype = last->dtype ? *last->dtype : x->node.dtype;
    cubed_filter_options o = *last;
    cubed_array *a, *b;
    o.dtype = NULL;
    switch (which) {
    case CUBED_MORPHOLOGY_EROSION: return erosion(s, name, x, m, *last);
    case CUBED_MORPHOLOGY_DILATION: return dilation(s, name, x, m, *last);
    case CUBED_MORPHOLOGY_OPENING: return dilation(s, name, erosion(s, name, x, m, o), m, *last);
    case CUBED_MORPHOLOGY_CLOSING: return erosion(s, name, dilation(s, name, x, m, o), m, *last);
    case CUBED_MORPHOLOGY_WHITE_HAT:
        a = dilation(s, name, erosion(s, name, x, m, o), m, *last);
        return difference(s, x, a, dtype);
    case CUBED_MORPHOLOGY_BLACK_HAT:
        a = erosion(s, name, dilation(s, name, x, m, o), m, *last);
        return difference(s, a, x, dtype);
    case CUBED_MORPHOLOGY_GRADIENT:
        a = dilation(s, name, x, m, o);
        return difference(s, a, erosion(s, name, x, m, o), dtype);
    default:
        a = dilation(s, name, x, m, o);
        b = erosion(s, name, x, m, o);
        a = cb_step_op(s, CUBED_OP_ADD, a, b, NULL);
        a = cb_step_op(s, CUBED_OP_SUBTRACT, a, x, NULL);
        a = cb_step_op(s, CUBED_OP_SUBTRACT, a, x, NULL);
        return cb_step_cast(s, a, dtype);
    }
}

static const char *const grey_names[CUBED_MORPHOLOGIES] = {
    [CUBED_MORPHOLOGY_EROSION] = "grey_erosion",
    [CUBED_MORPHOLOGY_DILATION] = "grey_dilation",
    [CUBED_MORPHOLOGY_OPENING] = "grey_opening",
    [CUBED_MORPHOLOGY_CLOSING] = "grey_closing",
    [CUBED_MORPHOLOGY_GRADIENT] = "morphological_gradient",
    [CUBED_MORPHOLOGY_LAPLACE] = "morphological_laplace",
    [CUBED_MORPHOLOGY_WHITE_HAT] = "white_tophat",
    [CUBED_MORPHOLOGY_BLACK_HAT] = "black_tophat",
};

cubed_status cubed_grey_morphology(cubed_array *x, cubed_morphology which,
                                   const cubed_structure *structure,
                                   const cubed_filter_options *options, cubed_array **out,
                                   cubed_error *err)
{
    if ((unsigned)which >= CUBED_MORPHOLOGIES)
        return cb_fail(err, CUBED_E_ARG, "morphology: function number %d, expected 0 to %d",
                       (int)which, CUBED_MORPHOLOGIES - 1);
    const char *name = grey_names[which];
    const cubed_kind kind = cubed_dtype_kind(x->node.dtype);
    const bool subtracts = which == CUBED_MORPHOLOGY_GRADIENT || which == CUBED_MORPHOLOGY_LAPLACE;
    cubed_filter_options o = CUBED_FILTER_OPTIONS_INIT;
    cb_steps s = {.ctx = x->ctx, .err = err};
    mirrored m;
    CB_TRY(CB_OPTIONS_TAKE(name, options, &o, err));
    if (kind > CUBED_KIND_FLOAT || (subtracts && kind == CUBED_KIND_BOOL))
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s, expected real numbers%s", name,
                       cubed_dtype_name(x->node.dtype),
                       kind == CUBED_KIND_BOOL ? ", such as uint8" : "");
    CB_TRY(take_structure(name, x, structure, o.origins, &m, err));
    const cubed_status st = cb_steps_end(&s, grey(&s, name, x, which, &m, &o), out);
    drop_mirrored(x->ctx, &m);
    return st;
}

/* --- Binary ------------------------------------------------------------------------------------------- */

/* Returns true for elements that are not 0. */
static cubed_array *truth(cb_steps *s, cubed_array *x) { return cb_step_cast(s, x, CUBED_BOOL); }

static cubed_array *repeated(cb_steps *s, const char *name, cubed_array *x, const mirrored *m,
                             bool dilates, const cubed_binary_options *b, cubed_array *mask)
{
    cubed_filter_options o = CUBED_FILTER_OPTIONS_INIT;
    o.boundary = CUBED_BOUNDARY_CONSTANT;
    o.value = b->border;
    for (int64_t i = 0; i < b->iterations && x; i++) {
        cubed_array *y = dilates ? dilation(s, name, x, m, o) : erosion(s, name, x, m, o);
        x = mask ? cb_step_op(s, CUBED_OP_WHERE, mask, y, x) : y;
    }
    return x;
}

static cubed_status check_binary(const char *name, const cubed_array *x,
                                 const cubed_binary_options *b, cubed_error *err)
{
    const int ndim = x->node.grid->ndim;
    if (b->iterations < 1)
        return cb_fail(err, CUBED_E_ARG,
                       "%s: iterations is %" PRId64 ", expected 1 or more: a number that depends "
                       "on values cannot be planned",
                       name, b->iterations);
    if (cubed_dtype_kind(x->node.dtype) > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_TYPE, "%s is not defined for %s, expected real numbers", name,
                       cubed_dtype_name(x->node.dtype));
    if (!b->mask) return CUBED_OK;
    if (cubed_dtype_kind(b->mask->node.dtype) > CUBED_KIND_FLOAT)
        return cb_fail(err, CUBED_E_TYPE, "%s: mask is %s, expected bool or real numbers", name,
                       cubed_dtype_name(b->mask->node.dtype));
    bool fits = b->mask->node.grid->ndim == ndim;
    for (int d = 0; d < ndim && fits; d++) fits = b->mask->shape[d] == x->shape[d];
    if (fits) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "%s: mask has another shape than the image, expected the same shape", name);
}

cubed_status cubed_binary_morphology(cubed_array *x, cubed_morphology which,
                                     const cubed_structure *structure,
                                     const cubed_binary_options *options, cubed_array **out,
                                     cubed_error *err)
{
    static const char *const names[] = {"binary_erosion", "binary_dilation", "binary_opening",
                                        "binary_closing"};
    if ((unsigned)which > CUBED_MORPHOLOGY_CLOSING)
        return cb_fail(err, CUBED_E_ARG,
                       "binary morphology: function number %d, expected erosion, dilation, opening "
                       "or closing",
                       (int)which);
    const char *name = names[which];
    const bool dilates_first =
        which == CUBED_MORPHOLOGY_DILATION || which == CUBED_MORPHOLOGY_CLOSING;
    cubed_binary_options b = CUBED_BINARY_OPTIONS_INIT;
    cb_steps s = {.ctx = x->ctx, .err = err};
    mirrored m;
    CB_TRY(CB_OPTIONS_TAKE(name, options, &b, err));
    CB_TRY(check_binary(name, x, &b, err));
    CB_TRY(take_structure(name, x, structure, b.origins, &m, err));
    cubed_array *mask = b.mask ? truth(&s, b.mask) : NULL;
    cubed_array *y = repeated(&s, name, truth(&s, x), &m, dilates_first, &b, mask);
    if (which >= CUBED_MORPHOLOGY_OPENING) y = repeated(&s, name, y, &m, !dilates_first, &b, mask);
    const cubed_status st = cb_steps_end(&s, y, out);
    drop_mirrored(x->ctx, &m);
    return st;
}

/* Returns true if a structure selects any element. */
static bool has_element(const mirrored *m)
{
    for (int64_t i = 0; m->footprint && i < m->n; i++)
        if (m->footprint[i]) return true;
    return !m->footprint;
}

/* Selects the elements of the box that the footprint of `hit` does not select. */
static cubed_status find_rest(const cubed_array *x, const mirrored *hit, uint8_t **out,
                              cubed_error *err)
{
    *out = cb_alloc(&x->ctx->alloc, (size_t)hit->n);
    if (!*out)
        return cb_fail(err, CUBED_E_NOMEM, "out of memory: a box of %" PRId64 " elements", hit->n);
    for (int64_t i = 0; i < hit->n; i++)
        (*out)[i] = hit->of->footprint ? !hit->of->footprint[i] : 0;
    return CUBED_OK;
}

cubed_status cubed_binary_hit_or_miss(cubed_array *x, const cubed_structure *hit,
                                      const cubed_structure *miss, const int64_t *hit_origins,
                                      const int64_t *miss_origins, cubed_array **out,
                                      cubed_error *err)
{
    static const char name[] = "binary_hit_or_miss";
    const cubed_binary_options b = CUBED_BINARY_OPTIONS_INIT;
    cubed_filter_options o = CUBED_FILTER_OPTIONS_INIT;
    cb_steps s = {.ctx = x->ctx, .err = err};
    mirrored on = {0}, off = {0};
    uint8_t *rest = NULL;
    cubed_structure others = {hit->size, NULL, NULL};
    cubed_status st = CUBED_OK;
    CB_TRY(check_binary(name, x, &b, err));
    CB_GO(take_structure(name, x, hit, hit_origins, &on, err));
    if (!miss) {
        CB_GO(find_rest(x, &on, &rest, err));
        others.footprint = rest;
    }
    CB_GO(take_structure(name, x, miss ? miss : &others, miss_origins, &off, err));
    o.boundary = CUBED_BOUNDARY_CONSTANT;
    cubed_array *image = truth(&s, x), *y = erosion(&s, name, image, &on, o), *missed = NULL;
    /* If the structure for the background is empty, the background matches everywhere. */
    if (y && has_element(&off)) {
        o.origins = off.origins;
        const cubed_structure flat = {off.of->size, off.of->footprint, NULL};
        missed =
            cb_step(&s, cb_filter_extreme(name, image, true, &flat, &o, &missed, err), &missed);
        missed = cb_step_op(&s, CUBED_OP_LOGICAL_NOT, missed, NULL, NULL);
        y = cb_step_op(&s, CUBED_OP_LOGICAL_AND, y, missed, NULL);
    }
    st = cb_steps_end(&s, y, out);
out:
    cb_free(&x->ctx->alloc, rest, (size_t)on.n);
    drop_mirrored(x->ctx, &on);
    drop_mirrored(x->ctx, &off);
    return st;
}
