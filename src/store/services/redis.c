/* Store in a Redis server, with URLs redis://HOST:PORT/DB/PATH. Objects are strings of the server. Each string begins with the
 * object's version, which has 16 digits. Intended for data that is needed only during a run, because it is stored in the
 * server's memory. Each request waits for its reply on a separate connection, and transfers bytes directly from and to the
 * caller's memory. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/lock.h"
#include "store/core/adopted.h"
#include "store/core/uri.h"
#include "store/http/net.h"
#include "store/services/remotes.h"
#include "store/services/resp.h"

#define WHO    "REDIS_USERNAME username"
#define SECRET "REDIS_PASSWORD password"
#define EXPIRY "REDIS_EXPIRY expiry"
#define WAITS  "REDIS_TIMEOUT timeout read_timeout"

enum { VERSION = 16, KEY_CAP = 4096, OTHERS_CHANGED = 5, ATTEMPTS = 3 };
enum { TIMEOUT_MS = 30000, SIZES_AT_ONCE = 500 };
/* Maximum number of consecutive replies to SCAN without a name below the prefix. It is reached only if other programs have
 * about 10^9 keys. */
enum { MOST_EMPTY = 1000000 };

/* Redis script: puts an object if its version equals ARGV[1], or differs from ARGV[2] ("*": if there is no object). "" means no
 * condition. The put always succeeds if the object is the one that an earlier attempt of this put has written. */
#define PUT_IF                                                                                     \
    "local v=redis.call('GETRANGE',KEYS[1],0,15) local new=string.sub(ARGV[3],1,16) "              \
    "if v~=new then if ARGV[1]~='' and v~=ARGV[1] then return 0 end "                              \
    "if ARGV[2]~='' and v~='' and (ARGV[2]=='*' or v==ARGV[2]) then return 0 end end "             \
    "redis.call('SET',KEYS[1],ARGV[3]) "                                                           \
    "if ARGV[4]~='0' then redis.call('PEXPIRE',KEYS[1],ARGV[4]) end return 1"

/* Deletes a key if another object has the given version. */
#define DELETE_IF                                                                                  \
    "if redis.call('GETRANGE',KEYS[2],0,15)~=ARGV[1] then return -1 end "                          \
    "return redis.call('UNLINK',KEYS[1])"

typedef struct redis_store {
    cubed_store head;
    cb_zone *zone;
    cb_net *net;
    const char *host, *port, *user, *password, *db, *root;
    int64_t expiry_ms; /* 0: no expiry */
    int timeout_ms;
    cb_adopted process;
    cb_mutex lock;
    cb_resp *idle CB_GUARDED_BY(&lock);
    unsigned busy CB_GUARDED_BY(&lock); /* connections in use */
} redis_store;

/* --- Connections -------------------------------------------------------------------------------------- */

static cubed_status refused(const cb_resp_reply *r, cubed_error *err)
{
    static const struct {
        const char *code, *advice;
        bool passes;
    } known[] = {{"-NOAUTH", ": set REDIS_PASSWORD, and REDIS_USERNAME if there are users", false},
                 {"-WRONGPASS", ": check REDIS_USERNAME and REDIS_PASSWORD", false},
                 {"-NOPERM", ": the user may not do this", false},
                 {"-OOM", ": the server's memory is full (its maxmemory)", false},
                 {"-READONLY", ": this server is a replica: name its primary server", false},
                 {"-MOVED",
                  ": clusters are not supported: name a server that is not part of a cluster",
                  false},
                 {"-LOADING", "", true},
                 {"-BUSY", "", true},
                 {"-TRYAGAIN", "", true},
                 {"-MASTERDOWN", "", true}};
    const char *advice = "";
    bool passes = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strncmp(r->text, known[i].code + 1, strlen(known[i].code) - 1) != 0) continue;
        advice = known[i].advice;
        passes = known[i].passes;
    }
    cubed_status st = cb_fail(err, CUBED_E_IO, "the reply is %s%s", r->text, advice);
    if (err) err->transient = passes;
    return st;
}

