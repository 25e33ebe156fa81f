/* Shared libraries that are loaded when they are first needed, and stay: programs that do without do not wait for them to be
 * linked. */
#ifndef CB_BASE_LIBRARY_H
#define CB_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cb_library_function {
    const char *name;
    void *to; /* of the pointer to a function that is set: NULL where there is none of that name */
} cb_library_function;

/* Loads the library by the name that its version has in the system, and looks up all n functions. false: what is missing
 * is said in missing[cap]. Thread-safe. */
bool cb_library_load(const char *file, const cb_library_function *functions, size_t n,
                     char *missing, size_t cap);

#endif
