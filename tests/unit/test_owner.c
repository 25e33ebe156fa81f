/* Owners: this process, formatted and parsed, and whether they are alive, across restarts, containers and reused process IDs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/owner.h"

static void assert_same(const cb_owner *a, const cb_owner *b)
{
    assert_string_equal(a->host, b->host);
    assert_true(a->machine == b->machine && a->boot == b->boot && a->space == b->space);
    assert_true(a->pid == b->pid && a->start == b->start);
}

static void test_self(void **state)
{
    cb_owner a, b;
    (void)state;
    cb_owner_self(&a);
    cb_owner_self(&b);
    assert_same(&a, &b);
    assert_int_equal(a.pid, getpid());
    assert_true(a.host[0] != 0 && a.machine != 0);
    assert_true(a.boot != 0 && a.space != 0 && a.start != 0);
    assert_int_equal(cb_owner_alive(&a), CB_OWNER_ALIVE);
}

static void test_text(void **state)
{
    cb_owner a, b;
    char text[CB_OWNER_CAP], longer[CB_OWNER_CAP + 2];
    const char *end;
    (void)state;
    cb_owner_self(&a);
    cb_owner_format(&a, text);
    assert_int_equal(
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"),
        strlen(text));
    assert_true(cb_owner_parse(text, &b, NULL));
    assert_same(&a, &b);
    snprintf(longer, sizeof longer, "%s_7", text);
    assert_false(cb_owner_parse(longer, &b, NULL));
    assert_true(cb_owner_parse(longer, &b, &end));
    assert_string_equal(end, "_7");
    assert_same(&a, &b);

    cb_owner largest = {.machine = UINT64_MAX,
                        .boot = UINT64_MAX,
                        .space = UINT64_MAX,
                        .pid = INT32_MAX,
                        .start = UINT64_MAX};
    memset(largest.host, 'x', sizeof largest.host - 1);
    cb_owner_format(&largest, text);
    assert_true(cb_owner_parse(text, &b, NULL));
    assert_same(&largest, &b);
}

/* The strings come from file names, which any program may have created. */
static void test_text_that_is_no_owner(void **state)
{
    static const char *const wrong[] = {
        "",
        "host",
        "12345-0-7ffe0123",
        "host_1_2_3_4",
        "host_1_2_3_4_",
        "host_1_2_3_4_5x",
        "host_1_2_3_4_5 ",
        "host_1_2_3_0_5",
        "host_1_2_3_-4_5",
        "host_1_2_3_+4_5",
        "host_1_2_3_ 4_5",
        "host_1_2_3_0x4_5",
        "host_1_2_3_99999999999999999999_5",
        "host_1_2_3_4_10000000000000000",
        "host_1_2_3_4_00000000000000000005",
        "_1_2_3_4_5",
        "ho/st_1_2_3_4_5",
        "a-name-that-is-longer-than-32-bytes_1_2_3_4_5",
    };
    cb_owner o;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(cb_owner_parse(wrong[i], &o, NULL));
    assert_true(cb_owner_parse("host_1_2_3_4_5", &o, NULL));
    assert_true(o.machine == 1 && o.boot == 2 && o.space == 3 && o.pid == 4 && o.start == 5);
}

/* Checks a child process while it runs, after it was killed, and after the parent has waited for it. */
static void test_processes(void **state)
{
    cb_owner self, o;
    int told[2];
    (void)state;
    cb_owner_self(&self);
    assert_int_equal(pipe(told), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        cb_owner_self(&o);
        if (write(told[1], &o, sizeof o) == (ssize_t)sizeof o) pause();
        _exit(0);
    }
    assert_int_equal(read(told[0], &o, sizeof o), sizeof o);
    assert_int_equal(o.pid, pid);
    assert_int_equal(cb_owner_alive(&o), CB_OWNER_ALIVE);
    kill(pid, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(cb_owner_alive(&o), CB_OWNER_GONE);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(cb_owner_alive(&o), CB_OWNER_GONE);
    close(told[0]);
    close(told[1]);
}

static void test_others(void **state)
{
    cb_owner self, o;
    (void)state;
    cb_owner_self(&self);
    o = self; /* a process with another start time: the process ID was reused */
    o.start--;
    assert_int_equal(cb_owner_alive(&o), CB_OWNER_GONE);
    o = self;
    o.boot++;
    o.machine++;
    assert_int_equal(cb_owner_alive(&o), CB_OWNER_UNKNOWN);
    o = self; /* a process in another PID namespace, such as that of a container */
    o.space++;
    assert_int_equal(cb_owner_alive(&o), CB_OWNER_UNKNOWN);
    o = self; /* the machine was rebooted; for a container, it may also be another machine */
    o.boot++;
    assert_int_equal(cb_owner_alive(&o),
                     self.space == 0xEFFFFFFCu ? CB_OWNER_GONE : CB_OWNER_UNKNOWN);
    o.space++;
    assert_int_equal(cb_owner_alive(&o), CB_OWNER_UNKNOWN);
    o = self;
    o.boot = 0;
    assert_int_equal(cb_owner_alive(&o), CB_OWNER_UNKNOWN);
    o = self;
    o.start = 0;
    assert_int_equal(cb_owner_alive(&o), CB_OWNER_UNKNOWN);
    o = self;
    o.pid = INT64_MAX;
    assert_int_equal(cb_owner_alive(&o), CB_OWNER_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_text_that_is_no_owner),
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