/* Reads a reply and checks that it has the type `type`. */
static cubed_status expect(cb_resp *c, char type, cb_resp_reply *r, cubed_error *err)
{
    CB_TRY(cb_resp_read(c, r, err));
    if (r->type == '-') return refused(r, err);
    if (r->type == type) return CUBED_OK;
    return cb_fail(err, CUBED_E_IO, "the reply has an unexpected type");
}

/* Reads the head of a string of at most `most` bytes. */
static cubed_status expect_bytes(cb_resp *c, size_t most, cb_resp_reply *r, cubed_error *err)
{
    CB_TRY(expect(c, '$', r, err));
    if ((uint64_t)r->number <= most) return CUBED_OK;
    return cb_fail(err, CUBED_E_IO, "the reply has %" PRId64 " bytes, expected at most %zu",
                   r->number, most);
}

static cubed_status greet(const redis_store *s, cb_resp *c, cubed_error *err)
{
    cb_resp_reply r;
    if (s->password) {
        const cb_resp_arg args[] = {cb_resp_text("AUTH"),
                                    cb_resp_text(s->user ? s->user : s->password),
                                    cb_resp_text(s->password)};
        CB_TRY(cb_resp_send(c, args, s->user ? 3 : 2, err));
        CB_TRY(expect(c, '+', &r, err));
    }
    if (strcmp(s->db, "0") == 0) return CUBED_OK;
    const cb_resp_arg args[] = {cb_resp_text("SELECT"), cb_resp_text(s->db)};
    CB_TRY(cb_resp_send(c, args, 2, err));
    return expect(c, '+', &r, err);
}

/* Gives a connection back to the store, for reuse. Closes the connection after an error, because its next reply may belong to
 * an earlier request. */
static void put_back(redis_store *s, cb_resp *c, bool good)
{
    cb_mutex_lock(&s->lock);
    s->busy--;
    if (good) {
        c->next = s->idle;
        s->idle = c;
    }
    cb_mutex_unlock(&s->lock);
    if (good || !c) return;
    cb_resp_close(c);
    cb_free(s->head.alloc, c, sizeof *c);
}

static cubed_status get_connection(redis_store *s, bool new, cb_resp **out, cubed_error *err)
{
    cb_mutex_lock(&s->lock);
    cb_resp *c = s->idle;
    if (c) s->idle = c->next;
    const unsigned sharing = ++s->busy;
    cb_mutex_unlock(&s->lock);
    if (c && !new) {
        cb_resp_begin(c, sharing);
        *out = c;
        return CUBED_OK;
    }
    if (c)
        cb_resp_close(c);
    else
        c = cb_alloc_zero(s->head.alloc, sizeof *c);
    if (c) c->fd = -1;
    cubed_status st = c ? cb_resp_open(s->host, s->port, s->timeout_ms, c, err)
                        : cb_fail(err, CUBED_E_NOMEM, "no memory for a connection");
    if (st == CUBED_OK) {
        cb_resp_begin(c, sharing);
        st = greet(s, c, err);
    }
    if (st == CUBED_OK)
        *out = c;
    else
        put_back(s, c, false);
    return st;
}

/* Forgets the connections of the parent after a fork. */
static void forget_connections(redis_store *s) CB_UNCHECKED_LOCKS
{
    if (!cb_adopted_begin(&s->process)) return;
    s->idle = NULL;
    s->busy = 0;
    cb_mutex_init(&s->lock);
    cb_adopted_end(&s->process);
}

/* --- Requests ----------------------------------------------------------------------------------------- */

typedef cubed_status (*exchange_fn)(redis_store *s, cb_resp *c, cubed_store_request *r,
                                    const char *key, cubed_error *err);

static cubed_status make_key(const redis_store *s, const char *key, char out[KEY_CAP],
                             cubed_error *err)
{
    return cb_key_join(out, KEY_CAP, s->root, key, err);
}

