/* Kinds of files that hold arrays, by the ends of their names. */
#ifndef CB_FILE_KIND_H
#define CB_FILE_KIND_H

#include <stddef.h>

#include "cubed/zarr.h"

/* Returns the kind of a file from the first `n` characters of its name or URL, or CUBED_FILE_NONE. */
cubed_file_kind cb_store_file_kind(const char *name, size_t n);

#endif
