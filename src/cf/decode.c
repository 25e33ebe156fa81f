/* Converts packed elements to values. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "cf/cf_attribute.h"
#include "cubed/cf.h"
#include "dtype/scalar.h"
#include "ops/steps.h"
#include "plan/graph.h"

/* Returns true if `to` can represent every number of type `from`. */
static bool is_exact(cubed_dtype from, cubed_dtype to)
{
    if (from == to) return true;
    return cb_cf_is_float(to) && cubed_dtype_size(to) > cubed_dtype_size(from);
}

/* Returns a mask of the missing elements, or NULL if no element can be missing. `raw` has the stored elements; `y` has their
 * values in the result's type. Xarray compares values. This function compares stored elements, which is faster, if both
 * comparisons have the same result. */
static cubed_array *is_missing(cb_steps *s, const cubed_cf_packing *p, cubed_array *raw,
                               cubed_array *y)
{
    cubed_array *any = NULL;
    for (int i = 0; i < p->nmissing; i++) {
        const cubed_cf_number *n = &p->missing[i];
        cubed_scalar key;
        cubed_array *hit;
        if (is_exact(raw->node.dtype, y->node.dtype)) {
            if (!cb_cf_equal_element(n, raw->node.dtype, &key)) continue;
            hit =
                cb_step_op(s, CUBED_OP_EQUAL, raw, cb_step_scalar(s, raw->node.dtype, &key), NULL);
        } else {
            cubed_dtype in = n->weak ? y->node.dtype : cubed_dtype_promote(y->node.dtype, n->dtype);
            cb_scalar_cast(n->dtype, &n->value, in, &key);
            hit = cb_step_op(s, CUBED_OP_EQUAL, cb_step_cast(s, y, in), cb_step_scalar(s, in, &key),
                             NULL);
        }
        any = any ? cb_step_op(s, CUBED_OP_LOGICAL_OR, any, hit, NULL) : hit;
    }
    return any;
}

/* Computes op(y, number). The number is rounded to the type of y. */
static cubed_array *with_number(cb_steps *s, cubed_op op, cubed_array *y, const cubed_cf_number *n)
{
    cubed_scalar v;
    if (!y) return NULL;
    const cubed_dtype dtype = y->node.dtype;
    const cubed_dtype in = n->weak ? dtype : cubed_dtype_promote(dtype, n->dtype);
    cb_scalar_cast(n->dtype, &n->value, in, &v);
    y = cb_step_op(s, op, cb_step_cast(s, y, in), cb_step_scalar(s, in, &v), NULL);
    return cb_step_cast(s, y, dtype);
}

static cubed_status check_types(const cubed_array *x, const cubed_cf_packing *p, cubed_error *err)
{
    const cubed_dtype used[] = {x->node.dtype, p->stored, p->dtype,
                                p->has_scale ? p->scale.dtype : p->dtype,
                                p->has_offset ? p->offset.dtype : p->dtype};
    char text[CUBED_DTYPE_TEXT_CAP];
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        const bool known = cubed_dtype_is_valid(used[i]);
        if (!known || cubed_dtype_kind(used[i]) > CUBED_KIND_COMPLEX)
            return cb_fail(err, CUBED_E_TYPE, "unpack: the type is %s, expected numbers",
                           known ? cubed_dtype_text(used[i], text) : "unknown");
    }
    for (int i = 0; i < p->nmissing; i++) {
        if (!cubed_dtype_is_valid(p->missing[i].dtype) ||
            cubed_dtype_kind(p->missing[i].dtype) > CUBED_KIND_COMPLEX)
            return cb_fail(err, CUBED_E_TYPE, "unpack: missing value %d is not a number", i);
    }
    return CUBED_OK;
}

/* Writes the attributes of x that describe values to *out as a JSON string. */
static cubed_status value_attrs(const cubed_array *x, const cubed_cf_packing *p, cb_buf *out,
                                cubed_error *err)
{
    cb_cf_attrs attrs;
    const char *name;
    json_t *value;
    void *next;
    cubed_status st = cb_cf_attrs_open(&attrs, x, err);
    if (st != CUBED_OK) goto out;
    json_object_foreach_safe(attrs.json, next, name, value)
    {
        if (cubed_cf_packing_describes(p, name)) json_object_del(attrs.json, name);
    }
    if (!cb_json_dump(attrs.json, 0, out))
        st = cb_fail(err, CUBED_E_NOMEM, "out of memory: attributes");
out:
    cb_cf_attrs_close(&attrs);
    return st;
}

cubed_status cubed_cf_unpack(cubed_array *x, const cubed_cf_packing *p, cubed_array **out,
                             cubed_error *err)
{
    cubed_error own = CUBED_ERROR_INIT;
    cb_steps s = {.ctx = x->ctx, .err = err ? err : &own, .st = CUBED_OK};
    cubed_array *y = NULL, *raw, *missing;
    cb_buf attrs;
    CB_TRY(check_types(x, p, err));
    cb_buf_init(&attrs, &x->ctx->alloc);
    s.st = value_attrs(x, p, &attrs, s.err);
    raw = cb_step_cast(&s, x, p->stored);
    /* Half precision is converted to float32 for the operations. */
    const bool half = cb_cf_is_float(p->dtype) && cubed_dtype_size(p->dtype) == 2;
    const cubed_dtype dtype = half ? CUBED_FLOAT32 : p->dtype;
    cubed_scalar fill = p->fill;
    if (half) cb_scalar_cast(p->dtype, &p->fill, dtype, &fill);
    y = cb_step_cast(&s, raw, dtype);
    missing = s.st == CUBED_OK ? is_missing(&s, p, raw, y) : NULL;
    if (missing) y = cb_step_op(&s, CUBED_OP_WHERE, missing, cb_step_scalar(&s, dtype, &fill), y);
    if (p->has_scale) y = with_number(&s, CUBED_OP_MULTIPLY, y, &p->scale);
    if (p->has_offset) y = with_number(&s, CUBED_OP_ADD, y, &p->offset);
    y = cb_step_cast(&s, y, p->is_bool ? CUBED_BOOL : p->dtype);
    if (s.st == CUBED_OK) {
        cubed_array *described = NULL;
        y = cb_step(&s, cubed_array_with_attrs(y, attrs.data, &described, s.err), &described);
    }
    cb_buf_free(&attrs);
    return cb_steps_end(&s, y, out);
}

cubed_status cubed_cf_decode(cubed_array *x, cubed_array **out, cubed_error *err)
{
    cubed_cf_packing *p;
    CB_TRY(cubed_cf_packing_of(x, &p, err));
    if (!p) {
        *out = cubed_array_ref(x);
        return CUBED_OK;
    }
    const cubed_status st = cubed_cf_unpack(x, p, out, err);
    cubed_cf_packing_free(p);
    return st;
}