/* Runs one request. Retries it on a new connection if a reused connection was closed or the server does not respond. */
static cubed_status exchange(cubed_store *store, cubed_store_request *r, exchange_fn fn,
                             const char *verb, cubed_error *err)
{
    redis_store *s = (redis_store *)store;
    char key[KEY_CAP];
    cb_resp *c = NULL;
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = CUBED_OK;
    forget_connections(s);
    CB_TRY(make_key(s, r->key ? r->key : "", key, err));
    for (int i = 0; i < ATTEMPTS; i++) {
        why = (cubed_error)CUBED_ERROR_INIT;
        st = get_connection(s, i > 0, &c, &why);
        if (st == CUBED_OK) {
            st = fn(s, c, r, key, &why);
            put_back(s, c, st == CUBED_OK || st == CUBED_E_NOT_FOUND || st == CUBED_E_EXISTS);
        }
        if (st == CUBED_OK || !why.transient) break;
    }
    if (st == CUBED_OK) return st;
    if (st == CUBED_E_NOT_FOUND) return cb_fail(err, st, "%s has no %s", store->url, r->key);
    if (err) *err = why;
    return cb_context(err, st, "%s: %s%s%s", store->url, verb, r->key && *r->key ? " " : "",
                      r->key ? r->key : "");
}

static cubed_status send_text(cb_resp *c, const char *a, const char *b, const char *d,
                              const char *e, cubed_error *err)
{
    const char *const all[] = {a, b, d, e};
    cb_resp_arg args[4];
    size_t n = 0;
    while (n < 4 && all[n]) {
        args[n] = cb_resp_text(all[n]);
        n++;
    }
    return cb_resp_send(c, args, n, err);
}

/* Reads size, version and n ranges of the bytes after the version in one transaction. Stores the existing bytes of the
 * ranges in dst. */
static cubed_status read_ranges(cb_resp *c, const char *key, const cubed_range *ranges, size_t n,
                                cubed_store_request *r, uint64_t most, cubed_error *err)
{
    cb_resp_reply reply;
    char first[24], last[24];
    size_t at = 0;
    CB_TRY(send_text(c, "MULTI", NULL, NULL, NULL, err));
    CB_TRY(send_text(c, "STRLEN", key, NULL, NULL, err));
    CB_TRY(send_text(c, "GETRANGE", key, "0", "15", err));
    for (size_t i = 0; i < n; i++) {
        snprintf(first, sizeof first, "%" PRIu64, ranges[i].offset + VERSION);
        snprintf(last, sizeof last, "%" PRIu64, ranges[i].offset + VERSION + ranges[i].size - 1);
        CB_TRY(send_text(c, "GETRANGE", key, first, last, err));
    }
    CB_TRY(send_text(c, "EXEC", NULL, NULL, NULL, err));
    for (size_t i = 0; i < n + 3; i++) CB_TRY(expect(c, '+', &reply, err));
    CB_TRY(expect(c, '*', &reply, err));
    if ((size_t)reply.number != n + 2)
        return cb_fail(err, CUBED_E_IO, "the reply has %" PRId64 " parts, expected %zu",
                       reply.number, n + 2);
    CB_TRY(expect(c, ':', &reply, err));
    const bool there = reply.number >= VERSION;
    r->info.size = there ? (uint64_t)reply.number - VERSION : 0;
    CB_TRY(expect_bytes(c, VERSION, &reply, err));
    r->info.version.text[0] = 0;
    CB_TRY(cb_resp_take(c, &reply, 0, r->info.version.text, VERSION, err));
    r->info.version.text[there ? VERSION : 0] = 0;
    r->got = 0;
    for (size_t i = 0; i < n; i++) {
        CB_TRY(expect_bytes(c, ranges[i].size, &reply, err));
        const uint64_t from = ranges[i].offset, size = r->info.size;
        const uint64_t left = size > from ? size - from : 0;
        const uint64_t expected = ranges[i].size < left ? ranges[i].size : left;
        if ((uint64_t)reply.number != expected)
            return cb_fail(err, CUBED_E_IO,
                           "the reply has %" PRId64 " bytes of an object of %" PRIu64
                           " bytes, expected %" PRIu64,
                           reply.number, size, expected);
        const size_t k =
            r->info.size <= most ? cb_min_size((size_t)reply.number, ranges[i].size) : 0;
        CB_TRY(cb_resp_take(c, &reply, 0, k ? (char *)r->dst + at : NULL, k, err));
        r->got += k;
        at += r->nranges ? r->ranges[i].size : 0;
    }
    if (!there) return CUBED_E_NOT_FOUND;
    if (cubed_store_allows(r, r->info.version.text)) return CUBED_OK;
    return cb_fail(err, CUBED_E_EXISTS, "the object has another version than expected, or exists");
}

