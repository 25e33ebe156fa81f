/* NetCDF types of attributes that are stored as JSON. */
#ifndef CB_DTYPE_ATTRIBUTE_H
#define CB_DTYPE_ATTRIBUTE_H

#include "base/json.h"
#include "cubed/attribute.h"

/* Attribute with the types in arrays of Zarr format 3, a string. Xarray hides CUBED_ATTRIBUTE_TYPES in arrays of format 2
 * and in groups, but not in arrays of format 3, and could not write such a data set to NetCDF. */
#define CB_ATTRIBUTE_TYPES_V3 "_attribute_types"

typedef struct cb_attribute_type {
    cubed_attribute_kind kind;
    cubed_dtype dtype; /* for numbers */
    bool is_stated;
} cb_attribute_type;

/* Returns the type of a value, which `attrs` must contain. `dtype` is the array's; CUBED_DTYPE_COUNT for a group.
 * cb_attribute_number can read all numbers of the returned type. */
cb_attribute_type cb_attribute_type_of(const json_t *attrs, const char *name, cubed_dtype dtype);
/* The type of numbers in NetCDF variables for arrays of type `dtype`; CUBED_DTYPE_COUNT if they are not numbers. */
cubed_dtype cb_attribute_dtype(cubed_dtype dtype);
/* Number of elements of a list, or 1; and element `i`. */
size_t cb_attribute_count(const json_t *v);
const json_t *cb_attribute_item(const json_t *v, size_t i);
/* Writes a JSON value as a number of an integer type, float32 or float64. For floats accepts "NaN", "Infinity", "-Infinity"
 * and a double in base64. Returns false if the type has no such number. */
bool cb_attribute_number(const json_t *v, cubed_dtype dtype, void *out);

/* Records the type of an attribute: a NumPy type string such as "<f4", or "|S128" for NC_STRING. Returns false if out of
 * memory. */
CUBED_MUST_CHECK bool cb_attributes_state(json_t *attrs, const char *name, const char *type);
/* After reading: collects recorded types, in any store's spelling, in CUBED_ATTRIBUTE_TYPES. Returns false if out of
 * memory. */
CUBED_MUST_CHECK bool cb_attributes_gather(json_t *attrs);
/* Removes recorded types of missing attributes. */
void cb_attributes_prune(json_t *attrs);
/* Before writing an array of format 3: moves recorded types to CB_ATTRIBUTE_TYPES_V3. `dtype` is the array's, to omit types
 * that readers infer; CUBED_DTYPE_COUNT keeps all. Returns false if out of memory. */
CUBED_MUST_CHECK bool cb_attributes_stow(json_t *attrs, cubed_dtype dtype);

#endif
