/* Memory for metadata: allocation, zones that are freed as a whole, and growing byte strings. Chunks are never allocated here,
 * only in arenas (mem/arena.h). */
#ifndef CB_BASE_ALLOC_H
#define CB_BASE_ALLOC_H

#include "cubed/base.h"

/* Allocator that uses realloc and free of the C library. */
extern const cubed_allocator cb_system_allocator;

/* Allocate memory. Return NULL if out of memory. A size of 0 gives a unique pointer. */
void *cb_alloc(const cubed_allocator *a, size_t size);
void *cb_alloc_zero(const cubed_allocator *a, size_t size);
void *cb_resize(const cubed_allocator *a, void *ptr, size_t old_size, size_t new_size);
void cb_free(const cubed_allocator *a, void *ptr, size_t size);

/* Enlarges a list of n items if it is full, so that one more item fits. Returns false if out of memory. Free the
 * list with cb_free.
 *
 * list  address of the pointer to the items, which is NULL for an empty list
 * cap   capacity of the list in items; is updated
 * size  bytes of an item */
bool cb_list_grow(const cubed_allocator *a, void *list, size_t n, size_t *cap, size_t size);

/* A zone allocates memory that lives until the zone is freed. Not thread-safe. */
typedef struct cb_zone cb_zone;
CUBED_MUST_CHECK cubed_status cb_zone_new(const cubed_allocator *a, cb_zone **out,
                                          cubed_error *err);
void cb_zone_free(cb_zone *z);
/* Returns zeroed memory, aligned to 16 bytes; NULL if out of memory, or if `size` overflows when it is rounded up. */
void *cb_zone_alloc(cb_zone *z, size_t size);
char *cb_zone_strdup(cb_zone *z, const char *s);
void *cb_zone_memdup(cb_zone *z, const void *p, size_t size);
/* Like cb_list_grow, for a list in a zone: doubles *cap if the list of n items is full. The memory of the old list stays
 * allocated in the zone. Returns false if out of memory. */
bool cb_zone_grow(cb_zone *z, void *list, int n, int *cap, size_t size);
const cubed_allocator *cb_zone_allocator(const cb_zone *z);
/* Returns true if an allocation of the zone has failed. For code in which NULL has another meaning, such as a missing setting. */
bool cb_zone_failed(const cb_zone *z);
/* Returns the number of bytes that were obtained from the allocator so far. */
size_t cb_zone_bytes(const cb_zone *z);

/* A growing byte string; initialise it with cb_buf_init. `failed` stays set after the first failed growth, so writers may
 * check once at the end. NUL-terminated if data != NULL. */
typedef struct cb_buf {
    const cubed_allocator *alloc;
    char *data;
    size_t size;
    size_t cap;
    bool failed;
} cb_buf;

void cb_buf_init(cb_buf *b, const cubed_allocator *alloc);
void cb_buf_free(cb_buf *b);
void cb_buf_put(cb_buf *b, const void *p, size_t n);
void cb_buf_puts(cb_buf *b, const char *s);
void cb_buf_printf(cb_buf *b, const char *fmt, ...) CUBED_PRINTF(2, 3);

#endif
