/* Interface for programs that add a store of keys and bytes: a vtable, and requests that a store completes.
 *
 * Keys are relative paths with '/' between their parts ("u/c/0/1"). They are never empty or absolute, and no part is empty, "."
 * or "..": the library checks this. A put replaces the whole object atomically: a reader sees either the old object or the new
 * one, never a part of it.
 *
 * Requests. The library passes any number of requests to `submit`, which need not wait for them. The store completes each
 * request exactly once, in any order: it sets status, *err, got and info, and then calls request->complete(request), within
 * submit or from one of the store's threads. The library collects completions in a queue for each waiting thread. So a store
 * has no function that waits for requests: several threads have requests in one store, and one thread may wait for requests in
 * several stores.
 *
 * Threads. submit and cancel are called from several threads at the same time. The store must not hold any of its locks when it
 * calls `complete`, which does not block and does not call the store.
 *
 * Lifetimes. A request, its keys, ranges and buffers, and the target of `err` belong to the caller of submit. They do not
 * change until the request is completed; afterwards the store does not access them. Between submit and complete, `next` and
 * `store_data` belong to the store.
 *
 * Cancelling. After `cancel`, the store completes a request as early as possible. Until the request is completed, the store may
 * use its buffers. The request completes with CUBED_E_CANCELLED, or with its result. A cancelled put may have taken effect.
 * `close` cancels the requests in flight, and returns when all are completed; no thread submits or cancels requests during
 * `close`.
 *
 * Errors. status and err->status are equal. If err->transient is set, the same request may succeed later, but not before
 * err->retry_after_ms. All other errors are permanent: no permission, no space, no such bucket. A store may retry by itself;
 * the library uses only the final status to decide whether to rerun a task. */
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
    cubed_store_pieces; /* an object that is being put in pieces; the store's own structure */

/* A range of an object: `size` bytes from `offset` on, or the last `size` bytes. The part of a range that is beyond the end of
 * the object is ignored. */
typedef struct cubed_range {
    uint64_t offset; /* first byte, or CUBED_RANGE_SUFFIX for the last `size` bytes */
    size_t size;
} cubed_range;

#define CUBED_RANGE_SUFFIX UINT64_MAX

/* The version of an object: a string that changes whenever the object is put (an ETag, a generation); "" if there is no
 * object. A store whose versions are longer cannot report them. */
typedef struct cubed_object_version {
    char text[64];
} cubed_object_version;

/* Size, version and times of an object. */
typedef struct cubed_object_info {
    uint64_t size; /* bytes of the whole object */
    cubed_object_version version;
    /* Time of the put, in seconds since 1970 (UTC) by the store's clock; 0: unknown. Required from stores whose versions depend
     * only on the bytes of objects: there, equal bytes have equal versions, so only the time shows a new put. Also used for
     * references that state a time. */
    int64_t modified;
    /* For head: time of the service's reply, in seconds since 1970 (UTC) by its clock; 0: unknown. */
    int64_t replied;
} cubed_object_info;

/* Kinds of requests. */
typedef enum cubed_store_op {
    CUBED_STORE_GET,
    CUBED_STORE_PUT,
    CUBED_STORE_DELETE,
    CUBED_STORE_LIST,
    CUBED_STORE_HEAD,
} cubed_store_op;

/* An entry of a listing. */
typedef struct cubed_store_entry {
    const char
        *key; /* the whole key, or a prefix without the '/' at its end. Valid during the call. */
    uint64_t size;  /* size of an object in bytes; 0 for a prefix, and if the size is unknown */
    bool is_prefix; /* the entry is a prefix with further keys below it; only with a delimiter */
    bool
        is_link; /* a prefix whose contents are stored elsewhere: deleting it removes only the link */
    /* Version of an object, valid as long as the key; NULL if the listing does not report it. */
    const char *version;
} cubed_store_entry;

/* Receives an entry of a listing. Never called concurrently for one request. A status other than CUBED_OK ends the listing,
 * which has that status. The function may submit requests to the store, such as a delete of keys that were listed. So the store
 * must not hold any of its locks when it calls the function. */
typedef cubed_status (*cubed_store_entry_fn)(void *ctx, const cubed_store_entry *entry,
                                             cubed_error *err);

