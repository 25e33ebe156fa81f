#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/sanitizers.h"

#ifdef CB_HAVE_MSAN
#include <sanitizer/msan_interface.h>
#define POISON(p, n) __msan_poison(p, n)
#else
#define POISON(p, n) ((void)(p), (void)(n))
#endif

static void *system_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    const size_t kept = ptr ? cb_min_size(old_size, new_size) : 0;
    void *p = realloc(ptr, new_size ? new_size : 1);
    if (p) POISON((char *)p + kept, new_size - kept);
    return p;
}

static void system_free(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
}

const cubed_allocator cb_system_allocator = {NULL, system_resize, system_free};

void *cb_alloc(const cubed_allocator *a, size_t size)
{
    return a->resize(a->ctx, NULL, 0, size ? size : 1);
}

void *cb_alloc_zero(const cubed_allocator *a, size_t size)
{
    void *p = cb_alloc(a, size);
    if (p) memset(p, 0, size);
    return p;
}

void *cb_resize(const cubed_allocator *a, void *ptr, size_t old_size, size_t new_size)
{
    return a->resize(a->ctx, ptr, ptr && !old_size ? 1 : old_size, new_size ? new_size : 1);
}

void cb_free(const cubed_allocator *a, void *ptr, size_t size)
{
    if (ptr) a->free(a->ctx, ptr, size ? size : 1);
}

bool cb_list_grow(const cubed_allocator *a, void *list, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) return true;
    const size_t more = *cap ? 2 * *cap : 32;
    void *was;
    memcpy(&was, list, sizeof was);
    void *wider = cb_resize(a, was, *cap * size, more * size);
    if (!wider) return false;
    memcpy(list, &wider, sizeof wider);
    *cap = more;
    return true;
}

/* --- Zones: a list of blocks, each twice as large as the previous one, up to a limit. ------------ */

#define ZONE_ALIGN   16
#define ZONE_FIRST   256
#define ZONE_LARGEST ((size_t)32 << 10)

typedef struct zone_block {
    struct zone_block *next;
    size_t size; /* size of the whole block */
} zone_block;

struct cb_zone {
    const cubed_allocator *alloc;
    zone_block *blocks;
    char *at, *end;
    size_t next_size;
    size_t bytes; /* size of all blocks and this struct */
    bool failed;
};

static const size_t block_head = (sizeof(zone_block) + ZONE_ALIGN - 1) & ~(size_t)(ZONE_ALIGN - 1);

cubed_status cb_zone_new(const cubed_allocator *a, cb_zone **out, cubed_error *err)
{
    cb_zone *z = cb_alloc_zero(a, sizeof *z);
    if (!z) return cb_fail(err, CUBED_E_NOMEM, "no memory for metadata");
    z->alloc = a;
    z->next_size = ZONE_FIRST;
    z->bytes = sizeof *z;
    *out = z;
    return CUBED_OK;
}

void cb_zone_free(cb_zone *z)
{
    if (!z) return;
    for (zone_block *b = z->blocks, *next; b; b = next) {
        next = b->next;
        cb_free(z->alloc, b, b->size);
    }
    cb_free(z->alloc, z, sizeof *z);
}

static bool add_block(cb_zone *z, size_t wanted)
{
    size_t size = cb_max_size(z->next_size, wanted);
    if (cb_add_size(size, block_head, &size)) return false;
    zone_block *b = cb_alloc(z->alloc, size);
    if (!b) return false;
    b->next = z->blocks;
    b->size = size;
    z->blocks = b;
    z->at = (char *)b + block_head;
    z->end = (char *)b + size;
    z->bytes += size;
    if (z->next_size < ZONE_LARGEST) z->next_size *= 2;
    return true;
}

void *cb_zone_alloc(cb_zone *z, size_t size)
{
    size_t rounded;
    const bool too_large = cb_add_size(size, ZONE_ALIGN - 1, &rounded);
    rounded &= ~(size_t)(ZONE_ALIGN - 1);
    if (rounded == 0) rounded = ZONE_ALIGN;
    if (too_large || ((size_t)(z->end - z->at) < rounded && !add_block(z, rounded))) {
        z->failed = true;
        return NULL;
    }
    void *p = z->at;
    z->at += rounded;
    memset(p, 0, rounded);
    return p;
}

void *cb_zone_memdup(cb_zone *z, const void *p, size_t size)
{
    void *copy = cb_zone_alloc(z, size);
    if (copy && size) memcpy(copy, p, size);
    return copy;
}

char *cb_zone_strdup(cb_zone *z, const char *s) { return cb_zone_memdup(z, s, strlen(s) + 1); }

bool cb_zone_grow(cb_zone *z, void *list, int n, int *cap, size_t size)
{
    if (n < *cap) return true;
    const int more = *cap ? 2 * *cap : 8;
    void *was, *wider = cb_zone_alloc(z, (size_t)more * size);
    if (!wider) return false;
    memcpy(&was, list, sizeof was);
    if (n) memcpy(wider, was, (size_t)n * size);
    memcpy(list, &wider, sizeof wider);
    *cap = more;
    return true;
}

const cubed_allocator *cb_zone_allocator(const cb_zone *z) { return z->alloc; }

size_t cb_zone_bytes(const cb_zone *z) { return z->bytes; }

bool cb_zone_failed(const cb_zone *z) { return z->failed; }

/* --- Byte strings ---------------------------------------------------------------------------------- */

void cb_buf_init(cb_buf *b, const cubed_allocator *alloc) { *b = (cb_buf){.alloc = alloc}; }

void cb_buf_free(cb_buf *b)
{
    cb_free(b->alloc, b->data, b->cap);
    cb_buf_init(b, b->alloc);
}

/* Ensures that n more bytes and a terminating NUL fit. */
static bool reserve(cb_buf *b, size_t n)
{
    size_t need;
    if (b->failed || cb_add_size(b->size, n, &need) || cb_add_size(need, 1, &need)) {
        b->failed = true;
        return false;
    }
    if (need <= b->cap) return true;
    size_t cap = cb_max_size(need, cb_sat_mul(b->cap, 2));
    if (cap < 64) cap = 64;
    char *p = cb_resize(b->alloc, b->data, b->cap, cap);
    if (!p) {
        b->failed = true;
        return false;
    }
    b->data = p;
    b->cap = cap;
    return true;
}

void cb_buf_put(cb_buf *b, const void *p, size_t n)
{
    if (!reserve(b, n)) return;
    if (n) memcpy(b->data + b->size, p, n);
    b->size += n;
    b->data[b->size] = 0;
}

void cb_buf_puts(cb_buf *b, const char *s) { cb_buf_put(b, s, strlen(s)); }

void cb_buf_printf(cb_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
        return;
    }
    if (!reserve(b, (size_t)n)) return;
    va_start(ap, fmt);
    vsnprintf(b->data + b->size, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->size += (size_t)n;
}
