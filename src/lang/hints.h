/* What people write who come from Python, and what it is called here. */
#ifndef CUBED_LANG_HINTS_H
#define CUBED_LANG_HINTS_H

#include <stdbool.h>
#include <stddef.h>

/* What is wrong at text + at, where an operator (or `value`: a value) would go on, if that is a habit of Python's,
 * NumPy's or Xarray's. False: it is none. */
bool expr_syntax_hint(const char *text, int at, bool value, char *hint, size_t cap);
/* The other name that a function has here, or the nearest of all names: ": write ...", " (did you mean ...)", or "". Returns `hint`. */
const char *expr_function_hint(const char *name, char *hint, size_t cap);

#endif
