/* Writes HDF5 files structure by structure: of versions that the library no longer writes, and damaged files. */
#ifndef CB_TESTS_HDF5_WRITER_H
#define CB_TESTS_HDF5_WRITER_H

#include <assert.h>
#include <string.h>

#include "base/le.h"

#define H5_NOWHERE UINT64_MAX

enum { H5_CAP = 1 << 15, H5_MESSAGE_CAP = 512 };

/* Types of messages. */
enum {
    H5_SPACE = 1,
    H5_TYPE = 3,
    H5_OLD_FILL = 4,
    H5_FILL = 5,
    H5_LINK = 6,
    H5_EXTERNAL = 7,
    H5_LAYOUT = 8,
    H5_FILTERS = 11,
    H5_ATTRIBUTE = 12,
    H5_CONTINUATION = 16
};

typedef struct h5_file {
    uint8_t at[H5_CAP];
    size_t n;
} h5_file;

typedef struct h5_message {
    int type;
    uint8_t flags, at[H5_MESSAGE_CAP];
    size_t n;
} h5_message;

static inline uint64_t h5_put(h5_file *f, const void *bytes, size_t n)
{
    const uint64_t at = f->n;
    assert(n <= H5_CAP - f->n);
    memcpy(f->at + at, bytes, n);
    f->n += n;
    return at;
}

static inline void h5_put_number(h5_file *f, uint64_t v, int size)
{
    uint8_t b[8];
    cb_le_put(b, v, size);
    (void)h5_put(f, b, (size_t)size);
}

static inline void h5_add(h5_message *m, uint64_t v, int size)
{
    assert((size_t)size <= H5_MESSAGE_CAP - m->n);
    cb_le_put(m->at + m->n, v, size);
    m->n += (size_t)size;
}

static inline void h5_add_bytes(h5_message *m, const void *bytes, size_t n)
{
    assert(n <= H5_MESSAGE_CAP - m->n);
    memcpy(m->at + m->n, bytes, n);
    m->n += n;
}

/* A superblock of version 2. The address of the root is set later. */
static inline void h5_begin(h5_file *f)
{
    f->n = 0;
    (void)h5_put(f, "\x89HDF\r\n\x1a\n\2\10\10", 12);
    h5_put_number(f, 0, 8);
    h5_put_number(f, H5_NOWHERE, 8);
    h5_put_number(f, 0, 8); /* the end of the file */
    h5_put_number(f, 0, 8);
    h5_put_number(f, 0, 8); /* a checksum, and four bytes */
}

/* Writes an object header of version 1, and returns its address. */
static inline uint64_t h5_object(h5_file *f, const h5_message *list, int n)
{
    size_t size = 0;
    for (int i = 0; i < n; i++) size += 8 + list[i].n;
    const uint64_t at = h5_put(f, "\1", 2);
    h5_put_number(f, (uint64_t)n, 2);
    h5_put_number(f, 1, 4);
    h5_put_number(f, size, 8);
    for (int i = 0; i < n; i++) {
        h5_put_number(f, (uint64_t)list[i].type, 2);
        h5_put_number(f, list[i].n, 2);
        h5_put_number(f, list[i].flags, 4);
        (void)h5_put(f, list[i].at, list[i].n);
    }
    return at;
}

static inline h5_message h5_link(const char *name, uint64_t address)
{
    h5_message m = {.type = H5_LINK};
    h5_add(&m, 1, 2);
    h5_add(&m, strlen(name), 1);
    h5_add_bytes(&m, name, strlen(name));
    h5_add(&m, address, 8);
    return m;
}

/* Writes the root: a group with one object. */
static inline void h5_end(h5_file *f, const char *name, uint64_t address)
{
    const h5_message link = h5_link(name, address);
    cb_le_put(f->at + 36, h5_object(f, &link, 1), 8);
    cb_le_put(f->at + 28, f->n, 8);
}

static inline h5_message h5_space(int ndim, const uint64_t *shape)
{
    h5_message m = {.type = H5_SPACE};
    h5_add(&m, 1, 1);
    h5_add(&m, (uint64_t)ndim, 7);
    for (int d = 0; d < ndim; d++) h5_add(&m, shape[d], 8);
    return m;
}

