/* The vtable of a key-value store, for people who add one.
 *
 * Keys are relative paths with '/' between parts ("u/c/0/1"), never empty, absolute, or with a
 * "." or ".." part; cubed_store_* wrappers check that before a backend sees a key.
 * Every function may be called from several threads at once. A put replaces the whole object
 * atomically: a reader sees the old object or the new one, never a part.
 */
#ifndef CUBED_SYS_STORE_H
#define CUBED_SYS_STORE_H

#include "cubed/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cubed_store cubed_store;

/* Called once per key below the prefix, in any order; a status other than CUBED_OK stops the
 * listing and is returned by it. `key` lives until the callback returns. */
typedef cubed_status (*cubed_store_list_fn)(void *ctx, const char *key, uint64_t size,
                                            cubed_error *err);

typedef struct cubed_range {
    uint64_t offset;
    size_t size;
} cubed_range;

typedef struct cubed_object_info {
    uint64_t size;
    /* Another one whenever the object has been put anew; never 0. */
    uint64_t version;
} cubed_object_info;

/* Of cubed_store_vtable.put_if: the object must not exist. */
#define CUBED_STORE_ABSENT ((uint64_t)0)

/* Called once per name directly below a prefix: of an object, or of what further keys are below. Links are names of
 * the first kind, wherever they lead. */
typedef cubed_status (*cubed_store_member_fn)(void *ctx, const char *name, bool is_prefix,
                                              cubed_error *err);

typedef struct cubed_store_vtable {
    const char *scheme; /* "file", "memory" */
    /* Reads up to `size` bytes from `offset` into `dst`; *got is how many there were (fewer only
     * at the end of the object). CUBED_E_NOT_FOUND if there is no such key. */
    cubed_status (*get)(cubed_store *store, const char *key, uint64_t offset, void *dst,
                        size_t size, size_t *got, cubed_error *err);
    cubed_status (*put)(cubed_store *store, const char *key, const void *src, size_t size,
                        cubed_error *err);
    /* Deleting a key that does not exist is not an error. */
    cubed_status (*del)(cubed_store *store, const char *key, cubed_error *err);
    /* Every key that starts with `prefix` + "/" ("" for all). */
    cubed_status (*list)(cubed_store *store, const char *prefix, cubed_store_list_fn fn, void *ctx,
                         cubed_error *err);
    /* CUBED_E_NOT_FOUND if there is no such key. */
    cubed_status (*head)(cubed_store *store, const char *key, cubed_object_info *info,
                         cubed_error *err);
    /* A put if the object still has the version that is expected (CUBED_STORE_ABSENT: if there is none), and
     * the version that it has then. Else CUBED_E_EXISTS, and nothing has happened: of several that try at
     * once, one succeeds. Between processes of one machine at least. */
    cubed_status (*put_if)(cubed_store *store, const char *key, uint64_t expected, const void *src,
                           size_t size, uint64_t *version, cubed_error *err);
    void (*close)(cubed_store *store);
    /* Reads all `n` ranges, one behind the other, into `dst`, and tells the object's size;
     * CUBED_E_FORMAT if it ends before one of them. NULL: one by one. */
    cubed_status (*get_ranges)(cubed_store *store, const char *key, const cubed_range *ranges,
                               size_t n, void *dst, uint64_t *size, cubed_error *err);
    /* Deletes every key below the prefix, and what the store made for them. NULL: one by one. */
    cubed_status (*clear)(cubed_store *store, const char *prefix, cubed_error *err);
    /* Deletes what writers that are gone left below the prefix and no listing shows, or only (`dry_run`) finds it,
     * and tells fn (may be NULL) of it. Writers that are alive are not disturbed. NULL: they leave nothing. */
    cubed_status (*sweep)(cubed_store *store, const char *prefix, bool dry_run,
                          cubed_store_list_fn fn, void *ctx, cubed_error *err);
    /* Every name directly below the prefix, once. NULL: found among all keys below it. */
    cubed_status (*members)(cubed_store *store, const char *prefix, cubed_store_member_fn fn,
                            void *ctx, cubed_error *err);
    /* What is below prefix `a`, which exists, and what is below `b` change places; if nothing is below `b`, it is a
     * move. At once, where the system can; else there is a moment with nothing at `a`. NULL: it cannot be done. */
    cubed_status (*swap)(cubed_store *store, const char *a, const char *b, cubed_error *err);
    /* A new store (for cubed_store_vtable.close) in which what is at the prefix is one name, of `cap` bytes at
     * most with its end. NULL: nothing can be replaced as a whole. */
    cubed_status (*around)(cubed_store *store, const char *prefix, cubed_store **out, char *name,
                           size_t cap, cubed_error *err);
} cubed_store_vtable;

/* The head of every backend's own struct. */
struct cubed_store {
    const cubed_store_vtable *vt;
    const cubed_allocator *alloc; /* outlives the store */
    const char *url;              /* for messages; owned by the backend */
};

#ifdef __cplusplus
}
#endif

#endif
