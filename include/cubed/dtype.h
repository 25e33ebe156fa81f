/* Data types: the types of the Python Array API standard, and further types that can be stored. */
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
    CUBED_DTYPE_COUNT, /* number of the types above; operations compute with these types */
    /* Half precision: stored, viewed, copied and cast. Operations compute with them in float32, which is the type of the
     * results. */
    CUBED_FLOAT16 = 16,
    CUBED_BFLOAT16 = 17,
    /* Families of types that are stored, viewed and copied. The parameters of a type are in its higher bits: see
     * cubed_dtype_time and cubed_dtype_fixed. The first two families are times: they are cast from and to numbers, and used
     * in computations, as int64. */
    CUBED_DATETIME64 = 32, /* int64 units since 1970-01-01; the smallest int64 means "not a time" */
    CUBED_TIMEDELTA64 = 33, /* int64 units; the smallest int64 means "not a time" */
    CUBED_BYTES = 34,       /* a fixed number of bytes, padded with zeros */
    CUBED_STRING = 35,      /* a fixed number of code points of 4 bytes, padded with zeros */
    CUBED_RECORD = 36       /* a fixed number of bytes with named fields: see cubed_array_fields */
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

/* Kinds of data types. */
typedef enum cubed_kind {
    CUBED_KIND_BOOL,
    CUBED_KIND_INT,
    CUBED_KIND_UINT,
    CUBED_KIND_FLOAT,
    CUBED_KIND_COMPLEX,
    CUBED_KIND_TIME,  /* datetime64 and timedelta64 */
    CUBED_KIND_TEXT,  /* bytes and strings */
    CUBED_KIND_RECORD /* records */
} cubed_kind;

/* Creates a type of a family.
 *
 * cubed_dtype_time   CUBED_DATETIME64 or CUBED_TIMEDELTA64, which counts `multiple` (1 to 32767) of a unit
 * cubed_dtype_fixed  CUBED_BYTES or CUBED_STRING with `length` bytes or code points (1 to 2^23 - 1), or CUBED_RECORD with
 *                    `length` bytes (1 to 65535)
 *
 * Errors: CUBED_E_ARG for a family that the function does not accept, and for a number out of range. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_dtype_time(cubed_dtype family, cubed_unit unit,
                                                         int multiple, cubed_dtype *out,
                                                         cubed_error *err);
CUBED_API CUBED_MUST_CHECK cubed_status cubed_dtype_fixed(cubed_dtype family, int64_t length,
                                                          cubed_dtype *out, cubed_error *err);
/* Returns the family of a type, or the type itself if it has no parameters. */
CUBED_API cubed_dtype cubed_dtype_family(cubed_dtype dtype);
/* Gets the unit and the multiple of a type of the family CUBED_DATETIME64 or CUBED_TIMEDELTA64. For other types both are
 * meaningless. */
CUBED_API void cubed_dtype_get_time(cubed_dtype dtype, cubed_unit *unit, int *multiple);
/* Returns the name of a unit: "ns", "D", "generic"; "unknown" for another number. A static string. */
CUBED_API const char *cubed_unit_name(cubed_unit unit);
/* Gets a unit by the name that cubed_unit_name returns. CUBED_E_TYPE if no unit has this name. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_unit_parse(const char *name, cubed_unit *out,
                                                         cubed_error *err);
/* Returns whether a number is a valid type. */
CUBED_API bool cubed_dtype_is_valid(cubed_dtype dtype);
#define CUBED_DTYPE_TEXT_CAP 32
/* Writes the full name of a type, with parameters, into `text` and returns `text`: "float32", "datetime64[ns]",
 * "timedelta64[10us]", "S5", "U7", "V12". */
CUBED_API const char *cubed_dtype_text(cubed_dtype dtype, char text[CUBED_DTYPE_TEXT_CAP]);

/* Returns the number of bytes of one element of a valid type. */
CUBED_API size_t cubed_dtype_size(cubed_dtype dtype);
/* Returns the standard's name of a type ("bool", "int8", ... "complex128"), or the name of its family without parameters;
 * "unknown" for an invalid type. A static string. */
CUBED_API const char *cubed_dtype_name(cubed_dtype dtype);
/* Returns the kind of a valid type. */
CUBED_API cubed_kind cubed_dtype_kind(cubed_dtype dtype);
/* Parses a full name in the form that cubed_dtype_text writes. CUBED_E_TYPE if no type has this name. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_dtype_parse(const char *name, cubed_dtype *out,
                                                          cubed_error *err);
/* Returns the type to which two types promote, by the rules of the Array API standard. CUBED_DTYPE_COUNT if the types have no
 * common type, such as times or strings with other types. Two equal types give the same type. Cases that the standard leaves
 * open:
 * - As in NumPy, int64 with uint64 gives float64, an integer with a float gives the float of at least equal precision, and bool
 *   with any type gives that type.
 * - Half precision with another type promotes as float32.
 * - Bytes or strings of two lengths give the longer length. */
CUBED_API cubed_dtype cubed_dtype_promote(cubed_dtype a, cubed_dtype b);
/* Returns whether a cast is allowed by NumPy's rule "same_kind". In the order bool, integers, floats, complex numbers, a cast
 * may go to the same kind or a later one, but not from signed to unsigned integers. Values may be rounded, or exceed the range
 * of `to`: int64 to int8 is allowed. Times, strings and records are cast only to the same type. */
CUBED_API bool cubed_dtype_can_cast(cubed_dtype from, cubed_dtype to);

/* Writes an element of a time, string or record type as UTF-8 into text[cap], truncated if necessary, with a terminating NUL.
 * Returns the length of the untruncated string without the NUL. Datetimes are written in ISO 8601 down to their unit,
 * timedeltas as numbers; "not a time" is "NaT". Strings are written without padding; characters that cannot be printed become
 * \\x.. or \\U......... Records are written as hexadecimal bytes. For other types the string is empty. */
CUBED_API size_t cubed_element_text(cubed_dtype dtype, const void *element, char *text, size_t cap);
/* Returns the value of an element of a half-precision type. */
CUBED_API double cubed_half_value(cubed_dtype dtype, uint16_t bits);
/* Returns the bits of a value in a half-precision type: rounded to nearest, ties to even. */
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
