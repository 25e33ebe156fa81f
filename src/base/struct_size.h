/* Option structures of the public API, whose first member is `size_t struct_size`. */
#ifndef CB_BASE_STRUCT_SIZE_H
#define CB_BASE_STRUCT_SIZE_H

#include <stddef.h>

#include "cubed/base.h"

/* Copies the options of a caller over the defaults in `out`.
 *
 * A caller that was compiled when the structure was shorter keeps the defaults of the members that it does not know.
 *
 * name   name of the function, for errors
 * given  NULL leaves the defaults
 * out    has `size` bytes and contains the defaults; its struct_size is `size` afterwards
 * least  size of the structure in the first release that had it
 *
 * Errors: CUBED_E_ARG if struct_size is not from `least` to `size`; then `out` has the defaults. */
CUBED_MUST_CHECK cubed_status cb_options_take(const char *name, const void *given, void *out,
                                              size_t size, size_t least, cubed_error *err);

/* For a structure that has not grown since its first release. */
#define CB_OPTIONS_TAKE(name, given, out, err)                                                     \
    cb_options_take(name, given, out, sizeof *(out), sizeof *(out), err)

#endif
