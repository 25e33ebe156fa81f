#include "packed.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array_steps.h"
#include "cli.h"
#include "lang/expr_json.h"
#include "lang/lang_arrays.h"

/* Range of the integers that represent values, and the integer that represents NaN. */
typedef struct codes {
    int64_t low, high, fill;
} codes;

static codes codes_of(cubed_dtype dtype)
{
    const int bits = 8 * (int)cubed_dtype_size(dtype);
    if (cubed_dtype_kind(dtype) == CUBED_KIND_UINT)
        return (codes){0, ((int64_t)1 << bits) - 2, ((int64_t)1 << bits) - 1};
    const int64_t most = ((int64_t)1 << (bits - 1)) - 1;
    return (codes){-most, most, -most - 1};
}

/* Reads "NAME=NUMBER" at *text, up to a comma or the end of the string. */
static bool read_number(const char **text, const char *name, bool *has, double *v)
{
    const size_t n = strlen(name);
    char *end;
    if (strncmp(*text, name, n) != 0 || (*text)[n] != '=' || *has) return false;
    *v = strtod(*text + n + 1, &end);
    *has = end != *text + n + 1 && (!*end || *end == ',') && isfinite(*v);
    *text = *end ? end + 1 : end;
    return *has;
}

char *packed_parse(packed *p, const char *text)
{
    static const cubed_dtype types[] = {CUBED_INT8, CUBED_INT16, CUBED_INT32, CUBED_UINT8,
                                        CUBED_UINT16};
    const size_t n = strcspn(text, ",");
    const char *at = text + n + (text[n] == ',');
    bool ok = false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char name[CUBED_DTYPE_TEXT_CAP];
        cubed_dtype_text(types[i], name);
        if (strlen(name) != n || strncmp(name, text, n) != 0) continue;
        p->dtype = types[i];
        ok = true;
    }
    while (ok && *at)
        ok = read_number(&at, "scale", &p->has_scale, &p->scale) ||
             read_number(&at, "offset", &p->has_offset, &p->offset);
    p->is_on = ok;
    if (ok && (!p->has_scale || p->scale != 0)) return NULL;
    return cli_printf("expected int8, int16, int32, uint8 or uint16, and numbers as in "
                      "int16,scale=0.01,offset=273.15: a scale is not 0");
}

void packed_free(packed *p) { cli_free(p->range); }

static bool is_float(const cubed_array *x)
{
    return cubed_dtype_kind(cubed_array_dtype(x)) == CUBED_KIND_FLOAT;
}

static bool is_empty(const cubed_array *x)
{
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        if (cubed_array_shape(x)[d] == 0) return true;
    }
    return false;
}

/* Finds the smallest and the largest value of each array, in one run for all arrays. Both are NaN if there are no values. */
static cubed_status find_ranges(packed *p, cubed_context *ctx, const cli_common *common,
                                cubed_array *const *values, int n, cubed_error *err)
{
    static const cubed_reduction ends[2] = {CUBED_REDUCE_MIN, CUBED_REDUCE_MAX};
    cubed_array **x = cli_alloc(2 * (size_t)n * sizeof *x);
    double *number = cli_alloc(2 * (size_t)n * sizeof *number);
    void **data = cli_alloc(2 * (size_t)n * sizeof *data);
    cubed_status st = CUBED_OK;
    int m = 0;
    for (int i = 0; i < 2 * n; i++) number[i] = (double)NAN;
    for (int i = 0; i < n && st == CUBED_OK; i++) {
        for (int k = 0; k < 2 && st == CUBED_OK && !is_empty(values[i]); k++) {
            cubed_array *end;
            st = cubed_nan_reduce(ends[k], values[i], NULL, &end, err);
            if (st != CUBED_OK) break;
            st = cubed_astype(end, CUBED_FLOAT64, &x[m], err);
            cubed_array_unref(end);
            if (st == CUBED_OK) data[m++] = &number[2 * i + k];
        }
    }
    if (st == CUBED_OK && m > 0) st = cli_compute_all(ctx, x, data, m, common, err);
    if (st == CUBED_OK) {
        p->range = cli_alloc((size_t)n * sizeof *p->range);
        p->n = n;
        for (size_t i = 0; i < (size_t)n; i++)
            p->range[i] = (struct packed_range){number[2 * i], number[2 * i + 1]};
    }
    for (int i = 0; i < m; i++) cubed_array_unref(x[i]);
    cli_free(x);
    cli_free(number);
    cli_free(data);
    return st;
}

