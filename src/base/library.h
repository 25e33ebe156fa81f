/* Shared libraries that are loaded when first needed and never unloaded, so that programs start without linking them. */
#ifndef CB_BASE_LIBRARY_H
#define CB_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cb_library_function {
    const char *name;
    void *to; /* address of the function pointer, which is set to NULL if the function is missing */
} cb_library_function;

/* Loads a library by its versioned file name, and looks up n functions. Returns false on failure, and describes the failure in
 * missing[cap]. Thread-safe.
 *
 * needs  names of functions of the library and of the libraries that it is linked with; the last entry is NULL
 *
 * The process may already contain another copy of the functions in `needs`, with global symbols. For example, HDF5 loads its
 * plugins globally, with all libraries in a wheel of netCDF4. The library would then call the functions of the other copy, whose
 * structures differ. Therefore, in this case, the symbols of the library are resolved first in the library itself and in the
 * libraries that it is linked with. This is impossible if malloc is not libc's, for example with a preloaded allocator; loading
 * then fails. */
bool cb_library_load(const char *file, const cb_library_function *functions, size_t n,
                     const char *const *needs, char *missing, size_t cap);

#endif
