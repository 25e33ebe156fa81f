/* Values that the CF conventions pack: sections 2.5.1 (missing data) and 8.1 (packed data), and NetCDF's `_Unsigned`.
 *
 * Decoding is lazy: it makes elementwise operations, which fuse with those that follow. Values and types are those that
 * Xarray decodes. Functions that open arrays never decode.
 */
#ifndef CUBED_CF_H
#define CUBED_CF_H

#include "cubed/array.h"
#include "cubed/calendar.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number of an attribute, in its type. */
typedef struct cubed_cf_number {
    cubed_dtype dtype;
    cubed_scalar value;
    bool weak; /* without a type of its own: it takes the array's, as Python's numbers do */
} cubed_cf_number;

/* The way from stored elements to values: each step is left out if it is not needed.
 *
 * 1. Elements are cast to `stored`, which undoes `_Unsigned`, and then to `dtype`.
 * 2. Elements that equal one of missing[nmissing] become `fill`.
 * 3. They are multiplied by `scale`, then `offset` is added. Each result is rounded to `dtype`.
 * 4. They become bools, if `is_bool`. */
typedef struct cubed_cf_packing {
    cubed_dtype stored, dtype;
    int nmissing;
    const cubed_cf_number *missing;
    cubed_scalar fill; /* of type `dtype` */
    bool has_scale, has_offset, is_bool;
    cubed_cf_number scale, offset;
    /* Whether missing values are, or include, the fill value of Zarr format 2, and this element as it is stored.
     * cubed_cf_unpack does not read either. */
    bool has_own_fill;
    cubed_scalar own_fill;
} cubed_cf_packing;

/* Reads the packing of x from its attributes `_Unsigned`, `_FillValue`, `missing_value`, `scale_factor`, `add_offset` and
 * `dtype`, and from the fill value of Zarr format 2.
 *
 * The type of values follows Xarray: integers with missing values become float32 (of at most 16 bits) or float64; packed
 * values have the type of scale_factor and add_offset if these agree, else float64. Bools with missing values become float64
 * (1, 0 and NaN), as Xarray makes objects of them. Complex numbers may be missing, and are not packed. Strings and dates are
 * neither: a string that equals the fill value stays.
 *
 * out  NULL in *out if x is not packed; freed with cubed_cf_packing_free */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cf_packing_of(const cubed_array *x,
                                                            cubed_cf_packing **out,
                                                            cubed_error *err);
/* Frees a packing that cubed_cf_packing_of made. NULL is allowed. */
CUBED_API void cubed_cf_packing_free(cubed_cf_packing *packing);
/* Returns whether two packings give equal values for equal elements. */
CUBED_API bool cubed_cf_packing_equal(const cubed_cf_packing *a, const cubed_cf_packing *b);
/* Makes the values of x, whose elements are packed in this way. The result has the attributes of x, except those of which
 * cubed_cf_packing_describes returns true. The packing may be the caller's own.
 *
 * Errors: CUBED_E_TYPE if the packing does not fit the type of x. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cf_unpack(cubed_array *x,
                                                        const cubed_cf_packing *packing,
                                                        cubed_array **out, cubed_error *err);
/* cubed_cf_packing_of and cubed_cf_unpack in one call. Returns a reference to x itself if x is not packed. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cf_decode(cubed_array *x, cubed_array **out,
                                                        cubed_error *err);
/* Returns whether an attribute describes the stored elements of this packing, and not their values: `_FillValue`,
 * `scale_factor`, `valid_range` if elements are scaled (it is in packed units), ... */
CUBED_API bool cubed_cf_packing_describes(const cubed_cf_packing *packing, const char *name);

/* Joins an array of characters ("S1") along its last axis to texts of the length of that axis. Names of the other
 * dimensions and attributes stay.
 *
 * Errors: CUBED_E_TYPE for another type, CUBED_E_ARG for an array without axes, or a last axis without elements. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_cf_join_characters(cubed_array *x, cubed_array **out,
                                                                 cubed_error *err);

#ifdef __cplusplus
}
#endif

#endif
