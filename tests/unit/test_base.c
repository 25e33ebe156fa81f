/* The lowest layer: errors, zones, byte strings under failing allocation, JSON, arenas, budgets, stores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "base/library.h"
#include "base/pool.h"
#include "base/struct_size.h"
#include "base/text.h"
#include "failing_allocator.h"
#include "mem/arena.h"
#include "mem/pages.h"
#include "mem/process.h"
#include "mem/spare.h"
#include "slow.h"
#include "store/services/store_registry.h"
#include "test_path.h"

static void test_errors(void **state)
{
    (void)state;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cb_fail(&err, CUBED_E_ARG, "x is %d", 7), CUBED_E_ARG);
    assert_int_equal(cb_context(&err, CUBED_E_ARG, "task %d", 3), CUBED_E_ARG);
    assert_string_equal(err.message, "task 3: x is 7");
    assert_int_equal(cb_fail_errno(&err, ENOENT, "f"), CUBED_E_NOT_FOUND);
    assert_int_equal(cb_fail_errno(&err, ENOSPC, "f"), CUBED_E_IO);
    assert_int_equal(err.os_errno, ENOSPC);
    assert_int_equal(cb_fail(NULL, CUBED_E_IO, "nobody listens"), CUBED_E_IO);
    for (int s = CUBED_OK; s <= CUBED_E_INTERNAL; s++)
        assert_string_not_equal(cubed_status_str((cubed_status)s), "unknown status");
}

static bool build_something(const cubed_allocator *a)
{
    cb_zone *z;
    cb_buf b;
    bool ok = cb_zone_new(a, &z, NULL) == CUBED_OK;
    if (!ok) return false;
    cb_buf_init(&b, a);
    for (int i = 0; i < 300 && ok; i++) {
        char *s = cb_zone_alloc(z, (size_t)i * 13 % 700);
        ok = s != NULL;
        if (ok && i * 13 % 700 > 0) s[i * 13 % 700 - 1] = 1;
        cb_buf_printf(&b, "%d,", i);
    }
    ok = ok && !b.failed && b.size > 600 && strncmp(b.data, "0,1,2,", 6) == 0;
    cb_buf_free(&b);
    cb_zone_free(z);
    return ok;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    for (int at = 1; at < 1000; at++) {
        failing c = {.at = at};
        cubed_allocator a = failing_allocator(&c);
        bool ok = build_something(&a);
        assert_int_equal(c.live, 0);
        if (ok) {
            assert_true(c.calls < at && at > 10);
            return;
        }
    }
    fail_msg("never succeeded");
}

static void test_json(void **state)
{
    (void)state;
    static const char text[] = "{\"a\": NaN, \"b\": [-Infinity, 1], \"NaN\": \"x NaN \\\" NaN\"}";
    json_t *doc;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cb_json_parse("t", text, strlen(text), &doc, &err), CUBED_OK);
    assert_string_equal(json_string_value(json_object_get(doc, "a")), "NaN");
    assert_string_equal(json_string_value(json_array_get(json_object_get(doc, "b"), 0)),
                        "-Infinity");
    assert_string_equal(json_string_value(json_object_get(doc, "NaN")), "x NaN \" NaN");
    int64_t list[CUBED_MAX_NDIM], n64;
    int n;
    assert_int_equal(cb_json_get_ints("t", doc, "b", 0, &n, list, &err), CUBED_E_FORMAT);
    assert_int_equal(cb_json_get_int("t", doc, "c", &n64, &err), CUBED_E_FORMAT);
    assert_non_null(strstr(err.message, "\"c\" must be an integer, is missing"));
    json_decref(doc);
    assert_int_equal(cb_json_parse("t", "{\"a\": }", 7, &doc, &err), CUBED_E_FORMAT);
}

/* Every code point is decoded again; nothing else is decoded as one. */
static void test_utf8(void **state)
{
    static const char *const wrong[] = {"\x80",
                                        "\xbf",
                                        "\xc3",
                                        "\xc3(",
                                        "\xc0\xaf",
                                        "\xe0\x80\xaf",
                                        "\xed\xa0\x80",
                                        "\xf0\x80\x80\xaf",
                                        "\xe6\x97",
                                        "\xf4\x90\x80\x80",
                                        "\xf8\x88\x80\x80\x80",
                                        "\xff"};
    (void)state;
    uint32_t code = 0;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        char text[4];
        const size_t n = cb_utf8_put(c, text);
        const bool surrogate = c >= 0xd800 && c < 0xe000;
        assert_int_equal(cb_utf8_take((const unsigned char *)text, n, &code), n);
        assert_int_equal(code, surrogate ? 0xfffd : c);
        assert_int_equal(cb_utf8_take((const unsigned char *)text, n - 1, &code), 0);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(cb_utf8_take((const unsigned char *)wrong[i], strlen(wrong[i]), &code), 0);
}

