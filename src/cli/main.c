#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const cli_verb verbs[] = {
    {"info", "show what a Zarr store holds", cmd_info},
    {"eval", "evaluate expressions over arrays", cmd_eval},
    {"rechunk", "store arrays with other chunks", cmd_rechunk},
    {"copy", "store arrays elsewhere, or in another format", cmd_copy},
    {"run", "run a saved plan", cmd_run},
    {"clean", "remove what killed runs left", cmd_clean},
    {"worker", "run tasks of a saved plan", cmd_worker},
    {"demo", "run a workload on made-up data", cmd_demo},
};

static int show_help(FILE *f)
{
    fputs("usage: cubed VERB ...\n\nBounded-memory computation on N-dimensional Zarr arrays.\n\n"
          "verbs:\n",
          f);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        fprintf(f, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    fputs("\ncubed VERB --help says more. cubed --version shows what it is built from.\n", f);
    return f == stdout ? EXIT_SUCCESS : EXIT_USAGE;
}

static int show_version(void)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx;
    printf("cubed %s\n", cubed_version());
    if (cubed_context_new(NULL, &ctx, &err) != CUBED_OK) return cli_report("--version", &err);
    printf("instruction set: %s\n%s\n", cubed_context_isa(ctx), cubed_libraries());
    cubed_context_unref(ctx);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc < 2) return show_help(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) return show_help(stdout);
    if (strcmp(argv[1], "--version") == 0) return show_version();
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verbs[i].name, argv[1]) != 0) continue;
        int code = verbs[i].run(argc - 1, argv + 1);
        if (fflush(stdout) == 0 && !ferror(stdout)) return code;
        fprintf(stderr, "cubed %s: cannot write to standard output: %s\n", argv[1],
                strerror(errno));
        return EXIT_FAILURE;
    }
    fprintf(stderr, "cubed: \"%s\" is no verb\n", argv[1]);
    return show_help(stderr);
}
