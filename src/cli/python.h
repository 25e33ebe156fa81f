/* Runs functions of the Python package for the command, in a separate process. */
#ifndef CUBED_CLI_PYTHON_H
#define CUBED_CLI_PYTHON_H

#include "cli.h"

/* A module, and its name in messages. */
typedef struct python_module {
    const char *name, *called;
} python_module;

/* Returns the name or path of the Python interpreter: the value of CUBED_PYTHON, which python/command sets to its own
 * interpreter; default "python3". */
const char *python_name(void);
/* Checks that the interpreter runs and has `modules`. The first module is the package. Otherwise prints that the interpreter does
 * not run, or the missing module and the command that installs it.
 *
 * verb   name of the subcommand, for messages
 * what   what the program does, for messages, such as "draws"
 * extra  the extra of the package that has the other modules, or NULL if the package must be installed from its wheel
 *
 * Returns an exit code. */
int python_check(const char *verb, const python_module *modules, int n, const char *what,
                 const char *extra);
/* Arguments that run a module of the package, for python_run and python_replace. */
typedef struct python_words {
    char **list; /* NULL-terminated; owned */
    int n;
} python_words;
/* Begins the arguments: "-m" and the module. */
python_words python_module_words(const char *module);
/* Adds an argument, and takes ownership of the string. */
void python_add(python_words *w, char *word);
/* Adds option `key` of a table, with its value if it has one. */
void python_add_option(python_words *w, const cli_option *table, int key, const char *value);
void python_words_free(python_words *w);
/* Number of arguments that python_module_words adds. */
enum { PYTHON_MODULE_WORDS = 2 };

/* Runs python_name() with `arguments`, which end with NULL; returns its exit code. */
int python_run(const char *const *arguments);
/* Replaces this process by python_name() with `arguments`. Returns an exit code if it cannot be started. */
int python_replace(const char *verb, const char *const *arguments);

#endif
