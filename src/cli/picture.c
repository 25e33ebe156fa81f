/* Pictures are drawn by Xarray and Matplotlib in a process of Python, which the package's cubed.plot is for. */
#define _GNU_SOURCE
#include "picture.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The Python that the command was installed with says so (python/command). */
static const char *python(void)
{
    const char *named = getenv("CUBED_PYTHON");
    return named && *named ? named : "python3";
}

enum { NOT_STARTED = 127 };

/* Its exit code. */
static int run_python(char *const *argv)
{
    pid_t pid;
    int status = 0;
    (void)fflush(stdout);
    if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0) return NOT_STARTED;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return NOT_STARTED;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Exits with 3 and more for what is not there. Looking is much faster than importing. */
static const char look_up[] =
    "import importlib.util as u, sys; m = ('cubed', 'xarray', 'matplotlib'); "
    "sys.exit(next((3 + i for i in range(3) if u.find_spec(m[i]) is None), 0))";

int picture_check(const char *verb)
{
    static const char *const missing[] = {"the package cubed", "Xarray", "Matplotlib"};
    char *name = cli_strdup(python()), *code = cli_strdup(look_up);
    char *argv[] = {name, "-c", code, NULL};
    const int found = run_python(argv);
    if (found >= 3 && found < 6)
        fprintf(stderr,
                "cubed %s: %s is not there for %s, and draws: %s -m pip install 'cubed[plot]', or "
                "name another Python by CUBED_PYTHON\n",
                verb, missing[found - 3], name, name);
    else if (found)
        fprintf(stderr, "cubed %s: %s does not run, and draws: name a Python by CUBED_PYTHON\n",
                verb, name);
    cli_free(name);
    cli_free(code);
    return found ? EXIT_FAILURE : EXIT_SUCCESS;
}

cubed_status picture_draw(const cli_picture *p, cubed_context *ctx, const char *store,
                          const char *file, cubed_error *err)
{
    char *argv[] = {cli_strdup(python()),
                    cli_strdup("-m"),
                    cli_strdup("cubed.plot"),
                    cli_printf("--colors=%s", p->colors ? p->colors : ""),
                    cli_printf("--title=%s", p->title ? p->title : ""),
                    cli_strdup("--"),
                    cli_strdup(store),
                    cli_strdup(file),
                    NULL};
    const int code = run_python(argv);
    cubed_status st = cubed_zarr_remove(ctx, store, err);
    if (st == CUBED_OK && code != 0) {
        err->status = st = CUBED_E_IO;
        snprintf(err->message, sizeof err->message,
                 "%s was not drawn: see above (%s ended with %d)", file, argv[0], code);
    }
    for (int i = 0; argv[i]; i++) cli_free(argv[i]);
    return st;
}