static cubed_status do_head(redis_store *s, cb_resp *c, cubed_store_request *r, const char *key,
                            cubed_error *err)
{
    (void)s;
    return read_ranges(c, key, NULL, 0, r, 0, err);
}

/* A range from the end needs the object's size, which must belong to the same version as the bytes. */
static cubed_status get_parts(cb_resp *c, cubed_store_request *r, const char *key, bool suffix,
                              cubed_range *known, cubed_error *err)
{
    for (int i = 0; i < OTHERS_CHANGED; i++) {
        cubed_object_version version = {""};
        if (suffix) {
            CB_TRY(read_ranges(c, key, NULL, 0, r, 0, err));
            version = r->info.version;
        }
        for (size_t k = 0; k < r->nranges; k++) {
            const cubed_range x = r->ranges[k];
            const bool from_end = x.offset == CUBED_RANGE_SUFFIX;
            known[k] = from_end ? cubed_range_within(x, r->info.size) : x;
            if (known[k].offset > INT64_MAX / 2) known[k].offset = INT64_MAX / 2;
        }
        CB_TRY(read_ranges(c, key, known, r->nranges, r, UINT64_MAX, err));
        if (!suffix || cb_version_equal(&version, &r->info.version)) return CUBED_OK;
    }
    cubed_status st = cb_fail(err, CUBED_E_IO, "the object was replaced while it was read");
    if (err) err->transient = true;
    return st;
}

static cubed_status do_get(redis_store *s, cb_resp *c, cubed_store_request *r, const char *key,
                           cubed_error *err)
{
    if (!r->nranges) {
        const cubed_range whole = {0, r->cap};
        return read_ranges(c, key, &whole, r->cap > 0, r, r->cap, err);
    }
    bool suffix = false, any = false;
    for (size_t i = 0; i < r->nranges; i++) {
        suffix |= r->ranges[i].offset == CUBED_RANGE_SUFFIX;
        any |= r->ranges[i].size > 0;
    }
    if (!any) return do_head(s, c, r, key, err);
    cubed_range *known = cb_alloc(s->head.alloc, r->nranges * sizeof *known);
    if (!known) return cb_fail(err, CUBED_E_NOMEM, "no memory for a request");
    cubed_status st = get_parts(c, r, key, suffix, known, err);
    cb_free(s->head.alloc, known, r->nranges * sizeof *known);
    return st;
}

/* Returns the expiry of a key. Metadata expires first, so that no array exists whose chunks are missing. */
static int64_t expiry_of(const redis_store *s, const char *key)
{
    static const char *const documents[] = {"zarr.json", ".zarray", ".zgroup", ".zmetadata",
                                            ".zattrs"};
    const char *slash = strrchr(key, '/'), *name = slash ? slash + 1 : key;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        if (strcmp(name, documents[i]) == 0) return s->expiry_ms / 2;
    }
    return s->expiry_ms;
}

