/* Limits on calls in flight, against a simulated service and clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "store/http/throttle.h"

#define MS     ((int64_t)1000000)
#define SECOND (1000 * MS)
enum { MOST = 1000, CALLS = 3000 };

static cb_throttle *new_throttle(cb_throttle **all, unsigned most)
{
    cb_throttle *t = NULL;
    assert_int_equal(cb_throttle_get(all, &cb_system_allocator, "x", most, &t, NULL), CUBED_OK);
    return t;
}

static void test_names(void **state)
{
    (void)state;
    cb_throttle *all = NULL, *x = new_throttle(&all, 2), *y = NULL;
    unsigned limit = 9;
    assert_ptr_equal(new_throttle(&all, 2), x);
    assert_int_equal(cb_throttle_get(&all, &cb_system_allocator, "y", 5, &y, NULL), CUBED_OK);
    assert_ptr_not_equal(x, y);
    assert_int_equal(cb_throttle_refusals(all, &limit), 0);
    assert_int_equal(limit, 0);
    assert_true(cb_throttle_enter(x, SECOND) && cb_throttle_enter(x, SECOND));
    assert_false(cb_throttle_enter(x, SECOND));
    assert_true(cb_throttle_enter(y, SECOND));
    assert_int_equal(cb_throttle_leave(x, SECOND, CB_THROTTLED_NOT, 0, 2 * SECOND), 0);
    assert_true(cb_throttle_enter(x, 2 * SECOND));
    cb_throttle_free_all(all);
}

/* A service that accepts `quota` calls at once, each of which lasts `takes`. It refuses further calls after 20 ms. */
typedef struct simulated {
    int64_t began[MOST], ends[MOST];
    bool refused[MOST];
    unsigned in_flight, accepted, most_accepted;
    int64_t sent, refusals, done;
} simulated;

/* Makes CALLS calls, and advances the clock by a millisecond per step. Returns the total time. */
static int64_t simulate(cb_throttle *t, simulated *s, unsigned quota, int64_t takes)
{
    int64_t now = SECOND;
    for (; s->done < CALLS && now < 10000 * SECOND; now += MS) {
        for (unsigned i = 0; i < s->in_flight;) {
            if (s->ends[i] > now) {
                i++;
                continue;
            }
            const bool refused = s->refused[i];
            (void)cb_throttle_leave(t, s->began[i],
                                    refused ? CB_THROTTLED_REFUSED : CB_THROTTLED_DONE,
                                    (uint64_t)now * 2654435761u, now);
            s->done += !refused;
            s->accepted -= !refused;
            s->refusals += refused;
            s->in_flight--;
            s->began[i] = s->began[s->in_flight];
            s->ends[i] = s->ends[s->in_flight];
            s->refused[i] = s->refused[s->in_flight];
        }
        while (s->in_flight < MOST && s->done + s->accepted < CALLS && cb_throttle_enter(t, now)) {
            const unsigned i = s->in_flight++;
            s->sent++;
            s->refused[i] = s->accepted >= quota;
            s->began[i] = now;
            s->ends[i] = now + (s->refused[i] ? 20 * MS : takes);
            if (!s->refused[i] && ++s->accepted > s->most_accepted) s->most_accepted = s->accepted;
        }
    }
    return now - SECOND;
}

static void test_quotas(void **state)
{
    (void)state;
    static const struct {
        unsigned quota;
        int64_t takes;
    } cases[] = {{1, 50 * MS},      {2, 50 * MS},    {10, 50 * MS},    {100, 500 * MS},
                 {100, 5 * SECOND}, {2, 5 * SECOND}, {900, 5 * SECOND}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cb_throttle *all = NULL, *t = new_throttle(&all, MOST);
        simulated s = {.in_flight = 0};
        unsigned limit;
        const int64_t took = simulate(t, &s, cases[i].quota, cases[i].takes);
        const double best = (double)CALLS / cases[i].quota * (double)cases[i].takes;
        assert_int_equal(s.done, CALLS);
        assert_int_equal(s.most_accepted, cases[i].quota);
        assert_int_equal(cb_throttle_refusals(all, &limit), s.refusals);
        assert_true(limit >= 1 && limit <= 2 * cases[i].quota + 2);
        /* The throttle uses at least half of the service's limit. Refused are at most the first burst, its halves, and one call
         * per second. */
        if ((double)took > 2 * best + 2e9 || s.refusals > (int64_t)2 * MOST + took / SECOND)
            fail_msg("quota %u, %lld ms each: %.1f s, possible %.1f s, %lld refusals",
                     cases[i].quota, (long long)(cases[i].takes / MS), (double)took / 1e9,
                     best / 1e9, (long long)s.refusals);
        cb_throttle_free_all(all);
    }
}

