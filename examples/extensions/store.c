/* A user-defined store for URLs kept://NAME. complete.c stores arrays in it, reads them, and computes results.
 *
 * All objects of the process are in one list in memory. The store performs each request within the call, so it only needs a
 * function for each kind of request. cubed/sys/store.h describes these functions. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "complete.h"

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

typedef struct opened {
    cubed_store head;
    char url[256];
} opened;

static void free_object(object *o)
{
    if (!o) return;
    free(o->key);
    free(o->data);
    free(o);
}

/* Returns the key of the object within this store; NULL if the object belongs to another store. */
static const char *key_in(const cubed_store *store, const object *o)
{
    const size_t n = strlen(store->url);
    return strncmp(o->key, store->url, n) == 0 && o->key[n] == '/' ? o->key + n + 1 : NULL;
}

/* Returns the link to the object, or the link at the end of the list if there is no such object. */
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

/* Performs a get, or gets only the size and the version of an object. */
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

/* An entry of a page of a listing. The page is copied before entries are passed to the callback, because the callback may call
 * the store. */
typedef struct entry {
    struct entry *next;
    cubed_store_entry e;
    char name[];
} entry;

/* Returns true if the page already contains the prefix, because each prefix is listed once. An object may have the same name. */
static bool has_prefix(const entry *all, const char *name, size_t n)
{
    while (all && !(all->e.is_prefix && strlen(all->name) == n && memcmp(all->name, name, n) == 0))
        all = all->next;
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
        if (slash && has_prefix(all, key, length)) continue;
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
    opened *s = calloc(1, sizeof *s);
    if (!s) return fail(err, CUBED_E_NOMEM, args->url, "no memory");
    if (snprintf(s->url, sizeof s->url, "%s", args->url) >= (int)sizeof s->url) {
        free(s);
        return fail(err, CUBED_E_ARG, args->url, "the URL is too long");
    }
    s->head = (cubed_store){.vt = vt, .alloc = args->alloc, .url = s->url};
    *out = &s->head;
    return CUBED_OK;
}

const cubed_store_vtable kept_store = {
    .struct_size = sizeof(cubed_store_vtable),
    .version = CUBED_STORE_VERSION,
    .flags = CUBED_STORE_AT_ONCE | CUBED_STORE_OF_PROCESS,
    .scheme = "kept",
    .open = open_store,
    .close = close_store,
    .submit = submit,
};
