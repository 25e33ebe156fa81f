#include "info_details.h"

#include <string.h>

#include "cli.h"
#include "cli_values.h"
#include "dates.h"
#include "lang/lang_arrays.h"

/* Maximum number of arrays and groups whose attributes and ranges are shown; width of the column of names. */
enum { MOST_ARRAYS = 500, NAME_COLUMN = 16 };

static bool is_coordinate(const cubed_zarr_info *x)
{
    const char *slash = strrchr(x->path, '/'), *name = slash ? slash + 1 : x->path;
    if (!x->is_array || x->ndim != 1 || x->shape[0] == 0 || !x->dim_names) return false;
    return x->dim_names[0] && strcmp(x->dim_names[0], name) == 0;
}

void info_details_add(info_details *d, const cubed_zarr_info *x, json_t *json)
{
    if (d->n == MOST_ARRAYS || x->unsupported) return;
    d->list = cli_resize(d->list, (size_t)(d->n + 1) * sizeof *d->list);
    d->list[d->n++] = (info_detail){.path = cli_strdup(x->path),
                                    .attrs = cli_strdup(x->attrs ? x->attrs : "{}"),
                                    .is_coordinate = is_coordinate(x),
                                    .has_attrs = x->is_array && x->attrs && *x->attrs &&
                                                 strcmp(x->attrs, "{}") != 0,
                                    .json = json};
}

void info_details_free(info_details *d)
{
    for (int i = 0; i < d->n; i++) {
        cli_free(d->list[i].path);
        cli_free(d->list[i].attrs);
    }
    cli_free(d->list);
}

static cubed_array *open_array(cubed_context *ctx, const char *url, const char *path,
                               cubed_error *err)
{
    size_t begin, store;
    cubed_array *x = NULL;
    (void)cubed_url_path(url, &begin, &store);
    char *whole = *path ? cli_printf("%.*s::%s", (int)store, url, path) : cli_strdup(url);
    if (cubed_array_open(ctx, whole, &x, err) != CUBED_OK) x = NULL;
    cli_free(whole);
    return x;
}

/* Returns the fill value as JSON, or NULL if the array has no fill value, or after an error. */
static json_t *fill_of(const cubed_array *x, cubed_error *err)
{
    cubed_cf_packing *p = NULL;
    json_t *fill = NULL;
    if (cubed_cf_packing_of(x, &p, err) != CUBED_OK || !p) return NULL;
    if (p->nmissing > 0) fill = lang_element_json(p->missing[0].dtype, &p->missing[0].value);
    cubed_cf_packing_free(p);
    return fill;
}

/* Returns an element of a coordinate in readable form; NULL if it cannot be read. The caller frees the string. */
static char *element_at(cubed_context *ctx, cubed_array *x, int64_t i, cubed_error *err)
{
    const cubed_slice one = {i, 1, 1, false};
    const cli_common common = CLI_COMMON_INIT;
    cubed_array *part = NULL;
    cubed_time_axis axis;
    char *text = NULL;
    const cubed_dtype dtype = cubed_array_dtype(x);
    void *data = cli_alloc(cubed_dtype_size(dtype));
    if (cubed_slice_array(x, &one, &part, err) == CUBED_OK &&
        cli_compute(ctx, part, data, &common, err) == CUBED_OK) {
        if (dates_axis(cubed_array_attrs(x), dtype, &axis))
            text = dates_element(&axis, dtype, data, 0);
        if (!text) text = values_element(x, data, 0, true);
    }
    cubed_array_unref(part);
    cli_free(data);
    return text;
}

/* Returns the range of a coordinate, such as "58 to 50". Returns NULL if the array is not a coordinate or cannot be read. The
 * caller frees the string. */
static char *range_of(cubed_context *ctx, cubed_array *x, const info_detail *d, cubed_error *err)
{
    if (!d->is_coordinate) return NULL;
    char *first = element_at(ctx, x, 0, err);
    char *last = first ? element_at(ctx, x, cubed_array_shape(x)[0] - 1, err) : NULL;
    char *range = last ? cli_printf("%s to %s", first, last) : NULL;
    if (range && d->json) json_object_set_new(d->json, "range", json_pack("[s, s]", first, last));
    cli_free(first);
    cli_free(last);
    return range;
}

static char *add_part(char *text, const char *name, const char *value)
{
    char *longer =
        cli_printf("%s%s%s%s%s", text, *text ? "; " : "", name, *name ? ": " : "", value);
    cli_free(text);
    return longer;
}

/* Returns a description of an array, such as "range 0 to 357.5; units: degrees_east; fill value: -999". Returns "" if nothing is
 * known. The caller frees the string. */
static char *describe(const info_detail *d, const char *range, json_t *fill)
{
    char *text = cli_strdup("");
    json_t *attrs = lang_attributes(d->attrs), *v;
    const char *name;
    if (range) text = add_part(text, "", range);
    json_object_foreach(attrs, name, v)
    {
        if (name[0] == '_' || strcmp(name, "missing_value") == 0) continue;
        char *dumped = json_is_string(v) ? NULL : cli_must(json_dumps(v, JSON_ENCODE_ANY));
        text = add_part(text, name, dumped ? dumped : json_string_value(v));
        cli_free(dumped);
    }
    if (fill) {
        char *dumped = cli_must(json_dumps(fill, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)));
        text = add_part(text, "missing values",
                        json_is_string(fill) ? json_string_value(fill) : dumped);
        cli_free(dumped);
    }
    json_decref(attrs);
    return text;
}

void info_details_show(const info_details *d, cubed_context *ctx, const char *url, FILE *f)
{
    bool any = false;
    for (int i = 0; i < d->n; i++) {
        const info_detail *at = &d->list[i];
        const bool is_read = at->is_coordinate || at->has_attrs;
        cubed_error err = CUBED_ERROR_INIT;
        cubed_array *x = is_read ? open_array(ctx, url, at->path, &err) : NULL;
        json_t *fill = x ? fill_of(x, &err) : NULL;
        char *range = x ? range_of(ctx, x, at, &err) : NULL;
        if (err.message[0])
            cli_say(stderr, "cubed info: warning: details of %s are left out: %s\n",
                    *at->path ? at->path : "the array", err.message);
        if (at->json && fill) json_object_set(at->json, "fill_value", fill);
        char *text = describe(at, range, fill);
        if (*text && !at->json) {
            char *name = cli_visible(*at->path ? at->path : "/", false);
            char *visible = cli_visible(text, false);
            if (!any) fputs("ranges and attributes:\n", f);
            any = true;
            cli_put_entry(f, name, visible, NAME_COLUMN);
            cli_free(visible);
            cli_free(name);
        }
        cli_free(text);
        cli_free(range);
        json_decref(fill);
        cubed_array_unref(x);
    }
}

const char *info_file_format(const char *url)
{
    unsigned char head[8] = {0};
    size_t path, store;
    (void)cubed_url_path(url, &path, &store);
    char *file = cli_printf("%.*s", (int)store, url);
    FILE *f = strstr(file, "://") ? NULL : fopen(file, "rb");
    const size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    if (f) fclose(f);
    cli_free(file);
    if (n == sizeof head && memcmp(head, "\x89HDF\r\n\x1a\n", sizeof head) == 0)
        return "NetCDF-4 or HDF5 file";
    if (n > 4 && memcmp(head, "CDF", 3) == 0) return "NetCDF-3 file";
    if (n > 4 && memcmp(head, "GRIB", 4) == 0) return "GRIB file";
    return NULL;
}