static cubed_status do_put(redis_store *s, cb_resp *c, cubed_store_request *r, const char *key,
                           cubed_error *err)
{
    char expiry[24];
    cb_resp_reply reply;
    const char *version = r->store_data;
    snprintf(expiry, sizeof expiry, "%" PRId64, expiry_of(s, key));
    const cb_resp_arg value = {version, VERSION, r->src, r->size};
    if (r->if_match || r->if_none_match) {
        const cb_resp_arg args[] = {cb_resp_text("EVAL"),
                                    cb_resp_text(PUT_IF),
                                    cb_resp_text("1"),
                                    cb_resp_text(key),
                                    cb_resp_text(r->if_match ? r->if_match : ""),
                                    cb_resp_text(r->if_none_match ? r->if_none_match : ""),
                                    value,
                                    cb_resp_text(expiry)};
        CB_TRY(cb_resp_send(c, args, 8, err));
        CB_TRY(expect(c, ':', &reply, err));
        if (reply.number == 0)
            return cb_fail(err, CUBED_E_EXISTS,
                           "the object has another version than expected, or exists");
    } else {
        const cb_resp_arg args[] = {cb_resp_text("SET"), cb_resp_text(key), value,
                                    cb_resp_text("PX"), cb_resp_text(expiry)};
        CB_TRY(cb_resp_send(c, args, s->expiry_ms ? 5 : 3, err));
        CB_TRY(expect(c, '+', &reply, err));
    }
    r->info.size = r->size;
    memcpy(r->info.version.text, version, VERSION + 1);
    return CUBED_OK;
}

static cubed_status get(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    return exchange(store, r, do_get, "get", err);
}

static cubed_status head(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    return exchange(store, r, do_head, "head", err);
}

static cubed_status put(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    uint64_t random;
    char version[VERSION + 1];
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return cb_fail(err, CUBED_E_IO, "the operating system returned no random numbers");
    snprintf(version, sizeof version, "%016" PRIx64, random);
    r->store_data = version;
    cubed_status st = exchange(store, r, do_put, "put", err);
    r->store_data = NULL;
    return st;
}

static cubed_status do_delete(redis_store *s, cb_resp *c, cubed_store_request *r, const char *key,
                              cubed_error *err)
{
    char guard[KEY_CAP];
    cb_resp_reply reply;
    if (!r->guard) {
        CB_TRY(send_text(c, "UNLINK", key, NULL, NULL, err));
        return expect(c, ':', &reply, err);
    }
    CB_TRY(make_key(s, r->guard, guard, err));
    const cb_resp_arg args[] = {cb_resp_text("EVAL"), cb_resp_text(DELETE_IF),
                                cb_resp_text("2"),    cb_resp_text(key),
                                cb_resp_text(guard),  cb_resp_text(r->guard_version)};
    CB_TRY(cb_resp_send(c, args, 6, err));
    CB_TRY(expect(c, ':', &reply, err));
    return reply.number < 0 ? cb_fail(err, CUBED_E_EXISTS,
                                      "%s was changed or created by another process", r->guard)
                            : CUBED_OK;
}

static cubed_status delete_key(cubed_store *store, const cubed_store_request *all, const char *key,
                               cubed_error *err)
{
    cubed_store_request r = {.key = key, .guard = all->guard, .guard_version = all->guard_version};
    return exchange(store, &r, do_delete, "delete", err);
}

static cubed_status del(cubed_store *store, const char *key, cubed_error *err)
{
    const cubed_store_request all = {.guard = NULL};
    return delete_key(store, &all, key, err);
}

/* Deletes keys as long as another object has the given version. */
static void delete_guarded(cubed_store *store, cubed_store_request *r)
{
    r->status = CUBED_OK;
    for (size_t k = 0; k < r->nkeys && r->status == CUBED_OK; k++)
        r->status = delete_key(store, r, r->keys[k], r->err);
    r->complete(r);
}

/* --- Listings ----------------------------------------------------------------------------------------- */

typedef struct listing {
    cb_zone *zone;
    char **name;
    uint64_t *size;
    int n, cap;
} listing;

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void put_pattern(cb_buf *out, const char *prefix)
{
    for (; *prefix; prefix++) {
        if (strchr("*?[]\\^-", *prefix)) cb_buf_puts(out, "\\");
        cb_buf_put(out, prefix, 1);
    }
    cb_buf_puts(out, "*");
}

