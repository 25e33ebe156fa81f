/* Several files that are joined along a dimension: their order, which the coordinate of the dimension determines. */
#ifndef CUBED_CLI_JOINED_ORDER_H
#define CUBED_CLI_JOINED_ORDER_H

#include <jansson.h>

#include "cubed/calendar.h"
#include "joined.h"

/* The coordinate of one file. `n` is -1 if the file has none. */
typedef struct joined_file {
    char *url;            /* URL of the file's group, without the name of an array */
    int number_by_name;   /* position of the file if files are sorted by name */
    int64_t n;            /* number of elements of the coordinate */
    bool is_time;         /* the elements are times */
    cubed_time_axis axis; /* meaning of the units, if has_units */
    bool has_units;       /* the elements are numbers with units "... since DATE" */
    /* Name of the array with the bounds of the coordinate; NULL if it has no bounds. */
    char *bounds;
    double *number; /* the elements if they are not times; otherwise NULL */
    int64_t *us;    /* the elements in microseconds if they are times; otherwise NULL */
} joined_file;

typedef struct joined_order {
    char *group, *dim;   /* pattern of the groups' URLs, and name of the dimension */
    int n;               /* number of files */
    joined_file *file;   /* the files in the order in which they are joined */
    bool has_coordinate; /* the files have a coordinate for the dimension */
    int64_t total;       /* number of elements of all files along the dimension */
    /* If files overlap, the positions of the `nat` elements that the result has, among the elements of all files. NULL if
     * it has all elements. */
    int64_t nat, *at;
    /* Names of other coordinates that were compared and agree, such as " lat lon ". */
    char *checked;
    struct joined_order *next;
} joined_order;

/* Finds the order in which files are joined along `dim`. `urls` are the groups of the `n` files that match `pattern`. *out
 * belongs to `in`, which keeps one order for each pattern and dimension. */
CUBED_MUST_CHECK cubed_status joined_find_order(joined_inputs *in, const char *pattern,
                                                char *const *urls, int n, const char *dim,
                                                joined_order **out, cubed_error *err);
/* Checks that all files that have the coordinate `name` have the same elements in it. */
CUBED_MUST_CHECK cubed_status joined_check_coordinate(joined_inputs *in, joined_order *order,
                                                      const char *name, cubed_error *err);
/* Finds the units of time of an array from its attributes. Sets *is_time to false if the array has no such units. If the
 * array has no units but contains the bounds of the coordinate of `file`, it has the units of this coordinate. */
CUBED_MUST_CHECK cubed_status joined_find_units(const char *url, const char *name,
                                                const json_t *attrs, const joined_file *file,
                                                bool *is_time, cubed_time_axis *axis,
                                                cubed_error *err);
/* Reads the elements of x, of any number of axes, as float64 if `real`, otherwise as int64. *out, which is NULL
 * after an error, belongs to the caller. Refuses more than AXIS_VALUES_MAX elements. */
CUBED_MUST_CHECK cubed_status joined_read_elements(cubed_context *ctx, cubed_array *x, bool real,
                                                   void **out, cubed_error *err);
void joined_order_free(joined_order *order);

#endif
