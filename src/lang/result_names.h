/* Names of results of bare expressions. */
#ifndef CUBED_LANG_RESULT_NAMES_H
#define CUBED_LANG_RESULT_NAMES_H

#include "lang/expr_builder.h"

/* Writes the name of bare expression `number`, from 1, that is not named after an input: "result", "result2", ... */
void expr_name_bare(int number, char name[EXPR_BARE_CAP]);

/* Records that the current statement reads an input, or the inputs of an earlier statement. Coordinates and their bounds are not
 * recorded, because they describe other arrays. */
void expr_source_add(expr_builder *b, const char *name, cubed_array *x);
void expr_source_add_all(expr_builder *b, const expr_source *from);
/* Returns a copy of the inputs that the current statement has read so far. The caller frees it. */
expr_source expr_source_copy(expr_builder *b);
void expr_source_free(expr_source *source);

/* Names each bare result after the only input that it reads. Its name stays "result", "result2", ... if it reads no input or
 * several, or if another result or one of its dimensions has the name of the input. */
void expr_name_results(expr_builder *b);

#endif
