/* The arrays that an expression names: --in NAME=STORE[::PATH], and groups whose arrays are found by their names. */
#ifndef CUBED_CLI_INPUTS_H
#define CUBED_CLI_INPUTS_H

#include "joined.h"

enum { INPUTS_MAX = 1024 };

typedef struct inputs {
    cubed_context *ctx;
    bool raw; /* elements are not decoded: characters, for example, are not joined to strings */
    joined_inputs joined; /* arrays that consist of the arrays of several files */
    int nspecs;
    struct {
        char *name; /* NAME of NAME=STORE; NULL if no name was given, as for groups */
        const char *url;
        bool used;      /* the expression uses this input */
        bool is_group;  /* `url` is a group, in which an array of the expression was found */
    } spec[INPUTS_MAX]; /* the arguments of --in, parsed */
    int nopen;
    struct {
        char *name;
        cubed_array *array;
        bool
            describes; /* the array was opened as a coordinate: stored times of several files were converted to the same units */
    } * open;          /* arrays that are open, so that each is opened once */
    int ncoordinates;
    struct {
        char *name;
        cubed_array *array; /* NULL if the inputs have no such coordinate */
    } * coordinate; /* coordinates that were searched for, so that each is searched for once */
    char *known;    /* names of all arrays, for messages; NULL until first needed */
} inputs;

/* Adds an input from an argument of --in. Returns NULL, or an error message, which the caller frees. */
char *inputs_add(inputs *in, const char *spec);
/* Returns the first input that the expression does not use, not counting the input whose URL is `but` (may be NULL). Returns
 * NULL if all are used. The caller frees the string. */
char *inputs_unused(const inputs *in, const char *but);
void inputs_free(inputs *in);
/* Finds the array that a name in an expression refers to (an expr_lookup_fn). Searches, in this order: inputs NAME=STORE, arrays
 * of the given groups, and arrays that were given without a name, by the last part of their paths. If several groups or paths
 * contain the name, uses the first one if `known` is NULL (for coordinates), otherwise fails. */
cubed_status inputs_lookup(void *ctx, const char *name, cubed_array **out, const char **known,
                           cubed_error *err);
/* Finds a coordinate, or another array that describes arrays, in the groups of the inputs. *out receives a new reference to
 * the array as it is stored, or NULL if no group has the array. A name STORE::NAME is an array of another file. */
cubed_status inputs_coordinate(inputs *in, const char *name, cubed_array **out, cubed_error *err);
/* Returns true if the status of opening an optional array must be reported: the array exists or may exist, but cannot be read
 * now. Without this array, or with the coordinate of another input in its place, a result could have other values. */
bool inputs_must_report(cubed_status st);
/* Opens the coordinate `name`. Searches the group of the input named `of` before the other groups. */
cubed_status inputs_coordinate_of(inputs *in, const char *of, const char *name, cubed_array **out,
                                  cubed_error *err);
/* Returns true if the expression uses an array that was found in a group. */
bool inputs_have_group(const inputs *in);
/* Returns the URL of the first input that is a group; NULL if no input is a group. */
const char *inputs_group(const inputs *in);
/* Returns the URL, or the first match of a URL with wildcards. The caller frees the string. */
char *inputs_first(const char *url);
/* Returns the name of an array that was given without a name: "t2m" for "era5.zarr::t2m", "x" for "dir/x.zarr". The caller
 * frees the string. */
char *inputs_own_name(const char *url);
/* Returns the URL of the array `name` in the group that contains the array STORE::PATH, or in the files that match the pattern
 * `url`. NULL if the URL has no PATH and is not a pattern. The caller frees the string. */
char *inputs_beside(const char *url, const char *name);

/* Returns true if elements of this type cannot be copied out of their file, because their bytes are references to other
 * positions in the file. */
bool inputs_is_of_file(const cubed_zarr_info *info);

#endif
