#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "archive.h"
#include "cli.h"
#include "cli_values.h"
#include "cubed/lang.h"
#include "eval_usage.h"
#include "history.h"
#include "inputs.h"
#include "lang/lang_arrays.h"
#include "output_options.h"
#include "picture.h"
#include "referred.h"
#include "series.h"

/* Maximum number of results that CSV output can have, each as a column. */
enum { CSV_RESULTS = 256 };

/* Maximum size of a result that is printed. */
#define PRINTED_BYTES ((size_t)64 << 20)

typedef struct eval_item {
    char *name;
    cubed_array *array;
    const cubed_expr_result
        *result; /* the result with its attributes; NULL if the item is a coordinate */
    bool aside;  /* for coordinates only: see cubed_expr_coord */
    char *url;
    void *data;
    size_t bytes;
} eval_item;

typedef struct eval {
    const char *verb;
    cubed_context *ctx;
    inputs in;
    cli_common common;
    const char *text, *out, *codecs, *region;
    bool csv;
    int format;
    outputs outputs;
    chunk_spec chunks;
    cubed_expr *expr;
    cubed_expr_results *built;
    eval_item *item; /* items to store or print: results, then coordinates */
    int nitems;
    /* Arrays that were built for another allowed_mem, to be planned but not run. `region` owns arrays for regions. */
    struct {
        cubed_expr_results *built;
        eval_item *item;
        int nitems, nregions;
        cubed_array **region;
        cubed_array **count;
        int ncounts;
    } again;
    /* Lengths that were counted while the expressions were built, in order. Expressions that are only planned use them. */
    int64_t *length;
    int nlengths;
    bool is_planned; /* nothing is computed while expressions are built */
    /* Arrays whose numbers would have been computed if the expressions had not only been planned, in order. */
    cubed_array **count;
    int ncounts;
} eval;

static size_t array_bytes(const cubed_array *x)
{
    size_t n = cubed_dtype_size(cubed_array_dtype(x));
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        if (__builtin_mul_overflow(n, (size_t)cubed_array_shape(x)[d], &n)) return SIZE_MAX;
    }
    return n;
}

static void add_item(eval *e, const char *name, cubed_array *x, const cubed_expr_result *result)
{
    e->item = cli_resize(e->item, (size_t)(e->nitems + 1) * sizeof *e->item);
    memset(&e->item[e->nitems], 0, sizeof *e->item);
    e->item[e->nitems].name = cli_strdup(name);
    e->item[e->nitems].array = cubed_array_ref(x);
    e->item[e->nitems].result = result;
    e->item[e->nitems++].bytes = array_bytes(x);
}

static bool has_item(const eval *e, const char *name)
{
    for (int i = 0; i < e->nitems; i++) {
        if (strcmp(e->item[i].name, name) == 0) return true;
    }
    return false;
}

static int find_dim(const cubed_array *x, const char *name)
{
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        const char *dim = cubed_array_dim_name(x, d);
        if (dim && strcmp(dim, name) == 0) return d;
    }
    return -1;
}

/* Returns true if all results have the same elements along the dimension, so that one coordinate describes all. */
static bool is_agreed(const eval *e, const char *dim)
{
    const cubed_expr_coord *first = NULL;
    bool any = false;
    for (int i = 0; i < e->nitems; i++) {
        if (!e->item[i].result || find_dim(e->item[i].array, dim) < 0) continue;
        const cubed_expr_coord *c = cubed_expr_result_coord(e->item[i].result, dim);
        if (c && c->cut) return false;
        if (any && !cubed_expr_coord_equal(first, c)) return false;
        first = c;
        any = true;
    }
    return any;
}

/* Kinds of arrays that are copied from the input to the output next to a result. */
typedef enum carried {
    COORDINATE, /* a one-dimensional array with the name of a dimension */
    BOUNDS,     /* an array that an attribute of a coordinate names */
    AUXILIARY   /* an array that an attribute of a result names */
} carried;

/* Adds the input's array `name` to the items, because it describes item number i. If the expression selected a part of a dimension,
 * the same part of the array is added. Adds nothing if the item lacks a dimension of the array, except the last dimension of
 * bounds. */
static void carry(eval *e, int i, const char *name, carried what)
{
    const cubed_array *x = e->item[i].array;
    cubed_array *c = NULL, *part;
    cubed_slice slices[CUBED_MAX_NDIM];
    bool whole = true;
    cubed_error ignored = CUBED_ERROR_INIT; /* the array may be missing, or of any type */
    if (has_item(e, name) || inputs_coordinate(&e->in, name, &c, &ignored) != CUBED_OK || !c)
        return;
    bool fits = what != COORDINATE || cubed_array_ndim(c) == 1;
    for (int d = 0; d < cubed_array_ndim(c) && fits; d++) {
        const char *dim = cubed_array_dim_name(c, d);
        const int64_t extent = cubed_array_shape(c)[d];
        slices[d] = (cubed_slice){0, extent, 1, false};
        if (what == BOUNDS && d > 0 && d == cubed_array_ndim(c) - 1) continue;
        const int at = dim ? find_dim(x, dim) : -1;
        const cubed_expr_coord *edit = dim ? cubed_expr_result_coord(e->item[i].result, dim) : NULL;
        fits = at >= 0 && is_agreed(e, dim) && !(edit && edit->made) &&
               extent == (edit ? edit->whole : cubed_array_shape(x)[at]) &&
               (!edit || edit->part.len == cubed_array_shape(x)[at]);
        if (edit && fits) slices[d] = edit->part;
        if (edit && fits) whole = false;
    }
    if (fits && whole) {
        add_item(e, name, c, NULL);
    } else if (fits && cubed_slice_array(c, slices, &part, &ignored) == CUBED_OK) {
        add_item(e, name, part, NULL);
        cubed_array_unref(part);
    }
    cubed_array_unref(c);
}

/* Adds the coordinate of a dimension that a calendar function created, and its bounds. If the expression selected a part of the
 * dimension, adds this part. */
