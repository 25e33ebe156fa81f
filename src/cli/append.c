#include "append.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "append_values.h"
#include "archive.h"
#include "inputs.h"
#include "lang/lang_arrays.h"

/* An array of the store. */
typedef struct stored_array {
    char *name;
    int axis; /* index of the dimension; -1 if the array does not have it */
    int64_t length;
    char *codecs, *unsupported;
    bool given; /* a result or a coordinate extends the array, or was compared with it */
} stored_array;

/* A result array without the dimension. It must equal the stored array of the same name. */
typedef struct same {
    char *name;
    /* 0-d bool array, computed before the results: true if any element differs */
    cubed_array *differs;
} same;

struct append {
    append_place to;
    const cli_common *common;
    bool is_file, is_group;
    int format;
    char *attrs;
    stored_array *array;
    int narrays;
    int64_t base; /* stored length of the dimension */
    char *bounds; /* name of the bounds of the stored coordinate, or NULL */
    /* times: units of the stored coordinate (`old`) and of the results' coordinate (`new`) */
    append_times old, new;
    cubed_hold **hold;
    int nholds;
    same *same;
    int nsame;
    cubed_target *target;
    cubed_array **owned; /* references to arrays of the targets, dropped at the end */
    char **text;         /* strings of the targets, freed at the end */
    int ntargets, nowned, ntexts;
};

/* --- The store ---------------------------------------------------------------------------------------- */

static cubed_status note(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    append *a = ctx;
    size_t n, store;
    (void)cubed_url_path(a->to.out, &n, &store);
    /* The path of an array begins with the path of the group. */
    const bool top = strlen(info->path) <= n;
    const char *name = top ? "" : info->path + n + (n > 0);
    if (top) {
        a->is_group = !info->is_array;
        a->format = info->zarr_format;
        if (a->is_group) a->attrs = cli_strdup(info->attrs ? info->attrs : "{}");
    }
    if (!info->is_array) {
        if (top || !a->is_file) return CUBED_OK;
        return cli_reject(err,
                          "--append: %s has a group \"%s\", expected a file without groups: write "
                          "to a Zarr store",
                          a->to.out, info->path);
    }
    if (strchr(name, '/')) return CUBED_OK;
    a->array = cli_resize(a->array, (size_t)(a->narrays + 1) * sizeof *a->array);
    stored_array *s = &a->array[a->narrays++];
    *s = (stored_array){.name = cli_strdup(name), .axis = -1};
    for (int d = 0; d < info->ndim; d++) {
        const char *dim = info->dim_names[d];
        if (!dim || strcmp(dim, a->to.dim) != 0) continue;
        s->axis = d;
        s->length = info->shape[d];
    }
    if (info->codecs) s->codecs = cli_strdup(info->codecs);
    if (info->unsupported) s->unsupported = cli_strdup(info->unsupported);
    return CUBED_OK;
}

static void forget_arrays(append *a)
{
    for (int i = 0; i < a->narrays; i++) {
        cli_free(a->array[i].name);
        cli_free(a->array[i].codecs);
        cli_free(a->array[i].unsupported);
    }
    cli_free(a->array);
    cli_free(a->attrs);
    a->array = NULL;
    a->attrs = NULL;
    a->narrays = 0;
}

static stored_array *find_array(append *a, const char *name)
{
    for (int i = 0; i < a->narrays; i++) {
        /* an array that is the whole store has no name */
        if (!a->is_group || strcmp(a->array[i].name, name) == 0) return &a->array[i];
    }
    return NULL;
}

static char *url_of(const append *a, const stored_array *s)
{
    return a->is_group ? cli_join_url(a->to.out, s->name) : cli_strdup(a->to.out);
}

/* Sets the length of the dimension to the length of its coordinate, which is extended last. Without a coordinate, uses the
 * smallest length of all arrays. */
