/* The stores that a context knows by their schemes. */
#ifndef CB_STORE_REGISTRY_H
#define CB_STORE_REGISTRY_H

#include <stdatomic.h>

#include "cubed/zarr.h"
#include "store/http/net.h"
#include "store/local/memory.h"

/* Stores that were added are never taken away: readers need no lock. */
typedef struct cb_added_store {
    const cubed_store_vtable *vt;
    struct cb_added_store *next;
    cubed_store_vtable own; /* of files */
} cb_added_store;

/* Makes a store of what is in object `key` of another one, which becomes its own, also on failure. A key that begins so is a
 * branch, tag or snapshot of the repository of Icechunk that the store is. */
#define CB_REF_OF_REPOSITORY '@'

struct cb_stores;
typedef cubed_status (*cb_open_file_fn)(struct cb_stores *stores, cubed_store *within,
                                        const char *key, const char *url, const char *references,
                                        cubed_store **out, cubed_error *err);

typedef struct cb_stores {
    const cubed_allocator *alloc;
    cb_open_file_fn open_file; /* NULL: files are none */
    _Atomic(cb_added_store *) added;
    _Atomic(cb_added_store *) files; /* how files in stores that have to wait are read */
    cb_memory memory;
    cb_net net;
} cb_stores;

#define CB_STORE_BYTES ((size_t)512) /* Bytes of an open store, beside its address. */

CUBED_MUST_CHECK cubed_status cb_stores_init(cb_stores *s, const cubed_allocator *a,
                                             cubed_error *err);
/* No store is open. */
void cb_stores_free(cb_stores *s);
CUBED_MUST_CHECK cubed_status cb_stores_add(cb_stores *s, const cubed_store_vtable *vt,
                                            cubed_error *err);

/* The store of a place (place/place.h): of a path, or of a URL with a host. What is an object that holds arrays by itself
 * (a file; of URLs by the end of the name) is a store, too, of what is in it. `durable`: what is put survives a power
 * failure. A scheme without a store is CUBED_E_UNSUPPORTED and the message lists those there are. */
CUBED_MUST_CHECK cubed_status cb_store_open(cb_stores *s, const char *url, bool durable,
                                            cubed_store **out, cubed_error *err);
/* The same; a document in a file may refer to `references`, too: a list of place/confine.h, or NULL. */
CUBED_MUST_CHECK cubed_status cb_store_open_allowed(cb_stores *s, const char *url,
                                                    const char *references, bool durable,
                                                    cubed_store **out, cubed_error *err);
/* The store of objects alone: a file is never opened as a store of what is in it. */
CUBED_MUST_CHECK cubed_status cb_store_open_plain(cb_stores *s, const char *url, cubed_store **out,
                                                  cubed_error *err);
/* The same for a URL that a document named, not the user. A web server at a nearer address than the server that sent the document is
 * not asked, whatever its name resolves to. `document` is the store that the document was read from. */
CUBED_MUST_CHECK cubed_status cb_store_open_referred(cb_stores *s, const char *url,
                                                     const cubed_store *document, cubed_store **out,
                                                     cubed_error *err);
/* How the servers of a store that is open tell versions of objects, so far as they have been asked. */
cubed_validator cb_store_validator(const cubed_store *s);
/* Whether there is such a store, which is not opened. */
CUBED_MUST_CHECK cubed_status cb_store_check(const cb_stores *s, const char *url, cubed_error *err);
/* What the stores of a URL's scheme are made by; NULL: they are directories, or memory. */
const cubed_store_vtable *cb_store_added(const cb_stores *s, const char *url);
/* How many objects of a URL's store are asked for at once: 1 where nothing is gained by that. Who has a thread wait for each
 * has no more of them than CB_STORE_THREADS. */
enum { CB_STORE_THREADS = 16 };
unsigned cb_store_at_once(const cb_stores *s, const char *url);
/* Characters of a repository's URL in front of "@branch.NAME" and the like; without that, all characters. */
size_t cb_store_root_length(const char *url);
/* Whether it is one that other processes do not see. */
bool cb_store_is_of_process(const cb_stores *s, const char *url);
/* What each request in flight to the store of that URL takes beside its buffers, and what asking it takes once in a process;
 * 0 of stores of this machine. */
size_t cb_store_request_bytes(const cb_stores *s, const char *url);
size_t cb_store_process_bytes(const cb_stores *s, const char *url);
/* When its objects are put in parts. */
struct cb_upload_sizes;
CUBED_MUST_CHECK cubed_status cb_store_get_upload_sizes(cb_stores *s, cb_zone *zone,
                                                        const char *url,
                                                        struct cb_upload_sizes *out,
                                                        cubed_error *err);

#endif
