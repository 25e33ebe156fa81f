/* Key-value stores: checked wrappers over the vtable of cubed/sys/store.h, and the two backends. */
#ifndef CB_STORE_STORE_H
#define CB_STORE_STORE_H

#include "base/alloc.h"
#include "cubed/sys/store.h"

/* A directory. `path` need not exist: it is made by the first put. Puts write a temporary file
 * beside the target and rename it; `durable` also syncs file and directory. */
CUBED_MUST_CHECK cubed_status cb_store_open_local(const cubed_allocator *a, const char *path,
                                                  bool durable, cubed_store **out,
                                                  cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_open_memory(const cubed_allocator *a, const char *name,
                                                   cubed_store **out, cubed_error *err);
/* The store of a place (place/place.h): of a path, or of a URL with a host. `durable`: what is put survives a power
 * failure. A scheme without a store is CUBED_E_UNSUPPORTED and the message lists those there are. */
CUBED_MUST_CHECK cubed_status cb_store_open(const cubed_allocator *a, const char *url, bool durable,
                                            cubed_store **out, cubed_error *err);
/* Whether there is such a store, which is not opened. */
CUBED_MUST_CHECK cubed_status cb_store_check(const char *url, cubed_error *err);
void cb_store_close(cubed_store *s);

CUBED_MUST_CHECK cubed_status cb_store_get(cubed_store *s, const char *key, uint64_t offset,
                                           void *dst, size_t size, size_t *got, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_get_ranges(cubed_store *s, const char *key,
                                                  const cubed_range *ranges, size_t n, void *dst,
                                                  uint64_t *size, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_put(cubed_store *s, const char *key, const void *src,
                                           size_t size, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_del(cubed_store *s, const char *key, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_list(cubed_store *s, const char *prefix,
                                            cubed_store_list_fn fn, void *ctx, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_size(cubed_store *s, const char *key, uint64_t *size,
                                            cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_head(cubed_store *s, const char *key,
                                            cubed_object_info *info, cubed_error *err);
/* See cubed_store_vtable: CUBED_E_EXISTS if the object has another version. `version` may be NULL. */
CUBED_MUST_CHECK cubed_status cb_store_put_if(cubed_store *s, const char *key, uint64_t expected,
                                              const void *src, size_t size, uint64_t *version,
                                              cubed_error *err);
/* The same, but what is not there is no error: its version is CUBED_STORE_ABSENT. */
CUBED_MUST_CHECK cubed_status cb_store_find(cubed_store *s, const char *key,
                                            cubed_object_info *info, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_store_exists(cubed_store *s, const char *key, bool *out,
                                              cubed_error *err);
/* Deletes every key below the prefix. A local store removes the whole directory, with what killed
 * writers left in it; symbolic links in it are removed, never followed. */
CUBED_MUST_CHECK cubed_status cb_store_clear(cubed_store *s, const char *prefix, cubed_error *err);
/* What writers that are gone left below the prefix, and no listing shows: see cubed_store_vtable.sweep. */
CUBED_MUST_CHECK cubed_status cb_store_sweep(cubed_store *s, const char *prefix, bool dry_run,
                                             cubed_store_list_fn fn, void *ctx, cubed_error *err);
/* Names directly below a prefix. */
CUBED_MUST_CHECK cubed_status cb_store_members(cubed_store *s, const char *prefix,
                                               cubed_store_member_fn fn, void *ctx,
                                               cubed_error *err);
/* CUBED_E_UNSUPPORTED if the store cannot. */
CUBED_MUST_CHECK cubed_status cb_store_swap(cubed_store *s, const char *a, const char *b,
                                            cubed_error *err);
/* A store, to be closed, in which what is at the path is one name: name[cap]. Links are resolved.
 * CUBED_E_UNSUPPORTED if there is none. */
CUBED_MUST_CHECK cubed_status cb_store_around(cubed_store *s, const char *path, cubed_store **out,
                                              char *name, size_t cap, cubed_error *err);
/* Reads a whole small object (metadata) into `out`; CUBED_E_FORMAT above `max` bytes. */
CUBED_MUST_CHECK cubed_status cb_store_read_all(cubed_store *s, const char *key, size_t max,
                                                cb_buf *out, cubed_error *err);
/* "a/b" + "c" -> "a/b/c", also with an empty part. CUBED_E_ARG if it does not fit or is unsafe. */
CUBED_MUST_CHECK cubed_status cb_key_join(char *out, size_t cap, const char *a, const char *b,
                                          cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_key_check(const char *key, cubed_error *err);

#endif
