#include "inputs.h"

#include <ctype.h>
#include <string.h>

#include "cli.h"
#include "near.h"

char *inputs_first(const char *url)
{
    int n = 0;
    char **urls = joined_is_pattern(url) ? joined_expand(url, &n) : NULL;
    char *first = cli_strdup(n ? urls[0] : url);
    joined_free_urls(urls, n);
    return first;
}

/* --- Names -------------------------------------------------------------------------------------------- */

/* Returns true if a file or directory has this name or matches it as a pattern. Then "year=2020/a.nc" is a path, not
 * NAME=STORE. */
static bool is_path(const char *spec)
{
    int n = 0;
    if (!cli_is_url(spec) && cli_is_there(spec)) return true;
    if (cli_is_url(spec) || !joined_is_pattern(spec)) return false;
    char **urls = joined_expand(spec, &n);
    joined_free_urls(urls, n);
    return n > 0;
}

char *inputs_add(inputs *in, const char *spec)
{
    size_t n = 0;
    if (in->nspecs == INPUTS_MAX) return cli_printf("there are more than %d inputs", INPUTS_MAX);
    while (isalnum((unsigned char)spec[n]) || spec[n] == '_') n++;
    bool named = n > 0 && spec[n] == '=' && !isdigit((unsigned char)spec[0]) && !is_path(spec);
    const char *url = named ? spec + n + 1 : spec;
    if (!*url) return cli_printf("\"%s\": expected a STORE", spec);
    for (int i = 0; i < in->nspecs; i++) {
        const char *have = in->spec[i].name;
        if (named && have && strlen(have) == n && strncmp(have, spec, n) == 0)
            return cli_printf("the input \"%s\" is given twice: as %s and as %s", have,
                              in->spec[i].url, url);
        if (!named && !have && strcmp(in->spec[i].url, url) == 0)
            return cli_printf("the input %s is given twice", url);
    }
    in->spec[in->nspecs].name = named ? cli_printf("%.*s", (int)n, spec) : NULL;
    in->spec[in->nspecs++].url = url;
    return NULL;
}

char *inputs_unused(const inputs *in, const char *but)
{
    for (int i = 0; i < in->nspecs; i++) {
        if (in->spec[i].used || in->spec[i].url == but) continue;
        const char *name = in->spec[i].name;
        return cli_printf("%s%s%s", name ? name : "", name ? "=" : "", in->spec[i].url);
    }
    return NULL;
}

void inputs_free(inputs *in)
{
    for (int i = 0; i < in->nspecs; i++) cli_free(in->spec[i].name);
    for (int i = 0; i < in->nopen; i++) {
        cli_free(in->open[i].name);
        cubed_array_unref(in->open[i].array);
    }
    cli_free(in->open);
    for (int i = 0; i < in->ncoordinates; i++) {
        cli_free(in->coordinate[i].name);
        cubed_array_unref(in->coordinate[i].array);
    }
    cli_free(in->coordinate);
    cli_free(in->known);
    joined_free(&in->joined);
}

const char *inputs_group(const inputs *in)
{
    for (int i = 0; i < in->nspecs; i++) {
        if (!in->spec[i].name) return in->spec[i].url;
    }
    return NULL;
}

char *inputs_own_name(const char *url)
{
    size_t n, store;
    const char *path = cubed_url_path(url, &n, &store);
    const char *s = n ? path : url;
    if (n == 0) n = store;
    while (n > 0 && s[n - 1] == '/') n--;
    size_t start = n;
    while (start > 0 && s[start - 1] != '/') start--;
    s += start;
    n -= start;
    if (n > 5 && strncmp(s + n - 5, ".zarr", 5) == 0) n -= 5;
    return cli_printf("%.*s", (int)n, s);
}

static void add_known(inputs *in, const char *name)
{
    char *longer = cli_printf("%s%s%s", in->known ? in->known : "", in->known ? ", " : "", name);
    cli_free(in->known);
    in->known = longer;
}

typedef struct known_walk {
    inputs *in;
    const char *url;
    size_t base; /* length of the path of the group */
} known_walk;

static cubed_status add_entry(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    known_walk *w = ctx;
    const char *path = info->path + w->base;
    (void)err;
    while (*path == '/') path++;
    if (!info->is_array || strchr(path, '/')) return CUBED_OK;
    char *name = *path ? cli_strdup(path) : inputs_own_name(w->url);
    add_known(w->in, name);
    cli_free(name);
    return CUBED_OK;
}

/* Lists the names that the inputs have, for advice on a missing name. Fails if a store does not exist. */
static cubed_status list_known(inputs *in, const char **known, cubed_error *err)
{
    for (int i = 0; i < in->nspecs; i++) {
        size_t store;
        known_walk w = {in, in->spec[i].url, 0};
        (void)cubed_url_path(w.url, &w.base, &store);
        if (in->spec[i].name) {
            add_known(in, in->spec[i].name);
        } else {
            char *first = inputs_first(w.url);
            cubed_status st = cubed_zarr_walk(in->ctx, first, false, add_entry, &w, err);
            st = near_place(in->ctx, first, st, err);
            cli_free(first);
            if (st != CUBED_OK) return st;
        }
    }
    if (!in->known) in->known = cli_strdup("none (name some with --in)");
    *known = in->known;
    return CUBED_OK;
}

