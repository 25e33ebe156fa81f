/* Morphology of images, by the names of scipy.ndimage. */
#include "base/error.h"
#include "image_args.h"

#define CATEGORY .category = "morphology"

/* --- Grey-scale ---------------------------------------------------------------------------------------- */

static const cubed_param grey_params[] = {
    IMAGE,
    SIZE_OR_FOOTPRINT,
    BOX("structure", "Heights of the elements of a box, an array: dilations add them to elements, "
                     "and erosions subtract them."),
    BOUNDARY,
    ORIGIN,
    AXES,
};

static cubed_status call_grey(const cb_call *c)
{
    cb_image image;
    cb_image_structure s;
    CB_TRY(cb_image_take(c, (cb_image_places){4, 7, 8}, &image));
    cubed_status st = cb_image_structure_take(c, 1, 2, 3, &image, &s);
    for (int d = 0; d < image.ndim && st == CUBED_OK; d++)
        if (s.size[d] > 0) st = cb_image_check_origin(c, 7, s.size[d], image.origins[d]);
    if (st == CUBED_OK)
        st = cubed_grey_morphology(image.x, (cubed_morphology)c->which, &s.of, &image.options,
                                   c->out, c->err);
    cb_image_structure_free(c, &s);
    return st;
}

/* --- Binary -------------------------------------------------------------------------------------------- */

#define STRUCTURE                                                                                  \
    BOX("structure",                                                                               \
        "Which elements of a box count, an array. None: the element itself and those "             \
        "that share a face with it.")
#define ITERATIONS PARAM_INT("iterations", 0, 1, "How often it is repeated, once at least.")
#define MASK                                                                                       \
    PARAM_OPTIONAL_ARRAY("mask", 0,                                                                \
                         "Of the image's shape: elements that are 0 in it stay as they are.")
#define OUTPUT PARAM_DTYPE("output", 0, "Type of the result. None: bool.")
#define BORDER                                                                                     \
    {                                                                                              \
        PARAM("border_value", ACCEPTS(BOOL), 0, "The element beyond the ends."),                   \
            BOOL_DEFAULT(false)                                                                    \
    }
#define BRUTE PARAM_BOOL("brute_force", 0, false, "Has no effect on the result.")

/* In the order of SciPy, which differs between functions of one step and of two. */
static const cubed_param single_params[] = {IMAGE,  STRUCTURE, ITERATIONS, MASK, OUTPUT,
                                            BORDER, ORIGIN,    BRUTE,      AXES};
static const cubed_param double_params[] = {IMAGE, STRUCTURE, ITERATIONS, OUTPUT, ORIGIN,
                                            MASK,  BORDER,    BRUTE,      AXES};
enum { SINGLE_MASK = 3, SINGLE_OUTPUT, SINGLE_BORDER, SINGLE_ORIGIN };
enum { DOUBLE_OUTPUT = 3, DOUBLE_ORIGIN, DOUBLE_MASK, DOUBLE_BORDER };

/* Casts the result, c->out[0], to the type at position i. */
static cubed_status cast_result(const cb_call *c, int i)
{
    const cubed_dtype *dtype = cb_call_dtype(c, i);
    cubed_array *made = c->out[0];
    if (!dtype) return CUBED_OK;
    c->out[0] = NULL;
    const cubed_status st = cubed_astype(made, *dtype, c->out, c->err);
    cubed_array_unref(made);
    return st;
}

static cubed_status call_binary(const cb_call *c)
{
    const bool is_single = c->which <= CUBED_MORPHOLOGY_DILATION;
    const int origin = is_single ? SINGLE_ORIGIN : DOUBLE_ORIGIN;
    cubed_binary_options o = CUBED_BINARY_OPTIONS_INIT;
    cb_image image;
    cb_image_structure s;
    CB_TRY(cb_image_take(c, (cb_image_places){-1, origin, 8}, &image));
    o.iterations = cb_call_int(c, 2);
    o.mask = cb_call_array(c, is_single ? SINGLE_MASK : DOUBLE_MASK);
    o.border = cb_call_bool(c, is_single ? SINGLE_BORDER : DOUBLE_BORDER);
    o.origins = image.origins;
    cubed_status st = cb_image_footprint_take(c, 1, &image, &s);
    for (int d = 0; d < image.ndim && st == CUBED_OK; d++)
        st = cb_image_check_origin(c, origin, s.size[d], image.origins[d]);
    if (st == CUBED_OK)
        st =
            cubed_binary_morphology(image.x, (cubed_morphology)c->which, &s.of, &o, c->out, c->err);
    if (st == CUBED_OK) st = cast_result(c, is_single ? SINGLE_OUTPUT : DOUBLE_OUTPUT);
    cb_image_structure_free(c, &s);
    return st;
}

