/* Stores of keys and bytes, for people who add one: a vtable, and requests that a store completes.
 *
 * Keys are relative paths with '/' between parts ("u/c/0/1"), never empty, absolute, or with an empty, "." or ".."
 * part: that is checked before a store sees them. A put replaces the whole object at once: who reads sees the old one
 * or the new one, never a part of it.
 *
 * Requests. `submit` takes any number of requests and need not wait for any. Each is completed exactly once, in any
 * order: the store fills in status, *err, got and info, and then calls request->complete(request), within submit or
 * from a thread of its own. There is no poll for all of a store's requests, as several threads have requests in one
 * store, and one thread may wait for requests in several: completions go to whoever made the request, and the library
 * collects them in queues of its own, one for each who waits.
 *
 * Threads. submit and cancel are called from several threads at once. `complete` may be called while the store holds no
 * lock of its own; it does not block, and calls nothing of the store.
 *
 * Lifetimes. A request, its keys, ranges, buffers, and what `err` leads to are the submitter's and stay as they are until
 * the request is completed; the store touches none of them afterwards. Between submit and complete, `next` and
 * `store_data` are the store's.
 *
 * Cancelling asks for completion soon; the buffers are the store's until then. It completes with CUBED_E_CANCELLED, or
 * with what it had come to. A put that was cancelled may have happened. `close` cancels what is in flight, and returns
 * when all of it is completed; nobody submits or cancels any more then.
 *
 * Errors. status and err->status are the same. err->transient: the same request may succeed later, not before
 * err->retry_after_ms. A store may try again itself; what it completes with is what is left of that, and tasks are run
 * again or not by it alone. Everything else is final: no permission, no space, no such bucket. */
#ifndef CUBED_SYS_STORE_H
#define CUBED_SYS_STORE_H

#include <string.h>

#include "cubed/base.h"
#include "cubed/context.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUBED_STORE_VERSION 8

typedef struct cubed_store cubed_store;
typedef struct cubed_store_request cubed_store_request;
typedef struct cubed_store_vtable cubed_store_vtable;
typedef struct cubed_store_pieces
    cubed_store_pieces; /* an object that is being put; the store's own */

/* Of an object: `size` bytes from `offset` on, or the last `size` of them. What reaches beyond the end is left out. */
typedef struct cubed_range {
    uint64_t offset; /* or CUBED_RANGE_SUFFIX */
    size_t size;
} cubed_range;

#define CUBED_RANGE_SUFFIX UINT64_MAX

/* A text that is another one whenever the object has been put anew (an ETag, a generation); "" is that of no object. A
 * store whose versions are longer has none that it could tell. */
typedef struct cubed_object_version {
    char text[64];
} cubed_object_version;

typedef struct cubed_object_info {
    uint64_t size; /* of the whole object */
    cubed_object_version version;
    /* When it was put, in seconds since 1970 (UTC) by the store's clock, 0: not known. Wanted of stores whose versions
     * are of the bytes alone (the same bytes that are put again have the same version there), and where references say
     * when it was. */
    int64_t modified;
    /* Of head: when the service replied, in seconds since 1970 (UTC) by its clock, 0: not known. */
    int64_t replied;
} cubed_object_info;

typedef enum cubed_store_op {
    CUBED_STORE_GET,
    CUBED_STORE_PUT,
    CUBED_STORE_DELETE,
    CUBED_STORE_LIST,
    CUBED_STORE_HEAD,
} cubed_store_op;

typedef struct cubed_store_entry {
    const char
        *key; /* whole; of a prefix without the '/' at its end. Lives until the call returns. */
    uint64_t size;  /* of an object; of a prefix, and where the store does not know, 0 */
    bool is_prefix; /* further keys are below it: with a delimiter only */
    bool
        is_link; /* of a prefix: what is below it lies elsewhere. Deleting removes the link alone */
    /* Of an object, as long as the key lives; NULL if the listing does not tell it. */
    const char *version;
} cubed_store_entry;

/* Not called twice at once for one request. A status other than CUBED_OK ends the listing, which has that status. */
typedef cubed_status (*cubed_store_entry_fn)(void *ctx, const cubed_store_entry *entry,
                                             cubed_error *err);