static void carry_made(eval *e, const char *dim, const cubed_expr_coord *c)
{
    cubed_array *const from[2] = {c->made, c->bounds};
    for (int k = 0; k < 2; k++) {
        char *name = k ? cli_printf("%s_bnds", dim) : cli_strdup(dim);
        cubed_error ignored = CUBED_ERROR_INIT;
        cubed_array *part;
        const cubed_slice slices[2] = {c->part, {0, 2, 1, false}};
        if (from[k] && !has_item(e, name) &&
            cubed_slice_array(from[k], slices, &part, &ignored) == CUBED_OK) {
            add_item(e, name, part, NULL);
            e->item[e->nitems - 1].aside = c->aside;
            cubed_array_unref(part);
        }
        cli_free(name);
    }
}

typedef struct referring {
    eval *e;
    int of; /* number of the item that the added arrays describe */
} referring;

static void carry_referred(void *ctx, const char *attribute, const char *name)
{
    const referring *r = ctx;
    const bool bounds = strcmp(attribute, "bounds") == 0 || strcmp(attribute, "climatology") == 0;
    carry(r->e, r->of, name, bounds ? BOUNDS : AUXILIARY);
}

/* Adds coordinates (1-d arrays named like their dimension) to the results with that dimension, restricted to the remaining
 * elements. Also adds their bounds, and all variables that attributes of a result refer to. */
static void add_coordinates(eval *e)
{
    for (int i = 0, n = e->nitems; i < n; i++) {
        const int before = e->nitems;
        referring r = {e, i};
        for (int d = 0; d < cubed_array_ndim(e->item[i].array); d++) {
            const char *dim = cubed_array_dim_name(e->item[i].array, d);
            const cubed_expr_coord *c =
                dim ? cubed_expr_result_coord(e->item[i].result, dim) : NULL;
            if (!dim || !is_agreed(e, dim)) continue;
            if (c && c->made && c->part.len == cubed_array_shape(e->item[i].array)[d])
                carry_made(e, dim, c);
            else if (!c || !c->made)
                carry(e, i, dim, COORDINATE);
        }
        referred_each(cubed_array_attrs(e->item[i].array), carry_referred, &r);
        /* Arrays that were added may have attributes that name further arrays. */
        for (int k = before; k < e->nitems; k++)
            referred_each(cubed_array_attrs(e->item[k].array), carry_referred, &r);
    }
}

/* Takes the attributes of the group at the start of the walk, and ends the walk. */
static cubed_status first_attrs(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    char **attrs = ctx;
    (void)err;
    if (!info->is_array) *attrs = cli_strdup(info->attrs);
    return CUBED_E_CANCELLED;
}

/* Returns the attributes of the first input that is a group, or NULL if no input is a group. The caller frees the string. */
static cubed_status group_attrs(const eval *e, char **attrs, cubed_error *err)
{
    const char *from = inputs_group(&e->in);
    *attrs = NULL;
    if (!from) return CUBED_OK;
    char *first = inputs_first(from);
    const cubed_status st = cubed_zarr_walk(e->ctx, first, false, first_attrs, attrs, err);
    cli_free(first);
    return st == CUBED_E_CANCELLED ? CUBED_OK : st;
}

typedef struct known_names {
    const eval *e;
    bool alone;           /* --out names an array, not a group */
    const char *external; /* variables of other files, separated by spaces; "" if there are none */
} known_names;

static bool is_known(void *ctx, const char *name)
{
    const known_names *k = ctx;
    const size_t n = strlen(name);
    for (const char *at = k->external; (at = strstr(at, name)); at += n) {
        const bool begins = at == k->external || at[-1] == ' ';
        if (begins && (at[n] == 0 || at[n] == ' ')) return true;
    }
    if (has_item(k->e, name)) return true;
    if (archive_is_wanted(k->e->out) || k->e->common.picture) return false; /* rewritten */
    char *url = k->alone ? inputs_beside(k->e->out, name) : cli_join_url(k->e->out, name);
    cubed_array *x;
    cubed_error ignored = CUBED_ERROR_INIT;
    const bool is_there = url && cubed_array_open(k->e->ctx, url, &x, &ignored) == CUBED_OK;
    if (is_there) cubed_array_unref(x);
    cli_free(url);
    return is_there;
}

/* Removes references to missing variables from attributes. */
static cubed_status drop_references(eval *e, bool alone, cubed_error *err)
{
    char *attrs;
    cubed_status st = group_attrs(e, &attrs, err);
    if (st != CUBED_OK) return st;
    json_t *doc = attrs ? lang_attributes(attrs) : NULL;
    const char *external = json_string_value(json_object_get(doc, "external_variables"));
    known_names known = {e, alone, external ? external : ""};
    for (int i = 0; i < e->nitems && st == CUBED_OK; i++)
        st = referred_keep(&e->item[i].array, is_known, &known, err);
    json_decref(doc);
    cli_free(attrs);
    return st;
}

/* Returns true if there is an array at --out, which stays an array when it is replaced. */
static bool is_array(const eval *e)
{
    cubed_array *x;
    cubed_error ignored = CUBED_ERROR_INIT;
    if (cubed_array_open(e->ctx, e->out, &x, &ignored) != CUBED_OK) return false;
    cubed_array_unref(x);
    return true;
}

/* Gives names to unnamed dimensions, because the axes of pictures need names. */
static bool name_dims(eval *e, int i, cubed_error *err)
{
    cubed_array *x = e->item[i].array, *named;
    const char *names[2] = {NULL};
    char *made[2] = {NULL};
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        names[d] = cubed_array_dim_name(x, d);
        if (!names[d]) names[d] = made[d] = cli_printf("axis %d of %s", d, e->item[i].name);
    }
    const cubed_status st = cubed_array_with_dim_names(x, names, &named, err);
    if (st == CUBED_OK) e->item[i].array = named;
    if (st == CUBED_OK) cubed_array_unref(x);
    for (int d = 0; d < 2; d++) cli_free(made[d]);
    return st == CUBED_OK;
}

static void free_item(const eval_item *item)
{
    cubed_array_unref(item->array);
    cli_free(item->name);
    cli_free(item->url);
    cli_free(item->data);
}

static void free_items(eval_item *item, int n)
{
    for (int i = 0; i < n; i++) free_item(&item[i]);
    cli_free(item);
}

