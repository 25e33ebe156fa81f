/* The cache of decoded chunks: its contents, the order of eviction, and waits for entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "chunks/cache.h"

/* ENTRY: size of an entry for SIZE bytes with its header, rounded up */
enum { SIZE = 1000, ENTRY = 1152 };

static cb_cache_key chunk(int64_t number) { return (cb_cache_key){3, CB_CACHE_CHUNK, number}; }

static cb_cache_key shard(int64_t number) { return (cb_cache_key){3, CB_CACHE_INDEX, number}; }

/* Loads an entry filled with `value`, or finds it; `reads` is as in the header. */
static cb_cache_found hold(cb_cache *c, cb_cache_key key, int value, size_t reads,
                           cb_cache_entry **entry)
{
    cb_cache_found found = cb_cache_pin(c, key, SIZE, reads, entry);
    if (found == CB_CACHE_FULL) {
        assert_null(*entry);
        return found;
    }
    unsigned char *data = cb_cache_data(*entry);
    if (found == CB_CACHE_FILL) {
        memset(data, value, SIZE);
        cb_cache_filled(c, *entry, true);
    }
    for (size_t i = 0; i < SIZE; i++) assert_int_equal(data[i], value);
    return found;
}

static cb_cache_found get_of(cb_cache *c, cb_cache_key key, int value, size_t reads)
{
    cb_cache_entry *entry;
    cb_cache_found found = hold(c, key, value, reads, &entry);
    if (entry) cb_cache_unpin(c, entry);
    return found;
}

static cb_cache_found get(cb_cache *c, cb_cache_key key, int value)
{
    return get_of(c, key, value, SIZE_MAX);
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
    assert_int_equal(get(c, chunk(3), 3), CB_CACHE_FILL); /* replaces 1 */
    assert_int_equal(get(c, chunk(0), 0), CB_CACHE_HIT);
    assert_int_equal(get(c, chunk(2), 2), CB_CACHE_HIT);
    assert_int_equal(get(c, chunk(1), 1), CB_CACHE_FILL); /* replaces 3 */
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
    /* a chunk and an index with the same number are different entries */
    assert_int_equal(get(c, chunk(0), 0), CB_CACHE_FILL);
    assert_int_equal(get(c, chunk(1), 1), CB_CACHE_FILL);
    assert_int_equal(get(c, shard(0), 10), CB_CACHE_HIT);
    assert_int_equal(get(c, shard(1), 11), CB_CACHE_FILL);
    /* the cache has only indices now, which are not evicted for chunks */
    assert_int_equal(get(c, chunk(2), 2), CB_CACHE_FULL);
    assert_int_equal(get(c, shard(2), 12), CB_CACHE_FILL);
    assert_int_equal(get(c, shard(1), 11), CB_CACHE_HIT);
    assert_int_equal(get(c, shard(0), 10), CB_CACHE_FILL);
    cb_cache_free(c);
}

static void test_memory_is_shared(void **state)
{
    cb_budget shared;
    cb_cache_entry *entry;
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
    assert_int_equal(cb_cache_pin(c, chunk(3), 100000, SIZE_MAX, &entry), CB_CACHE_FULL);
    cb_cache_free(c);
    assert_int_equal(shared.used, 0);
}

static void test_large_things_have_pages(void **state)
{
    enum { LARGE = 200000 };
    cb_budget shared;
    cb_cache_entry *entry;
    (void)state;
    cb_budget_init(&shared, SIZE_MAX);
    cb_cache *c = cb_cache_new(&cb_system_allocator, (size_t)1 << 19, &shared);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(cb_cache_pin(c, chunk(i), LARGE, SIZE_MAX, &entry), CB_CACHE_FILL);
        char *data = cb_cache_data(entry);
        assert_int_equal((uintptr_t)data % 64, 0);
        data[LARGE - 1] = (char)i;
        cb_cache_filled(c, entry, true);
        cb_cache_unpin(c, entry);
        assert_int_equal(cb_cache_pin(c, chunk(i), LARGE, SIZE_MAX, &entry), CB_CACHE_HIT);
        assert_int_equal(((char *)cb_cache_data(entry))[LARGE - 1], i);
        cb_cache_unpin(c, entry);
    }
    assert_int_equal(cb_cache_used(c)->used, 2 * cb_pages_round(LARGE + 256));
    cb_cache_free(c);
}