struct cubed_store_request {
    cubed_store_op op;
    /* get, put, head: the object's. list: every key that begins with it and "/"; "": all keys. */
    const char *key;
    /* get, put, head; NULL: no condition. The object has this version, else CUBED_E_EXISTS and nothing has happened; get
     * and head of what is not there are CUBED_E_NOT_FOUND even so. Of several conditional puts of one object that are
     * made at once, by any process that the store has to do with, one succeeds. */
    const char *if_match;
    /* The object has another version than this one, or ("*") is not there: else CUBED_E_EXISTS. */
    const char *if_none_match;

    /* get: all ranges are of one version of the object. Each is written to dst behind the place of those before it,
     * which is as long as they asked for; got is how many bytes came in all. Without ranges the whole object is read if
     * it has `cap` bytes at most; of a larger one nothing is, and info.size tells. */
    const cubed_range *ranges;
    size_t nranges;
    void *dst;
    size_t cap; /* of dst; with ranges the sum of their sizes at least */

    /* put */
    const void *src;
    size_t size;

    /* delete: keys that are not there are no error. If one fails, others may have been deleted. */
    const char *const *keys;
    size_t nkeys;
    /* delete, of stores with CUBED_STORE_GUARDS; NULL: no condition. Keys are deleted while the object `guard` has this version,
     * else CUBED_E_EXISTS. */
    const char *guard, *guard_version;
    /* delete, of stores with CUBED_STORE_DELETES_IF; NULL: no conditions. The version that the object of each key must have;
     * NULL in it: any. If an object has another version, it stays, and the status is CUBED_E_EXISTS. The store may ignore
     * conditions if its service does not know them. */
    const char *const *versions;
    /* delete; 0: not known. info.replied of the request by which the caller found that it may delete. A service that can do so
     * refuses the deletion if it arrives more than CUBED_STORE_LEASE seconds later, which is then CUBED_E_EXISTS. */
    int64_t looked;

    /* list: a page of entries, as many as the store likes, each once; without a delimiter ('/' or 0) all keys, else
     * names directly below the key. `next_page[cap]` gets what `page` is for the page behind it, "" after the last. */
    char delimiter;
    cubed_store_entry_fn entry;
    void *entry_ctx;
    const char *page; /* NULL: the first */
    char *next_page;  /* NULL: one page is wanted. CUBED_STORE_PAGE_CAP bytes, "" before */

    /* The completion. */
    cubed_status status;
    cubed_error *err; /* the submitter's; may be NULL */
    cubed_object_info
        info; /* of get, put and head that succeed, and of a get that CUBED_E_EXISTS ends, if known */
    size_t got;
    void (*complete)(cubed_store_request *request);
    void *data; /* the submitter's */

    cubed_store_request *next; /* the store's in between, the submitter's before and after */
    void *store_data;
};

#define CUBED_STORE_PAGE_CAP 4096
#define CUBED_STORE_LEASE    60

/* Of sweep. */
#define CUBED_SWEEP_DRY_RUN 1u /* only finds it */
#define CUBED_SWEEP_ALONE   2u /* nobody else writes below the prefix */

/* Every request is completed, and its entries told, when submit returns: nobody has to wait. */
#define CUBED_STORE_AT_ONCE 1u
/* What is in it is seen by this process only: plans that name it do not run in others. */
#define CUBED_STORE_OF_PROCESS 2u
/* Versions of its objects are ETags, as HTTP has them: files that refer to others can say which they mean. */
#define CUBED_STORE_ETAGS 4u
/* A put with a condition is one request, however large the object is. Other puts of the store go in parts if they are large. */
#define CUBED_STORE_CONDITIONS_IN_ONE_PIECE 16u
/* Deletes heed the guard of their request. Callers check the object before they delete from other stores. */
#define CUBED_STORE_GUARDS 32u
/* Listings tell versions of objects, and deletes heed the versions of their request. */
#define CUBED_STORE_DELETES_IF 64u

#define CUBED_STORE_IN_FLIGHT 16u
#define CUBED_STORE_GAP       (512u << 10)

