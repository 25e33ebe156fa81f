#include "eval_state.h"

#include <inttypes.h>
#include <string.h>

#include "archive.h"
#include "lang/lang_arrays.h"
#include "referred.h"

size_t eval_array_bytes(const cubed_array *x)
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
    e->item[e->nitems++].bytes = eval_array_bytes(x);
}

static bool has_item(const eval *e, const char *name)
{
    for (int i = 0; i < e->nitems; i++) {
        if (strcmp(e->item[i].name, name) == 0) return true;
    }
    return false;
}

/* Returns true if all results have the same elements along the dimension, so that one coordinate describes them all. */
static bool is_agreed(const eval *e, const char *dim)
{
    const cubed_expr_coord *first = NULL;
    bool any = false;
    for (int i = 0; i < e->nitems; i++) {
        if (!e->item[i].result || lang_axis_named(e->item[i].array, dim) < 0) continue;
        const cubed_expr_coord *c = cubed_expr_result_coord(e->item[i].result, dim);
        if (c && c->cut) return false;
        if (any && !cubed_expr_coord_equal(first, c)) return false;
        first = c;
        any = true;
    }
    return any;
}

/* Arrays that are copied from the input to the output because they describe a result. */
typedef enum carried {
    COORDINATE, /* 1-d array with the name of a dimension */
    BOUNDS,     /* an array that an attribute of a coordinate names */
    AUXILIARY   /* an array that an attribute of a result names */
} carried;

/* Records an error in opening an array that describes results, unless the array is missing or has another type. */
static void note_loss(eval *e, cubed_status st, const cubed_error *err)
{
    if (inputs_must_report(st) && e->lost.status == CUBED_OK) e->lost = *err;
}

/* Finds array `name` for item i: the array that the item's expression created, or else the array of the input. For a coordinate,
 * finds only the array of the input. Sets *c to NULL if there is no such array. */
static void find_carried(eval *e, int i, const char *name, carried what, cubed_array **c)
{
    const cubed_expr_coord *made = cubed_expr_result_coord(e->item[i].result, name);
    cubed_error err = CUBED_ERROR_INIT;
    *c = NULL;
    if (what != COORDINATE && made && made->made) {
        *c = cubed_array_ref(made->made);
        return;
    }
    const cubed_status st = inputs_coordinate(&e->in, name, c, &err);
    if (st != CUBED_OK) *c = NULL;
    note_loss(e, st, &err);
}

/* Adds the input's array `name` to the items, because it describes item i. If the expression selected a part of a dimension, adds
 * the same part of the array. Adds nothing if the array has a dimension that the item does not have. Bounds may have one more
 * dimension, the last one. */
static void carry(eval *e, int i, const char *name, carried what)
{
    const cubed_array *x = e->item[i].array;
    cubed_array *c = NULL, *part;
    cubed_slice slices[CUBED_MAX_NDIM];
    bool whole = true;
    cubed_error err = CUBED_ERROR_INIT;
    if (has_item(e, name)) return;
    find_carried(e, i, name, what, &c);
    if (!c) return;
    bool fits = what != COORDINATE || cubed_array_ndim(c) == 1;
    for (int d = 0; d < cubed_array_ndim(c) && fits; d++) {
        const char *dim = cubed_array_dim_name(c, d);
        const int64_t extent = cubed_array_shape(c)[d];
        slices[d] = (cubed_slice){0, extent, 1, false};
        if (what == BOUNDS && d > 0 && d == cubed_array_ndim(c) - 1) continue;
        const int at = dim ? lang_axis_named(x, dim) : -1;
        const cubed_expr_coord *edit = dim ? cubed_expr_result_coord(e->item[i].result, dim) : NULL;
        fits = at >= 0 && is_agreed(e, dim) && !(edit && edit->made) &&
               extent == (edit ? edit->whole : cubed_array_shape(x)[at]) &&
               (!edit || edit->part.len == cubed_array_shape(x)[at]);
        if (edit && fits) slices[d] = edit->part;
        if (edit && fits) whole = false;
    }
    if (fits && whole) {
        add_item(e, name, c, NULL);
    } else if (fits) {
        const cubed_status st = cubed_slice_array(c, slices, &part, &err);
        note_loss(e, st, &err);
        if (st == CUBED_OK) {
            add_item(e, name, part, NULL);
            cubed_array_unref(part);
        }
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
        cubed_error err = CUBED_ERROR_INIT;
        cubed_array *part = NULL;
        const cubed_slice slices[2] = {c->part, {0, 2, 1, false}};
        if (from[k] && !has_item(e, name))
            note_loss(e, cubed_slice_array(from[k], slices, &part, &err), &err);
        if (part) {
            add_item(e, name, part, NULL);
            e->item[e->nitems - 1].aside = c->aside;
            cubed_array_unref(part);
        }
        cli_free(name);
    }
}

typedef struct referring {
    eval *e;
    int of; /* index of the item whose attributes name the arrays to add */
} referring;

static void carry_referred(void *ctx, const char *attribute, const char *name)
{
    const referring *r = ctx;
    const bool bounds = strcmp(attribute, "bounds") == 0 || strcmp(attribute, "climatology") == 0;
    carry(r->e, r->of, name, bounds ? BOUNDS : AUXILIARY);
}

