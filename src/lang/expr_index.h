/* Parts of arrays: x[0, ::2, ..., None]. */
#ifndef CUBED_LANG_EXPR_INDEX_H
#define CUBED_LANG_EXPR_INDEX_H

#include "lang/expr_builder.h"

/* Finds the part of x that `e` is: slices of x's axes, and places of new axes in the result. */
cubed_status expr_get_slices(expr_builder *b, const expr *e, const cubed_array *x,
                             cubed_slice slices[CUBED_MAX_NDIM], int fresh[CUBED_MAX_NDIM],
                             int *nfresh);
/* Takes that part. */
cubed_status expr_index_array(expr_builder *b, const expr *e, cubed_array *x, cubed_array **out);

#endif
