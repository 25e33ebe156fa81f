/* Stores in forked children: one thread of a child resets the state that the store has of its parent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "store/core/adopted.h"

enum { THREADS = 8, FORKS = 40 };

typedef struct shared {
    cb_adopted process;
    pthread_barrier_t together;
    atomic_int resets, early;
    atomic_bool is_reset;
} shared;

static void *use(void *arg)
{
    shared *x = arg;
    pthread_barrier_wait(&x->together);
    if (cb_adopted_begin(&x->process)) {
        atomic_fetch_add(&x->resets, 1);
        usleep(2000); /* gives the other threads time to run before the reset ends */
        atomic_store(&x->is_reset, true);
        cb_adopted_end(&x->process);
    } else if (!atomic_load(&x->is_reset)) {
        atomic_fetch_add(&x->early, 1);
    }
    return NULL;
}

/* Returns the exit status of a child whose threads all use the state at once: 0 if exactly one of them resets it. */
static int child(shared *x)
{
    pthread_t threads[THREADS];
    if (pthread_barrier_init(&x->together, NULL, THREADS) != 0) return 2;
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, use, x) != 0) return 3;
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    if (cb_adopted_begin(&x->process)) return 4;
    return atomic_load(&x->resets) == 1 && atomic_load(&x->early) == 0 ? 0 : 1;
}

static void test_one_thread_resets(void **state)
{
    (void)state;
    for (int i = 0; i < FORKS; i++) {
        shared x;
        int status = 0;
        memset(&x, 0, sizeof x);
        cb_adopted_init(&x.process);
        assert_false(cb_adopted_begin(
            &x.process)); /* the process that created the state need not reset it */
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) _exit(child(&x));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_true(WIFEXITED(status));
    }
}

/* If a parent forks between the two calls, the state in its child is not complete. */
static void test_forked_while_it_resets(void **state)
{
    cb_adopted process;
    int status = 0;
    (void)state;
    atomic_init(&process.ready, getppid());
    atomic_init(&process.begun, getppid());
    assert_true(cb_adopted_begin(&process));
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) _exit(cb_adopted_begin(&process) ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    cb_adopted_end(&process);
    assert_false(cb_adopted_begin(&process));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_thread_resets),
        cmocka_unit_test(test_forked_while_it_resets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