struct cubed_store_request {
    cubed_store_op op;
    /* get, put, head: the key of the object. list: a prefix; every key that begins with it and "/" is listed; "": all
     * keys. */
    const char *key;
    /* get, put, head: the object must have this version, else the request fails with CUBED_E_EXISTS and changes nothing; NULL:
     * no condition. get and head of a missing object still fail with CUBED_E_NOT_FOUND. If several processes put one object
     * conditionally at the same time, only one put succeeds. */
    const char *if_match;
    /* get, put, head: the object must have another version than this; "*": the object must not exist. Otherwise the request
     * fails with CUBED_E_EXISTS. NULL: no condition. */
    const char *if_none_match;

    /* get: ranges to read, all of one version of the object. `dst` receives one range after the other. It has space for the
     * requested size of each range, even if the object has fewer bytes there. `got` is the total number of bytes read.
     *
     * Without ranges, the whole object is read if it has at most `cap` bytes. If it is larger, nothing is read, and info.size
     * reports its size. */
    const cubed_range *ranges;
    size_t nranges;
    void *dst;
    size_t cap; /* size of dst in bytes; with ranges at least the sum of their sizes */

    /* put: the bytes of the object */
    const void *src;
    size_t size;

    /* delete: a missing key is not an error. If one key fails, others may have been deleted. */
    const char *const *keys;
    size_t nkeys;
    /* delete, for stores with CUBED_STORE_GUARDS: keys are deleted only while the object at key `guard` has the version
     * `guard_version`, else the request fails with CUBED_E_EXISTS. NULL: no condition. */
    const char *guard, *guard_version;
    /* delete, for stores with CUBED_STORE_DELETES_IF: for each key, the version that its object must have; a NULL entry: any
     * version. NULL: no conditions. An object with another version is not deleted, and the status is CUBED_E_EXISTS. The store
     * may ignore conditions if its service does not know them. */
    const char *const *versions;
    /* delete: time (info.replied) of the request by which the caller found out that it may delete; 0: unknown. Services that
     * support this refuse a deletion that arrives more than CUBED_STORE_LEASE seconds later (CUBED_E_EXISTS). */
    int64_t looked;

    /* list: returns a page with any number of entries, each entry once. delimiter 0: all keys below the prefix. delimiter '/':
     * only the names directly below it. `next_page[cap]` receives the value of `page` for the next page, "" after the last
     * page. */
    char delimiter;
    cubed_store_entry_fn entry;
    void *entry_ctx;
    const char *page; /* the page to list; NULL for the first page */
    /* A buffer of CUBED_STORE_PAGE_CAP bytes that contains "" before the request; NULL if the caller needs only one page. */
    char *next_page;

    /* The result of the request, which the store sets before it calls `complete`. */
    cubed_status status;
    cubed_error
        *err; /* error that the caller of submit provides and the store fills; may be NULL */
    cubed_object_info
        info; /* set by a successful get, put or head, and, if known, by a get that ends with CUBED_E_EXISTS */
    size_t got;
    void (*complete)(cubed_store_request *request);
    void *data; /* pointer that the caller of submit uses freely */

    /* The store uses this field between submit and complete, and the caller of submit uses it at other times. */
    cubed_store_request *next;
    void *store_data; /* pointer that the store uses freely */
};

#define CUBED_STORE_PAGE_CAP 4096
#define CUBED_STORE_LEASE    60

/* Flags of sweep. */
#define CUBED_SWEEP_DRY_RUN 1u /* report leftovers, and delete nothing */
#define CUBED_SWEEP_ALONE   2u /* no other process writes below the prefix */

/* Every request is completed, and its entries reported, when submit returns. */
#define CUBED_STORE_AT_ONCE 1u
/* Only this process sees the contents of the store: plans that name it do not run in other processes. */
#define CUBED_STORE_OF_PROCESS 2u
/* Versions of objects are ETags, as in HTTP, so files that refer to objects can state their versions. */
#define CUBED_STORE_ETAGS 4u
/* A conditional put is one request, for an object of any size. Other puts of large objects are split into parts. */
#define CUBED_STORE_CONDITIONS_IN_ONE_PIECE 16u
/* Deletes check the guard of their request (cubed_store_request.guard). With other stores, callers check the guard themselves
 * before they delete. */