/* Decodes the item to the values that users see. Returns false if its attributes do not allow that. */
static bool decode_item(const eval *e, eval_item *item)
{
    cubed_array *values = NULL;
    cubed_error ignored = CUBED_ERROR_INIT;
    if (e->in.raw) return true;
    if (cubed_cf_decode(item->array, &values, &ignored) != CUBED_OK) return false;
    cubed_array_unref(item->array);
    item->array = values;
    item->bytes = array_bytes(values);
    return true;
}

/* Adds coordinates of results that are printed with them: of all dimensions for CSV, otherwise of series. */
static void add_printed_coordinates(eval *e)
{
    const int n = e->nitems;
    for (int i = 0; i < n; i++) {
        const int ndim = cubed_array_ndim(e->item[i].array);
        for (int d = 0; d < ndim && (e->csv || ndim == 1); d++) {
            const char *dim = cubed_array_dim_name(e->item[i].array, d);
            const cubed_expr_coord *c =
                dim ? cubed_expr_result_coord(e->item[i].result, dim) : NULL;
            const int before = e->nitems;
            if (!dim || !is_agreed(e, dim)) continue;
            if (c && c->made && c->part.len == cubed_array_shape(e->item[i].array)[d])
                carry_made(e, dim, c);
            else if (!c || !c->made)
                carry(e, i, dim, COORDINATE);
            /* Bounds are not printed. */
            while (e->nitems > before + 1) free_item(&e->item[--e->nitems]);
            if (e->nitems > before && !decode_item(e, &e->item[before]))
                free_item(&e->item[--e->nitems]);
        }
    }
}

/* Returns true if the other items are optional descriptions of the one result; removes them then. */
static bool stands_alone(eval *e)
{
    for (int i = 1; i < e->nitems; i++) {
        if (!e->item[i].aside) return false;
    }
    while (e->nitems > 1) free_item(&e->item[--e->nitems]);
    return true;
}

/* Warns about results in one Zarr group that Xarray cannot open; NetCDF files do not support them at all. */
static void warn_of_lengths(const eval *e)
{
    for (int i = 1; i < e->nitems; i++) {
        const cubed_array *x = e->item[i].array;
        for (int d = 0; d < cubed_array_ndim(x); d++) {
            const char *name = cubed_array_dim_name(x, d);
            for (int k = 0; name && k < i; k++) {
                const cubed_array *y = e->item[k].array;
                const int at = lang_axis_named(y, name);
                if (at < 0 || cubed_array_shape(y)[at] == cubed_array_shape(x)[d]) continue;
                cli_say(stderr,
                        "cubed: warning: dimension \"%s\" has %" PRId64
                        " elements in %s and %" PRId64
                        " in %s: Xarray does not open a group of both\n",
                        name, cubed_array_shape(y)[at], e->item[k].name, cubed_array_shape(x)[d],
                        e->item[i].name);
                return;
            }
        }
    }
}

/* Rechunks a result by --chunks. */
static cubed_status rechunk_item(eval *e, eval_item *item, cubed_error *err)
{
    const int ndim = cubed_array_ndim(item->array);
    const bool several = e->nitems > 1;
    int64_t lengths[CUBED_MAX_NDIM];
    cubed_chunk_list lists[CUBED_MAX_NDIM] = {{NULL, 0}};
    cubed_array *even, *x;
    for (int d = 0; d < ndim; d++) lengths[d] = CUBED_CHUNKS_KEPT;
    cubed_status st = chunk_spec_apply(&e->chunks, "--chunks", several, item->array, item->name,
                                       lengths, lists, err);
    if (st == CUBED_OK) st = cubed_rechunk(item->array, lengths, &even, err);
    if (st != CUBED_OK) return st;
    st = cubed_rechunk_irregular(even, lists, &x, err);
    cubed_array_unref(even);
    if (st != CUBED_OK) return st;
    cubed_array_unref(item->array);
    item->array = x;
    return CUBED_OK;
}

/* Applies the options of how results are described and stored to all items, and packs and rechunks results, but no coordinates. */
static cubed_status edit_items(eval *e, cubed_error *err)
{
    cubed_array ***packs = cli_alloc((size_t)e->nitems * sizeof *packs);
    const char **names = cli_alloc((size_t)e->nitems * sizeof *names);
    cubed_status st = CUBED_OK;
    int n = 0;
    for (int i = 0; i < e->nitems && st == CUBED_OK; i++)
        st = outputs_edit_array(&e->outputs, &e->item[i].name, &e->item[i].array, err);
    for (int i = 0; i < e->nitems && st == CUBED_OK; i++) {
        eval_item *item = &e->item[i];
        for (int k = 0; k < i && st == CUBED_OK; k++) {
            if (strcmp(e->item[k].name, item->name) == 0)
                st = cli_reject(err, "--rename gives two results the name \"%s\"", item->name);
        }
        const char *dim =
            cubed_array_ndim(item->array) == 1 ? cubed_array_dim_name(item->array, 0) : NULL;
        if (!item->result || (dim && strcmp(dim, item->name) == 0)) continue;
        packs[n] = &item->array;
        names[n++] = item->name;
    }
    if (st == CUBED_OK && e->outputs.pack.is_on)
        st = packed_arrays(&e->outputs.pack, e->ctx, &e->common, packs, names, n, err);
    for (int i = 0; i < e->nitems && st == CUBED_OK && e->chunks.n > 0; i++) {
        if (e->item[i].result) st = rechunk_item(e, &e->item[i], err);
    }
    cli_free(packs);
    cli_free(names);
    return st;
}

/* Sets the URL of each result. One bare expression of independent arrays goes to --out itself, others below it. Results
 * from a group, or with coordinates, go to a group, so that Xarray opens it. */
