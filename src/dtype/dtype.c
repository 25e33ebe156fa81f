#include "cubed/dtype.h"

#include <stdio.h>
#include <stdlib.h>
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

/* Parameters of types: bits 8 to 11 are the unit and 12 to 26 its multiple, or bits 8 to 30 the length. */
enum { FAMILY = 0xff, MOST_MULTIPLE = 0x7fff, MOST_LENGTH = 0x7fffff, MOST_RECORD = 0xffff };

static const char *const units[CUBED_UNIT_COUNT] = {"generic", "Y",  "M",  "W",  "D",  "h",  "m",
                                                    "s",       "ms", "us", "ns", "ps", "fs", "as"};

cubed_dtype cubed_dtype_family(cubed_dtype dtype) { return (cubed_dtype)(dtype & FAMILY); }

static int64_t length_of(cubed_dtype dtype) { return (int64_t)dtype >> 8 & MOST_LENGTH; }

void cubed_dtype_get_time(cubed_dtype dtype, cubed_unit *unit, int *multiple)
{
    *unit = (cubed_unit)(dtype >> 8 & 15);
    *multiple = (int)(dtype >> 12 & MOST_MULTIPLE);
}

const char *cubed_unit_name(cubed_unit unit)
{
    return (unsigned)unit < CUBED_UNIT_COUNT ? units[unit] : "unknown";
}

cubed_status cubed_unit_parse(const char *name, cubed_unit *out, cubed_error *err)
{
    for (int i = 0; i < CUBED_UNIT_COUNT; i++) {
        if (strcmp(units[i], name) != 0) continue;
        *out = (cubed_unit)i;
        return CUBED_OK;
    }
    return cb_fail(err, CUBED_E_TYPE,
                   "\"%s\" is not a unit of time, expected one of Y M W D h m s ms "
                   "us ns ps fs as",
                   name);
}

cubed_status cubed_dtype_time(cubed_dtype family, cubed_unit unit, int multiple, cubed_dtype *out,
                              cubed_error *err)
{
    if (family != CUBED_DATETIME64 && family != CUBED_TIMEDELTA64)
        return cb_fail(err, CUBED_E_ARG, "%s has no unit of time", cubed_dtype_name(family));
    if ((unsigned)unit >= CUBED_UNIT_COUNT)
        return cb_fail(err, CUBED_E_ARG, "unit number %d does not exist", (int)unit);
    if (multiple < 1 || multiple > MOST_MULTIPLE)
        return cb_fail(err, CUBED_E_ARG, "a unit of time is multiplied by %d, expected 1 to %d",
                       multiple, MOST_MULTIPLE);
    *out = (cubed_dtype)((int)family | (int)unit << 8 | multiple << 12);
    return CUBED_OK;
}

cubed_status cubed_dtype_fixed(cubed_dtype family, int64_t length, cubed_dtype *out,
                               cubed_error *err)
{
    if (family != CUBED_BYTES && family != CUBED_STRING && family != CUBED_RECORD)
        return cb_fail(err, CUBED_E_ARG, "%s has no length", cubed_dtype_name(family));
    const int most = family == CUBED_RECORD ? MOST_RECORD : MOST_LENGTH;
    if (length < 1 || length > most)
        return cb_fail(err, CUBED_E_ARG, "a %s has length %lld, expected 1 to %d",
                       family == CUBED_RECORD ? "record" : "text", (long long)length, most);
    *out = (cubed_dtype)((int)family | (int)length << 8);
    return CUBED_OK;
}

bool cubed_dtype_is_valid(cubed_dtype dtype)
{
    cubed_unit unit;
    int multiple;
    if ((int)dtype < 0) return false;
    if ((int)dtype < CUBED_DTYPE_COUNT || dtype == CUBED_FLOAT16 || dtype == CUBED_BFLOAT16)
        return true;
    switch (cubed_dtype_family(dtype)) {
    case CUBED_BYTES:
    case CUBED_STRING: return length_of(dtype) > 0;
    case CUBED_RECORD: return length_of(dtype) > 0 && length_of(dtype) <= MOST_RECORD;
    case CUBED_DATETIME64:
    case CUBED_TIMEDELTA64:
        cubed_dtype_get_time(dtype, &unit, &multiple);
        return unit < CUBED_UNIT_COUNT && multiple > 0 && (int)dtype >> 27 == 0;
    default: return false;
    }
}

