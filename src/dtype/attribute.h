/* NetCDF types of attributes that are stored as JSON. */
#ifndef CB_DTYPE_ATTRIBUTE_H
#define CB_DTYPE_ATTRIBUTE_H

#include "base/json.h"
#include "cubed/attribute.h"

/* Name of an attribute that records, in a string, the types of the other attributes of an array of Zarr format 3. Groups, and
 * arrays of format 2, have CUBED_ATTRIBUTE_TYPES instead, which Xarray hides. In arrays of format 3, Xarray would not hide
 * CUBED_ATTRIBUTE_TYPES, and could not write the data set to NetCDF. */
#define CB_ATTRIBUTE_TYPES_V3 "_attribute_types"

/* Type of an attribute. */
typedef struct cb_attribute_type {
    cubed_attribute_kind kind;
    cubed_dtype dtype; /* type of the elements if they are numbers */
    bool is_stated;    /* the type is recorded, not inferred from the value */
} cb_attribute_type;

/* Returns the type of the attribute `name`, which `attrs` must have. `dtype` is the type of the array that the attributes belong
 * to; CUBED_DTYPE_COUNT for a group. If the type is a number, cb_attribute_number can convert all elements of the attribute. */
cb_attribute_type cb_attribute_type_of(const json_t *attrs, const char *name, cubed_dtype dtype);
/* Returns the type of the NetCDF variable to which an array of type `dtype` is written; CUBED_DTYPE_COUNT if it has no
 * numbers. */
cubed_dtype cb_attribute_dtype(cubed_dtype dtype);
/* Returns the number of elements of an attribute; 1 if it is not a list. */
size_t cb_attribute_count(const json_t *v);
/* Returns element i of an attribute. */
const json_t *cb_attribute_item(const json_t *v, size_t i);
/* Converts a JSON value to a number of type `dtype`, an integer type, float32 or float64. Floats may also be the strings "NaN",
 * "Infinity" and "-Infinity", or a double in base64. Returns false if the value is not a number, or not one that the type can
 * represent. */
bool cb_attribute_number(const json_t *v, cubed_dtype dtype, void *out);

/* Records the type of an attribute in CUBED_ATTRIBUTE_TYPES of `attrs`. `type` is a NumPy type string such as "<f4", or "|S128"
 * for NC_STRING. Returns false if out of memory. */
CUBED_MUST_CHECK bool cb_attributes_state(json_t *attrs, const char *name, const char *type);
/* Moves the recorded types to CUBED_ATTRIBUTE_TYPES. Documents may have them under other names: CB_ATTRIBUTE_TYPES_V3, or a name
 * of older versions of NetCDF-C. Call it after attributes were read from a document. Returns false if out of memory. */
CUBED_MUST_CHECK bool cb_attributes_gather(json_t *attrs);
/* Removes recorded types of attributes that do not exist. */
void cb_attributes_prune(json_t *attrs);
/* Moves the recorded types from CUBED_ATTRIBUTE_TYPES to CB_ATTRIBUTE_TYPES_V3. Drops types that are not valid, and types of
 * attributes that do not exist. Also drops types that readers infer from the attribute's value and the array's type `dtype`,
 * unless `dtype` is CUBED_DTYPE_COUNT. Call it before the attributes of an array of format 3 are written. Returns false if out of
 * memory. */
CUBED_MUST_CHECK bool cb_attributes_stow(json_t *attrs, cubed_dtype dtype);

#endif
