#include "lang/lang_arrays.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lang_memory.h"

/* Copies JSON text and adds an exponent to each integer beyond int64, which makes it a real. The caller frees the copy. */
static char *with_large_reals(const char *text)
{
    const size_t cap = strlen(text);
    char *out = lang_alloc(cap + cap / 8 + 1); /* "e0" is added to integers of 19 digits or more */
    size_t n = 0, span;
    bool quoted = false;
    if (!out) return NULL;
    for (; *text; text += span) {
        const size_t number = quoted ? 0 : strspn(text, "+-.0123456789eE");
        span = number ? number : quoted && text[0] == '\\' && text[1] ? 2 : 1;
        if (*text == '"') quoted = !quoted;
        memcpy(out + n, text, span);
        n += span;
        errno = 0;
        if (number && strtoll(text, NULL, 10) != 0 && errno == ERANGE &&
            strcspn(text, ".eE") >= number) {
            memcpy(out + n, "e0", 2);
            n += 2;
        }
    }
    return out;
}

json_t *lang_attributes(const char *text)
{
    json_t *attrs = json_loads(text, JSON_ALLOW_NUL, NULL);
    if (attrs) return attrs;
    char *reals = with_large_reals(text);
    attrs = reals ? json_loads(reals, JSON_ALLOW_NUL, NULL) : NULL;
    lang_free(reals);
    return attrs;
}

const char *lang_attribute_text(const json_t *attrs, const char *name)
{
    return json_string_value(json_object_get(attrs, name));
}

bool lang_is_one_of(const char *text, const char *const *list)
{
    for (; text && *list; list++) {
        if (strcmp(text, *list) == 0) return true;
    }
    return false;
}

static json_t *real_json(double v)
{
    if (isnan(v)) return json_string("NaN");
    if (isinf(v)) return json_string(v < 0 ? "-Infinity" : "Infinity");
    return json_real(v);
}

static json_t *pair_json(double re, double im)
{
    json_t *pair = json_array();
    if (json_array_append_new(pair, real_json(re)) == 0 &&
        json_array_append_new(pair, real_json(im)) == 0)
        return pair;
    json_decref(pair);
    return NULL;
}

json_t *lang_element_json(cubed_dtype dtype, const void *p)
{
    cubed_scalar v;
    if (cubed_dtype_family(dtype) == CUBED_TIMEDELTA64) {
        memcpy(&v, p, sizeof v.i64);
        return v.i64 == INT64_MIN ? json_string("NaT") : json_integer(v.i64);
    }
    if (cubed_dtype_kind(dtype) > CUBED_KIND_COMPLEX) {
        size_t n = cubed_element_text(dtype, p, NULL, 0);
        char *text = lang_alloc(n + 1);
        if (!text) return NULL;
        cubed_element_text(dtype, p, text, n + 1);
        json_t *s = json_string(text);
        lang_free(text);
        return s;
    }
    memcpy(&v, p, cubed_dtype_size(dtype));
    switch (dtype) {
    case CUBED_BOOL: return json_boolean(v.b);
    case CUBED_INT8: return json_integer(v.i8);
    case CUBED_INT16: return json_integer(v.i16);
    case CUBED_INT32: return json_integer(v.i32);
    case CUBED_INT64: return json_integer(v.i64);
    case CUBED_UINT8: return json_integer(v.u8);
    case CUBED_UINT16: return json_integer(v.u16);
    case CUBED_UINT32: return json_integer(v.u32);
    case CUBED_UINT64: {
        /* Jansson's integers are int64: larger ones become strings of digits. */
        char text[24];
        if (v.u64 <= INT64_MAX) return json_integer((json_int_t)v.u64);
        snprintf(text, sizeof text, "%" PRIu64, v.u64);
        return json_string(text);
    }
    case CUBED_FLOAT16:
    case CUBED_BFLOAT16: return real_json(cubed_half_value(dtype, v.u16));
    case CUBED_FLOAT32: return real_json((double)v.f32);
    case CUBED_FLOAT64: return real_json(v.f64);
    case CUBED_COMPLEX64: return pair_json((double)v.c64[0], (double)v.c64[1]);
    default: return pair_json(v.c128[0], v.c128[1]);
    }
}

