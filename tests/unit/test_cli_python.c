/* The processes that run Python functions for the command, with a shell script in place of Python. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/cli.h"
#include "cli/python.h"
#include "cli/python_tasks.h"
#include "test_path.h"

static char folder[64], script[128], printed[128];

/* Python programs end with the status FOUND, and modules do what MODULE says. */
static const char text[] = "#!/bin/sh\n"
                           "if [ \"$1\" = -c ]; then eval \"$LOOK_UP\"; exit $FOUND; fi\n"
                           "eval \"$MODULE\"\n";

static int setup(void **state)
{
    (void)state;
    test_path(folder, sizeof folder, "cubed-test-python-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(script, sizeof script, "%s/python", folder);
    snprintf(printed, sizeof printed, "%s/stderr", folder);
    FILE *f = fopen(script, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0 || chmod(script, 0700) != 0) return -1;
    return setenv("CUBED_PYTHON", script, 1) | setenv("FOUND", "0", 1) | setenv("LOOK_UP", "", 1);
}

static int teardown(void **state)
{
    (void)state;
    cubed_cancel_clear(&cli_cancel);
    unsetenv("CUBED_PYTHON");
    (void)unlink(script);
    (void)unlink(printed);
    return rmdir(folder);
}

static const char plan[] = "a serialised plan";
static const uint8_t message[] = {0x00, 0x1f, 0xab};

/* Runs a range with a module. Returns the reports, which the caller frees; NULL after an error. */
static char *perform(const char *module, bool skip_done, size_t *size, cubed_error *err)
{
    const python_range range = {plan, sizeof plan - 1, message, sizeof message, skip_done};
    void *reports = NULL;
    *err = (cubed_error)CUBED_ERROR_INIT;
    *size = 0;
    assert_int_equal(setenv("MODULE", module, 1), 0);
    const cubed_status st = python_perform(&range, &reports, size, err);
    assert_int_equal(st, err->status);
    assert_int_equal(st == CUBED_OK, reports != NULL);
    return reports;
}

static void test_reports(void **state)
{
    cubed_error err;
    size_t n;
    (void)state;
    char *r = perform("cat <&3 >&4; printf ' %s %s %s' $2 $3 $4 >&4", false, &n, &err);
    assert_non_null(r);
    const char all[] = "a serialised plan cubed.runtime.saved_plan 001fab all";
    assert_int_equal(n, sizeof all - 1);
    assert_memory_equal(r, all, n);
    cli_free(r);
    r = perform("printf $4 >&4", true, &n, &err);
    assert_int_equal(n, 7);
    assert_memory_equal(r, "missing", n);
    cli_free(r);
    /* more than a pipe holds, and nothing */
    r = perform("head -c 300000 /dev/zero >&4", false, &n, &err);
    assert_int_equal(n, 300000);
    assert_int_equal(r[299999], 0);
    cli_free(r);
    r = perform(":", false, &n, &err);
    assert_int_equal(n, 0);
    cli_free(r);
}

static void test_processes_that_fail(void **state)
{
    static const struct {
        const char *module, *says;
        cubed_failure failure;
    } cases[] = {
        {"exit 1", "/python that runs Python functions ended with status 1",
         CUBED_FAILURE_PERMANENT},
        {"exit 3", "/python that runs Python functions ended with status 3", CUBED_FAILURE_LOST},
        {"printf x >&4; kill -TERM $$", "was ended by signal 15", CUBED_FAILURE_LOST},
        {"kill -KILL $$",
         "the process that ran Python functions was ended by signal 9, as the system does if "
         "memory is short",
         CUBED_FAILURE_LOST},
    };
    cubed_error err;
    size_t n;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(perform(cases[i].module, false, &n, &err));
        assert_int_equal(err.status, CUBED_E_IO);
        assert_int_equal(err.failure, cases[i].failure);
        if (!strstr(err.message, cases[i].says)) fail_msg("%s: %s", cases[i].module, err.message);
    }
    /* The script is gone when it is started for the tasks. */
    setenv("LOOK_UP", "rm \"$0\"", 1);
    assert_null(perform(":", false, &n, &err));
    assert_string_equal(err.message,
                        "cannot start Python for Python functions: No such file or directory");
}