/* Chooses scale and offset for a range of values. */
static cubed_status choose(const packed *p, const struct packed_range *r, const char *name,
                           double *scale, double *offset, cubed_error *err)
{
    const codes c = codes_of(p->dtype);
    const double steps = (double)(c.high - c.low);
    double low = r->low, high = r->high;
    if (isinf(low) || isinf(high))
        return cli_reject(err,
                          "--pack: %s has infinite values, which cannot be packed as integers: "
                          "replace them first, as in where(isfinite(%s), %s, nan)",
                          name, name, name);
    /* `low` is NaN if all elements are missing */
    if (isnan(low)) low = high = p->has_offset ? p->offset : 0;
    *scale = p->has_scale ? p->scale : high / steps - low / steps;
    if (p->has_offset && !p->has_scale) {
        /* With a given offset, the integer 0 represents the offset. */
        const double above = c.high > 0 ? (high - p->offset) / (double)c.high : 0;
        const double below = c.low < 0 ? (low - p->offset) / (double)c.low : 0;
        *scale = fmax(above, below);
    }
    if (*scale == 0 || !isnormal(*scale)) *scale = 1;
    *offset = p->has_offset ? p->offset
              : low == high ? low
              : c.low < 0   ? low / 2 + high / 2
              : *scale < 0  ? high
                            : low;
    const double ends[2] = {rint((low - *offset) / *scale), rint((high - *offset) / *scale)};
    if (!(fmin(ends[0], ends[1]) >= (double)c.low - 0.5 &&
          fmax(ends[0], ends[1]) <= (double)c.high + 0.5))
        return cli_reject(err,
                          "--pack: %s has values from %.9g to %.9g, but scale %.9g and offset %.9g "
                          "reach from %.9g to %.9g: leave them out, or give others",
                          name, low, high, *scale, *offset,
                          *offset + *scale * (double)(*scale > 0 ? c.low : c.high),
                          *offset + *scale * (double)(*scale > 0 ? c.high : c.low));
    return CUBED_OK;
}

static cubed_status with_number(cubed_op op, cubed_array **x, double number, cubed_error *err)
{
    return step_with_number(op, x, CUBED_FLOAT64, (cubed_scalar){.f64 = number}, err);
}

/* Replaces NaN in *x by a number. */
static cubed_status fill_missing(cubed_array **x, double number, cubed_error *err)
{
    const cubed_scalar s = {.f64 = number};
    cubed_array *fill = NULL, *missing = NULL, *y = NULL;
    cubed_status st =
        cubed_array_full(cubed_array_context(*x), CUBED_FLOAT64, 0, NULL, NULL, &s, &fill, err);
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_ISNAN, x, 1, &missing, err);
    cubed_array *args[3] = {missing, fill, *x};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_WHERE, args, 3, &y, err);
    cubed_array_unref(fill);
    cubed_array_unref(missing);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = y;
    return CUBED_OK;
}

