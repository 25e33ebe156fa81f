/* Stores in memory: all objects of a context are in one sorted list under a lock. Keys start with the name of their store,
 * so a store is a prefix and works like a directory. */
#include "store/local/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"

typedef cb_memory_object object;

enum { KEY_CAP = 8192 };

typedef struct memory_store {
    cubed_store head;
    cb_memory *objects;
    cb_memory own; /* the objects, if the store shares them with no other store */
    size_t size;   /* size of this struct including the string */
    char *url;
    char root[]; /* prefix of this store's keys in `objects`; may be "" */
} memory_store;

void cb_memory_init(cb_memory *m, const cubed_allocator *a)
{
    *m = (cb_memory){.alloc = a};
    cb_rwlock_init(&m->lock);
}

static void free_object(const cb_memory *m, object *o)
{
    cb_free(m->alloc, o->key, o->key_size);
    cb_free(m->alloc, o->data, o->size);
}

/* Takes no lock, because no store is open. */
void cb_memory_free(cb_memory *m) CB_UNCHECKED_LOCKS
{
    for (size_t i = 0; i < m->n; i++) free_object(m, &m->objects[i]);
    cb_free(m->alloc, m->objects, m->cap * sizeof *m->objects);
    cb_rwlock_destroy(&m->lock);
}

static cubed_status full_key(const memory_store *s, const char *key, char full[KEY_CAP],
                             cubed_error *err)
{
    return cb_key_join(full, KEY_CAP, s->root, key, err);
}

/* Returns the index of the key, or where it would be inserted. */
static size_t find(const cb_memory *m, const char *key, bool *found) CB_REQUIRES_SHARED(&m->lock)
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

static cubed_status missing(const cubed_store *s, const char *key, cubed_error *err)
{
    return cb_fail(err, CUBED_E_NOT_FOUND, "%s has no %s", s->url, key);
}

static cubed_status not_expected(const cubed_store *s, const char *key, cubed_error *err)
{
    return cb_fail(err, CUBED_E_EXISTS, "%s in %s has another version than expected, or exists",
                   key, s->url);
}

static cubed_object_info info_of(const object *o)
{
    cubed_object_info info = {.size = o->size};
    snprintf(info.version.text, sizeof info.version.text, "%" PRIu64, o->version);
    return info;
}

/* Implements HEAD and GET. */
static cubed_status look(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    char key[KEY_CAP];
    bool found, allowed = false;
    CB_TRY(full_key((memory_store *)store, r->key, key, err));
    cb_memory *m = ((memory_store *)store)->objects;
    cb_rwlock_read(&m->lock);
    size_t i = find(m, key, &found);
    if (found) {
        r->info = info_of(&m->objects[i]);
        allowed = cubed_store_allows(r, r->info.version.text);
        if (allowed && r->op == CUBED_STORE_GET)
            cubed_store_copy(r, m->objects[i].data, m->objects[i].size);
    }
    cb_rwlock_unlock(&m->lock);
    if (!found) return missing(store, r->key, err);
    return allowed ? CUBED_OK : not_expected(store, r->key, err);
}

