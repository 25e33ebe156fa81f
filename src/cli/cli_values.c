#include "cli_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "lang/lang_arrays.h"

enum { SUMMARISED = 1000, EDGE = 3, LINE = 79, ELEMENT = 96 };

/* Maximum number of significant digits: SOME for elements of arrays, ALL for scalars. */
enum { SOME = 8, ALL = 17 };

/* Formats the shortest number, of at most `most` digits, that parses to the same value. */
static void real_text(double v, bool single, int most, char *text, size_t cap)
{
    if (isnan(v)) {
        snprintf(text, cap, "nan");
        return;
    }
    int digits = 1;
    for (; digits < most; digits++) {
        snprintf(text, cap, "%.*g", digits, v);
        double back = strtod(text, NULL);
        if (single ? (float)back == (float)v : back == v) break;
    }
    /* Like NumPy, writes values from 1 to 1e16 without an exponent. */
    int whole = fabs(v) >= 1 && fabs(v) < 1e16 ? (int)floor(log10(fabs(v))) + 1 : 1;
    snprintf(text, cap, "%.*g", digits > whole ? digits : whole, v);
}

/* Returns the element in quotes; the caller frees the string. */
static char *quoted(cubed_dtype dtype, const void *p)
{
    size_t n = cubed_element_text(dtype, p, NULL, 0);
    char *text = cli_alloc(n + 3);
    bool bare = cubed_dtype_family(dtype) == CUBED_TIMEDELTA64;
    text[0] = '\'';
    cubed_element_text(dtype, p, text + !bare, n + 1);
    if (!bare) text[n + 1] = '\'';
    return text;
}

static void number_text(cubed_dtype dtype, const void *p, int most, char text[ELEMENT])
{
    cubed_scalar v;
    char re[40], im[40];
    memcpy(&v, p, cubed_dtype_size(dtype));
    switch (dtype) {
    case CUBED_BOOL: snprintf(text, ELEMENT, v.b ? "True" : "False"); return;
    case CUBED_INT8: snprintf(text, ELEMENT, "%d", v.i8); return;
    case CUBED_INT16: snprintf(text, ELEMENT, "%d", v.i16); return;
    case CUBED_INT32: snprintf(text, ELEMENT, "%d", v.i32); return;
    case CUBED_INT64: snprintf(text, ELEMENT, "%" PRId64, v.i64); return;
    case CUBED_UINT8: snprintf(text, ELEMENT, "%u", v.u8); return;
    case CUBED_UINT16: snprintf(text, ELEMENT, "%u", v.u16); return;
    case CUBED_UINT32: snprintf(text, ELEMENT, "%u", v.u32); return;
    case CUBED_UINT64: snprintf(text, ELEMENT, "%" PRIu64, v.u64); return;
    case CUBED_FLOAT16:
    case CUBED_BFLOAT16:
        real_text(cubed_half_value(dtype, v.u16), true, most < 5 ? most : 5, text, ELEMENT);
        return;
    case CUBED_FLOAT32: real_text((double)v.f32, true, most, text, ELEMENT); return;
    case CUBED_FLOAT64: real_text(v.f64, false, most, text, ELEMENT); return;
    case CUBED_COMPLEX64:
        real_text((double)v.c64[0], true, most, re, sizeof re);
        real_text((double)v.c64[1], true, most, im, sizeof im);
        break;
    default:
        real_text(v.c128[0], false, most, re, sizeof re);
        real_text(v.c128[1], false, most, im, sizeof im);
        break;
    }
    snprintf(text, ELEMENT, "%s%s%sj", re, im[0] == '-' ? "" : "+", im);
}

char *values_element(const cubed_array *x, const void *data, int64_t i, bool brief)
{
    const cubed_dtype dtype = cubed_array_dtype(x);
    const char *p = (const char *)data + (size_t)i * cubed_dtype_size(dtype);
    char number[ELEMENT];
    if (cubed_dtype_kind(dtype) <= CUBED_KIND_COMPLEX) {
        number_text(dtype, p, brief ? SOME : ALL, number);
        return cli_strdup(number);
    }
    const size_t n = cubed_element_text(dtype, p, NULL, 0);
    char *text = cli_alloc(n + 1);
    cubed_element_text(dtype, p, text, n + 1);
    return text;
}

typedef struct printer {
    FILE *f; /* output; NULL while only the widths of columns are computed */
    const cubed_array *x;
    bool brief; /* omit the middle of long axes */
    int width;  /* width of the widest element */
    int column;
} printer;

static void put(printer *w, const char *text, int width)
{
    if (w->f) w->column += fprintf(w->f, "%*s", width, text);
}

static void new_line(printer *w, int indent)
{
    if (w->f) fputc('\n', w->f);
    w->column = 0;
    put(w, "", indent);
}

