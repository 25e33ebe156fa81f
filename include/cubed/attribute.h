/* Attributes of arrays and groups, with the types that NetCDF gives them. */
#ifndef CUBED_ATTRIBUTE_H
#define CUBED_ATTRIBUTE_H

#include "cubed/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Name of a member that gives the types of attributes in a JSON text of attributes, because JSON has no float32 and no int16:
 * {"types": {"scale_factor": "<f4"}}, as NetCDF-C writes it in Zarr stores. The member is not an attribute itself. A JSON text
 * with this member keeps the types when it is passed to cubed_array_with_attrs or cubed_zarr_make_group. */
#define CUBED_ATTRIBUTE_TYPES "_nczarr_attr"

/* Kinds of values of attributes. */
typedef enum cubed_attribute_kind {
    CUBED_ATTRIBUTE_NUMBERS, /* `n` numbers of type `dtype` */
    CUBED_ATTRIBUTE_CHARS,   /* one string of `n` bytes: NetCDF's NC_CHAR */
    CUBED_ATTRIBUTE_STRINGS, /* `n` strings: NetCDF's NC_STRING */
    CUBED_ATTRIBUTE_JSON /* one JSON text, of `n` bytes, because NetCDF has no type for the value */
} cubed_attribute_kind;

/* The value of an attribute, with its type. */
typedef struct cubed_attribute {
    cubed_attribute_kind kind;
    cubed_dtype dtype; /* numbers: an integer type, float32 or float64 */
    /* True: the metadata contains the type; false: the type was inferred from the value. */
    bool is_stated;
    size_t n;
    const void *numbers; /* numbers in this machine's byte order; NULL for all other kinds */
    const char *const *
        strings; /* `n` strings, or one string for characters and JSON; NULL if the kind is numbers */
} cubed_attribute;

/* Gets the value of an attribute with its type.
 *
 * If the metadata does not contain a type, a string is NC_CHAR, and a list of strings is NC_STRING. Integers are int32, or int64
 * or uint64 if int32 is too small, and other numbers are float64. Attributes that have the type of their variable by the CF
 * conventions, such as `_FillValue` and `valid_range`, have that type if it can represent them.
 *
 * attrs  JSON text from cubed_array_attrs or cubed_zarr_info
 * dtype  type of the array; CUBED_DTYPE_COUNT for a group
 * out    receives the attribute, which cubed_attribute_free frees
 *
 * Errors: CUBED_E_NOT_FOUND if there is no such attribute (CUBED_ATTRIBUTE_TYPES is not an attribute); CUBED_E_FORMAT if `attrs`
 * is not JSON. Thread safety: any thread. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_attribute_get(const char *attrs, const char *name,
                                                            cubed_dtype dtype,
                                                            cubed_attribute **out,
                                                            cubed_error *err);
/* Frees an attribute; NULL is allowed. */
CUBED_API void cubed_attribute_free(cubed_attribute *a);

#ifdef __cplusplus
}
#endif

#endif