static bool insert(cb_memory *m, size_t i, object *o) CB_REQUIRES(&m->lock)
{
    if (m->n == m->cap) {
        size_t cap = m->cap ? 2 * m->cap : 16;
        object *p = cb_resize(m->alloc, m->objects, m->cap * sizeof *p, cap * sizeof *p);
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
    char key[KEY_CAP];
    CB_TRY(full_key((memory_store *)store, r->key, key, err));
    cb_memory *m = ((memory_store *)store)->objects;
    object o = {.key_size = strlen(key) + 1, .size = r->size};
    o.key = cb_alloc(m->alloc, o.key_size);
    o.data = cb_alloc(m->alloc, r->size);
    bool ok = o.key && o.data, found, allowed = true;
    if (ok) {
        memcpy(o.key, key, o.key_size);
        if (r->size) memcpy(o.data, r->src, r->size);
        cb_rwlock_write(&m->lock);
        size_t i = find(m, key, &found);
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
        cb_rwlock_unlock(&m->lock);
    }
    free_object(m, &o);
    if (!allowed) return not_expected(store, r->key, err);
    return ok ? CUBED_OK
              : cb_fail(err, CUBED_E_NOMEM, "no memory for %s in %s", r->key, store->url);
}

static cubed_status memory_del(cubed_store *store, const char *name, cubed_error *err)
{
    object o = {0};
    char key[KEY_CAP];
    bool found;
    CB_TRY(full_key((memory_store *)store, name, key, err));
    cb_memory *m = ((memory_store *)store)->objects;
    cb_rwlock_write(&m->lock);
    size_t i = find(m, key, &found);
    if (found) {
        o = m->objects[i];
        m->n--;
        memmove(m->objects + i, m->objects + i + 1, (m->n - i) * sizeof *m->objects);
    }
    cb_rwlock_unlock(&m->lock);
    free_object(m, &o);
    return CUBED_OK;
}

/* Finds the first entry below `prefix` at or after key `from`, and sets `from` to its key. Returns false if there is no such
 * entry. */
static bool next_entry(const cb_memory *m, const char *prefix, bool delimited, cb_buf *from,
                       cubed_store_entry *e) CB_REQUIRES_SHARED(&m->lock)
{
    const size_t n = strlen(prefix), skip = n ? n + 1 : 0;
    bool found;
    for (size_t i = find(m, from->data ? from->data : "", &found);
         i < m->n && strncmp(m->objects[i].key, prefix, n) == 0; i++) {
        const char *key = m->objects[i].key;
        if (n && key[n] != '/') continue;
        const char *slash = delimited ? strchr(key + skip, '/') : NULL;
        from->size = 0;
        cb_buf_put(from, key, slash ? (size_t)(slash - key) : strlen(key));
        *e = (cubed_store_entry){.size = slash ? 0 : m->objects[i].size, .is_prefix = slash};
        return true;
    }
    return false;
}

/* Lists objects. The callback may change the store, so each key is copied, and the next key is searched from it. */
static cubed_status memory_list(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    const memory_store *s = (memory_store *)store;
    cubed_status st = CUBED_OK;
    cubed_store_entry e = {.size = 0};
    char prefix[KEY_CAP];
    cb_buf key;
    CB_TRY(full_key(s, r->key, prefix, err));
    const size_t root = *s->root ? strlen(s->root) + 1 : 0;
    cb_buf_init(&key, store->alloc);
    cb_buf_puts(&key, prefix);
    while (st == CUBED_OK) {
        cb_rwlock_read(&s->objects->lock);
        const bool more = next_entry(s->objects, prefix, r->delimiter, &key, &e);
        cb_rwlock_unlock(&s->objects->lock);
        if (key.failed) st = cb_fail(err, CUBED_E_NOMEM, "no memory to list %s", store->url);
        if (!more || st != CUBED_OK) break;
        e.key = key.data + root;
        st = r->entry(r->entry_ctx, &e, err);
        /* The next search starts after this key. After a prefix, it starts after all keys below the prefix: '0' follows '/' in
         * ASCII. */
        cb_buf_puts(&key, e.is_prefix ? "0" : "\001");
    }
    cb_buf_free(&key);
    return st;
}

/* --- Exchanging prefixes ------------------------------------------------------------------------------ */

static int by_key(const void *a, const void *b)
{
    return strcmp(((const object *)a)->key, ((const object *)b)->key);
}

static bool is_below(const char *key, const char *prefix)
{
    const size_t n = strlen(prefix);
    return strncmp(key, prefix, n) == 0 && key[n] == '/';
}

/* Returns the key with `from` replaced by `to`. Returns NULL if out of memory. */
static char *renamed(const cb_memory *m, const char *key, const char *from, const char *to,
                     size_t *size)
{
    const size_t n = strlen(to), rest = strlen(key + strlen(from)) + 1;
    char *name = cb_alloc(m->alloc, n + rest);
    if (!name) return NULL;
    memcpy(name, to, n);
    memcpy(name + n, key + strlen(from), rest);
    *size = n + rest;
    return name;
}

/* Renames all keys below `a` to `b`, and all keys below `b` to `a`. If out of memory, restores the old names and returns
 * false. */
static bool rename_all(cb_memory *m, const char *a, const char *b) CB_REQUIRES(&m->lock)
{
    object *old = cb_alloc(m->alloc, m->n * sizeof *old);
    size_t i = 0;
    if (!old) return false;
    if (m->n) memcpy(old, m->objects, m->n * sizeof *old);
    for (; i < m->n; i++) {
        object *o = &m->objects[i];
        const bool in_a = is_below(o->key, a) || strcmp(o->key, a) == 0;
        const bool in_b = is_below(o->key, b) || strcmp(o->key, b) == 0;
        if (!in_a && !in_b) continue;
        o->key = renamed(m, o->key, in_a ? a : b, in_a ? b : a, &o->key_size);
        if (!o->key) break;
    }
    const bool ok = i == m->n;
    for (size_t k = 0; k < i; k++) {
        if (m->objects[k].key == old[k].key) continue;
        object *gone = ok ? &old[k] : &m->objects[k];
        cb_free(m->alloc, gone->key, gone->key_size);
    }
    if (!ok) memcpy(m->objects, old, m->n * sizeof *old);
    if (ok && m->n) qsort(m->objects, m->n, sizeof *m->objects, by_key);
    cb_free(m->alloc, old, m->n * sizeof *old);
    return ok;
}

static cubed_status memory_swap(cubed_store *store, const char *a, const char *b, cubed_error *err)
{
    char from[KEY_CAP], to[KEY_CAP];
    CB_TRY(full_key((memory_store *)store, a, from, err));
    CB_TRY(full_key((memory_store *)store, b, to, err));
    cb_memory *m = ((memory_store *)store)->objects;
    cb_rwlock_write(&m->lock);
    const bool ok = rename_all(m, from, to);
    cb_rwlock_unlock(&m->lock);
    return ok ? CUBED_OK
              : cb_fail(err, CUBED_E_NOMEM, "no memory to put %s in the place of %s", a, b);
}

/* --- Opening ------------------------------------------------------------------------------------------ */

static void memory_close(cubed_store *store)
{
    memory_store *s = (memory_store *)store;
    if (s->objects == &s->own) cb_memory_free(&s->own);
    cb_free(store->alloc, s, s->size);
}

static cubed_status memory_around(cubed_store *store, const char *prefix, cubed_store **out,
                                  char *name, size_t cap, cubed_error *err);

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
    .swap = memory_swap,
    .around = memory_around,
    .close = memory_close,
};

