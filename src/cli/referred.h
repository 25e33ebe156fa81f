/* Attributes whose value names other variables, as CF defines them. */
#ifndef CUBED_CLI_REFERRED_H
#define CUBED_CLI_REFERRED_H

#include <jansson.h>

#include "cubed/cubed.h"

typedef void (*referred_fn)(void *ctx, const char *attribute, const char *name);
/* Calls `fn` for each variable named by `grid_mapping`, `ancillary_variables`, `cell_measures`, `formula_terms`,
 * `coordinates`, `bounds` and `climatology`. */
void referred_each(const char *attrs, referred_fn fn, void *ctx);

typedef bool (*referred_have_fn)(void *ctx, const char *name);
/* Replaces *x, if necessary, by an array whose attributes only name variables for which `have` returns true. */
CUBED_MUST_CHECK cubed_status referred_keep(cubed_array **x, referred_have_fn have, void *ctx,
                                            cubed_error *err);

typedef const char *(*referred_name_fn)(void *ctx, const char *name);
/* Replaces names of variables in the attributes of referred_each, and names of dimensions in `cell_methods`. `fn` returns the new
 * name; NULL: the name is kept. */
void referred_rename(json_t *attrs, referred_name_fn fn, void *ctx);

#endif
