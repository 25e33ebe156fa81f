/* Indexing of arrays: x[0, ::2, ..., None]. */
#ifndef CUBED_LANG_EXPR_INDEX_H
#define CUBED_LANG_EXPR_INDEX_H

#include "lang/expr_builder.h"

/* Converts the index `e` of x to slices of x's axes and positions of new axes in the result. */
cubed_status expr_get_slices(expr_builder *b, const expr *e, const cubed_array *x,
                             cubed_slice slices[CUBED_MAX_NDIM], int fresh[CUBED_MAX_NDIM],
                             int *nfresh);
/* Creates the part of x that the index `e` selects. */
cubed_status expr_index_array(expr_builder *b, const expr *e, cubed_array *x, cubed_array **out);

#endif
