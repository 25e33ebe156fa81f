/* A store of URLs box://NAME, and a program that computes an array into it and a sum from there.
 *
 *   cc store.c $(pkg-config --cflags --libs cubed) -o store && ./store
 *
 * Objects are one list for the whole process, in memory. The store does what it is asked at once, so all it needs is a
 * function for each kind of request; cubed/sys/store.h says what those promise. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <cubed/cubed.h>
#include <cubed/sys/store.h>

typedef struct object {
    struct object *next;
    char *key; /* NAME/KEY */
    void *data;
    size_t size;
    unsigned long version;
} object;

static struct {
    pthread_mutex_t lock;
    object *first;
    unsigned long puts;
} box = {.lock = PTHREAD_MUTEX_INITIALIZER};

typedef struct box_handle {
    cubed_store head;
    char url[256];
} box_handle;

static const char *name_of(const cubed_store *store) { return store->url + strlen("box://"); }

static cubed_status fail(cubed_error *err, cubed_status status, const char *key, const char *what)
{
    if (!err) return status;
    *err = (cubed_error){.status = status};
    snprintf(err->message, sizeof err->message, "%s %s", key, what);
    return status;
}

/* Where the object is linked, or the end of the list. */
static object **find(const cubed_store *store, const char *key)
{
    const char *name = name_of(store);
    const size_t n = strlen(name);
    object **at = &box.first;
    while (*at && !(strncmp((*at)->key, name, n) == 0 && (*at)->key[n] == '/' &&
                    strcmp((*at)->key + n + 1, key) == 0))
        at = &(*at)->next;
    return at;
}

static void tell(const object *o, cubed_object_info *info)
{
    info->size = o ? o->size : 0;
    info->version.text[0] = 0;
    if (o) snprintf(info->version.text, sizeof info->version.text, "%lu", o->version);
}

static cubed_status look(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    pthread_mutex_lock(&box.lock);
    const object *o = *find(store, r->key);
    tell(o, &r->info);
    if (!o)
        st = fail(err, CUBED_E_NOT_FOUND, r->key, "is not in the box");
    else if (!cubed_store_allows(r, r->info.version.text))
        st = fail(err, CUBED_E_EXISTS, r->key, "is another one");
    else if (r->op == CUBED_STORE_GET)
        cubed_store_copy(r, o->data, o->size);
    pthread_mutex_unlock(&box.lock);
    return st;
}

static cubed_status put(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    const size_t n = strlen(name_of(store)) + 1 + strlen(r->key) + 1;
    cubed_status st = CUBED_OK;
    object *o = calloc(1, sizeof *o), *old = NULL;
    if (o) *o = (object){.key = malloc(n), .data = malloc(r->size + 1), .size = r->size};
    if (!o || !o->key || !o->data) {
        st = fail(err, CUBED_E_NOMEM, r->key, "does not fit into memory");
    } else {
        snprintf(o->key, n, "%s/%s", name_of(store), r->key);
        if (r->size) memcpy(o->data, r->src, r->size);
        pthread_mutex_lock(&box.lock);
        object **at = find(store, r->key);
        tell(*at, &r->info);
        if (cubed_store_allows(r, r->info.version.text)) {
            old = *at;
            o->version = ++box.puts;
            o->next = old ? old->next : NULL;
            *at = o;
            tell(o, &r->info);
            o = NULL;
        } else {
            st = fail(err, CUBED_E_EXISTS, r->key, "is another one");
        }
        pthread_mutex_unlock(&box.lock);
    }
    for (object *gone = o ? o : old; gone; gone = NULL) {
        free(gone->key);
        free(gone->data);
        free(gone);
    }
    return st;
}

static cubed_status del(cubed_store *store, const char *key, cubed_error *err)
{
    (void)err;
    pthread_mutex_lock(&box.lock);
    object **at = find(store, key), *o = *at;
    if (o) *at = o->next;
    pthread_mutex_unlock(&box.lock);
    if (o) {
        free(o->key);
        free(o->data);
        free(o);
    }
    return CUBED_OK;
}