/* Continues a SCAN. Names arrive in the server's order, possibly repeated. *cursor is "0" after the last. */
static cubed_status scan_on(cb_resp *c, const char *pattern, char cursor[32], listing *l,
                            cubed_error *err)
{
    cb_resp_reply r;
    const cb_resp_arg args[] = {cb_resp_text("SCAN"),  cb_resp_text(cursor),  cb_resp_text("MATCH"),
                                cb_resp_text(pattern), cb_resp_text("COUNT"), cb_resp_text("1000")};
    CB_TRY(cb_resp_send(c, args, 6, err));
    CB_TRY(expect(c, '*', &r, err));
    CB_TRY(expect_bytes(c, 31, &r, err));
    CB_TRY(cb_resp_take(c, &r, 0, cursor, 31, err));
    cursor[r.number] = 0;
    CB_TRY(expect(c, '*', &r, err));
    for (int64_t i = 0, n = r.number; i < n; i++) {
        CB_TRY(expect(c, '$', &r, err));
        const size_t size = (size_t)r.number;
        if (size >= KEY_CAP) { /* the key is too long, so another program has created it */
            CB_TRY(cb_resp_take(c, &r, size, NULL, 0, err));
            continue;
        }
        char *name = cb_zone_grow(l->zone, &l->name, l->n, &l->cap, sizeof *l->name)
                         ? cb_zone_alloc(l->zone, size + 1)
                         : NULL;
        if (!name) return cb_fail(err, CUBED_E_NOMEM, "no memory for a listing");
        CB_TRY(cb_resp_take(c, &r, 0, name, size, err));
        l->name[l->n++] = name;
    }
    return CUBED_OK;
}

/* Gets the sizes of all names, SIZES_AT_ONCE per round trip. */
static cubed_status get_sizes(cb_resp *c, listing *l, cubed_error *err)
{
    cb_resp_reply reply;
    l->size = cb_zone_alloc(l->zone, (size_t)l->n * sizeof *l->size);
    if (!l->size) return cb_fail(err, CUBED_E_NOMEM, "no memory for a listing");
    for (int from = 0, to; from < l->n; from = to) {
        to = l->n - from < SIZES_AT_ONCE ? l->n : from + SIZES_AT_ONCE;
        for (int i = from; i < to; i++) CB_TRY(send_text(c, "STRLEN", l->name[i], NULL, NULL, err));
        for (int i = from; i < to; i++) {
            CB_TRY(expect(c, ':', &reply, err));
            l->size[i] = reply.number > VERSION ? (uint64_t)reply.number - VERSION : 0;
        }
    }
    return CUBED_OK;
}