static inline h5_message h5_vector(uint64_t n) { return h5_space(1, &n); }

/* The eight bytes at the start of each type, version 1. */
static inline h5_message h5_type(int class, uint64_t bits, uint64_t size)
{
    h5_message m = {.type = H5_TYPE};
    h5_add(&m, 0x10 | (uint64_t) class, 1);
    h5_add(&m, bits, 3);
    h5_add(&m, size, 4);
    return m;
}

/* Signed, little-endian. */
static inline h5_message h5_integer(uint64_t size)
{
    h5_message m = h5_type(0, 8, size);
    h5_add(&m, 0, 2);
    h5_add(&m, 8 * size, 2);
    return m;
}

static inline h5_message h5_float(uint64_t size, uint64_t exponent, uint64_t mantissa)
{
    h5_message m = h5_type(1, 0x20 | (8 * size - 1) << 8, size);
    h5_add(&m, 0, 2);
    h5_add(&m, 8 * size, 2);
    h5_add(&m, mantissa, 1);
    h5_add(&m, exponent, 2);
    h5_add(&m, mantissa, 1);
    h5_add(&m, ((uint64_t)1 << (exponent - 1)) - 1, 4);
    return m;
}

/* A variable-length type, in the global heap. */
static inline h5_message h5_long_text(void)
{
    h5_message m = h5_type(9, 1, 16);
    const h5_message of = h5_type(3, 0, 1);
    h5_add_bytes(&m, of.at, of.n);
    return m;
}

/* A layout with contiguous elements, version 3. */
static inline h5_message h5_contiguous(uint64_t address, uint64_t bytes)
{
    h5_message m = {.type = H5_LAYOUT};
    h5_add(&m, 3, 1);
    h5_add(&m, 1, 1);
    h5_add(&m, address, 8);
    h5_add(&m, bytes, 8);
    return m;
}

/* A fill value of version 2, always defined. */
static inline h5_message h5_fill(const void *bytes, size_t n)
{
    h5_message m = {.type = H5_FILL};
    h5_add(&m, 0x020102, 3);
    h5_add(&m, 1, 1);
    h5_add(&m, n, 4);
    h5_add_bytes(&m, bytes, n);
    return m;
}

/* An attribute with one element, version 3. */
static inline h5_message h5_attribute(const char *name, const h5_message *type,
                                      const h5_message *space, const void *value, size_t size)
{
    h5_message m = {.type = H5_ATTRIBUTE};
    h5_add(&m, 3, 1);
    h5_add(&m, 0, 1);
    h5_add(&m, strlen(name) + 1, 2);
    h5_add(&m, type->n, 2);
    h5_add(&m, space->n, 2);
    h5_add(&m, 0, 1);
    h5_add_bytes(&m, name, strlen(name) + 1);
    h5_add_bytes(&m, type->at, type->n);
    h5_add_bytes(&m, space->at, space->n);
    h5_add_bytes(&m, value, size);
    return m;
}

/* Writes a collection of the global heap, with strings numbered from 1, and returns its address. */
static inline uint64_t h5_heap(h5_file *f, const char *const *texts, int n)
{
    size_t size = 16;
    for (int i = 0; i < n; i++) size += 16 + (strlen(texts[i]) + 7) / 8 * 8;
    const uint64_t at = h5_put(f, "GCOL\1\0\0", 8);
    h5_put_number(f, size, 8);
    for (int i = 0; i < n; i++) {
        const size_t length = strlen(texts[i]);
        h5_put_number(f, (uint64_t)i + 1, 2);
        h5_put_number(f, 1, 6);
        h5_put_number(f, length, 8);
        (void)h5_put(f, texts[i], length);
        (void)h5_put(f, "\0\0\0\0\0\0\0", (8 - length % 8) % 8);
    }
    return at;
}

/* The reference to one of these strings. */
typedef struct h5_lead {
    uint64_t length, heap, index;
} h5_lead;

static inline uint64_t h5_put_leads(h5_file *f, const h5_lead *list, int n)
{
    const uint64_t at = f->n;
    for (int i = 0; i < n; i++) {
        h5_put_number(f, list[i].length, 4);
        h5_put_number(f, list[i].heap, 8);
        h5_put_number(f, list[i].index, 4);
    }
    return at;
}

#endif
