/* The code of a worker in AWS Lambda. The Python package writes it, and finds the libraries that the command needs. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "python.h"

enum { KEY_ARCHITECTURE = CLI_OWN_KEY, KEY_LIBC, KEY_COMMAND };

static const cli_option own[] = {
    {"architecture", "x86_64|arm64", "of the function (default: the command's)", KEY_ARCHITECTURE},
    {"bundle-libc", NULL,
     "put this machine's C library into the ZIP as well: needed if it is newer than the runtime's",
     KEY_LIBC},
    {"command", "FILE",
     "command to put into the ZIP (default: this one), such as that of an unpacked wheel for "
     "another "
     "processor",
     KEY_COMMAND},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_lambda_package_usage = {
    .synopsis = "lambda-package FILE.zip [options]",
    .text =
        "Writes the code of a function of AWS Lambda that is a worker of this version, for the "
        "runtime provided.al2023: the command, and the shared libraries that it needs. A Python "
        "with the package does this: CUBED_PYTHON names one.",
    .examples = "  cubed lambda-package cubed-worker.zip\n"
                "  aws s3 cp cubed-worker.zip s3://my-bucket/\n",
    .own = own};

int cmd_lambda_package(int argc, char **argv)
{
    static const python_module needed[] = {{"cubed", "the package cubed"}};
    char self[PATH_MAX] = "";
    const char *architecture = NULL, *command = NULL;
    bool libc = false;
    int key;
    while ((key = cli_next_option(argc, argv, &cmd_lambda_package_usage, NULL)) != -1) {
        if (key == KEY_ARCHITECTURE) architecture = optarg;
        if (key == KEY_LIBC) libc = true;
        if (key == KEY_COMMAND) command = optarg;
    }
    if (argc - optind != 1)
        return cli_usage_error("lambda-package", "expected FILE.zip, got %d arguments",
                               argc - optind);
    if (!command && readlink("/proc/self/exe", self, sizeof self - 1) > 0) command = self;
    const int code = python_check("lambda-package", needed, 1, "writes the file", NULL);
    if (code != EXIT_SUCCESS) return code;
    const char *arguments[] = {"-m", "cubed.runtime.lambda_package", NULL, NULL, NULL, NULL, NULL,
                               NULL};
    char *command_option = command ? cli_printf("--command=%s", command) : NULL;
    char *architecture_option = architecture ? cli_printf("--architecture=%s", architecture) : NULL;
    int n = 2;
    if (command) arguments[n++] = command_option;
    if (architecture) arguments[n++] = architecture_option;
    if (libc) arguments[n++] = "--bundle-libc";
    arguments[n++] = "--";
    arguments[n] = argv[optind];
    const bool whole = (!command || command_option) && (!architecture || architecture_option);
    if (!whole) cli_say(stderr, "cubed lambda-package: out of memory\n");
    const bool done = whole && python_run(arguments) == 0;
    cli_free(command_option);
    cli_free(architecture_option);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
