/* The packing described by attributes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mix.h"
#include "base/text.h"
#include "cf/cf_attribute.h"
#include "cubed/cf.h"
#include "dtype/scalar.h"
#include "plan/graph.h"

/* A packing and its list in one allocation. */
typedef struct owned_packing {
    cubed_cf_packing packing; /* must be first: pointers to it are cast to this struct */
    cubed_allocator alloc;
    size_t size; /* size in bytes of the allocation */
    cubed_cf_number missing[];
} owned_packing;

/* Hash table of the missing values found so far, because a list in a file may be long. */
typedef struct seen_values {
    size_t nslots;   /* a power of two, greater than the number of values */
    uint32_t *slots; /* index of a value plus 1; 0 marks a free slot */
} seen_values;

static bool is_integer(cubed_dtype dtype)
{
    const cubed_kind kind = cubed_dtype_kind(dtype);
    return kind == CUBED_KIND_INT || kind == CUBED_KIND_UINT;
}

/* --- Attributes --------------------------------------------------------------------------------------- */

static bool is_one_of(const char *name, size_t n, const char *const *names)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

bool cubed_cf_packing_describes(const cubed_cf_packing *packing, const char *name)
{
    static const char *const always[] = {"_FillValue", "missing_value", "scale_factor",
                                         "add_offset", "_Unsigned"};
    static const char *const packed_units[] = {"valid_range", "valid_min", "valid_max",
                                               "number_of_significant_digits"};
    /* Without a scale and an offset, decoded values have the units of the stored elements. Then attributes such
     * as valid_range, which are in these units, also describe the decoded values. */
    const bool scaled = packing->has_scale || packing->has_offset;
    if (strcmp(name, "dtype") == 0) return packing->is_bool;
    return is_one_of(name, sizeof always / sizeof *always, always) ||
           (scaled && is_one_of(name, sizeof packed_units / sizeof *packed_units, packed_units));
}

/* --- Numbers ------------------------------------------------------------------------------------------ */

static bool is_nan(const cubed_cf_number *n)
{
    cubed_scalar v;
    if (!cb_cf_is_float(n->dtype)) return false;
    cb_scalar_cast(n->dtype, &n->value, CUBED_FLOAT64, &v);
    return isnan(v.f64);
}

static bool same_number(const cubed_cf_number *a, const cubed_cf_number *b)
{
    return a->dtype == b->dtype && a->weak == b->weak &&
           memcmp(&a->value, &b->value, cubed_dtype_size(a->dtype)) == 0;
}

/* Returns true if both numbers have the same effect in operations with values of type `dtype`. */
static bool same_operand(const cubed_cf_number *a, const cubed_cf_number *b, cubed_dtype dtype)
{
    return a->dtype == b->dtype && (a->weak == b->weak || a->dtype == dtype) &&
           memcmp(&a->value, &b->value, cubed_dtype_size(a->dtype)) == 0;
}

/* Returns the FNV-1a hash (Fowler, Noll, Vo) of a number's bytes and type. */
static size_t hash_number(const cubed_cf_number *n)
{
    const unsigned char *bytes = (const unsigned char *)&n->value;
    uint64_t h = CB_FNV_START ^ (uint64_t)n->dtype;
    for (size_t i = 0; i < cubed_dtype_size(n->dtype); i++) h = cb_fnv_add(h, bytes[i]);
    return (size_t)(h ^ h >> 32);
}

/* --- Types -------------------------------------------------------------------------------------------- */

/* Returns the type of decoded values, which depends on the types of scale and offset. */
static cubed_dtype packed_type(cubed_dtype stored, const cubed_cf_packing *p)
{
    const cubed_dtype scale = p->scale.dtype, offset = p->offset.dtype;
    if (p->has_scale && p->has_offset && scale == offset &&
        (scale == CUBED_FLOAT32 || scale == CUBED_FLOAT64))
        return is_integer(stored) && cubed_dtype_size(stored) == 4 ? CUBED_FLOAT64 : scale;
    if (p->has_offset) return CUBED_FLOAT64;
    /* With an integer scale, integers stay integers. All other values become floats. */
    if (is_integer(scale) && (cb_cf_is_float(stored) || p->nmissing > 0)) return CUBED_FLOAT64;
    return scale;
}

