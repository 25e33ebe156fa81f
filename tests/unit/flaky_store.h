/* A store over stores in memory, in which one request fails: the store does not perform the request, or performs it and loses the
 * reply. URLs flaky://data and flaky://work are two stores. */
#ifndef CB_TESTS_FLAKY_STORE_H
#define CB_TESTS_FLAKY_STORE_H

#include <string.h>

#include "base/error.h"
#include "store/core/store.h"

#define FLAKY_MESSAGE "the service is gone"

typedef struct flaky_store {
    cubed_store_vtable vt;
    cubed_store *inner[2];
    int nth, calls; /* request number `nth` fails, from 1 on; 0: no request fails */
    bool performs;  /* the failing request has been performed */
} flaky_store;

typedef struct flaky_handle {
    cubed_store head;
    flaky_store *s;
    cubed_store *inner;
} flaky_handle;

static inline bool flaky_fails(flaky_store *s) { return ++s->calls == s->nth; }

static inline cubed_status flaky_error(cubed_error *err)
{
    return cb_fail(err, CUBED_E_IO, FLAKY_MESSAGE);
}

static inline void flaky_ignore(cubed_store_request *r) { (void)r; }

/* Whether the version of the object at the request's guard, or of an object to delete, is not the expected one. */
static inline bool flaky_refuses(const flaky_handle *h, const cubed_store_request *r)
{
    cubed_object_info info;
    if (r->op != CUBED_STORE_DELETE) return false;
    if (r->guard && (cb_store_find(h->inner, r->guard, &info, NULL) != CUBED_OK ||
                     strcmp(info.version.text, r->guard_version) != 0))
        return true;
    for (size_t i = 0; r->versions && i < r->nkeys; i++) {
        if (r->versions[i] && (cb_store_find(h->inner, r->keys[i], &info, NULL) != CUBED_OK ||
                               strcmp(info.version.text, r->versions[i]) != 0))
            return true;
    }
    return false;
}

typedef struct flaky_listing {
    const flaky_handle *h;
    const cubed_store_request *r;
} flaky_listing;

/* Adds the version, which stores in memory do not list. */
static inline cubed_status flaky_entry(void *ctx, const cubed_store_entry *e, cubed_error *err)
{
    const flaky_listing *l = ctx;
    cubed_object_info info;
    cubed_store_entry with = *e;
    if (!e->is_prefix) CB_TRY(cb_store_find(l->h->inner, e->key, &info, err));
    if (!e->is_prefix) with.version = info.version.text;
    return l->r->entry(l->r->entry_ctx, &with, err);
}

static inline void flaky_perform(const flaky_handle *h, cubed_store_request *r)
{
    flaky_listing l = {h, r};
    cubed_store_request own = *r, *one = &own;
    if (flaky_refuses(h, r)) {
        r->status = cb_fail(r->err, CUBED_E_EXISTS, "the guard has another version");
        return;
    }
    own.complete = flaky_ignore;
    if (r->op == CUBED_STORE_LIST) {
        own.entry = flaky_entry;
        own.entry_ctx = &l;
    }
    h->inner->vt->submit(h->inner, &one, 1);
    r->status = own.status;
    r->info = own.info;
    r->got = own.got;
}

static inline void flaky_submit(cubed_store *store, cubed_store_request *const *requests, size_t n)
{
    flaky_handle *h = (flaky_handle *)store;
    for (size_t i = 0; i < n; i++) {
        cubed_store_request *r = requests[i];
        const bool fails = flaky_fails(h->s);
        if (!fails || h->s->performs) flaky_perform(h, r);
        if (fails) r->status = flaky_error(r->err);
        r->complete(r);
    }
}

static inline cubed_status flaky_copy(cubed_store *store, const char *const *from,
                                      const char *const *to, size_t n, cubed_error *err)
{
    const flaky_handle *h = (flaky_handle *)store;
    const bool fails = flaky_fails(h->s);
    cubed_status st = CUBED_OK;
    for (size_t i = 0; i < n && st == CUBED_OK && (!fails || h->s->performs); i++) {
        cb_buf b;
        cb_buf_init(&b, &cb_system_allocator);
        st = cb_store_read_all(h->inner, from[i], (size_t)1 << 20, &b, err);
        if (st == CUBED_OK) st = cb_store_put(h->inner, to[i], b.data, b.size, err);
        cb_buf_free(&b);
    }
    return fails ? flaky_error(err) : st;
}

/* The names of the tests have no '/', so they stay the same. */
static inline cubed_status flaky_around(cubed_store *store, const char *prefix, cubed_store **out,
                                        char *name, size_t cap, cubed_error *err)
{
    flaky_handle *h = cb_alloc(store->alloc, sizeof *h);
    if (!h) return cb_fail(err, CUBED_E_NOMEM, "no memory for a store");
    assert_true(*prefix && !strchr(prefix, '/') && strlen(prefix) < cap);
    memcpy(name, prefix, strlen(prefix) + 1);
    *h = *(flaky_handle *)store;
    *out = &h->head;
    return CUBED_OK;
}

static inline void flaky_close(cubed_store *store)
{
    cb_free(store->alloc, store, sizeof(flaky_handle));
}

static inline cubed_status flaky_open(const cubed_store_vtable *vt,
                                      const cubed_store_open_args *args, cubed_store **out,
                                      cubed_error *err)
{
    flaky_store *s = vt->ctx;
    const bool work = strstr(args->url, "work") != NULL;
    flaky_handle *h = cb_alloc(args->alloc, sizeof *h);
    if (!h) return cb_fail(err, CUBED_E_NOMEM, "no memory for a store");
    *h = (flaky_handle){
        {vt, args->alloc, work ? "flaky://work" : "flaky://data"}, s, s->inner[work]};
    *out = &h->head;
    return CUBED_OK;
}

/* Creates empty stores. flags: CUBED_STORE_GUARDS, ... */
static inline void flaky_begin(flaky_store *s, uint32_t flags)
{
    *s = (flaky_store){.vt = {.struct_size = sizeof s->vt,
                              .version = CUBED_STORE_VERSION,
                              .flags = CUBED_STORE_AT_ONCE | flags,
                              .scheme = "flaky",
                              .ctx = s,
                              .open = flaky_open,
                              .close = flaky_close,
                              .submit = flaky_submit,
                              .around = flaky_around,
                              .copy = flaky_copy}};
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            cb_store_open_memory(&cb_system_allocator, "memory://flaky", &s->inner[i], NULL),
            CUBED_OK);
}

static inline void flaky_end(flaky_store *s)
{
    for (int i = 0; i < 2; i++) cb_store_close(s->inner[i]);
}

#endif
