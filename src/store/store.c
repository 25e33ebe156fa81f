#include "store/store.h"

#include <string.h>

#include "base/error.h"

cubed_status cb_key_check(const char *key, cubed_error *err)
{
    const char *p = key;
    for (;;) {
        size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return cb_fail(err, CUBED_E_ARG,
                           "key \"%s\" is not a relative path without empty, \".\" or \"..\" parts",
                           key);
        if (p[n] == 0) return CUBED_OK;
        p += n + 1;
    }
}

cubed_status cb_key_join(char *out, size_t cap, const char *a, const char *b, cubed_error *err)
{
    size_t na = strlen(a), nb = strlen(b), sep = na && nb ? 1 : 0;
    if (na + sep + nb + 1 > cap)
        return cb_fail(err, CUBED_E_ARG, "the key \"%s/%s\" is longer than %zu bytes", a, b,
                       cap - 1);
    memmove(out, a, na);
    if (sep) out[na] = '/';
    memcpy(out + na + sep, b, nb + 1);
    return out[0] ? cb_key_check(out, err) : CUBED_OK;
}

cubed_status cb_store_check(const char *url, cubed_error *err)
{
    const char *scheme = *url == '/' ? NULL : strstr(url, "://");
    if (!*url) return cb_fail(err, CUBED_E_ARG, "a store's path is empty");
    if (!scheme) return CUBED_OK;
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "\"%s\": stores of scheme %.*s are not supported; there are: a path, file://",
                   url, (int)(scheme - url), url);
}

cubed_status cb_store_open(const cubed_allocator *a, const char *url, bool durable,
                           cubed_store **out, cubed_error *err)
{
    CB_TRY(cb_store_check(url, err));
    return cb_store_open_local(a, url, durable, out, err);
}

void cb_store_close(cubed_store *s)
{
    if (s) s->vt->close(s);
}

cubed_status cb_store_get(cubed_store *s, const char *key, uint64_t offset, void *dst, size_t size,
                          size_t *got, cubed_error *err)
{
    CB_TRY(cb_key_check(key, err));
    return s->vt->get(s, key, offset, dst, size, got, err);
}

cubed_status cb_store_get_ranges(cubed_store *s, const char *key, const cubed_range *ranges,
                                 size_t n, void *dst, uint64_t *size, cubed_error *err)
{
    char *to = dst;
    CB_TRY(cb_key_check(key, err));
    if (s->vt->get_ranges) return s->vt->get_ranges(s, key, ranges, n, dst, size, err);
    cubed_object_info info;
    CB_TRY(s->vt->head(s, key, &info, err));
    *size = info.size;
    for (size_t i = 0; i < n; i++) {
        size_t got;
        CB_TRY(s->vt->get(s, key, ranges[i].offset, to, ranges[i].size, &got, err));
        if (got != ranges[i].size)
            return cb_fail(err, CUBED_E_FORMAT, "%s ends within a range that is read", key);
        to += got;
    }
    return CUBED_OK;
}

cubed_status cb_store_put(cubed_store *s, const char *key, const void *src, size_t size,
                          cubed_error *err)
{
    CB_TRY(cb_key_check(key, err));
    return s->vt->put(s, key, src, size, err);
}

cubed_status cb_store_del(cubed_store *s, const char *key, cubed_error *err)
{
    CB_TRY(cb_key_check(key, err));
    return s->vt->del(s, key, err);
}

cubed_status cb_store_list(cubed_store *s, const char *prefix, cubed_store_list_fn fn, void *ctx,
                           cubed_error *err)
{
    if (*prefix) CB_TRY(cb_key_check(prefix, err));
    return s->vt->list(s, prefix, fn, ctx, err);
}

cubed_status cb_store_size(cubed_store *s, const char *key, uint64_t *size, cubed_error *err)
{
    cubed_object_info info;
    CB_TRY(cb_store_head(s, key, &info, err));
    *size = info.size;
    return CUBED_OK;
}

cubed_status cb_store_head(cubed_store *s, const char *key, cubed_object_info *info,
                           cubed_error *err)
{
    CB_TRY(cb_key_check(key, err));
    return s->vt->head(s, key, info, err);
}

cubed_status cb_store_put_if(cubed_store *s, const char *key, uint64_t expected, const void *src,
                             size_t size, uint64_t *version, cubed_error *err)
{
    uint64_t ignored;
    CB_TRY(cb_key_check(key, err));
    return s->vt->put_if(s, key, expected, src, size, version ? version : &ignored, err);
}