/* Entries without further reads are evicted first, even if others were used longer ago. */
static void test_unused_things_go_first(void **state)
{
    cb_budget shared;
    cb_cache_entry *entry;
    (void)state;
    cb_budget_init(&shared, SIZE_MAX);
    cb_cache *c = cb_cache_new(&cb_system_allocator, (size_t)9 * ENTRY, &shared);
    assert_int_equal(get(c, chunk(9), 9), CB_CACHE_FILL);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(get_of(c, chunk(i), i, 3), CB_CACHE_FILL);
        assert_int_equal(get_of(c, chunk(i), i, 3), CB_CACHE_HIT);
        cb_cache_pass(c, chunk(i));
    }
    assert_int_equal(cb_cache_used(c)->high_water, 2 * ENTRY);
    /* more reads than planned are allowed */
    assert_int_equal(get_of(c, chunk(3), 3, 3), CB_CACHE_HIT);
    assert_int_equal(hold(c, chunk(3), 3, 3, &entry), CB_CACHE_HIT);
    assert_int_equal(get(c, chunk(4), 4), CB_CACHE_FILL); /* fits in addition to the pinned entry */
    assert_int_equal(cb_cache_used(c)->used, 3 * ENTRY);
    cb_cache_unpin(c, entry);
    assert_int_equal(get(c, chunk(5), 5), CB_CACHE_FILL);
    assert_int_equal(cb_cache_used(c)->used, 3 * ENTRY);
    assert_int_equal(get(c, chunk(9), 9), CB_CACHE_HIT);
    cb_cache_pass(c, chunk(77)); /* is not in the cache */
    cb_cache_free(c);
    assert_int_equal(shared.used, 0);
}

static void *evict(void *cache) { return cb_cache_evict(cache) ? cache : NULL; }

/* A pinned entry stays; a thread that needs its memory waits. */
static void test_held_things_stay(void **state)
{
    cb_budget shared;
    cb_cache_entry *one, *again, *other;
    pthread_t thread;
    void *evicted;
    (void)state;
    cb_budget_init(&shared, SIZE_MAX);
    cb_cache *c = cb_cache_new(&cb_system_allocator, ENTRY, &shared);
    assert_int_equal(hold(c, chunk(0), 0, SIZE_MAX, &one), CB_CACHE_FILL);
    assert_int_equal(hold(c, chunk(0), 0, SIZE_MAX, &again), CB_CACHE_HIT);
    assert_ptr_equal(one, again);
    assert_int_equal(hold(c, chunk(1), 1, SIZE_MAX, &other), CB_CACHE_FULL);
    assert_int_equal(pthread_create(&thread, NULL, evict, c), 0);
    cb_cache_unpin(c, one);
    assert_int_equal(shared.used, ENTRY);
    cb_cache_unpin(c, again);
    pthread_join(thread, &evicted);
    assert_ptr_equal(evicted, c);
    assert_int_equal(shared.used, 0);
    assert_false(cb_cache_evict(c));
    cb_cache_free(c);
}

static void *wait_for_it(void *cache) { return (void *)(uintptr_t)get(cache, chunk(7), 9); }

/* Threads that want an entry wait while it is loaded; if loading fails, one of them tries again. */
static void test_it_is_brought_once(void **state)
{
    enum { READERS = 4 };
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        cb_budget shared;
        pthread_t threads[READERS];
        cb_cache_entry *entry;
        int filled = 0;
        cb_budget_init(&shared, SIZE_MAX);
        cb_cache *c = cb_cache_new(&cb_system_allocator, (size_t)4 * ENTRY, &shared);
        assert_int_equal(cb_cache_pin(c, chunk(7), SIZE, SIZE_MAX, &entry), CB_CACHE_FILL);
        memset(cb_cache_data(entry), 9, SIZE);
        for (int i = 0; i < READERS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, wait_for_it, c), 0);
        cb_cache_filled(c, entry, !fails);
        if (!fails) cb_cache_unpin(c, entry);
        for (int i = 0; i < READERS; i++) {
            void *found;
            pthread_join(threads[i], &found);
            filled += (cb_cache_found)(uintptr_t)found == CB_CACHE_FILL;
            assert_int_not_equal((cb_cache_found)(uintptr_t)found, CB_CACHE_FULL);
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
        cmocka_unit_test(test_unused_things_go_first),
        cmocka_unit_test(test_held_things_stay),
        cmocka_unit_test(test_it_is_brought_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
