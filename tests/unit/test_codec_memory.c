/* Compares the memory that c-blosc and pco allocate with the declared memory: this program's malloc counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <blosc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/sanitizers.h"
#include "codec/codec.h"
#ifdef CB_HAVE_PCODEC
#include "codec/pcodec.h"
#endif

#if defined(CB_HAVE_ASAN) || defined(CB_HAVE_TSAN) || defined(CB_HAVE_MSAN) || !defined(__GLIBC__)
#define OWN_MALLOC 0
#else
#define OWN_MALLOC 1
#endif

#if OWN_MALLOC
#include <malloc.h>

/* glibc's own functions, which the functions below replace. */
void *__libc_malloc(size_t n);                 /* NOLINT */
void *__libc_calloc(size_t n, size_t size);    /* NOLINT */
void *__libc_memalign(size_t align, size_t n); /* NOLINT */
void *__libc_realloc(void *p, size_t n);       /* NOLINT */
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

/* While realloc copies, both blocks exist. */
void *realloc(void *p, size_t n)
{
    const size_t before = p ? malloc_usable_size(p) : 0;
    void *to = count(__libc_realloc(p, n));
    if (counter.on && to) counter.now -= before;
    return to;
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

#ifdef CB_HAVE_PCODEC
typedef struct number_type {
    uint8_t number; /* pco's */
    cubed_dtype dtype;
    size_t size;
} number_type;

/* For each case, compares measured memory with the memory that the chain declares. Calls the functions of the codec directly,
 * because the chain itself would allocate that memory. */
static void parse_pcodec(const number_type *t, const char *conf, int64_t n, cb_codec_chain *c)
{
    char text[256];
    json_t *doc;
    cubed_error err = CUBED_ERROR_INIT;
    snprintf(text, sizeof text, "[{\"name\": \"numcodecs.pcodec\", \"configuration\": {%s}}]",
             conf);
    assert_int_equal(cb_json_parse("test", text, strlen(text), &doc, &err), CUBED_OK);
    const cb_codec_array array = {t->size, t->size, 1, &n, NULL, t->dtype, NULL};
    assert_int_equal(cb_codec_chain_parse_v3("test", doc, &array, c, &err), CUBED_OK);
    json_decref(doc);
    cb_codec_chain_fix(c);
}

static void put_number(const number_type *t, int pattern, int64_t i, uint64_t *noise, void *to)
{
    *noise = *noise * UINT64_C(6364136223846793005) + 1442695040888963407U;
    const uint64_t random = *noise >> 20;
    const uint64_t values[] = {*noise, (uint64_t)i, random % 100 * 7919,
                               (random % 64) * (random % 64) << (random >> 38),
                               (uint64_t)i % 5003 * 77};
    const uint64_t x = values[pattern];
    const double real = (double)x * 0.1;
    const float single = (float)real;
    if (t->dtype == CUBED_FLOAT64 && pattern > 0)
        memcpy(to, &real, sizeof real);
    else if (t->dtype == CUBED_FLOAT32 && pattern > 0)
        memcpy(to, &single, sizeof single);
    else
        memcpy(to, &x, t->size); /* copies the lowest bytes of x */
}

static void check_pcodec(const number_type *t, const char *conf, cb_pco_config config, int64_t n,
                         int pattern)
{
    cb_codec_chain c;
    char says[256] = "";
    size_t got = 0;
    uint64_t noise = 1;
    parse_pcodec(t, conf, n, &c);
    const size_t bound = cb_codec_chain_bound(&c), bytes = (size_t)n * t->size;
    char *data = malloc(bytes), *back = malloc(bytes), *encoded = malloc(bound);
    assert_true(data && back && encoded);
    for (int64_t i = 0; i < n; i++) put_number(t, pattern, i, &noise, data + (size_t)i * t->size);
    start_counting();
    int said = cb_pco_encode(t->number, &config, data, (size_t)n, encoded, bound, &got, 0,
                             (cb_pco_says){says, sizeof says});
    const size_t encoding = stop_counting();
    if (said != CB_PCO_DONE) fail_msg("%s: %s", conf, says);
    start_counting();
    said = cb_pco_decode(t->number, encoded, got, back, (size_t)n, 0,
                         (cb_pco_says){says, sizeof says});
    const size_t decoding = stop_counting();
    if (said != CB_PCO_DONE) fail_msg("%s: %s", conf, says);
    assert_memory_equal(data, back, bytes);
    const size_t may_encode = cb_codec_chain_encode_need(&c).library;
    const size_t may_decode = cb_codec_chain_decode_need(&c).library;
    assert_true(encoding > 0 && decoding > 0);
    if (encoding > may_encode || decoding > may_decode)
        fail_msg("%s of %lld numbers of %zu bytes: took %zu and %zu bytes, declared %zu and %zu",
                 conf, (long long)n, t->size, encoding, decoding, may_encode, may_decode);
    free(data);
    free(back);
    free(encoded);
}

static void test_pco_stays_within_its_bound(void **state)
{
    static const number_type types[] = {{7, CUBED_UINT16, 2}, {9, CUBED_FLOAT16, 2},
                                        {1, CUBED_UINT32, 4}, {5, CUBED_FLOAT32, 4},
                                        {2, CUBED_UINT64, 8}, {6, CUBED_FLOAT64, 8}};
    static const struct {
        const char *conf;
        cb_pco_config config;
    } confs[] = {
        {"\"level\": 8", {8, 262144, false, CB_PCO_AUTO}},
        {"\"level\": 12, \"delta_spec\": \"try_lookback\"", {12, 262144, false, CB_PCO_LOOKBACK}},
        {"\"level\": 12, \"mode_spec\": \"classic\", \"delta_encoding_order\": 7, "
         "\"delta_spec\": \"try_consecutive\"",
         {12, 262144, true, 7}},
        {"\"delta_spec\": \"none\", \"equal_pages_up_to\": 10", {8, 10, false, 0}},
    };
    static const int64_t sizes[] = {1, 700, 60000};
    (void)state;
    for (int t = 0; t < 6; t++) {
        for (int k = 0; k < 4; k++) {
            for (int s = 0; s < 3; s++) {
                for (int pattern = 0; pattern < 5; pattern++)
                    check_pcodec(&types[t], confs[k].conf, confs[k].config, sizes[s], pattern);
            }
        }
    }
    check_pcodec(&types[5], confs[1].conf, confs[1].config, 300000, 3);
}

/* A bit stream as in pco's format. Numbers of some bits each are appended, the lowest bit first. */
typedef struct packed {
    unsigned char *data;
    size_t bits;
} packed;

static void pack(packed *p, uint64_t number, int bits)
{
    for (int i = 0; i < bits; i++, p->bits++)
        p->data[p->bits / 8] |= (unsigned char)((number >> i & 1) << (p->bits % 8));
}

static void pack_to_byte(packed *p) { p->bits = (p->bits + 7) / 8 * 8; }

/* The maximum that a file may request: three tables of 2**14 states and as many bins, two windows of 2**window numbers, and
 * the 2**15 numbers with which each begins. */
static size_t pack_greedy(packed *p, size_t n, int window)
{
    const uint64_t head[] = {'p', 'c', 'o', '!', 3, 2};
    for (int i = 0; i < 6; i++) pack(p, head[i], 8);
    pack(p, 0, 7); /* the header does not state the count of numbers */
    pack_to_byte(p);
    pack(p, 4, 8);
    pack(p, 1, 8);
    pack(p, 2, 8);
    pack(p, n - 1, 24);
    pack(p, 1, 4); /* mode: all numbers are multiples of a base */
    pack(p, 1, 64);
    pack(p, 2, 4); /* look back */
    pack(p, (uint64_t)window - 1, 5);
    pack(p, 15, 4);
    pack(p, 1, 1);
    for (int stream = 0; stream < 3; stream++) {
        pack(p, 14, 4);
        pack(p, 1 << 14, 15);
        for (int i = 0; i < 1 << 14; i++) {
            pack(p, 0, 14);
            pack(p, 1, stream == 0 ? 32 : 64);
            pack(p, 0, stream == 0 ? 6 : 7);
        }
    }
    pack_to_byte(p);
    for (int stream = 0; stream < 3; stream++) {
        for (int i = 0; stream > 0 && i < 1 << 15; i++) pack(p, 5, 64);
        pack(p, 0, 56);
    }
    pack_to_byte(p);
    p->bits += n * 3 * 14; /* all states are zeros */
    pack_to_byte(p);
    pack(p, 0, 8);
    return p->bits / 8;
}

static void test_pco_believes_no_greedy_file(void **state)
{
    static const number_type t = {2, CUBED_UINT64, 8};
    enum { N = 40000, ROOM = 1 << 21 };
    char says[256] = "";
    cb_codec_chain c;
    (void)state;
    parse_pcodec(&t, "", N, &c);
    const size_t may = cb_codec_chain_decode_need(&c).library;
    unsigned char *encoded = calloc(1, ROOM);
    uint64_t *back = malloc(N * sizeof *back);
    assert_true(encoded && back);
    size_t size = pack_greedy(&(packed){encoded, 0}, N, 15);
    assert_true(size < ROOM);
    start_counting();
    int said = cb_pco_decode(2, encoded, size, back, N, 0, (cb_pco_says){says, sizeof says});
    size_t took = stop_counting();
    if (said != CB_PCO_DONE) fail_msg("%s", says);
    if (took > may || took < may / 3) fail_msg("took %zu bytes, declared %zu", took, may);
    /* These headers claim too much, but need no further bytes. */
    memset(encoded, 0, ROOM);
    size = pack_greedy(&(packed){encoded, 0}, N, 16);
    said = cb_pco_decode(2, encoded, size, back, N, 0, (cb_pco_says){says, sizeof says});
    assert_int_equal(said, CB_PCO_REFUSED);
    assert_string_equal(says, "a window of 2**16 numbers, expected at most 2**15");
    said = cb_pco_decode(2, encoded, size, back, N - 1, 0, (cb_pco_says){says, sizeof says});
    assert_int_equal(said, CB_PCO_REFUSED);
    assert_string_equal(says, "40000 numbers more, expected 39999");
    /* `bits` is the position of the mode, which follows the type and the length of the chunk */
    packed p = {encoded, 104};
    memset(encoded + 13, 0, 9);
    pack(&p, 4, 4);
    pack(&p, N + 1, 25);
    start_counting();
    said = cb_pco_decode(2, encoded, size, back, N, 0, (cb_pco_says){says, sizeof says});
    took = stop_counting();
    assert_int_equal(said, CB_PCO_REFUSED);
    assert_string_equal(says, "40001 different values of 40000 numbers");
    assert_true(took < 4096);
    free(encoded);
    free(back);
}
#endif
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
#if OWN_MALLOC && defined(CB_HAVE_PCODEC)
        cmocka_unit_test(test_pco_stays_within_its_bound),
        cmocka_unit_test(test_pco_believes_no_greedy_file),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
