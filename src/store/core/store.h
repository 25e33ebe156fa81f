/* Key-value stores. These functions check keys and options, and send requests to the stores of cubed/sys/store.h. */
#ifndef CB_STORE_STORE_H
#define CB_STORE_STORE_H

#include "base/alloc.h"
#include "base/lock.h"
#include "cubed/cancel.h"
#include "cubed/sys/store.h"
#include "cubed/zarr.h"

/* Called once for each name directly below a prefix. The name is an object or, if `is_prefix` is set, a longer prefix. A symbolic
 * link always counts as an object. */
typedef cubed_status (*cubed_store_member_fn)(void *ctx, const char *name, bool is_prefix,
                                              cubed_error *err);

/* Opens a directory as a store. The first put creates `path` if it does not exist. Puts write a temporary file in the
 * target's directory and rename it; `durable` also syncs file and directory. */
CUBED_MUST_CHECK cubed_status cb_store_open_local(const cubed_allocator *a, const char *path,
                                                  bool durable, cubed_store **out,
                                                  cubed_error *err);
/* From then on, a store in a directory creates files below its root with mode 0600, and directories with mode 0700, so that no
 * other user can access them. No effect on other kinds of stores. Call it before the store is shared with other threads. */
void cb_store_keep_private(cubed_store *s);
/* Makes the store private (cb_store_keep_private), and creates the directory at `prefix` ("": the root) for this user only. An
 * existing directory is accepted only if it belongs to this user and no other user can write it; otherwise CUBED_E_EXISTS. No
 * effect on stores that are not directories. */
CUBED_MUST_CHECK cubed_status cb_store_make_private(cubed_store *s, const char *prefix,
                                                    cubed_error *err);
/* Checks that no other user controls the directory at `prefix`: either nothing is there, or a directory (not a link) that
 * belongs to this user and that no other user can write. Otherwise CUBED_E_EXISTS. Needed because, in a directory such as /tmp,
 * another user may have created the directory first. */
CUBED_MUST_CHECK cubed_status cb_store_check_private(const cubed_store *s, const char *prefix,
                                                     cubed_error *err);
/* Opens a separate store in memory. */
CUBED_MUST_CHECK cubed_status cb_store_open_memory(const cubed_allocator *a, const char *name,
                                                   cubed_store **out, cubed_error *err);
void cb_store_close(cubed_store *s);

/* --- Requests ------------------------------------------------------------------------------------------- */

/* A completion queue: a thread submits requests to any number of stores through it, and gets them back after completion. */
typedef struct cb_store_queue {
    cb_mutex lock;
    cb_cond came;
    cubed_store_request *first CB_GUARDED_BY(&lock),
        *last CB_GUARDED_BY(&lock); /* completed, not yet returned by cb_store_poll */
} cb_store_queue;

void cb_store_queue_init(cb_store_queue *q);
/* Requires that no request submitted through the queue is in flight. */
void cb_store_queue_free(cb_store_queue *q);
/* Submits requests through a queue. cb_store_poll returns each request after its completion. Sets the members `complete` and
 * `data` of the requests. A request with an invalid key completes immediately, without a call of the store. */
void cb_store_submit(cubed_store *s, cb_store_queue *q, cubed_store_request *const *requests,
                     size_t n);
/* Submits requests without a queue. The caller must have set `complete`, the function that is called after completion, and
 * `data`. */
void cb_store_begin(cubed_store *s, cubed_store_request *const *requests, size_t n);
/* Gets completed requests in the order of completion, at most `cap`, and returns their number. If there is none, waits up to
 * timeout_ms milliseconds for the first (-1: without limit). */
size_t cb_store_poll(cb_store_queue *q, int timeout_ms, cubed_store_request **done, size_t cap);
void cb_store_cancel(cubed_store *s, cubed_store_request *r);
/* Submits a request, waits for its completion, and returns its status. Sets `complete`, `data` and `err` of the request. */
CUBED_MUST_CHECK cubed_status cb_store_do(cubed_store *s, cubed_store_request *r, cubed_error *err);
/* Like cb_store_do, but cancels the request when the flag `cancel` is set. `cancel` may be NULL. */
CUBED_MUST_CHECK cubed_status cb_store_do_until(cubed_store *s, cubed_store_request *r,
                                                const cubed_cancel *cancel, cubed_error *err);

/* --- Requests as calls ------------------------------------------------------------------------------------ */

/* Detects listings without end, from faulty servers: the token of a page repeats, or too many consecutive pages are empty.
 * Initialise with {.n = 0}. */
