/* NetCDF types of attributes that are stored as JSON. */
#ifndef CB_DTYPE_ATTRIBUTE_H
#define CB_DTYPE_ATTRIBUTE_H

#include "base/json.h"
#include "cubed/attribute.h"

/* Name of the attribute of arrays of Zarr format 3 that records the types of the other attributes, in a string. Groups and
 * arrays of format 2 have CUBED_ATTRIBUTE_TYPES instead, which Xarray hides. Xarray does not hide it in arrays of format 3,
 * and could not write such a data set to NetCDF. */
#define CB_ATTRIBUTE_TYPES_V3 "_attribute_types"

typedef struct cb_attribute_type {
    cubed_attribute_kind kind;
    cubed_dtype dtype; /* type of the elements if they are numbers */
    bool is_stated;    /* the type is recorded, not inferred from the value */
} cb_attribute_type;

/* Returns the type of the attribute `name`, which `attrs` must contain. `dtype` is the type of the array that has the
 * attributes; CUBED_DTYPE_COUNT for a group. cb_attribute_number can convert all numbers of the attribute to the type. */
cb_attribute_type cb_attribute_type_of(const json_t *attrs, const char *name, cubed_dtype dtype);
/* Returns the type of the NetCDF variable for an array of type `dtype`; CUBED_DTYPE_COUNT if it has no numbers. */
cubed_dtype cb_attribute_dtype(cubed_dtype dtype);
/* Return the number of elements of an attribute (1 if it is not a list), and its element number `i`. */
size_t cb_attribute_count(const json_t *v);
const json_t *cb_attribute_item(const json_t *v, size_t i);
/* Converts a JSON value to a number of type `dtype`, an integer type, float32 or float64. Floats may also be the strings
 * "NaN", "Infinity" and "-Infinity", or a double in base64. Returns false if the type has no such number. */
bool cb_attribute_number(const json_t *v, cubed_dtype dtype, void *out);

/* Records the type of an attribute: a NumPy type string such as "<f4", or "|S128" for NC_STRING. Returns false if out of
 * memory. */
CUBED_MUST_CHECK bool cb_attributes_state(json_t *attrs, const char *name, const char *type);
/* Moves the recorded types of attributes to CUBED_ATTRIBUTE_TYPES, from the different names under which versions of NetCDF-C
 * and arrays of format 3 record them. Call it after attributes are read from a document. Returns false if out of memory. */
CUBED_MUST_CHECK bool cb_attributes_gather(json_t *attrs);
/* Removes recorded types of attributes that do not exist. */
void cb_attributes_prune(json_t *attrs);
/* Moves the recorded types from CUBED_ATTRIBUTE_TYPES to CB_ATTRIBUTE_TYPES_V3, except types that readers infer from the
 * value and from the array's type `dtype`. If `dtype` is CUBED_DTYPE_COUNT, moves all. Call it before attributes of an array
 * of format 3 are written. Returns false if out of memory. */
CUBED_MUST_CHECK bool cb_attributes_stow(json_t *attrs, cubed_dtype dtype);

#endif
