/* Hints for syntax of Python, NumPy and Xarray that expressions do not have. */
#ifndef CUBED_LANG_HINTS_H
#define CUBED_LANG_HINTS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes a hint to hint[cap] if the text at offset `at` is syntax of Python, NumPy or Xarray that expressions do not have.
 * Otherwise returns false and leaves `hint` unchanged.
 *
 * value  true if the parser expected a value at this offset, false if it expected an operator */
bool expr_syntax_hint(const char *text, int at, bool value, char *hint, size_t cap);

#endif