/* Gives packed elements the names and attributes of the values, `like`, and the attributes of the packing. */
static cubed_status describe(const cubed_array *like, const packed *p, double scale, double offset,
                             cubed_array **x, cubed_error *err)
{
    /* Attributes that refer to packed elements, not to values (CF, section 2.5.1). */
    static const char *const gone[] = {"_FillValue",  "missing_value", "valid_min",  "valid_max",
                                       "valid_range", "scale_factor",  "add_offset", "_Unsigned"};
    const char *names[CUBED_MAX_NDIM];
    cubed_array *named, *described;
    for (int d = 0; d < cubed_array_ndim(*x); d++) names[d] = cubed_array_dim_name(like, d);
    cubed_status st = cubed_array_with_dim_names(*x, names, &named, err);
    if (st != CUBED_OK) return st;
    json_t *attrs = cli_must(lang_attributes(cubed_array_attrs(like)));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        expr_json_drop_attribute(attrs, gone[i]);
    json_object_set_new(attrs, "scale_factor", json_real(scale));
    json_object_set_new(attrs, "add_offset", json_real(offset));
    json_object_set_new(attrs, "_FillValue", json_integer(codes_of(p->dtype).fill));
    char *text = cli_must(json_dumps(attrs, JSON_REAL_PRECISION(17)));
    st = cubed_array_with_attrs(named, text, &described, err);
    cli_free(text);
    json_decref(attrs);
    cubed_array_unref(named);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = described;
    return CUBED_OK;
}

/* Packs the values: rounds (x - offset) / scale to the nearest integer. */
static cubed_status pack(const packed *p, cubed_array *values, double scale, double offset,
                         cubed_array **out, cubed_error *err)
{
    const codes c = codes_of(p->dtype);
    cubed_array *x, *y = NULL;
    cubed_status st = cubed_astype(values, CUBED_FLOAT64, &x, err);
    if (st != CUBED_OK) return st;
    if (offset != 0) st = with_number(CUBED_OP_SUBTRACT, &x, offset, err);
    if (st == CUBED_OK) st = with_number(CUBED_OP_DIVIDE, &x, scale, err);
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_ROUND, &x, 1, &y, err);
    if (st == CUBED_OK) {
        cubed_array_unref(x);
        x = y;
        y = NULL;
    }
    /* Rounding may move the ends of the range beyond the last integer. */
    if (st == CUBED_OK) st = with_number(CUBED_OP_MAXIMUM, &x, (double)c.low, err);
    if (st == CUBED_OK) st = with_number(CUBED_OP_MINIMUM, &x, (double)c.high, err);
    if (st == CUBED_OK) st = fill_missing(&x, (double)c.fill, err);
    if (st == CUBED_OK) st = cubed_astype(x, p->dtype, &y, err);
    cubed_array_unref(x);
    if (st == CUBED_OK) st = describe(values, p, scale, offset, &y, err);
    if (st != CUBED_OK) {
        cubed_array_unref(y);
        return st;
    }
    *out = y;
    return CUBED_OK;
}

cubed_status packed_arrays(packed *p, cubed_context *ctx, const cli_common *common,
                           cubed_array ***arrays, const char *const *names, int n, cubed_error *err)
{
    cubed_array **values = cli_alloc((size_t)n * sizeof *values);
    int *of = cli_alloc((size_t)n * sizeof *of), m = 0;
    cubed_status st = CUBED_OK;
    for (int i = 0; i < n && st == CUBED_OK; i++) {
        if (!is_float(*arrays[i])) continue;
        of[m] = i;
        st = cubed_cf_decode(*arrays[i], &values[m], err);
        m += st == CUBED_OK;
    }
    if (st == CUBED_OK && m == 0)
        st = cli_reject(err, "--pack: no result holds floating-point numbers, which are packed");
    /* A plan that is only shown does not depend on the ranges. */
    const bool dry = common->plan_only && !common->save_plan;
    if (st == CUBED_OK && !p->range && !dry) st = find_ranges(p, ctx, common, values, m, err);
    for (int k = 0; k < m && st == CUBED_OK; k++) {
        const struct packed_range unknown = {(double)NAN, (double)NAN};
        double scale = 1, offset = 0;
        cubed_array *y;
        st = choose(p, k < p->n ? &p->range[k] : &unknown, names[of[k]], &scale, &offset, err);
        if (st == CUBED_OK) st = pack(p, values[k], scale, offset, &y, err);
        if (st != CUBED_OK) break;
        cubed_array_unref(*arrays[of[k]]);
        *arrays[of[k]] = y;
    }
    for (int k = 0; k < m; k++) cubed_array_unref(values[k]);
    cli_free(values);
    cli_free(of);
    return st;
}
