/* Stores in memory with small arrays: for tests. */
#ifndef CB_TESTS_ZARR_TEST_H
#define CB_TESTS_ZARR_TEST_H

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "zarr/zarr_pkg.h"

static inline cubed_store *memory(void)
{
    cubed_store *s;
    assert_int_equal(cb_store_open_memory(&cb_system_allocator, "memory://t", &s, NULL), CUBED_OK);
    return s;
}

static inline void put(cubed_store *s, const char *key, const char *text)
{
    assert_int_equal(cb_store_put(s, key, text, strlen(text), NULL), CUBED_OK);
}

static inline bool exists(cubed_store *s, const char *key)
{
    bool there;
    assert_int_equal(cb_store_exists(s, key, &there, NULL), CUBED_OK);
    return there;
}

static inline char *text_of(cubed_store *s, const char *key)
{
    cb_buf b;
    cb_buf_init(&b, &cb_system_allocator);
    assert_int_equal(cb_store_read_all(s, key, 1 << 20, &b, NULL), CUBED_OK);
    char *text = strdup(b.data ? b.data : "");
    cb_buf_free(&b);
    return text;
}

static inline bool says(cubed_store *s, const char *key, const char *part)
{
    char *text = text_of(s, key);
    bool found = strstr(text, part) != NULL;
    free(text);
    return found;
}

static inline cb_arena *arena(cb_need need)
{
    cb_arena *a;
    assert_int_equal(cb_arena_new(&cb_system_allocator, need, &a, NULL), CUBED_OK);
    return a;
}

static inline void make_meta(cb_zarr_meta *m, int format, const char *codecs)
{
    cubed_error err = CUBED_ERROR_INIT;
    *m = (cb_zarr_meta){
        .format = format, .dtype = CUBED_FLOAT64, .ndim = 2, .shape = {10, 7}, .chunk = {4, 3}};
    if (cb_zarr_meta_defaults(m, NULL, codecs, &err) != CUBED_OK) fail_msg("%s", err.message);
    cb_codec_chain_fix(&m->codecs);
}

static inline cb_zarr_array *make_array(cubed_store *s, const char *path, int format,
                                        const char *codecs)
{
    cb_zarr_meta m;
    cb_zarr_array *z;
    cubed_error err = CUBED_ERROR_INIT;
    make_meta(&m, format, codecs);
    if (cb_zarr_prepare(s, path, &m, &z, &err) != CUBED_OK || cb_zarr_commit(z, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    return z;
}

typedef struct seen {
    cb_buf text;
    int stop_after;
} seen;

static inline cubed_status note(void *ctx, const cb_zarr_entry *e, cubed_error *err)
{
    seen *s = ctx;
    cb_buf_printf(&s->text, "%s:%c%d ", e->path, e->is_array ? 'a' : 'g', e->format);
    if (s->stop_after && --s->stop_after == 0) return cb_fail(err, CUBED_E_CANCELLED, "enough");
    return CUBED_OK;
}

#endif
