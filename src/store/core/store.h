/* Key-value stores: requests to what cubed/sys/store.h describes, with checked keys. */
#ifndef CB_STORE_STORE_H
#define CB_STORE_STORE_H

#include "base/alloc.h"
#include "base/lock.h"
#include "cubed/cancel.h"
#include "cubed/sys/store.h"
#include "cubed/zarr.h"

/* Called once per name directly below a prefix: of an object, or of what further keys are below. Links are names of
 * the first kind, wherever they lead. */
typedef cubed_status (*cubed_store_member_fn)(void *ctx, const char *name, bool is_prefix,
                                              cubed_error *err);

/* A directory. `path` need not exist: it is made by the first put. Puts write a temporary file
 * beside the target and rename it; `durable` also syncs file and directory. */
CUBED_MUST_CHECK cubed_status cb_store_open_local(const cubed_allocator *a, const char *path,
                                                  bool durable, cubed_store **out,
                                                  cubed_error *err);
/* Gives only this user permissions for what a store of a directory creates below its root: files have mode 0600,
 * directories 0700. Other stores have no such permissions. Call it before the store is shared with other threads. */
void cb_store_keep_private(cubed_store *s);
/* Creates the directory at `prefix` ("": the root) and keeps the store private. Fails as the next function if something
 * exists there. */
CUBED_MUST_CHECK cubed_status cb_store_make_private(cubed_store *s, const char *prefix,
                                                    cubed_error *err);
/* CUBED_E_EXISTS unless nothing is at `prefix`, or a directory of this user that no other user can write: not a link. In a
 * directory that all users can write, such as /tmp, others may have created it. */
CUBED_MUST_CHECK cubed_status cb_store_check_private(const cubed_store *s, const char *prefix,
                                                     cubed_error *err);
/* Objects in memory, of this store alone. */
CUBED_MUST_CHECK cubed_status cb_store_open_memory(const cubed_allocator *a, const char *name,
                                                   cubed_store **out, cubed_error *err);
void cb_store_close(cubed_store *s);

/* --- Requests ------------------------------------------------------------------------------------------- */

/* Completed requests of one who waits for them, of any number of stores. */
typedef struct cb_store_queue {
    cb_mutex lock;
    cb_cond came;
    cubed_store_request *first CB_GUARDED_BY(&lock),
        *last CB_GUARDED_BY(&lock); /* completed, not yet returned by cb_store_poll */
} cb_store_queue;

CUBED_MUST_CHECK cubed_status cb_store_queue_init(cb_store_queue *q, cubed_error *err);
/* Nothing submitted through it is in flight. */
void cb_store_queue_free(cb_store_queue *q);
/* Sets `complete` and `data` of the requests, which come back from cb_store_poll; those with a wrong key at once, and
 * the store does not see them. */
void cb_store_submit(cubed_store *s, cb_store_queue *q, cubed_store_request *const *requests,
                     size_t n);
/* The same of requests whose `complete` and `data` the caller has set, and which do not come from a queue. */
void cb_store_begin(cubed_store *s, cubed_store_request *const *requests, size_t n);
/* Up to `cap` that are completed, in the order in which they were, and how many; waits `timeout_ms` for the first
 * (-1: for ever). */
size_t cb_store_poll(cb_store_queue *q, int timeout_ms, cubed_store_request **done, size_t cap);
void cb_store_cancel(cubed_store *s, cubed_store_request *r);
/* One request, which is complete on return: its status. Sets `complete`, `data` and `err`. */
CUBED_MUST_CHECK cubed_status cb_store_do(cubed_store *s, cubed_store_request *r, cubed_error *err);
/* The same, but the store is asked for an early end when the flag (may be NULL) is set. */
CUBED_MUST_CHECK cubed_status cb_store_do_until(cubed_store *s, cubed_store_request *r,
                                                const cubed_cancel *cancel, cubed_error *err);

/* --- The same as calls -------------------------------------------------------------------------------- */

