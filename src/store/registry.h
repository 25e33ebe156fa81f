/* The stores that a context knows by their schemes. */
#ifndef CB_STORE_REGISTRY_H
#define CB_STORE_REGISTRY_H

#include <stdatomic.h>

#include "store/memory.h"

/* Stores that were added are never taken away: readers need no lock. */
typedef struct cb_added_store {
    const cubed_store_vtable *vt;
    struct cb_added_store *next;
} cb_added_store;

typedef struct cb_stores {
    const cubed_allocator *alloc;
    _Atomic(cb_added_store *) added;
    cb_memory memory;
} cb_stores;

CUBED_MUST_CHECK cubed_status cb_stores_init(cb_stores *s, const cubed_allocator *a,
                                             cubed_error *err);
/* No store is open. */
void cb_stores_free(cb_stores *s);
CUBED_MUST_CHECK cubed_status cb_stores_add(cb_stores *s, const cubed_store_vtable *vt,
                                            cubed_error *err);

/* The store of a place (place/place.h): of a path, or of a URL with a host. `durable`: what is put survives a power
 * failure. A scheme without a store is CUBED_E_UNSUPPORTED and the message lists those there are. */
CUBED_MUST_CHECK cubed_status cb_store_open(cb_stores *s, const char *url, bool durable,
                                            cubed_store **out, cubed_error *err);
/* Whether there is such a store, which is not opened. */
CUBED_MUST_CHECK cubed_status cb_store_check(const cb_stores *s, const char *url, cubed_error *err);
/* Whether it is one that other processes do not see. */
bool cb_store_is_of_process(const cb_stores *s, const char *url);

#endif
