/* Writes the code of a worker for AWS Lambda. The Python package does this, and finds the libraries that the command needs. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "python.h"

enum { KEY_ARCHITECTURE = CLI_OWN_KEY, KEY_LIBC, KEY_COMMAND };

static const cli_option own[] = {
    {"architecture", "x86_64|arm64",
     "processor architecture of the function (default: the command's)", KEY_ARCHITECTURE},
    {"bundle-libc", NULL,
     "also put this machine's C library into the ZIP: needed if it is newer than the runtime's",
     KEY_LIBC},
    {"command", "FILE",
     "command to put into the ZIP (default: this one), such as the command of an unpacked wheel "
     "for another processor",
     KEY_COMMAND},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_lambda_package_usage = {
    .synopsis = "lambda-package FILE.zip [options]",
    .text = "Writes the code of an AWS Lambda function that is a worker of this version, for the "
            "runtime provided.al2023: the command, and the shared libraries that it needs. This "
            "subcommand "
            "needs a Python with the package: python3, or the one in the variable CUBED_PYTHON.",
    .examples = "  cubed lambda-package cubed-worker.zip\n"
                "  aws s3 cp cubed-worker.zip s3://my-bucket/\n",
    .own = own};

int cmd_lambda_package(int argc, char **argv)
{
    static const python_module needed[] = {{"cubed", "the package cubed"}};
    char self[PATH_MAX] = "";
    python_words module = python_module_words("cubed.runtime.lambda_package");
    bool has_command = false;
    int key;
    while ((key = cli_next_option(argc, argv, &cmd_lambda_package_usage, NULL)) != -1) {
        has_command = has_command || key == KEY_COMMAND;
        python_add_option(&module, own, key, optarg);
    }
    if (!has_command && readlink("/proc/self/exe", self, sizeof self - 1) > 0)
        python_add(&module, cli_printf("--command=%s", self));
    int code = EXIT_USAGE;
    if (argc - optind != 1) {
        cli_argument_error("lambda-package", "FILE.zip", argc - optind);
    } else {
        code = python_check("lambda-package", needed, 1, "writes the file", NULL);
        python_add(&module, cli_strdup("--"));
        python_add(&module, cli_strdup(argv[optind]));
    }
    if (code == EXIT_SUCCESS && python_run((const char *const *)module.list) != 0)
        code = EXIT_FAILURE;
    python_words_free(&module);
    return code;
}