static bool place_results(eval *e, cubed_error *err)
{
    for (int i = 0; i < cubed_expr_results_count(e->built); i++) {
        const cubed_expr_result *v = cubed_expr_results_at(e->built, i);
        /* Stored results keep their packing. Results that are printed, drawn or written into an existing array are
         * values. */
        const bool stays = v->stored && e->out && !e->common.picture && !e->region;
        add_item(e, v->name, stays ? v->stored : v->array, v);
    }
    for (int i = 0; e->common.picture && i < e->nitems; i++) {
        if (!name_dims(e, i, err)) return false;
    }
    if (!e->out) {
        if (!e->common.json && !e->common.plan_only) add_printed_coordinates(e);
        return true;
    }
    size_t path, store;
    (void)cubed_url_path(e->out, &path, &store);
    /* NetCDF variables have names, and coordinates next to them. */
    const bool named = (archive_is_netcdf(e->out) && path == 0) || e->common.picture;
    bool bare = !named && e->nitems == 1 && e->item[0].result->is_bare;
    const bool alone = bare && (path > 0 || e->region || is_array(e));
    if (!e->region && !alone) add_coordinates(e);
    if (!e->region && edit_items(e, err) != CUBED_OK) return false;
    if (bare && (alone || (!inputs_have_group(&e->in) && stands_alone(e)))) {
        e->item[0].url = cli_strdup(e->out);
        return e->region || drop_references(e, true, err) == CUBED_OK;
    }
    for (int i = 0; i < e->nitems; i++) e->item[i].url = cli_join_url(e->out, e->item[i].name);
    if (!named && !e->region) warn_of_lengths(e);
    return e->region || drop_references(e, false, err) == CUBED_OK;
}

static bool is_grouped(const eval *e)
{
    return e->out && !e->region && e->nitems > 0 && strcmp(e->item[0].url, e->out) != 0;
}

/* Returns the attributes of the group that exists at --out, or NULL if there is no group. The caller frees the string. */
static char *existing_attrs(const eval *e)
{
    char *attrs = NULL;
    cubed_error ignored = CUBED_ERROR_INIT;
    const cubed_status st = cubed_zarr_walk(e->ctx, e->out, false, first_attrs, &attrs, &ignored);
    (void)st; /* an error is ignored, because --out may not exist */
    return attrs;
}

/* Sets the group around several results, with the attributes of the input group; *grouped is false if there is none. The
 * caller frees the attributes. */
static cubed_status result_group(eval *e, cubed_plan_group *group, char **attrs, bool *grouped,
                                 cubed_error *err)
{
    *grouped = is_grouped(e);
    if (!*grouped) return CUBED_OK;
    /* The attribute `history` is added only if the expression reads an input. */
    if (e->in.nspecs == 0) e->outputs.no_history = true;
    char *given;
    cubed_status st = group_attrs(e, &given, err);
    if (st == CUBED_OK && !given && !archive_is_wanted(e->out) &&
        (!e->outputs.no_history || outputs_given(&e->outputs)))
        given = existing_attrs(e);
    if (st == CUBED_OK) *attrs = outputs_group_attrs(&e->outputs, given, archive_is_netcdf(e->out));
    cli_free(given);
    *group = (cubed_plan_group){.url = e->out,
                                .zarr_format = e->format ? e->format : 3,
                                .attrs = *attrs,
                                .consolidate = true};
    return st;
}

static series_column column_of(const eval_item *item)
{
    return series_column_of(item->name, item->array, item->data);
}

/* Returns the coordinate of dimension d of a result if the coordinate is printed. Otherwise returns a column without a name. */
static series_column coordinate_of(const eval *e, int i, int d)
{
    const cubed_array *x = e->item[i].array;
    const char *dim = d < cubed_array_ndim(x) ? cubed_array_dim_name(x, d) : NULL;
    for (int k = 0; dim && (e->csv || cubed_array_ndim(x) == 1) && k < e->nitems; k++) {
        const eval_item *c = &e->item[k];
        if (!c->result && c->data && strcmp(c->name, dim) == 0 && cubed_array_ndim(c->array) == 1 &&
            cubed_array_shape(c->array)[0] == cubed_array_shape(x)[d])
            return column_of(c);
    }
    return (series_column){.name = NULL};
}

static void print_item(const eval *e, int i)
{
    const cubed_array *x = e->item[i].array;
    char dtype[CUBED_DTYPE_TEXT_CAP];
    printf("%s: %s (", e->item[i].name, cubed_dtype_text(cubed_array_dtype(x), dtype));
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        const char *name = cubed_array_dim_name(x, d);
        char *visible = cli_visible(name ? name : "", false);
        printf("%s%s%s%" PRId64, d ? ", " : "", visible, name ? ": " : "", cubed_array_shape(x)[d]);
        cli_free(visible);
    }
    const char *to = e->common.picture ? e->out : e->item[i].url;
    char *visible = cli_visible(to ? to : "", false);
    printf(")%s%s\n", to ? " -> " : "", visible);
    cli_free(visible);
    const series_column values = column_of(&e->item[i]), coordinate = coordinate_of(e, i, 0);
    if (e->item[i].data && coordinate.name)
        series_print(stdout, &coordinate, &values);
    else if (e->item[i].data)
        values_print(stdout, x, e->item[i].data);
}

static bool is_printed_coordinate(const eval *e, int i)
{
    return !e->item[i].result && !e->item[i].url && !e->common.picture;
}

static void print_csv(const eval *e)
{
    series_column values[CSV_RESULTS], coordinates[CUBED_MAX_NDIM];
    int n = 0;
    for (int i = 0; i < e->nitems; i++) {
        if (!is_printed_coordinate(e, i)) values[n++] = column_of(&e->item[i]);
    }
    for (int d = 0; d < cubed_array_ndim(values[0].array); d++)
        coordinates[d] = coordinate_of(e, 0, d);
    series_print_csv(stdout, coordinates, values, n);
}