/* Returns true for characters, which form strings along the last dimension. */
static bool is_characters(const cubed_array *x)
{
    const int ndim = cubed_array_ndim(x);
    return cubed_dtype_family(cubed_array_dtype(x)) == CUBED_BYTES &&
           cubed_dtype_size(cubed_array_dtype(x)) == 1 && ndim > 0 &&
           cubed_array_shape(x)[ndim - 1] > 0 && cubed_array_dim_name(x, ndim - 1);
}

/* Opens an array, or joins the arrays of several files. If the URL has no PATH, opens the arrays called `name`. Reads
 * variable-length strings immediately, not lazily. Joins characters to strings, unless stored values are requested. `describes`
 * is set for coordinates, bounds and other descriptions. */
static cubed_status open_array(inputs *in, const char *name, const char *url, bool describes,
                               cubed_array **out, cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    const bool several = joined_is_pattern(url);
    size_t path, store;
    (void)cubed_url_path(url, &path, &store);
    char *whole = path || !several ? cli_strdup(url) : cli_join_url(url, name);
    const joined_values values = !in->raw    ? JOINED_DECODED
                                 : describes ? JOINED_TIMES
                                             : JOINED_STORED;
    cubed_status st = several ? joined_open(&in->joined, whole, values, describes, out, err)
                              : cubed_array_open(in->ctx, url, out, err);
    cli_free(whole);
    if (st == CUBED_OK && !in->raw && is_characters(*out)) {
        cubed_array *characters = *out;
        *out = NULL;
        st = cubed_cf_join_characters(characters, out, err);
        cubed_array_unref(characters);
    }
    if (several) return st;
    if (st != CUBED_E_UNSUPPORTED) return near_place(in->ctx, url, st, err);
    const cubed_status read = cubed_array_open_texts(in->ctx, url, CLI_TEXT_BYTES, out, &why);
    if (read == CUBED_E_UNSUPPORTED) return st;
    *err = why;
    return read;
}

static cubed_status open_one(inputs *in, const char *name, const char *url, bool describes,
                             cubed_array **out, cubed_error *err)
{
    cubed_array *x;
    cubed_status st = open_array(in, name, url, describes, &x, err);
    if (st != CUBED_OK) return st;
    in->open = cli_resize(in->open, (size_t)(in->nopen + 1) * sizeof *in->open);
    in->open[in->nopen].name = cli_strdup(name);
    in->open[in->nopen].describes = describes;
    in->open[in->nopen++].array = cubed_array_ref(x);
    *out = x;
    return CUBED_OK;
}

/* Flags of open_unnamed. IS_ARRAY: try the input itself as the array. DESCRIBES: the array describes other arrays. */
enum { IS_ARRAY = 1, DESCRIBES = 2 };

/* Opens array `name` of an input without a name, or, with IS_ARRAY, the input itself. Returns CUBED_E_NOT_FOUND if there is
 * no such array. */
static cubed_status open_unnamed(inputs *in, int i, const char *name, unsigned flags,
                                 cubed_array **out, cubed_error *err)
{
    const bool is_array = flags & IS_ARRAY;
    const char *spec = in->spec[i].url;
    char *alias = is_array ? inputs_own_name(spec) : NULL;
    char *url = is_array ? cli_strdup(spec) : cli_join_url(spec, name);
    cubed_status st = CUBED_E_NOT_FOUND;
    if (!is_array || strcmp(alias, name) == 0)
        st = open_one(in, name, url, flags & DESCRIBES, out, err);
    cli_free(alias);
    cli_free(url);
    return st;
}

/* Fails if an input after number i also has an array of this name. */
static cubed_status check_only(inputs *in, int i, bool is_array, const char *name, cubed_error *err)
{
    for (int k = i + 1; k < in->nspecs; k++) {
        cubed_array *other;
        cubed_error ignored = CUBED_ERROR_INIT;
        if (in->spec[k].name ||
            open_unnamed(in, k, name, is_array ? IS_ARRAY : 0, &other, &ignored) != CUBED_OK)
            continue;
        cubed_array_unref(other);
        return cli_reject(err, "\"%s\" is in %s and in %s: specify one with --in %s=STORE::PATH",
                          name, in->spec[i].url, in->spec[k].url, name);
    }
    return CUBED_OK;
}

