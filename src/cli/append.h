/* Results that extend the arrays of a store or of a NetCDF file along a dimension: --append DIM. */
#ifndef CUBED_CLI_APPEND_H
#define CUBED_CLI_APPEND_H

#include "cli.h"

typedef struct append append;

/* Reads the arrays of the store or file at `out`, which must exist. Unless the command only plans, claims each array of a store
 * that becomes longer, so that no other process extends it. Also removes chunks beyond the end of an array, which a killed
 * command has left. */
CUBED_MUST_CHECK cubed_status append_begin(cubed_context *ctx, const cli_common *common,
                                           const char *out, const char *dim, append **a,
                                           cubed_error *err);
/* Sets the coordinate of the dimension, as it is stored in the inputs; NULL if the results have no such coordinate. Call it
 * before append_add. */
CUBED_MUST_CHECK cubed_status append_coordinate(append *a, cubed_array *x, cubed_error *err);
/* Returns true if the store has an array of this name. */
bool append_has(append *a, const char *name);
/* Adds a target for a result or coordinate x. The elements of x are in the form in which the inputs store them.
 *
 * If x does not have the dimension, append_targets compares x with the stored array. Such an array has a target only if `out` is
 * a file, because a file is rewritten as a whole. */
CUBED_MUST_CHECK cubed_status append_add(append *a, const char *name, cubed_array *x,
                                         cubed_error *err);
/* Checks that all arrays become longer, and compares the arrays without the dimension. Returns the targets, which `a` owns. */
CUBED_MUST_CHECK cubed_status append_targets(append *a, const cubed_target **targets, int *n,
                                             cubed_error *err);
/* Properties of the extended store or file: its attributes (may be NULL), its Zarr format, and whether it is a group. */
const char *append_attrs(const append *a);
int append_format(const append *a);
bool append_is_group(const append *a);
void append_end(append *a);

#endif
