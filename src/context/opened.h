/* Open arrays of sources, which plans share.
 *
 * A program that reads many small parts of an array makes a plan for each part. Opening the array again takes longer than such a
 * plan. So a context keeps open arrays of its last plans, if they are stored in directories. A plan uses a kept array only if the
 * version of the metadata is still the same. */
#ifndef CB_CONTEXT_OPENED_H
#define CB_CONTEXT_OPENED_H

#include <stdatomic.h>

#include "zarr/zarr.h"

typedef struct cubed_context cubed_context;

/* Maximum number of kept arrays, and of the bytes of each array's metadata. */
enum { CB_OPENED_KEPT = 16, CB_OPENED_BYTES = 64 << 10 };
/* Minimum age in seconds of metadata when the array is kept. The version of a file contains its modification time, whose
 * resolution may be 10 ms. So younger metadata may change without a change of version. */
enum { CB_OPENED_AGE = 2 };

typedef struct cb_opened {
    atomic_int users; /* plans, and the context if it keeps the array */
    const cubed_allocator *alloc;
    cubed_store *store;
    cb_zarr_array *array;
} cb_opened;

/* The arrays that a context keeps. Initialise it with zeros. Taking an array out of its slot gives exclusive access to the slot's
 * reference, so no lock is needed: after fork(), a child does not wait for a thread that exists only in its parent. */
typedef struct cb_opened_list {
    _Atomic(cb_opened *)
        kept[CB_OPENED_KEPT]; /* the index is a hash of the place; NULL: empty slot */
} cb_opened_list;

/* Creates an object with one reference. The caller sets `store` and `array`, which are closed with the last
 * reference. */
CUBED_MUST_CHECK cubed_status cb_opened_new(const cubed_allocator *a, cb_opened **out,
                                            cubed_error *err);
void cb_opened_ref(cb_opened *x);
/* Closes the array and its store with the last reference. `x` may be NULL. */
void cb_opened_unref(cb_opened *x);
/* Returns a reference to the kept array at `path` in the store with the URL `store`. Returns NULL if no such array is kept, or if
 * its metadata has changed. */
cb_opened *cb_opened_take(cb_opened_list *l, const char *store, const char *path);
/* Keeps the array if it is in a directory, and its metadata is small and old enough. */
void cb_opened_keep(cb_opened_list *l, cb_opened *x);
void cb_opened_drop(cb_opened_list *l);

#endif