typedef struct cubed_store_open_args {
    size_t struct_size;
    const char *url; /* canonical, without user and password; lives until open returns */
    const cubed_allocator *alloc; /* outlives the store */
    bool durable;                 /* what is put survives a power failure */
} cubed_store_open_args;

/* Called once per key, in any order; a status other than CUBED_OK stops and is returned. `key` lives until the
 * callback returns. */
typedef cubed_status (*cubed_store_list_fn)(void *ctx, const char *key, uint64_t size,
                                            cubed_error *err);

struct cubed_store_vtable {
    size_t struct_size; /* sizeof(cubed_store_vtable) */
    uint32_t version;   /* CUBED_STORE_VERSION */
    uint32_t flags;
    const char *scheme; /* "file", "memory": lower case, of URLs scheme://... */
    void *ctx;          /* the author's */
    /* Of stores that do not complete requests at once: how many gets are worth having in flight, of all of a process's
     * threads (0: CUBED_STORE_IN_FLIGHT). What is read next is asked for ahead, as far as memory goes, and more than so
     * many at a time are not. And how many bytes come in about the time that one more request takes (0:
     * CUBED_STORE_GAP): ranges of one object with no more between them are read as one. */
    uint32_t max_in_flight;
    uint32_t gap;
    /* Memory of the store's own, part of projections: of each request that is under way, beside the caller's buffers, with
     * its connection; and of a process that uses the store at all. */
    size_t request_bytes;
    size_t process_bytes;
    /* Nothing but the arguments need be looked at: what is not there shows in requests. */
    cubed_status (*open)(const cubed_store_vtable *vt, const cubed_store_open_args *args,
                         cubed_store **out, cubed_error *err);
    void (*close)(cubed_store *store);
    void (*submit)(cubed_store *store, cubed_store_request *const *requests, size_t n);
    /* NULL: requests run to their end. */
    void (*cancel)(cubed_store *store, cubed_store_request *request);

    /* What some stores can do beyond requests. These return when they are done. */

    /* Deletes every key below the prefix, and what the store made for them. NULL: page by page. */
    cubed_status (*clear)(cubed_store *store, const char *prefix, cubed_error *err);
    /* Deletes what writers that are gone left below the prefix and no listing shows, and tells fn (may be NULL) of it.
     * Writers that are alive are not disturbed. `flags`: CUBED_SWEEP_*. NULL: they leave nothing. */
    cubed_status (*sweep)(cubed_store *store, const char *prefix, unsigned flags,
                          cubed_store_list_fn fn, void *ctx, cubed_error *err);
    /* What is below prefix `a`, which exists, and what is below `b` change places; if nothing is below `b`, it is a
     * move. At once, where the system can; else there is a moment with nothing at `a`. NULL: it cannot be done. */
    cubed_status (*swap)(cubed_store *store, const char *a, const char *b, cubed_error *err);
    /* A new store (for close) in which what is at the prefix is one name, of `cap` bytes at most with its end. NULL:
     * nothing can be replaced as a whole. */
    cubed_status (*around)(cubed_store *store, const char *prefix, cubed_store **out, char *name,
                           size_t cap, cubed_error *err);
    /* A new store (for close) of the keys below the prefix, in the place that has this name now. What is read and
     * written through it stays in that place, also after another place has got the name, and fails after the place was
     * removed. If there is no such place, it is made (`make`), or the call is CUBED_E_NOT_FOUND. A run writes an array
     * through it, so that it cannot change what another run makes under the same name. NULL: a place is nothing but its
     * name. */
    cubed_status (*anchor)(cubed_store *store, const char *prefix, bool make, cubed_store **out,
                           cubed_error *err);
    /* Each of n objects is copied to another key, whose object it replaces; its bytes do not come here. Of stores
     * without `swap`, which replace what is at a prefix so. NULL: it cannot be done. */
    cubed_status (*copy)(cubed_store *store, const char *const *from, const char *const *to,
                         size_t n, cubed_error *err);
    /* An object is put piece by piece, as it is made: each byte once or, by attempts of one task, several times the same,
     * in any order and by several threads at once. Nobody sees it before its end. All four, or NULL: objects are put as
     * wholes. */
    cubed_status (*begin_pieces)(cubed_store *store, const char *key, cubed_store_pieces **out,
                                 cubed_error *err);
    cubed_status (*put_piece)(cubed_store_pieces *pieces, uint64_t offset, const void *src,
                              size_t size, cubed_error *err);
    /* The pieces are the object, as if it had been put. One that fails can be tried again, or left. */
    cubed_status (*end_pieces)(cubed_store_pieces *pieces, cubed_error *err);
    /* Frees them, with what has been put if they have not become an object. After every begin. */
    void (*free_pieces)(cubed_store_pieces *pieces);
};