/* Adds coordinates (1-d arrays named like their dimension) of the results' dimensions, restricted to the elements of the
 * results. Also adds the bounds of coordinates, and all variables to which attributes of a result refer. */
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
        /* The attributes of added arrays may name further arrays. */
        for (int k = before; k < e->nitems; k++)
            referred_each(cubed_array_attrs(e->item[k].array), carry_referred, &r);
    }
}

/* Copies the attributes of the first group that the walk visits, and ends the walk. */
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
    eval *e;
    bool alone;           /* --out names an array, not a group */
    const char *external; /* variables of other files, separated by spaces; may be "" */
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
    /* a NetCDF file, archive or picture is rewritten as a whole, so old arrays are not kept */
    if (archive_is_wanted(k->e->out) || k->e->common.picture) return false;
    char *url = k->alone ? inputs_beside(k->e->out, name) : cli_join_url(k->e->out, name);
    cubed_array *x;
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_status st = url ? cubed_array_open(k->e->ctx, url, &x, &err) : CUBED_E_NOT_FOUND;
    const bool is_there = st == CUBED_OK;
    if (st == CUBED_E_NOMEM) note_loss(k->e, st, &err); /* other errors: see is_array */
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

/* Returns true if there is an array at --out. Then the result replaces it by an array, not by a group. A store that cannot be read
 * counts as empty: a plan needs no access to it, and a run reports its error. */
static bool is_array(eval *e)
{
    cubed_array *x;
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_status st = cubed_array_open(e->ctx, e->out, &x, &err);
    if (st == CUBED_E_NOMEM) note_loss(e, st, &err);
    if (st != CUBED_OK) return false;
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

void eval_free_items(eval_item *item, int n)
{
    for (int i = 0; i < n; i++) free_item(&item[i]);
    cli_free(item);
}

/* Decodes the item to the values that users see. Returns false if its attributes do not allow that. */
static bool decode_item(eval *e, eval_item *item)
{
    cubed_array *values = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (e->in.raw) return true;
    const cubed_status st = cubed_cf_decode(item->array, &values, &err);
    note_loss(e, st, &err);
    if (st != CUBED_OK) return false;
    cubed_array_unref(item->array);
    item->array = values;
    item->bytes = eval_array_bytes(values);
    return true;
}

/* Adds the coordinates that are printed with results: the coordinates of all dimensions in CSV, otherwise only the coordinates of
 * series. */
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
            /* do not print bounds */
            while (e->nitems > before + 1) free_item(&e->item[--e->nitems]);
            if (e->nitems > before && !decode_item(e, &e->item[before]))
                free_item(&e->item[--e->nitems]);
        }
    }
}

/* If all other items are optional descriptions of the only result, removes them and returns true. */
static bool drop_descriptions(eval *e)
{
    for (int i = 1; i < e->nitems; i++) {
        if (!e->item[i].aside) return false;
    }
    while (e->nitems > 1) free_item(&e->item[--e->nitems]);
    return true;
}

/* Warns if results in one Zarr group have dimensions of the same name but different lengths. Xarray cannot open such a group, and
 * a NetCDF file cannot have such dimensions. */
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

/* Applies options to all items: descriptions and storage. Packs and rechunks results, but not coordinates. */
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

static bool place_results(eval *e, cubed_error *err)
{
    for (int i = 0; i < cubed_expr_results_count(e->built); i++) {
        const cubed_expr_result *v = cubed_expr_results_at(e->built, i);
        /* Stored results keep their packing. Results that are printed, drawn or written into an existing array are decoded. */
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
    /* NetCDF files and pictures need a name for each variable, and contain its coordinates. */
    const bool named = (archive_is_netcdf(e->out) && path == 0) || e->common.picture;
    bool bare = !named && e->nitems == 1 && e->item[0].result->is_bare;
    const bool alone = bare && (path > 0 || e->region || is_array(e));
    if (!e->region && !alone) add_coordinates(e);
    if (!e->region && edit_items(e, err) != CUBED_OK) return false;
    if (bare && (alone || (!inputs_have_group(&e->in) && drop_descriptions(e)))) {
        e->item[0].url = cli_strdup(e->out);
        return e->region || drop_references(e, true, err) == CUBED_OK;
    }
    for (int i = 0; i < e->nitems; i++) e->item[i].url = cli_join_url(e->out, e->item[i].name);
    if (!named && !e->region) warn_of_lengths(e);
    return e->region || drop_references(e, false, err) == CUBED_OK;
}

bool eval_place_results(eval *e, cubed_error *err)
{
    e->lost = (cubed_error)CUBED_ERROR_INIT;
    if (!place_results(e, err)) return false;
    if (e->lost.status == CUBED_OK) return true;
    *err = e->lost;
    return false;
}

bool eval_is_grouped(const eval *e)
{
    return e->out && !e->region && e->nitems > 0 && strcmp(e->item[0].url, e->out) != 0;
}

/* Returns the attributes of the group that exists at --out, or NULL if there is no group. The caller frees the string. */
static char *existing_attrs(const eval *e)
{
    char *attrs = NULL;
    cubed_error ignored = CUBED_ERROR_INIT;
    const cubed_status st = cubed_zarr_walk(e->ctx, e->out, false, first_attrs, &attrs, &ignored);
    (void)st; /* errors are ignored, because --out may not exist */
    return attrs;
}

cubed_status eval_result_group(eval *e, cubed_plan_group *group, char **attrs, bool *grouped,
                               cubed_error *err)
{
    *grouped = eval_is_grouped(e);
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