static void test_a_quota_that_grows_is_used(void **state)
{
    (void)state;
    cb_throttle *all = NULL, *t = new_throttle(&all, 64);
    int64_t now = SECOND;
    unsigned n = 0;
    while (cb_throttle_enter(t, now)) n++;
    assert_int_equal(n, 64);
    /* If all calls are refused, those that were already in flight halve the limit only once. */
    for (; n > 0; n--) (void)cb_throttle_leave(t, now, CB_THROTTLED_REFUSED, 0, now + 20 * MS);
    unsigned limit;
    assert_int_equal(cb_throttle_refusals(all, &limit), 64);
    assert_int_equal(limit, 32);
    /* After that, the throttle pauses, because no call was accepted. */
    assert_false(cb_throttle_enter(t, now + 20 * MS));
    now += 10 * SECOND;
    while (cb_throttle_enter(t, now)) n++;
    assert_int_equal(n, 32 + 9);
    for (; n > 0; n--) (void)cb_throttle_leave(t, now, CB_THROTTLED_DONE, 0, now + 20 * MS);
    for (int i = 0; i < 2000; i++) {
        now += 20 * MS;
        assert_true(cb_throttle_enter(t, now));
        (void)cb_throttle_leave(t, now, CB_THROTTLED_DONE, 0, now + 10 * MS);
    }
    (void)cb_throttle_refusals(all, &limit);
    assert_int_equal(limit, 64);
    cb_throttle_free_all(all);
}

static void test_what_runs_is_not_halved(void **state)
{
    (void)state;
    cb_throttle *all = NULL, *t = new_throttle(&all, MOST);
    unsigned limit;
    for (int i = 0; i < 100; i++) assert_true(cb_throttle_enter(t, SECOND));
    assert_true(cb_throttle_enter(t, 60 * SECOND));
    assert_int_equal(cb_throttle_leave(t, 60 * SECOND, CB_THROTTLED_REFUSED, 0, 60 * SECOND + MS),
                     0);
    assert_int_equal(cb_throttle_refusals(all, &limit), 1);
    assert_int_equal(limit, 100);
    assert_false(cb_throttle_enter(t, 60 * SECOND + 2 * MS));
    assert_true(
        cb_throttle_enter(t, 61 * SECOND +
                                 /* one more call tests whether the service accepts more now */
                                 2 * MS));
    cb_throttle_free_all(all);
}

static void test_a_service_that_refuses_everything(void **state)
{
    (void)state;
    cb_throttle *all = NULL, *t = new_throttle(&all, 4);
    int64_t now = SECOND, refused = 0, sent = 0;
    while (refused < 60 * SECOND) {
        if (cb_throttle_enter(t, now)) {
            refused = cb_throttle_leave(t, now, CB_THROTTLED_REFUSED, (uint64_t)sent, now + MS);
            sent++;
        }
        now += MS;
    }
    assert_true(now <= 75 * SECOND);
    assert_in_range(sent, 10, 40);
    /* A success ends the pause. */
    while (!cb_throttle_enter(t, now)) now += MS;
    assert_int_equal(cb_throttle_leave(t, now, CB_THROTTLED_DONE, 0, now), 0);
    now += MS;
    assert_true(cb_throttle_enter(t, now));
    assert_int_equal(cb_throttle_leave(t, now, CB_THROTTLED_REFUSED, 0, now), 0);
    cb_throttle_free_all(all);
}

typedef struct shared {
    cb_throttle *t;
    _Atomic int in_flight, most;
} shared;

static void *work(void *ctx)
{
    shared *s = ctx;
    for (int i = 0; i < 20000; i++) {
        const int64_t now = cb_clock_ns();
        if (!cb_throttle_enter(s->t, now)) continue;
        const int n = ++s->in_flight;
        for (int most = s->most; n > most && !atomic_compare_exchange_weak(&s->most, &most, n);) {
        }
        s->in_flight--;
        (void)cb_throttle_leave(s->t, now, i % 7 ? CB_THROTTLED_DONE : CB_THROTTLED_NOT, 1,
                                cb_clock_ns());
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    cb_throttle *all = NULL;
    shared s = {.t = new_throttle(&all, 3)};
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, &s), 0);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    assert_in_range(s.most, 1, 3);
    for (int i = 0; i < 3; i++) assert_true(cb_throttle_enter(s.t, cb_clock_ns()));
    assert_false(cb_throttle_enter(s.t, cb_clock_ns()));
    cb_throttle_free_all(all);
}

/* A forked child does not count its parent's refusals, and takes no lock that another thread of the parent may hold. */
static void test_a_forked_child(void **state)
{
    (void)state;
    cb_throttle *all = NULL, *t = new_throttle(&all, 4);
    unsigned limit;
    int status;
    assert_true(cb_throttle_enter(t, SECOND));
    (void)cb_throttle_leave(t, SECOND, CB_THROTTLED_REFUSED, 0, SECOND);
    assert_int_equal(cb_throttle_refusals(all, &limit), 1);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(cb_throttle_refusals(all, &limit) != 0 || limit != 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cb_throttle_free_all(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_quotas),
        cmocka_unit_test(test_a_quota_that_grows_is_used),
        cmocka_unit_test(test_what_runs_is_not_halved),
        cmocka_unit_test(test_a_service_that_refuses_everything),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_a_forked_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
