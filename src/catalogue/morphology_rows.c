/* Rows of functions of morphology of images, with the names of scipy.ndimage. */
#include "base/error.h"
#include "image_args.h"

#define CATEGORY .category = "morphology"

/* --- Grey-scale ---------------------------------------------------------------------------------------- */

static const cubed_param grey_params[] = {
    IMAGE,
    SIZE_OR_FOOTPRINT,
    BOX("structure", "An array of heights for the elements of a box: a dilation adds them to "
                     "elements, an erosion subtracts them."),
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
    BOX("structure", "An array whose nonzero elements belong to the box. None: the element "       \
                     "itself and those that share a face with it.")
#define ITERATIONS                                                                                 \
    PARAM_INT("iterations", 0, 1, "Number of times to apply the operation, at least 1.")
#define MASK                                                                                       \
    PARAM_OPTIONAL_ARRAY(                                                                          \
        "mask", 0, "An array in the shape of the image. Elements where it is 0 do not change.")
#define OUTPUT PARAM_DTYPE("output", 0, "Type of the result. None: bool.")
#define BORDER                                                                                     \
    {                                                                                              \
        PARAM("border_value", ACCEPTS(BOOL), 0, "Value of elements outside of the image."),        \
            BOOL_DEFAULT(false)                                                                    \
    }
#define BRUTE                                                                                      \
    PARAM_BOOL("brute_force", 0, false, "Accepted for compatibility with SciPy; has no effect.")

/* SciPy's orders of parameters, which differ between functions with one step (erosion, dilation) and with two (opening,
 * closing). */
static const cubed_param single_params[] = {IMAGE,  STRUCTURE, ITERATIONS, MASK, OUTPUT,
                                            BORDER, ORIGIN,    BRUTE,      AXES};
static const cubed_param double_params[] = {IMAGE, STRUCTURE, ITERATIONS, OUTPUT, ORIGIN,
                                            MASK,  BORDER,    BRUTE,      AXES};
enum { SINGLE_MASK = 3, SINGLE_OUTPUT, SINGLE_BORDER, SINGLE_ORIGIN };
enum { DOUBLE_OUTPUT = 3, DOUBLE_ORIGIN, DOUBLE_MASK, DOUBLE_BORDER };

/* Casts the result, c->out[0], to the type at position i, if one is given. */
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
    BOX("structure1", "Elements of the pattern that must not be 0. None: the element itself and "
                      "those that share a face with it."),
    BOX("structure2",
        "Elements of the pattern that must be 0. None: all that are not in `structure1`."),
    OUTPUT,
    {PARAM("origin1", ACCEPTS(INT) | ACCEPTS(INTS), 0,
           "Offset of the element from the middle of `structure1`."),
     INT_DEFAULT(0)},
    {PARAM("origin2", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(NONE), 0,
           "Offset of the element from the middle of `structure2`. None: `origin1`.")},
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
         .returns = "The shape of `input`; bool, unless `output` is another type.",                \
         PARAMS(PARAMETERS)},                                                                      \
            .call = call_binary, .which = CUBED_MORPHOLOGY_##WHICH                                 \
    }

static const cb_row rows[] = {
    BINARY("binary_closing", double_params, CLOSING,
           "Closes holes in objects of elements that are not 0: a dilation, then an erosion."),
    BINARY("binary_dilation", single_params, DILATION,
           "Whether any element of a box around each element is not 0."),
    BINARY("binary_erosion", single_params, EROSION,
           "Whether no element of a box around each element is 0."),
    {{"binary_hit_or_miss", CATEGORY,
      .summary =
          "Finds the positions of a pattern of elements that are 0 and elements that are not.",
      .returns = "The shape of `input`; bool, unless `output` is another type.",
      PARAMS(match_params)},
     .call = call_match},
    BINARY("binary_opening", double_params, OPENING,
           "Removes small objects of elements that are not 0: an erosion, then a dilation."),
    GREY("black_tophat", BLACK_HAT, "The closing of an image, minus the image."),
    GREY("grey_closing", CLOSING, "The erosion of the dilation of an image."),
    GREY("grey_dilation", DILATION, "The maximum of a mirrored box around each element."),
    GREY("grey_erosion", EROSION, "The minimum of a box around each element."),
    GREY("grey_opening", OPENING, "The dilation of the erosion of an image."),
    GREY("morphological_gradient", GRADIENT, "The dilation of an image, minus its erosion."),
    GREY("morphological_laplace", LAPLACE,
         "The dilation plus the erosion of an image, minus twice the image."),
    GREY("white_tophat", WHITE_HAT, "An image, minus its opening."),
};

const cb_rows cb_morphology_rows = ROWS(rows);
