#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "info_details.h"
#include "inputs.h"
#include "lang/lang_arrays.h"
#include "near.h"

enum { KEY_JSON_OUT = CLI_OWN_KEY, KEY_REFERENCES };

static const cli_option own[] = {
    {"json", NULL, "print JSON", KEY_JSON_OUT},
    {CLI_REFERENCES_OPTION, "PREFIX", CLI_REFERENCES_HELP, KEY_REFERENCES},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_info_usage = {
    .synopsis = "info STORE[::PATH] [options]",
    .text = "Shows the groups and arrays of a Zarr store (format 2 or 3), or of a NetCDF or HDF5 "
            "file:\nshapes, types, chunks, codecs, stored chunks and bytes, ranges of coordinates, "
            "and attributes.",
    .examples =
        "  cubed info era5.zarr\n  cubed info era5.nc\n  cubed info era5.zarr::t2m --json\n",
    .own = own};

enum { COLUMNS = 7 };

typedef struct table_row {
    bool is_wide; /* the row consists of one cell across all columns */
    char *cell[COLUMNS];
} table_row;

typedef struct info_state {
    json_t *list; /* list of items for JSON; NULL if the output is text */
    table_row *row;
    int nrows, narrays;
    double logical, stored;
    cubed_validator validator; /* the weakest kind of version among the listed arrays */
    /* name of the file's format; NULL for a Zarr store or an unknown format */
    const char *file_format;
    info_details details;
    char *copied; /* names of arrays that can only be copied unchanged; may be NULL */
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

/* Returns NetCDF's name of an attribute's type. */
static const char *type_name(const cubed_attribute *a)
{
    switch (a->kind) {
    case CUBED_ATTRIBUTE_NUMBERS: return cubed_dtype_name(a->dtype);
    case CUBED_ATTRIBUTE_CHARS: return "char";
    default: return "string";
    }
}

/* Adds to `o` the attributes of x and their types. Omits types that do not match their attributes. */
static cubed_status add_attributes(json_t *o, const cubed_zarr_info *x, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    json_t *attrs = lang_attributes(x->attrs), *types = json_object(), *v;
    const char *name;
    const bool stated = json_object_get(attrs, CUBED_ATTRIBUTE_TYPES);
    json_object_del(attrs, CUBED_ATTRIBUTE_TYPES);
    json_object_foreach(attrs, name, v)
    {
        cubed_attribute *a = NULL;
        if (!stated) break;
        st = cubed_attribute_get(x->attrs, name, x->dtype, &a, err);
        if (st == CUBED_E_NOMEM) break;
        if (st != CUBED_OK) continue;
        if (a->is_stated) json_object_set_new(types, name, json_string(type_name(a)));
        cubed_attribute_free(a);
    }
    json_object_set_new(o, "attributes", attrs ? attrs : json_string(x->attrs));
    if (json_object_size(types) > 0) json_object_set(o, "attribute_types", types);
    json_decref(types);
    return st == CUBED_E_NOMEM ? st : CUBED_OK;
}

static cubed_status add_json(info_state *s, const cubed_zarr_info *x, cubed_error *err)
{
    json_t *o = json_object();
    info_details_add(&s->details, x, o);
    if (s->file_format) json_object_set_new(o, "file_format", json_string(s->file_format));
    json_object_set_new(o, "path", json_string(x->path));
    json_object_set_new(o, "kind", json_string(x->is_array ? "array" : "group"));
    json_object_set_new(o, "zarr_format", json_integer(x->zarr_format));
    const cubed_status st = add_attributes(o, x, err);
    json_object_set_new(o, "validator", json_string(cubed_validator_name(x->validator)));
    if (x->unsupported) json_object_set_new(o, "unsupported", json_string(x->unsupported));
    if (x->is_array && (x->type || !x->unsupported)) {
        json_t *dims = json_array();
        for (int d = 0; d < x->ndim; d++)
            json_array_append_new(dims,
                                  x->dim_names[d] ? json_string(x->dim_names[d]) : json_null());
        char dtype[CUBED_DTYPE_TEXT_CAP];
        json_object_set_new(o, "dtype",
                            json_string(x->type ? x->type : cubed_dtype_text(x->dtype, dtype)));
        json_object_set_new(o, "shape", ints(x->ndim, x->shape));
        json_object_set_new(o, "chunks", ints(x->ndim, x->chunks));
        if (x->fields) json_object_set_new(o, "fields", parsed(x->fields));
        if (x->chunk_shapes)
            json_object_set_new(o, "chunk_shapes", json_loads(x->chunk_shapes, 0, NULL));
        json_object_set_new(o, "shards", x->shards ? ints(x->ndim, x->shards) : json_null());
        json_object_set_new(o, "dims", dims);
        json_object_set_new(o, "codecs", parsed(x->codecs));
        json_object_set_new(o, "logical_bytes",
                            x->type ? json_null() : json_integer((json_int_t)x->logical_bytes));
        json_object_set_new(o, "stored_bytes", json_integer((json_int_t)x->stored_bytes));
        json_object_set_new(o, "chunks_present", json_integer((json_int_t)x->chunks_present));
        json_object_set_new(o, "chunks_total", json_integer((json_int_t)x->chunks_total));
    }
    json_array_append_new(s->list, o);
    return st;
}

/* Lists the codecs' names: "bytes zstd". */
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
        const json_t *conf = json_object_get(e, "configuration");
        const char *name = json_string_value(json_object_get(e, "name"));
        if (!name) name = json_string_value(json_object_get(e, "id")); /* Zarr format 2 */
        if (!name) name = json_is_null(e) ? "none" : json_string_value(e);
        const char *inner = json_string_value(json_object_get(conf ? conf : e, "cname"));
        n += (size_t)snprintf(out + n, n < cap ? cap - n : 0, "%s%s%s%s", i ? " " : "",
                              name ? name : "?", inner ? "-" : "", inner ? inner : "");
        if (n >= cap) break;
    }
    json_decref(v);
}