/* Watches that the pages of a listing end: tokens do not repeat, and not all pages are empty. {.n = 0} before the first. */
typedef struct cb_page_watch {
    uint64_t n, empty;   /* pages, and how many of the last ones had no entries */
    uint64_t kept;       /* hash of one token that came before, by Brent's algorithm for cycles */
    uint64_t keep_at;    /* the page whose token is kept next */
    uint64_t most_empty; /* 0: CB_PAGES_MOST_EMPTY */
} cb_page_watch;
/* Consecutive pages without entries that a service may send. */
enum { CB_PAGES_MOST_EMPTY = 1000 };
/* A page with `entries` entries has come, whose next page is at `token`. */
CUBED_MUST_CHECK cubed_status cb_page_watch_next(cb_page_watch *w, const cubed_store *s,
                                                 const char *token, size_t entries,
                                                 cubed_error *err);

/* Up to `size` bytes from `offset` on; *got is how many there were: fewer only at the end of the object. */
CUBED_MUST_CHECK cubed_status cb_store_get(cubed_store *s, const char *key, uint64_t offset,
                                           void *dst, size_t size, size_t *got, cubed_error *err);
/* The whole object, if it has `cap` bytes at most: info->size tells. */
CUBED_MUST_CHECK cubed_status cb_store_get_whole(cubed_store *s, const char *key, void *dst,
                                                 size_t cap, cubed_object_info *info,
                                                 const cubed_cancel *cancel, cubed_error *err);
/* All ranges, one behind the other, and what there is to know of the object; CUBED_E_FORMAT if it ends before one of
 * them, or has another version (NULL: any) than the caller began to read. */
