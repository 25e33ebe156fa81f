/* The code of a worker in AWS Lambda. It contains the libraries of the wheel, so the Python package writes it. */
#include <stdlib.h>

#include "cli.h"
#include "python.h"

static const cli_option own[] = {{NULL, NULL, NULL, 0}};

const cli_usage cmd_lambda_package_usage = {
    .synopsis = "lambda-package FILE.zip",
    .text =
        "Writes the code of a function of AWS Lambda that is a worker of this version, for the "
        "runtime provided.al2023 and the processor of this machine. It is made of what the package "
        "cubed of a Python was installed with, from a wheel: CUBED_PYTHON names one.",
    .examples = "  cubed lambda-package cubed-worker.zip\n"
                "  aws s3 cp cubed-worker.zip s3://my-bucket/\n",
    .own = own};

int cmd_lambda_package(int argc, char **argv)
{
    static const python_module needed[] = {{"cubed", "the package cubed"}};
    while (cli_next_option(argc, argv, &cmd_lambda_package_usage, NULL) != -1) continue;
    if (argc - optind != 1)
        return cli_usage_error("lambda-package", "expected FILE.zip, got %d arguments",
                               argc - optind);
    const char *arguments[] = {"-m", "cubed.runtime.lambda_package", "--", argv[optind], NULL};
    const int code = python_check("lambda-package", needed, 1, "writes the file", NULL);
    if (code != EXIT_SUCCESS) return code;
    return python_run(arguments) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