static void print_axis(printer *w, int d, const char *p, size_t bytes)
{
    int ndim = cubed_array_ndim(w->x);
    const int64_t *shape = cubed_array_shape(w->x);
    bool inner = d == ndim - 1;
    if (d == ndim) {
        char number[ELEMENT], *text = NULL;
        cubed_dtype dtype = cubed_array_dtype(w->x);
        if (cubed_dtype_kind(dtype) > CUBED_KIND_COMPLEX)
            text = quoted(dtype, p);
        else
            number_text(dtype, p, ndim ? SOME : ALL, number);
        int n = (int)strlen(text ? text : number);
        if (!w->f && n > w->width) w->width = n;
        put(w, text ? text : number, w->width);
        cli_free(text);
        return;
    }
    size_t step = shape[d] ? bytes / (size_t)shape[d] : 0;
    put(w, "[", 0);
    for (int64_t i = 0; i < shape[d]; i++) {
        bool gap = w->brief && i == EDGE && shape[d] > (int64_t)2 * EDGE;
        bool full = w->column + w->width + 2 > LINE;
        if (i > 0) put(w, inner && !full ? ", " : ",", 0);
        if (i > 0 && (!inner || full)) new_line(w, d + 1);
        if (gap) {
            put(w, "...", 0);
            i = shape[d] - EDGE - 1;
        } else {
            print_axis(w, d + 1, p + (size_t)i * step, step);
        }
    }
    put(w, "]", 0);
}

static size_t data_bytes(const cubed_array *x)
{
    size_t n = cubed_dtype_size(cubed_array_dtype(x));
    for (int d = 0; d < cubed_array_ndim(x); d++) n *= (size_t)cubed_array_shape(x)[d];
    return n;
}

void values_print(FILE *f, const cubed_array *x, const void *data)
{
    size_t n = data_bytes(x);
    bool brief = n / cubed_dtype_size(cubed_array_dtype(x)) > SUMMARISED;
    printer w = {.x = x, .brief = brief};
    print_axis(&w, 0, data, n);
    w.f = f;
    print_axis(&w, 0, data, n);
    fputc('\n', f);
}

static json_t *axis_json(const cubed_array *x, int d, const char *p, size_t bytes)
{
    if (d == cubed_array_ndim(x)) return cli_must(lang_element_json(cubed_array_dtype(x), p));
    int64_t n = cubed_array_shape(x)[d];
    size_t step = n ? bytes / (size_t)n : 0;
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(list, axis_json(x, d + 1, p + (size_t)i * step, step));
    return list;
}

json_t *values_json(const cubed_array *x, const void *data)
{
    return axis_json(x, 0, data, data_bytes(x));
}

json_t *values_run_json(const cubed_run_stats *s, const cubed_plan_info *p)
{
    json_t *o = json_object();
    json_object_set_new(o, "seconds", json_real(s->seconds));
    json_object_set_new(o, "tasks", json_integer(s->num_tasks));
    json_object_set_new(o, "resumed", json_integer(s->num_resumed));
    json_object_set_new(o, "stages", json_integer(p->num_stages));
    json_object_set_new(o, "retries", json_integer(s->num_retries));
    json_object_set_new(o, "backups", json_integer(s->num_backups));
    json_object_set_new(o, "throttled", json_integer((json_int_t)s->num_throttled));
    json_object_set_new(o, "throttle_limit", json_integer(s->throttle_limit));
    json_object_set_new(o, "workers", json_integer(s->num_workers));
    json_object_set_new(o, "worker_seconds", json_real(s->worker_seconds));
    json_object_set_new(o, "gb_seconds", json_real(s->gb_seconds));
    json_object_set_new(o, "queue_seconds", json_real(s->queue_seconds));
    json_object_set_new(o, "allowed_mem", json_integer((json_int_t)p->allowed_mem));
    json_object_set_new(o, "reserved_mem", json_integer((json_int_t)p->reserved_mem));
    json_object_set_new(o, "projected_mem", json_integer((json_int_t)s->projected_mem));
    json_object_set_new(o, "measured_mem", json_integer((json_int_t)s->measured_mem));
    json_object_set_new(o, "intermediate_budget", json_integer((json_int_t)p->intermediate_budget));
    json_object_set_new(o, "cache_budget", json_integer((json_int_t)p->cache_budget));
    json_object_set_new(o, "cache_peak", json_integer((json_int_t)s->cache_peak));
    json_object_set_new(o, "intermediate_peak", json_integer((json_int_t)s->intermediate_peak));
    json_object_set_new(o, "intermediate_spilled",
                        json_integer((json_int_t)s->intermediate_spilled));
    json_object_set_new(o, "bytes_read", json_integer((json_int_t)s->bytes_read));
    json_object_set_new(o, "bytes_written", json_integer((json_int_t)s->bytes_written));
    json_object_set_new(o, "stored_read", json_integer((json_int_t)s->stored_read));
    json_object_set_new(o, "stored_written", json_integer((json_int_t)s->stored_written));
    json_object_set_new(o, "peak_rss", json_integer((json_int_t)cubed_peak_rss()));
    return o;
}

json_t *values_array_json(const cubed_array *x, const void *data)
{
    json_t *o = json_object(), *shape = json_array(), *dims = json_array();
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        const char *name = cubed_array_dim_name(x, d);
        json_array_append_new(shape, json_integer(cubed_array_shape(x)[d]));
        json_array_append_new(dims, name ? json_string(name) : json_null());
    }
    char dtype[CUBED_DTYPE_TEXT_CAP];
    json_object_set_new(o, "dtype", json_string(cubed_dtype_text(cubed_array_dtype(x), dtype)));
    json_object_set_new(o, "shape", shape);
    json_object_set_new(o, "dims", dims);
    if (data) json_object_set_new(o, "data", values_json(x, data));
    return o;
}
