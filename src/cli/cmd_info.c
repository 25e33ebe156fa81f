#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { KEY_JSON_OUT = CLI_OWN_KEY };

static const cli_option own[] = {{"json", NULL, "print JSON", KEY_JSON_OUT}, {NULL, NULL, NULL, 0}};

static const cli_usage usage = {
    .synopsis = "info STORE[::PATH] [--json]",
    .text = "Shows the groups and arrays of a Zarr store (format 2 or 3): shapes, types, chunks, "
            "codecs,\nand how much is stored.",
    .examples = "  cubed info era5.zarr\n  cubed info era5.zarr::t2m --json\n",
    .own = own};

typedef struct info_state {
    json_t *list; /* NULL: print text */
} info_state;

static json_t *ints(int n, const int64_t *v)
{
    json_t *a = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(a, json_integer(v[i]));
    return a;
}

static json_t *parsed(const char *text)
{
    json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);
    return v ? v : json_string(text);
}

static void add_json(json_t *list, const cubed_zarr_info *x)
{
    json_t *o = json_object();
    json_object_set_new(o, "path", json_string(x->path));
    json_object_set_new(o, "kind", json_string(x->is_array ? "array" : "group"));
    json_object_set_new(o, "zarr_format", json_integer(x->zarr_format));
    json_object_set_new(o, "attributes", parsed(x->attrs));
    if (x->is_array) {
        json_t *dims = json_array();
        for (int d = 0; d < x->ndim; d++)
            json_array_append_new(dims,
                                  x->dim_names[d] ? json_string(x->dim_names[d]) : json_null());
        json_object_set_new(o, "dtype", json_string(cubed_dtype_name(x->dtype)));
        json_object_set_new(o, "shape", ints(x->ndim, x->shape));
        json_object_set_new(o, "chunks", ints(x->ndim, x->chunks));
        json_object_set_new(o, "dims", dims);
        json_object_set_new(o, "codecs", parsed(x->codecs));
        json_object_set_new(o, "logical_bytes", json_integer((json_int_t)x->logical_bytes));
        json_object_set_new(o, "stored_bytes", json_integer((json_int_t)x->stored_bytes));
        json_object_set_new(o, "chunks_present", json_integer((json_int_t)x->chunks_present));
        json_object_set_new(o, "chunks_total", json_integer((json_int_t)x->chunks_total));
    }
    json_array_append_new(list, o);
}

/* The codecs' names in a row: "bytes zstd". */
static void put_codecs(const char *text, char *out, size_t cap)
{
    json_t *v = parsed(text), *e;
    size_t i, n = 0;
    out[0] = 0;
    if (json_is_object(v)) {
        const char *id = json_string_value(json_object_get(v, "id"));
        const char *inner = json_string_value(json_object_get(v, "cname"));
        snprintf(out, cap, "%s%s%s", id ? id : "?", inner ? "-" : "", inner ? inner : "");
    } else if (json_is_null(v)) {
        snprintf(out, cap, "none");
    }
    json_array_foreach(v, i, e)
    {
        const char *name = json_string_value(json_object_get(e, "name"));
        const char *inner =
            json_string_value(json_object_get(json_object_get(e, "configuration"), "cname"));
        n += (size_t)snprintf(out + n, n < cap ? cap - n : 0, "%s%s%s%s", i ? " " : "",
                              name ? name : "?", inner ? "-" : "", inner ? inner : "");
        if (n >= cap) break;
    }
    json_decref(v);
}

static void print_text(const cubed_zarr_info *x)
{
    if (!x->is_array) {
        printf("%s  (group, format %d)\n", *x->path ? x->path : "/", x->zarr_format);
        return;
    }
    char codecs[128], logical[32], stored[32];
    put_codecs(x->codecs, codecs, sizeof codecs);
    printf("%s  %s (", *x->path ? x->path : "/", cubed_dtype_name(x->dtype));
    for (int d = 0; d < x->ndim; d++) {
        if (d) printf(", ");
        if (x->dim_names[d]) printf("%s: ", x->dim_names[d]);
        printf("%" PRId64, x->shape[d]);
    }
    printf(")  chunks (");
    for (int d = 0; d < x->ndim; d++) printf("%s%" PRId64, d ? ", " : "", x->chunks[d]);
    printf(")  %s  %s, %s stored, %" PRIu64 " of %" PRIu64 " chunks\n", codecs,
           cli_format_bytes((double)x->logical_bytes, logical),
           cli_format_bytes((double)x->stored_bytes, stored), x->chunks_present, x->chunks_total);
}

static cubed_status show(void *ctx, const cubed_zarr_info *x, cubed_error *err)
{
    const info_state *s = ctx;
    (void)err;
    if (s->list)
        add_json(s->list, x);
    else
        print_text(x);
    return CUBED_OK;
}

int cmd_info(int argc, char **argv)
{
    info_state s = {NULL};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx = NULL;
    bool json = false;
    while (cli_next_option(argc, argv, &usage, NULL) != -1) json = true;
    if (argc - optind != 1)
        return cli_usage_error("info", "expected STORE[::PATH], got %d arguments", argc - optind);
    if (json) s.list = json_array();
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) st = cubed_zarr_walk(ctx, argv[optind], show, &s, &err);
    if (st == CUBED_OK && json) {
        json_dumpf(s.list, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        fputc('\n', stdout);
    }
    json_decref(s.list);
    cubed_context_unref(ctx);
    return st == CUBED_OK ? EXIT_SUCCESS : cli_report("info", &err);
}
