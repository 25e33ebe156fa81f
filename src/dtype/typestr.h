/* NumPy's type strings: "<f4", "|b1", ">i2", "<M8[ns]", "|S5". */
#ifndef CB_DTYPE_TYPESTR_H
#define CB_DTYPE_TYPESTR_H

#include "cubed/dtype.h"

/* Returns the size of the unit that byte order applies to: half of a complex number, or one character. */
static inline size_t cb_unit_size(cubed_dtype dtype)
{
    size_t size = cubed_dtype_size(dtype);
    if (cubed_dtype_kind(dtype) == CUBED_KIND_RECORD) return 1;
    if (cubed_dtype_kind(dtype) == CUBED_KIND_TEXT)
        return cubed_dtype_family(dtype) == CUBED_STRING ? 4 : 1;
    return cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX ? size / 2 : size;
}

#define CB_TYPESTR_CAP 40
/* Returns false if the string is not a known type. */
bool cb_typestr_parse(const char *s, cubed_dtype *out, bool *big_endian);
/* Returns false for bfloat16 and records, which have no type string. */
bool cb_typestr_print(cubed_dtype dtype, bool big_endian, char text[CB_TYPESTR_CAP]);

#endif
