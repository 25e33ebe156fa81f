#include "cubed/dtype.h"

#include <string.h>

#include "base/error.h"

static const struct {
    const char *name;
    uint8_t size;
    uint8_t kind;
} types[CUBED_DTYPE_COUNT] = {
    [CUBED_BOOL] = {"bool", 1, CUBED_KIND_BOOL},
    [CUBED_INT8] = {"int8", 1, CUBED_KIND_INT},
    [CUBED_INT16] = {"int16", 2, CUBED_KIND_INT},
    [CUBED_INT32] = {"int32", 4, CUBED_KIND_INT},
    [CUBED_INT64] = {"int64", 8, CUBED_KIND_INT},
    [CUBED_UINT8] = {"uint8", 1, CUBED_KIND_UINT},
    [CUBED_UINT16] = {"uint16", 2, CUBED_KIND_UINT},
    [CUBED_UINT32] = {"uint32", 4, CUBED_KIND_UINT},
    [CUBED_UINT64] = {"uint64", 8, CUBED_KIND_UINT},
    [CUBED_FLOAT32] = {"float32", 4, CUBED_KIND_FLOAT},
    [CUBED_FLOAT64] = {"float64", 8, CUBED_KIND_FLOAT},
    [CUBED_COMPLEX64] = {"complex64", 8, CUBED_KIND_COMPLEX},
    [CUBED_COMPLEX128] = {"complex128", 16, CUBED_KIND_COMPLEX},
};

size_t cubed_dtype_size(cubed_dtype dtype) { return types[dtype].size; }

const char *cubed_dtype_name(cubed_dtype dtype)
{
    return (unsigned)dtype < CUBED_DTYPE_COUNT ? types[dtype].name : "unknown";
}

cubed_kind cubed_dtype_kind(cubed_dtype dtype) { return (cubed_kind)types[dtype].kind; }

cubed_status cubed_dtype_parse(const char *name, cubed_dtype *out, cubed_error *err)
{
    for (int i = 0; i < CUBED_DTYPE_COUNT; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *out = (cubed_dtype)i;
            return CUBED_OK;
        }
    }
    return cb_fail(err, CUBED_E_TYPE,
                   "data type \"%s\" is not one of bool, int8 to int64, uint8 to uint64, float32, "
                   "float64, complex64, complex128",
                   name);
}

static cubed_dtype of_kind(cubed_kind kind, size_t size)
{
    for (int i = 0; i < CUBED_DTYPE_COUNT; i++) {
        if (types[i].kind == kind && types[i].size == size) return (cubed_dtype)i;
    }
    return CUBED_FLOAT64; /* int64 with uint64: no integer holds both */
}

cubed_dtype cubed_dtype_promote(cubed_dtype a, cubed_dtype b)
{
    if (types[a].kind > types[b].kind) {
        cubed_dtype t = a;
        a = b;
        b = t;
    }
    cubed_kind ka = (cubed_kind)types[a].kind, kb = (cubed_kind)types[b].kind;
    size_t sa = types[a].size, sb = types[b].size;
    if (ka == CUBED_KIND_BOOL) return b;
    if (ka == kb) return sa > sb ? a : b;
    if (kb == CUBED_KIND_UINT) return of_kind(CUBED_KIND_INT, sa > sb ? sa : 2 * sb);
    /* An integer of 8 or 16 bits fits the smallest float; others need the larger one. */
    size_t real = ka == CUBED_KIND_FLOAT ? sa : sa <= 2 ? 4 : 8;
    if (kb == CUBED_KIND_FLOAT) return of_kind(CUBED_KIND_FLOAT, real > sb ? real : sb);
    return of_kind(CUBED_KIND_COMPLEX, 2 * real > sb ? 2 * real : sb);
}

bool cubed_dtype_can_cast(cubed_dtype from, cubed_dtype to)
{
    if (types[from].kind == CUBED_KIND_INT && types[to].kind == CUBED_KIND_UINT) return false;
    return types[from].kind <= types[to].kind ||
           (types[from].kind == CUBED_KIND_UINT && types[to].kind == CUBED_KIND_INT);
}
