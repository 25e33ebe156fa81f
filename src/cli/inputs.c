#include "inputs.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "cli.h"

char *inputs_join(const char *url, const char *name)
{
    const char *sep = strstr(url, "::");
    if (!sep) return cli_printf("%s::%s", url, name);
    return cli_printf("%s%s%s", url, sep[2] ? "/" : "", name);
}

bool inputs_add(inputs *in, const char *spec)
{
    size_t n = 0;
    if (in->nspecs == 64) return false;
    while (isalnum((unsigned char)spec[n]) || spec[n] == '_') n++;
    bool named = n > 0 && spec[n] == '=' && !isdigit((unsigned char)spec[0]);
    in->spec[in->nspecs].name = named ? cli_printf("%.*s", (int)n, spec) : NULL;
    in->spec[in->nspecs++].url = named ? spec + n + 1 : spec;
    return true;
}

void inputs_free(inputs *in)
{
    for (int i = 0; i < in->nspecs; i++) cli_free(in->spec[i].name);
    for (int i = 0; i < in->nopen; i++) {
        cli_free(in->open[i].name);
        cubed_array_unref(in->open[i].array);
    }
    cli_free(in->known);
}

const char *inputs_group(const inputs *in)
{
    for (int i = 0; i < in->nspecs; i++) {
        if (!in->spec[i].name) return in->spec[i].url;
    }
    return NULL;
}

/* --- CF decoding: packed values, missing ones (CF Conventions, section 8.1 and 2.5.1) ---------------- */

static bool number(const json_t *v, double *out)
{
    if (json_is_string(v)) { /* how this project keeps a NaN in JSON */
        if (strcmp(json_string_value(v), "NaN") != 0) return false;
        *out = (double)NAN;
        return true;
    }
    if (json_is_array(v) && json_array_size(v) == 1) v = json_array_get(v, 0);
    if (!json_is_number(v)) return false;
    *out = json_number_value(v);
    return true;
}

/* x = op(x, value), as a float of x's precision. */
static cubed_status with_scalar(cubed_op op, cubed_array **x, double value, cubed_error *err)
{
    cubed_dtype dtype = cubed_array_dtype(*x);
    cubed_scalar s = {.f64 = value};
    cubed_array *scalar, *y;
    if (dtype == CUBED_FLOAT32) s.f32 = (float)value;
    cubed_status st =
        cubed_array_full(cubed_array_context(*x), dtype, 0, NULL, NULL, &s, &scalar, err);
    if (st != CUBED_OK) return st;
    cubed_array *args[2] = {*x, scalar};
    st = cubed_elementwise(op, args, 2, &y, err);
    cubed_array_unref(scalar);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = y;
    return CUBED_OK;
}

/* Where the stored value is `fill`, NaN. The comparison is made in the stored type. */
static cubed_status mask_fill(cubed_array *raw, double fill, cubed_array **x, cubed_error *err)
{
    cubed_array *key = NULL, *wide = NULL, *hit = NULL, *nan = NULL, *y = NULL;
    cubed_scalar s = {.f64 = fill}, missing = {.f64 = (double)NAN};
    cubed_context *ctx = cubed_array_context(raw);
    if (isnan(fill)) return CUBED_OK; /* is NaN already */
    cubed_status st = cubed_array_full(ctx, CUBED_FLOAT64, 0, NULL, NULL, &s, &wide, err);
    if (st == CUBED_OK) st = cubed_astype(wide, cubed_array_dtype(raw), &key, err);
    cubed_array *compare[2] = {raw, key};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_EQUAL, compare, 2, &hit, err);
    if (cubed_array_dtype(*x) == CUBED_FLOAT32) missing.f32 = NAN;
    if (st == CUBED_OK)
        st = cubed_array_full(ctx, cubed_array_dtype(*x), 0, NULL, NULL, &missing, &nan, err);
    cubed_array *args[3] = {hit, nan, *x};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_WHERE, args, 3, &y, err);
    if (st == CUBED_OK) {
        cubed_array_unref(*x);
        *x = y;
    }
    cubed_array_unref(key);
    cubed_array_unref(wide);
    cubed_array_unref(hit);
    cubed_array_unref(nan);
    return st;
}

