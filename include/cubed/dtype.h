/* Data types: those of the Python Array API standard that have a size. */
#ifndef CUBED_DTYPE_H
#define CUBED_DTYPE_H

#include "cubed/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are part of the plan format: append, never reorder. */
typedef enum cubed_dtype {
    CUBED_BOOL = 0,
    CUBED_INT8 = 1,
    CUBED_INT16 = 2,
    CUBED_INT32 = 3,
    CUBED_INT64 = 4,
    CUBED_UINT8 = 5,
    CUBED_UINT16 = 6,
    CUBED_UINT32 = 7,
    CUBED_UINT64 = 8,
    CUBED_FLOAT32 = 9,
    CUBED_FLOAT64 = 10,
    CUBED_COMPLEX64 = 11,
    CUBED_COMPLEX128 = 12,
    CUBED_DTYPE_COUNT
} cubed_dtype;

typedef enum cubed_kind {
    CUBED_KIND_BOOL,
    CUBED_KIND_INT,
    CUBED_KIND_UINT,
    CUBED_KIND_FLOAT,
    CUBED_KIND_COMPLEX
} cubed_kind;

/* Bytes of one element. */
CUBED_API size_t cubed_dtype_size(cubed_dtype dtype);
/* "bool", "int8", ... "complex128": the standard's names. */
CUBED_API const char *cubed_dtype_name(cubed_dtype dtype);
CUBED_API cubed_kind cubed_dtype_kind(cubed_dtype dtype);
/* The inverse of cubed_dtype_name. CUBED_E_TYPE if there is none of that name. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_dtype_parse(const char *name, cubed_dtype *out,
                                                          cubed_error *err);
/* The standard's promotion of two types; where the standard leaves it open, NumPy's: int64 with
 * uint64 gives float64, integers with floats the float of at least equal precision, bool with any
 * type that type. Never fails for two valid types. */
CUBED_API cubed_dtype cubed_dtype_promote(cubed_dtype a, cubed_dtype b);
/* Whether every value of `from` has an equal value in `to` up to floating rounding, in the sense
 * of NumPy's "same_kind" casting. */
CUBED_API bool cubed_dtype_can_cast(cubed_dtype from, cubed_dtype to);

/* One element of any type, as its bytes in native order. */
typedef union cubed_scalar {
    uint8_t bytes[16];
    bool b;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
    float c64[2];
    double c128[2];
} cubed_scalar;

#ifdef __cplusplus
}
#endif

#endif
