/* Packed and missing values as the CF Conventions keep them in attributes. */
#ifndef CUBED_CLI_CF_H
#define CUBED_CLI_CF_H

#include "cubed/cubed.h"

/* Replaces *x by the values that its attributes say it means, and drops those attributes: elements
 * equal to _FillValue or missing_value are NaN, then comes scale_factor, then add_offset. The result
 * is float64; float32 that is not packed stays that. An array without such attributes is left as it
 * is. Lazy, as all arrays. */
CUBED_MUST_CHECK cubed_status cf_decode(cubed_array **x, cubed_error *err);

#endif
