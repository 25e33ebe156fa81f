/* NumPy's type strings: "<f4", "|b1", ">i2", "<M8[ns]", "|S5". */
#ifndef CB_DTYPE_TYPESTR_H
#define CB_DTYPE_TYPESTR_H

#include "cubed/dtype.h"

/* Bytes that byte order swaps: half a complex number, one character. */
static inline size_t cb_unit_size(cubed_dtype dtype)
{
    size_t size = cubed_dtype_size(dtype);
    if (cubed_dtype_kind(dtype) == CUBED_KIND_TEXT)
        return cubed_dtype_family(dtype) == CUBED_STRING ? 4 : 1;
    return cubed_dtype_kind(dtype) == CUBED_KIND_COMPLEX ? size / 2 : size;
}

#define CB_TYPESTR_CAP 40
/* False if this is no type that there is. */
bool cb_typestr_parse(const char *s, cubed_dtype *out, bool *big_endian);
/* False for the one that has none, bfloat16. */
bool cb_typestr_print(cubed_dtype dtype, bool big_endian, char text[CB_TYPESTR_CAP]);

#endif