cubed_status inputs_lookup(void *ctx, const char *name, cubed_array **out, const char **known,
                           cubed_error *err)
{
    inputs *in = ctx;
    *out = NULL;
    for (int i = 0; i < in->nopen; i++) {
        if (strcmp(in->open[i].name, name) != 0) continue;
        if (in->raw && in->open[i].describes != !known) continue;
        *out = cubed_array_ref(in->open[i].array);
        return CUBED_OK;
    }
    for (int i = 0; i < in->nspecs; i++) {
        if (!in->spec[i].name || strcmp(in->spec[i].name, name) != 0) continue;
        in->spec[i].used = true;
        return open_one(in, name, in->spec[i].url, !known, out, err);
    }
    for (int i = 0; i < 2 * in->nspecs; i++) {
        const int k = i % in->nspecs;
        const bool is_array = i >= in->nspecs; /* first tries inputs as groups, then as arrays */
        if (in->spec[k].name) continue;
        cubed_error why = CUBED_ERROR_INIT;
        const unsigned flags = (is_array ? IS_ARRAY : 0) | (known ? 0 : DESCRIBES);
        cubed_status st = open_unnamed(in, k, name, flags, out, &why);
        if (st == CUBED_E_NOT_FOUND) continue;
        in->spec[k].used = true;
        in->spec[k].is_group = in->spec[k].is_group || !is_array;
        if (st != CUBED_OK) *err = why;
        if (st == CUBED_OK && known) st = check_only(in, k, is_array, name, err);
        if (st != CUBED_OK) cubed_array_unref(*out);
        if (st != CUBED_OK) *out = NULL;
        return st;
    }
    if (!known) return CUBED_OK;
    *known = in->known;
    return in->known ? CUBED_OK : list_known(in, known, err);
}

/* --- Coordinates -------------------------------------------------------------------------------------- */

char *inputs_beside(const char *url, const char *name)
{
    size_t n, store;
    const char *path = cubed_url_path(url, &n, &store);
    while (n > 0 && path[n - 1] == '/') n--;
    if (n == 0) return joined_is_pattern(url) ? cli_join_url(url, name) : NULL;
    while (n > 0 && path[n - 1] != '/') n--;
    return cli_printf("%.*s::%.*s%s", (int)store, url, (int)n, path, name);
}

bool inputs_must_report(cubed_status st) { return st == CUBED_E_NOMEM || st == CUBED_E_IO; }

/* Opens the array `name` next to input i, which has a name. *out is NULL if there is no such array. */
static cubed_status open_beside(inputs *in, int i, const char *name, cubed_array **out,
                                cubed_error *err)
{
    char *url = inputs_beside(in->spec[i].url, name);
    const cubed_status st = url ? open_array(in, name, url, true, out, err) : CUBED_OK;
    cli_free(url);
    if (!url || st != CUBED_OK) *out = NULL;
    return inputs_must_report(st) ? st : CUBED_OK;
}

static cubed_status find_coordinate(inputs *in, const char *name, cubed_array **out,
                                    cubed_error *err)
{
    *out = NULL;
    /* An array of another file, such as a file of weights, may be missing. */
    if (strstr(name, "::")) {
        const cubed_status st = cubed_array_open(in->ctx, name, out, err);
        if (st != CUBED_OK) *out = NULL;
        return inputs_must_report(st) ? st : CUBED_OK;
    }
    if (inputs_group(in)) {
        const cubed_status st = inputs_lookup(in, name, out, NULL, err);
        if (st != CUBED_OK || *out) return st;
    }
    cubed_status st = CUBED_OK;
    for (int i = 0; i < in->nspecs && !*out && st == CUBED_OK; i++) {
        if (in->spec[i].name) st = open_beside(in, i, name, out, err);
    }
    return st;
}

cubed_status inputs_coordinate(inputs *in, const char *name, cubed_array **out, cubed_error *err)
{
    int i = 0;
    while (i < in->ncoordinates && strcmp(in->coordinate[i].name, name) != 0) i++;
    if (i == in->ncoordinates) {
        const cubed_status st = find_coordinate(in, name, out, err);
        if (st != CUBED_OK) return st;
        in->coordinate = cli_resize(in->coordinate, (size_t)(i + 1) * sizeof *in->coordinate);
        in->coordinate[i].name = cli_strdup(name);
        in->coordinate[i].array = *out;
        in->ncoordinates++;
    }
    *out = in->coordinate[i].array ? cubed_array_ref(in->coordinate[i].array) : NULL;
    return CUBED_OK;
}

cubed_status inputs_coordinate_of(inputs *in, const char *of, const char *name, cubed_array **out,
                                  cubed_error *err)
{
    *out = NULL;
    for (int i = 0; i < in->nspecs; i++) {
        if (!in->spec[i].name || strcmp(in->spec[i].name, of) != 0) continue;
        const cubed_status st = open_beside(in, i, name, out, err);
        if (st != CUBED_OK) return st;
    }
    return *out ? CUBED_OK : inputs_coordinate(in, name, out, err);
}

bool inputs_have_group(const inputs *in)
{
    for (int i = 0; i < in->nspecs; i++) {
        if (in->spec[i].is_group) return true;
    }
    return false;
}

bool inputs_is_of_file(const cubed_zarr_info *info)
{
    static const char prefix[] = "HDF5's ";
    return info->type && strncmp(info->type, prefix, sizeof prefix - 1) == 0;
}
