/* The arrays that an expression names: --in NAME=STORE[::PATH], and groups whose arrays are found by
 * their names. */
#ifndef CUBED_CLI_INPUTS_H
#define CUBED_CLI_INPUTS_H

#include "joined.h"

typedef struct inputs {
    cubed_context *ctx;
    bool raw;             /* elements stay as they are stored: characters are not joined */
    joined_inputs joined; /* several files as one */
    int nspecs;
    struct {
        char *name; /* NULL: a group */
        const char *url;
        bool used;
        bool is_group; /* an array was found in it */
    } spec[64];
    int nopen;
    struct {
        char *name;
        cubed_array *array;
        bool describes; /* opened as a coordinate: matters for stored elements of several files */
    } * open;           /* each array is opened once */
    char *known;        /* names for messages, listed when first needed */
} inputs;

/* NULL, or what is wrong with it: the caller's. */
char *inputs_add(inputs *in, const char *spec);
/* The first that nothing was looked up in, other than `but` (may be NULL); NULL if there is none. The caller's. */
char *inputs_unused(const inputs *in, const char *but);
void inputs_free(inputs *in);
/* An expr_lookup_fn. A name is, in this order: that of an --in NAME=, an array of a group that was
 * given, the last part of the path of an array that was given without a name. If several groups have it, or
 * several paths, that is an error; without `known` (for coordinates) the first one counts. */
cubed_status inputs_lookup(void *ctx, const char *name, cubed_array **out, const char **known,
                           cubed_error *err);
/* What describes others, as it is stored, from the groups that these are in: a new reference, or NULL in *out. */
cubed_status inputs_coordinate(inputs *in, const char *name, cubed_array **out, cubed_error *err);
/* Whether an array was taken from a group that was given. */
bool inputs_have_group(const inputs *in);
/* The first group's URL, or NULL. */
const char *inputs_group(const inputs *in);
/* The URL, or the first of those that one with wildcards stands for. The caller's. */
char *inputs_first(const char *url);
/* The name that an array has if it was given without one: "t2m" of "era5.zarr::t2m", "x" of "dir/x.zarr". The caller's. */
char *inputs_own_name(const char *url);
/* The array `name` of the group that STORE::PATH is in, or that a pattern of files is; NULL if the URL is
 * neither. The caller's. */
char *inputs_beside(const char *url, const char *name);

/* Whether its type is one of files that Zarr does not have: bytes lead to other places of the file, and mean nothing elsewhere. */
bool inputs_is_of_file(const cubed_zarr_info *info);

#endif