/* The head of every store's own struct. */
struct cubed_store {
    const cubed_store_vtable *vt;
    const cubed_allocator *alloc; /* outlives the store */
    const char *url;              /* for messages; owned by the store */
};

/* From then on URLs of its scheme are the store's. The vtable stays as it is while the context exists. CUBED_E_EXISTS if
 * there is one of that scheme, CUBED_E_ARG if it was compiled for another version of this header. Worker processes and
 * the command know only the library's own stores. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_add_store(cubed_context *ctx,
                                                                const cubed_store_vtable *vt,
                                                                cubed_error *err);

/* --- For stores that do what they are asked at once ----------------------------------------------------- */

/* One request each, whose status is returned; conditions are theirs to check. `del` is called for each key. */
typedef struct cubed_store_functions {
    cubed_status (*get)(cubed_store *store, cubed_store_request *r, cubed_error *err);
    cubed_status (*put)(cubed_store *store, cubed_store_request *r, cubed_error *err);
    cubed_status (*del)(cubed_store *store, const char *key, cubed_error *err);
    cubed_status (*list)(cubed_store *store, cubed_store_request *r, cubed_error *err);
    cubed_status (*head)(cubed_store *store, cubed_store_request *r, cubed_error *err);
} cubed_store_functions;

/* The whole of a submit with CUBED_STORE_AT_ONCE. */
static inline void cubed_store_serve(cubed_store *store, const cubed_store_functions *f,
                                     cubed_store_request *const *requests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cubed_store_request *r = requests[i];
        r->status = CUBED_OK;
        switch (r->op) {
        case CUBED_STORE_GET: r->status = f->get(store, r, r->err); break;
        case CUBED_STORE_PUT: r->status = f->put(store, r, r->err); break;
        case CUBED_STORE_LIST: r->status = f->list(store, r, r->err); break;
        case CUBED_STORE_HEAD: r->status = f->head(store, r, r->err); break;
        case CUBED_STORE_DELETE:
            for (size_t k = 0; k < r->nkeys && r->status == CUBED_OK; k++)
                r->status = f->del(store, r->keys[k], r->err);
            break;
        }
        r->complete(r);
    }
}

/* Whether conditions allow the request where the object has that version (""; there is none). */
static inline bool cubed_store_allows(const cubed_store_request *r, const char *version)
{
    if (r->if_match && strcmp(r->if_match, version) != 0) return false;
    return !r->if_none_match || !*version ||
           (strcmp(r->if_none_match, "*") != 0 && strcmp(r->if_none_match, version) != 0);
}

/* What there is of a range in an object of that size; `offset` is from its begin on. */
static inline cubed_range cubed_range_within(cubed_range r, uint64_t size)
{
    if (r.offset == CUBED_RANGE_SUFFIX) r.offset = size > r.size ? size - r.size : 0;
    if (r.offset > size) r.offset = size;
    if (r.size > size - r.offset) r.size = (size_t)(size - r.offset);
    return r;
}

/* A get of an object that is in memory. */
static inline void cubed_store_copy(cubed_store_request *r, const void *object, size_t size)
{
    const cubed_range whole = {0, size};
    const cubed_range *ranges = r->nranges ? r->ranges : &whole;
    size_t n = r->nranges ? r->nranges : size <= r->cap, at = 0;
    r->info.size = size;
    r->got = 0;
    for (size_t i = 0; i < n; i++) {
        const cubed_range x = cubed_range_within(ranges[i], size);
        if (x.size) memcpy((char *)r->dst + at, (const char *)object + x.offset, x.size);
        r->got += x.size;
        at += ranges[i].size;
    }
}

#ifdef __cplusplus
}
#endif

#endif