#define CUBED_STORE_GUARDS 32u
/* Listings report versions of objects, and a delete removes an object only if it has the version that the request names. */
#define CUBED_STORE_DELETES_IF 64u
/* The service limits the rate of requests to each prefix of keys. Chunks of large intermediates then get keys with many
 * prefixes. */
#define CUBED_STORE_PREFIXES 128u

#define CUBED_STORE_IN_FLIGHT 16u
#define CUBED_STORE_GAP       (512u << 10)

/* Arguments of cubed_store_vtable.open. */
typedef struct cubed_store_open_args {
    size_t struct_size;
    const char *url; /* canonical, without user and password; valid until open returns */
    const cubed_allocator *alloc; /* outlives the store */
    bool durable;                 /* objects that are put survive a power failure */
} cubed_store_open_args;

/* Receives each key once, in any order; the key is valid during the call. A status other than CUBED_OK ends the listing and is
 * returned. */
typedef cubed_status (*cubed_store_list_fn)(void *ctx, const char *key, uint64_t size,
                                            cubed_error *err);

struct cubed_store_vtable {
    size_t struct_size; /* sizeof(cubed_store_vtable) */
    uint32_t version;   /* CUBED_STORE_VERSION */
    uint32_t flags;
    const char *scheme; /* lower-case scheme of URLs scheme://..., such as "file" */
    void *ctx;          /* pointer that the functions of the store use freely */
    /* For stores that do not complete requests within submit.
     *
     * max_in_flight  useful number of gets in flight, over all threads of a process; 0: CUBED_STORE_IN_FLIGHT. The library
     *                prefetches with this many gets, as far as memory allows.
     * gap            number of bytes that the store transfers in about the time of one more request; 0: CUBED_STORE_GAP. Ranges
     *                of an object with at most this distance are read as one range. */
    uint32_t max_in_flight;
    uint32_t gap;
    /* Memory of the store itself, in bytes. Projections (the memory bounds of tasks) include it.
     *
     * request_bytes  per request in flight, including its connection, without the caller's buffers
     * process_bytes  per process that uses the store */
    size_t request_bytes;
    size_t process_bytes;
    /* Opens a store. The function need check only the arguments: a missing bucket or directory may be reported by requests. */
    cubed_status (*open)(const cubed_store_vtable *vt, const cubed_store_open_args *args,
                         cubed_store **out, cubed_error *err);
    void (*close)(cubed_store *store);
    void (*submit)(cubed_store *store, cubed_store_request *const *requests, size_t n);
    /* Cancels a request. NULL: requests run to their end. */
    void (*cancel)(cubed_store *store, cubed_store_request *request);

    /* Optional functions, which are synchronous. */