static cubed_status new_store(const cubed_allocator *a, const char *url, const char *root,
                              memory_store **out, cubed_error *err)
{
    const size_t n = strlen(root) + 1, length = strlen(url) + 1;
    const size_t size = sizeof(memory_store) + n + length;
    memory_store *s = cb_alloc_zero(a, size);
    if (!s) return cb_fail(err, CUBED_E_NOMEM, "no memory for the store %s", url);
    s->size = size;
    s->url = s->root + n;
    memcpy(s->root, root, n);
    memcpy(s->url, url, length);
    s->head = (cubed_store){&memory_vtable, a, s->url};
    *out = s;
    return CUBED_OK;
}

static cubed_status memory_around(cubed_store *store, const char *prefix, cubed_store **out,
                                  char *name, size_t cap, cubed_error *err)
{
    const memory_store *s = (memory_store *)store;
    memory_store *up;
    char key[KEY_CAP];
    CB_TRY(full_key(s, prefix, key, err));
    char *slash = strrchr(key, '/');
    const char *last = slash ? slash + 1 : key;
    if (!*last || strlen(last) >= cap)
        return cb_fail(err, CUBED_E_ARG, "the name of %s in %s is empty or longer than %zu bytes",
                       prefix, store->url, cap - 1);
    memcpy(name, last, strlen(last) + 1);
    key[slash ? slash - key : 0] = 0;
    CB_TRY(new_store(store->alloc, store->url, key, &up, err));
    up->objects = s->objects;
    *out = &up->head;
    return CUBED_OK;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

cubed_status cb_memory_open(cb_memory *m, const char *url, cubed_store **out, cubed_error *err)
{
    const char *at = url + strlen("memory://");
    char root[KEY_CAP];
    size_t n = 0;
    memory_store *s;
    for (; *at && n < sizeof root - 1; at++) {
        const int high = *at == '%' ? digit(at[1]) : -1, low = high < 0 ? -1 : digit(at[2]);
        root[n] = *at;
        if (low >= 0) root[n] = (char)(high * 16 + low);
        n++;
        if (low >= 0) at += 2;
    }
    root[n] = 0;
    if (*at || n == 0 || cb_key_check(root, NULL) != CUBED_OK)
        return cb_fail(err, CUBED_E_ARG,
                       "\"%s\" has no name of a store in memory, expected memory://NAME or "
                       "memory://NAME/PATH",
                       url);
    CB_TRY(new_store(m->alloc, url, root, &s, err));
    s->objects = m;
    *out = &s->head;
    return CUBED_OK;
}

cubed_status cb_store_open_memory(const cubed_allocator *a, const char *name, cubed_store **out,
                                  cubed_error *err)
{
    memory_store *s = NULL;
    CB_TRY(new_store(a, name, "", &s, err));
    cb_memory_init(&s->own, a);
    s->objects = &s->own;
    *out = &s->head;
    return CUBED_OK;
}
