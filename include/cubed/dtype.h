/* Data types: those of the Python Array API standard that have a size, and more that are stored. */
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
    CUBED_DTYPE_COUNT, /* of the types above, which operations compute with */
    /* Stored, viewed, copied and cast; operations calculate with them in float32, which their results are. */
    CUBED_FLOAT16 = 16,
    CUBED_BFLOAT16 = 17,
    /* Families of types that are stored, viewed and copied: a type has parameters in its higher bits,
     * see cubed_dtype_time and cubed_dtype_fixed. The first two are cast from and to numbers by int64, and
     * computed with as such. */
    CUBED_DATETIME64 = 32,  /* int64 units since 1970-01-01, the least one means "not a time" */
    CUBED_TIMEDELTA64 = 33, /* int64 units, the same */
    CUBED_BYTES = 34,       /* so many bytes, padded with zeros */
    CUBED_STRING = 35       /* so many code points of 4 bytes, padded with zeros */
} cubed_dtype;

/* NumPy's units of time, in its order. */
typedef enum cubed_unit {
    CUBED_UNIT_GENERIC,
    CUBED_UNIT_Y,
    CUBED_UNIT_M,
    CUBED_UNIT_W,
    CUBED_UNIT_D,
    CUBED_UNIT_H,
    CUBED_UNIT_MIN,
    CUBED_UNIT_S,
    CUBED_UNIT_MS,
    CUBED_UNIT_US,
    CUBED_UNIT_NS,
    CUBED_UNIT_PS,
    CUBED_UNIT_FS,
    CUBED_UNIT_AS,
    CUBED_UNIT_COUNT
} cubed_unit;

typedef enum cubed_kind {
    CUBED_KIND_BOOL,
    CUBED_KIND_INT,
    CUBED_KIND_UINT,
    CUBED_KIND_FLOAT,
    CUBED_KIND_COMPLEX,
    CUBED_KIND_TIME, /* datetime64 and timedelta64 */
    CUBED_KIND_TEXT  /* bytes and strings */
} cubed_kind;

/* A type of the family CUBED_DATETIME64 or CUBED_TIMEDELTA64 that counts `multiple` (1 to 32767) of a
 * unit; of CUBED_BYTES or CUBED_STRING with `length` bytes or code points (1 to 2^23 - 1). */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_dtype_time(cubed_dtype family, cubed_unit unit,
                                                         int multiple, cubed_dtype *out,
                                                         cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_dtype_fixed(cubed_dtype family, int64_t length,
                                                          cubed_dtype *out, cubed_error *err);
/* The type itself where it has no parameters. */
CUBED_API cubed_dtype cubed_dtype_family(cubed_dtype dtype);
/* Of the first two families. */
CUBED_API void cubed_dtype_get_time(cubed_dtype dtype, cubed_unit *unit, int *multiple);
/* "ns", "D"; "generic". */
CUBED_API const char *cubed_unit_name(cubed_unit unit);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_unit_parse(const char *name, cubed_unit *out,
                                                         cubed_error *err);
/* Whether this number is a type. */
CUBED_API bool cubed_dtype_is_valid(cubed_dtype dtype);
/* The whole name, with parameters: "float32", "datetime64[ns]", "timedelta64[10us]", "S5", "U7". */
#define CUBED_DTYPE_TEXT_CAP 32
CUBED_API const char *cubed_dtype_text(cubed_dtype dtype, char text[CUBED_DTYPE_TEXT_CAP]);

/* Bytes of one element. */
CUBED_API size_t cubed_dtype_size(cubed_dtype dtype);
/* "bool", "int8", ... "complex128": the standard's names; of a family its name without parameters. */
CUBED_API const char *cubed_dtype_name(cubed_dtype dtype);
CUBED_API cubed_kind cubed_dtype_kind(cubed_dtype dtype);
/* The inverse of cubed_dtype_text. CUBED_E_TYPE if there is none of that name. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_dtype_parse(const char *name, cubed_dtype *out,
                                                          cubed_error *err);
/* The standard's promotion of two types; where the standard leaves it open, NumPy's: int64 with
 * uint64 gives float64, integers with floats the float of at least equal precision, bool with any
 * type that type. Equal types stay; otherwise half precision is float32, of two lengths of bytes or strings it is
 * the longer one, and times and texts have nothing in common with others: CUBED_DTYPE_COUNT. */
CUBED_API cubed_dtype cubed_dtype_promote(cubed_dtype a, cubed_dtype b);
/* Whether every value of `from` has an equal value in `to` up to floating rounding, in the sense
 * of NumPy's "same_kind" casting. */
CUBED_API bool cubed_dtype_can_cast(cubed_dtype from, cubed_dtype to);

/* Writes an element of a time or a text as UTF-8 with a zero behind it, as much as fits, and returns the
 * bytes that all of it takes without the zero. Datetimes in ISO 8601 down to their unit, timedeltas as
 * numbers, "NaT"; of texts without padding, what cannot be printed as \\x.. or \\U........; nothing for
 * other types. */
CUBED_API size_t cubed_element_text(cubed_dtype dtype, const void *element, char *text, size_t cap);
/* The value of an element of a half precision type. */
CUBED_API double cubed_half_value(cubed_dtype dtype, uint16_t bits);
/* The inverse: rounded to the nearest, to the even one of two. */
CUBED_API uint16_t cubed_half_bits(cubed_dtype dtype, double value);

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