static const cubed_param match_params[] = {
    IMAGE,
    BOX("structure1", "Which elements of a box are not 0. None: the element itself and those that "
                      "share a face with it."),
    BOX("structure2", "Which elements of a box are 0. None: all that `structure1` does not have."),
    OUTPUT,
    {PARAM("origin1", ACCEPTS(INT) | ACCEPTS(INTS), 0,
           "Position of the element itself in `structure1`, from the middle on."),
     INT_DEFAULT(0)},
    {PARAM("origin2", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(NONE), 0,
           "The same for `structure2`. None: `origin1`.")},
    AXES,
};

static cubed_status call_match(const cb_call *c)
{
    int64_t other[CUBED_MAX_NDIM];
    cb_image image;
    cb_image_structure hit, miss = {.flags = NULL};
    const bool has_miss = cb_call_has(c, 2);
    const int second = cb_call_has(c, 5) ? 5 : 4;
    CB_TRY(cb_image_take(c, (cb_image_places){-1, 4, 6}, &image));
    CB_TRY(cb_image_integers(c, second, &image, 0, other));
    cubed_status st = cb_image_footprint_take(c, 1, &image, &hit);
    if (st == CUBED_OK && has_miss) st = cb_image_footprint_take(c, 2, &image, &miss);
    for (int d = 0; d < image.ndim && st == CUBED_OK; d++) {
        st = cb_image_check_origin(c, 4, hit.size[d], image.origins[d]);
        if (st == CUBED_OK)
            st = cb_image_check_origin(c, second, (has_miss ? &miss : &hit)->size[d], other[d]);
    }
    if (st == CUBED_OK)
        st = cubed_binary_hit_or_miss(image.x, &hit.of, has_miss ? &miss.of : NULL, image.origins,
                                      other, c->out, c->err);
    if (st == CUBED_OK) st = cast_result(c, 3);
    cb_image_structure_free(c, &hit);
    cb_image_structure_free(c, &miss);
    return st;
}

#define GREY(NAME, WHICH, SUMMARY)                                                                 \
    {                                                                                              \
        {(NAME),                                                                                   \
         CATEGORY,                                                                                 \
         .summary = (SUMMARY),                                                                     \
         .returns = SAME,                                                                          \
         PARAMS(grey_params),                                                                      \
         .attrs = CUBED_ATTRS_SAME},                                                               \
            .call = call_grey, .which = CUBED_MORPHOLOGY_##WHICH                                   \
    }
#define BINARY(NAME, PARAMETERS, WHICH, SUMMARY)                                                   \
    {                                                                                              \
        {(NAME), CATEGORY, .summary = (SUMMARY),                                                   \
         .returns = "The shape of `input`, of bool unless `output` names another type.",           \
         PARAMS(PARAMETERS)},                                                                      \
            .call = call_binary, .which = CUBED_MORPHOLOGY_##WHICH                                 \
    }

static const cb_row rows[] = {
    BINARY("binary_closing", double_params, CLOSING,
           "The erosion of the dilation of elements that are not 0."),
    BINARY("binary_dilation", single_params, DILATION,
           "Where a box around an element has any that is not 0."),
    BINARY("binary_erosion", single_params, EROSION,
           "Where a box around an element has none that is 0."),
    {{"binary_hit_or_miss", CATEGORY,
      .summary = "Where a pattern of elements that are 0 and others is found.",
      .returns = "The shape of `input`, of bool unless `output` names another type.",
      PARAMS(match_params)},
     .call = call_match},
    BINARY("binary_opening", double_params, OPENING,
           "The dilation of the erosion of elements that are not 0."),
    GREY("black_tophat", BLACK_HAT, "The closing of an image less the image."),
    GREY("grey_closing", CLOSING, "The erosion of the dilation of an image."),
    GREY("grey_dilation", DILATION, "The greatest elements of boxes around elements, mirrored."),
    GREY("grey_erosion", EROSION, "The least elements of boxes around elements."),
    GREY("grey_opening", OPENING, "The dilation of the erosion of an image."),
    GREY("morphological_gradient", GRADIENT, "The dilation of an image less its erosion."),
    GREY("morphological_laplace", LAPLACE,
         "The dilation and the erosion of an image less twice the image."),
    GREY("white_tophat", WHITE_HAT, "An image less its opening."),
};

const cb_rows cb_morphology_rows = ROWS(rows);
