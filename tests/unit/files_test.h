/* Files whose bytes a test has made, as stores. */
#ifndef CB_TESTS_FILES_TEST_H
#define CB_TESTS_FILES_TEST_H

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/le.h"
#include "base/text.h"
#include "failing_allocator.h"
#include "files/files.h"
#include "store/services/store_registry.h"

static inline void put_bytes(cubed_store *s, const char *key, const void *bytes, size_t n)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (cb_store_put(s, key, bytes, n, &err) != CUBED_OK) fail_msg("%s", err.message);
}

static inline cubed_store *memory_store(const cubed_allocator *a)
{
    cubed_store *s;
    assert_int_equal(cb_store_open_memory(a, "memory://t", &s, NULL), CUBED_OK);
    return s;
}

/* The stores to which files may refer: those in memory. */
static inline int setup_stores(void **state)
{
    cb_stores *s = malloc(sizeof *s);
    if (!s) return -1;
    cb_stores_init(s, &cb_system_allocator);
    *state = s;
    return 0;
}

static inline int teardown_stores(void **state)
{
    cb_stores_free(*state);
    free(*state);
    return 0;
}

static inline cubed_store *open_bytes(cb_stores *stores, const void *bytes, size_t n)
{
    cubed_store *within = memory_store(&cb_system_allocator), *s = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    put_bytes(within, "file", bytes, n);
    if (cb_file_open(stores, within, "file", "memory://t/file", &s, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    return s;
}

static inline void expect_refused(cb_stores *stores, const void *bytes, size_t n,
                                  cubed_status status, const char *part)
{
    cubed_store *within = memory_store(&cb_system_allocator), *s = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    put_bytes(within, "file", bytes, n);
    const cubed_status st = cb_file_open(stores, within, "file", "memory://t/file", &s, &err);
    if (st != status || !strstr(err.message, part))
        fail_msg("status %d, \"%s\"; expected %d, \"%s\"", st, err.message, status, part);
}

static inline void expect_object(cubed_store *s, const char *key, const void *bytes, size_t n)
{
    cubed_error err = CUBED_ERROR_INIT;
    cb_buf b;
    cb_buf_init(&b, &cb_system_allocator);
    if (cb_store_read_all(s, key, 1 << 20, &b, &err) != CUBED_OK) fail_msg("%s", err.message);
    assert_int_equal(b.size, n);
    if (n > 0) assert_memory_equal(b.data, bytes, n);
    cb_buf_free(&b);
}

static inline void expect_failure(cubed_store *s, const char *key, cubed_status status,
                                  const char *part)
{
    cubed_error err = CUBED_ERROR_INIT;
    cb_buf b;
    cb_buf_init(&b, &cb_system_allocator);
    const cubed_status st = cb_store_read_all(s, key, 1 << 20, &b, &err);
    if (st != status || !strstr(err.message, part))
        fail_msg("%s: status %d, \"%s\"; expected %d, \"%s\"", key, st, err.message, status, part);
    cb_buf_free(&b);
}

/* Checks that an object, usually metadata, contains those words. */
static inline void expect_words(cubed_store *s, const char *key, const char *part)
{
    cubed_error err = CUBED_ERROR_INIT;
    cb_buf b;
    cb_buf_init(&b, &cb_system_allocator);
    if (cb_store_read_all(s, key, 1 << 20, &b, &err) != CUBED_OK) fail_msg("%s", err.message);
    if (!strstr(b.data, part)) fail_msg("%s: no %s in %s", key, part, b.data);
    cb_buf_free(&b);
}

typedef struct names {
    int n;
    size_t size;
    char text[4096];
} names;

static inline cubed_status note_name(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    names *x = ctx;
    (void)size;
    (void)err;
    const int n = snprintf(x->text + x->size, sizeof x->text - x->size, "%s ", key);
    if (n > 0 && x->size + (size_t)n < sizeof x->text) x->size += (size_t)n;
    x->n++;
    return CUBED_OK;
}

/* All keys below a prefix, each followed by a space. */
static inline void expect_keys(cubed_store *s, const char *prefix, const char *keys)
{
    names x = {.n = 0};
    cubed_error err = CUBED_ERROR_INIT;
    if (cb_store_list(s, prefix, note_name, &x, &err) != CUBED_OK) fail_msg("%s", err.message);
    assert_string_equal(x.text, keys);
}

/* Decodes the result of zlib.compress and base64.b64encode for a file of `size` bytes. The caller frees it. */
static inline unsigned char *inflated(const char *text, size_t size)
{
    unsigned char *packed = malloc(strlen(text)), *out = malloc(size);
    size_t n = 0;
    uLongf got = (uLongf)size;
    assert_non_null(packed);
    assert_non_null(out);
    assert_true(cb_base64_decode(text, packed, strlen(text), &n));
    assert_int_equal(uncompress(out, &got, packed, (uLong)n), Z_OK);
    assert_int_equal(got, size);
    free(packed);
    return out;
}

/* Opens a file and reads an object while each allocation fails in turn: every failure is reported and leaks nothing. Ends when
 * no allocation fails any more. */
static inline void expect_no_memory_is_said(cb_stores *stores, const void *bytes, size_t n,
                                            const char *key)
{
    bool through = false;
    int said = 0;
    for (long k = 1; !through; k++) {
        failing f = {.at = 0};
        const cubed_allocator a = failing_allocator(&f);
        cubed_store *within = memory_store(&a), *s = NULL;
        cubed_error err = CUBED_ERROR_INIT;
        cb_buf b;
        cb_buf_init(&b, &cb_system_allocator);
        put_bytes(within, "file", bytes, n);
        f.at = f.calls + k;
        cubed_status st = cb_file_open(stores, within, "file", "memory://t/file", &s, &err);
        if (st == CUBED_OK) {
            st = cb_store_read_all(s, key, 1 << 20, &b, &err);
            cb_store_close(s);
        }
        through = f.calls < f.at;
        if (st != CUBED_E_NOMEM && (st != CUBED_OK || !through))
            fail_msg("allocation %ld: status %d, \"%s\"", k, st, err.message);
        if (st == CUBED_E_NOMEM) assert_non_null(strstr(err.message, "memory"));
        said += st == CUBED_E_NOMEM;
        assert_int_equal(f.live, 0);
        cb_buf_free(&b);
    }
    assert_true(said > 5);
}

#endif
