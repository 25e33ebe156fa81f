/* NumPy's type strings: "<f4", "|b1", ">i2", "<M8[ns]", "|S5". */
#ifndef CB_DTYPE_TYPESTR_H
#define CB_DTYPE_TYPESTR_H

#include "cubed/dtype.h"

/* Returns the size in bytes of the units whose bytes are reversed if the byte order differs: one part of a complex number, one
 * character of a string, otherwise an element. Returns 1 for records, because each field has its own byte order. */
static inline size_t cb_unit_size(cubed_dtype dtype)
{
    size_t size = cubed_dtype_size(dtype);
    if (cubed_dtype_kind(dtype) == CUBED_KIND_RECORD) return 1;
    if (cubed_dtype_kind(dtype) == CUBED_KIND_TEXT)
        return cubed_dtype_family(dtype) == CUBED_STRING ? 4 : 1;
    return cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX ? size / 2 : size;
}

/* Size in bytes of a buffer for any type string, terminating NUL included. */
#define CB_TYPESTR_CAP 40
/* Parses a type string. Returns false if the type is not known. */
bool cb_typestr_parse(const char *s, cubed_dtype *out, bool *big_endian);
/* Writes the type string to `text`. Returns false for bfloat16 and records, which have no type string. */
bool cb_typestr_print(cubed_dtype dtype, bool big_endian, char text[CB_TYPESTR_CAP]);

#endif
