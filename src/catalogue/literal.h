/* Numbers beside arrays: they are weak, as Python's scalars are in the standard, and take the type of the array. */
#ifndef CB_CATALOGUE_LITERAL_H
#define CB_CATALOGUE_LITERAL_H

#include "cubed/catalogue.h"

/* CUBED_VALUE_BOOL, _INT, _FLOAT or _COMPLEX. */
bool cb_is_number(const cubed_value *v);
/* The type of a number beside an array of a type, or alone (`beside` CUBED_BOOL). */
cubed_dtype cb_number_dtype(const cubed_value *v, cubed_dtype beside);
/* The same for comparisons: int64 for an integer that the array's type does not have. */
cubed_dtype cb_wide_number_dtype(const cubed_value *v, cubed_dtype beside);
/* The number as an element of a type; false if the type does not have its value. */
bool cb_number_scalar(const cubed_value *v, cubed_dtype dtype, cubed_scalar *out);

#endif
