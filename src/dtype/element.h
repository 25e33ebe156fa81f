/* Comparison of strings (CUBED_BYTES and CUBED_STRING), and days of dates. */
#ifndef CB_DTYPE_ELEMENT_H
#define CB_DTYPE_ELEMENT_H

#include "cubed/dtype.h"

/* Compares two strings by bytes (CUBED_BYTES) or code points (CUBED_STRING). The sign of the result has the same meaning as for
 * memcmp. `first` and `second` are the types of a and b: of the same family, but possibly of different lengths. Padding is less
 * than any character. */
int cb_text_compare_two(cubed_dtype first, const void *a, cubed_dtype second, const void *b);
/* Returns the size of a string in bytes without padding. */
size_t cb_text_size(cubed_dtype dtype, const void *text);
/* Compares two strings of one type. */
int cb_text_compare(cubed_dtype dtype, const void *a, const void *b);
/* Returns the number of days from 1970-01-01 to a date of the proleptic Gregorian calendar: the inverse of cubed_date_of_days.
 * `day` may be outside the month: day 0 is the last day of the month before. */
int64_t cb_days_of_date(int64_t year, int month, int day);

#endif
