/* Describes a result of an expression: its attributes by the CF conventions, and for each dimension the part of the input's
 * coordinate that describes the result. */
#ifndef CUBED_LANG_ABOUT_H
#define CUBED_LANG_ABOUT_H

#include "lang/expr_builder.h"

/* Describes the array that a node of the syntax tree computes. Never fails; the description is empty if nothing is known. */
expr_about expr_about_of(expr_builder *b, const expr *e);
void expr_about_free(expr_about *about);
/* Returns the attributes of decoded values: those of `about` without the attributes of `packing` (may be NULL). Floats with
 * missing values get _FillValue NaN. Returns a new reference, or NULL if there are no attributes. */
json_t *expr_value_attrs(expr_builder *b, const expr_about *about, const cubed_cf_packing *packing,
                         cubed_dtype dtype);
void expr_coord_free(cubed_expr_coord *c);
cubed_expr_coord expr_coord_copy(expr_builder *b, const cubed_expr_coord *c);
/* Call it after slicing an array. Narrows c->part, the part of the coordinate that describes the array, to the slice `s` of that
 * part. */
void expr_coord_cut(cubed_expr_coord *c, const cubed_slice *s);
/* Records that a dimension of the result of call e has the coordinate `coord`, instead of the coordinate of the operands. Takes
 * ownership of `coord`. */
void expr_about_note(expr_builder *b, const expr *e, cubed_expr_coord coord);

#endif