typedef struct cb_page_watch {
    uint64_t n, empty;   /* number of pages, and of consecutive empty pages at the end */
    uint64_t kept;       /* hash of an earlier token, by Brent's cycle detection */
    uint64_t keep_at;    /* number of the page whose token is stored next */
    uint64_t most_empty; /* maximum number of consecutive empty pages; 0: CB_PAGES_MOST_EMPTY */
} cb_page_watch;
/* Maximum number of consecutive empty pages. */
enum { CB_PAGES_MOST_EMPTY = 1000 };
/* Records that a page of a listing was received. Fails if the listing seems to have no end.
 *
 * token    identifies the next page
 * entries  number of entries of the received page */
CUBED_MUST_CHECK cubed_status cb_page_watch_next(cb_page_watch *w, const cubed_store *s,
                                                 const char *token, size_t entries,
                                                 cubed_error *err);

/* Reads up to `size` bytes from `offset`. *got is less than `size` only at the end of the object. */
CUBED_MUST_CHECK cubed_status cb_store_get(cubed_store *s, const char *key, uint64_t offset,
                                           void *dst, size_t size, size_t *got, cubed_error *err);
/* Reads a whole object of at most `cap` bytes. If info->size is more than `cap`, the object was not read as a whole. */
CUBED_MUST_CHECK cubed_status cb_store_get_whole(cubed_store *s, const char *key, void *dst,
                                                 size_t cap, cubed_object_info *info,
                                                 const cubed_cancel *cancel, cubed_error *err);
/* Ranges of one version of an object. */
typedef struct cb_store_parts {
    const cubed_object_version *version; /* NULL: any version */
    const cubed_range *ranges;
    size_t n;
} cb_store_parts;
/* Reads several ranges of an object to `dst`, one directly after another, and gets the object's info. CUBED_E_FORMAT if a range
 * extends beyond the object, or if the object has another version. */