static cubed_status find_base(append *a, cubed_error *err)
{
    const stored_array *coordinate = a->is_group ? find_array(a, a->to.dim) : NULL;
    a->base = -1;
    if (coordinate && coordinate->axis == 0) a->base = coordinate->length;
    for (int i = 0; i < a->narrays && !coordinate; i++) {
        const stored_array *s = &a->array[i];
        if (s->axis >= 0 && (a->base < 0 || s->length < a->base)) a->base = s->length;
    }
    if (a->base < 0)
        return cli_reject(err, "--append: %s has no array with a dimension \"%s\"", a->to.out,
                          a->to.dim);
    for (int i = 0; i < a->narrays; i++) {
        const stored_array *s = &a->array[i];
        if (s->axis >= 0 && s->length < a->base)
            return cli_reject(err,
                              "--append: \"%s\" of %s has %" PRId64
                              " elements along \"%s\", expected %" PRId64
                              ", the length of its coordinate: the store is damaged",
                              s->name, a->to.out, s->length, a->to.dim, a->base);
    }
    return CUBED_OK;
}

/* Refuses to extend one array of a group, because the other arrays would then be shorter. */
static cubed_status check_alone(const append *a, cubed_error *err)
{
    cubed_array *x;
    cubed_error ignored = CUBED_ERROR_INIT;
    char *url = a->is_group ? NULL : inputs_beside(a->to.out, a->to.dim);
    const bool is_there = url && cubed_array_open(a->to.ctx, url, &x, &ignored) == CUBED_OK;
    if (is_there) cubed_array_unref(x);
    cli_free(url);
    return is_there ? cli_reject(err,
                                 "--append: %s is one array of a group with a coordinate \"%s\", "
                                 "expected the group: all its arrays become longer",
                                 a->to.out, a->to.dim)
                    : CUBED_OK;
}

static cubed_status read_store(append *a, cubed_error *err)
{
    forget_arrays(a);
    const cubed_status st = cubed_zarr_walk(a->to.ctx, a->to.out, false, note, a, err);
    if (st == CUBED_E_NOT_FOUND)
        return cli_reject(err,
                          "--append: there is no store or file %s to extend: leave --append out "
                          "to create it",
                          a->to.out);
    return st == CUBED_OK ? find_base(a, err) : st;
}

/* Claims the place of each array that has the dimension, so that no other process extends the array. Then reads the store
 * again, because another process may have extended arrays in the meantime. */
static cubed_status hold_all(append *a, cubed_error *err)
{
    cubed_takeover_options takeover = CUBED_TAKEOVER_OPTIONS_INIT;
    cubed_status st = CUBED_OK;
    takeover.silence_seconds = a->common->silence_seconds;
    takeover.take_over = a->common->take_over;
    a->hold = cli_alloc((size_t)(a->narrays + 1) * sizeof *a->hold);
    for (int i = 0; i < a->narrays && st == CUBED_OK; i++) {
        if (a->array[i].axis < 0) continue;
        char *url = url_of(a, &a->array[i]);
        st = cubed_place_hold(a->to.ctx, url, &takeover, &a->hold[a->nholds], err);
        if (st == CUBED_OK) a->nholds++;
        cli_free(url);
    }
    return st == CUBED_OK ? read_store(a, err) : st;
}

/* Truncates arrays that are longer than the coordinate, because a killed command had extended them. */
static cubed_status cut_all(append *a, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    for (int i = 0; i < a->narrays && st == CUBED_OK; i++) {
        stored_array *s = &a->array[i];
        if (s->axis < 0 || s->length == a->base) continue;
        char *url = url_of(a, s);
        st = cubed_zarr_set_length(a->to.ctx, url, s->axis, s->length, a->base, err);
        if (st == CUBED_OK) s->length = a->base;
        cli_free(url);
    }
    return st;
}

/* Reads the attributes of the stored coordinate. */
static cubed_status describe(append *a, cubed_error *err)
{
    const stored_array *s = a->is_group ? find_array(a, a->to.dim) : NULL;
    cubed_array *x;
    if (!s || s->unsupported) return CUBED_OK;
    char *url = url_of(a, s);
    cubed_status st = cubed_array_open(a->to.ctx, url, &x, err);
    cli_free(url);
    if (st != CUBED_OK) return st;
    json_t *attrs = lang_attributes(cubed_array_attrs(x));
    const char *bounds = lang_attribute_text(attrs, "bounds");
    if (!bounds) bounds = lang_attribute_text(attrs, "climatology");
    if (bounds) a->bounds = cli_strdup(bounds);
    json_decref(attrs);
    st = append_find_times(&a->to, a->to.dim, x, &a->old, err);
    cubed_array_unref(x);
    return st;
}

