/* Shared libraries that are loaded when first needed and never unloaded, so that programs start without linking them. */
#ifndef CB_BASE_LIBRARY_H
#define CB_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cb_library_function {
    const char *name;
    void *to; /* address of the function pointer to set; NULL if the function is missing */
} cb_library_function;

/* Loads a library by its versioned file name and looks up n functions. Returns false on failure and describes it in
 * missing[cap]. Thread-safe. */
bool cb_library_load(const char *file, const cb_library_function *functions, size_t n,
                     char *missing, size_t cap);

#endif
