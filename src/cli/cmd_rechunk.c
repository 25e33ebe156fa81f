#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "archive.h"
#include "cli.h"
#include "cli_values.h"
#include "inputs.h"
#include "lang/guess.h"
#include "lang/lang_memory.h"
#include "near.h"
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

/* Settings of the two verbs. */
typedef struct verb {
    const char *name;
    bool needs_chunks;
    const cli_usage *usage;
} verb;

static const cli_option own[] = {
    {"chunks", "SPEC", "time=100,lat=-1 by dimension, or 100,-1 by position; -1: the whole axis",
     KEY_CHUNKS},
    {"regular", NULL, "chunks of different lengths become as long as the longest", KEY_REGULAR},
    {"shards", "SPEC", "store chunks together in shards of this shape, or \"none\" (format 3)",
     KEY_SHARDS},
    {"format", "2|3",
     "Zarr format of the target (default: the source's, or that of what --resume goes on with)",
     KEY_FORMAT},
    {"codecs", "JSON", "v3 codec list or v2 compressor (default zstd, level 1)", KEY_CODECS},
    {"keep-empty", NULL,
     "store chunks that hold only the fill value, too; else those, and what is missing, take no "
     "space",
     KEY_KEEP_EMPTY},
    {"skip-empty", NULL, "do not store them: what is done anyway", KEY_SKIP_EMPTY},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_rechunk_usage = {
    .synopsis = "rechunk SRC DST --chunks SPEC [options]",
    .text =
        "Stores an array, or every array of a group, with other chunks. Values, dimension names "
        "and\nattributes are kept. In a group, SPEC goes by dimension names, and axes that it "
        "does not name\nkeep their chunks.\n\n"
        "Chunks of different lengths (format 3) are given one by one with +, equal ones as "
        "LENGTHxTIMES:\ntime=31+28+31, or time=365x3+366. They must add up to the axis. So are "
        "shards, each of whole chunks\nbut for the last.",
    .examples = "  cubed rechunk era5.zarr::t2m t2m-series.zarr --chunks time=-1,lat=10,lon=10 \\\n"
                "      --allowed-mem 2GB\n"
                "  cubed rechunk daily.zarr::tas monthly.zarr --chunks "
                "time=31+28+31+30+31+30+31x2+30+31+30+31\n"
                "  cubed rechunk era5.zarr::t2m --chunks -1,10,10 --plan\n",
    .own = own,
    .common = true};

const cli_usage cmd_copy_usage = {
    .synopsis = "copy SRC DST [options]",
    .text =
        "Stores an array, or a whole group, somewhere else, or in another format, or with other "
        "codecs.\nValues, chunks, shards, dimension names, attributes and fill values are kept, "
        "and "
        "what is missing to\nXarray: by the fill value in format 2, by the attribute _FillValue in "
        "format 3; "
        "chunks of\ndifferent lengths, too, unless --regular or --chunks says otherwise (format 2 "
        "has none).",
    .examples = "  cubed copy era5.zarr era5-v3.zarr --format 3\n"
                "  cubed copy era5.zarr::t2m t2m.zarr --chunks time=744 --overwrite\n",
    .own = own,
    .common = true};

static const verb rechunk_verb = {"rechunk", true, &cmd_rechunk_usage};
static const verb copy_verb = {"copy", false, &cmd_copy_usage};

typedef struct chunk_spec {
    int n;
    bool named;
    struct {
        char *dim;
        int64_t length;
        int64_t *list; /* lengths of irregular chunks; NULL: all have `length` */
        int64_t n;
    } part[CUBED_MAX_NDIM];
} chunk_spec;

enum { MAX_CHUNKS = 1 << 20 };

/* Parses LENGTH or LENGTHxTIMES, and further ones after +. *text is after the first length. */
static bool parse_list(const char **text, int64_t length, int64_t **list, int64_t *n)
{
    const char *at = *text;
    for (;;) {
        int64_t times = 1;
        if (*at == 'x' && (at++, !lang_parse_int(&at, &times))) return false;
        if (length < 1 || times < 1 || times > MAX_CHUNKS - *n) return false;
        *list = cli_resize(*list, (size_t)(*n + times) * sizeof **list);
        for (; times > 0; times--) (*list)[(*n)++] = length;
        if (*at != '+') break;
        at++;
        if (!lang_parse_int(&at, &length)) return false;
    }
    *text = at;
    return true;
}

static bool parse_spec(const char *text, chunk_spec *s)
{
    while (s->n < CUBED_MAX_NDIM) {
        const char *eq = strchr(text, '='), *comma = strchr(text, ',');
        char *dim = NULL;
        if (eq && (!comma || eq < comma)) {
            dim = cli_printf("%.*s", (int)(eq - text), text);
            text = eq + 1;
        }
        int64_t length = 0;
        const bool number = lang_parse_int(&text, &length);
        bool again = s->n > 0 && s->named != (dim != NULL);
        for (int k = 0; k < s->n && dim && !again; k++) again = strcmp(s->part[k].dim, dim) == 0;
        s->part[s->n].dim = dim;
        s->part[s->n++].length = length;
        if (!number || (length < 1 && length != -1) || again || (dim && !*dim)) return false;
        s->named = dim != NULL;
        bool list = *text == '+' || *text == 'x';
        if (list && !parse_list(&text, length, &s->part[s->n - 1].list, &s->part[s->n - 1].n))
            return false;
        if (*text == 0) return true;
        if (*text++ != ',') return false;
    }
    return false;
}

static void free_spec(chunk_spec *s)
{
    for (int k = 0; k < s->n; k++) {
        cli_free(s->part[k].dim);
        cli_free(s->part[k].list);
    }
}

/* Chunks and shards of one array. */
typedef struct layout {
    int64_t chunks[CUBED_MAX_NDIM], shards[CUBED_MAX_NDIM];
    cubed_chunk_list lists[CUBED_MAX_NDIM]; /* of axes with irregular chunks */
    cubed_chunk_list shard_lists[CUBED_MAX_NDIM];
    int64_t *own[CUBED_MAX_NDIM]; /* lists that belong to the layout */
} layout;

typedef struct job {
    const verb *verb;
    cubed_context *ctx;
    chunk_spec spec, shards;
    bool no_shards, keep_empty, regular;
    const char *src, *dst;
    bool used[2][CUBED_MAX_NDIM]; /* parts of the specifications */
    int format;                   /* 0: each source's */
    bool resume;                  /* or that of a continued target */
    int n, ngroups;
    struct {
        cubed_array *array;
        char *url;
        int format;
        bool sharded, listed; /* chunks are in shards; chunks are irregular */
        int64_t chunks[CUBED_MAX_NDIM], shards[CUBED_MAX_NDIM];
    } * item;
    struct {
        char *url, *attrs;
        int format;
    } * group; /* parents first */
    int ncopies;
    struct {
        char *url, *from;
        int format;
    } * copy; /* arrays that can only be copied unchanged */
} job;

/* Sets lengths of one array's axes by a specification; `lengths` is kept where it says nothing. */
static cubed_status apply_spec(job *j, const char *option, const chunk_spec *spec, bool *used,
                               const cubed_array *x, const char *url, int64_t *lengths,
                               cubed_chunk_list *lists, cubed_error *err)
{
    int ndim = cubed_array_ndim(x);
    if (spec->n && !spec->named && spec->n != ndim)
        return cli_reject(err, "%s has %d lengths for the %d dimensions of %s%s", option, spec->n,
                          ndim, url, j->ngroups ? ": in a group, give them by name=length" : "");
    for (int d = 0; d < ndim; d++) {
        const char *name = cubed_array_dim_name(x, d);
        for (int k = 0; k < spec->n; k++) {
            if (spec->named ? !name || strcmp(name, spec->part[k].dim) != 0 : k != d) continue;
            lengths[d] = spec->part[k].length;
            lists[d] = (cubed_chunk_list){spec->part[k].list, spec->part[k].n};
            used[k] = true;
        }
    }
    return CUBED_OK;
}

/* Keeps the lists of irregular axes of an array. */
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

/* Like keep_lists, for shards, which are described as text: lengths, and pairs of a length and its count. */
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

/* Rechunks x to the layout. */
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

/* Returns true if the destination group of a single array has an array with that name. */
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
    /* A source's shards are kept unless other options are given. */
    bool kept = info->shards && !j->spec.n && !j->no_shards && format == 3;
    st = cubed_array_open(j->ctx, url, &x, err);
    if (st != CUBED_OK) return st;
    memcpy(l.chunks, info->chunks, (size_t)info->ndim * sizeof *l.chunks);
    if (!j->regular && !kept) keep_lists(x, &l);
    if (!j->regular && kept) keep_shard_lists(info, &l);
    st = apply_spec(j, "--chunks", &j->spec, j->used[0], x, url, l.chunks, l.lists, err);
    const bool netcdf = archive_is_netcdf(to); /* does not support chunks longer than the axis */
    for (int d = 0; d < info->ndim; d++) {
        /* Requested chunks beyond the extent would only be padded; the source's are kept. */
        const int64_t extent = info->shape[d] ? info->shape[d] : 1;
        if (l.chunks[d] > extent && (netcdf || l.chunks[d] != info->chunks[d]))
            l.chunks[d] = extent;
        l.shards[d] = kept ? info->shards[d] : l.chunks[d];
        listed = listed || l.lists[d].n > 0;
    }
    if (st == CUBED_OK)
        st =
            apply_spec(j, "--shards", &j->shards, j->used[1], x, url, l.shards, l.shard_lists, err);
    /* Irregular shards are the chunks of the stored array. */
    for (int d = 0; d < info->ndim; d++) {
        if (l.shard_lists[d].n == 0) continue;
        l.lists[d] = l.shard_lists[d];
        l.shards[d] = CUBED_CHUNKS_KEPT;
    }
    if (st == CUBED_OK) st = rechunk(x, &l, &y, err);
    /* Referenced variables are only copied with a group. */
    if (st == CUBED_OK && !j->ngroups) st = referred_keep(&y, is_beside, &(beside){j, to}, err);
    cubed_array_unref(x);
    for (int d = 0; d < info->ndim; d++) cli_free(l.own[d]);
    if (st != CUBED_OK) return st;
    j->item = cli_resize(j->item, (size_t)(j->n + 1) * sizeof *j->item);
    j->item[j->n].array = y;
    j->item[j->n].format = format;
    j->item[j->n].sharded = kept || j->shards.n;
    j->item[j->n].listed = listed;
    memcpy(j->item[j->n].chunks, l.chunks, sizeof l.chunks);
    memcpy(j->item[j->n].shards, l.shards, sizeof l.shards);
    j->item[j->n++].url = cli_strdup(to);
    return CUBED_OK;
}

