#include "cf/cf_attribute.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "dtype/attribute.h"
#include "dtype/scalar.h"
#include "plan/graph.h"

cubed_status cb_cf_attrs_open(cb_cf_attrs *attrs, const cubed_array *x, cubed_error *err)
{
    const char *text = cubed_array_attrs(x);
    *attrs = (cb_cf_attrs){.of = x};
    return cb_json_parse("attributes", text, strlen(text), &attrs->json, err);
}

void cb_cf_attrs_close(cb_cf_attrs *attrs)
{
    json_decref(attrs->json);
    attrs->json = NULL;
}

size_t cb_cf_count(const cb_cf_attrs *attrs, const char *name)
{
    const json_t *v = json_object_get(attrs->json, name);
    return json_is_array(v) ? json_array_size(v) : v != NULL;
}

const char *cb_cf_text(const cb_cf_attrs *attrs, const char *name)
{
    return json_string_value(json_object_get(attrs->json, name));
}

cb_cf_numbers cb_cf_get_numbers(const cb_cf_attrs *attrs, const char *name)
{
    const cubed_dtype dtype = attrs->of->node.dtype;
    return (cb_cf_numbers){.json = json_object_get(attrs->json, name),
                           .of = dtype,
                           .type = cb_attribute_type_of(attrs->json, name, dtype)};
}

bool cb_cf_get_number(const cb_cf_attrs *attrs, const char *name, size_t i, cubed_cf_number *out)
{
    const cb_cf_numbers list = cb_cf_get_numbers(attrs, name);
    return cb_cf_number_at(&list, i, out);
}

bool cb_cf_number_at(const cb_cf_numbers *list, size_t i, cubed_cf_number *out)
{
    const json_t *v = list->json;
    if (json_is_array(v)) v = json_array_get(v, i);
    *out = (cubed_cf_number){.dtype = CUBED_FLOAT64, .weak = true};
    if (!v) return false;
    if (list->type.is_stated && list->type.kind == CUBED_ATTRIBUTE_NUMBERS) {
        out->dtype = list->type.dtype;
        out->weak = false;
        return cb_attribute_number(v, list->type.dtype, &out->value);
    }
    if (cb_json_big(v)) {
        out->dtype = CUBED_UINT64;
        out->value.u64 = strtoull(cb_json_big(v), NULL, 10);
        return cb_json_big(v)[0] != '-';
    }
    if (json_is_string(v)) {
        /* Only floating-point numbers may be written as strings: "1e20" is not an integer. */
        return cubed_dtype_kind(list->of) == CUBED_KIND_FLOAT &&
               cb_attribute_number(v, CUBED_FLOAT64, &out->value);
    }
    if (json_is_boolean(v)) {
        out->dtype = CUBED_BOOL;
        out->value.b = json_is_true(v);
        return list->of == CUBED_BOOL;
    }
    if (json_is_integer(v)) {
        out->dtype = CUBED_INT64;
        out->value.i64 = json_integer_value(v);
        return true;
    }
    out->value.f64 = json_number_value(v);
    return json_is_real(v);
}

bool cb_cf_equal_element(const cubed_cf_number *n, cubed_dtype dtype, cubed_scalar *out)
{
    cubed_scalar back;
    const cubed_kind kind = cubed_dtype_kind(dtype);
    if (cb_cf_is_float(n->dtype) && !cb_cf_is_float(dtype)) {
        cb_scalar_cast(n->dtype, &n->value, CUBED_FLOAT64, &back);
        /* Casting a number outside these limits to an integer is undefined. */
        const double most = kind == CUBED_KIND_UINT ? 0x1p64 : 0x1p63;
        if (!(back.f64 >= (kind == CUBED_KIND_UINT ? 0 : -most) && back.f64 < most)) return false;
    }
    if ((n->dtype == CUBED_UINT64 && kind == CUBED_KIND_INT && n->value.u64 > INT64_MAX) ||
        (kind == CUBED_KIND_UINT && cubed_dtype_kind(n->dtype) == CUBED_KIND_INT)) {
        cb_scalar_cast(n->dtype, &n->value, CUBED_INT64, &back);
        if (back.i64 < 0) return false;
    }
    cb_scalar_cast(n->dtype, &n->value, dtype, out);
    cb_scalar_cast(dtype, out, n->dtype, &back);
    if (cb_cf_is_float(n->dtype) && !cb_cf_is_float(dtype) && out->i64 == 0) {
        cb_scalar_cast(n->dtype, &n->value, CUBED_FLOAT64, &back);
        return back.f64 == 0; /* also true for -0.0 */
    }
    return memcmp(&back, &n->value, cubed_dtype_size(n->dtype)) == 0;
}