/* Returns the type of values that are not packed but may be missing. Xarray converts such bools to objects True, False and NaN.
 * Here they become float64: 1, 0 and NaN, which compare equal to these objects. */
static cubed_dtype masked_type(cubed_dtype stored)
{
    if (stored == CUBED_BOOL) return CUBED_FLOAT64;
    if (!is_integer(stored)) return stored;
    return cubed_dtype_size(stored) <= 2 ? CUBED_FLOAT32 : CUBED_FLOAT64;
}

/* --- Missing values ----------------------------------------------------------------------------------- */

/* Reinterprets the bits of a missing value if signed integers are read as unsigned, or vice versa. Like Xarray, converts only
 * `_FillValue`. */
static void convert_missing(cubed_dtype from, cubed_dtype to, cubed_cf_number *n)
{
    if (from == to || !is_integer(n->dtype)) return;
    cb_scalar_cast(n->dtype, &n->value, from, &n->value);
    cb_scalar_cast(from, &n->value, to, &n->value);
    n->dtype = to;
    /* Xarray converts an unsigned value to a Python number */
    n->weak = cubed_dtype_kind(to) == CUBED_KIND_UINT;
}

/* Adds a missing value. If an element of the stored type is equal, adds that element, so that equal packings compare equal
 * even if their numbers have different types. */
static void add_missing(owned_packing *p, seen_values *seen, const cubed_cf_number *value)
{
    cubed_cf_number element = {.dtype = p->packing.stored, .weak = value->weak};
    const bool exists = cb_cf_equal_element(value, element.dtype, &element.value);
    const cubed_cf_number *n = exists ? &element : value;
    size_t at = hash_number(n) & (seen->nslots - 1);
    for (; seen->slots[at]; at = (at + 1) & (seen->nslots - 1)) {
        if (same_number(&p->missing[seen->slots[at] - 1], n)) return;
    }
    p->missing[p->packing.nmissing++] = *n;
    seen->slots[at] = (uint32_t)p->packing.nmissing;
}

/* Allocates a table for n values, fewer than 2^31. */
static cubed_status new_seen(const cubed_allocator *a, size_t n, seen_values *out, cubed_error *err)
{
    *out = (seen_values){.nslots = 8};
    while (out->nslots < 2 * n) out->nslots *= 2;
    out->slots = n < INT32_MAX ? cb_alloc_zero(a, out->nslots * sizeof *out->slots) : NULL;
    return out->slots ? CUBED_OK
                      : cb_fail(err, CUBED_E_NOMEM, "out of memory: %zu missing values", n);
}

/* Adds the numbers of an attribute as missing values. Returns true if the attribute is used. If the stored elements
 * are not floats, an attribute is used only if it has a number other than NaN. */
static bool add_attribute(owned_packing *p, seen_values *seen, const cb_cf_attrs *attrs,
                          const char *name, cubed_dtype raw, bool convert)
{
    const size_t count = cb_cf_count(attrs, name);
    const cb_cf_numbers list = cb_cf_get_numbers(attrs, name);
    cubed_cf_number n;
    bool any = false, number = false;
    for (size_t i = 0; i < count; i++) {
        if (!cb_cf_number_at(&list, i, &n)) continue;
        any = true;
        if (is_nan(&n)) continue;
        number = true;
        /* JSON has no float32: round to the element type from which the number was written. */
        if (n.dtype == CUBED_FLOAT64 && n.weak && cb_cf_is_float(raw)) {
            cb_scalar_cast(CUBED_FLOAT64, &n.value, raw, &n.value);
            n.dtype = raw;
        }
        n.weak = false;
        if (convert) convert_missing(raw, p->packing.stored, &n);
        add_missing(p, seen, &n);
    }
    return number || (any && cb_cf_is_float(raw));
}

/* --- Packings ----------------------------------------------------------------------------------------- */