static void test_interruption(void **state)
{
    cubed_error err;
    size_t n;
    (void)state;
    cubed_cancel_set(&cli_cancel);
    assert_null(perform("exit 3", false, &n, &err));
    assert_int_equal(err.status, CUBED_E_CANCELLED);
    assert_string_equal(err.message, "interrupted");
    /* A process that has ended well is not interrupted. */
    char *r = perform("printf x >&4", false, &n, &err);
    assert_int_equal(n, 1);
    cli_free(r);
}

/* If a task is stuck, its process and this process end with the exit status of timeout(1). */
static void test_stuck_task(void **state)
{
    int status = 0;
    (void)state;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        cubed_error err;
        size_t n;
        cli_free(perform("exit 124", false, &n, &err));
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 124);
}

/* Runs python_check, and returns its exit code. `out` receives the text that it prints to the standard error. */
static int check(const char *extra, char *out, size_t cap)
{
    static const python_module modules[] = {{"cubed", "the package cubed"},
                                            {"dask", "the package dask"}};
    const int before = dup(STDERR_FILENO);
    FILE *f = freopen(printed, "w+", stderr);
    assert_non_null(f);
    const int code = python_check("submit", modules, 2, "starts tasks", extra);
    (void)fflush(stderr);
    rewind(stderr);
    const size_t n = fread(out, 1, cap - 1, stderr);
    out[n] = 0;
    assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
    close(before);
    return code;
}

static void test_missing_modules(void **state)
{
    char out[1024], expected[512];
    (void)state;
    assert_int_equal(check(NULL, out, sizeof out), EXIT_SUCCESS);
    assert_string_equal(out, "");
    setenv("FOUND", "3", 1);
    assert_int_equal(check(NULL, out, sizeof out), EXIT_FAILURE);
    snprintf(expected, sizeof expected,
             "cubed submit: the package cubed is not installed for %s, which starts tasks: %s -m "
             "pip install ./cubed_c-*.whl in the folder of its wheel, or set CUBED_PYTHON to "
             "another Python\n",
             script, script);
    assert_string_equal(out, expected);
    /* The package prints the command that installs its extra; without an answer, the extra is installed from a clone. */
    setenv("FOUND", "4", 1);
    assert_int_equal(check("dask", out, sizeof out), EXIT_FAILURE);
    snprintf(expected, sizeof expected,
             "cubed submit: the package dask is not installed for %s, which starts tasks: %s -m "
             "pip install '.[dask]' in a clone of Cubed, or set CUBED_PYTHON to another Python\n",
             script, script);
    assert_string_equal(out, expected);
    setenv("LOOK_UP", "case \"$2\" in *print_command*) echo pip install it >&2; exit 0;; esac", 1);
    assert_int_equal(check("dask", out, sizeof out), EXIT_FAILURE);
    assert_non_null(strstr(out, "which starts tasks: pip install it\n, or set CUBED_PYTHON to"));
    setenv("FOUND", "1", 1);
    assert_int_equal(check(NULL, out, sizeof out), EXIT_FAILURE);
    assert_non_null(
        strstr(out, ", which starts tasks, does not run: set CUBED_PYTHON to another Python"));
    setenv("LOOK_UP", "kill -KILL $$", 1);
    assert_int_equal(check(NULL, out, sizeof out), EXIT_FAILURE);
    assert_non_null(strstr(out, "does not run"));
    (void)unlink(script);
    cubed_error err;
    size_t n;
    assert_null(perform(":", false, &n, &err));
    assert_int_equal(err.status, CUBED_E_UNSUPPORTED);
    assert_string_equal(err.message, "the plan has Python functions");
    const char *const arguments[] = {"-c", "pass", NULL};
    assert_int_equal(python_replace("worker", arguments), EXIT_FAILURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reports, setup, teardown),
        cmocka_unit_test_setup_teardown(test_processes_that_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(test_interruption, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stuck_task, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing_modules, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
