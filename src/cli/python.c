#define _GNU_SOURCE
#include "python.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_MODULES = 10, NOT_STARTED = 127 };

const char *python_name(void)
{
    const char *named = getenv("CUBED_PYTHON");
    return named && *named ? named : "python3";
}

/* Returns the program's name followed by `arguments`. The caller frees the list. */
static char **with_name(const char *const *arguments)
{
    int n = 0;
    while (arguments[n]) n++;
    char **argv = cli_resize(NULL, (size_t)(n + 2) * sizeof *argv);
    argv[0] = (char *)(uintptr_t)python_name();
    for (int i = 0; i <= n; i++) argv[i + 1] = (char *)(uintptr_t)arguments[i];
    return argv;
}

int python_replace(const char *verb, const char *const *arguments)
{
    char **argv = with_name(arguments);
    (void)fflush(NULL);
    execvp(argv[0], argv);
    fprintf(stderr, "cubed %s: cannot start %s: %s\n", verb, argv[0], strerror(errno));
    cli_free(argv);
    return EXIT_FAILURE;
}

int python_run(const char *const *arguments)
{
    int status = 0;
    pid_t pid;
    char **argv = with_name(arguments);
    (void)fflush(stdout);
    const int failed = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
    cli_free(argv);
    if (failed) return NOT_STARTED;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return NOT_STARTED;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- Arguments ---------------------------------------------------------------------------------------- */

void python_add(python_words *w, char *word)
{
    w->list = cli_resize(w->list, (size_t)(w->n + 2) * sizeof *w->list);
    w->list[w->n++] = word;
    w->list[w->n] = NULL;
}

python_words python_module_words(const char *module)
{
    python_words w = {NULL, 0};
    python_add(&w, cli_strdup("-m"));
    python_add(&w, cli_strdup(module));
    return w;
}

void python_add_option(python_words *w, const cli_option *table, int key, const char *value)
{
    const cli_option *o = table;
    while (o->key != key) o++;
    python_add(w, cli_printf("--%s%s%s", o->name, o->arg ? "=" : "", o->arg ? value : ""));
}

void python_words_free(python_words *w)
{
    for (int i = 0; i < w->n; i++) cli_free(w->list[i]);
    cli_free(w->list);
}

/* --- Modules ------------------------------------------------------------------------------------------ */

/* The Python program looks up modules without importing them, which would take seconds. It exits with FIRST_MISSING + i if
 * module i is missing, or is a folder without __init__.py. */
enum { FIRST_MISSING = 3 };
static const char look_up[] = "import importlib.util as u, sys; "
                              "sys.exit(next((3 + i for i, s in enumerate(map(u.find_spec, "
                              "sys.argv[1:])) if s is None or s.origin is None), 0))";

/* Prints the command that installs missing packages. The package itself is installed from a wheel file or a clone, and lists
 * the packages of its extras. */
static void print_install_command(bool without_package, const char *extra)
{
    const char *const listing[] = {
        "-c", "import sys; from cubed.base import _distribution as d; d.print_command(sys.argv[1])",
        extra, NULL};
    (void)fflush(stderr);
    if (!without_package && extra && python_run(listing) == EXIT_SUCCESS) return;
    if (extra)
        fprintf(stderr, "%s -m pip install '.[%s]' in a clone of Cubed", python_name(), extra);
    else
        fprintf(stderr, "%s -m pip install ./cubed_c-*.whl in the folder of its wheel",
                python_name());
}

int python_check(const char *verb, const python_module *modules, int n, const char *what,
                 const char *extra)
{
    const char *arguments[MOST_MODULES + 3] = {"-c", look_up};
    for (int i = 0; i < n && i < MOST_MODULES; i++) arguments[i + 2] = modules[i].name;
    const int found = python_run(arguments);
    if (found >= FIRST_MISSING && found < FIRST_MISSING + n) {
        const python_module *missing = &modules[found - FIRST_MISSING];
        fprintf(stderr, "cubed %s: %s is not installed for %s, which %s: ", verb, missing->called,
                python_name(), what);
        print_install_command(missing == modules, extra);
        fputs(", or set CUBED_PYTHON to another Python\n", stderr);
    } else if (found)
        cli_say(stderr,
                "cubed %s: %s, which %s, does not run: set CUBED_PYTHON to another Python\n", verb,
                python_name(), what);
    return found ? EXIT_FAILURE : EXIT_SUCCESS;
}