static void test_arena(void **state)
{
    (void)state;
    cb_arena *ar;
    void *a, *b;
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(cb_arena_new(&cb_system_allocator, (cb_need){256, 100}, &ar, &err), CUBED_OK);
    assert_int_equal(cb_arena_alloc(ar, 1, "a", &a, &err), CUBED_OK);
    size_t mark = cb_arena_mark(ar);
    assert_int_equal(cb_arena_alloc(ar, 192, "b", &b, &err), CUBED_OK);
    assert_int_equal((uintptr_t)b % CB_ARENA_ALIGN, 0);
    memset(b, 1, 192);
    assert_int_equal(cb_arena_alloc(ar, 1, "c", &b, &err), CUBED_E_BUDGET);
    assert_int_equal(cb_arena_charge(ar, 101, "lib", &err), CUBED_E_BUDGET);
    assert_int_equal(cb_arena_charge(ar, 100, "lib", &err), CUBED_OK);
    assert_int_equal(cb_arena_high_water(ar), 356);
    cb_arena_uncharge(ar, 100);
    cb_arena_release(ar, mark);
    cb_arena_reset_high_water(ar);
    assert_int_equal(cb_arena_high_water(ar), 64);
    cb_arena_free(ar);
    assert_int_equal(cb_arena_new(&cb_system_allocator, (cb_need){0, 0}, &ar, &err), CUBED_OK);
    assert_int_equal(cb_arena_alloc(ar, 0, "nothing", &a, &err), CUBED_OK);
    assert_int_equal(cb_arena_alloc(ar, 1, "one", &a, &err), CUBED_E_BUDGET);
    cb_arena_free(ar);
}

static bool is_mapped(void *pages)
{
    unsigned char resident[1];
    return mincore(pages, 1, resident) == 0;
}

/* Begins a run with one arena, and writes all of its memory. Returns the address of the memory. */
static void *begin_run(cb_spare *s, size_t size, cb_arena **out)
{
    void *p;
    cb_spare_begin(s);
    assert_int_equal(cb_spare_take(s, &cb_system_allocator, (cb_need){size, 0}, out, NULL),
                     CUBED_OK);
    assert_int_equal(cb_arena_high_water(*out), 0);
    assert_null((*out)->cancel);
    assert_int_equal(cb_arena_charge(*out, 1, "library", NULL), CUBED_E_BUDGET);
    assert_int_equal(cb_arena_alloc(*out, size, "all", &p, NULL), CUBED_OK);
    memset(p, 1, size);
    return p;
}

static void end_run(cb_spare *s, cb_arena *ar)
{
    cb_spare_give(s, ar);
    cb_spare_end(s);
}

static void test_spare_arena(void **state)
{
    enum { SIZE = 8 << 20 };
    static const size_t others[] = {SIZE / 2, (size_t)2 * SIZE, 100};
    static const cubed_cancel cancel = CUBED_CANCEL_INIT;
    cb_spare s = {.runs = 0};
    cb_arena *a, *b;
    void *first, *second;
    (void)state;
    first = begin_run(&s, SIZE, &a);
    a->cancel = &cancel;
    end_run(&s, a);
    assert_true(is_mapped(first));
    assert_ptr_equal(begin_run(&s, SIZE - CB_ARENA_ALIGN, &a),
                     first); /* the same number of pages */
    end_run(&s, a);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        first = begin_run(&s, SIZE, &a);
        end_run(&s, a);
        assert_true(is_mapped(first));
        cb_spare_begin(&s);
        assert_int_equal(cb_spare_take(&s, &cb_system_allocator, (cb_need){others[i], 0}, &a, NULL),
                         CUBED_OK);
        assert_null(s.arena);
        assert_int_equal(a->cap.arena, others[i]);
        assert_true(a->size >= others[i]);
        end_run(&s, a);
    }
    /* only one arena of a run is kept, and none that is too large */
    first = begin_run(&s, SIZE, &a);
    second = begin_run(&s, SIZE, &b);
    cb_spare_give(&s, a);
    cb_spare_give(&s, b);
    assert_false(is_mapped(first));
    assert_true(is_mapped(second));
    cb_spare_end(&s);
    assert_null(s.arena); /* a run is active */
    assert_false(is_mapped(second));
    cb_spare_end(&s);
    first = begin_run(&s, CB_SPARE_BYTES, &a);
    end_run(&s, a);
    assert_true(is_mapped(first));
    (void)begin_run(&s, CB_SPARE_BYTES + CB_ARENA_ALIGN, &a);
    assert_null(s.arena);
    end_run(&s, a);
    assert_null(s.arena);
    first = begin_run(&s, SIZE, &a);
    end_run(&s, a);
    cb_spare_drop(&s);
    assert_false(is_mapped(first));
}