CUBED_MUST_CHECK cubed_status cb_store_get_parts(cubed_store *s, const char *key,
                                                 const cubed_object_version *version,
                                                 const cubed_range *ranges, size_t n, void *dst,
                                                 cubed_object_info *info,
                                                 const cubed_cancel *cancel, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_put(cubed_store *s, const char *key, const void *src,
                                           size_t size, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_del(cubed_store *s, const char *key, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_del_all(cubed_store *s, const char *const *keys, size_t n,
                                               cubed_error *err);
/* Deletes an object that has the version: CUBED_E_EXISTS if it has another one, and, in stores with CUBED_STORE_GUARDS, if it
 * is not there. In stores without conditional deletes, or if the version is "", the object may have any. */
CUBED_MUST_CHECK cubed_status cb_store_del_if(cubed_store *s, const char *key,
                                              const cubed_object_version *version,
                                              cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_list(cubed_store *s, const char *prefix,
                                            cubed_store_list_fn fn, void *ctx, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_size(cubed_store *s, const char *key, uint64_t *size,
                                            cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_head(cubed_store *s, const char *key,
                                            cubed_object_info *info, cubed_error *err);
/* A put if the object still has the version that is expected (""; if there is none), and the version that it has then.
 * Else CUBED_E_EXISTS. */
CUBED_MUST_CHECK cubed_status cb_store_put_if(cubed_store *s, const char *key,
                                              const cubed_object_version *expected, const void *src,
                                              size_t size, cubed_object_version *version,
                                              cubed_error *err);
/* As cb_store_head, but what is not there is no error: its version is "". */
CUBED_MUST_CHECK cubed_status cb_store_find(cubed_store *s, const char *key,
                                            cubed_object_info *info, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_exists(cubed_store *s, const char *key, bool *out,
                                              cubed_error *err);
/* Whether a key of a listing is wanted. */
typedef bool (*cb_store_wants_fn)(void *ctx, const char *key);
/* Keys of a listing, and their versions: NULL in stores that do not tell versions (CUBED_STORE_DELETES_IF). */
typedef cubed_status (*cb_store_batch_fn)(void *ctx, const char *const *keys,
                                          const char *const *versions, size_t n, cubed_error *err);
/* As many keys as a request of S3 deletes. */
enum { CB_STORE_BATCH = 1000 };
/* Lists the keys below the prefix that are wanted (`wants` NULL: all), and calls fn with up to CB_STORE_BATCH of them at a time,
 * while the listing goes on. fn may delete them. */
CUBED_MUST_CHECK cubed_status cb_store_list_batches(cubed_store *s, const char *prefix,
                                                    cb_store_wants_fn wants, cb_store_batch_fn fn,
                                                    void *ctx, cubed_error *err);
/* Deletes every key below the prefix. A local store removes the whole directory, with what killed
 * writers left in it; symbolic links in it are removed, never followed. */
CUBED_MUST_CHECK cubed_status cb_store_clear(cubed_store *s, const char *prefix, cubed_error *err);
/* What writers that are gone left below the prefix, and no listing shows: see cubed_store_vtable.sweep. */
CUBED_MUST_CHECK cubed_status cb_store_sweep(cubed_store *s, const char *prefix, unsigned flags,
                                             cubed_store_list_fn fn, void *ctx, cubed_error *err);
/* What is directly below a prefix. */
CUBED_MUST_CHECK cubed_status cb_store_entries(cubed_store *s, const char *prefix,
                                               cubed_store_entry_fn fn, void *ctx,
                                               cubed_error *err);
/* The same, by names; links are none of prefixes. */
CUBED_MUST_CHECK cubed_status cb_store_members(cubed_store *s, const char *prefix,
                                               cubed_store_member_fn fn, void *ctx,
                                               cubed_error *err);
/* CUBED_E_UNSUPPORTED if the store cannot. */
CUBED_MUST_CHECK cubed_status cb_store_swap(cubed_store *s, const char *a, const char *b,
                                            cubed_error *err);
/* Whether the store cannot swap, but copy. */
bool cb_store_copies(const cubed_store *s);
/* Objects to other keys: CUBED_E_UNSUPPORTED if the store cannot. */
CUBED_MUST_CHECK cubed_status cb_store_copy(cubed_store *s, const char *const *from,
                                            const char *const *to, size_t n, cubed_error *err);
/* Whether objects can be put piece by piece: see cubed_store_vtable. */
bool cb_store_takes_pieces(const cubed_store *s);
CUBED_MUST_CHECK cubed_status cb_store_begin_pieces(cubed_store *s, const char *key,
                                                    cubed_store_pieces **out, cubed_error *err);
/* A store, to be closed, in which what is at the path is one name: name[cap]. Links are resolved.
 * CUBED_E_UNSUPPORTED if there is none. */
CUBED_MUST_CHECK cubed_status cb_store_around(cubed_store *s, const char *path, cubed_store **out,
                                              char *name, size_t cap, cubed_error *err);
/* Whether places of the store are more than names: see cubed_store_vtable.anchor. */
bool cb_store_has_places(const cubed_store *s);
/* A store, to be closed, of the place at the path. CUBED_E_NOT_FOUND if there is none and it is not to be made. */
CUBED_MUST_CHECK cubed_status cb_store_anchor(cubed_store *s, const char *path, bool make,
                                              cubed_store **out, cubed_error *err);
/* Gives the file at `key` of a local store that cb_store_anchor opened the name `path`, at once. CUBED_E_NOT_FOUND if the file
 * was removed from that directory, whatever has its name now. `replace`: a file that has the name goes; else
 * CUBED_E_EXISTS. `durable`: the name survives a power failure. */
CUBED_MUST_CHECK cubed_status cb_store_publish(cubed_store *s, const char *key, const char *path,
                                               bool replace, bool durable, cubed_error *err);
/* Reads a whole small object (metadata) into `out`; CUBED_E_FORMAT above `max` bytes. One request, unless it is longer
 * than most are. */
CUBED_MUST_CHECK cubed_status cb_store_read_all(cubed_store *s, const char *key, size_t max,
                                                cb_buf *out, cubed_error *err);
/* The same, and what there is to know of the object that was read. */
CUBED_MUST_CHECK cubed_status cb_store_read_object(cubed_store *s, const char *key, size_t max,
                                                   cb_buf *out, cubed_object_info *info,
                                                   cubed_error *err);
static inline bool cb_version_is_none(const cubed_object_version *v) { return !v->text[0]; }
static inline bool cb_version_equal(const cubed_object_version *a, const cubed_object_version *b)
{
    return strcmp(a->text, b->text) == 0;
}

/* "a/b" + "c" -> "a/b/c", also with an empty part. CUBED_E_ARG if it does not fit or is unsafe. */
CUBED_MUST_CHECK cubed_status cb_key_join(char *out, size_t cap, const char *a, const char *b,
                                          cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_key_check(const char *key, cubed_error *err);

#endif
