#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cubed/sys/message.h"

enum {
    KEY_BEGIN = CLI_OWN_KEY,
    KEY_FINISH,
    KEY_RUN,
    KEY_MESSAGE,
    KEY_SERVE,
    KEY_ISA,
    KEY_ALLOW_CODE
};

static const cli_option own[] = {
    {"begin", NULL, "claim the targets for a run, and print its name", KEY_BEGIN},
    {"finish", NULL, "check that all has been done, and make the targets whole", KEY_FINISH},
    {"run", "NAME",
     "the run: letters, digits, \"-\", \"_\" and \".\" (--begin: default a new name)", KEY_RUN},
    {"message", "FILE|-",
     "what to run, as bytes (cubed/sys/message.h), which - reads from the standard input; reports "
     "go "
     "to the standard output",
     KEY_MESSAGE},
    {"serve", "FD", "serve the executor `processes` of the command that started this one",
     KEY_SERVE},
    {"isa", "x86-64-v2|x86-64-v3|x86-64-v4", "instruction set (default: the best)", KEY_ISA},
    {"allow-code", NULL,
     "let kernels in shared objects run that the plan names: they can do anything", KEY_ALLOW_CODE},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_worker_usage = {
    .synopsis = "worker PLAN (--begin | STAGE FIRST[:LAST] | --message FILE | --finish) [options]",
    .text =
        "Runs task FIRST, or tasks FIRST to LAST - 1, of one stage of a plan that --save-plan "
        "wrote.\nThe run has a name, by which its workers share the plan's work directory: "
        "--begin gives it one,\nand lets no other run write to the targets; --finish makes them "
        "whole when all tasks have been\ndone, and removes intermediates. In between any number of "
        "workers run tasks, each stage after\nthose that it reads; what is repeated does no harm.",
    .examples = "  cubed eval 'mean(u*v, axis=0)' --in u=u.zarr --in v=v.zarr --out uv.zarr \\\n"
                "      --work-dir /scratch/me --save-plan p.cubed\n"
                "  cubed worker p.cubed --begin --run monday\n"
                "  cubed worker p.cubed 0 0:10 --run monday\n"
                "  cubed worker p.cubed 0 10:20 --run monday\n"
                "  cubed worker p.cubed --finish --run monday\n",
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

typedef struct request {
    bool begin, finish;
    const char *run, *message;
    int stage;
    int64_t first, last;
} request;

/* 0, or an errno. One byte more than there may be shows that there are too many. */
static int read_message(const char *path, uint8_t bytes[CUBED_RANGE_BYTES + 1], size_t *size)
{
    const bool in = strcmp(path, "-") == 0;
    FILE *f = in ? stdin : fopen(path, "rb");
    if (!f) return errno;
    *size = fread(bytes, 1, CUBED_RANGE_BYTES + 1, f);
    const int e = ferror(f) ? EIO : 0;
    if (!in) (void)fclose(f);
    return e;
}

/* Reports tell of errors, too: the command fails only if there are none. */
static cubed_status perform_message(cubed_plan *plan, const char *path, cubed_error *err)
{
    uint8_t message[CUBED_RANGE_BYTES + 1];
    size_t size = 0, reports_size;
    void *reports;
    const int e = read_message(path, message, &size);
    if (e) {
        err->status = CUBED_E_IO;
        snprintf(err->message, sizeof err->message, "cannot read %s: %s", path, strerror(e));
        return CUBED_E_IO;
    }
    cubed_status st =
        cubed_work_message(plan, message, size, &cli_cancel, &reports, &reports_size, err);
    if (st != CUBED_OK) return st;
    if (fwrite(reports, 1, reports_size, stdout) != reports_size || fflush(stdout) != 0) {
        st = err->status = CUBED_E_IO;
        snprintf(err->message, sizeof err->message, "cannot write reports: %s", strerror(errno));
    }
    cubed_plan_free_bytes(plan, reports, reports_size);
    return st;
}

static cubed_status perform(cubed_plan *plan, const request *r, cubed_error *err)
{
    cubed_run_stats stats;
    char name[CUBED_RUN_NAME_CAP];
    cubed_status st;
    if (r->begin) {
        st = cubed_run_begin(plan, r->run, name, err);
        if (st == CUBED_OK) puts(name);
    } else if (r->message) {
        st = perform_message(plan, r->message, err);
    } else if (r->finish) {
        st = cubed_run_finish(plan, r->run, err);
    } else {
        st = cubed_work(plan, r->run, r->stage, r->first, r->last, &cli_cancel, &stats, err);
        if (st == CUBED_OK)
            printf("%" PRId64 " tasks in %.3f s, memory %" PRIu64 " of %" PRIu64
                   " bytes projected\n",
                   stats.num_tasks, stats.seconds, stats.measured_mem, stats.projected_mem);
    }
    return st;
}

static int check_request(request *r, int argc, char **argv)
{
    const int left = argc - optind;
    const bool alone = r->begin || r->finish || r->message;
    if (r->begin + r->finish + (r->message != NULL) > 1)
        return cli_usage_error("worker", "--begin, --finish and --message: expected one of them");
    if (r->message && r->run)
        return cli_usage_error("worker", "--message names the run: --run is not expected");
    if (left != (alone ? 1 : 3))
        return cli_usage_error("worker",
                               alone ? "expected PLAN, got %d arguments"
                                     : "expected PLAN STAGE FIRST[:LAST], got %d arguments",
                               left);
    if (left == 3 && !parse_number(argv[optind + 1], &r->stage))
        return cli_usage_error("worker", "STAGE \"%s\": expected a number", argv[optind + 1]);
    if (left == 3 && !parse_range(argv[optind + 2], &r->first, &r->last))
        return cli_usage_error(
            "worker", "tasks \"%s\": expected FIRST, or FIRST:LAST with a LAST not before it",
            argv[optind + 2]);
    if (!r->begin && !r->message && !r->run)
        return cli_usage_error("worker", "expected --run NAME, which --begin has printed");
    return EXIT_SUCCESS;
}

int cmd_worker(int argc, char **argv)
{
    request r = {.begin = false};
    bool allow_code = false;
    const char *serve_fd = NULL;
    cli_common c = CLI_COMMON_INIT;
    int key;
    while ((key = cli_next_option(argc, argv, &cmd_worker_usage, NULL)) != -1) {
        if (key == KEY_BEGIN) r.begin = true;
        if (key == KEY_FINISH) r.finish = true;
        if (key == KEY_RUN) r.run = optarg;
        if (key == KEY_MESSAGE) r.message = optarg;
        if (key == KEY_SERVE) serve_fd = optarg;
        if (key == KEY_ISA) c.isa = optarg;
        if (key == KEY_ALLOW_CODE) allow_code = true;
    }
    if (serve_fd && (optind < argc || r.begin || r.finish || r.run || r.message))
        return cli_usage_error("worker", "--serve is told what to do: no other arguments");
    if (serve_fd) return serve(serve_fd, &c);
    int code = check_request(&r, argc, argv);
    if (code != EXIT_SUCCESS) return code;
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
    cli_catch_signals();
    code = cli_context("worker", &c, &ctx);
    if (code != EXIT_SUCCESS) {
        cli_free(data);
        return code;
    }
    cubed_status st = allow_code ? cubed_plan_load_code(ctx, data, size, &plan, &err)
                                 : cubed_plan_load(ctx, data, size, &plan, &err);
    if (st == CUBED_OK) st = perform(plan, &r, &err);
    cubed_plan_unref(plan);
    cubed_context_unref(ctx);
    cli_free(data);
    return st == CUBED_OK ? EXIT_SUCCESS : cli_report("worker", &err);
}