static table_row *add_row(info_state *s)
{
    s->row = cli_resize(s->row, (size_t)(s->nrows + 1) * sizeof *s->row);
    memset(&s->row[s->nrows], 0, sizeof *s->row);
    return &s->row[s->nrows++];
}

/* Formats extents such as "(time: 744, 33)". `names` may be NULL. */
static char *extents(int n, const int64_t *v, const char *const *names)
{
    char *text = cli_strdup("(");
    for (int d = 0; d < n; d++) {
        const char *name = names ? names[d] : NULL;
        char *longer = cli_printf("%s%s%s%s%" PRId64, text, d ? ", " : "", name ? name : "",
                                  name ? ": " : "", v[d]);
        cli_free(text);
        text = longer;
    }
    char *closed = cli_printf("%s)", text);
    cli_free(text);
    return closed;
}

/* Appends a name to a list such as "a, b". Frees `list`. */
static char *append(char *list, const char *name)
{
    char *longer = cli_printf("%s%s%s", list ? list : "", list ? ", " : "", name);
    cli_free(list);
    return longer;
}

/* Formats the type of records, such as "record(a: <f4, b: <i2)". If there are many fields, shows only the first ones. */
static char *record_type(const char *fields)
{
    json_t *v = parsed(fields), *e;
    char *text = cli_strdup("record("), *longer;
    size_t i;
    json_array_foreach(v, i, e)
    {
        const char *type = json_string_value(json_array_get(e, 1));
        const char *name = json_string_value(json_array_get(e, 0));
        const bool ends = strlen(text) > 60;
        longer = ends ? cli_printf("%s, ...", text)
                      : cli_printf("%s%s%s: %s%s", text, i ? ", " : "", name ? name : "?",
                                   type ? type : "record", json_array_size(e) > 2 ? "[]" : "");
        cli_free(text);
        text = longer;
        if (ends) break;
    }
    json_decref(v);
    longer = cli_printf("%s)", text);
    cli_free(text);
    return longer;
}

static void add_text(info_state *s, const cubed_zarr_info *x)
{
    const char *path = *x->path ? x->path : "/";
    table_row *row = add_row(s);
    info_details_add(&s->details, x, NULL);
    if (!x->is_array) {
        row->is_wide = true;
        row->cell[0] = s->file_format
                           ? cli_printf("%s (group, %s)", path, s->file_format)
                           : cli_printf("%s (group, Zarr format %d)", path, x->zarr_format);
        return;
    }
    if (x->unsupported && !x->type) {
        row->is_wide = true;
        row->cell[0] = cli_printf("%s cannot be read: %s", path, x->unsupported);
        return;
    }
    char codecs[128], size[32], dtype[CUBED_DTYPE_TEXT_CAP];
    put_codecs(x->codecs, codecs, sizeof codecs);
    row->cell[0] = cli_strdup(path);
    row->cell[1] = x->fields ? record_type(x->fields)
                             : cli_strdup(x->type ? x->type : cubed_dtype_text(x->dtype, dtype));
    row->cell[2] = extents(x->ndim, x->shape, x->dim_names);
    row->cell[3] = extents(x->ndim, x->chunks, NULL);
    char *chunks = row->cell[3], *shards = x->shards ? extents(x->ndim, x->shards, NULL) : NULL;
    /* If chunk_shapes is set, the chunks or shards have different shapes. Then the maximum length along each axis is shown. */
    const char *up_to = x->chunk_shapes ? "up to " : "";
    row->cell[3] = shards ? cli_printf("%s in %s%s", chunks, up_to, shards)
                          : cli_printf("%s%s", up_to, chunks);
    cli_free(chunks);
    cli_free(shards);
    row->cell[4] = cli_printf("%" PRIu64 "/%" PRIu64, x->chunks_present, x->chunks_total);
    row->cell[5] = cli_strdup(x->type ? "-" : cli_format_bytes((double)x->logical_bytes, size));
    row->cell[6] = cli_printf("%s %s", cli_format_bytes((double)x->stored_bytes, size), codecs);
    if (x->type && !inputs_is_of_file(x)) s->copied = append(s->copied, path);
    s->narrays++;
    s->logical += (double)x->logical_bytes;
    s->stored += (double)x->stored_bytes;
}

