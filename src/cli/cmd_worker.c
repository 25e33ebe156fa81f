#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { KEY_PREPARE = CLI_OWN_KEY, KEY_SERVE, KEY_ISA, KEY_ALLOW_CODE };

static const cli_option own[] = {
    {"prepare", NULL, "make the targets first: for one worker of the run, before the others",
     KEY_PREPARE},
    {"serve", "FD", "serve the executor `processes` of the command that started this one",
     KEY_SERVE},
    {"isa", "x86-64-v2|x86-64-v3|x86-64-v4", "instruction set (default: the best)", KEY_ISA},
    {"allow-code", NULL,
     "let kernels in shared objects run that the plan names: they can do anything", KEY_ALLOW_CODE},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_worker_usage = {
    .synopsis = "worker PLAN STAGE FIRST[:LAST] [options]",
    .text = "Runs task FIRST, or tasks FIRST to LAST - 1, of one stage of a plan that --save-plan "
            "wrote.\nIntermediates are read from and left in the plan's work directory, so stages "
            "may be run\nby many workers, each stage after those that it reads.",
    .examples = "  cubed eval 'mean(u*v, axis=0)' --in u=u.zarr --in v=v.zarr --out uv.zarr \\\n"
                "      --work-dir /scratch/me --save-plan p.cubed\n"
                "  cubed worker p.cubed 0 0:10 --prepare\n  cubed worker p.cubed 0 10:20\n",
    .own = own};

static bool parse_range(const char *text, int64_t *first, int64_t *last)
{
    if (!cli_parse_int(&text, first) || *first < 0 || *first == INT64_MAX) return false;
    *last = *first + 1;
    if (*text == 0) return true;
    if (*text++ != ':') return false;
    return cli_parse_int(&text, last) && *text == 0 && *last >= *first;
}

/* A whole number from 0 on that an int holds. */
static bool parse_number(const char *text, int *out)
{
    int64_t v;
    if (!cli_parse_int(&text, &v) || *text || v < 0 || v > INT32_MAX) return false;
    *out = (int)v;
    return true;
}

static int serve(const char *fd_text, const cli_common *c)
{
    int fd;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx;
    if (!parse_number(fd_text, &fd))
        return cli_usage_error("worker", "--serve \"%s\": expected a number", fd_text);
    cli_catch_signals();
    int code = cli_context("worker", c, &ctx);
    if (code != EXIT_SUCCESS) return code;
    /* An error is the driver's to report: it has been told. */
    cubed_status st = cubed_worker_serve(ctx, fd, &cli_cancel, &err);
    cubed_context_unref(ctx);
    return st == CUBED_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cmd_worker(int argc, char **argv)
{
    bool prepare = false;
    bool allow_code = false;
    const char *serve_fd = NULL;
    cli_common c = CLI_COMMON_INIT;
    int key;
    while ((key = cli_next_option(argc, argv, &cmd_worker_usage, NULL)) != -1) {
        if (key == KEY_PREPARE) prepare = true;
        if (key == KEY_SERVE) serve_fd = optarg;
        if (key == KEY_ISA) c.isa = optarg;
        if (key == KEY_ALLOW_CODE) allow_code = true;
    }
    if (serve_fd && (optind < argc || prepare))
        return cli_usage_error("worker", "--serve is told what to do: no other arguments");
    if (serve_fd) return serve(serve_fd, &c);
    if (argc - optind != 3)
        return cli_usage_error("worker", "expected PLAN STAGE FIRST[:LAST], got %d arguments",
                               argc - optind);
    int stage;
    int64_t first, last;
    if (!parse_number(argv[optind + 1], &stage))
        return cli_usage_error("worker", "STAGE \"%s\": expected a number", argv[optind + 1]);
    if (!parse_range(argv[optind + 2], &first, &last))
        return cli_usage_error(
            "worker", "tasks \"%s\": expected FIRST, or FIRST:LAST with a LAST not before it",
            argv[optind + 2]);
    void *data = NULL;
    size_t size = 0;
    cubed_error err = CUBED_ERROR_INIT;
    int e = cli_read_file(argv[optind], &data, &size);
    if (e) {
        fprintf(stderr, "cubed worker: cannot read %s: %s\n", argv[optind], strerror(e));
        return EXIT_FAILURE;
    }
    cubed_context *ctx = NULL;
    cubed_plan *plan = NULL;
    cubed_run_stats stats;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    o.cancel = &cli_cancel;
    cli_catch_signals();
    int code = cli_context("worker", &c, &ctx);
    if (code != EXIT_SUCCESS) {
        cli_free(data);
        return code;
    }
    cubed_status st = allow_code ? cubed_plan_load_code(ctx, data, size, &plan, &err)
                                 : cubed_plan_load(ctx, data, size, &plan, &err);
    if (st == CUBED_OK) st = cubed_run_tasks(plan, stage, first, last, prepare, &o, &stats, &err);
    if (st == CUBED_OK)
        printf("%" PRId64 " tasks in %.3f s, memory %" PRIu64 " of %" PRIu64 " bytes projected\n",
               stats.num_tasks, stats.seconds, stats.measured_mem, stats.projected_mem);
    cubed_plan_unref(plan);
    cubed_context_unref(ctx);
    cli_free(data);
    return st == CUBED_OK ? EXIT_SUCCESS : cli_report("worker", &err);
}
