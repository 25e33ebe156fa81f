/* All at once: arrays are made, stored, opened and computed, errors are looked at, and what is stored goes through a codec
 * of one's own into a store of one's own.
 *
 *   cc complete.c $(pkg-config --cflags --libs cubed) -o complete && ./complete
 *
 * Winds u(time, place) are put into kept://winds, whose chunks are encoded by "example.swap". Their mean over time is
 * refused with too little memory, and made with what the refusal said. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cubed/cubed.h>
#include <cubed/sys/codec.h>
#include <cubed/sys/store.h>

static cubed_status fail(cubed_error *err, cubed_status status, const char *what, const char *why)
{
    if (!err) return status;
    *err = (cubed_error){.status = status};
    snprintf(err->message, sizeof err->message, "%s: %s", what, why);
    return status;
}

/* --- A codec: the first byte of all numbers, then the second, ..., each taken from the one before ------- */

static cubed_status parse(const char *json, int format, const cubed_codec_ctx *ctx,
                          cubed_codec_conf *conf, cubed_error *err)
{
    (void)json;
    (void)format;
    (void)err;
    memset(conf, 0, sizeof *conf);
    conf->i[0] = (int64_t)ctx->item_size;
    return CUBED_OK;
}

static cubed_status print(const cubed_codec_conf *conf, int format, const cubed_codec_ctx *ctx,
                          char *json, size_t cap, cubed_error *err)
{
    (void)conf;
    (void)format;
    (void)ctx;
    return snprintf(json, cap, "{}") < (int)cap ? CUBED_OK
                                                : fail(err, CUBED_E_ARG, "example.swap", "no room");
}

/* As many bytes as there were, and nothing beside them. */
static size_t bound(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx, size_t raw_size)
{
    (void)conf;
    (void)ctx;
    return raw_size;
}

static cubed_codec_need nothing(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                                size_t raw_size)
{
    (void)conf;
    (void)ctx;
    (void)raw_size;
    return (cubed_codec_need){0, 0};
}

static cubed_status encode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    const size_t unit = (size_t)conf->i[0], n = src_size / unit;
    const unsigned char *from = src;
    unsigned char *to = dst, last = 0;
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    if (src_size % unit || dst_cap < src_size)
        return fail(err, CUBED_E_ARG, "example.swap", "expected whole numbers, and room for them");
    for (size_t k = 0; k < src_size; k++) {
        const unsigned char byte = from[k % n * unit + k / n];
        to[k] = (unsigned char)(byte - last);
        last = byte;
    }
    *got = src_size;
    return CUBED_OK;
}

/* What is encoded is untrusted: its size is looked at. */
static cubed_status decode(const cubed_codec_conf *conf, const cubed_codec_ctx *ctx,
                           const void *src, size_t src_size, void *dst, size_t dst_cap, size_t *got,
                           void *scratch, size_t scratch_size, cubed_error *err)
{
    const size_t unit = (size_t)conf->i[0], n = src_size / unit;
    const unsigned char *from = src;
    unsigned char *to = dst, last = 0;
    (void)ctx;
    (void)scratch;
    (void)scratch_size;
    if (src_size % unit || src_size > dst_cap)
        return fail(err, CUBED_E_FORMAT, "example.swap", "the chunk has another size");
    for (size_t k = 0; k < src_size; k++) {
        last = (unsigned char)(last + from[k]);
        to[k % n * unit + k / n] = last;
    }
    *got = src_size;
    return CUBED_OK;
}

static const cubed_codec_vtable swap_codec = {
    .struct_size = sizeof(cubed_codec_vtable),
    .version = CUBED_CODEC_VERSION,
    .kind = CUBED_CODEC_BYTES_TO_BYTES,
    .name = "example.swap",
    .name_v2 = "swap",
    .parse = parse,
    .print = print,
    .bound = bound,
    .decode_need = nothing,
    .encode_need = nothing,
    .decode = decode,
    .encode = encode,
};

/* --- A store: objects of this process, which complete at once -------------------------------------------- */

typedef struct object {
    struct object *next;
    char *key; /* URL/KEY */
    void *data;
    size_t size;
    unsigned long version;
} object;

