/* The order of several files along a dimension, by its coordinate. */
#ifndef CUBED_CLI_JOINED_ORDER_H
#define CUBED_CLI_JOINED_ORDER_H

#include <jansson.h>

#include "cubed/calendar.h"
#include "joined.h"

/* The coordinate of one file. `n` is -1 if the file has none. */
typedef struct joined_file {
    char *url;          /* of the file's group, without the name of an array */
    int number_by_name; /* position in the order of names */
    int64_t n;
    bool is_time;
    cubed_time_axis axis; /* of times with units */
    bool has_units;
    char *bounds;   /* name of the array with its bounds; NULL: none */
    double *number; /* the elements, or */
    int64_t *us;    /* times in microseconds */
} joined_file;

typedef struct joined_order {
    char *group, *dim; /* pattern of the groups; the dimension */
    int n;
    joined_file *file; /* in order */
    bool has_coordinate;
    int64_t total; /* elements of all files */
    /* Positions of the remaining elements if files overlap; NULL: all elements. */
    int64_t nat, *at;
    char *checked; /* names of other coordinates that agree: "lat lon " */
    struct joined_order *next;
} joined_order;

/* Finds the order of the files of groups `urls`, which are taken from `pattern`. The order belongs to `in`. */
CUBED_MUST_CHECK cubed_status joined_find_order(joined_inputs *in, const char *pattern,
                                                char *const *urls, int n, const char *dim,
                                                joined_order **out, cubed_error *err);
/* Checks that all files have the same elements in the coordinate `name`, if they have one. */
CUBED_MUST_CHECK cubed_status joined_check_coordinate(joined_inputs *in, joined_order *order,
                                                      const char *name, cubed_error *err);
/* Finds the meaning of numbers of an array with these attributes; *is_time is false if they are not times. An array without
 * units that is the bounds of `file` has the units of `file`. */
CUBED_MUST_CHECK cubed_status joined_find_units(const char *url, const char *name,
                                                const json_t *attrs, const joined_file *file,
                                                bool *is_time, cubed_time_axis *axis,
                                                cubed_error *err);
void joined_order_free(joined_order *order);

#endif
