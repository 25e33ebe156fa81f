/* Arguments that image functions share: boundaries, origins, axes and boxes, named as in scipy.ndimage. */
#ifndef CB_CATALOGUE_IMAGE_ARGS_H
#define CB_CATALOGUE_IMAGE_ARGS_H

#include "cubed/filters.h"
#include "rows.h"

#define IMAGE   PARAM_LIKE("input", "An image, of any number of axes.")
#define AN_AXIS PARAM_AXIS("axis", 0, -1, "The axis; negative numbers count from the last.")
#define EXTENT  "Extent of the box along all axes, or one extent for each axis."
#define SAME    "The shape of `input`, and its type, unless `output` is another type."

/* The parameters output, mode and cval, in this order. */
#define BOUNDARY                                                                                   \
    PARAM_DTYPE("output", 0, "Type of the result. None: the type of `input`."),                    \
        {PARAM("mode", ACCEPTS(CHOICE) | ACCEPTS(LIST), 0,                                         \
               "Elements outside of the image: mirrored at the edge (``reflect``) or at the last " \
               "element (``mirror``), the nearest element (``nearest``), the opposite end "        \
               "(``wrap``), or `cval` (``constant``). One mode for all axes, or one for each "     \
               "axis."),                                                                           \
         CHOICE_DEFAULT(CUBED_BOUNDARY_REFLECT), .choices = cb_image_boundaries},                  \
    {                                                                                              \
        PARAM("cval", ACCEPTS(FLOAT), 0,                                                           \
              "Value of elements outside of the image for ``\"constant\"``."),                     \
            FLOAT_DEFAULT(0)                                                                       \
    }
#define ORIGIN                                                                                     \
    {                                                                                              \
        PARAM("origin", ACCEPTS(INT) | ACCEPTS(INTS), 0,                                           \
              "Offset of the element from the middle of its box; one number, or one for each "     \
              "axis."),                                                                            \
            INT_DEFAULT(0)                                                                         \
    }
#define AXES                                                                                       \
    PARAM_AXES("axes", NAMED,                                                                      \
               "Axes to filter, in increasing order. Lists in other arguments have one item for "  \
               "each of these axes. None: all axes.")
#define BOX(NAME, NOTES)                                                                           \
    {                                                                                              \
        PARAM(NAME, ACCEPTS(LIST) | ACCEPTS(NONE), 0, NOTES)                                       \
    }
/* The parameters size and footprint. */
#define SIZE_OR_FOOTPRINT                                                                          \
    {PARAM("size", ACCEPTS(INT) | ACCEPTS(INTS) | ACCEPTS(NONE), 0, EXTENT)},                      \
        BOX("footprint", "An array whose nonzero elements belong to the box, in place of `size`.")

extern const cubed_choice cb_image_boundaries[];

/* Positions of a function's parameters; -1 if the function does not have the parameter. `mode` and `cval` follow `output`. */
typedef struct cb_image_places {
    int output, origin, axes;
} cb_image_places;

/* An image and the options of a filter. Pointers in the options lead to members of this structure. */
typedef struct cb_image {
    cubed_array *x;
    int ndim, axes[CUBED_MAX_NDIM],
        naxes;     /* number of axes; the filtered axes, ascending; and their number */
    uint32_t mask; /* bit mask of the filtered axes */
    cubed_filter_boundary boundaries[CUBED_MAX_NDIM];
    int64_t origins[CUBED_MAX_NDIM];
    cubed_filter_options options;
} cb_image;

CUBED_MUST_CHECK cubed_status cb_image_take(const cb_call *c, cb_image_places at, cb_image *out);
/* Gets an axis as a nonnegative number, for an image with at least one axis. */
CUBED_MUST_CHECK cubed_status cb_image_axis(const cb_call *c, int i, const cb_image *image,
                                            int *axis);
/* Gets a number for each axis. Argument i is one number for all filtered axes, or a list. Axes that are not filtered get the
 * number `other`. */
CUBED_MUST_CHECK cubed_status cb_image_integers(const cb_call *c, int i, const cb_image *image,
                                                int64_t other, int64_t out[CUBED_MAX_NDIM]);
CUBED_MUST_CHECK cubed_status cb_image_reals(const cb_call *c, int i, const cb_image *image,
                                             double other, double out[CUBED_MAX_NDIM]);
/* Refuses an origin outside a box of `extent` elements. */
CUBED_MUST_CHECK cubed_status cb_image_check_origin(const cb_call *c, int i, int64_t extent,
                                                    int64_t origin);

/* Gets the shape of a value that is a nested list, and returns its number of axes; 0 if the value is not a list of values.
 * Inspects only the first item of each list. */
int cb_image_extents(const cubed_value *v, int64_t extents[CUBED_MAX_NDIM]);

/* An array of numbers from a nested list in an argument, with an axis for each axis of the image; axes that are not filtered
 * have extent 1. */
typedef struct cb_image_box {
    int64_t size[CUBED_MAX_NDIM], n;
    double *numbers;
} cb_image_box;
/* Gets the array of numbers in argument i. Free *out with cb_image_box_free, even after an error. */
CUBED_MUST_CHECK cubed_status cb_image_box_take(const cb_call *c, int i, const cb_image *image,
                                                cb_image_box *out);
/* Gets an array of numbers with *depth axes of any extents, which are stored in out->size. */
CUBED_MUST_CHECK cubed_status cb_image_table_take(const cb_call *c, int i, int *depth,
                                                  cb_image_box *out);
void cb_image_box_free(const cb_call *c, cb_image_box *box);

/* A structuring element, and the memory that it points to. */
typedef struct cb_image_structure {
    cubed_structure of;
    int64_t size[CUBED_MAX_NDIM];
    cb_image_box footprint, heights;
    uint8_t *flags;
} cb_image_structure;
/* Gets a structuring element from the arguments number `size`, `footprint` and, unless it is -1, `heights` (the parameter
 * "structure"). Free *out with cb_image_structure_free, even after an error. */
CUBED_MUST_CHECK cubed_status cb_image_structure_take(const cb_call *c, int size, int footprint,
                                                      int heights, const cb_image *image,
                                                      cb_image_structure *out);
/* Gets a footprint. None selects the middle element and the elements that share a face with it. */
CUBED_MUST_CHECK cubed_status cb_image_footprint_take(const cb_call *c, int i,
                                                      const cb_image *image,
                                                      cb_image_structure *out);
void cb_image_structure_free(const cb_call *c, cb_image_structure *s);

#endif
