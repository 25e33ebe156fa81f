#include "grid_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "lang/field_axes.h"
#include "lang/lang_arrays.h"

/* Names of the axes of a file, and of their bounds. */
typedef struct axes {
    char *name[2], *bounds[2]; /* latitudes, longitudes; NULL: not found */
} axes;

static cubed_status note_axis(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    axes *a = ctx;
    (void)err;
    if (!info->is_array || strchr(info->path, '/') || info->ndim != 1) return CUBED_OK;
    json_t *attrs = info->attrs ? lang_attributes(info->attrs) : NULL;
    const int kind = field_axis_is_rotated(info->path, attrs)
                         ? FIELD_KINDS
                         : (int)field_axis_kind(info->path, attrs);
    if ((kind == FIELD_LAT || kind == FIELD_LON) && !a->name[kind]) {
        const char *bounds = lang_attribute_text(attrs, "bounds");
        a->name[kind] = cli_strdup(info->path);
        a->bounds[kind] = bounds ? cli_strdup(bounds) : NULL;
    }
    json_decref(attrs);
    return CUBED_OK;
}

/* Appends "key = numbers" of array `name` in degrees; nothing without a name. *n is the number of elements. */
static cubed_status append(cubed_context *ctx, const char *store, const char *key, const char *name,
                           char **text, int64_t *n, cubed_error *err)
{
    cubed_array *x = NULL, *wide = NULL;
    double *data = NULL;
    *n = 1;
    if (!name) return CUBED_OK;
    char *url = cli_join_url(store, name);
    cubed_status st = cubed_array_open(ctx, url, &x, err);
    if (st == CUBED_OK) st = cubed_astype(x, CUBED_FLOAT64, &wide, err);
    if (st == CUBED_OK) {
        json_t *attrs = lang_attributes(cubed_array_attrs(x));
        const char *units = lang_attribute_text(attrs, "units");
        for (int d = 0; d < cubed_array_ndim(x); d++) *n *= cubed_array_shape(x)[d];
        data = cli_alloc((size_t)*n * sizeof *data);
        st = lang_compute_small(ctx, wide, data, err);
        const double factor =
            units && strncmp(units, "rad", 3) == 0 ? 180 / 3.14159265358979323846 : 1;
        enum { NUMBER = 26 };
        const size_t used = strlen(*text), room = used + strlen(key) + (size_t)*n * NUMBER + 8;
        *text = cli_resize(*text, room);
        size_t at = used;
        at += (size_t)snprintf(*text + at, room - at, "%s =", key);
        for (int64_t i = 0; i < *n && st == CUBED_OK; i++)
            at += (size_t)snprintf(*text + at, room - at, " %.17g", data[i] * factor);
        snprintf(*text + at, room - at, "\n");
        json_decref(attrs);
    }
    cli_free(data);
    cubed_array_unref(wide);
    cubed_array_unref(x);
    cli_free(url);
    return st;
}

/* Writes the axes of a file or store as a grid description. */
static cubed_status describe(cubed_context *ctx, const char *store, char **text, cubed_error *err)
{
    static const char *const keys[2][2] = {{"yvals", "ybounds"}, {"xvals", "xbounds"}};
    axes a = {{NULL, NULL}, {NULL, NULL}};
    int64_t n[2] = {0, 0}, ignored;
    char *body = cli_strdup("");
    cubed_status st = cubed_zarr_walk(ctx, store, false, note_axis, &a, err);
    if (st == CUBED_OK && (!a.name[0] || !a.name[1]))
        st = cli_reject(err,
                        "%s: there are no axes of latitude and longitude, expected 1-d coordinates "
                        "with the attributes standard_name or units of CF, or a grid description",
                        store);
    for (int k = 0; k < 2 && st == CUBED_OK; k++) {
        st = append(ctx, store, keys[k][0], a.name[k], &body, &n[k], err);
        if (st == CUBED_OK) st = append(ctx, store, keys[k][1], a.bounds[k], &body, &ignored, err);
    }
    if (st == CUBED_OK)
        *text = cli_printf("gridtype = lonlat\nxsize = %lld\nysize = %lld\n%s", (long long)n[1],
                           (long long)n[0], body);
    for (int k = 0; k < 2; k++) {
        cli_free(a.name[k]);
        cli_free(a.bounds[k]);
    }
    cli_free(body);
    return st;
}

/* Returns whether a local file begins like a grid description. Other files may be large, and are not read whole. */
static bool is_description(const char *file)
{
    char begin[4096];
    FILE *f = cli_is_url(file) ? NULL : fopen(file, "rb");
    const size_t n = f ? fread(begin, 1, sizeof begin - 1, f) : 0;
    if (f) fclose(f);
    begin[n] = 0;
    return strlen(begin) == n && strstr(begin, "gridtype");
}

char *grid_file_text(const char *word)
{
    cubed_error err = CUBED_ERROR_INIT;
    cli_common common = CLI_COMMON_INIT;
    cubed_context *ctx = NULL;
    char *text = NULL;
    void *data = NULL;
    size_t size = 0;
    if (!cli_is_url(word) && !cli_is_there(word)) return cli_strdup(word);
    int code = cli_context("remap", &common, &ctx);
    if (code != EXIT_SUCCESS) exit(code);
    if (is_description(word) && cli_read_file(word, &data, &size) == 0)
        text = cli_printf("%.*s", (int)(size < INT_MAX ? size : INT_MAX), (const char *)data);
    cli_free(data);
    if (!text && describe(ctx, word, &text, &err) != CUBED_OK) exit(cli_report("remap", &err));
    /* The text becomes a string of an expression. Descriptions need no quotes. */
    for (char *c = text; *c; c++) {
        if (*c == '"') *c = ' ';
    }
    cubed_context_unref(ctx);
    return text;
}
