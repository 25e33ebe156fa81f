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
    } open[256]; /* each array is opened once */
    char *known;
} inputs;

/* False if there are too many. */
bool inputs_add(inputs *in, const char *spec);
void inputs_free(inputs *in);
/* An expr_lookup_fn. */
cubed_status inputs_lookup(void *ctx, const char *name, cubed_array **out, const char **known,
                           cubed_error *err);
/* The first group's URL, or NULL. */
const char *inputs_group(const inputs *in);
/* STORE[::PATH] with one more part of a path. The caller's. */
char *inputs_join(const char *url, const char *name);

#endif
