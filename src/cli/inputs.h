/* The arrays that an expression names: --in NAME=STORE[::PATH], and groups whose arrays are found by their names. */
#ifndef CUBED_CLI_INPUTS_H
#define CUBED_CLI_INPUTS_H

#include "joined.h"

enum { INPUTS_MAX = 1024 };

typedef struct inputs {
    cubed_context *ctx;
    bool raw;             /* elements stay as stored: characters are not joined */
    joined_inputs joined; /* several files as one */
    int nspecs;
    struct {
        char *name; /* NULL: a group */
        const char *url;
        bool used;
        bool is_group; /* an array was found in it */
    } spec[INPUTS_MAX];
    int nopen;
    struct {
        char *name;
        cubed_array *array;
        bool describes; /* opened as a coordinate: matters for stored elements of several files */
    } * open;           /* each array is opened once */
    int ncoordinates;
    struct {
        char *name;
        cubed_array *array; /* NULL: there is none */
    } * coordinate;         /* those that were looked for, so that a store is asked once */
    char *known;            /* names for messages, listed when first needed */
} inputs;

/* Returns NULL, or an error message, which the caller frees. */
char *inputs_add(inputs *in, const char *spec);
/* Returns the first input that was not used, other than `but` (may be NULL); NULL if there is none. The caller frees the
 * string. */
char *inputs_unused(const inputs *in, const char *but);
void inputs_free(inputs *in);
/* An expr_lookup_fn. A name is, in this order: that of an --in NAME=, an array of a given group, or the last part of the
 * path of an array that was given without a name. It is an error if several groups or paths have the name; without `known`
 * (for coordinates) the first one counts. */
cubed_status inputs_lookup(void *ctx, const char *name, cubed_array **out, const char **known,
                           cubed_error *err);
/* Finds a coordinate or other description, as stored, in the groups of the arrays: a new reference, or NULL in *out. A name
 * STORE::NAME is an array of another file. */
cubed_status inputs_coordinate(inputs *in, const char *name, cubed_array **out, cubed_error *err);
/* Like inputs_coordinate, but prefers the store of the input named `of`. */
cubed_status inputs_coordinate_of(inputs *in, const char *of, const char *name, cubed_array **out,
                                  cubed_error *err);
/* Returns true if an array was taken from a given group. */
bool inputs_have_group(const inputs *in);
/* The first group's URL, or NULL. */
const char *inputs_group(const inputs *in);
/* Returns the URL, or the first match of a URL with wildcards. The caller frees the string. */
char *inputs_first(const char *url);
/* Returns the name of an array that was given without one: "t2m" for "era5.zarr::t2m", "x" for "dir/x.zarr". The caller
 * frees the string. */
char *inputs_own_name(const char *url);
/* Returns the array `name` in the group of STORE::PATH, or in a pattern of files; NULL if the URL is neither. The caller
 * frees the string. */
char *inputs_beside(const char *url, const char *name);

/* Returns true if the type exists only in files, not in Zarr: its bytes refer to other places of the file, and are
 * meaningless elsewhere. */
bool inputs_is_of_file(const cubed_zarr_info *info);

#endif
