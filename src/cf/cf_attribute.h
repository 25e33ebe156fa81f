/* Reads numbers and strings from the attributes of an array. */
#ifndef CB_CF_ATTRIBUTE_H
#define CB_CF_ATTRIBUTE_H

#include <jansson.h>

#include "cubed/cf.h"
#include "dtype/attribute.h"

static inline bool cb_cf_is_float(cubed_dtype dtype)
{
    return cubed_dtype_kind(dtype) == CUBED_KIND_FLOAT;
}

/* The attributes of an array while they are read. */
typedef struct cb_cf_attrs {
    const cubed_array *of;
    json_t *json;
} cb_cf_attrs;

/* Parses the attributes of x. The caller must close *attrs with cb_cf_attrs_close, even after an error. */
CUBED_MUST_CHECK cubed_status cb_cf_attrs_open(cb_cf_attrs *attrs, const cubed_array *x,
                                               cubed_error *err);
void cb_cf_attrs_close(cb_cf_attrs *attrs);
/* Returns the number of elements of an attribute: 0 if it does not exist, 1 if it is not a list. */
size_t cb_cf_count(const cb_cf_attrs *attrs, const char *name);
/* The list of numbers of an attribute, with their common type. The type is determined once, because this requires all numbers.
 * Valid while the cb_cf_attrs is open. */
typedef struct cb_cf_numbers {
    const json_t *json; /* NULL if the attribute does not exist */
    cubed_dtype of;     /* type of the array */
    cb_attribute_type type;
} cb_cf_numbers;
cb_cf_numbers cb_cf_get_numbers(const cb_cf_attrs *attrs, const char *name);
/* Gets element i of the list, or the value itself if the attribute is not a list. Returns false if there is no such element, or
 * if it is not a number of a supported type. */
bool cb_cf_number_at(const cb_cf_numbers *list, size_t i, cubed_cf_number *out);
/* Reads element i as a number. Numbers without a recorded type are weak (cubed_cf_number): float64, int64 or uint64. Some strings
 * are numbers: "NaN", "Infinity" and the base64 that Xarray writes for floats in Zarr format 3. Booleans are numbers for bool
 * arrays. Returns false for other values, and for an index beyond the end. */
bool cb_cf_get_number(const cb_cf_attrs *attrs, const char *name, size_t i, cubed_cf_number *out);
/* Converts a number to the element of `dtype` that equals it. Returns false if no element equals it. */
bool cb_cf_equal_element(const cubed_cf_number *n, cubed_dtype dtype, cubed_scalar *out);
/* Returns the value of a string attribute; NULL if the attribute does not exist or is not a string. */
const char *cb_cf_text(const cb_cf_attrs *attrs, const char *name);

#endif
