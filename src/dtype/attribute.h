/* NetCDF's types of attributes that are JSON. */
#ifndef CB_DTYPE_ATTRIBUTE_H
#define CB_DTYPE_ATTRIBUTE_H

#include "base/json.h"
#include "cubed/attribute.h"

/* Arrays of Zarr format 3 state types in this attribute, a string: Xarray hides CUBED_ATTRIBUTE_TYPES in arrays of format 2
 * and in groups, but not in arrays of format 3, and could not write such a data set to NetCDF. */
#define CB_ATTRIBUTE_TYPES_V3 "_attribute_types"

typedef struct cb_attribute_type {
    cubed_attribute_kind kind;
    cubed_dtype dtype; /* of numbers */
    bool is_stated;
} cb_attribute_type;

/* The type of a value in `attrs`, which must have it. `dtype` is the array's; CUBED_DTYPE_COUNT for a group. Numbers of the
 * type can all be read with cb_attribute_number. */
cb_attribute_type cb_attribute_type_of(const json_t *attrs, const char *name, cubed_dtype dtype);
/* The type of numbers in NetCDF variables for arrays of type `dtype`; CUBED_DTYPE_COUNT if they are not numbers. */
cubed_dtype cb_attribute_dtype(cubed_dtype dtype);
/* Values of an attribute: elements of a list, or one. */
size_t cb_attribute_count(const json_t *v);
const json_t *cb_attribute_item(const json_t *v, size_t i);
/* Writes a JSON value as a number of an integer type, float32 or float64. Takes "NaN", "Infinity", "-Infinity" and a double
 * in base64 for floats. False if the type has no such number. */
bool cb_attribute_number(const json_t *v, cubed_dtype dtype, void *out);

/* States the type of an attribute: a NumPy type string such as "<f4", or "|S128" for NC_STRING. False without memory. */
CUBED_MUST_CHECK bool cb_attributes_state(json_t *attrs, const char *name, const char *type);
/* After reading: collects stated types, however the store spells them, in CUBED_ATTRIBUTE_TYPES. False without memory. */
CUBED_MUST_CHECK bool cb_attributes_gather(json_t *attrs);
/* Drops stated types of attributes that `attrs` does not have. */
void cb_attributes_prune(json_t *attrs);
/* Before writing an array of format 3: puts stated types into CB_ATTRIBUTE_TYPES_V3. `dtype`: the array's, to omit types
 * that readers infer; CUBED_DTYPE_COUNT: keep all. False without memory. */
CUBED_MUST_CHECK bool cb_attributes_stow(json_t *attrs, cubed_dtype dtype);

#endif