static cubed_status do_list(redis_store *s, cb_resp *c, cubed_store_request *r, const char *key,
                            cubed_error *err)
{
    listing *l = r->store_data;
    char cursor[32] = "0";
    cb_page_watch watch = {.most_empty = MOST_EMPTY};
    cb_buf pattern;
    cubed_status st = CUBED_OK;
    cb_buf_init(&pattern, s->head.alloc);
    cb_buf_puts(&pattern, "");
    char prefix[KEY_CAP + 1];
    snprintf(prefix, sizeof prefix, "%s%s", key, *key ? "/" : "");
    put_pattern(&pattern, prefix);
    if (pattern.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for a listing"));
    l->n = 0;
    for (;;) {
        const int before = l->n;
        CB_GO(scan_on(c, pattern.data, cursor, l, err));
        if (strcmp(cursor, "0") == 0) break;
        CB_GO(cb_page_watch_next(&watch, &s->head, cursor, (size_t)(l->n - before), err));
    }
    if (l->n > 0) qsort(l->name, (size_t)l->n, sizeof *l->name, by_name);
    if (l->n > 0) st = get_sizes(c, l, err);
out:
    cb_buf_free(&pattern);
    return st;
}

/* Reports sorted names without repetition, shortened to the delimiter if requested. */
static cubed_status tell(const redis_store *s, const cubed_store_request *r, listing *l,
                         cubed_error *err)
{
    const size_t root = *s->root ? strlen(s->root) + 1 : 0;
    char prefix[KEY_CAP + 1];
    CB_TRY(make_key(s, r->key, prefix, err));
    if (*prefix) memcpy(prefix + strlen(prefix), "/", 2);
    const size_t below = strlen(prefix);
    const char *before = NULL;
    for (int i = 0; i < l->n; i++) {
        char *name = l->name[i];
        if (strncmp(name, prefix, below) != 0)
            return cb_fail(
                err, CUBED_E_IO,
                "%s: the listing has \"%.200s\", which is not below the requested prefix",
                s->head.url, name);
        if (strlen(name) <= below || cb_key_check(name + root, NULL) != CUBED_OK) continue;
        char *slash = r->delimiter ? strchr(name + below, '/') : NULL;
        if (slash) *slash = 0;
        if (before && strcmp(before, name) == 0) continue;
        before = name;
        const cubed_store_entry e = {
            .key = name + root, .size = slash ? 0 : l->size[i], .is_prefix = slash != NULL};
        CB_TRY(r->entry(r->entry_ctx, &e, err));
    }
    return CUBED_OK;
}

static cubed_status list(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    listing l = {.n = 0};
    CB_TRY(cb_zone_new(store->alloc, &l.zone, err));
    r->store_data = &l;
    cubed_status st = exchange(store, r, do_list, "list", err);
    if (st == CUBED_OK) st = tell((redis_store *)store, r, &l, err);
    r->store_data = NULL;
    cb_zone_free(l.zone);
    return st;
}

/* --- Vtable ------------------------------------------------------------------------------------------- */

static cubed_status do_copy(redis_store *s, cb_resp *c, cubed_store_request *r, const char *key,
                            cubed_error *err)
{
    char from[KEY_CAP];
    cb_resp_reply reply;
    CB_TRY(make_key(s, r->store_data, from, err));
    CB_TRY(send_text(c, "COPY", from, key, "REPLACE", err));
    CB_TRY(expect(c, ':', &reply, err));
    return reply.number ? CUBED_OK : cb_fail(err, CUBED_E_NOT_FOUND, "%s does not exist", from);
}

static cubed_status copy(cubed_store *store, const char *const *from, const char *const *to,
                         size_t n, cubed_error *err)
{
    for (size_t i = 0; i < n; i++) {
        cubed_store_request r = {.key = to[i], .store_data = (void *)(uintptr_t)from[i]};
        CB_TRY(exchange(store, &r, do_copy, "copy to", err));
    }
    return CUBED_OK;
}

static void submit(cubed_store *store, cubed_store_request *const *requests, size_t n)
{
    static const cubed_store_functions functions = {
        .get = get, .put = put, .del = del, .list = list, .head = head};
    for (size_t i = 0; i < n; i++) {
        if (requests[i]->op == CUBED_STORE_DELETE && requests[i]->guard)
            delete_guarded(store, requests[i]);
        else
            cubed_store_serve(store, &functions, &requests[i], 1);
    }
}

/* Takes no lock, because no request is in flight. */
static void close_store(cubed_store *store) CB_UNCHECKED_LOCKS
{
    redis_store *s = (redis_store *)store;
    forget_connections(s);
    for (cb_resp *next, *c = s->idle; c; c = next) {
        next = c->next;
        cb_resp_close(c);
        cb_free(store->alloc, c, sizeof *c);
    }
    cb_mutex_destroy(&s->lock);
    cb_zone_free(s->zone);
}

static cubed_status around(cubed_store *store, const char *prefix, cubed_store **out, char *name,
                           size_t cap, cubed_error *err)
{
    const redis_store *s = (redis_store *)store;
    char key[KEY_CAP];
    CB_TRY(make_key(s, prefix, key, err));
    char *slash = strrchr(key, '/');
    const char *last = slash ? slash + 1 : key;
    if (!*last || strlen(last) >= cap)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s cannot be replaced atomically, because it is a whole database or its "
                       "name is too long",
                       store->url);
    memcpy(name, last, strlen(last) + 1);
    key[slash ? slash - key : 0] = 0;
    CB_TRY(cb_redis_open(s->net, store->url, out, err));
    redis_store *up = (redis_store *)*out;
    up->root = cb_zone_strdup(up->zone, key);
    if (up->root) return CUBED_OK;
    close_store(*out);
    *out = NULL;
    return cb_fail(err, CUBED_E_NOMEM, "no memory for the store %s", store->url);
}