/* Refuses results that CSV cannot show, before anything is computed. */
static int check_csv(const eval *e)
{
    const cubed_array *first = e->item[0].array;
    int n = 0;
    if (!e->csv) return EXIT_SUCCESS;
    for (int i = 0; i < e->nitems; i++) {
        if (is_printed_coordinate(e, i)) continue;
        const cubed_array *x = e->item[i].array;
        bool same = cubed_array_ndim(x) == cubed_array_ndim(first);
        for (int d = 0; same && d < cubed_array_ndim(x); d++) {
            const char *a = cubed_array_dim_name(first, d), *b = cubed_array_dim_name(x, d);
            same = cubed_array_shape(x)[d] == cubed_array_shape(first)[d] &&
                   (a && b ? strcmp(a, b) == 0 : a == b);
        }
        if (!same)
            return cli_usage_error(
                e->verb,
                "--csv: the results \"%s\" and \"%s\" have different dimensions, expected "
                "equal ones: print them one after another",
                e->item[0].name, e->item[i].name);
        if (++n > CSV_RESULTS)
            return cli_usage_error(e->verb, "--csv: there are more than %d results", CSV_RESULTS);
    }
    return EXIT_SUCCESS;
}

static void show_results(const eval *e, const cubed_run_stats *stats, const cubed_plan_info *info)
{
    json_t *all = e->common.json ? json_object() : NULL;
    if (e->csv) {
        print_csv(e);
        return;
    }
    for (int i = 0; i < e->nitems; i++) {
        if (is_printed_coordinate(e, i)) continue;
        if (all)
            json_object_set_new(all, e->item[i].name,
                                values_array_json(e->item[i].array, e->item[i].data));
        else
            print_item(e, i);
    }
    if (!all) return;
    json_object_set_new(all, "_run", values_run_json(stats, info));
    json_dumpf(all, stdout, JSON_REAL_PRECISION(17));
    fputc('\n', stdout);
    json_decref(all);
}

/* Sets the part of an existing array that item i is written to: as values, or as stored elements if the array has the same
 * packing. */
static cubed_status region_target(const eval *e, int i, cubed_target *target, cubed_error *err)
{
    const char *url = e->item[i].url;
    const cubed_expr_result *v = e->item[i].result;
    cubed_array *into = NULL, *x = e->item[i].array;
    cubed_cf_packing *packing = NULL;
    cubed_status st = cubed_array_open(e->ctx, url, &into, err);
    if (st == CUBED_OK && !e->in.raw) st = cubed_cf_packing_of(into, &packing, err);
    if (st == CUBED_OK && packing && v->stored && cubed_cf_packing_equal(packing, v->packing))
        x = v->stored;
    else if (st == CUBED_OK && packing &&
             (packing->has_scale || packing->has_offset ||
              cubed_array_dtype(into) != packing->dtype))
        st = cli_reject(err,
                        "%s: the array is packed, and the result \"%s\" holds values: expected a "
                        "result of unchanged elements that are packed in the same way, or --raw",
                        url, e->item[i].name);
    if (st == CUBED_OK) st = cli_region_target(e->ctx, e->region, x, url, target, err);
    cubed_cf_packing_free(packing);
    cubed_array_unref(into);
    return st;
}

typedef struct eval_targets {
    cubed_target *target;
    int nregions; /* number of targets whose arrays must be released */
    cubed_plan_group group;
    bool grouped;
    char *attrs;
} eval_targets;

static void free_targets(eval_targets *t)
{
    for (int i = 0; i < t->nregions; i++) cubed_array_unref(t->target[i].array);
    cli_free(t->target);
    cli_free(t->attrs);
}

/* Returns the codecs of item i according to the options, or NULL for the default codecs. */
static const char *codecs_of(eval *e, int i)
{
    const int format = e->format && !archive_is_netcdf(e->out) ? e->format : 3;
    return e->item[i].url ? outputs_codecs(&e->outputs, cubed_array_dtype(e->item[i].array), format)
                          : NULL;
}

/* Creates the targets of all results; free them in any case. */
static cubed_status make_targets(eval *e, eval_targets *t, cubed_error *err)
{
    memset(t, 0, sizeof *t);
    t->target = cli_alloc((size_t)e->nitems * sizeof *t->target);
    cubed_status st = CUBED_OK;
    /* A resumed run uses the format of the results that exist. */
    for (int i = 0; e->common.resume && e->out && !e->format && st == CUBED_OK && i < e->nitems;
         i++)
        st = cubed_unfinished_format(e->ctx, e->item[i].url, &e->format, err);
    if (st == CUBED_OK) st = result_group(e, &t->group, &t->attrs, &t->grouped, err);
    for (int i = 0; i < e->nitems && st == CUBED_OK; i++) {
        t->target[i] = (cubed_target){.array = e->item[i].array,
                                      .url = e->item[i].url,
                                      .data = e->item[i].data,
                                      .name = e->item[i].name,
                                      .zarr_format = e->format,
                                      .codecs = e->codecs ? e->codecs : codecs_of(e, i),
                                      .overwrite = e->common.overwrite,
                                      .durable = e->common.durable};
        if (!e->region) continue;
        st = region_target(e, i, &t->target[i], err);
        t->target[i].durable = e->common.durable;
        if (st == CUBED_OK) t->nregions = i + 1;
    }
    return st;
}

/* Returns a message about an option for results that has no effect, or NULL if all these options have an effect. The caller frees
 * the string. */
static char *unused_option(const eval *e)
{
    const char *dim = chunk_spec_unused(&e->chunks);
    if (dim) return cli_printf("--chunks: no result has a dimension \"%s\"", dim);
    return outputs_unused(&e->outputs);
}

static int run(eval *e)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_stats stats;
    cubed_plan_info info;
    eval_targets t;
    bool ran = false;
    int code;
    memset(&stats, 0, sizeof stats);
    for (int i = 0; i < e->nitems; i++) {
        if (!e->item[i].url && !e->common.plan_only) e->item[i].data = cli_alloc(e->item[i].bytes);
    }
    const cubed_status st = make_targets(e, &t, &err);
    char *unused = st == CUBED_OK ? unused_option(e) : NULL;
    if (unused)
        code = cli_usage_error(e->verb, "%s", unused);
    else if (st != CUBED_OK)
        code = cli_report(e->verb, &err);
    else
        code = cli_execute(&(cli_job){.verb = e->verb,
                                      .ctx = e->ctx,
                                      .common = &e->common,
                                      .targets = t.target,
                                      .ntargets = e->nitems,
                                      .groups = &t.group,
                                      .ngroups = t.grouped},
                           &ran, &stats, &info);
    if (ran) show_results(e, &stats, &info);
    cli_free(unused);
    free_targets(&t);
    return code;
}

