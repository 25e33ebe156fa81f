/* Functions that interpolate a variable to another horizontal grid. */
#ifndef CUBED_LANG_EXPR_REMAP_H
#define CUBED_LANG_EXPR_REMAP_H

#include "lang/expr_builder.h"

/* Frees the weights that an expression keeps while it is built. NULL is allowed. */
void expr_weights_free(expr_weights *w);

#endif