CUBED_MUST_CHECK cubed_status cb_store_get_parts(cubed_store *s, const char *key,
                                                 const cb_store_parts *parts, void *dst,
                                                 cubed_object_info *info,
                                                 const cubed_cancel *cancel, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_put(cubed_store *s, const char *key, const void *src,
                                           size_t size, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_del(cubed_store *s, const char *key, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_del_all(cubed_store *s, const char *const *keys, size_t n,
                                               cubed_error *err);
/* Deletes an object with the given version. CUBED_E_EXISTS if the object has another version or, in stores with
 * CUBED_STORE_GUARDS, if it does not exist. Any version is deleted if `version` is "", or if the store does not support
 * conditional deletes. */
CUBED_MUST_CHECK cubed_status cb_store_del_if(cubed_store *s, const char *key,
                                              const cubed_object_version *version,
                                              cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_list(cubed_store *s, const char *prefix,
                                            cubed_store_list_fn fn, void *ctx, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_size(cubed_store *s, const char *key, uint64_t *size,
                                            cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_head(cubed_store *s, const char *key,
                                            cubed_object_info *info, cubed_error *err);
/* Replaces an object if it has the expected version ("": it must not exist), and gets its new version. Otherwise
 * CUBED_E_EXISTS. */
CUBED_MUST_CHECK cubed_status cb_store_put_if(cubed_store *s, const char *key,
                                              const cubed_object_version *expected, const void *src,
                                              size_t size, cubed_object_version *version,
                                              cubed_error *err);
/* Gets the size and the version of an object that may not exist. If it does not exist, returns CUBED_OK, and the version is
 * "". */
CUBED_MUST_CHECK cubed_status cb_store_find(cubed_store *s, const char *key,
                                            cubed_object_info *info, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_exists(cubed_store *s, const char *key, bool *out,
                                              cubed_error *err);
/* Selects keys of a listing. */
typedef bool (*cb_store_wants_fn)(void *ctx, const char *key);
/* Receives keys of a listing and their versions. `versions` is NULL in stores that do not list versions
 * (CUBED_STORE_DELETES_IF). */
typedef cubed_status (*cb_store_batch_fn)(void *ctx, const char *const *keys,
                                          const char *const *versions, size_t n, cubed_error *err);
/* Maximum number of keys that one request to S3 deletes. */
enum { CB_STORE_BATCH = 1000 };
/* Lists keys below the prefix, in batches: calls fn with up to CB_STORE_BATCH keys at a time, while the listing continues. fn may
 * delete these keys. `wants` selects keys; NULL: all keys. */
CUBED_MUST_CHECK cubed_status cb_store_list_batches(cubed_store *s, const char *prefix,
                                                    cb_store_wants_fn wants, cb_store_batch_fn fn,
                                                    void *ctx, cubed_error *err);
/* Deletes every key below the prefix. A local store removes the whole directory, including files left by killed writers.
 * Symbolic links in it are removed, never followed. */
CUBED_MUST_CHECK cubed_status cb_store_clear(cubed_store *s, const char *prefix, cubed_error *err);
/* Deletes files or unfinished uploads below the prefix that dead writers left, and that listings do not show
 * (cubed_store_vtable.sweep). */
CUBED_MUST_CHECK cubed_status cb_store_sweep(cubed_store *s, const char *prefix, unsigned flags,
                                             cubed_store_list_fn fn, void *ctx, cubed_error *err);
/* Lists entries directly below a prefix. */
CUBED_MUST_CHECK cubed_status cb_store_entries(cubed_store *s, const char *prefix,
                                               cubed_store_entry_fn fn, void *ctx,
                                               cubed_error *err);
/* Lists names directly below a prefix. Symbolic links are not prefixes. */
CUBED_MUST_CHECK cubed_status cb_store_members(cubed_store *s, const char *prefix,
                                               cubed_store_member_fn fn, void *ctx,
                                               cubed_error *err);
/* Exchanges the contents of two prefixes. CUBED_E_UNSUPPORTED if the store cannot. */
CUBED_MUST_CHECK cubed_status cb_store_swap(cubed_store *s, const char *a, const char *b,
                                            cubed_error *err);
/* Returns true if the store can copy objects, but not swap prefixes. */
bool cb_store_copies(const cubed_store *s);
/* Copies objects to other keys. CUBED_E_UNSUPPORTED if the store cannot. */
CUBED_MUST_CHECK cubed_status cb_store_copy(cubed_store *s, const char *const *from,
                                            const char *const *to, size_t n, cubed_error *err);
/* Returns true if objects can be written in pieces, each at an offset of the object (cubed_store_vtable.begin_pieces). */
bool cb_store_takes_pieces(const cubed_store *s);
CUBED_MUST_CHECK cubed_status cb_store_begin_pieces(cubed_store *s, const char *key,
                                                    cubed_store_pieces **out, cubed_error *err);
/* Opens the parent of `path` as a store: in it, the object or prefix at `path` has a key without slash, which is copied to
 * name[cap]. Resolves links. The caller closes the store. CUBED_E_UNSUPPORTED if the store cannot open parents. */
CUBED_MUST_CHECK cubed_status cb_store_around(cubed_store *s, const char *path, cubed_store **out,
                                              char *name, size_t cap, cubed_error *err);
/* Returns true if cb_store_anchor can open directories of the store (cubed_store_vtable.anchor). An open directory stays the same
 * if it is renamed. */
bool cb_store_has_places(const cubed_store *s);
/* Opens the directory at `path` as a store, which refers to this directory even after it is renamed. The caller closes the store.
 * CUBED_E_NOT_FOUND if the directory does not exist and `make` is false. */
CUBED_MUST_CHECK cubed_status cb_store_anchor(cubed_store *s, const char *path, bool make,
                                              cubed_store **out, cubed_error *err);
/* Flags of cb_store_publish.
 *
 * CB_PUBLISH_NEW      no flag is set
 * CB_PUBLISH_REPLACE  a file at the path may be replaced
 * CB_PUBLISH_DURABLE  the new name survives a power failure */
typedef enum cb_publish_flags {
    CB_PUBLISH_NEW = 0,
    CB_PUBLISH_REPLACE = 1,
    CB_PUBLISH_DURABLE = 2
} cb_publish_flags;
/* Renames the file at `key` to `path` atomically, in a local store that cb_store_anchor opened. CUBED_E_EXISTS if there is a
 * file at `path` and `flags` has no CB_PUBLISH_REPLACE. CUBED_E_NOT_FOUND if the file was removed from that directory, even
 * if its name now belongs to another file. */
CUBED_MUST_CHECK cubed_status cb_store_publish(cubed_store *s, const char *key, const char *path,
                                               unsigned flags, cubed_error *err);
/* Reads a small object such as metadata into `out`. CUBED_E_FORMAT if it is longer than `max` bytes. Needs one request,
 * unless the object is unusually long. */
CUBED_MUST_CHECK cubed_status cb_store_read_all(cubed_store *s, const char *key, size_t max,
                                                cb_buf *out, cubed_error *err);
/* Reads a small object into `out`, and gets its info. CUBED_E_FORMAT if it is longer than `max` bytes. */
CUBED_MUST_CHECK cubed_status cb_store_read_object(cubed_store *s, const char *key, size_t max,
                                                   cb_buf *out, cubed_object_info *info,
                                                   cubed_error *err);
static inline bool cb_version_is_none(const cubed_object_version *v) { return !v->text[0]; }
static inline bool cb_version_equal(const cubed_object_version *a, const cubed_object_version *b)
{
    return strcmp(a->text, b->text) == 0;
}

/* Joins keys: "a/b" + "c" -> "a/b/c". Either may be empty. CUBED_E_ARG if the result is too long or unsafe. */
CUBED_MUST_CHECK cubed_status cb_key_join(char *out, size_t cap, const char *a, const char *b,
                                          cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_key_check(const char *key, cubed_error *err);

#endif