cubed_status cb_store_sweep(cubed_store *s, const char *prefix, bool dry_run,
                            cubed_store_list_fn fn, void *ctx, cubed_error *err)
{
    if (*prefix) CB_TRY(cb_key_check(prefix, err));
    return s->vt->sweep ? s->vt->sweep(s, prefix, dry_run, fn, ctx, err) : CUBED_OK;
}

cubed_status cb_store_find(cubed_store *s, const char *key, cubed_object_info *info,
                           cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    *info = (cubed_object_info){.version = CUBED_STORE_ABSENT};
    cubed_status st = cb_store_head(s, key, info, &why);
    if (st == CUBED_OK || st == CUBED_E_NOT_FOUND) return CUBED_OK;
    if (err) *err = why;
    return st;
}

cubed_status cb_store_exists(cubed_store *s, const char *key, bool *out, cubed_error *err)
{
    cubed_object_info info;
    CB_TRY(cb_store_find(s, key, &info, err));
    *out = info.version != CUBED_STORE_ABSENT;
    return CUBED_OK;
}

static cubed_status delete_one(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    cubed_store *s = ctx;
    (void)size;
    return s->vt->del(s, key, err);
}

cubed_status cb_store_clear(cubed_store *s, const char *prefix, cubed_error *err)
{
    if (!s->vt->clear) return cb_store_list(s, prefix, delete_one, s, err);
    if (*prefix) CB_TRY(cb_key_check(prefix, err));
    return s->vt->clear(s, prefix, err);
}

/* Names directly below a prefix, of all keys below it. They are in order, or the store has `members`. */
typedef struct member_finder {
    size_t skip;
    cubed_store_member_fn fn;
    void *ctx;
    char last[4096];
} member_finder;

static cubed_status find_member(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    member_finder *f = ctx;
    const char *name = key + f->skip;
    size_t n = strcspn(name, "/");
    bool is_prefix = name[n] == '/';
    (void)size;
    if (n >= sizeof f->last) return cb_fail(err, CUBED_E_ARG, "the key %s is too long", key);
    if (strncmp(f->last, name, n) == 0 && f->last[n] == 0) return CUBED_OK;
    memcpy(f->last, name, n);
    f->last[n] = 0;
    return f->fn(f->ctx, f->last, is_prefix, err);
}

cubed_status cb_store_members(cubed_store *s, const char *prefix, cubed_store_member_fn fn,
                              void *ctx, cubed_error *err)
{
    if (*prefix) CB_TRY(cb_key_check(prefix, err));
    if (s->vt->members) return s->vt->members(s, prefix, fn, ctx, err);
    member_finder f = {.skip = *prefix ? strlen(prefix) + 1 : 0, .fn = fn, .ctx = ctx};
    return s->vt->list(s, prefix, find_member, &f, err);
}

cubed_status cb_store_swap(cubed_store *s, const char *a, const char *b, cubed_error *err)
{
    CB_TRY(cb_key_check(a, err));
    CB_TRY(cb_key_check(b, err));
    if (!s->vt->swap)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "stores of kind %s cannot replace a whole array",
                       s->vt->scheme);
    return s->vt->swap(s, a, b, err);
}

cubed_status cb_store_around(cubed_store *s, const char *path, cubed_store **out, char *name,
                             size_t cap, cubed_error *err)
{
    if (*path) CB_TRY(cb_key_check(path, err));
    if (!s->vt->around)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "stores of kind %s cannot replace a whole array",
                       s->vt->scheme);
    return s->vt->around(s, path, out, name, cap, err);
}

cubed_status cb_store_read_all(cubed_store *s, const char *key, size_t max, cb_buf *out,
                               cubed_error *err)
{
    char part[16384];
    for (;;) {
        size_t got;
        CB_TRY(cb_store_get(s, key, out->size, part, sizeof part, &got, err));
        cb_buf_put(out, part, got);
        if (out->failed) return cb_fail(err, CUBED_E_NOMEM, "no memory to read %s", key);
        if (out->size > max)
            return cb_fail(err, CUBED_E_FORMAT, "%s is larger than %zu bytes", key, max);
        if (got < sizeof part) return CUBED_OK;
    }
}
