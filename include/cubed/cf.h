/* Decoding of values that are packed by the CF conventions, sections 2.5.1 (missing data) and 8.1 (packed data), and by
 * NetCDF's `_Unsigned`.
 *
 * Decoding is lazy: it creates elementwise operations, which are fused with the operations that follow. Values and types are
 * the same as in Xarray. Functions that open arrays never decode.
 */
#ifndef CUBED_CF_H
#define CUBED_CF_H

#include "cubed/array.h"
#include "cubed/calendar.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number of an attribute, and its type. */
typedef struct cubed_cf_number {
    cubed_dtype dtype;
    cubed_scalar value;
    bool weak; /* the number has no type of its own and adopts the array's, like Python's numbers */
} cubed_cf_number;

/* The steps from stored elements to values; unnecessary steps are skipped.
 *
 * 1. Elements are cast to `stored`, which undoes `_Unsigned`, and then to `dtype`.
 * 2. Elements that equal one of missing[nmissing] become `fill`.
 * 3. Elements are multiplied by `scale`, then `offset` is added. Each result is rounded to `dtype`.
 * 4. Elements become bools if `is_bool` is set. */
typedef struct cubed_cf_packing {
    cubed_dtype stored, dtype;
    int nmissing;
    const cubed_cf_number *missing;
    cubed_scalar fill; /* fill value, of type `dtype` */
    bool has_scale, has_offset, is_bool;
    cubed_cf_number scale, offset;
    /* has_own_fill: the fill value of Zarr format 2 is one of the missing values. own_fill: this fill value, as it is stored.
     * cubed_cf_unpack reads neither. */
    bool has_own_fill;
    cubed_scalar own_fill;
} cubed_cf_packing;

/* Reads the packing of x from its attributes `_Unsigned`, `_FillValue`, `missing_value`, `scale_factor`, `add_offset` and
 * `dtype`, and from the fill value of Zarr format 2.
 *
 * The type of values follows Xarray. Integers with missing values become float32 (of at most 16 bits) or float64. Packed values
 * have the type of scale_factor and add_offset if these agree, else float64. Bools with missing values become float64 (1, 0 and
 * NaN), where Xarray uses objects. Complex numbers may be missing but are not packed. Strings and dates are neither packed nor
 * missing: a string that equals the fill value is kept.
 *
 * out  receives a packing, which cubed_cf_packing_free frees; NULL if x is not packed */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cf_packing_of(const cubed_array *x,
                                                            cubed_cf_packing **out,
                                                            cubed_error *err);
/* Frees a packing from cubed_cf_packing_of. NULL is allowed. */
CUBED_API void cubed_cf_packing_free(cubed_cf_packing *packing);
/* Returns whether two packings from cubed_cf_packing_of give equal values for equal elements. Does not compare `fill`, which
 * is NaN in such packings. */
CUBED_API bool cubed_cf_packing_equal(const cubed_cf_packing *a, const cubed_cf_packing *b);
/* Creates an array of the values of x, whose elements have this packing. The result has the attributes of x, except those for
 * which cubed_cf_packing_describes returns true. The caller may also fill in the packing itself.
 *
 * Errors: CUBED_E_TYPE if the packing does not fit the type of x. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cf_unpack(cubed_array *x,
                                                        const cubed_cf_packing *packing,
                                                        cubed_array **out, cubed_error *err);
/* Creates an array of the values of x by the packing that x's attributes describe (cubed_cf_packing_of, then cubed_cf_unpack).
 * If x is not packed, *out is another reference to x. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cf_decode(cubed_array *x, cubed_array **out,
                                                        cubed_error *err);
/* Returns true if an attribute describes the stored elements of this packing and not the decoded values. Examples are
 * `_FillValue`, `scale_factor`, and, if elements are scaled, `valid_range`, which is in packed units. */
CUBED_API bool cubed_cf_packing_describes(const cubed_cf_packing *packing, const char *name);

/* Joins an array of characters ("S1") along its last axis into strings of that axis's length. Keeps the names of the other
 * dimensions, and the attributes.
 *
 * Errors: CUBED_E_TYPE for another type, CUBED_E_ARG for an array without axes, or if the last axis has no elements or more
 * than 2^23 - 1. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cf_join_characters(cubed_array *x, cubed_array **out,
                                                                 cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
