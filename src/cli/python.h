/* What the package does for the command, in a process of Python. */
#ifndef CUBED_CLI_PYTHON_H
#define CUBED_CLI_PYTHON_H

#include "cli.h"

/* A module, and what people call it. */
typedef struct python_module {
    const char *name, *called;
} python_module;

/* The program, which the Python that the command was installed with says (python/command). */
const char *python_name(void);
/* Whether it runs, and has the modules; if not, says what is missing, which is to do `what`, and returns an exit
 * code. `package`: what brings them. */
int python_check(const char *verb, const python_module *modules, int n, const char *what,
                 const char *package);
/* Runs python_name() with `arguments`, which end with NULL: its exit code. */
int python_run(const char *const *arguments);

#endif
