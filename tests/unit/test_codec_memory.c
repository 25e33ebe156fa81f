/* What c-blosc allocates by itself against what is declared for it: this program's malloc counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first. */
#include <blosc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/json.h"
#include "codec/codec.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_MALLOC 0
#endif
#endif
#if !defined(OWN_MALLOC) && !defined(__GLIBC__)
#define OWN_MALLOC 0
#elif !defined(OWN_MALLOC)
#define OWN_MALLOC 1
#endif

#if OWN_MALLOC
#include <malloc.h>

/* glibc's own functions behind the ones that are replaced here. */
void *__libc_malloc(size_t n);                 /* NOLINT */
void *__libc_calloc(size_t n, size_t size);    /* NOLINT */
void *__libc_memalign(size_t align, size_t n); /* NOLINT */
void __libc_free(void *p);                     /* NOLINT */

static struct {
    int on;
    size_t now, peak;
} counter;

static void *count(void *p)
{
    if (counter.on && p) {
        counter.now += malloc_usable_size(p);
        if (counter.now > counter.peak) counter.peak = counter.now;
    }
    return p;
}

void *malloc(size_t n) { return count(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) { return count(__libc_calloc(n, size)); }
int posix_memalign(void **out, size_t align, size_t n)
{
    *out = count(__libc_memalign(align, n));
    return *out ? 0 : 12;
}
void free(void *p)
{
    if (counter.on && p) counter.now -= malloc_usable_size(p);
    __libc_free(p);
}

static void start_counting(void)
{
    counter.now = counter.peak = 0;
    counter.on = 1;
}

static size_t stop_counting(void)
{
    counter.on = 0;
    return counter.peak;
}

static void check_chain(const char *inner, int level, const char *shuffle, int blocksize,
                        int64_t elements)
{
    char text[512];
    cb_codec_chain c;
    cubed_error err = CUBED_ERROR_INIT;
    json_t *doc;
    cb_arena *enc, *dec;
    size_t got;
    snprintf(text, sizeof text,
             "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": "
             "\"blosc\", \"configuration\": {\"cname\": \"%s\", \"clevel\": %d, \"shuffle\": "
             "\"%s\", \"blocksize\": %d}}]",
             inner, level, shuffle, blocksize);
    assert_int_equal(cb_json_parse("test", text, strlen(text), &doc, &err), CUBED_OK);
    assert_int_equal(
        cb_codec_chain_parse_v3("test", doc,
                                &(cb_codec_array){8, 8, 1, &elements, NULL, CUBED_FLOAT64, NULL},
                                &c, &err),
        CUBED_OK);
    json_decref(doc);
    cb_codec_chain_fix(&c);
    cb_need enc_need = cb_codec_chain_encode_need(&c), dec_need = cb_codec_chain_decode_need(&c);
    uint64_t *data = malloc(c.chunk_bytes), *back = malloc(c.chunk_bytes);
    void *bytes = malloc(cb_codec_chain_bound(&c));
    for (int64_t i = 0; i < elements; i++) data[i] = (uint64_t)(i * i >> 7) ^ (uint64_t)(i % 5);
    assert_int_equal(cb_arena_new(&cb_system_allocator, enc_need, &enc, &err), CUBED_OK);
    assert_int_equal(cb_arena_new(&cb_system_allocator, dec_need, &dec, &err), CUBED_OK);
    start_counting();
    cubed_status st = cb_codec_chain_encode(&c, data, NULL, bytes, &got, enc, &err);
    size_t encoding = stop_counting();
    assert_int_equal(st, CUBED_OK);
    start_counting();
    st = cb_codec_chain_decode(&c, bytes, got, back, dec, &err);
    size_t decoding = stop_counting();
    if (st != CUBED_OK) fail_msg("%s: %s", text, err.message);
    assert_memory_equal(data, back, c.chunk_bytes);
    if (encoding > enc_need.library || decoding > dec_need.library)
        fail_msg("%s: took %zu and %zu bytes, declared %zu and %zu", text, encoding, decoding,
                 enc_need.library, dec_need.library);
    cb_arena_free(enc);
    cb_arena_free(dec);
    free(data);
    free(back);
    free(bytes);
}

static void test_blosc_stays_within_its_bound(void **state)
{
    static const char *const inner[] = {"lz4", "lz4hc", "blosclz", "zlib", "zstd", "snappy"};
    static const char *const shuffles[] = {"noshuffle", "shuffle", "bitshuffle"};
    /* A stated size below the library's smallest, below that of split blocks, and above. */
    static const int blocks[] = {0, 1, 2000, 50000};
    static const int64_t sizes[] = {9, 9000, 150001};
    (void)state;
    for (int i = 0; i < 6; i++) {
        if (blosc_compname_to_compcode(inner[i]) < 0) {
            printf("skipped: this c-blosc has no %s\n", inner[i]);
            continue;
        }
        for (int s = 0; s < 3; s++) {
            for (int level = 1; level <= 9; level += 4) {
                for (int b = 0; b < 4; b++) {
                    for (int k = 0; k < 3; k++)
                        check_chain(inner[i], level, shuffles[s], blocks[b], sizes[k]);
                }
            }
        }
    }
}
#else
static void test_blosc_stays_within_its_bound(void **state)
{
    (void)state;
    printf("skipped: this program counts by a malloc of its own, which a sanitizer replaces\n");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blosc_stays_within_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
