/* What a result says of itself beside its values: attributes, by the CF conventions, and which elements of its
 * dimensions' coordinates are left. */
#ifndef CUBED_LANG_ABOUT_H
#define CUBED_LANG_ABOUT_H

#include "lang/expr_builder.h"

/* Of a statement's array, and what the statement is. Always possible: where nothing is known nothing is said. */
expr_about expr_about_of(expr_builder *b, const expr *e);
void expr_about_free(expr_about *about);
/* The attributes of values: those of `about` without their packing, if they were packed (may be NULL), and with a fill value
 * of their own if some may be missing. A new reference, NULL if there are none. */
json_t *expr_value_attrs(expr_builder *b, const expr_about *about, const cubed_cf_packing *packing,
                         cubed_dtype dtype);
void expr_coord_free(cubed_expr_coord *c);
cubed_expr_coord expr_coord_copy(expr_builder *b, const cubed_expr_coord *c);
/* Leaves a part of what is left. */
void expr_coord_cut(cubed_expr_coord *c, const cubed_slice *s);
/* Coordinate `coord` holds for call e, a function of calendars, instead of what its operands say. */
void expr_about_note(expr_builder *b, const expr *e, cubed_expr_coord coord);

#endif