/* Creates an array over numbers in memory, which it takes over. */
static cubed_status array_of_numbers(const eval *e, const cubed_array *x, int64_t *data,
                                     cubed_array **numbers, cubed_error *err)
{
    const cubed_status st =
        cubed_array_from_memory(e->ctx, CUBED_INT64, cubed_array_ndim(x), cubed_array_shape(x),
                                NULL, NULL, data, numbers, err);
    if (st == CUBED_OK)
        cubed_array_set_owner(*numbers, cli_free, data);
    else
        cli_free(data);
    return st;
}

/* Computes numbers that shapes depend on; *last: the last one. Expressions that are only planned get zeros. They get the
 * maximum number of elements unless it is known. */
static cubed_status count_now(void *ctx, cubed_array *x, int64_t most, cubed_array **numbers,
                              int64_t *last, cubed_error *err)
{
    eval *e = ctx;
    const size_t bytes = array_bytes(x);
    int64_t *data = cli_alloc(bytes);
    if (e->is_planned) {
        memset(data, 0, bytes);
        *last = e->ncounts < e->nlengths ? e->length[e->ncounts] : most;
        e->count = cli_resize(e->count, (size_t)(e->ncounts + 1) * sizeof(cubed_array *));
        e->count[e->ncounts++] = cubed_array_ref(x);
        return array_of_numbers(e, x, data, numbers, err);
    }
    const cubed_status st = cli_compute(e->ctx, x, data, &e->common, err);
    if (st != CUBED_OK) {
        cli_free(data);
        return st;
    }
    *last = data[bytes / sizeof *data - 1];
    e->length = cli_resize(e->length, (size_t)(e->nlengths + 1) * sizeof *e->length);
    e->length[e->nlengths++] = *last;
    return array_of_numbers(e, x, data, numbers, err);
}

static cubed_status find_coordinate_of(void *ctx, const char *of, const char *name,
                                       cubed_array **out, cubed_error *err)
{
    inputs *in = ctx;
    cubed_array *stored;
    cubed_status st = of ? inputs_coordinate_of(in, of, name, &stored, err)
                         : inputs_coordinate(in, name, &stored, err);
    *out = stored;
    if (st != CUBED_OK || !stored || in->raw) return st;
    st = cubed_cf_decode(stored, out, err);
    if (st != CUBED_OK) *out = NULL;
    cubed_array_unref(stored);
    return st;
}

static cubed_status find_coordinate(void *ctx, const char *name, cubed_array **out,
                                    cubed_error *err)
{
    return find_coordinate_of(ctx, NULL, name, out, err);
}

static cubed_status build(eval *e, const cli_common *common, cubed_error *err)
{
    const cubed_expr_host host = {.lookup = inputs_lookup,
                                  .ctx = &e->in,
                                  .raw = e->in.raw,
                                  .task_mem = cli_task_mem(common),
                                  .count = count_now,
                                  .count_ctx = e,
                                  .coordinate = find_coordinate,
                                  .coordinate_of = find_coordinate_of};
    return cubed_expr_build(e->expr, e->ctx, &host, &e->built, err);
}

static void free_counts(cubed_array **count, int n)
{
    for (int i = 0; i < n; i++) cubed_array_unref(count[i]);
    cli_free(count);
}

static void free_again(eval *e)
{
    free_counts(e->again.count, e->again.ncounts);
    for (int i = 0; i < e->again.nregions; i++) cubed_array_unref(e->again.region[i]);
    cli_free(e->again.region);
    free_items(e->again.item, e->again.nitems);
    cubed_expr_results_free(e->again.built);
    memset(&e->again, 0, sizeof e->again);
}

/* Moves the current arrays to `again`, and restores those that were kept. */
static void keep_again(eval *e, const eval *kept)
{
    e->again.built = e->built;
    e->again.item = e->item;
    e->again.nitems = e->nitems;
    e->again.count = e->count;
    e->again.ncounts = e->ncounts;
    e->built = kept->built;
    e->item = kept->item;
    e->nitems = kept->nitems;
    e->count = kept->count;
    e->ncounts = kept->ncounts;
    e->is_planned = kept->is_planned;
}

/* Builds the arrays again for another allowed_mem. */
static cubed_status build_again(eval *e, uint64_t allowed_mem, cubed_error *err)
{
    cli_common common = e->common;
    free_again(e);
    e->built = NULL;
    e->item = NULL;
    e->count = NULL;
    e->nitems = e->ncounts = 0;
    e->is_planned = true;
    common.allowed_mem = allowed_mem;
    return build(e, &common, err);
}

/* Recreates the results for another allowed_mem: cubed_plan_options.remake. */
static cubed_status remake(void *ctx, uint64_t allowed_mem, cubed_array **arrays, cubed_error *err)
{
    eval *e = ctx;
    const eval kept = *e;
    cubed_status st = build_again(e, allowed_mem, err);
    if (st == CUBED_OK && !place_results(e, err)) st = err->status;
    if (st == CUBED_OK && e->nitems != kept.nitems)
        st = cli_reject(err, "the expression has other results than before");
    if (st == CUBED_OK && e->region)
        e->again.region = cli_alloc((size_t)e->nitems * sizeof *e->again.region);
    for (int i = 0; i < kept.nitems && st == CUBED_OK; i++) {
        cubed_target target = {.array = e->item[i].array};
        if (e->region) st = region_target(e, i, &target, err);
        if (st == CUBED_OK && e->region) e->again.region[e->again.nregions++] = target.array;
        if (st == CUBED_OK) arrays[i] = target.array;
    }
    keep_again(e, &kept);
    return st;
}

/* Recreates the arrays whose numbers are computed first, and the results, for another allowed_mem. */
static cubed_status remake_all(void *ctx, uint64_t allowed_mem, cubed_array **arrays,
                               cubed_error *err)
{
    eval *e = ctx;
    const int ncounts = e->ncounts;
    const cubed_status st = remake(e, allowed_mem, arrays + ncounts, err);
    if (st != CUBED_OK) return st;
    if (e->again.ncounts != ncounts)
        return cli_reject(err, "the expression computes other numbers than before");
    for (int i = 0; i < ncounts; i++) arrays[i] = e->again.count[i];
    return CUBED_OK;
}