/* Adds variable-length strings for a NetCDF file, with the length of the longest. Returns false if the array has no such
 * strings, or too many. */
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

/* Takes over `from` and `to`. */
static cubed_status add_copy(job *j, char *from, char *to, const cubed_zarr_info *info,
                             cubed_error *err)
{
    const bool lost = inputs_is_of_file(info);
    if (lost && j->ngroups)
        cli_say(stderr, "cubed %s: %s is left out: %s\n", j->verb->name, from, info->unsupported);
    else if (lost || !info->type)
        (void)cli_reject(err, "%s", info->unsupported);
    if (lost || !info->type) {
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
        j->group[j->ngroups++].attrs = cli_strdup(info->attrs);
        cli_free(from);
        return CUBED_OK;
    }
    /* A variable needs a name: an array at the root gets that of its store. */
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

/* Lists the groups, with the outermost one last: it has a copy of the metadata of all. */
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

/* Runs copies if no array can be computed with. */
static int run_copies(const job *j, const cli_common *c, bool *ran)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (c->plan_only || c->save_plan)
        return cli_usage_error(j->verb->name,
                               "no array of %s can be computed with: all are copied as they are, "
                               "which takes no plan",
                               j->src);
    if (archive_is_wanted(j->dst) || archive_is_unknown(j->dst) || archive_is_picture(j->dst))
        return cli_usage_error(j->verb->name,
                               "%s: no array of %s can be computed with, and copies of such arrays "
                               "alone go to a Zarr store",
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
    printf("%s: copied as it is, in its own chunks\n", text);
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

static int run(job *j, const cli_common *c, const char *codecs)
{
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_status walked = cubed_zarr_walk(j->ctx, j->src, false, add_entry, j, &err);
    if (near_place(j->ctx, j->src, walked, &err) != CUBED_OK)
        return cli_report(j->verb->name, &err);
    for (int i = 0; i < 2; i++) {
        const chunk_spec *spec = i ? &j->shards : &j->spec;
        for (int k = 0; k < spec->n && spec->named; k++) {
            if (!j->used[i][k]) return unknown_dim(j, i ? "shards" : "chunks", spec->part[k].dim);
        }
    }
    if (j->n == 0 && j->ncopies == 0)
        return cli_usage_error(j->verb->name, "there is no array at %s", j->src);
    cubed_target *targets = cli_alloc((size_t)j->n * sizeof *targets);
    for (int i = 0; i < j->n; i++)
        targets[i] = (cubed_target){.array = j->item[i].array,
                                    .url = j->item[i].url,
                                    .zarr_format = j->item[i].format,
                                    .codecs = codecs,
                                    .chunks = j->item[i].listed ? NULL : j->item[i].chunks,
                                    .shards = j->item[i].sharded ? j->item[i].shards : NULL,
                                    .skip_empty = !j->keep_empty,
                                    .overwrite = c->overwrite,
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
        json_object_set_new(o, "copied", copied); /* unchanged */
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
    return cli_usage_error(v->name,
                           "%s \"%s\": expected lengths (>= 1, or -1, or several such as "
                           "31+28+31 or 365x3+366) by position or name=length, once",
                           option, text);
}

static int store_again(const verb *v, int argc, char **argv)
{
    cli_common common = CLI_COMMON_INIT;
    job j = {.verb = v};
    const char *codecs = NULL;
    int key;
    while ((key = cli_next_option(argc, argv, v->usage, &common)) != -1) {
        switch (key) {
        case KEY_CHUNKS:
            if (j.spec.n || !parse_spec(optarg, &j.spec)) return bad_spec(v, "--chunks", optarg);
            break;
        case KEY_SHARDS:
            j.no_shards = strcmp(optarg, "none") == 0;
            if (!j.no_shards && (j.shards.n || !parse_spec(optarg, &j.shards)))
                return bad_spec(v, "--shards", optarg);
            break;
        case KEY_REGULAR: j.regular = true; break;
        case KEY_SKIP_EMPTY: j.keep_empty = false; break;
        case KEY_KEEP_EMPTY: j.keep_empty = true; break;
        case KEY_CODECS: codecs = optarg; break;
        case KEY_FORMAT:
            if (strcmp(optarg, "2") != 0 && strcmp(optarg, "3") != 0)
                return cli_usage_error(v->name, "--format \"%s\": expected 2 or 3", optarg);
            j.format = optarg[0] - '0';
            break;
        default: break;
        }
    }
    /* A plan does not depend on the destination, which is not checked: uses a dummy place. */
    const bool placed = !common.plan_only || common.save_plan;
    if (argc - optind != 2 && (placed || argc - optind != 1))
        return cli_usage_error(v->name, "expected SRC and DST%s, got %d arguments",
                               placed ? "" : " (which --plan can do without)", argc - optind);
    if (!j.spec.n && v->needs_chunks) return cli_usage_error(v->name, "--chunks is missing");
    if (j.format == 2 && j.shards.n)
        return cli_usage_error(v->name, "--shards: format 2 has none, they are of format 3");
    j.resume = common.resume;
    j.src = argv[optind];
    j.dst = argc - optind == 2 ? argv[optind + 1] : "(DST)";
    char *wrong =
        argc - optind == 2 ? archive_refuse(j.dst, common.plan_only || common.save_plan) : NULL;
    int code =
        wrong ? cli_usage_error(v->name, "%s", wrong) : cli_context(v->name, &common, &j.ctx);
    cli_free(wrong);
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
    free_spec(&j.spec);
    free_spec(&j.shards);
    cli_free(j.item);
    cli_free(j.group);
    cubed_context_unref(j.ctx);
    return code;
}

int cmd_rechunk(int argc, char **argv) { return store_again(&rechunk_verb, argc, argv); }

int cmd_copy(int argc, char **argv) { return store_again(&copy_verb, argc, argv); }
