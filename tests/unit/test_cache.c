/* The cache of decoded chunks: what it keeps, what goes first, and who waits for whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "runtime/cache.h"

enum { SIZE = 1000, ENTRY = 1152 }; /* with a header, rounded */

static cb_cache_key chunk(int64_t number) { return (cb_cache_key){3, CB_CACHE_CHUNK, number}; }

static cb_cache_key shard(int64_t number) { return (cb_cache_key){3, CB_CACHE_INDEX, number}; }

/* Gets, or brings, something that is all `value`. */
static cb_cache_found get(cb_cache *c, cb_cache_key key, int value)
{
    unsigned char data[SIZE];
    memset(data, value, sizeof data);
    cb_cache_found found = cb_cache_get(c, key, data, sizeof data);
    if (found == CB_CACHE_FILL) cb_cache_fill(c, key, data);
    for (size_t i = 0; i < sizeof data; i++) assert_int_equal(data[i], value);
    return found;
}

static void test_least_recently_used_goes_first(void **state)
{
    cb_budget shared;
    (void)state;
    cb_budget_init(&shared, SIZE_MAX);
    cb_cache *c = cb_cache_new(&cb_system_allocator, (size_t)3 * ENTRY, &shared);
    assert_non_null(c);
    for (int i = 0; i < 3; i++) assert_int_equal(get(c, chunk(i), i), CB_CACHE_FILL);
    assert_int_equal(get(c, chunk(0), 0), CB_CACHE_HIT);
    assert_int_equal(get(c, chunk(3), 3), CB_CACHE_FILL); /* in place of 1 */
    assert_int_equal(get(c, chunk(0), 0), CB_CACHE_HIT);
    assert_int_equal(get(c, chunk(2), 2), CB_CACHE_HIT);
    assert_int_equal(get(c, chunk(1), 1), CB_CACHE_FILL); /* in place of 3 */
    assert_int_equal(get(c, chunk(3), 3), CB_CACHE_FILL);
    assert_true(cb_cache_used(c)->high_water <= (size_t)3 * ENTRY);
    assert_int_equal(cb_cache_used(c)->used, shared.used);
    cb_cache_free(c);
    assert_int_equal(shared.used, 0);
}

static void test_indices_stay_longer_than_chunks(void **state)
{
    cb_budget shared;
    (void)state;
    cb_budget_init(&shared, SIZE_MAX);
    cb_cache *c = cb_cache_new(&cb_system_allocator, (size_t)2 * ENTRY, &shared);
    assert_int_equal(get(c, shard(0), 10), CB_CACHE_FILL);
    assert_int_equal(get(c, chunk(0), 0), CB_CACHE_FILL); /* the same number, another thing */
    assert_int_equal(get(c, chunk(1), 1), CB_CACHE_FILL);
    assert_int_equal(get(c, shard(0), 10), CB_CACHE_HIT);
    assert_int_equal(get(c, shard(1), 11), CB_CACHE_FILL);
    assert_int_equal(get(c, chunk(2), 2), CB_CACHE_FULL); /* there are indices only */
    assert_int_equal(get(c, shard(2), 12), CB_CACHE_FILL);
    assert_int_equal(get(c, shard(1), 11), CB_CACHE_HIT);
    assert_int_equal(get(c, shard(0), 10), CB_CACHE_FILL);
    cb_cache_free(c);
}

static void test_memory_is_shared(void **state)
{
    cb_budget shared;
    char big[100000];
    (void)state;
    cb_budget_init(&shared, (size_t)2 * ENTRY);
    cb_cache *c = cb_cache_new(&cb_system_allocator, (size_t)9 * ENTRY, &shared);
    assert_int_equal(get(c, chunk(0), 0), CB_CACHE_FILL);
    assert_true(cb_budget_take(&shared, ENTRY));
    assert_int_equal(get(c, chunk(1), 1), CB_CACHE_FILL);
    assert_false(cb_budget_take(&shared, ENTRY));
    assert_true(cb_cache_evict(c));
    assert_true(cb_budget_take(&shared, ENTRY));
    assert_false(cb_cache_evict(c));
    assert_int_equal(get(c, chunk(2), 2), CB_CACHE_FULL);
    cb_budget_give(&shared, (size_t)2 * ENTRY);
    assert_int_equal(cb_cache_get(c, chunk(3), big, sizeof big), CB_CACHE_FULL);
    cb_cache_free(c);
    assert_int_equal(shared.used, 0);
}

static void test_large_things_have_pages(void **state)
{
    enum { LARGE = 200000 };
    cb_budget shared;
    char *data = calloc(2, LARGE);
    (void)state;
    cb_budget_init(&shared, SIZE_MAX);
    cb_cache *c = cb_cache_new(&cb_system_allocator, (size_t)1 << 19, &shared);
    for (int i = 0; i < 9; i++) {
        data[LARGE - 1] = (char)i;
        assert_int_equal(cb_cache_get(c, chunk(i), data + LARGE, LARGE), CB_CACHE_FILL);
        cb_cache_fill(c, chunk(i), data);
        assert_int_equal(cb_cache_get(c, chunk(i), data + LARGE, LARGE), CB_CACHE_HIT);
        assert_int_equal(data[2 * LARGE - 1], i);
    }
    assert_int_equal(cb_cache_used(c)->used, 2 * cb_pages_round(LARGE + 256));
    cb_cache_free(c);
    free(data);
}

typedef struct reader {
    cb_cache *cache;
    cb_cache_found found;
} reader;

static void *wait_for_it(void *arg)
{
    reader *r = arg;
    unsigned char data[SIZE] = {0};
    r->found = cb_cache_get(r->cache, chunk(7), data, sizeof data);
    if (r->found == CB_CACHE_FILL) {
        memset(data, 9, sizeof data);
        cb_cache_fill(r->cache, chunk(7), data);
    }
    assert_int_equal(data[SIZE - 1], 9);
    return NULL;
}

/* Whoever asks while something is brought has it when it is there; if it fails, one of them tries. */
static void test_it_is_brought_once(void **state)
{
    enum { READERS = 4 };
    unsigned char data[SIZE];
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        cb_budget shared;
        pthread_t threads[READERS];
        reader readers[READERS];
        int filled = 0;
        cb_budget_init(&shared, SIZE_MAX);
        cb_cache *c = cb_cache_new(&cb_system_allocator, (size_t)4 * ENTRY, &shared);
        memset(data, 9, sizeof data);
        assert_int_equal(cb_cache_get(c, chunk(7), data, sizeof data), CB_CACHE_FILL);
        for (int i = 0; i < READERS; i++) {
            readers[i].cache = c;
            assert_int_equal(pthread_create(&threads[i], NULL, wait_for_it, &readers[i]), 0);
        }
        cb_cache_fill(c, chunk(7), fails ? NULL : data);
        for (int i = 0; i < READERS; i++) {
            pthread_join(threads[i], NULL);
            filled += readers[i].found == CB_CACHE_FILL;
            assert_int_not_equal(readers[i].found, CB_CACHE_FULL);
        }
        assert_int_equal(filled, fails);
        cb_cache_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least_recently_used_goes_first),
        cmocka_unit_test(test_indices_stay_longer_than_chunks),
        cmocka_unit_test(test_memory_is_shared),
        cmocka_unit_test(test_large_things_have_pages),
        cmocka_unit_test(test_it_is_brought_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