int lang_axis_named(const cubed_array *x, const char *name)
{
    for (int d = 0; name && d < cubed_array_ndim(x); d++) {
        const char *other = cubed_array_dim_name(x, d);
        if (other && strcmp(other, name) == 0) return d;
    }
    return -1;
}

cubed_status lang_compute_small(cubed_context *ctx, cubed_array *x, void *to, cubed_error *err)
{
    cubed_plan_options options = CUBED_PLAN_OPTIONS_INIT;
    cubed_run_options run = CUBED_RUN_OPTIONS_INIT;
    const cubed_target target = {.array = x, .data = to};
    cubed_plan *plan;
    options.max_workers = 1;
    run.executor = "single-threaded";
    cubed_status st = cubed_plan_new(ctx, &target, 1, &options, &plan, err);
    if (st != CUBED_OK) return st;
    st = cubed_run(plan, &run, NULL, err);
    cubed_plan_unref(plan);
    return st;
}

cubed_status lang_fail(cubed_error *err, cubed_status status, const char *fmt, ...)
{
    if (!err) return status;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    err->status = status;
    err->os_errno = 0;
    return status;
}

/* Maximum number of elements of coordinates and of lists of weights. */
static const int64_t MOST_NUMBERS = (int64_t)1 << 28;

cubed_status lang_read_numbers(cubed_context *ctx, cubed_array *x, uint64_t memory, double **out,
                               int64_t *n, cubed_error *err)
{
    cubed_array *wide = NULL;
    *n = 1;
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        if (__builtin_mul_overflow(*n, cubed_array_shape(x)[d], n) || *n > MOST_NUMBERS)
            return lang_fail(err, CUBED_E_UNSUPPORTED,
                             "a coordinate or weights with more than %" PRId64 " elements",
                             MOST_NUMBERS);
    }
    const uint64_t need = (uint64_t)*n * sizeof **out;
    if (memory && need > memory)
        return lang_fail(err, CUBED_E_BUDGET,
                         "%" PRId64 " coordinates or weights need %" PRIu64
                         " bytes, but a task may use %" PRIu64
                         ": allow more memory (--allowed-mem, Spec.allowed_mem)",
                         *n, need, memory);
    *out = lang_alloc((size_t)need + sizeof **out);
    if (!*out) return lang_fail(err, CUBED_E_NOMEM, "out of memory: %" PRId64 " numbers", *n);
    cubed_status st = cubed_astype(x, CUBED_FLOAT64, &wide, err);
    if (st == CUBED_OK) st = lang_compute_small(ctx, wide, *out, err);
    cubed_array_unref(wide);
    return st;
}

static void release(void *owner) { lang_free(owner); }

cubed_status lang_own_array(cubed_context *ctx, int ndim, const int64_t *shape,
                            const char *const *names, const char *attrs, double *data,
                            cubed_array **out, cubed_error *err)
{
    cubed_array *x, *named;
    cubed_status st =
        cubed_array_from_memory(ctx, CUBED_FLOAT64, ndim, shape, NULL, NULL, data, &x, err);
    if (st != CUBED_OK) {
        lang_free(data);
        return st;
    }
    cubed_array_set_owner(x, release, data);
    cubed_array_set_made(x);
    if (names && st == CUBED_OK) {
        st = cubed_array_with_dim_names(x, names, &named, err);
        cubed_array_unref(x);
        x = named;
    }
    if (attrs && st == CUBED_OK) {
        st = cubed_array_with_attrs(x, attrs, &named, err);
        cubed_array_unref(x);
        x = named;
    }
    if (st == CUBED_OK) *out = x;
    return st;
}