enum { SPARE_RUNS = 200 };

/* Several threads begin and end runs of one context. */
static void run_often(void *ctx, unsigned index)
{
    cb_spare *s = ctx;
    for (int i = 0; i < SPARE_RUNS; i++) {
        cb_arena *ar = NULL;
        void *p = NULL;
        cb_spare_begin(s);
        if (cb_spare_take(s, &cb_system_allocator, (cb_need){(size_t)4 << 20, 0}, &ar, NULL) !=
                CUBED_OK ||
            cb_arena_alloc(ar, 8, "number", &p, NULL) != CUBED_OK)
            abort();
        *(unsigned *)p = index;
        sched_yield();
        if (*(unsigned *)p != index) abort(); /* two runs have the same arena */
        cb_spare_give(s, ar);
        cb_spare_end(s);
    }
}

static void test_spare_arena_of_concurrent_runs(void **state)
{
    cb_spare s = {.runs = 0};
    cb_pool *pool;
    (void)state;
    assert_int_equal(cb_pool_start(&cb_system_allocator, 4, run_often, NULL, &s, &pool, NULL),
                     CUBED_OK);
    cb_pool_join(pool);
    assert_int_equal(s.runs, 0);
    cb_spare_drop(&s);
}

enum { TAKERS = 4, TAKES = 20000 };

static void take_and_give(void *ctx, unsigned index)
{
    cb_budget *b = ctx;
    for (int i = 0; i < TAKES; i++) {
        if (cb_budget_take(b, index + 1)) cb_budget_give(b, index + 1);
    }
}

typedef struct visits {
    atomic_int of[100];
    size_t fails; /* fails from this allocation on */
} visits;

static cubed_status visit_one(void *ctx, size_t i, cubed_error *err)
{
    visits *v = ctx;
    atomic_fetch_add(&v->of[i], 1);
    return i < v->fails ? CUBED_OK : cb_fail(err, CUBED_E_IO, "number %zu", i);
}

static void test_each(void **state)
{
    static const unsigned threads[] = {0, 1, 2, 7, 1000};
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        visits v = {.fails = 100};
        assert_int_equal(cb_pool_each(&cb_system_allocator, 100, threads[k], visit_one, &v, &err),
                         CUBED_OK);
        for (int i = 0; i < 100; i++) assert_int_equal(v.of[i], 1);
        v.fails = 30;
        assert_int_equal(cb_pool_each(&cb_system_allocator, 100, threads[k], visit_one, &v, &err),
                         CUBED_E_IO);
        assert_string_equal(err.message, "number 30");
        for (int i = 0; i < 30; i++) assert_int_equal(v.of[i], 2);
        assert_int_equal(cb_pool_each(&cb_system_allocator, 0, threads[k], visit_one, &v, &err),
                         CUBED_OK);
    }
}

static void test_budget_and_pool(void **state)
{
    (void)state;
    cb_budget b;
    cb_pool *pool;
    cb_budget_init(&b, 8);
    assert_int_equal(
        cb_pool_start(&cb_system_allocator, TAKERS, take_and_give, NULL, &b, &pool, NULL),
        CUBED_OK);
    cb_pool_join(pool);
    assert_int_equal(b.used, 0);
    assert_true(b.high_water <= 8 && b.high_water > 0);
    assert_false(cb_budget_take(&b, 9));
    assert_false(cb_budget_take(&b, SIZE_MAX));
    assert_true(cb_machine_memory() > 1 << 20);
    assert_true(cb_peak_rss() > 1 << 16);
}

