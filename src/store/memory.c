/* A store in memory: objects in a sorted list under a lock. For tests and small intermediates. */
#include <pthread.h>
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

static cubed_status memory_get(cubed_store *store, const char *key, uint64_t offset, void *dst,
                               size_t size, size_t *got, cubed_error *err)
{
    memory_store *m = (memory_store *)store;
    bool found;
    pthread_rwlock_rdlock(&m->lock);
    size_t i = find(m, key, &found), n = 0;
    if (found && offset < m->objects[i].size) {
        n = cb_min_size(size, m->objects[i].size - (size_t)offset);
        memcpy(dst, (const char *)m->objects[i].data + offset, n);
    }
    pthread_rwlock_unlock(&m->lock);
    if (!found) return cb_fail(err, CUBED_E_NOT_FOUND, "%s has no %s", m->name, key);
    *got = n;
    return CUBED_OK;
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

/* `expected`: NULL if it does not matter what is there. */
static cubed_status put_object(memory_store *m, const char *key, const uint64_t *expected,
                               const void *src, size_t size, uint64_t *version, cubed_error *err)
{
    const cubed_store *store = &m->head;
    object o = {.key_size = strlen(key) + 1, .size = size};
    o.key = cb_alloc(store->alloc, o.key_size);
    o.data = cb_alloc(store->alloc, size);
    bool ok = o.key && o.data, found, wanted = true;
    if (ok) {
        memcpy(o.key, key, o.key_size);
        if (size) memcpy(o.data, src, size);
        pthread_rwlock_wrlock(&m->lock);
        size_t i = find(m, key, &found);
        wanted = !expected || *expected == (found ? m->objects[i].version : CUBED_STORE_ABSENT);
        o.version = *version = ++m->puts;
        if (!wanted) {
            ok = true;
        } else if (found) {
            object old = m->objects[i];
            m->objects[i] = o;
            o = old;
        } else {
            ok = insert(m, i, &o);
            if (ok) o = (object){0};
        }
        pthread_rwlock_unlock(&m->lock);
    }
    free_object(m, &o);
    if (!wanted)
        return cb_fail(err, CUBED_E_EXISTS, "%s in %s is not what was expected", key, m->name);
    return ok ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for %s in %s", key, m->name);
}

static cubed_status memory_put(cubed_store *store, const char *key, const void *src, size_t size,
                               cubed_error *err)
{
    uint64_t version;
    return put_object((memory_store *)store, key, NULL, src, size, &version, err);
}

static cubed_status memory_put_if(cubed_store *store, const char *key, uint64_t expected,
                                  const void *src, size_t size, uint64_t *version, cubed_error *err)
{
    return put_object((memory_store *)store, key, &expected, src, size, version, err);
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

static cubed_status memory_head(cubed_store *store, const char *key, cubed_object_info *info,
                                cubed_error *err)
{
    memory_store *m = (memory_store *)store;
    bool found;
    pthread_rwlock_rdlock(&m->lock);
    size_t i = find(m, key, &found);
    if (found) *info = (cubed_object_info){m->objects[i].size, m->objects[i].version};
    pthread_rwlock_unlock(&m->lock);
    return found ? CUBED_OK : cb_fail(err, CUBED_E_NOT_FOUND, "%s has no %s", m->name, key);
}

/* The callback may change the store, so each key is copied out and looked for again. */
static cubed_status memory_list(cubed_store *store, const char *prefix, cubed_store_list_fn fn,
                                void *ctx, cubed_error *err)
{
    memory_store *m = (memory_store *)store;
    size_t n = strlen(prefix);
    cb_buf key;
    cb_buf_init(&key, store->alloc);
    cb_buf_puts(&key, prefix);
    cubed_status st = CUBED_OK;
    for (;;) {
        bool found, more = false;
        uint64_t size = 0;
        pthread_rwlock_rdlock(&m->lock);
        size_t i = find(m, key.data ? key.data : "", &found);
        if (found) i++;
        for (; i < m->n && strncmp(m->objects[i].key, prefix, n) == 0 && !more; i++) {
            if (n && m->objects[i].key[n] != '/') continue;
            key.size = 0;
            cb_buf_puts(&key, m->objects[i].key);
            size = m->objects[i].size;
            more = true;
        }
        pthread_rwlock_unlock(&m->lock);
        if (key.failed) st = cb_fail(err, CUBED_E_NOMEM, "no memory to list %s", m->name);
        if (!more || st != CUBED_OK) break;
        st = fn(ctx, key.data, size, err);
        if (st != CUBED_OK) break;
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

static const cubed_store_vtable memory_vtable = {
    .scheme = "memory",
    .get = memory_get,
    .put = memory_put,
    .del = memory_del,
    .list = memory_list,
    .head = memory_head,
    .put_if = memory_put_if,
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