const cubed_store_vtable cb_redis_vtable = {
    .struct_size = sizeof(cubed_store_vtable),
    .version = CUBED_STORE_VERSION,
    .flags = CUBED_STORE_AT_ONCE | CUBED_STORE_GUARDS,
    .scheme = "redis",
    .request_bytes = CB_RESP_REQUEST_BYTES,
    .close = close_store,
    .submit = submit,
    .around = around,
    .copy = copy,
};

/* Parses HOST:PORT/DB/PATH. If the first part of the path consists of digits, it is the database. */
static cubed_status split(redis_store *s, cubed_error *err)
{
    const char *from = s->head.url + strlen("redis://"), *path = from + strcspn(from, "/");
    char *host = cb_zone_memdup(s->zone, from, (size_t)(path - from) + 1);
    cb_buf root;
    if (!host) return cb_fail(err, CUBED_E_NOMEM, "no memory for a store");
    host[path - from] = 0;
    char *bracket = strchr(host, ']'), *colon = strchr(bracket ? bracket : host, ':');
    if (colon) *colon = 0;
    if (bracket) *bracket = 0;
    s->host = *host == '[' ? host + 1 : *host ? host : "localhost";
    s->port = colon ? colon + 1 : "6379";
    path += *path == '/';
    const size_t digits = strspn(path, "0123456789");
    const bool has_db = digits > 0 && digits < 6 && (!path[digits] || path[digits] == '/');
    char *db = cb_zone_memdup(s->zone, has_db ? path : "0", has_db ? digits + 1 : 2);
    if (db) db[has_db ? digits : 1] = 0;
    s->db = db;
    if (has_db) path += digits + (path[digits] == '/');
    cb_buf_init(&root, s->head.alloc);
    cb_uri_decode(&root, path, strlen(path), false);
    s->root = root.failed ? NULL : cb_zone_strdup(s->zone, root.data ? root.data : "");
    cb_buf_free(&root);
    return s->db && s->root ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for a store");
}

static cubed_status configure(redis_store *s, cubed_error *err)
{
    int64_t timeout = TIMEOUT_MS;
    CB_TRY(split(s, err));
    CB_TRY(cb_net_get(s->net, s->zone, s->head.url, WHO, &s->user, err));
    CB_TRY(cb_net_get_secret(s->net, s->zone, s->head.url, SECRET, &s->password, err));
    CB_TRY(cb_net_get_seconds(s->net, s->zone, s->head.url, EXPIRY, 1e9, &s->expiry_ms, err));
    CB_TRY(cb_net_get_seconds(s->net, s->zone, s->head.url, WAITS, 1e6, &timeout, err));
    s->timeout_ms = (int)timeout;
    return CUBED_OK;
}

cubed_status cb_redis_open(cb_net *net, const char *url, cubed_store **out, cubed_error *err)
{
    cb_zone *zone;
    CB_TRY(cb_net_check_options(net, url, WHO " " SECRET " " EXPIRY " " WAITS, err));
    CB_TRY(cb_zone_new(net->alloc, &zone, err));
    redis_store *s = cb_zone_alloc(zone, sizeof *s);
    const char *name = cb_zone_strdup(zone, url);
    if (!s || !name) {
        cb_zone_free(zone);
        return cb_fail(err, CUBED_E_NOMEM, "no memory for the store %s", url);
    }
    cb_mutex_init(&s->lock);
    s->head = (cubed_store){&cb_redis_vtable, net->alloc, name};
    s->zone = zone;
    s->net = net;
    cb_adopted_init(&s->process);
    cubed_status st = configure(s, err);
    if (st == CUBED_OK) {
        *out = &s->head;
        return st;
    }
    st = cb_context(err, st, "%s", url);
    close_store(&s->head);
    return st;
}