static struct {
    pthread_mutex_t lock;
    object *first;
    unsigned long puts;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

typedef struct kept_store {
    cubed_store head;
    char url[256];
} kept_store;

static void free_object(object *o)
{
    if (!o) return;
    free(o->key);
    free(o->data);
    free(o);
}

/* What is behind the store's own part of the key; NULL: it is another store's. */
static const char *key_in(const cubed_store *store, const object *o)
{
    const size_t n = strlen(store->url);
    return strncmp(o->key, store->url, n) == 0 && o->key[n] == '/' ? o->key + n + 1 : NULL;
}

/* Where the object is linked, or the end of the list. */
static object **find(const cubed_store *store, const char *key)
{
    object **at = &kept.first;
    for (; *at; at = &(*at)->next) {
        const char *own = key_in(store, *at);
        if (own && strcmp(own, key) == 0) break;
    }
    return at;
}

static void tell(const object *o, cubed_object_info *info)
{
    info->size = o ? o->size : 0;
    info->version.text[0] = 0;
    if (o) snprintf(info->version.text, sizeof info->version.text, "%lu", o->version);
}

/* A get, or a look at size and version. */
static cubed_status look(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    pthread_mutex_lock(&kept.lock);
    const object *o = *find(store, r->key);
    tell(o, &r->info);
    if (!o)
        st = fail(err, CUBED_E_NOT_FOUND, r->key, "there is none");
    else if (!cubed_store_allows(r, r->info.version.text))
        st = fail(err, CUBED_E_EXISTS, r->key, "it has changed");
    else if (r->op == CUBED_STORE_GET)
        cubed_store_copy(r, o->data, o->size);
    pthread_mutex_unlock(&kept.lock);
    return st;
}

static object *new_object(const cubed_store *store, const cubed_store_request *r)
{
    const size_t n = strlen(store->url) + 1 + strlen(r->key) + 1;
    object *o = calloc(1, sizeof *o);
    if (o) *o = (object){.key = malloc(n), .data = malloc(r->size + 1), .size = r->size};
    if (!o || !o->key || !o->data) {
        free_object(o);
        return NULL;
    }
    snprintf(o->key, n, "%s/%s", store->url, r->key);
    if (r->size) memcpy(o->data, r->src, r->size);
    return o;
}

static cubed_status put(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    object *o = new_object(store, r), *old;
    if (!o) return fail(err, CUBED_E_NOMEM, r->key, "no memory");
    pthread_mutex_lock(&kept.lock);
    object **at = find(store, r->key);
    tell(*at, &r->info);
    const bool allowed = cubed_store_allows(r, r->info.version.text);
    old = allowed ? *at : o;
    if (allowed) {
        o->version = ++kept.puts;
        o->next = old ? old->next : NULL;
        *at = o;
        tell(o, &r->info);
    }
    pthread_mutex_unlock(&kept.lock);
    free_object(old);
    return allowed ? CUBED_OK : fail(err, CUBED_E_EXISTS, r->key, "it has changed");
}

static cubed_status del(cubed_store *store, const char *key, cubed_error *err)
{
    (void)err;
    pthread_mutex_lock(&kept.lock);
    object **at = find(store, key), *o = *at;
    if (o) *at = o->next;
    pthread_mutex_unlock(&kept.lock);
    free_object(o);
    return CUBED_OK;
}

/* One page, copied before it is told, as who is told may ask the store again. */
typedef struct entry {
    struct entry *next;
    cubed_store_entry e;
    char name[];
} entry;

static bool has_entry(const entry *all, const char *name, size_t n)
{
    while (all && !(strlen(all->name) == n && strncmp(all->name, name, n) == 0)) all = all->next;
    return all;
}

static cubed_status list(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    const size_t n = strlen(r->key), skip = n ? n + 1 : 0;
    entry *all = NULL, *next;
    cubed_status st = CUBED_OK;
    pthread_mutex_lock(&kept.lock);
    for (const object *o = kept.first; o && st == CUBED_OK; o = o->next) {
        const char *key = key_in(store, o);
        if (!key || strncmp(key, r->key, n) != 0 || (n && key[n] != '/')) continue;
        const char *slash = r->delimiter ? strchr(key + skip, '/') : NULL;
        const size_t length = slash ? (size_t)(slash - key) : strlen(key);
        if (slash && has_entry(all, key, length)) continue;
        entry *x = calloc(1, sizeof *x + length + 1);
        if (!x) {
            st = fail(err, CUBED_E_NOMEM, r->key, "no memory to list it");
            break;
        }
        memcpy(x->name, key, length);
        x->e = (cubed_store_entry){.key = x->name, .size = slash ? 0 : o->size, .is_prefix = slash};
        x->next = all;
        all = x;
    }
    pthread_mutex_unlock(&kept.lock);
    for (; all; all = next) {
        next = all->next;
        if (st == CUBED_OK) st = r->entry(r->entry_ctx, &all->e, err);
        free(all);
    }
    return st;
}

static void submit(cubed_store *store, cubed_store_request *const *requests, size_t n)
{
    static const cubed_store_functions functions = {
        .get = look, .put = put, .del = del, .list = list, .head = look};
    cubed_store_serve(store, &functions, requests, n);
}

static void close_store(cubed_store *store) { free(store); }

static cubed_status open_store(const cubed_store_vtable *vt, const cubed_store_open_args *args,
                               cubed_store **out, cubed_error *err)
{
    kept_store *s = calloc(1, sizeof *s);
    if (!s) return fail(err, CUBED_E_NOMEM, args->url, "no memory");
    if (snprintf(s->url, sizeof s->url, "%s", args->url) >= (int)sizeof s->url) {
        free(s);
        return fail(err, CUBED_E_ARG, args->url, "the URL is too long");
    }
    s->head = (cubed_store){.vt = vt, .alloc = args->alloc, .url = s->url};
    *out = &s->head;
    return CUBED_OK;
}

static const cubed_store_vtable kept_vtable = {
    .struct_size = sizeof(cubed_store_vtable),
    .version = CUBED_STORE_VERSION,
    .flags = CUBED_STORE_AT_ONCE | CUBED_STORE_OF_PROCESS,
    .scheme = "kept",
    .open = open_store,
    .close = close_store,
    .submit = submit,
};

/* --- The program ----------------------------------------------------------------------------------------- */

enum { TIMES = 4000, PLACES = 50 };

static cubed_status run(cubed_context *ctx, const cubed_target *target, uint64_t allowed,
                        cubed_error *err)
{
    cubed_plan *plan = NULL;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    if (allowed) o.allowed_mem = allowed;
    cubed_status st = cubed_plan_new(ctx, target, 1, &o, &plan, err);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, err);
    cubed_plan_unref(plan); /* NULL is allowed */
    return st;
}