    /* Deletes every key below the prefix, and everything that the store created for these keys. NULL: the library lists the
     * keys page by page and deletes them by requests. */
    cubed_status (*clear)(cubed_store *store, const char *prefix, cubed_error *err);
    /* Deletes leftovers below the prefix that listings do not show and whose writer has ended, such as temporary files and
     * incomplete uploads. Reports them to fn (may be NULL). Writers that are alive are not disturbed. `flags`: CUBED_SWEEP_*.
     * NULL: the store has no such leftovers. */
    cubed_status (*sweep)(cubed_store *store, const char *prefix, unsigned flags,
                          cubed_store_list_fn fn, void *ctx, cubed_error *err);
    /* Exchanges everything below prefix `a`, which exists, with everything below prefix `b`. If nothing is below `b`, moves
     * everything from `a` to `b`. Atomic if the system supports this; otherwise there is a moment with nothing at `a`. NULL:
     * not possible. */
    cubed_status (*swap)(cubed_store *store, const char *a, const char *b, cubed_error *err);
    /* Opens a new store, such as the store of the parent directory, in which a single name represents everything at the prefix.
     * The caller closes the store. `name` receives the name, of at most `cap` bytes including the terminating NUL. NULL: the
     * store cannot replace a prefix as a whole. */
    cubed_status (*around)(cubed_store *store, const char *prefix, cubed_store **out, char *name,
                           size_t cap, cubed_error *err);
    /* Opens a new store for the keys below the prefix. It refers to the place itself (such as a directory), not to its name.
     * The caller closes the store. Reads and writes through the store go to that place even if another place gets the name, and
     * fail after the place was removed. A run writes an array through such a store, so it cannot change an array that another
     * run creates under the same name.
     *
     * make  creates the place if it does not exist; false: a missing place causes CUBED_E_NOT_FOUND
     *
     * NULL: the store identifies places only by name. */
    cubed_status (*anchor)(cubed_store *store, const char *prefix, bool make, cubed_store **out,
                           cubed_error *err);
    /* Copies each of n objects within the store to another key, and replaces the object there. Stores without `swap` replace
     * everything at a prefix by such copies. NULL: not possible. */
    cubed_status (*copy)(cubed_store *store, const char *const *from, const char *const *to,
                         size_t n, cubed_error *err);
    /* Put an object in pieces as they are computed: in any order, and by several threads at the same time. Each byte is put once,
     * or by several attempts of one task with the same value. The object is not visible before end_pieces. All four functions
     * NULL: objects are put as a whole. */
    cubed_status (*begin_pieces)(cubed_store *store, const char *key, cubed_store_pieces **out,
                                 cubed_error *err);
    cubed_status (*put_piece)(cubed_store_pieces *pieces, uint64_t offset, const void *src,
                              size_t size, cubed_error *err);
    /* Creates the object from the pieces, as if it had been put. After a failure the call can be repeated, or the pieces
     * abandoned. */
    cubed_status (*end_pieces)(cubed_store_pieces *pieces, cubed_error *err);
    /* Frees the pieces, and removes them if they have not become an object. Called after every begin_pieces. */
    void (*free_pieces)(cubed_store_pieces *pieces);
};

/* Base of every store: the first member of the store's own structure. */
struct cubed_store {
    const cubed_store_vtable *vt;
    const cubed_allocator *alloc; /* outlives the store */
    const char *url;              /* shown in messages; owned by the store */
};

/* Adds a store to a context, which then opens all URLs of the store's scheme. The vtable must not change while the context
 * exists. Worker processes and the command know only the library's own stores.
 *
 * Errors: CUBED_E_EXISTS if a store has this scheme; CUBED_E_ARG if the store was compiled for another version of this header,
 * has an invalid scheme, or lacks open, close or submit. Thread-safe. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_context_add_store(cubed_context *ctx,
                                                                const cubed_store_vtable *vt,
                                                                cubed_error *err);

/* --- For stores that complete requests synchronously ---------------------------------------------------- */

/* Each function performs one request, including its conditions, and returns its status. `del` is called for each key. */
typedef struct cubed_store_functions {
    cubed_status (*get)(cubed_store *store, cubed_store_request *r, cubed_error *err);
    cubed_status (*put)(cubed_store *store, cubed_store_request *r, cubed_error *err);
    cubed_status (*del)(cubed_store *store, const char *key, cubed_error *err);
    cubed_status (*list)(cubed_store *store, cubed_store_request *r, cubed_error *err);
    cubed_status (*head)(cubed_store *store, cubed_store_request *r, cubed_error *err);
} cubed_store_functions;

/* The `submit` of a store with CUBED_STORE_AT_ONCE: performs each request by a function of `f`, and completes it. */
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

/* Returns whether the conditions of a request hold for an object that has this version ("": no object). */
static inline bool cubed_store_allows(const cubed_store_request *r, const char *version)
{
    if (r->if_match && strcmp(r->if_match, version) != 0) return false;
    return !r->if_none_match || !*version ||
           (strcmp(r->if_none_match, "*") != 0 && strcmp(r->if_none_match, version) != 0);
}

/* Returns the part of a range within an object of that size; `offset` counts from its beginning. */
static inline cubed_range cubed_range_within(cubed_range r, uint64_t size)
{
    if (r.offset == CUBED_RANGE_SUFFIX) r.offset = size > r.size ? size - r.size : 0;
    if (r.offset > size) r.offset = size;
    if (r.size > size - r.offset) r.size = (size_t)(size - r.offset);
    return r;
}

/* Performs a get of an object that is in memory at `object`: copies the requested ranges to dst, and sets got and info.size. */
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