/* The list of mappings is read again only if the values read earlier do not answer the question. */
static void test_code_that_was_seen(void **state)
{
    (void)state;
    cb_code_memory code = {.anonymous = 0};
    const uint64_t files = cb_code_above(&code, 1), seen = atomic_load(&code.seen);
    assert_int_equal(files / 1024, seen & UINT32_MAX);
    const uint64_t resident = seen >> 32;
    atomic_store(&code.seen, resident << 32 | 1); /* as if only 1 KiB of code had been seen */
    assert_int_equal(cb_code_above(&code, files / 2), 0);
    atomic_store(&code.seen, resident << 32 | (2 * resident));
    assert_int_equal(cb_code_above(&code, files / 2), 2 * resident * 1024);
    /* as if mapped files were smaller now than before */
    atomic_store(&code.seen, (2 * resident) << 32 | (2 * resident));
    assert_in_range(cb_code_above(&code, files / 2), files / 2, files + (1 << 19));
}

static void test_memory_of_code(void **state)
{
    (void)state;
    const size_t size = (size_t)8 << 20;
    cb_code_memory code = {.anonymous = 0};
    const cubed_resident before = cb_resident_kinds();
    assert_true(before.anonymous > 0 && before.files > 0);
    assert_true(before.anonymous + before.files <= cb_peak_rss());
    assert_int_equal(cb_code_above(&code, UINT64_MAX), 0);
    const uint64_t files = cb_code_above(&code, 1);
    /* Mapped files of libraries and of this program; pages that were written are anonymous. */
    assert_in_range(files, 1 << 16, before.files + (1 << 20));
    char *library = cb_pages_map(size);
    assert_non_null(library);
    memset(library, 1, size);
    cb_code_count(&code, before);
    /* Sanitizers record memory in memory of their own. */
    assert_in_range(cb_code_above(&code, 1), files + size,
                    files + (SLOW > 1 ? 20 : 1) * size + (1 << 20));
    assert_int_equal(cb_code_above(&code, files + 40 * size), 0);
    cb_code_measured(&code, 1000);
    cb_code_measured(&code, 999); /* the smaller measurement has no effect */
    assert_int_equal(atomic_load(&code.measured), 1000);
    cb_code_measured(&code, 100 * size);
    assert_in_range(cb_code_above(&code, 99 * size), 100 * size, 100 * size);
    cb_pages_unmap(library, size);
}

static void test_keys(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a/."};
    char key[16];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(cb_key_check(bad[i], NULL), CUBED_E_ARG);
    assert_int_equal(cb_key_check("a/b.c/..d", NULL), CUBED_OK);
    assert_int_equal(cb_key_join(key, sizeof key, "a", "b/c", NULL), CUBED_OK);
    assert_string_equal(key, "a/b/c");
    assert_int_equal(cb_key_join(key, sizeof key, "", "zarr.json", NULL), CUBED_OK);
    assert_int_equal(cb_key_join(key, sizeof key, "0123456789", "01234", NULL), CUBED_E_ARG);
    assert_int_equal(cb_key_join(key, sizeof key, "..", "a", NULL), CUBED_E_ARG);
}

static cubed_status count_key(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    size_t *n = ctx;
    (void)err;
    *n += size + (strstr(key, "tmp") ? 1000 : 0);
    return CUBED_OK;
}

static void use_store(cubed_store *s)
{
    char buf[8];
    size_t got = 0, listed = 0;
    uint64_t size;
    bool there;
    assert_int_equal(cb_store_get(s, "a/x", 0, buf, 8, &got, NULL), CUBED_E_NOT_FOUND);
    assert_int_equal(cb_store_put(s, "a/x", "12345", 5, NULL), CUBED_OK);
    assert_int_equal(cb_store_put(s, "a/x", "abc", 3, NULL), CUBED_OK);
    assert_int_equal(cb_store_put(s, "a/b/y", "", 0, NULL), CUBED_OK);
    assert_int_equal(cb_store_put(s, "az", "1", 1, NULL), CUBED_OK);
    assert_int_equal(cb_store_get(s, "a/x", 1, buf, 8, &got, NULL), CUBED_OK);
    assert_int_equal(got, 2);
    assert_memory_equal(buf, "bc", 2);
    assert_int_equal(cb_store_get(s, "a/x", 9, buf, 8, &got, NULL), CUBED_OK);
    assert_int_equal(got, 0);
    assert_int_equal(cb_store_size(s, "a/x", &size, NULL), CUBED_OK);
    assert_int_equal(size, 3);
    assert_int_not_equal(cb_store_size(s, "a", &size, NULL), CUBED_OK);
    assert_int_equal(cb_store_list(s, "a", count_key, &listed, NULL), CUBED_OK);
    assert_int_equal(listed, 3); /* excludes "az" and temporary files */
    assert_int_equal(cb_store_clear(s, "a", NULL), CUBED_OK);
    assert_int_equal(cb_store_exists(s, "a/x", &there, NULL), CUBED_OK);
    assert_false(there);
    assert_int_equal(cb_store_del(s, "a/x", NULL), CUBED_OK);
    assert_int_equal(cb_store_exists(s, "az", &there, NULL), CUBED_OK);
    assert_true(there);
    assert_int_equal(cb_store_clear(s, "", NULL), CUBED_OK);
    assert_int_equal(cb_store_put(s, "../x", "1", 1, NULL), CUBED_E_ARG);
}

