/* Names of functions that there are not, and the names that people meant. */
#ifndef CUBED_LANG_FUNCTION_HINTS_H
#define CUBED_LANG_FUNCTION_HINTS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether expressions have a function of that name. */
bool expr_is_function(const char *name);
/* Writes the name that a function has here, or the nearest of all names: ": write ...", " (did you mean ...)", or "". Returns
 * `hint`. */
const char *expr_function_hint(const char *name, char *hint, size_t cap);

#endif
