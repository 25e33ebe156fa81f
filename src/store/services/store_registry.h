/* The registry of a context's stores: finds and opens a store by the scheme of a URL. */
#ifndef CB_STORE_REGISTRY_H
#define CB_STORE_REGISTRY_H

#include <stdatomic.h>

#include "cubed/zarr.h"
#include "store/http/net.h"
#include "store/local/memory.h"

/* Added stores are never removed, so readers need no lock. */
typedef struct cb_added_store {
    const cubed_store_vtable *vt;
    struct cb_added_store *next;
    cubed_store_vtable own; /* vtable of the registry's own entry for files */
} cb_added_store;

/* Opens a file that contains arrays, such as HDF5, as a store of its arrays. `key` is the file in the store `within`. Takes
 * ownership of `within`, even on failure. A key that begins with CB_REF_OF_REPOSITORY names a branch, tag or snapshot of the
 * Icechunk repository in `within`. */
#define CB_REF_OF_REPOSITORY '@'

struct cb_stores;
typedef cubed_status (*cb_open_file_fn)(struct cb_stores *stores, cubed_store *within,
                                        const char *key, const char *url, const char *references,
                                        cubed_store **out, cubed_error *err);

typedef struct cb_stores {
    const cubed_allocator *alloc;
    cb_open_file_fn open_file; /* NULL: files are not opened as stores */
    _Atomic(cb_added_store *) added;
    _Atomic(cb_added_store *) files; /* vtables of files in stores with latency */
    cb_memory memory;
    cb_net net;
} cb_stores;

#define CB_STORE_BYTES ((size_t)512) /* Memory of an open store, in addition to its URL. */

void cb_stores_init(cb_stores *s, const cubed_allocator *a);
/* Requires that no store is open. */
void cb_stores_free(cb_stores *s);
CUBED_MUST_CHECK cubed_status cb_stores_add(cb_stores *s, const cubed_store_vtable *vt,
                                            cubed_error *err);

/* Opens the store of a place (place/place.h): a path, or a URL with a host. An object that contains arrays (a file; for
 * URLs recognised by its suffix) is opened as a store of its arrays. `durable`: written objects survive a power failure.
 * CUBED_E_UNSUPPORTED if the scheme is unknown; the message lists the known ones. */
CUBED_MUST_CHECK cubed_status cb_store_open(cb_stores *s, const char *url, bool durable,
                                            cubed_store **out, cubed_error *err);
/* Opens the store of a place: a path, or a URL with a host. An object that contains arrays is opened as a store of its arrays.
 *
 * references  places that a document in a file may also refer to (place/confine.h), or NULL
 * durable     written objects survive a power failure */
CUBED_MUST_CHECK cubed_status cb_store_open_allowed(cb_stores *s, const char *url,
                                                    const char *references, bool durable,
                                                    cubed_store **out, cubed_error *err);
/* Opens the store of objects: never opens a file as a store of its arrays. */
CUBED_MUST_CHECK cubed_status cb_store_open_plain(cb_stores *s, const char *url, cubed_store **out,
                                                  cubed_error *err);
/* Opens the store of objects at a URL that a document named, not the user. Never opens a file as a store of its arrays. Never
 * sends requests to a web server at an address nearer than the document's server, even if a name resolves to a nearer address.
 * `document` is the store that the document was read from. */
CUBED_MUST_CHECK cubed_status cb_store_open_referred(cb_stores *s, const char *url,
                                                     const cubed_store *document, cubed_store **out,
                                                     cubed_error *err);
/* Returns the information by which the servers of an open store identify versions of objects, such as ETags or dates: the weakest
 * kind in the replies so far. */
cubed_validator cb_store_validator(const cubed_store *s);
/* Checks whether the URL has a store, without opening it. */
CUBED_MUST_CHECK cubed_status cb_store_check(const cb_stores *s, const char *url, cubed_error *err);
/* Returns the vtable of stores with the URL's scheme, or NULL for directories and memory. */
const cubed_store_vtable *cb_store_added(const cb_stores *s, const char *url);
/* Returns the preferred number of simultaneous requests to the store of a URL; 1 if concurrency does not help. A caller that
 * needs a thread for each request should use at most CB_STORE_THREADS. */
enum { CB_STORE_THREADS = 16 };
unsigned cb_store_at_once(const cb_stores *s, const char *url);
/* Returns the length of a repository's URL before "@branch.NAME" and similar suffixes; without a suffix the whole length. */
size_t cb_store_root_length(const char *url);
/* Returns true if the store is visible in this process only. */
bool cb_store_is_of_process(const cb_stores *s, const char *url);
/* Return the memory of a request in flight to the URL's store in addition to its buffers, and the memory per process for requests
 * to the store. Both are 0 for local stores. */
size_t cb_store_request_bytes(const cb_stores *s, const char *url);
size_t cb_store_process_bytes(const cb_stores *s, const char *url);
/* Sizes of uploads in parts. */
struct cb_upload_sizes;
CUBED_MUST_CHECK cubed_status cb_store_get_upload_sizes(cb_stores *s, cb_zone *zone,
                                                        const char *url,
                                                        struct cb_upload_sizes *out,
                                                        cubed_error *err);

#endif