/* Escapes names, types and codecs, which the metadata may set to anything. */
static void make_visible(info_state *s)
{
    for (int i = 0; i < s->nrows; i++) {
        for (int c = 0; c < COLUMNS; c++) {
            char *given = s->row[i].cell[c];
            if (given) s->row[i].cell[c] = cli_visible(given, false);
            cli_free(given);
        }
    }
    char *copied = s->copied;
    if (copied) s->copied = cli_visible(copied, false);
    cli_free(copied);
}

static void print_table(const info_state *s)
{
    static const char *const titles[COLUMNS] = {"array",   "type", "dimensions", "chunks",
                                                "present", "size", "stored as"};
    int width[COLUMNS];
    char a[32], b[32];
    for (int c = 0; c < COLUMNS; c++) {
        width[c] = (int)strlen(titles[c]);
        for (int i = 0; i < s->nrows; i++) {
            int n = s->row[i].is_wide ? 0 : (int)strlen(s->row[i].cell[c]);
            if (n > width[c]) width[c] = n;
        }
    }
    width[COLUMNS - 1] = 0;
    for (int i = -1; i < s->nrows; i++) {
        const table_row *row = i < 0 ? NULL : &s->row[i];
        if (row && row->is_wide) {
            printf("%s\n", row->cell[0]);
            continue;
        }
        for (int c = 0; c < COLUMNS && (row || s->narrays); c++) {
            bool right = c == 4 || c == 5;
            printf("%s%*s", c ? "  " : "", right ? width[c] : -width[c],
                   row ? row->cell[c] : titles[c]);
        }
        if (row || s->narrays) putchar('\n');
    }
    if (s->narrays > 1)
        printf("%d arrays, %s, %s stored\n", s->narrays, cli_format_bytes(s->logical, a),
               cli_format_bytes(s->stored, b));
    if (s->copied)
        printf("copied unchanged, but not usable in expressions, because of types or codecs: %s\n",
               s->copied);
    if (s->validator) printf("%s\n", cubed_validator_text(s->validator));
}

static cubed_status show(void *ctx, const cubed_zarr_info *x, cubed_error *err)
{
    info_state *s = ctx;
    if (x->validator > s->validator) s->validator = x->validator;
    if (s->list) return add_json(s, x, err);
    add_text(s, x);
    return CUBED_OK;
}

int cmd_info(int argc, char **argv)
{
    info_state s = {.list = NULL};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx = NULL;
    cli_common common = {.references = NULL};
    bool json = false;
    int key;
    while ((key = cli_next_option(argc, argv, &cmd_info_usage, NULL)) != -1) {
        json = json || key == KEY_JSON_OUT;
        if (key == KEY_REFERENCES) cli_add_reference(&common, optarg);
    }
    if (argc - optind != 1) return cli_argument_error("info", "STORE[::PATH]", argc - optind);
    if (json) s.list = json_array();
    const int code = cli_context("info", &common, &ctx);
    if (code != EXIT_SUCCESS) {
        json_decref(s.list);
        return code;
    }
    s.file_format = info_file_format(argv[optind]);
    cubed_status st = cubed_zarr_walk(ctx, argv[optind], true, show, &s, &err);
    st = near_place(ctx, argv[optind], st, &err);
    if (st == CUBED_OK && json) {
        info_details_show(&s.details, ctx, argv[optind], stdout);
        json_dumpf(s.list, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        fputc('\n', stdout);
    } else if (st == CUBED_OK) {
        make_visible(&s);
        print_table(&s);
        info_details_show(&s.details, ctx, argv[optind], stdout);
    }
    info_details_free(&s.details);
    for (int i = 0; i < s.nrows; i++) {
        for (int c = 0; c < COLUMNS; c++) cli_free(s.row[i].cell[c]);
    }
    cli_free(s.row);
    cli_free(s.copied);
    json_decref(s.list);
    cubed_context_unref(ctx);
    return st == CUBED_OK ? EXIT_SUCCESS : cli_report("info", &err);
}