/* One page, copied first, as who is told may change the box. Names of prefixes may be told once only. */
static cubed_status list(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    typedef struct entry {
        struct entry *next;
        cubed_store_entry e;
        char key[];
    } entry;
    const size_t root = strlen(name_of(store)) + 1, n = strlen(r->key), skip = n ? n + 1 : 0;
    entry *all = NULL, *next;
    cubed_status st = CUBED_OK;
    pthread_mutex_lock(&box.lock);
    for (const object *o = box.first; o && st == CUBED_OK; o = o->next) {
        const char *key = o->key + root;
        if (strncmp(o->key, name_of(store), root - 1) != 0 || o->key[root - 1] != '/') continue;
        if (strncmp(key, r->key, n) != 0 || (n && key[n] != '/')) continue;
        const char *slash = r->delimiter ? strchr(key + skip, '/') : NULL;
        const size_t length = slash ? (size_t)(slash - key) : strlen(key);
        const entry *same = all;
        while (same && !(slash && same->e.is_prefix && strncmp(same->key, key, length) == 0 &&
                         same->key[length] == 0))
            same = same->next;
        if (same) continue;
        entry *x = calloc(1, sizeof *x + length + 1);
        if (!x) {
            st = fail(err, CUBED_E_NOMEM, r->key, "cannot be listed: no memory");
            break;
        }
        memcpy(x->key, key, length);
        x->e = (cubed_store_entry){.key = x->key, .size = slash ? 0 : o->size, .is_prefix = slash};
        x->next = all;
        all = x;
    }
    pthread_mutex_unlock(&box.lock);
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

static void close_box(cubed_store *store) { free(store); }

static cubed_status open_box(const cubed_store_vtable *vt, const cubed_store_open_args *args,
                             cubed_store **out, cubed_error *err)
{
    if (strlen(args->url) >= sizeof((box_handle *)0)->url)
        return fail(err, CUBED_E_ARG, args->url, "is too long");
    box_handle *h = calloc(1, sizeof *h);
    if (!h) return fail(err, CUBED_E_NOMEM, args->url, "does not fit into memory");
    memcpy(h->url, args->url, strlen(args->url) + 1);
    h->head = (cubed_store){.vt = vt, .alloc = args->alloc, .url = h->url};
    *out = &h->head;
    return CUBED_OK;
}

static const cubed_store_vtable box_store = {
    .struct_size = sizeof(cubed_store_vtable),
    .version = CUBED_STORE_VERSION,
    .flags = CUBED_STORE_AT_ONCE | CUBED_STORE_OF_PROCESS,
    .scheme = "box",
    .open = open_box,
    .close = close_box,
    .submit = submit,
};

/* --- A program that uses it ---------------------------------------------------------------------------- */

static cubed_status compute(cubed_context *ctx, cubed_array *x, const char *url, void *data,
                            cubed_error *err)
{
    const cubed_target target = {.array = x, .url = url, .data = data};
    cubed_plan *plan = NULL;
    cubed_status st = cubed_plan_new(ctx, &target, 1, NULL, &plan, err);
    if (st == CUBED_OK) st = cubed_run(plan, NULL, NULL, err);
    cubed_plan_unref(plan);
    return st;
}

int main(void)
{
    const int64_t shape[1] = {1000}, chunks[1] = {100};
    cubed_context *ctx = NULL;
    cubed_array *x = NULL, *squares = NULL, *stored = NULL, *total = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    int64_t sum = 0;
    cubed_status st = cubed_context_new(NULL, &ctx, &err);
    if (st == CUBED_OK) st = cubed_context_add_store(ctx, &box_store, &err);
    if (st == CUBED_OK) st = cubed_array_index(ctx, 1, shape, chunks, 0, &x, &err);
    cubed_array *const factors[2] = {x, x};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_MULTIPLY, factors, 2, &squares, &err);
    if (st == CUBED_OK) st = compute(ctx, squares, "box://results/squares", NULL, &err);
    if (st == CUBED_OK) st = cubed_array_open(ctx, "box://results/squares", &stored, &err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_SUM, stored, NULL, &total, &err);
    if (st == CUBED_OK) st = compute(ctx, total, NULL, &sum, &err);
    if (st == CUBED_OK) printf("sum of squares: %lld\n", (long long)sum);
    if (st != CUBED_OK) fprintf(stderr, "store: %s\n", err.message);
    cubed_array_unref(total);
    cubed_array_unref(stored);
    cubed_array_unref(squares);
    cubed_array_unref(x);
    cubed_context_unref(ctx);
    return st != CUBED_OK || sum != 332833500;
}