/* Checks the plans that run one after another: one for each array of numbers, and one for the results. */
static cubed_status check_all(eval *e, const eval_targets *results, cubed_error *err)
{
    cli_common common = e->common;
    const int n = e->ncounts;
    cubed_target *target = cli_alloc((size_t)(n + e->nitems) * sizeof *target);
    int *counts = cli_alloc((size_t)(n + 1) * sizeof *counts);
    for (int i = 0; i < n; i++) {
        target[i] = (cubed_target){.array = e->count[i]};
        counts[i] = 1;
    }
    memcpy(target + n, results->target, (size_t)e->nitems * sizeof *target);
    counts[n] = e->nitems;
    common.remake = remake_all;
    const cubed_status st = cli_check_plans(e->ctx, target, counts, n + 1, &results->group,
                                            results->grouped, &common, err);
    cli_free(counts);
    cli_free(target);
    return st;
}

/* Numbers that shapes depend on were refused. Adds to the error the memory that is enough for these numbers, for later
 * ones, and for the results. Unknown lengths are assumed to be maximal. If shapes do not fit such lengths, the error says
 * that its advice holds only for these numbers. */
static void advise_for_all(eval *e, cubed_error *err)
{
    cubed_error other = CUBED_ERROR_INIT;
    eval_targets t = {.target = NULL};
    e->is_planned = true;
    cubed_status st = build(e, &e->common, &other);
    if (st == CUBED_OK) st = place_results(e, &other) ? make_targets(e, &t, &other) : other.status;
    if (st == CUBED_OK) st = check_all(e, &t, &other);
    free_targets(&t);
    if (st == CUBED_E_BUDGET)
        *err = other;
    else
        cli_note(err,
                 "; this holds for the numbers that are computed first: results depend on them, "
                 "and may need more");
}

/* Refuses results that pictures cannot show, before anything is computed. */
static int check_picture(const eval *e)
{
    if (!e->out) return cli_usage_error(e->verb, "say where the picture goes: --out map.png");
    if (!archive_is_picture(e->out))
        return cli_usage_error(e->verb, "--out %s: expected a FILE.png, FILE.svg or FILE.pdf",
                               e->out);
    for (int i = 0; i < cubed_expr_results_count(e->built); i++) {
        const cubed_expr_result *v = cubed_expr_results_at(e->built, i);
        const int ndim = cubed_array_ndim(v->array);
        if (ndim != 1 && ndim != 2)
            return cli_usage_error(
                e->verb,
                "%s has %d dimensions: a series has one and a map two (x[0], mean(x, dim=\"time\") "
                "and sel(x, time=\"2020-01-01\") take dimensions away)",
                v->name, ndim);
    }
    return e->common.plan_only ? EXIT_SUCCESS : picture_check(e->verb);
}

static int prepare(eval *e)
{
    cubed_error err = CUBED_ERROR_INIT;
    int code = cli_context(e->verb, &e->common, &e->ctx);
    if (code != EXIT_SUCCESS) return code;
    e->in.ctx = e->in.joined.ctx = e->ctx;
    if (cubed_expr_parse(e->text, &e->expr, &err) != CUBED_OK) return cli_report(e->verb, &err);
    const char *twice = cubed_expr_repeated(e->expr);
    if (twice)
        return cli_usage_error(e->verb,
                               "the name \"%s\" has two values, of which only the last would be a "
                               "result: give each its own name, or one that starts with _",
                               twice);
    const cubed_status st = build(e, &e->common, &err);
    if (st == CUBED_E_BUDGET) advise_for_all(e, &err);
    if (st != CUBED_OK) return cli_report(e->verb, &err);
    if (e->common.picture && (code = check_picture(e)) != EXIT_SUCCESS) return code;
    if (!place_results(e, &err)) return cli_report(e->verb, &err);
    char *unused = inputs_unused(&e->in, is_grouped(e) ? inputs_group(&e->in) : NULL);
    if (unused) {
        code = cli_usage_error(e->verb, "the expression uses nothing of the input %s", unused);
        cli_free(unused);
        return code;
    }
    if (e->in.joined.stack && !e->in.joined.has_along)
        return cli_usage_error(e->verb,
                               "--stack %s is for an input of several files, such as 'm*.nc'",
                               e->in.joined.stack);
    if (e->in.joined.along && !e->in.joined.has_along)
        return cli_usage_error(
            e->verb,
            "--along is \"%s\": nothing that several files hold has a dimension of "
            "that name",
            e->in.joined.along);
    if (e->nitems == 0) return cli_usage_error(e->verb, "no result: every name starts with _");
    for (int i = 0; i < e->nitems && !e->out && !e->common.plan_only; i++) {
        char text[32];
        if (e->item[i].bytes > PRINTED_BYTES)
            return cli_usage_error(
                e->verb, "the result \"%s\" has %s: say where it goes with --out", e->item[i].name,
                cli_format_bytes((double)e->item[i].bytes, text));
    }
    const int wrong = check_csv(e);
    return wrong == EXIT_SUCCESS ? run(e) : wrong;
}

/* Reports what is wrong with an option, and frees it. */
static int refuse(const eval *e, const char *option, char *wrong)
{
    const int code = cli_usage_error(e->verb, "%s%s", option, wrong);
    cli_free(wrong);
    return code;
}

