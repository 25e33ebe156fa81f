/* A store in memory: objects in a sorted list under a lock. For tests and small intermediates. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "store/store.h"

typedef struct object {
    char *key;
    void *data;
    size_t key_size, size;
    uint64_t version;
} object;

typedef struct memory_store {
    cubed_store head;
    pthread_rwlock_t lock;
    object *objects; /* sorted by key */
    size_t n, cap;
    uint64_t puts;
    char *name;
    size_t name_size;
} memory_store;

/* Where the key is, or would be put. */
static size_t find(const memory_store *m, const char *key, bool *found)
{
    size_t lo = 0, hi = m->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (strcmp(m->objects[mid].key, key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *found = lo < m->n && strcmp(m->objects[lo].key, key) == 0;
    return lo;
}

static cubed_status missing(const memory_store *m, const char *key, cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOT_FOUND, "%s has no %s", m->name, key);
}

static cubed_status not_expected(const memory_store *m, const char *key, cubed_error *err)
{
    return cb_fail(err, CUBED_E_EXISTS, "%s in %s is not what was expected", key, m->name);
}

static cubed_object_info info_of(const object *o)
{
    cubed_object_info info = {.size = o->size};
    snprintf(info.version.text, sizeof info.version.text, "%" PRIu64, o->version);
    return info;
}

/* A head, and of a get its bytes. */
static cubed_status look(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    memory_store *m = (memory_store *)store;
    bool found, allowed = false;
    pthread_rwlock_rdlock(&m->lock);
    size_t i = find(m, r->key, &found);
    if (found) {
        r->info = info_of(&m->objects[i]);
        allowed = cubed_store_allows(r, r->info.version.text);
        if (allowed && r->op == CUBED_STORE_GET)
            cubed_store_copy(r, m->objects[i].data, m->objects[i].size);
    }
    pthread_rwlock_unlock(&m->lock);
    if (!found) return missing(m, r->key, err);
    return allowed ? CUBED_OK : not_expected(m, r->key, err);
}

static void free_object(const memory_store *m, object *o)
{
    cb_free(m->head.alloc, o->key, o->key_size);
    cb_free(m->head.alloc, o->data, o->size);
}

static bool insert(memory_store *m, size_t i, object *o)
{
    if (m->n == m->cap) {
        size_t cap = m->cap ? 2 * m->cap : 16;
        object *p = cb_resize(m->head.alloc, m->objects, m->cap * sizeof *p, cap * sizeof *p);
        if (!p) return false;
        m->objects = p;
        m->cap = cap;
    }
    memmove(m->objects + i + 1, m->objects + i, (m->n - i) * sizeof *m->objects);
    m->objects[i] = *o;
    m->n++;
    return true;
}

static cubed_status memory_put(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    memory_store *m = (memory_store *)store;
    object o = {.key_size = strlen(r->key) + 1, .size = r->size};
    o.key = cb_alloc(store->alloc, o.key_size);
    o.data = cb_alloc(store->alloc, r->size);
    bool ok = o.key && o.data, found, allowed = true;
    if (ok) {
        memcpy(o.key, r->key, o.key_size);
        if (r->size) memcpy(o.data, r->src, r->size);
        pthread_rwlock_wrlock(&m->lock);
        size_t i = find(m, r->key, &found);
        const cubed_object_info there = found ? info_of(&m->objects[i]) : (cubed_object_info){0};
        allowed = cubed_store_allows(r, there.version.text);
        o.version = ++m->puts;
        r->info = info_of(&o);
        if (allowed && found) {
            object old = m->objects[i];
            m->objects[i] = o;
            o = old;
        } else if (allowed) {
            ok = insert(m, i, &o);
            if (ok) o = (object){0};
        }
        pthread_rwlock_unlock(&m->lock);
    }
    free_object(m, &o);
    if (!allowed) return not_expected(m, r->key, err);
    return ok ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for %s in %s", r->key, m->name);
}

static cubed_status memory_del(cubed_store *store, const char *key, cubed_error *err)
{
    memory_store *m = (memory_store *)store;
    object o = {0};
    bool found;
    (void)err;
    pthread_rwlock_wrlock(&m->lock);
    size_t i = find(m, key, &found);
    if (found) {
        o = m->objects[i];
        m->n--;
        memmove(m->objects + i, m->objects + i + 1, (m->n - i) * sizeof *m->objects);
    }
    pthread_rwlock_unlock(&m->lock);
    free_object(m, &o);
    return CUBED_OK;
}

/* The first entry from `from` on: its key replaces that. False: there is none. */
static bool next_entry(const memory_store *m, const cubed_store_request *r, cb_buf *from,
                       cubed_store_entry *e)
{
    const size_t n = strlen(r->key), skip = n ? n + 1 : 0;
    bool found;
    for (size_t i = find(m, from->data ? from->data : "", &found);
         i < m->n && strncmp(m->objects[i].key, r->key, n) == 0; i++) {
        const char *key = m->objects[i].key;
        if (n && key[n] != '/') continue;
        const char *slash = r->delimiter ? strchr(key + skip, '/') : NULL;
        from->size = 0;
        cb_buf_put(from, key, slash ? (size_t)(slash - key) : strlen(key));
        *e = (cubed_store_entry){.size = slash ? 0 : m->objects[i].size, .is_prefix = slash};
        return true;
    }
    return false;
}

/* Who is told may change the store, so each key is copied out, and what is behind it looked for. */
static cubed_status memory_list(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    memory_store *m = (memory_store *)store;
    cubed_status st = CUBED_OK;
    cubed_store_entry e = {.size = 0};
    cb_buf key;
    cb_buf_init(&key, store->alloc);
    cb_buf_puts(&key, r->key);
    while (st == CUBED_OK) {
        pthread_rwlock_rdlock(&m->lock);
        const bool more = next_entry(m, r, &key, &e);
        pthread_rwlock_unlock(&m->lock);
        if (key.failed) st = cb_fail(err, CUBED_E_NOMEM, "no memory to list %s", m->name);
        if (!more || st != CUBED_OK) break;
        e.key = key.data;
        st = r->entry(r->entry_ctx, &e, err);
        /* The least that sorts behind the key, or behind all keys below it: '0' follows '/'. */
        cb_buf_puts(&key, e.is_prefix ? "0" : "\001");
    }
    cb_buf_free(&key);
    return st;
}

static void memory_close(cubed_store *store)
{
    memory_store *m = (memory_store *)store;
    const cubed_allocator *a = store->alloc;
    for (size_t i = 0; i < m->n; i++) free_object(m, &m->objects[i]);
    cb_free(a, m->objects, m->cap * sizeof *m->objects);
    pthread_rwlock_destroy(&m->lock);
    cb_free(a, m->name, m->name_size);
    cb_free(a, m, sizeof *m);
}

static void memory_submit(cubed_store *store, cubed_store_request *const *requests, size_t n)
{
    static const cubed_store_functions functions = {
        .get = look, .put = memory_put, .del = memory_del, .list = memory_list, .head = look};
    cubed_store_serve(store, &functions, requests, n);
}

static const cubed_store_vtable memory_vtable = {
    .struct_size = sizeof(cubed_store_vtable),
    .version = CUBED_STORE_VERSION,
    .flags = CUBED_STORE_AT_ONCE | CUBED_STORE_OF_PROCESS,
    .scheme = "memory",
    .submit = memory_submit,
    .close = memory_close,
};

cubed_status cb_store_open_memory(const cubed_allocator *a, const char *name, cubed_store **out,
                                  cubed_error *err)
{
    memory_store *m = cb_alloc_zero(a, sizeof *m);
    size_t n = strlen(name) + 1;
    char *copy = cb_alloc(a, n);
    if (!m || !copy || pthread_rwlock_init(&m->lock, NULL) != 0) {
        cb_free(a, m, sizeof *m);
        cb_free(a, copy, n);
        return cb_fail(err, CUBED_E_NOMEM, "no memory for the store %s", name);
    }
    memcpy(copy, name, n);
    m->name = copy;
    m->name_size = n;
    m->head = (cubed_store){&memory_vtable, a, copy};
    *out = &m->head;
    return CUBED_OK;
}