size_t cubed_dtype_size(cubed_dtype dtype)
{
    if ((unsigned)dtype < CUBED_DTYPE_COUNT) return types[dtype].size;
    switch (cubed_dtype_family(dtype)) {
    case CUBED_FLOAT16:
    case CUBED_BFLOAT16: return 2;
    case CUBED_BYTES:
    case CUBED_RECORD: return (size_t)length_of(dtype);
    case CUBED_STRING: return 4 * (size_t)length_of(dtype);
    default: return 8;
    }
}

const char *cubed_dtype_name(cubed_dtype dtype)
{
    if ((unsigned)dtype < CUBED_DTYPE_COUNT) return types[dtype].name;
    switch (cubed_dtype_family(dtype)) {
    case CUBED_FLOAT16: return "float16";
    case CUBED_BFLOAT16: return "bfloat16";
    case CUBED_DATETIME64: return "datetime64";
    case CUBED_TIMEDELTA64: return "timedelta64";
    case CUBED_BYTES: return "bytes";
    case CUBED_STRING: return "string";
    case CUBED_RECORD: return "record";
    default: return "unknown";
    }
}

cubed_kind cubed_dtype_kind(cubed_dtype dtype)
{
    if ((unsigned)dtype < CUBED_DTYPE_COUNT) return (cubed_kind)types[dtype].kind;
    switch (cubed_dtype_family(dtype)) {
    case CUBED_DATETIME64:
    case CUBED_TIMEDELTA64: return CUBED_KIND_TIME;
    case CUBED_BYTES:
    case CUBED_STRING: return CUBED_KIND_TEXT;
    case CUBED_RECORD: return CUBED_KIND_RECORD;
    default: return CUBED_KIND_FLOAT;
    }
}

const char *cubed_dtype_text(cubed_dtype dtype, char text[CUBED_DTYPE_TEXT_CAP])
{
    cubed_unit unit;
    int multiple;
    const char *name = cubed_dtype_name(dtype);
    switch (cubed_dtype_kind(dtype)) {
    case CUBED_KIND_TEXT:
    case CUBED_KIND_RECORD:
        snprintf(text, CUBED_DTYPE_TEXT_CAP, "%c%lld",
                 "SUV"[(int)cubed_dtype_family(dtype) - CUBED_BYTES], (long long)length_of(dtype));
        break;
    case CUBED_KIND_TIME:
        cubed_dtype_get_time(dtype, &unit, &multiple);
        if (unit == CUBED_UNIT_GENERIC)
            snprintf(text, CUBED_DTYPE_TEXT_CAP, "%s", name);
        else if (multiple == 1)
            snprintf(text, CUBED_DTYPE_TEXT_CAP, "%s[%s]", name, cubed_unit_name(unit));
        else
            snprintf(text, CUBED_DTYPE_TEXT_CAP, "%s[%d%s]", name, multiple, cubed_unit_name(unit));
        break;
    default: snprintf(text, CUBED_DTYPE_TEXT_CAP, "%s", name); break;
    }
    return text;
}

/* Parses "S5", "U7" and "V12". */
static bool parse_fixed_type(const char *name, cubed_dtype *out)
{
    char *end;
    cubed_dtype family;
    switch (name[0]) {
    case 'S': family = CUBED_BYTES; break;
    case 'U': family = CUBED_STRING; break;
    case 'V': family = CUBED_RECORD; break;
    default: return false;
    }
    if (name[1] < '1' || name[1] > '9') return false;
    long long n = strtoll(name + 1, &end, 10);
    return *end == 0 && cubed_dtype_fixed(family, n, out, NULL) == CUBED_OK;
}

