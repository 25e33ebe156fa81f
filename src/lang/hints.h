/* Hints for syntax of Python, NumPy and Xarray that expressions do not have. */
#ifndef CUBED_LANG_HINTS_H
#define CUBED_LANG_HINTS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes a hint if the text at offset `at` is syntax of Python, NumPy or Xarray that expressions do not have.
 *
 * value  whether a value was expected there; otherwise an operator
 *
 * Returns false, and leaves `hint` unchanged, for other text. */
bool expr_syntax_hint(const char *text, int at, bool value, char *hint, size_t cap);

#endif
