#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "archive.h"
#include "chunk_spec.h"
#include "cli.h"
#include "cli_values.h"
#include "history.h"
#include "inputs.h"
#include "lang/guess.h"
#include "lang/lang_memory.h"
#include "near.h"
#include "output_options.h"
#include "referred.h"

enum {
    KEY_CHUNKS = CLI_OWN_KEY,
    KEY_REGULAR,
    KEY_SHARDS,
    KEY_FORMAT,
    KEY_CODECS,
    KEY_SKIP_EMPTY,
    KEY_KEEP_EMPTY
};

/* Properties of the subcommands rechunk and copy. */
typedef struct verb {
    const char *name;
    bool needs_chunks;
    const cli_usage *usage;
} verb;

static const cli_option own[] = {
    {"chunks", "SPEC",
     "chunk lengths: time=100,lat=-1 by dimension, or 100,-1 by position; -1: the whole axis",
     KEY_CHUNKS},
    {"regular", NULL, "replace chunks of different lengths by chunks as long as the longest",
     KEY_REGULAR},
    {"shards", "SPEC", "store chunks together in shards of this shape, or \"none\" (format 3)",
     KEY_SHARDS},
    {"format", "2|3",
     "Zarr format of the target (default: the source's, or that of the run that --resume "
     "continues)",
     KEY_FORMAT},
    {"codecs", "JSON", "v3 codec list or v2 compressor (default zstd, level 1)", KEY_CODECS},
    {"keep-empty", NULL,
     "also store chunks that hold only the fill value; by default they are not stored and use no "
     "space",
     KEY_KEEP_EMPTY},
    {"skip-empty", NULL, "do not store chunks that hold only the fill value (the default)",
     KEY_SKIP_EMPTY},
    OUTPUTS_OPTIONS,
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_rechunk_usage = {
    .synopsis = "rechunk SRC DST --chunks SPEC [options]",
    .text = "Stores an array, or every array of a group, with other chunks. Values, dimension "
            "names and\nattributes are kept. For a group, SPEC names dimensions; axes that SPEC "
            "does not name\nkeep their chunks.\n\nChunks of different lengths (format 3) are "
            "written as sums, repeated lengths as LENGTHxTIMES:\ntime=31+28+31, or time=365x3+366. "
            "Their sum must be the length of the axis. Lengths of shards are written in the same "
            "way; each shard except the last\nconsists of whole chunks.",
    .examples = "  cubed rechunk era5.zarr::t2m t2m-series.zarr --chunks time=-1,lat=10,lon=10 \\\n"
                "      --allowed-mem 2GB\n"
                "  cubed rechunk daily.zarr::tas monthly.zarr --chunks "
                "time=31+28+31+30+31+30+31x2+30+31+30+31\n"
                "  cubed rechunk era5.zarr::t2m --chunks -1,10,10 --plan\n",
    .own = own,
    .repeats = OUTPUTS_REPEATS,
    .common = true};

const cli_usage cmd_copy_usage = {
    .synopsis = "copy SRC DST [options]",
    .text =
        "Stores an array, or a whole group, at another place, in another format, or with other "
        "codecs.\nValues, chunks, shards, dimension names, attributes and fill values are kept. "
        "Values that Xarray treats as missing stay missing: by the fill value in format 2, by the "
        "attribute _FillValue in format 3. Chunks of\ndifferent lengths are kept unless --regular "
        "or --chunks is given (format 2 has none).",
    .examples = "  cubed copy era5.zarr era5-v3.zarr --format 3\n"
                "  cubed copy era5.zarr::t2m t2m.zarr --chunks time=744 --overwrite\n",
    .own = own,
    .repeats = OUTPUTS_REPEATS,
    .common = true};

static const verb rechunk_verb = {"rechunk", true, &cmd_rechunk_usage};
static const verb copy_verb = {"copy", false, &cmd_copy_usage};

/* Chunks and shards of one array. */
typedef struct layout {
    int64_t chunks[CUBED_MAX_NDIM], shards[CUBED_MAX_NDIM];
    cubed_chunk_list lists[CUBED_MAX_NDIM]; /* chunk lengths along irregular axes */
    cubed_chunk_list shard_lists[CUBED_MAX_NDIM];
    int64_t *own[CUBED_MAX_NDIM]; /* memory of the lists, owned */
} layout;

typedef struct job {
    const verb *verb;
    cubed_context *ctx;
    chunk_spec spec, shards;
    outputs outputs;
    bool no_shards, keep_empty, regular;
    const char *src, *dst;
    int format;  /* Zarr format of the results; 0: each result has the format of its source */
    bool resume; /* --resume; without --format, the format of the existing target is used */
    int n, ngroups;
    struct {
        cubed_array *array;
        char *url;
        int format;
        bool sharded, listed; /* sharded: chunks are in shards; listed: chunks are irregular */
        int64_t chunks[CUBED_MAX_NDIM], shards[CUBED_MAX_NDIM];
    } * item;
    struct {
        char *url, *attrs;
        int format;
    } * group; /* parents precede their children */
    int ncopies;
    struct {
        char *url, *from;
        int format;
    } * copy; /* arrays that can only be copied unchanged */
} job;

/* Copies the chunk lengths of irregular axes of an array. */
static void keep_lists(const cubed_array *x, layout *l)
{
    for (int d = 0; d < cubed_array_ndim(x); d++) {
        int64_t n = cubed_array_num_chunks(x, d);
        if (!cubed_array_is_irregular(x, d)) continue;
        l->own[d] = cli_alloc((size_t)n * sizeof *l->own[d]);
        for (int64_t i = 0; i < n; i++) l->own[d][i] = cubed_array_chunk_length(x, d, i);
        l->lists[d] = (cubed_chunk_list){l->own[d], n};
    }
}

/* Copies the shard lengths of irregular axes of an array. The information has them as JSON: lengths, or pairs of a length and its
 * count. */
static void keep_shard_lists(const cubed_zarr_info *info, layout *l)
{
    json_t *shapes = info->chunk_shapes ? json_loads(info->chunk_shapes, 0, NULL) : NULL;
    for (int d = 0; d < info->ndim; d++) {
        const json_t *axis = json_array_get(shapes, (size_t)d);
        int64_t n = 0, left = info->shape[d];
        for (size_t i = 0; i < json_array_size(axis); i++) {
            const json_t *run = json_array_get(axis, i);
            const bool pair = json_is_array(run);
            const int64_t length = json_integer_value(pair ? json_array_get(run, 0) : run);
            int64_t times = pair ? json_integer_value(json_array_get(run, 1)) : 1;
            l->own[d] = cli_resize(l->own[d], (size_t)(n + times) * sizeof *l->own[d]);
            for (; times > 0; times--, left -= length)
                l->own[d][n++] = length < left ? length : left;
        }
        l->shard_lists[d] = (cubed_chunk_list){l->own[d], n};
    }
    json_decref(shapes);
}

static cubed_status rechunk(cubed_array *x, const layout *l, cubed_array **out, cubed_error *err)
{
    cubed_array *even;
    cubed_status st = cubed_rechunk(x, l->chunks, &even, err);
    if (st != CUBED_OK) return st;
    st = cubed_rechunk_irregular(even, l->lists, out, err);
    cubed_array_unref(even);
    return st;
}

typedef struct beside {
    const job *j;
    const char *to;
} beside;

/* Returns true if the destination's group has an array of this name. Only for a single array, which is copied into that group. */
static bool is_beside(void *ctx, const char *name)
{
    const beside *b = ctx;
    char *url = archive_is_wanted(b->to) ? NULL : inputs_beside(b->to, name);
    cubed_array *x;
    cubed_error ignored = CUBED_ERROR_INIT;
    const bool is = url && cubed_array_open(b->j->ctx, url, &x, &ignored) == CUBED_OK;
    if (is) cubed_array_unref(x);
    cli_free(url);
    return is;
}

/* Returns the last part of PATH in a URL STORE::PATH, or "" if the URL has no PATH. */
static const char *name_in(const char *url)
{
    size_t n, store;
    const char *path = cubed_url_path(url, &n, &store), *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Applies the options that describe results. *url receives the new name. */
static cubed_status edit(job *j, cubed_array **x, char **url, cubed_error *err)
{
    char *name = cli_strdup(name_in(*url));
    cubed_status st = outputs_edit_array(&j->outputs, &name, x, err);
    if (st == CUBED_OK && *name && strcmp(name, name_in(*url)) != 0) {
        char *renamed = inputs_beside(*url, name);
        cli_free(*url);
        *url = cli_must(renamed);
    }
    for (int i = 0; i < j->n && st == CUBED_OK; i++) {
        if (strcmp(j->item[i].url, *url) == 0)
            st = cli_reject(err, "--rename gives two arrays the name \"%s\"", name);
    }
    cli_free(name);
    return st;
}

static cubed_status add_array(job *j, const char *url, const char *to, const cubed_zarr_info *info,
                              cubed_error *err)
{
    cubed_array *x, *y = NULL;
    layout l = {.own = {NULL}};
    bool listed = false;
    int format = j->format;
    cubed_status st = CUBED_OK;
    if (!format && j->resume) st = cubed_unfinished_format(j->ctx, to, &format, err);
    if (st != CUBED_OK) return st;
    if (!format) format = info->zarr_format;
    /* A source's shards are kept unless options say otherwise. */
    bool kept = info->shards && !j->spec.n && !j->no_shards && format == 3;
    st = cubed_array_open(j->ctx, url, &x, err);
    if (st != CUBED_OK) return st;
    memcpy(l.chunks, info->chunks, (size_t)info->ndim * sizeof *l.chunks);
    if (!j->regular && !kept) keep_lists(x, &l);
    if (!j->regular && kept) keep_shard_lists(info, &l);
    st = chunk_spec_apply(&j->spec, "--chunks", j->ngroups, x, url, l.chunks, l.lists, err);
    const bool netcdf =
        archive_is_netcdf(to); /* because NetCDF does not support chunks longer than the axis */
    for (int d = 0; d < info->ndim; d++) {
        /* Chunks longer than the extent are shortened if they were requested. The source's own chunks are kept. */
        const int64_t extent = info->shape[d] ? info->shape[d] : 1;
        if (l.chunks[d] > extent && (netcdf || l.chunks[d] != info->chunks[d]))
            l.chunks[d] = extent;
        l.shards[d] = kept ? info->shards[d] : l.chunks[d];
        listed = listed || l.lists[d].n > 0;
    }
    if (st == CUBED_OK)
        st = chunk_spec_apply(&j->shards, "--shards", j->ngroups, x, url, l.shards, l.shard_lists,
                              err);
    /* In the stored array, each shard is one chunk of the grid, and shards may be irregular. */
    for (int d = 0; d < info->ndim; d++) {
        if (l.shard_lists[d].n == 0) continue;
        l.lists[d] = l.shard_lists[d];
        l.shards[d] = CUBED_CHUNKS_KEPT;
    }
    if (st == CUBED_OK) st = rechunk(x, &l, &y, err);
    /* Without its group, an array keeps only references to variables that exist at the destination. */
    if (st == CUBED_OK && !j->ngroups) st = referred_keep(&y, is_beside, &(beside){j, to}, err);
    cubed_array_unref(x);
    for (int d = 0; d < info->ndim; d++) cli_free(l.own[d]);
    char *place = cli_strdup(to);
    if (st == CUBED_OK) st = edit(j, &y, &place, err);
    if (st != CUBED_OK) {
        cubed_array_unref(y);
        cli_free(place);
        return st;
    }
    j->item = cli_resize(j->item, (size_t)(j->n + 1) * sizeof *j->item);
    j->item[j->n].array = y;
    j->item[j->n].format = format;
    j->item[j->n].sharded = kept || j->shards.n;
    j->item[j->n].listed = listed;
    memcpy(j->item[j->n].chunks, l.chunks, sizeof l.chunks);
    memcpy(j->item[j->n].shards, l.shards, sizeof l.shards);
    j->item[j->n++].url = place;
    return CUBED_OK;
}

/* Adds an array of variable-length strings for a NetCDF file, with the length of the longest string. Returns false if the
 * array has other elements, or too many strings. */
static bool add_texts(job *j, const char *from, const char *to, const cubed_zarr_info *info)
{
    cubed_array *x;
    cubed_error ignored = CUBED_ERROR_INIT;
    if (cubed_array_open_texts(j->ctx, from, CLI_TEXT_BYTES, &x, &ignored) != CUBED_OK)
        return false;
    j->item = cli_resize(j->item, (size_t)(j->n + 1) * sizeof *j->item);
    j->item[j->n].array = x;
    j->item[j->n].format = 3;
    j->item[j->n].sharded = j->item[j->n].listed = false;
    for (int d = 0; d < info->ndim; d++)
        j->item[j->n].chunks[d] = info->shape[d] ? info->shape[d] : 1;
    j->item[j->n++].url = cli_strdup(to);
    return true;
}

/* Adds a copy. Takes ownership of `from` and `to`. */
static cubed_status add_copy(job *j, char *from, char *to, const cubed_zarr_info *info,
                             cubed_error *err)
{
    const bool lost = inputs_is_of_file(info), changed = outputs_change_arrays(&j->outputs);
    if (changed && !lost)
        (void)cli_reject(err,
                         "%s: %s changes arrays, but this array is copied unchanged, because %s",
                         from, outputs_given(&j->outputs), info->unsupported);
    if (lost && j->ngroups)
        cli_say(stderr, "cubed %s: %s is left out: %s\n", j->verb->name, from, info->unsupported);
    else if (!changed && (lost || !info->type))
        (void)cli_reject(err, "%s", info->unsupported);
    if (lost || !info->type || changed) {
        cli_free(from);
        cli_free(to);
        return lost && j->ngroups ? CUBED_OK : err->status;
    }
    j->copy = cli_resize(j->copy, (size_t)(j->ncopies + 1) * sizeof *j->copy);
    j->copy[j->ncopies].from = from;
    j->copy[j->ncopies].url = to;
    j->copy[j->ncopies++].format = j->format ? j->format : info->zarr_format;
    return CUBED_OK;
}

static cubed_status add_entry(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    job *j = ctx;
    size_t skip, store;
    (void)cubed_url_path(j->src, &skip, &store);
    const char *rest = info->path + skip;
    while (*rest == '/') rest++;
    char *from = *rest ? cli_join_url(j->src, rest) : cli_strdup(j->src);
    char *to = *rest ? cli_join_url(j->dst, rest) : cli_strdup(j->dst);
    if (!info->is_array) {
        j->group = cli_resize(j->group, (size_t)(j->ngroups + 1) * sizeof *j->group);
        j->group[j->ngroups].url = to;
        j->group[j->ngroups].format = j->format ? j->format : info->zarr_format;
        j->group[j->ngroups].attrs = j->ngroups == 0
                                         ? outputs_group_attrs(&j->outputs, info->attrs, false)
                                         : cli_strdup(info->attrs);
        j->ngroups++;
        cli_free(from);
        return CUBED_OK;
    }
    /* A variable of a NetCDF file needs a name. An array at the root gets the name of its store. */
    if (archive_is_netcdf(to) && !*rest) {
        size_t given;
        (void)cubed_url_path(to, &given, &store);
        char *name = given ? NULL : inputs_own_name(j->src), *named = NULL;
        if (name && *name) named = cli_join_url(to, name);
        if (named) {
            cli_free(to);
            to = named;
        }
        cli_free(name);
    }
    const bool texts = info->unsupported && (archive_is_netcdf(to) || inputs_is_of_file(info)) &&
                       add_texts(j, from, to, info);
    if (info->unsupported && !texts) return add_copy(j, from, to, info, err);
    cubed_status st = texts ? CUBED_OK : add_array(j, from, to, info, err);
    cli_free(from);
    cli_free(to);
    return st;
}

/* Lists the groups from the innermost to the outermost, because the outermost group has a copy of all metadata. */
static cubed_plan_group *make_groups(const job *j, bool overwrite)
{
    const size_t n = (size_t)j->ngroups + (size_t)j->ncopies;
    cubed_plan_group *groups = cli_alloc((n + 1) * sizeof *groups);
    for (int i = 0; i < j->ncopies; i++)
        groups[i] = (cubed_plan_group){.url = j->copy[i].url,
                                       .zarr_format = j->copy[i].format,
                                       .copy_of = j->copy[i].from,
                                       .overwrite = overwrite};
    for (int i = 0; i < j->ngroups; i++) {
        const int from = j->ngroups - 1 - i;
        groups[j->ncopies + i] = (cubed_plan_group){.url = j->group[from].url,
                                                    .zarr_format = j->group[from].format,
                                                    .attrs = j->group[from].attrs,
                                                    .consolidate = from == 0};
    }
    return groups;
}

/* Copies arrays unchanged if the job has no array that can be computed. */
static int run_copies(const job *j, const cli_common *c, bool *ran)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (c->plan_only || c->save_plan)
        return cli_usage_error(j->verb->name,
                               "no array of %s has a type and codecs for computation: all arrays "
                               "are copied unchanged, without a plan",
                               j->src);
    if (archive_is_wanted(j->dst) || archive_is_unknown(j->dst) || archive_is_picture(j->dst))
        return cli_usage_error(j->verb->name,
                               "%s: no array of %s has a type and codecs for computation; such "
                               "arrays can only be copied to a Zarr store",
                               j->dst, j->src);
    cubed_plan_group *groups = make_groups(j, c->overwrite);
    cubed_status st = cubed_groups_make(j->ctx, groups, j->ngroups + j->ncopies, cli_task_mem(c),
                                        c->durable, &err);
    cli_free(groups);
    *ran = st == CUBED_OK;
    return *ran ? EXIT_SUCCESS : cli_report(j->verb->name, &err);
}

static void put_copied(const char *url)
{
    char *text = cli_visible(url, false);
    printf("%s: copied unchanged, in its own chunks\n", text);
    cli_free(text);
}

/* Reports a length for a dimension that no array has, with a suggestion. */
static int unknown_dim(const job *j, const char *option, const char *dim)
{
    lang_guess g;
    char text[GUESS_TEXT];
    lang_guess_init(&g, dim);
    for (int i = 0; i < j->n; i++) {
        for (int d = 0; d < cubed_array_ndim(j->item[i].array); d++) {
            const char *name = cubed_array_dim_name(j->item[i].array, d);
            if (name) lang_guess_try(&g, name, strlen(name));
        }
    }
    return cli_usage_error(j->verb->name, "--%s: no array of %s has a dimension \"%s\"%s", option,
                           j->src, dim, lang_guess_text(&g, text));
}

/* Names of arrays that describe other arrays, such as coordinates and bounds. They are not packed. */
typedef struct asides {
    int n;
    char **name;
} asides;

static void add_aside(void *ctx, const char *attribute, const char *name)
{
    asides *a = ctx;
    (void)attribute;
    a->name = cli_resize(a->name, (size_t)(a->n + 1) * sizeof *a->name);
    a->name[a->n++] = cli_strdup(name);
}

static bool is_aside(const asides *a, const cubed_array *x, const char *name)
{
    const char *dim = cubed_array_ndim(x) == 1 ? cubed_array_dim_name(x, 0) : NULL;
    bool is = dim && strcmp(dim, name) == 0;
    for (int i = 0; i < a->n && !is; i++) is = strcmp(a->name[i], name) == 0;
    return is;
}

static cubed_status pack(job *j, const cli_common *c, cubed_error *err)
{
    asides aside = {0, NULL};
    cubed_array ***packs = cli_alloc((size_t)j->n * sizeof *packs);
    const char **names = cli_alloc((size_t)j->n * sizeof *names);
    int n = 0;
    for (int i = 0; i < j->n; i++)
        referred_each(cubed_array_attrs(j->item[i].array), add_aside, &aside);
    for (int i = 0; i < j->n; i++) {
        const char *name = name_in(j->item[i].url);
        if (is_aside(&aside, j->item[i].array, name)) continue;
        packs[n] = &j->item[i].array;
        names[n++] = name;
    }
    const cubed_status st = packed_arrays(&j->outputs.pack, j->ctx, c, packs, names, n, err);
    for (int i = 0; i < aside.n; i++) cli_free(aside.name[i]);
    cli_free(aside.name);
    cli_free(packs);
    cli_free(names);
    return st;
}

/* Returns the codecs of item i according to the options, or NULL for the default codecs. */
static const char *codecs_of(job *j, int i)
{
    const int format = archive_is_netcdf(j->dst) ? 3 : j->item[i].format;
    return outputs_codecs(&j->outputs, cubed_array_dtype(j->item[i].array), format);
}

static int run(job *j, const cli_common *c, const char *codecs)
{
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_status walked = cubed_zarr_walk(j->ctx, j->src, false, add_entry, j, &err);
    if (near_place(j->ctx, j->src, walked, &err) != CUBED_OK)
        return cli_report(j->verb->name, &err);
    for (int i = 0; i < 2; i++) {
        const char *dim = chunk_spec_unused(i ? &j->shards : &j->spec);
        if (dim) return unknown_dim(j, i ? "shards" : "chunks", dim);
    }
    if (j->n == 0 && j->ncopies == 0)
        return cli_usage_error(j->verb->name, "there is no array at %s", j->src);
    char *unused = outputs_unused(&j->outputs);
    if (unused) {
        const int code = cli_usage_error(j->verb->name, "%s", unused);
        cli_free(unused);
        return code;
    }
    if (j->outputs.pack.is_on && pack(j, c, &err) != CUBED_OK)
        return cli_report(j->verb->name, &err);
    cubed_target *targets = cli_alloc((size_t)j->n * sizeof *targets);
    for (int i = 0; i < j->n; i++)
        targets[i] = (cubed_target){.array = j->item[i].array,
                                    .url = j->item[i].url,
                                    .zarr_format = j->item[i].format,
                                    .codecs = codecs ? codecs : codecs_of(j, i),
                                    .chunks = j->item[i].listed ? NULL : j->item[i].chunks,
                                    .shards = j->item[i].sharded ? j->item[i].shards : NULL,
                                    .skip_empty = !j->keep_empty,
                                    .overwrite = c->overwrite || c->update,
                                    .durable = c->durable};
    bool ran = false;
    cubed_run_stats stats = {.num_tasks = 0};
    cubed_plan_info info = {.num_tasks = 0};
    cubed_plan_group *groups = make_groups(j, c->overwrite);
    const cli_job what = {.verb = j->verb->name,
                          .ctx = j->ctx,
                          .common = c,
                          .targets = targets,
                          .ntargets = j->n,
                          .groups = groups,
                          .ngroups = j->ngroups + j->ncopies};
    int code = j->n == 0 ? run_copies(j, c, &ran) : cli_execute(&what, &ran, &stats, &info);
    cli_free(targets);
    cli_free(groups);
    if (ran && c->json) {
        json_t *o = json_object(), *urls = json_array(), *copied = json_array();
        for (int i = 0; i < j->n; i++) json_array_append_new(urls, json_string(j->item[i].url));
        for (int i = 0; i < j->ncopies; i++)
            json_array_append_new(copied, json_string(j->copy[i].url));
        json_object_set_new(o, "arrays", urls);
        json_object_set_new(o, "copied", copied); /* names of arrays that were copied unchanged */
        if (j->n > 0) json_object_set_new(o, "_run", values_run_json(&stats, &info));
        json_dumpf(o, stdout, JSON_REAL_PRECISION(17));
        putchar('\n');
        json_decref(o);
    } else if (ran && j->n > 0) {
        char read[32], written[32], mem[32], projected[32];
        printf("%d array%s, %" PRId64 " tasks in %.2f s, read %s, wrote %s, task memory %s of %s "
               "projected\n",
               j->n, j->n == 1 ? "" : "s", stats.num_tasks, stats.seconds,
               cli_format_bytes((double)stats.bytes_read, read),
               cli_format_bytes((double)stats.bytes_written, written),
               cli_format_bytes((double)stats.measured_mem, mem),
               cli_format_bytes((double)stats.projected_mem, projected));
    }
    for (int i = 0; i < j->ncopies && ran && !c->json; i++) put_copied(j->copy[i].from);
    return code;
}

static int bad_spec(const verb *v, const char *option, const char *text)
{
    return cli_usage_error(v->name, "%s \"%s\": " CHUNK_SPEC_EXPECTED, option, text);
}

/* Reads options and places. The caller frees the job, even after an error. */
static int parse(int argc, char **argv, job *j, cli_common *common, const char **codecs)
{
    const verb *v = j->verb;
    int key;
    while ((key = cli_next_option(argc, argv, v->usage, common)) != -1) {
        char *bad = NULL;
        switch (key) {
        case KEY_CHUNKS:
            if (j->spec.n || !chunk_spec_parse(optarg, &j->spec))
                return bad_spec(v, "--chunks", optarg);
            break;
        case KEY_SHARDS:
            j->no_shards = strcmp(optarg, "none") == 0;
            if (!j->no_shards && (j->shards.n || !chunk_spec_parse(optarg, &j->shards)))
                return bad_spec(v, "--shards", optarg);
            break;
        case KEY_REGULAR: j->regular = true; break;
        case KEY_SKIP_EMPTY: j->keep_empty = false; break;
        case KEY_KEEP_EMPTY: j->keep_empty = true; break;
        case KEY_CODECS: *codecs = optarg; break;
        case KEY_FORMAT:
            if (strcmp(optarg, "2") != 0 && strcmp(optarg, "3") != 0)
                return cli_usage_error(v->name, "--format \"%s\": expected 2 or 3", optarg);
            j->format = optarg[0] - '0';
            break;
        default: bad = outputs_take(&j->outputs, key, optarg); break;
        }
        if (bad) {
            const int code = cli_usage_error(v->name, "%s", bad);
            cli_free(bad);
            return code;
        }
    }
    if (*codecs && j->outputs.level >= 0)
        return cli_usage_error(v->name, "--codecs and --%s exclude each other",
                               j->outputs.zstd ? "zstd" : "deflate");
    if (j->outputs.shuffle && j->outputs.level < 0)
        return cli_usage_error(v->name, "--shuffle: expected --deflate or --zstd with it");
    /* With --plan, a missing destination is replaced by a dummy, because a plan that is not saved does not depend on it. */
    const bool placed = !common->plan_only || common->save_plan;
    if (argc - optind != 2 && (placed || argc - optind != 1))
        return cli_argument_error(
            v->name, placed ? "SRC and DST" : "SRC and DST (which --plan can do without)",
            argc - optind);
    if (!j->spec.n && v->needs_chunks) return cli_usage_error(v->name, "--chunks is missing");
    if (j->format == 2 && j->shards.n)
        return cli_usage_error(v->name, "--shards: format 2 has no shards, use --format 3");
    j->resume = common->resume;
    j->src = argv[optind];
    j->dst = argc - optind == 2 ? argv[optind + 1] : "(DST)";
    char *wrong =
        argc - optind == 2 ? archive_refuse(j->dst, common->plan_only || common->save_plan) : NULL;
    const int code = wrong ? cli_usage_error(v->name, "%s", wrong) : EXIT_SUCCESS;
    cli_free(wrong);
    return code;
}

static int store_again(const verb *v, int argc, char **argv)
{
    cli_common common = CLI_COMMON_INIT;
    job j = {.verb = v, .outputs = OUTPUTS_INIT};
    const char *codecs = NULL;
    j.outputs.command = history_command(argc, argv);
    int code = parse(argc, argv, &j, &common, &codecs);
    if (code == EXIT_SUCCESS) code = cli_context(v->name, &common, &j.ctx);
    if (code == EXIT_SUCCESS) code = run(&j, &common, codecs);
    for (int i = 0; i < j.n; i++) {
        cubed_array_unref(j.item[i].array);
        cli_free(j.item[i].url);
    }
    for (int i = 0; i < j.ngroups; i++) {
        cli_free(j.group[i].url);
        cli_free(j.group[i].attrs);
    }
    for (int i = 0; i < j.ncopies; i++) {
        cli_free(j.copy[i].url);
        cli_free(j.copy[i].from);
    }
    cli_free(j.copy);
    outputs_free(&j.outputs);
    chunk_spec_free(&j.spec);
    chunk_spec_free(&j.shards);
    cli_free(j.item);
    cli_free(j.group);
    cubed_context_unref(j.ctx);
    return code;
}

int cmd_rechunk(int argc, char **argv) { return store_again(&rechunk_verb, argc, argv); }

/* Returns true if the word `before` is an option with a value, so that the next word is its value. Such a value, for instance of
 * --codecs, may look like a pattern. */
static bool takes_value(const cli_usage *usage, const char *before)
{
    const cli_option *const tables[] = {usage->own, cli_common_options};
    bool any = false;
    if (strncmp(before, "--", 2) != 0 || !before[2]) return false;
    for (int t = 0; t < 2; t++) {
        for (const cli_option *o = tables[t]; o->name; o++) {
            if (strcmp(o->name, before + 2) == 0) return o->arg != NULL;
            any = any || (o->arg && strncmp(o->name, before + 2, strlen(before + 2)) == 0);
        }
    }
    return any; /* `before` may abbreviate an option's name */
}

/* If an input consists of several files, its arrays cannot be copied unchanged. `cubed mergetime` computes them, and has the
 * options of both subcommands. */
int cmd_copy(int argc, char **argv)
{
    bool several = false;
    for (int i = 1; i < argc; i++)
        several = several || (*argv[i] != '-' && !takes_value(copy_verb.usage, argv[i - 1]) &&
                              joined_is_pattern(argv[i]));
    if (!several) return store_again(&copy_verb, argc, argv);
    char **words = cli_alloc((size_t)(argc + 2) * sizeof *words);
    words[0] = "apply";
    words[1] = "mergetime";
    for (int i = 1; i < argc; i++) words[i + 1] = argv[i];
    const int code = cmd_apply(argc + 1, words);
    cli_free(words);
    return code;
}