/* Reads options and inputs. The caller frees them, also after an error. */
static int parse(int argc, char **argv, const cli_usage *usage, cli_picture *picture, eval *e)
{
    char *wrong = NULL;
    bool decode = false;
    int key;
    while ((key = cli_next_option(argc, argv, usage, &e->common)) != -1) {
        switch (key) {
        case KEY_IN: wrong = inputs_add(&e->in, optarg); break;
        case KEY_ALONG: e->in.joined.along = optarg; break;
        case KEY_STACK: e->in.joined.stack = optarg; break;
        case KEY_OVERLAP:
            if (!joined_parse_overlap(optarg, &e->in.joined.overlap))
                return cli_usage_error(e->verb, "--overlap \"%s\": expected first, last or error",
                                       optarg);
            break;
        case KEY_OUT: e->out = optarg; break;
        case KEY_DECODE: decode = true; break;
        case KEY_RAW: e->in.raw = true; break;
        case KEY_COLORS: picture->colors = optarg; break;
        case KEY_TITLE: picture->title = optarg; break;
        case KEY_CODECS: e->codecs = optarg; break;
        case KEY_CSV: e->csv = true; break;
        case KEY_REGION: e->region = optarg; break;
        case KEY_CHUNKS:
            if (!chunk_spec_parse(optarg, &e->chunks))
                return cli_usage_error(e->verb, "--chunks \"%s\": " CHUNK_SPEC_EXPECTED, optarg);
            break;
        case KEY_FORMAT:
            if (strcmp(optarg, "2") != 0 && strcmp(optarg, "3") != 0)
                return cli_usage_error(e->verb, "--format \"%s\": expected 2 or 3", optarg);
            e->format = optarg[0] - '0';
            break;
        default:
            if ((wrong = outputs_take(&e->outputs, key, optarg))) return refuse(e, "", wrong);
            break;
        }
        if (wrong) return refuse(e, "--in: ", wrong);
    }
    if (optind >= argc) return cli_usage_error(e->verb, "expected an expression");
    if (argc - optind > 2)
        return cli_usage_error(e->verb,
                               "expected an expression and one STORE, but \"%s\" follows: more "
                               "inputs are given with --in, and --out says where results go",
                               argv[optind + 2]);
    if (!e->out && (e->codecs || e->format || e->common.overwrite || e->common.durable))
        return cli_usage_error(e->verb, "--format, --codecs, --overwrite and --durable are for "
                                        "results that are stored: with --out");
    const char *stored = e->chunks.n ? "--chunks" : outputs_given(&e->outputs);
    if (stored && (!e->out || e->region))
        return cli_usage_error(
            e->verb, "%s is for new results that are stored: with --out, and without --region",
            stored);
    if (e->codecs && e->outputs.level >= 0)
        return cli_usage_error(e->verb, "--codecs and --%s exclude each other",
                               e->outputs.zstd ? "zstd" : "deflate");
    if (e->outputs.shuffle && e->outputs.level < 0)
        return cli_usage_error(e->verb, "--shuffle: expected --deflate or --zstd with it");
    if (e->csv && (e->out || e->common.json || e->common.plan_only || e->common.save_plan))
        return cli_usage_error(e->verb, "--csv is for results that are printed: without --out, "
                                        "--json, --plan and --save-plan");
    if (e->region && (!e->out || e->codecs || e->format || e->common.overwrite))
        return cli_usage_error(
            e->verb, "--region is for an array that exists: with --out, and without --format, "
                     "--codecs and --overwrite");
    if (e->in.joined.stack && e->in.joined.along)
        return cli_usage_error(e->verb,
                               "--along and --stack exclude each other: files are joined along a "
                               "dimension that they have, or along a new one");
    e->text = argv[optind++];
    if (optind < argc && (wrong = inputs_add(&e->in, argv[optind]))) return refuse(e, "", wrong);
    if (e->in.raw && decode)
        return cli_usage_error(e->verb,
                               "--raw and --decode contradict each other: give one of them");
    if ((e->in.raw || decode) && e->in.nspecs == 0)
        return cli_usage_error(e->verb, "%s is about inputs, and there are none",
                               decode ? "--decode" : "--raw");
    if (e->out && (wrong = archive_refuse(e->out, e->common.plan_only || e->common.save_plan)))
        return refuse(e, "--out ", wrong);
    e->common.remake = remake;
    e->common.remake_ctx = e;
    return EXIT_SUCCESS;
}

static void free_eval(eval *e)
{
    free_items(e->item, e->nitems);
    cubed_expr_results_free(e->built);
    cubed_expr_free(e->expr);
    free_again(e);
    free_counts(e->count, e->ncounts);
    cli_free(e->length);
    outputs_free(&e->outputs);
    chunk_spec_free(&e->chunks);
    inputs_free(&e->in);
    cubed_context_unref(e->ctx);
}

/* Evaluates expressions: common to all verbs, from options and inputs to the run. Takes over `command`. */
static int evaluate(int argc, char **argv, const cli_usage *usage, cli_picture *picture,
                    char *command)
{
    eval e = {.verb = argv[0], .common = CLI_COMMON_INIT, .outputs = OUTPUTS_INIT};
    e.common.picture = picture;
    e.outputs.command = command;
    int code = parse(argc, argv, usage, picture, &e);
    if (code == EXIT_SUCCESS) code = prepare(&e);
    free_eval(&e);
    return code;
}

int cli_build_result(int argc, char **argv, cubed_array **out)
{
    eval e = {.verb = argv[0], .common = CLI_COMMON_INIT, .outputs = OUTPUTS_INIT};
    cubed_error err = CUBED_ERROR_INIT;
    *out = NULL;
    int code = parse(argc, argv, &cmd_eval_usage, NULL, &e);
    if (code == EXIT_SUCCESS) code = cli_context(e.verb, &e.common, &e.ctx);
    if (code == EXIT_SUCCESS) {
        e.in.ctx = e.in.joined.ctx = e.ctx;
        cubed_status st = cubed_expr_parse(e.text, &e.expr, &err);
        if (st == CUBED_OK) st = build(&e, &e.common, &err);
        if (st == CUBED_OK)
            *out = cubed_array_ref(cubed_expr_results_at(e.built, 0)->array);
        else
            code = cli_report(e.verb, &err);
    }
    free_eval(&e);
    return code;
}

int cli_evaluate(int argc, char **argv, char *command)
{
    return evaluate(argc, argv, &cmd_eval_usage, NULL, command);
}

int cmd_eval(int argc, char **argv)
{
    return cli_evaluate(argc, argv, history_command(argc, argv));
}

int cmd_plot(int argc, char **argv)
{
    cli_picture picture = {NULL, NULL};
    return evaluate(argc, argv, &cmd_plot_usage, &picture, NULL);
}
