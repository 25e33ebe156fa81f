/* Comparison of strings (CUBED_BYTES and CUBED_STRING), and days of dates. */
#ifndef CB_DTYPE_ELEMENT_H
#define CB_DTYPE_ELEMENT_H

#include "cubed/dtype.h"

/* Compares two strings of one family by bytes or code points, like memcmp; padding is less than any character. */
int cb_text_compare_two(cubed_dtype first, const void *a, cubed_dtype second, const void *b);
/* Returns the size of a string in bytes without padding. */
size_t cb_text_size(cubed_dtype dtype, const void *text);
int cb_text_compare(cubed_dtype dtype, const void *a, const void *b);
/* Returns the days from 1970-01-01 to a date of the proleptic Gregorian calendar: the inverse of cubed_date_of_days. A day
 * outside the month belongs to another month. */
int64_t cb_days_of_date(int64_t year, int month, int day);

#endif