static cubed_status decode(cubed_array **x, cubed_error *err)
{
    static const char *const fills[] = {"_FillValue", "missing_value"};
    json_t *attrs = json_loads(cubed_array_attrs(*x), 0, NULL);
    double scale = 1, offset = 0, fill;
    bool scaled = number(json_object_get(attrs, "scale_factor"), &scale);
    bool shifted = number(json_object_get(attrs, "add_offset"), &offset);
    bool filled = number(json_object_get(attrs, fills[0]), &fill) ||
                  number(json_object_get(attrs, fills[1]), &fill);
    cubed_status st = CUBED_OK;
    if (!scaled && !shifted && !filled) goto out;
    cubed_dtype from = cubed_array_dtype(*x);
    cubed_array *raw = cubed_array_ref(*x), *y = NULL;
    bool keep = from == CUBED_FLOAT32 && !scaled && !shifted;
    st = cubed_astype(*x, keep ? from : CUBED_FLOAT64, &y, err);
    for (int k = 0; k < 2 && st == CUBED_OK; k++) {
        if (number(json_object_get(attrs, fills[k]), &fill)) st = mask_fill(raw, fill, &y, err);
    }
    if (st == CUBED_OK && scaled) st = with_scalar(CUBED_OP_MULTIPLY, &y, scale, err);
    if (st == CUBED_OK && shifted) st = with_scalar(CUBED_OP_ADD, &y, offset, err);
    if (st == CUBED_OK) {
        static const char *const packing[] = {
            "scale_factor", "add_offset", "_FillValue", "missing_value",
            "valid_range",  "valid_min",  "valid_max",  "number_of_significant_digits"};
        cubed_array *named = NULL;
        for (size_t k = 0; k < sizeof packing / sizeof *packing; k++)
            json_object_del(attrs, packing[k]);
        char *text = json_dumps(attrs, JSON_REAL_PRECISION(17));
        st = cubed_array_with_attrs(y, text ? text : "{}", &named, err);
        cli_free(text);
        if (st == CUBED_OK) {
            cubed_array_unref(y);
            y = named;
        }
    }
    cubed_array_unref(raw);
    if (st == CUBED_OK) {
        cubed_array_unref(*x);
        *x = y;
    } else {
        cubed_array_unref(y);
    }
out:
    json_decref(attrs);
    return st;
}

/* --- Names ------------------------------------------------------------------------------------------- */

static cubed_status add_known(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    inputs *in = ctx;
    (void)err;
    const char *slash = strrchr(info->path, '/');
    if (!info->is_array) return CUBED_OK;
    char *longer = cli_printf("%s%s%s", in->known ? in->known : "", in->known ? ", " : "",
                              slash ? slash + 1 : info->path);
    cli_free(in->known);
    in->known = longer;
    return CUBED_OK;
}

static const char *list_known(inputs *in)
{
    for (int i = 0; i < in->nspecs && !in->known; i++) {
        if (!in->spec[i].name) {
            cubed_status ignored = cubed_zarr_walk(in->ctx, in->spec[i].url, add_known, in, NULL);
            (void)ignored; /* only for the message */
        } else {
            in->known = cli_strdup(in->spec[i].name);
        }
    }
    return in->known ? in->known : "none (name some with --in)";
}

static cubed_status open_one(inputs *in, const char *name, const char *url, cubed_array **out,
                             cubed_error *err)
{
    cubed_array *x;
    cubed_status st = cubed_array_open(in->ctx, url, &x, err);
    if (st == CUBED_OK && in->decode) {
        st = decode(&x, err);
        if (st != CUBED_OK) cubed_array_unref(x);
    }
    if (st != CUBED_OK) return st;
    if (in->nopen < 256) {
        in->open[in->nopen].name = cli_strdup(name);
        in->open[in->nopen++].array = cubed_array_ref(x);
    }
    *out = x;
    return CUBED_OK;
}

cubed_status inputs_lookup(void *ctx, const char *name, cubed_array **out, const char **known,
                           cubed_error *err)
{
    inputs *in = ctx;
    for (int i = 0; i < in->nopen; i++) {
        if (strcmp(in->open[i].name, name) != 0) continue;
        *out = cubed_array_ref(in->open[i].array);
        return CUBED_OK;
    }
    for (int i = 0; i < in->nspecs; i++) {
        if (in->spec[i].name && strcmp(in->spec[i].name, name) == 0)
            return open_one(in, name, in->spec[i].url, out, err);
    }
    for (int i = 0; i < in->nspecs; i++) {
        if (in->spec[i].name) continue;
        cubed_error why = CUBED_ERROR_INIT;
        char *url = inputs_join(in->spec[i].url, name);
        cubed_status st = open_one(in, name, url, out, &why);
        cli_free(url);
        if (st == CUBED_OK) return CUBED_OK;
        if (st != CUBED_E_NOT_FOUND) {
            *err = why;
            return st;
        }
    }
    *out = NULL;
    *known = list_known(in);
    return CUBED_OK;
}