cubed_status append_begin(cubed_context *ctx, const cli_common *common, const char *out,
                          const char *dim, append **out_append, cubed_error *err)
{
    append *a = cli_alloc(sizeof *a);
    *out_append = a;
    a->to.ctx = ctx;
    a->common = common;
    a->to.out = out;
    a->to.dim = dim;
    a->is_file = archive_is_wanted(out);
    if (a->is_file && !archive_is_netcdf(out))
        return cli_reject(err,
                          "--append: %s is an archive, which is written as a whole: append to a "
                          "Zarr store or a NetCDF file",
                          out);
    cubed_status st = read_store(a, err);
    if (st == CUBED_OK) st = check_alone(a, err);
    if (st == CUBED_OK && !a->is_file && !common->plan_only) {
        st = hold_all(a, err);
        if (st == CUBED_OK) st = cut_all(a, err);
    }
    return st == CUBED_OK ? describe(a, err) : st;
}

void append_end(append *a)
{
    if (!a) return;
    for (int i = 0; i < a->nholds; i++) cubed_place_release(a->hold[i]);
    for (int i = 0; i < a->nsame; i++) {
        cli_free(a->same[i].name);
        cubed_array_unref(a->same[i].differs);
    }
    for (int i = 0; i < a->nowned; i++) cubed_array_unref(a->owned[i]);
    for (int i = 0; i < a->ntexts; i++) cli_free(a->text[i]);
    forget_arrays(a);
    cli_free(a->bounds);
    cli_free(a->hold);
    cli_free(a->same);
    cli_free(a->target);
    cli_free(a->owned);
    cli_free(a->text);
    cli_free(a);
}

const char *append_attrs(const append *a) { return a->attrs; }

int append_format(const append *a) { return a->format; }

bool append_is_group(const append *a) { return a->is_group; }

bool append_has(append *a, const char *name) { return a->is_group && find_array(a, name); }

/* Keeps a reference to x until append_end. Returns x. */
static cubed_array *own(append *a, cubed_array *x)
{
    a->owned = cli_resize(a->owned, (size_t)(a->nowned + 1) * sizeof(cubed_array *));
    a->owned[a->nowned++] = x;
    return x;
}

/* Keeps a string until append_end frees it. Returns the string. */
static const char *own_text(append *a, char *text)
{
    a->text = cli_resize(a->text, (size_t)(a->ntexts + 1) * sizeof *a->text);
    a->text[a->ntexts++] = text;
    return text;
}

/* --- The coordinate ----------------------------------------------------------------------------------- */

/* Writes the consolidated metadata of the group. If an append is killed after it has extended the coordinate, the consolidated
 * metadata still have the old lengths. Readers of this metadata then miss the new elements. A repeated append refuses these
 * elements, because the coordinate already has them. Errors are not reported, because the caller reports why the append was
 * refused. */
static void consolidate_again(const append *a)
{
    if (a->nholds == 0 || !a->is_group) return;
    const cubed_status ignored =
        cubed_zarr_consolidate(a->to.ctx, a->to.out, a->common->durable, NULL);
    (void)ignored;
}

