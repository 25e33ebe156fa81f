/* Stores in memory: the objects of all stores memory://NAME of a context. */
#ifndef CB_STORE_MEMORY_H
#define CB_STORE_MEMORY_H

#include "base/lock.h"
#include "store/core/store.h"

typedef struct cb_memory_object {
    char *key;
    void *data;
    size_t key_size, size;
    uint64_t version;
} cb_memory_object;

typedef struct cb_memory {
    const cubed_allocator *alloc;
    cb_rwlock lock;
    cb_memory_object *objects CB_GUARDED_BY(&lock); /* sorted by key */
    size_t n CB_GUARDED_BY(&lock), cap CB_GUARDED_BY(&lock);
    uint64_t puts CB_GUARDED_BY(&lock);
} cb_memory;

void cb_memory_init(cb_memory *m, const cubed_allocator *a);
void cb_memory_free(cb_memory *m);
/* Opens memory://NAME/PATH as a store: its objects are those of `m` whose keys begin with NAME/PATH. The URL is percent-encoded,
 * keys are not. `m` must outlive the store. */
CUBED_MUST_CHECK cubed_status cb_memory_open(cb_memory *m, const char *url, cubed_store **out,
                                             cubed_error *err);

#endif
