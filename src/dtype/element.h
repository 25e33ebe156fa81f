/* Comparison of strings (CUBED_BYTES and CUBED_STRING). */
#ifndef CB_DTYPE_ELEMENT_H
#define CB_DTYPE_ELEMENT_H

#include "cubed/dtype.h"

/* Compares two strings of one family by bytes or code points, like memcmp; padding is less than any character. */
int cb_text_compare_two(cubed_dtype first, const void *a, cubed_dtype second, const void *b);
/* Returns the size of a string in bytes without padding. */
size_t cb_text_size(cubed_dtype dtype, const void *text);
int cb_text_compare(cubed_dtype dtype, const void *a, const void *b);

#endif