cubed_status append_coordinate(append *a, cubed_array *x, cubed_error *err)
{
    const stored_array *s = a->is_group ? find_array(a, a->to.dim) : NULL;
    cubed_array *stored;
    if (!s) return CUBED_OK;
    if (!x)
        return cli_reject(err,
                          "--append: the results have no coordinate \"%s\", expected one as in %s",
                          a->to.dim, a->to.out);
    cubed_status st = append_find_times(&a->to, a->to.dim, x, &a->new, err);
    if (st == CUBED_OK && a->new.is_time != a->old.is_time)
        st = cli_reject(err,
                        "--append: \"%s\" has units such as \"days since 2000-01-01\" only in %s",
                        a->to.dim, a->new.is_time ? "the results" : a->to.out);
    if (st != CUBED_OK) return st;
    char *url = url_of(a, s);
    st = cubed_array_open(a->to.ctx, url, &stored, err);
    cli_free(url);
    if (st != CUBED_OK) return st;
    if (cubed_array_ndim(x) != 1)
        st = cli_reject(err, "--append: the coordinate \"%s\" has %d dimensions, expected 1",
                        a->to.dim, cubed_array_ndim(x));
    if (st == CUBED_OK) {
        st = append_check_order(&a->to, stored, a->base, &a->old, x, &a->new, err);
        if (st != CUBED_OK) consolidate_again(a);
    }
    cubed_array_unref(stored);
    return st;
}

/* --- Targets ------------------------------------------------------------------------------------------ */

static cubed_status check_shape(const append *a, const char *name, const cubed_array *x,
                                const cubed_array *into, int axis, cubed_error *err)
{
    const int ndim = cubed_array_ndim(into);
    if (cubed_array_ndim(x) != ndim)
        return cli_reject(err, "--append: \"%s\" has %d dimensions, expected %d as in %s", name,
                          cubed_array_ndim(x), ndim, a->to.out);
    for (int d = 0; d < ndim; d++) {
        const char *have = cubed_array_dim_name(x, d), *want = cubed_array_dim_name(into, d);
        if (strcmp(have ? have : "", want ? want : "") != 0)
            return cli_reject(
                err, "--append: dimension %d of \"%s\" is called \"%s\", expected \"%s\" as in %s",
                d, name, have ? have : "", want ? want : "", a->to.out);
        if (d != axis && cubed_array_shape(x)[d] != cubed_array_shape(into)[d])
            return cli_reject(err,
                              "--append: dimension \"%s\" of \"%s\" has %" PRId64
                              " elements, expected %" PRId64 " as in %s",
                              have ? have : "", name, cubed_array_shape(x)[d],
                              cubed_array_shape(into)[d], a->to.out);
    }
    return CUBED_OK;
}

/* Sets the names of dimensions and the attributes of `like`. */
static cubed_status name_like(const cubed_array *like, cubed_array **x, cubed_error *err)
{
    const char *names[CUBED_MAX_NDIM];
    cubed_array *named, *out;
    for (int d = 0; d < cubed_array_ndim(*x); d++) names[d] = cubed_array_dim_name(like, d);
    cubed_status st = cubed_array_with_dim_names(*x, names, &named, err);
    if (st != CUBED_OK) return st;
    st = cubed_array_with_attrs(named, cubed_array_attrs(like), &out, err);
    cubed_array_unref(named);
    if (st != CUBED_OK) return st;
    cubed_array_unref(*x);
    *x = out;
    return CUBED_OK;
}

/* Returns codecs with the deflate level of an array of the file, or NULL for the default codecs. */
static const char *deflation(append *a, const char *codecs)
{
    json_t *list = codecs ? json_loads(codecs, 0, NULL) : NULL;
    const char *out = "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]";
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *codec = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(codec, "name"));
        const json_t *level = json_object_get(json_object_get(codec, "configuration"), "level");
        if (!name || (!strstr(name, "zlib") && !strstr(name, "gzip") && !strstr(name, "deflate")))
            continue;
        const json_int_t given = json_integer_value(level);
        out = own_text(a, cli_printf("[{\"name\": \"bytes\", \"configuration\": {\"endian\": "
                                     "\"little\"}}, {\"name\": \"gzip\", \"configuration\": "
                                     "{\"level\": %d}}]",
                                     given >= 1 && given <= 9 ? (int)given : 1));
    }
    json_decref(list);
    return list ? out : NULL;
}

static cubed_target *add_target(append *a)
{
    a->target = cli_resize(a->target, (size_t)(a->ntargets + 1) * sizeof *a->target);
    a->target[a->ntargets] = (cubed_target){.array = NULL};
    return &a->target[a->ntargets++];
}

