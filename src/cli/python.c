#define _GNU_SOURCE
#include "python.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 12, NOT_STARTED = 127 };

const char *python_name(void)
{
    const char *named = getenv("CUBED_PYTHON");
    return named && *named ? named : "python3";
}

int python_run(const char *const *arguments)
{
    char *argv[MOST_ARGUMENTS + 2] = {(char *)(uintptr_t)python_name()};
    pid_t pid;
    int status = 0;
    for (int i = 0; i < MOST_ARGUMENTS && arguments[i]; i++)
        argv[i + 1] = (char *)(uintptr_t)arguments[i];
    (void)fflush(stdout);
    if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0) return NOT_STARTED;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return NOT_STARTED;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Exits with FIRST_MISSING and more for what is not there. Looking is much faster than importing. */
enum { FIRST_MISSING = 3 };
static const char look_up[] = "import importlib.util as u, sys; "
                              "sys.exit(next((3 + i for i, m in enumerate(sys.argv[1:]) if "
                              "u.find_spec(m) is None), 0))";

int python_check(const char *verb, const python_module *modules, int n, const char *what,
                 const char *package)
{
    const char *arguments[MOST_ARGUMENTS + 1] = {"-c", look_up};
    for (int i = 0; i < n && i < MOST_ARGUMENTS - 2; i++) arguments[i + 2] = modules[i].name;
    const int found = python_run(arguments);
    if (found >= FIRST_MISSING && found < FIRST_MISSING + n)
        fprintf(stderr,
                "cubed %s: %s is not there for %s, and %s: %s -m pip install '%s', or "
                "name another Python by CUBED_PYTHON\n",
                verb, modules[found - FIRST_MISSING].called, python_name(), what, python_name(),
                package);
    else if (found)
        cli_say(stderr, "cubed %s: %s does not run, and %s: name a Python by CUBED_PYTHON\n", verb,
                python_name(), what);
    return found ? EXIT_FAILURE : EXIT_SUCCESS;
}