/* Parses "datetime64[10ns]" and "timedelta64". */
static bool parse_time_type(const char *name, cubed_dtype *out)
{
    cubed_dtype family =
        strncmp(name, "datetime64", 10) == 0 ? CUBED_DATETIME64 : CUBED_TIMEDELTA64;
    const char *rest = name + strlen(cubed_dtype_name(family));
    cubed_unit unit = CUBED_UNIT_GENERIC;
    long multiple = 1;
    char text[16], *end;
    if (strncmp(name, cubed_dtype_name(family), (size_t)(rest - name)) != 0) return false;
    if (*rest) {
        size_t n = strlen(rest);
        if (n < 3 || n > sizeof text || rest[0] != '[' || rest[n - 1] != ']') return false;
        memcpy(text, rest + 1, n - 2);
        text[n - 2] = 0;
        end = text;
        if (text[0] >= '1' && text[0] <= '9') multiple = strtol(text, &end, 10);
        if (multiple > MOST_MULTIPLE || cubed_unit_parse(end, &unit, NULL) != CUBED_OK ||
            unit == CUBED_UNIT_GENERIC)
            return false;
    }
    return cubed_dtype_time(family, unit, (int)multiple, out, NULL) == CUBED_OK;
}

cubed_status cubed_dtype_parse(const char *name, cubed_dtype *out, cubed_error *err)
{
    for (int i = 0; i < CUBED_DTYPE_COUNT; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *out = (cubed_dtype)i;
            return CUBED_OK;
        }
    }
    for (int i = 0; i < 2; i++) {
        cubed_dtype half = i ? CUBED_BFLOAT16 : CUBED_FLOAT16;
        if (strcmp(cubed_dtype_name(half), name) != 0) continue;
        *out = half;
        return CUBED_OK;
    }
    if (parse_fixed_type(name, out) || parse_time_type(name, out)) return CUBED_OK;
    return cb_fail(err, CUBED_E_TYPE,
                   "data type \"%s\" is not one of bool, int8 to int64, uint8 to uint64, float16, "
                   "bfloat16, float32, float64, complex64, complex128, datetime64[UNIT], "
                   "timedelta64[UNIT], S<bytes>, U<characters>",
                   name);
}

static cubed_dtype of_kind(cubed_kind kind, size_t size)
{
    for (int i = 0; i < CUBED_DTYPE_COUNT; i++) {
        if (types[i].kind == kind && types[i].size == size) return (cubed_dtype)i;
    }
    return CUBED_FLOAT64; /* int64 and uint64: no integer type contains both */
}

cubed_dtype cubed_dtype_promote(cubed_dtype a, cubed_dtype b)
{
    if (a == b) return a;
    if (cubed_dtype_kind(a) == CUBED_KIND_TEXT && cubed_dtype_family(a) == cubed_dtype_family(b))
        return cubed_dtype_size(a) > cubed_dtype_size(b) ? a : b;
    if (a == CUBED_FLOAT16 || a == CUBED_BFLOAT16) a = CUBED_FLOAT32;
    if (b == CUBED_FLOAT16 || b == CUBED_BFLOAT16) b = CUBED_FLOAT32;
    if (a >= CUBED_DTYPE_COUNT || b >= CUBED_DTYPE_COUNT) return CUBED_DTYPE_COUNT;
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
    /* Integers of 8 or 16 bits fit in the smallest float type. */
    size_t real = ka == CUBED_KIND_FLOAT ? sa : sa <= 2 ? 4 : 8;
    if (kb == CUBED_KIND_FLOAT) return of_kind(CUBED_KIND_FLOAT, real > sb ? real : sb);
    return of_kind(CUBED_KIND_COMPLEX, 2 * real > sb ? 2 * real : sb);
}

bool cubed_dtype_can_cast(cubed_dtype from, cubed_dtype to)
{
    cubed_kind a = cubed_dtype_kind(from), b = cubed_dtype_kind(to);
    if (a > CUBED_KIND_COMPLEX || b > CUBED_KIND_COMPLEX) return from == to;
    if (a == CUBED_KIND_INT && b == CUBED_KIND_UINT) return false;
    return a <= b || (a == CUBED_KIND_UINT && b == CUBED_KIND_INT);
}
