/* Requests: out of order, cancelled, in flight when a store is closed; pages; classes of errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "later_store.h"

enum { KEYS = 40, THREADS = 3 };

static int setup(void **state)
{
    later_store *s = later_new("later");
    s->seed = 1;
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    later_free(*state);
    return 0;
}

static void put_numbers(later_store *s)
{
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof key, "c/%02d", i);
        assert_int_equal(cb_store_put(&s->own.head, key, &i, sizeof i, NULL), CUBED_OK);
    }
}

typedef struct reader {
    later_store *store;
    int wrong, moved;
} reader;

typedef struct job {
    cubed_store_request r;
    char key[16];
    int value;
} job;

/* Requests all keys at once. Each thread has its own queue. */
static void *read_all(void *ctx)
{
    reader *x = ctx;
    job jobs[KEYS] = {0};
    cubed_store_request *requests[KEYS], *done[KEYS];
    cb_store_queue q;
    int n = 0;
    cb_store_queue_init(&q);
    for (int i = 0; i < KEYS; i++) {
        job *j = &jobs[i];
        snprintf(j->key, sizeof j->key, "c/%02d", i);
        j->r = (cubed_store_request){
            .op = CUBED_STORE_GET, .key = j->key, .dst = &j->value, .cap = sizeof j->value};
        requests[i] = &j->r;
    }
    cb_store_submit(&x->store->own.head, &q, requests, KEYS);
    while (n < KEYS) {
        const size_t k = cb_store_poll(&q, -1, done, 5);
        for (size_t i = 0; i < k; i++, n++) {
            const job *j = (job *)done[i];
            x->wrong += j->r.status != CUBED_OK || j->value != (int)(j - jobs) || j->r.got != 4 ||
                        j->r.info.size != 4 || !j->r.info.version.text[0];
            x->moved += j - jobs != n;
        }
        x->wrong += k == 0;
    }
    x->wrong += cb_store_poll(&q, 0, done, KEYS) != 0;
    cb_store_queue_free(&q);
    return NULL;
}

static void test_out_of_order(void **state)
{
    later_store *s = *state;
    pthread_t threads[THREADS];
    reader readers[THREADS];
    put_numbers(s);
    for (int i = 0; i < THREADS; i++) {
        readers[i] = (reader){.store = s};
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(readers[i].wrong, 0);
        assert_true(readers[i].moved > KEYS / 2);
    }
}

static void test_cancelling(void **state)
{
    later_store *s = *state;
    int32_t value[3] = {-1, -1, -1};
    cubed_error err[3] = {CUBED_ERROR_INIT, CUBED_ERROR_INIT, CUBED_ERROR_INIT};
    cubed_store_request r[3], *requests[3], *done[3];
    cb_store_queue q;
    put_numbers(s);
    cb_store_queue_init(&q);
    for (int i = 0; i < 3; i++) {
        r[i] = (cubed_store_request){
            .op = CUBED_STORE_GET, .key = "c/07", .dst = &value[i], .cap = 4, .err = &err[i]};
        requests[i] = &r[i];
    }
    r[1].key = "c/../07";
    later_hold(s, LATER_ANY);
    cb_store_submit(&s->own.head, &q, requests, 3);
    /* An invalid key completes at once, and does not reach the store. */
    assert_int_equal(cb_store_poll(&q, 0, done, 3), 1);
    assert_ptr_equal(done[0], &r[1]);
    assert_int_equal(r[1].status, CUBED_E_ARG);
    assert_int_equal(cb_store_poll(&q, 20, done, 3), 0);
    cb_store_cancel(&s->own.head, &r[2]);
    assert_int_equal(cb_store_poll(&q, -1, done, 3), 1);
    assert_ptr_equal(done[0], &r[2]);
    assert_int_equal(r[2].status, CUBED_E_CANCELLED);
    assert_int_equal(err[2].status, CUBED_E_CANCELLED);
    assert_int_equal(value[2], -1);
    later_hold(s, LATER_NONE);
    assert_int_equal(cb_store_poll(&q, -1, done, 3), 1);
    assert_int_equal(r[0].status, CUBED_OK);
    assert_int_equal(value[0], 7);
    cb_store_cancel(&s->own.head, &r[0]); /* has no effect, because the request is complete */
    cb_store_queue_free(&q);
}

static void test_closing(void **state)
{
    later_store *s = later_new("later");
    cubed_store_request r[2] = {{.op = CUBED_STORE_HEAD, .key = "a"},
                                {.op = CUBED_STORE_PUT, .key = "b", .src = "x", .size = 1}};
    cubed_store_request *requests[2] = {&r[0], &r[1]}, *done[2];
    cb_store_queue q;
    (void)state;
    cb_store_queue_init(&q);
    later_hold(s, LATER_ANY);
    cb_store_submit(&s->own.head, &q, requests, 2);
    cb_store_close(&s->own.head);
    assert_int_equal(cb_store_poll(&q, 0, done, 2), 2);
    for (int i = 0; i < 2; i++) assert_int_equal(r[i].status, CUBED_E_CANCELLED);
    cb_store_queue_free(&q);
}

typedef struct listing {
    later_store *store;
    char text[1024];
    int n;
} listing;