/* Adds a target that rewrites a file's array as a whole: the stored elements, followed by those of x unless x is NULL. */
static cubed_status file_target(append *a, const stored_array *s, const char *url,
                                cubed_array *into, cubed_array *x, cubed_error *err)
{
    cubed_array *const parts[2] = {into, x};
    cubed_array *all;
    cubed_status st = CUBED_OK;
    if (x)
        st = cubed_concat(parts, 2, s->axis, &all, err);
    else
        all = cubed_array_ref(into);
    if (st == CUBED_OK && (st = name_like(into, &all, err)) != CUBED_OK) cubed_array_unref(all);
    if (st != CUBED_OK) return st;
    *add_target(a) = (cubed_target){.array = own(a, all),
                                    .url = url,
                                    .chunks = cubed_array_chunks(into),
                                    .codecs = deflation(a, s->codecs),
                                    .durable = a->common->durable};
    return CUBED_OK;
}

static cubed_status extend(append *a, const stored_array *s, const char *url, const char *name,
                           cubed_array *x, cubed_array *into, cubed_error *err)
{
    const bool is_bounds = a->bounds && strcmp(s->name, a->bounds) == 0;
    append_times of_x = {false}, of_into = {false};
    cubed_array *y;
    cubed_status st = check_shape(a, name, x, into, s->axis, err);
    if (st == CUBED_OK) st = append_find_times(&a->to, name, into, &of_into, err);
    /* By the CF conventions, bounds without units have the units of their coordinate. */
    if (is_bounds && !of_into.is_time) of_into = a->old;
    if (st == CUBED_OK) st = append_find_times(&a->to, name, x, &of_x, err);
    if (st == CUBED_OK && is_bounds && !of_x.is_time) of_x = a->new;
    if (st != CUBED_OK) return st;
    st = append_encode(&a->to, name, x, &of_x, into, &of_into, &y, err);
    if (st != CUBED_OK) return st;
    if (a->is_file) {
        st = file_target(a, s, url, into, y, err);
    } else {
        cubed_target *t = add_target(a);
        st = cubed_append_target(y, into, s->axis, t, err);
        if (st == CUBED_OK) {
            own(a, t->array);
            t->url = url;
            t->durable = a->common->durable;
        }
    }
    own(a, y);
    return st;
}

/* Adds a comparison of all elements, which compare_now computes. NaN equals NaN. */
static cubed_status compare_later(append *a, const char *name, cubed_array *x, cubed_array *into,
                                  cubed_error *err)
{
    cubed_array *values[2] = {NULL}, *ne[3] = {NULL}, *either = NULL, *all = NULL, *any = NULL;
    cubed_array *const given[2] = {x, into};
    cubed_status st = check_shape(a, name, x, into, -1, err);
    for (int k = 0; k < 2 && st == CUBED_OK; k++) st = cubed_cf_decode(given[k], &values[k], err);
    cubed_array *const pairs[3][2] = {
        {values[0], values[1]}, {values[0], values[0]}, {values[1], values[1]}};
    for (int k = 0; k < 3 && st == CUBED_OK; k++)
        st = cubed_elementwise(k == 0 ? CUBED_OP_NOT_EQUAL : CUBED_OP_EQUAL, pairs[k], 2, &ne[k],
                               err);
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_LOGICAL_OR, ne + 1, 2, &either, err);
    cubed_array *const both[2] = {ne[0], either};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_LOGICAL_AND, both, 2, &all, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_ANY, all, NULL, &any, err);
    for (int k = 0; k < 2; k++) cubed_array_unref(values[k]);
    for (int k = 0; k < 3; k++) cubed_array_unref(ne[k]);
    cubed_array_unref(either);
    cubed_array_unref(all);
    if (st != CUBED_OK) return st;
    a->same = cli_resize(a->same, (size_t)(a->nsame + 1) * sizeof *a->same);
    a->same[a->nsame++] = (same){cli_strdup(name), any};
    return CUBED_OK;
}

