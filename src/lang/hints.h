/* Habits of Python, NumPy and Xarray that the grammar does not have. */
#ifndef CUBED_LANG_HINTS_H
#define CUBED_LANG_HINTS_H

#include <stdbool.h>
#include <stddef.h>

/* What is wrong at text + at, where an operator (or `value`: a value) would go on, if that is a habit of Python's,
 * NumPy's or Xarray's. False: it is none. */
bool expr_syntax_hint(const char *text, int at, bool value, char *hint, size_t cap);

#endif
