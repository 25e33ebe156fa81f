/* Shared libraries that are loaded when first needed and never unloaded, so that programs start without linking them. */
#ifndef CB_BASE_LIBRARY_H
#define CB_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cb_library_function {
    const char *name;
    void *to; /* address of the function pointer, which is set to NULL if the function is missing */
} cb_library_function;

/* Loads a library by its versioned file name and looks up n functions. Returns false on failure and describes it in
 * missing[cap]. Thread-safe.
 *
 * needs: names of functions of the library and of libraries below it; the last entry is NULL. Another copy of these functions
 * may have global symbols: HDF5 loads its plugins globally, with all libraries in a wheel of netCDF4. Calls within the library
 * would then call the functions of that copy, whose structures differ. Therefore the symbols of the library are resolved first
 * in the library and in the libraries that it was linked with. This is impossible if malloc is not libc's, for example with a
 * preloaded allocator; loading then fails. */
bool cb_library_load(const char *file, const cb_library_function *functions, size_t n,
                     const char *const *needs, char *missing, size_t cap);

#endif