/* u[t, p] = t + p */
static cubed_status store_winds(cubed_context *ctx, cubed_error *err)
{
    static double winds[TIMES][PLACES];
    const int64_t shape[2] = {TIMES, PLACES}, chunks[2] = {500, PLACES};
    cubed_array *u = NULL;
    for (int t = 0; t < TIMES; t++) {
        for (int p = 0; p < PLACES; p++) winds[t][p] = t + p;
    }
    cubed_status st =
        cubed_array_from_memory(ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, winds, &u, err);
    const cubed_target to = {
        .array = u,
        .url = "kept://winds::u",
        .codecs = "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, "
                  "{\"name\": \"example.swap\"}, {\"name\": \"zstd\", \"configuration\": "
                  "{\"level\": 1, \"checksum\": false}}]"};
    if (st == CUBED_OK) st = run(ctx, &to, 0, err);
    cubed_array_unref(u);
    return st;
}

static cubed_status show(void *wrong, const cubed_zarr_info *info, cubed_error *err)
{
    (void)err;
    printf("%" PRIu64 " bytes are stored as %" PRIu64 "\n", info->logical_bytes,
           info->stored_bytes);
    *(int *)wrong += info->stored_bytes == 0 || info->stored_bytes > info->logical_bytes / 10;
    return CUBED_OK;
}

/* The mean over time of each place, in memory. */
static cubed_status mean_of_winds(cubed_context *ctx, double means[PLACES], cubed_error *err)
{
    const int axis = 0;
    cubed_array *u = NULL, *mean = NULL;
    cubed_reduce_options o = CUBED_REDUCE_OPTIONS_INIT;
    o.axes = &axis;
    o.naxes = 1;
    cubed_status st = cubed_array_open(ctx, "kept://winds::u", &u, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_MEAN, u, &o, &mean, err);
    if (st == CUBED_OK) {
        cubed_target to = {.array = mean};
        to.data = means;
        st = run(ctx, &to, 17000000, err);
        /* Nothing has run: a plan that does not fit is refused, and says what would do. */
        if (st == CUBED_E_BUDGET && err->enough_mem) {
            printf("refused: with %" PRIu64 " bytes for each worker it fits\n", err->enough_mem);
            st = run(ctx, &to, err->enough_mem, err);
        }
    }
    cubed_array_unref(mean);
    cubed_array_unref(u);
    return st;
}

/* An error has a status to decide by, and a message for people. */
static int miss(cubed_context *ctx)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *v = NULL;
    const cubed_status st = cubed_array_open(ctx, "kept://winds::v", &v, &err);
    cubed_array_unref(v);
    printf("as expected, %s: %s\n", cubed_status_str(st), err.message);
    return st != CUBED_E_NOT_FOUND;
}

int main(void)
{
    cubed_context *ctx = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    double means[PLACES] = {0};
    int wrong = 0;
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) st = cubed_context_add_codec(ctx, &swap_codec, &err);
    if (st == CUBED_OK) st = cubed_context_add_store(ctx, &kept_vtable, &err);
    if (st == CUBED_OK) st = store_winds(ctx, &err);
    if (st == CUBED_OK) st = cubed_zarr_walk(ctx, "kept://winds::u", true, show, &wrong, &err);
    if (st == CUBED_OK) st = mean_of_winds(ctx, means, &err);
    for (int p = 0; p < PLACES; p++) wrong += st == CUBED_OK && means[p] != (TIMES - 1) / 2.0 + p;
    if (st == CUBED_OK) printf("means from %g to %g\n", means[0], means[PLACES - 1]);
    if (st == CUBED_OK) wrong += miss(ctx);
    if (st != CUBED_OK) fprintf(stderr, "complete: %s\n", err.message);
    cubed_context_unref(ctx);
    while (kept.first) {
        object *o = kept.first;
        kept.first = o->next;
        free_object(o);
    }
    return st == CUBED_OK && wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