/* The callback makes requests during the listing: it does not block the store's thread. */
static cubed_status note_key(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    listing *l = ctx;
    uint64_t looked;
    CB_TRY(cb_store_size(&l->store->own.head, key, &looked, err));
    assert_int_equal(size, looked);
    const size_t n = strlen(l->text);
    snprintf(l->text + n, sizeof l->text - n, "%s ", key);
    return l->n-- == 1 ? CUBED_E_CANCELLED : CUBED_OK;
}

static cubed_status note_member(void *ctx, const char *name, bool is_prefix, cubed_error *err)
{
    listing *l = ctx;
    const size_t n = strlen(l->text);
    (void)err;
    snprintf(l->text + n, sizeof l->text - n, "%s%s ", name, is_prefix ? "/" : "");
    return CUBED_OK;
}

static void test_pages(void **state)
{
    static const char *const keys[] = {"g/a/0", "g/a-1", "g/a/1", "g/b", "g/c/0/0", "g/d", "h"};
    later_store *s = *state;
    listing all = {.store = s}, below = {.store = s}, two = {.store = s, .n = 2}, none = {0};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_int_equal(cb_store_put(&s->own.head, keys[i], "12", 2, NULL), CUBED_OK);
    assert_int_equal(cb_store_list(&s->own.head, "g", note_key, &all, NULL), CUBED_OK);
    assert_string_equal(all.text, "g/a-1 g/a/0 g/a/1 g/b g/c/0/0 g/d ");
    assert_true(s->requests[CUBED_STORE_LIST] >= 2);
    assert_int_equal(cb_store_members(&s->own.head, "g", note_member, &below, NULL), CUBED_OK);
    assert_string_equal(below.text, "a-1 a/ b c/ d ");
    assert_int_equal(cb_store_list(&s->own.head, "g", note_key, &two, NULL), CUBED_E_CANCELLED);
    assert_string_equal(two.text, "g/a-1 g/a/0 ");
    assert_int_equal(cb_store_list(&s->own.head, "x", note_key, &none, NULL), CUBED_OK);
    assert_int_equal(cb_store_list(&s->own.head, "../g", note_key, &none, NULL), CUBED_E_ARG);
    s->requests[CUBED_STORE_DELETE] = 0;
    assert_int_equal(cb_store_clear(&s->own.head, "g", NULL), CUBED_OK);
    assert_int_equal(s->requests[CUBED_STORE_DELETE], 1); /* one request deletes all keys */
    none.store = s;
    assert_int_equal(cb_store_list(&s->own.head, "", note_key, &none, NULL), CUBED_OK);
    assert_string_equal(none.text, "h ");
}

static void test_classes_of_errors(void **state)
{
    later_store *s = *state;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_object_info info;
    char back[4];
    size_t got = 9;
    later_fail(s, LATER_ANY, 0, 1, 70);
    assert_int_equal(cb_store_get(&s->own.head, "a", 0, back, 4, &got, &err), CUBED_E_IO);
    assert_true(err.transient);
    assert_int_equal(err.retry_after_ms, 70);
    assert_int_equal(got, 9);
    later_fail(s, LATER_ANY, 0, 1, 0);
    assert_int_equal(cb_store_find(&s->own.head, "a", &info, &err), CUBED_E_IO);
    assert_false(err.transient);
    assert_int_equal(err.retry_after_ms, 0);
    err.transient = true;
    assert_int_equal(cb_store_get(&s->own.head, "a", 0, back, 4, &got, &err), CUBED_E_NOT_FOUND);
    assert_false(err.transient);
    later_fail(s, LATER_ANY, 0, 1, 0);
    assert_int_equal(cb_store_put(&s->own.head, "a", "1", 1, NULL),
                     CUBED_E_IO); /* nobody listens */
}

/* The document is longer than the first request reads. If it is replaced before the second request, the result is one complete
 * version. */
static void test_documents(void **state)
{
    later_store *s = *state;
    enum { LONG = 50000 };
    static char text[LONG];
    cubed_object_info info;
    cb_buf out;
    memset(text, 'x', sizeof text);
    cb_buf_init(&out, &cb_system_allocator);
    assert_int_equal(cb_store_put(&s->own.head, "short", text, 100, NULL), CUBED_OK);
    assert_int_equal(cb_store_put(&s->own.head, "long", text, LONG, NULL), CUBED_OK);
    s->submitted = 0;
    assert_int_equal(cb_store_read_object(&s->own.head, "short", LONG, &out, &info, NULL),
                     CUBED_OK);
    assert_int_equal(out.size, 100);
    assert_int_equal(s->submitted, 1);
    assert_int_equal(cb_store_read_all(&s->own.head, "long", LONG, &out, NULL), CUBED_OK);
    assert_int_equal(out.size, 100 + LONG);
    assert_int_equal(s->submitted, 3);
    assert_int_equal(s->requests[CUBED_STORE_HEAD], 0);
    assert_int_equal(cb_store_read_all(&s->own.head, "long", LONG - 1, &out, NULL), CUBED_E_FORMAT);
    cb_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_out_of_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancelling, setup, teardown),
        cmocka_unit_test(test_closing),
        cmocka_unit_test_setup_teardown(test_pages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_classes_of_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_documents, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