static void test_stores(void **state)
{
    (void)state;
    cubed_store *s;
    char dir[64];
    assert_int_equal(cb_store_open_memory(&cb_system_allocator, "m", &s, NULL), CUBED_OK);
    use_store(s);
    cb_store_close(s);
    assert_non_null(mkdtemp(test_path(dir, sizeof dir, "cubed-test-XXXXXX")));
    for (int durable = 0; durable < 2; durable++) {
        assert_int_equal(cb_store_open_local(&cb_system_allocator, dir, durable, &s, NULL),
                         CUBED_OK);
        use_store(s);
        cb_store_close(s);
    }
    assert_int_equal(rmdir(dir), 0); /* succeeds because clearing removed all subdirectories */
    cb_stores stores;
    cb_stores_init(&stores, &cb_system_allocator);
    assert_int_equal(cb_store_open(&stores, "s9://b/x", false, &s, NULL), CUBED_E_UNSUPPORTED);
    cb_stores_free(&stores);
}

static void test_libraries(void **state)
{
    (void)state;
    double (*square_root)(double) = NULL;
    char missing[64] = "";
    void *none = missing;
    const cb_library_function functions[] = {{"sqrt", &square_root}, {"no_such", &none}};
    static const char *const needs[] = {"no_such_either", NULL};
    assert_true(cb_library_load("libm.so.6", functions, 1, needs, missing, sizeof missing));
    assert_string_equal(missing, "");
    assert_true(square_root(9) == 3);
    assert_false(cb_library_load("libm.so.6", functions, 2, needs, missing, sizeof missing));
    assert_string_equal(missing, "it has no no_such");
    assert_null(none);
    assert_false(cb_library_load("libno-such.so.6", functions, 2, needs, missing, sizeof missing));
    assert_non_null(strstr(missing, "libno-such.so.6"));
    assert_null(square_root);
}

/* An option structure in two releases; the second one has an additional member. */
typedef struct old_options {
    size_t struct_size;
    int64_t depth;
} old_options;
typedef struct new_options {
    size_t struct_size;
    int64_t depth;
    double scale;
} new_options;

static void test_options_that_have_grown(void **state)
{
    const old_options old = {sizeof old, 7};
    new_options o = {sizeof o, 1, 2.5}, wrong = {0, 9, 9};
    const size_t sizes[] = {0, 1, sizeof old - 1, sizeof o + 1, SIZE_MAX};
    cubed_error err = CUBED_ERROR_INIT;
    (void)state;
    assert_int_equal(cb_options_take("f", NULL, &o, sizeof o, sizeof old, &err), CUBED_OK);
    assert_true(o.struct_size == sizeof o && o.depth == 1 && o.scale == 2.5);
    assert_int_equal(cb_options_take("f", &old, &o, sizeof o, sizeof old, &err), CUBED_OK);
    assert_true(o.struct_size == sizeof o && o.depth == 7 && o.scale == 2.5);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        wrong.struct_size = sizes[i];
        assert_int_equal(cb_options_take("f", &wrong, &o, sizeof o, sizeof old, &err), CUBED_E_ARG);
        assert_non_null(strstr(err.message, "f: options.struct_size is "));
        assert_non_null(strstr(err.message, ", expected 24: set the options with"));
        assert_true(o.struct_size == sizeof o && o.depth == 7 && o.scale == 2.5);
    }
    assert_int_equal(CB_OPTIONS_TAKE("f", (const void *)&old, &o, &err), CUBED_E_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_spare_arena),
        cmocka_unit_test(test_spare_arena_of_concurrent_runs),
        cmocka_unit_test(test_budget_and_pool),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_memory_of_code),
        cmocka_unit_test(test_code_that_was_seen),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_stores),
        cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_options_that_have_grown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
