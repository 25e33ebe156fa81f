/* Suggestions for unknown names of functions. */
#ifndef CUBED_LANG_FUNCTION_HINTS_H
#define CUBED_LANG_FUNCTION_HINTS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether expressions have a function of that name. */
bool expr_is_function(const char *name);
/* Writes a suggestion for an unknown name: ": write ..." for functions of NumPy or Xarray with another name here, otherwise
 * " (did you mean ...?)" with the most similar name, or "". Returns `hint`. */
const char *expr_function_hint(const char *name, char *hint, size_t cap);

/* Returns whether a function is along the dimension "time" by default, such as monmean and selmon. */
bool expr_is_along_time(const char *name);

#endif