/* Returns the type of the same size and the signedness that `_Unsigned` requests. */
static cubed_dtype other_sign(cubed_dtype raw, const char *is_unsigned)
{
    const cubed_kind kind = cubed_dtype_kind(raw);
    if (is_unsigned && strcmp(is_unsigned, "true") == 0 && kind == CUBED_KIND_INT)
        return raw - CUBED_INT8 + CUBED_UINT8;
    if (is_unsigned && strcmp(is_unsigned, "false") == 0 && kind == CUBED_KIND_UINT)
        return raw - CUBED_UINT8 + CUBED_INT8;
    return raw;
}

static bool has_packed_kind(cubed_dtype dtype)
{
    return cubed_dtype_kind(dtype) <= CUBED_KIND_COMPLEX;
}

/* Returns true if the fill value of Zarr format 2 marks missing values, as in Xarray. Xarray cannot open arrays without
 * dimension names. Their fill value, 0 by default, is just the content of chunks that were never written. 0-d arrays also
 * have no dimension names, so their fill value is ignored if it is 0. */
static bool follows_cf(const cubed_array *x, const cb_cf_attrs *attrs, const cubed_scalar *fill)
{
    static const char *const names[] = {"scale_factor", "add_offset", "missing_value", "_Unsigned"};
    const cubed_scalar zero = {.bytes = {0}};
    if (x->node.grid->ndim == 0 && memcmp(fill, &zero, cubed_dtype_size(x->node.dtype)) != 0)
        return true;
    for (int d = 0; d < x->node.grid->ndim; d++) {
        if (cubed_array_dim_name(x, d)) return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (cb_cf_count(attrs, names[i]) > 0) return true;
    }
    return false;
}

/* Reads `_FillValue` of complex elements: a pair, or only the real part. */
static bool get_complex_fill(const cb_cf_attrs *attrs, cubed_dtype dtype, cubed_scalar *out)
{
    const json_t *v = json_object_get(attrs->json, "_FillValue");
    const bool pair = json_is_array(v);
    cubed_scalar both = {.c128 = {0, 0}};
    if (!v || (pair && json_array_size(v) != 2)) return false;
    for (size_t i = 0; i < (pair ? 2 : 1); i++) {
        if (!cb_attribute_number(pair ? json_array_get(v, i) : v, CUBED_FLOAT64, &both.c128[i]))
            return false;
    }
    cb_scalar_cast(CUBED_COMPLEX128, &both, dtype, out);
    return true;
}

/* Reads from the attributes which complex elements are missing. Complex elements are never packed. Fills in *p. Returns true if
 * there is something to decode or an attribute to drop. */
static bool read_complex(const cubed_array *x, const cb_cf_attrs *attrs, seen_values *seen,
                         owned_packing *p)
{
    cubed_cf_packing *out = &p->packing;
    const cubed_scalar nan = {.c128 = {(double)NAN, (double)NAN}};
    cubed_cf_number own = {.dtype = x->node.dtype};
    out->missing = p->missing;
    out->stored = out->dtype = own.dtype;
    out->has_own_fill =
        cubed_array_missing_value(x, &own.value) && follows_cf(x, attrs, &own.value);
    out->own_fill = own.value;
    cb_scalar_cast(CUBED_COMPLEX128, &nan, out->dtype, &out->fill);
    if (!out->has_own_fill && !get_complex_fill(attrs, own.dtype, &own.value)) return false;
    add_missing(p, seen, &own);
    return true;
}

