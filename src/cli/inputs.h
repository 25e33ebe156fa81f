/* The arrays that an expression names: --in NAME=STORE[::PATH], and groups whose arrays are found by
 * their names. */
#ifndef CUBED_CLI_INPUTS_H
#define CUBED_CLI_INPUTS_H

#include "cubed/cubed.h"

typedef struct inputs {
    cubed_context *ctx;
    bool decode;
    int nspecs;
    struct {
        char *name; /* NULL: a group */
        const char *url;
    } spec[64];
    int nopen;
    struct {
        char *name;
        cubed_array *array;
    } * open;    /* each array is opened once */
    char *known; /* names for messages, listed when first needed */
} inputs;

/* False if there are too many. */
bool inputs_add(inputs *in, const char *spec);
void inputs_free(inputs *in);
/* An expr_lookup_fn. A name is, in this order: that of an --in NAME=, an array of a group that was
 * given, the last part of the path of an array that was given without a name. */
cubed_status inputs_lookup(void *ctx, const char *name, cubed_array **out, const char **known,
                           cubed_error *err);
/* The first group's URL, or NULL. */
const char *inputs_group(const inputs *in);
/* STORE[::PATH] with one more part of a path. The caller's. */
char *inputs_join(const char *url, const char *name);

#endif
