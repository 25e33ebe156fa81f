/* Inputs that consist of several files, such as 'era5-*.nc': the arrays of the files are joined into one array. */
#ifndef CUBED_CLI_JOINED_H
#define CUBED_CLI_JOINED_H

#include "cubed/cubed.h"

/* Handling of elements that are in several files: report an error, or use the elements of the file that begins first or last. */
typedef enum joined_overlap { JOINED_ERROR, JOINED_FIRST, JOINED_LAST } joined_overlap;

/* Form in which elements of files are joined. */
typedef enum joined_values {
    JOINED_DECODED, /* arrays whose packing differs are decoded; equally packed ones stay packed */
    JOINED_STORED,  /* packing, units and calendar must agree */
    JOINED_TIMES /* like JOINED_STORED, but for a coordinate: times are converted to the units of the first file */
} joined_values;

/* How files are joined. The caller sets the fields up to `overlap`. */
typedef struct joined_inputs {
    cubed_context *ctx;
    const char *
        along; /* name of the dimension along which files are joined; NULL for "time", or for the first axis
                        * of arrays without names of dimensions */
    joined_overlap overlap;
    /* Name of a new first dimension of all arrays except coordinates and descriptions, with an element for each file; NULL:
     * files are joined along a dimension that they have. */
    const char *stack;
    bool has_along;            /* an array that was opened has the dimension `along` */
    struct joined_order *list; /* orders of files determined so far */
} joined_inputs;

/* Parses "error", "first" or "last"; returns false for other strings. */
bool joined_parse_overlap(const char *text, joined_overlap *out);

/* Separates the members of a list of files, each of which may have wildcards. */
#define JOINED_SEPARATOR '\n'

/* Returns true if the store's name is a list, or has wildcards and no store has exactly that name. */
bool joined_is_pattern(const char *url);
/* Returns the URLs of the files, in the order of a list, then by name: numbers within names are compared by value. *n is 0 if
 * no file matches, or if a member of a list matches no file. Free them with joined_free_urls. */
char **joined_expand(const char *url, int *n);
void joined_free_urls(char **urls, int n);

/* Opens the array of every file of the pattern `url` (STORE::PATH), as one array.
 *
 * The files are in the order of the dimension's coordinate, which is read now. Without a coordinate, they are in the order of
 * joined_expand. Times are converted to the units of the first file, unless `values` is JOINED_STORED. If `describes` is set, an
 * array without the dimension is taken from the first file; otherwise it is an error.
 *
 * Errors: CUBED_E_NOT_FOUND if no file has the array; CUBED_E_ARG, with the names of the files, if some lack the array, if they
 * overlap, or if their calendars, types, shapes or other coordinates differ. */
CUBED_MUST_CHECK cubed_status joined_open(joined_inputs *in, const char *url, joined_values values,
                                          bool describes, cubed_array **out, cubed_error *err);
void joined_free(joined_inputs *in);

#endif