/* Fills in *p. Returns true if there is something to decode or an attribute to drop. */
static bool read_packing(const cubed_array *x, const cb_cf_attrs *attrs, seen_values *seen,
                         owned_packing *p)
{
    cubed_cf_packing *out = &p->packing;
    const cubed_dtype raw = x->node.dtype;
    const char *is_unsigned = cb_cf_text(attrs, "_Unsigned");
    const char *type = cb_cf_text(attrs, "dtype");
    cubed_cf_number own = {.dtype = raw};
    out->missing = p->missing;
    out->stored = other_sign(raw, is_unsigned);
    out->has_scale = cb_cf_count(attrs, "scale_factor") == 1 &&
                     cb_cf_get_number(attrs, "scale_factor", 0, &out->scale);
    out->has_offset = cb_cf_count(attrs, "add_offset") == 1 &&
                      cb_cf_get_number(attrs, "add_offset", 0, &out->offset);
    out->is_bool = type && strcmp(type, "bool") == 0;
    /* The fill value of format 2 takes precedence over the attribute, like in Xarray. */
    bool has_fill = cubed_array_missing_value(x, &own.value) && follows_cf(x, attrs, &own.value);
    out->has_own_fill = has_fill;
    out->own_fill = own.value;
    if (has_fill && !is_nan(&own)) {
        convert_missing(raw, out->stored, &own);
        add_missing(p, seen, &own);
    } else if (has_fill) {
        has_fill = cb_cf_is_float(raw);
    } else {
        has_fill = add_attribute(p, seen, attrs, "_FillValue", raw, true);
    }
    has_fill |= add_attribute(p, seen, attrs, "missing_value", raw, false);
    const bool scaled = out->has_scale || out->has_offset;
    out->dtype = out->stored;
    if (scaled && (out->nmissing > 0 || !has_fill || is_integer(raw)))
        out->dtype = packed_type(out->stored, out);
    else if (!scaled && out->nmissing > 0)
        out->dtype = masked_type(out->stored);
    out->fill = cb_scalar_from_double(out->dtype, (double)NAN);
    return scaled || has_fill || out->is_bool || is_unsigned;
}

cubed_status cubed_cf_packing_of(const cubed_array *x, cubed_cf_packing **out, cubed_error *err)
{
    const cubed_allocator *alloc = &x->ctx->alloc;
    cb_cf_attrs attrs;
    owned_packing *p = NULL;
    seen_values seen = {.slots = NULL};
    *out = NULL;
    if (!has_packed_kind(x->node.dtype)) return CUBED_OK;
    cubed_status st = cb_cf_attrs_open(&attrs, x, err);
    if (st != CUBED_OK) return st;
    const size_t n = cb_cf_count(&attrs, "_FillValue") + cb_cf_count(&attrs, "missing_value") + 1;
    const size_t size = sizeof *p + n * sizeof *p->missing;
    p = cb_alloc_zero(alloc, size);
    if (!p) CB_GO(cb_fail(err, CUBED_E_NOMEM, "out of memory: attributes of packed values"));
    p->alloc = *alloc;
    p->size = size;
    CB_GO(new_seen(alloc, n, &seen, err));
    const bool is_complex = cubed_dtype_kind(x->node.dtype) == CUBED_KIND_COMPLEX;
    if (is_complex ? read_complex(x, &attrs, &seen, p) : read_packing(x, &attrs, &seen, p)) {
        *out = &p->packing;
        p = NULL;
    }
out:
    if (p) cubed_cf_packing_free(&p->packing);
    cb_free(alloc, seen.slots, seen.slots ? seen.nslots * sizeof *seen.slots : 0);
    cb_cf_attrs_close(&attrs);
    return st;
}

void cubed_cf_packing_free(cubed_cf_packing *packing)
{
    owned_packing *p = (owned_packing *)packing;
    if (!p) return;
    const cubed_allocator alloc = p->alloc;
    cb_free(&alloc, p, p->size);
}

bool cubed_cf_packing_equal(const cubed_cf_packing *a, const cubed_cf_packing *b)
{
    if (a->stored != b->stored || a->dtype != b->dtype || a->nmissing != b->nmissing ||
        a->has_scale != b->has_scale || a->has_offset != b->has_offset || a->is_bool != b->is_bool)
        return false;
    for (int i = 0; i < a->nmissing; i++) {
        if (!same_number(&a->missing[i], &b->missing[i])) return false;
    }
    return (!a->has_scale || same_operand(&a->scale, &b->scale, a->dtype)) &&
           (!a->has_offset || same_operand(&a->offset, &b->offset, a->dtype));
}
