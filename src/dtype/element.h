/* The order of elements that are texts. */
#ifndef CB_DTYPE_ELEMENT_H
#define CB_DTYPE_ELEMENT_H

#include "cubed/dtype.h"

/* Less than 0, 0 or more than 0, as of memcmp: texts of one family by bytes or code points, of which padding is
 * less than any other. */
int cb_text_compare_two(cubed_dtype first, const void *a, cubed_dtype second, const void *b);
/* Bytes of a string without the padding at its end. */
size_t cb_text_size(cubed_dtype dtype, const void *text);
int cb_text_compare(cubed_dtype dtype, const void *a, const void *b);

#endif
