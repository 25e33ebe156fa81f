/* The state of `cubed eval`, and its output: results and the coordinates that describe them. */
#ifndef CUBED_CLI_EVAL_STATE_H
#define CUBED_CLI_EVAL_STATE_H

#include "append.h"
#include "cli.h"
#include "cubed/lang.h"
#include "inputs.h"
#include "output_options.h"

typedef struct eval_item {
    char *name;
    cubed_array *array;
    const cubed_expr_result
        *result; /* the result with its attributes; NULL if the item is a coordinate */
    bool
        aside; /* for coordinates only: the coordinate may be omitted if the array is stored alone */
    char *url;
    void *data;
    size_t bytes;
} eval_item;

typedef struct eval {
    const char *verb;
    cubed_context *ctx;
    inputs in;
    cli_common common;
    const char *text, *out, *codecs, *region;
    const char *append; /* dimension of --append; NULL: not given */
    append *appending;
    bool csv;
    int format;
    outputs outputs;
    chunk_spec chunks;
    cubed_expr *expr;
    cubed_expr_results *built;
    eval_item *item;  /* items to store or print: results, then coordinates */
    cubed_error lost; /* first error in reading an array that describes results, or CUBED_OK */
    int nitems;
    /* The same results, built again for another allowed_mem, to find out how much memory a plan needs. They are planned, but
     * never run. `region` owns the arrays of results that are written to a region of an existing array. */
    struct {
        cubed_expr_results *built;
        eval_item *item;
        int nitems, nregions;
        cubed_array **region;
        cubed_array **count;
        int ncounts;
    } again;
    /* The lengths that were counted (computed) while the expressions were built, in order. They are used again when the same
     * expressions are built only to be planned. */
    int64_t *length;
    int nlengths;
    bool is_planned; /* nothing is computed while expressions are built */
    /* The arrays that were not computed because `is_planned` is set, although a length depends on them, in order. */
    cubed_array **count;
    int ncounts;
} eval;

/* Returns the size of all elements; SIZE_MAX if it does not fit size_t. */
size_t eval_array_bytes(const cubed_array *x);
void eval_free_items(eval_item *item, int n);
/* Fills e->item with the results and the arrays that describe them, and sets the URL of each:
 *
 * - The result of a single bare expression of independent arrays is stored at --out itself; other results are stored below it.
 * - Results from a group, or with coordinates, are stored in a group, so that Xarray can open it.
 *
 * Returns false after an error. */
bool eval_place_results(eval *e, cubed_error *err);
/* Returns true if several results are stored in a group. */
bool eval_is_grouped(const eval *e);
/* Sets the group around several results, with the attributes of the input group; *grouped is false if there is none. The
 * caller frees the attributes. */
cubed_status eval_result_group(eval *e, cubed_plan_group *group, char **attrs, bool *grouped,
                               cubed_error *err);

#endif