cubed_status append_add(append *a, const char *name, cubed_array *x, cubed_error *err)
{
    stored_array *s = find_array(a, name);
    cubed_array *into;
    if (!s)
        return cli_reject(err,
                          "--append: %s has no array \"%s\", expected only arrays that it has: "
                          "leave the result out, or write it without --append first",
                          a->to.out, name);
    const int axis = lang_axis_named(x, a->to.dim);
    if ((axis < 0) != (s->axis < 0))
        return cli_reject(err, "--append: \"%s\" has the dimension \"%s\" only in %s", name,
                          a->to.dim, axis < 0 ? a->to.out : "the results");
    const char *url = own_text(a, url_of(a, s));
    cubed_status st = cubed_array_open(a->to.ctx, url, &into, err);
    if (st != CUBED_OK) return st;
    s->given = true;
    own(a, into);
    if (axis >= 0) return extend(a, s, url, name, x, into, err);
    st = compare_later(a, name, x, into, err);
    return st == CUBED_OK && a->is_file ? file_target(a, s, url, into, NULL, err) : st;
}

/* Adds the arrays of a file that the results do not contain. Refuses arrays that would become too short. */
static cubed_status add_others(append *a, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    for (int i = 0; i < a->narrays && st == CUBED_OK; i++) {
        const stored_array *s = &a->array[i];
        cubed_array *into;
        if (s->given) continue;
        if (s->axis >= 0)
            return cli_reject(err,
                              "--append: %s has an array \"%s\" along \"%s\", which the results "
                              "lack: it would be too short",
                              a->to.out, s->name, a->to.dim);
        if (!a->is_file) continue;
        if (s->unsupported)
            return cli_reject(err, "--append: \"%s\" of %s cannot be copied: %s", s->name,
                              a->to.out, s->unsupported);
        const char *url = own_text(a, url_of(a, s));
        st = cubed_array_open(a->to.ctx, url, &into, err);
        if (st == CUBED_OK) st = file_target(a, s, url, own(a, into), NULL, err);
    }
    return st;
}

static cubed_status compare_now(append *a, cubed_error *err)
{
    bool *differs = cli_alloc((size_t)a->nsame + 1);
    cubed_array **x = cli_alloc((size_t)(a->nsame + 1) * sizeof(cubed_array *));
    void **data = cli_alloc((size_t)(a->nsame + 1) * sizeof *data);
    cubed_status st = CUBED_OK;
    for (int i = 0; i < a->nsame; i++) {
        x[i] = a->same[i].differs;
        data[i] = &differs[i];
    }
    if (a->nsame > 0) st = cli_compute_all(a->to.ctx, x, data, a->nsame, a->common, err);
    for (int i = 0; i < a->nsame && st == CUBED_OK; i++) {
        if (differs[i])
            st = cli_reject(
                err,
                "--append: \"%s\" differs from the array in %s, expected equal elements, "
                "because it has no dimension \"%s\"",
                a->same[i].name, a->to.out, a->to.dim);
    }
    cli_free(differs);
    cli_free(x);
    cli_free(data);
    return st;
}

/* Moves the coordinate to the end of the targets. It is extended last, so its length counts only complete arrays. */
static void put_coordinate_last(append *a, const char *url)
{
    for (int i = 0; i + 1 < a->ntargets; i++) {
        if (strcmp(a->target[i].url, url) != 0) continue;
        const cubed_target t = a->target[i];
        memmove(a->target + i, a->target + i + 1,
                (size_t)(a->ntargets - i - 1) * sizeof *a->target);
        a->target[a->ntargets - 1] = t;
        return;
    }
}

cubed_status append_targets(append *a, const cubed_target **targets, int *n, cubed_error *err)
{
    cubed_status st = add_others(a, err);
    if (st == CUBED_OK) st = compare_now(a, err);
    if (st != CUBED_OK) return st;
    char *url = a->is_group ? cli_join_url(a->to.out, a->to.dim) : cli_strdup(a->to.out);
    put_coordinate_last(a, url);
    cli_free(url);
    if (a->ntargets == 0)
        return cli_reject(err, "--append: no result has the dimension \"%s\"", a->to.dim);
    *targets = a->target;
    *n = a->ntargets;
    return CUBED_OK;
}
