/* Implements `cubed executors`: lists executors and other systems that can run tasks, and checks one of them before a long
 * run. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch/batch.h"
#include "cli.h"
#include "python.h"

enum { KEY_AS_JSON = CLI_OWN_KEY, KEY_CHECK, KEY_OPTION, KEY_DIR, KEY_MEM, KEY_STORE, KEY_TIMEOUT };

static const cli_option own[] = {
    {"json", NULL, "as JSON", KEY_AS_JSON},
    {"check", "NAME", "run small tasks on this executor, and print its workers", KEY_CHECK},
    {"executor-option", "NAME=VALUE", "with --check: an option of the executor (repeatable)",
     KEY_OPTION},
    {"work-dir", "DIR", "with --check: the work directory, which workers must be able to access",
     KEY_DIR},
    {"allowed-mem", "SIZE", "with --check: the memory that each worker must have", KEY_MEM},
    {"store", "STORE", "with --check: an array that workers must open (repeatable)", KEY_STORE},
    {"timeout", "SECONDS", "with --check: maximum time until a worker starts (default 60)",
     KEY_TIMEOUT},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_executors_usage = {
    .synopsis = "executors [--json] [--check NAME [options]]",
    .text =
        "Lists the executors and engines that can run tasks: executors of this command "
        "(--executor), batch systems (cubed submit --engine), engines of the Python package "
        "(executor_name=), and MPI (mpirun cubed-mpi). States how each is tested. --check shows "
        "within seconds whether workers start, import the Python package in this version, "
        "reach the work directory and stores, and have the memory. It needs the Python "
        "package. For a batch system it only checks that the programs exist.",
    .examples = "  cubed executors\n"
                "  cubed executors --check processes --work-dir /scratch/me\n"
                "  cubed executors --check dask --executor-option client=tcp://scheduler:8786\n",
    .own = own};

/* Other systems that can run tasks; docs/how-to/engines describes each of them. */
static const struct elsewhere {
    const char *name, *kind, *label;
} elsewhere[] = {{"mpi", "program", "tested live"},
                 {"futures", "Python package", "tested live"},
                 {"dask", "Python package", "tested live"},
                 {"lithops", "Python package", "local mode"},
                 {"ray", "Python package", "tested live"},
                 {"spark", "Python package", "tested live"},
                 {"beam", "Python package", "tested live"},
                 {"prefect", "Python package", "tested live"},
                 {"modal", "Python package", "contract only"},
                 {"coiled", "Python package", "local mode"},
                 {NULL, NULL, NULL}};

/* Returns true for executors of the Python package. "beam" is also the name of a batch system. */
static bool is_of_python(const char *name)
{
    for (const struct elsewhere *e = elsewhere; e->name; e++) {
        if (strcmp(e->name, name) == 0) return strcmp(e->kind, "Python package") == 0;
    }
    return false;
}

static bool is_in_path(const char *program, int length)
{
    const char *folders = getenv("PATH");
    while (folders && *folders) {
        const int n = (int)strcspn(folders, ":");
        char *path = cli_printf("%.*s/%.*s", n, folders, length, program);
        const bool found = access(path, X_OK) == 0;
        cli_free(path);
        if (found) return true;
        folders += n + (folders[n] == ':');
    }
    return false;
}

/* Checks whether the programs of a batch system are installed. */
static int check_batch(const batch_system *system)
{
    const char *list = system->programs;
    int code = EXIT_SUCCESS;
    while (*list) {
        const int n = (int)strcspn(list, " ");
        if (n > 0 && !is_in_path(list, n)) {
            cli_say(stderr, "cubed executors: %s: there is no program %.*s in PATH\n", system->name,
                    n, list);
            code = EXIT_FAILURE;
        }
        list += n + (list[n] == ' ');
    }
    if (code == EXIT_SUCCESS)
        printf("%s: the programs are there: %s; no job was started\n", system->name,
               system->programs);
    return code;
}

/* Checks an executor. `module` is the Python module with the checks, followed by their options. */
static int check(const char *name, python_words *module)
{
    static const python_module needed[] = {{"cubed", "the package cubed"}};
    const batch_system *system = is_of_python(name) ? NULL : batch_find(name);
    if (system && module->n > PYTHON_MODULE_WORDS)
        return cli_usage_error("executors", "--check %s: expected no other options", name);
    if (system) return check_batch(system);
    cubed_executor_caps caps;
    if (!is_of_python(name) && cubed_executor_get_caps(NULL, name, &caps, NULL) != CUBED_OK)
        return cli_usage_error("executors",
                               "--check \"%s\": expected an executor, an engine or a batch system "
                               "that `cubed executors` lists",
                               name);
    const int code = python_check("executors", needed, 1, "checks executors", NULL);
    if (code != EXIT_SUCCESS) return code;
    python_add(module, cli_strdup("--"));
    python_add(module, cli_strdup(name));
    return python_run((const char *const *)module->list);
}

/* Prints all executors, and other systems that can run tasks. */
static int show(bool json)
{
    json_t *list = json_array();
    for (int i = 0; cubed_executor_name(NULL, i); i++) {
        const char *name = cubed_executor_name(NULL, i);
        cubed_executor_caps caps;
        /* The tests run the executor itself only if it is local. A remote executor is an external service. */
        const bool live =
            cubed_executor_get_caps(NULL, name, &caps, NULL) == CUBED_OK && !caps.remote;
        json_array_append_new(list, json_pack("{s:s,s:s,s:s}", "name", name, "kind", "executor",
                                              "label", live ? "tested live" : "contract only"));
    }
    for (const batch_system *e = batch_systems; e->name; e++)
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s}", "name", e->name, "kind",
                                              "batch system", "label", e->label, "programs",
                                              e->programs));
    for (const struct elsewhere *e = elsewhere; e->name; e++)
        json_array_append_new(
            list, json_pack("{s:s,s:s,s:s}", "name", e->name, "kind", e->kind, "label", e->label));
    for (size_t i = 0; i < json_array_size(list) && !json; i++) {
        const json_t *row = json_array_get(list, i);
        printf("%-16s %-14s %s\n", json_string_value(json_object_get(row, "name")),
               json_string_value(json_object_get(row, "kind")),
               json_string_value(json_object_get(row, "label")));
    }
    if (json) {
        json_dumpf(list, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(list);
    return EXIT_SUCCESS;
}

int cmd_executors(int argc, char **argv)
{
    python_words module = python_module_words("cubed.blocks._preflight");
    const char *name = NULL;
    bool json = false;
    int key;
    while ((key = cli_next_option(argc, argv, &cmd_executors_usage, NULL)) != -1) {
        if (key == KEY_AS_JSON)
            json = true;
        else if (key == KEY_CHECK)
            name = optarg;
        else
            python_add_option(&module, own, key, optarg);
    }
    int code = EXIT_USAGE;
    if (optind < argc)
        cli_usage_error("executors", "no arguments are expected");
    else if (module.n > PYTHON_MODULE_WORDS && !name)
        cli_usage_error("executors", "%s: expected with --check NAME",
                        module.list[PYTHON_MODULE_WORDS]);
    else if (name && json)
        cli_usage_error("executors", "--json: expected without --check");
    else
        code = name ? check(name, &module) : show(json);
    python_words_free(&module);
    return code;
}
