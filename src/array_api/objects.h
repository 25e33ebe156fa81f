/* Assigns the elements of labelled objects of an image to groups, which are numbered from 0. */
#ifndef CB_API_OBJECTS_H
#define CB_API_OBJECTS_H

#include "cubed/measurements.h"
#include "ops/steps.h"

/* An image whose elements are in groups. `place` and the arrays belong to cb_steps. */
typedef struct cb_grouped_image {
    const char *name; /* name of the function, for messages */
    const cubed_objects *objects;
    cubed_array *x;     /* the image, with at least one axis */
    cubed_array *codes; /* int64, of x's shape: the group of each element, or -1 */
    /* Number of groups; at most twice the number of different labels in the index. */
    int64_t ngroups;
    int64_t n; /* number of labels in the index, 1 if there is none */
    /* Group of each label in the index; NULL if label number i of the index is group i. */
    cubed_array *place;
    bool is_flat; /* the image has no axes, so x was given one axis of extent 1 */
} cb_grouped_image;

/* Finds the groups of an image's elements. Errors are recorded in `s`. */
void cb_api_group_objects(cb_steps *s, const char *name, cubed_array *x,
                          const cubed_objects *objects, cb_grouped_image *out);
/* Converts results per group to results in the order of the index (the labels that the user listed). `made` has one row for each
 * group along its first axis. In the result, the axes of the index replace this axis. */
cubed_array *cb_api_objects_in_order(cb_steps *s, const cb_grouped_image *g, cubed_array *made);
/* Gives an array the shape of the index (the labels that the user listed). `made` has one row for each label along its first
 * axis. In the result, the axes of the index replace this axis. */
cubed_array *cb_api_objects_shaped(cb_steps *s, const cb_grouped_image *g, cubed_array *made);

#endif
