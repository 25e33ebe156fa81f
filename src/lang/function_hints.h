/* Suggestions for unknown names of functions. */
#ifndef CUBED_LANG_FUNCTION_HINTS_H
#define CUBED_LANG_FUNCTION_HINTS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if the expression language has a function of this name. */
bool expr_is_function(const char *name);
/* Writes a suggestion for an unknown name: ": write ..." for functions of NumPy or Xarray that have another name in
 * expressions, otherwise " (did you mean ...?)" with the most similar name, or "". Returns `hint`. */
const char *expr_function_hint(const char *name, char *hint, size_t cap);

/* Returns true if a function works along the dimension "time" by default, as monmean and selmon do. */
bool expr_is_along_time(const char *name);
/* Description of a function that has no row in the catalogue. */
typedef struct expr_function_text {
    char usage[160]; /* "sel(x, DIM=LABEL, ..., method=None)" */
    char summary[512];
} expr_function_text;

/* Describes a function of expressions that has no row in the catalogue. Returns false for other names. */
bool expr_function_describe(const char *name, expr_function_text *out);
/* Returns the kinds of coordinates that a function of the cells of a grid looks up itself, as bits 1 << field_axis. Returns 0
 * for other functions. */
unsigned expr_field_kinds(const char *name);
/* Returns the number of arrays that are the first arguments of a function with a mask, such as ifthen; 0 for other functions. */
int expr_mask_arrays(const char *name);
/* Returns true if a function is for climate data: statistics and arithmetic by dates, selections, trends, spells and indices. */
bool expr_is_climate(const char *name);
/* Returns the description of parameter `name` of a function for which expr_is_climate returns true, or NULL. */
const char *expr_param_note(const char *function, const char *name);
/* Calls `put` with the name of each function that has no row in the catalogue, except types such as float32(x). */
void expr_function_each(void (*put)(void *ctx, const char *name), void *ctx);

#endif
