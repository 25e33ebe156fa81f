#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cubed/sys/message.h"
#include "lang/lang_memory.h"
#include "python.h"
#include "python_tasks.h"

enum {
    KEY_BEGIN = CLI_OWN_KEY,
    KEY_FINISH,
    KEY_RUN,
    KEY_OF,
    KEY_MESSAGE,
    KEY_TIMEOUT,
    KEY_SERVE,
    KEY_LAMBDA,
    KEY_HTTP,
    /* Options of --http, from here to KEY_MAX_BODY. */
    KEY_HOST,
    KEY_ISSUER,
    KEY_AUDIENCE,
    KEY_JWKS,
    KEY_SUBJECT,
    KEY_NO_AUTH,
    KEY_CONCURRENCY,
    KEY_REQUEST_TIMEOUT,
    KEY_MAX_BODY,
    KEY_ISA,
    KEY_ALLOW_CODE,
    KEY_DRIVER,
    KEY_SILENCE,
    KEY_TAKE_OVER
};

static const cli_option own[] = {
    {"begin", NULL, "claim the targets for a run, and print its name", KEY_BEGIN},
    {"finish", NULL, "check that all tasks are done, and complete the targets", KEY_FINISH},
    {"run", "NAME",
     "name of the run: letters, digits, \"-\", \"_\" and \".\" (default with --begin: a new name)",
     KEY_RUN},
    {"of", "N",
     "split the stage into N parts and run one, skipping completed tasks; a job-array variable "
     "gives the part number (see below)",
     KEY_OF},
    {"message", "FILE|-|URL",
     "file with a message that names the tasks to run (cubed/sys/message.h), or - for the standard "
     "input; reports go to the standard output",
     KEY_MESSAGE},
    {"task-timeout", "SECONDS", "time limit of a task (default: no limit)", KEY_TIMEOUT},
    {"serve", "FD", "run tasks for the command that started this process (executor `processes`)",
     KEY_SERVE},
    {"lambda", NULL, "run as the runtime of an AWS Lambda function", KEY_LAMBDA},
    {"http", "PORT|env",
     "serve ranges of tasks over HTTP at this port, for the executor http; env: the port in the "
     "variable PORT or FUNCTIONS_CUSTOMHANDLER_PORT. Needs a Python with the package, which also "
     "runs Python functions",
     KEY_HTTP},
    {"host", "ADDRESS", "address to serve at (default 0.0.0.0)", KEY_HOST},
    {"issuer", "URL", "issuer of the tokens of callers", KEY_ISSUER},
    {"audience", "NAME", "audience of the tokens: usually the URL of this service", KEY_AUDIENCE},
    {"jwks", "FILE|URL",
     "URL of the keys that sign the tokens (default: the one in "
     "ISSUER/.well-known/openid-configuration)",
     KEY_JWKS},
    {"subject", "NAME",
     "permitted caller: the sub, email, azp or appid of a token (repeatable; default: all callers "
     "with valid tokens)",
     KEY_SUBJECT},
    {"insecure-no-auth", NULL, "accept requests without a token; needs --host 127.0.0.1",
     KEY_NO_AUTH},
    {"concurrency", "N",
     "maximum number of concurrent requests (default 1); further requests get the reply 429",
     KEY_CONCURRENCY},
    {"request-timeout", "SECONDS",
     "time limit of a request in the service (default 300 seconds); tasks that cannot end within "
     "this limit are not started",
     KEY_REQUEST_TIMEOUT},
    {"max-body", "BYTES", "maximum size of a message (default 4 MiB)", KEY_MAX_BODY},
    {"isa", "x86-64-v2|x86-64-v3|x86-64-v4", "instruction set (default: the best)", KEY_ISA},
    {"allow-code", NULL,
     "allow the plan to run its Python functions, and code of the shared objects that it names; "
     "such "
     "code can do anything",
     KEY_ALLOW_CODE},
    {"driver-version", "VERSION",
     "required version of cubed: if this command has another version, it does nothing", KEY_DRIVER},
    {CLI_SILENCE_OPTION, "SECONDS", CLI_SILENCE_HELP " (--begin)", KEY_SILENCE},
    {CLI_TAKE_OVER_OPTION, NULL,
     "with --begin, take the targets immediately from unfinished runs on other machines and in "
     "other containers: make sure that these runs have ended",
     KEY_TAKE_OVER},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_worker_usage = {
    .synopsis = "worker PLAN (STAGE FIRST[:LAST] | STAGE --of N | --begin | --finish) [options]",
    .text = "Runs task FIRST, or tasks FIRST to LAST - 1, of one stage of a plan that --save-plan "
            "wrote: PLAN is its file, or its URL in any store.\nThe workers of a run share the "
            "plan's work directory under the name of the run. --begin names the run\nand claims "
            "the targets, so no other run writes to them. --finish completes the targets after all "
            "tasks are\ndone, and removes intermediates. In between, any number of workers run "
            "tasks, each stage after the\nstages that it reads. Tasks may be repeated.\nWith --of, "
            "the number of the part, from 0 on, is in the first of these variables that is set: "
            "CUBED_TASK_INDEX, SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, AWS_BATCH_JOB_ARRAY_INDEX, "
            "CLOUD_RUN_TASK_INDEX, JOB_COMPLETION_INDEX, COILED_BATCH_TASK_ID.\nThe exit status is "
            "75 after a transient failure, such as one of the network, 12 if there was not enough "
            "memory, 124 if a task exceeded its time limit, and 1 after another error.",
    .examples = "  cubed eval 'mean(u*v, axis=0)' --in u=u.zarr --in v=v.zarr --out uv.zarr \\\n"
                "      --work-dir /scratch/me --save-plan p.cubed\n"
                "  cubed worker p.cubed --begin --run monday\n"
                "  cubed worker p.cubed 0 0:10 --run monday\n"
                "  cubed worker p.cubed 0 10:20 --run monday\n"
                "  cubed worker p.cubed --finish --run monday\n",
    .own = own,
    .repeats = "subject"};

static bool parse_range(const char *text, int64_t *first, int64_t *last)
{
    if (!lang_parse_int(&text, first) || *first < 0 || *first == INT64_MAX) return false;
    *last = *first + 1;
    if (*text == 0) return true;
    if (*text++ != ':') return false;
    return lang_parse_int(&text, last) && *text == 0 && *last >= *first;
}

/* Parses a nonnegative integer that fits in an int. */
static bool parse_number(const char *text, int *out)
{
    int64_t v;
    if (!lang_parse_int(&text, &v) || *text || v < 0 || v > INT32_MAX) return false;
    *out = (int)v;
    return true;
}

static bool parse_count(const char *text, int64_t *out)
{
    return lang_parse_int(&text, out) && !*text && *out >= 1;
}

/* --- A worker over HTTP, which is a program in Python ---------------------------------------------------- */

/* Replaces this process by the Python server, so that signals reach the server. Returns only after a failure. */
static int serve_http(const python_words *server)
{
    static const python_module needed[] = {{"cubed", "the package cubed"}};
    const int code = python_check("worker", needed, 1, "serves the requests", NULL);
    if (code != EXIT_SUCCESS) return code;
    return python_replace("worker", (const char *const *)server->list);
}

/* --- Serving a driver or a service ----------------------------------------------------------------------- */

/* Serves a driver over a socket. `fd_text` is NULL if AWS Lambda started the worker. */
static int serve(const char *fd_text, cli_common *c)
{
    int fd = -1;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context *ctx;
    const char *api = getenv("AWS_LAMBDA_RUNTIME_API");
    if (fd_text && !parse_number(fd_text, &fd))
        return cli_usage_error("worker", "--serve \"%s\": expected a number", fd_text);
    if (!fd_text && !api)
        return cli_usage_error("worker",
                               "--lambda: AWS_LAMBDA_RUNTIME_API is not set: this is not a "
                               "function of AWS Lambda");
    cli_catch_signals();
    int code = cli_context("worker", c, &ctx);
    if (code != EXIT_SUCCESS) return code;
    cubed_status st = fd_text ? cubed_worker_serve(ctx, fd, &cli_cancel, &err)
                              : cubed_lambda_serve(ctx, api, &cli_cancel, &err);
    cubed_context_unref(ctx);
    if (st == CUBED_OK) return EXIT_SUCCESS;
    /* The driver has received the error, and reports it. */
    return fd_text ? EXIT_FAILURE : cli_report("worker", &err);
}

typedef struct request {
    bool begin, finish;
    const char *run, *message;
    int stage;
    int64_t first, last, of; /* of: number of parts of the stage; 0 if first and last are given */
    uint32_t timeout_ms;
    cubed_takeover_options takeover;
} request;

static cubed_status fail_io(cubed_error *err, const char *what, int e)
{
    err->status = CUBED_E_IO;
    snprintf(err->message, sizeof err->message, "%s: %s", what, strerror(e));
    return CUBED_E_IO;
}

/* State of a worker: its context, its plan, and the request that it performs. */
typedef struct told {
    cubed_context *ctx;
    void *plan; /* serialised plan */
    size_t size;
    cubed_plan *loaded; /* the plan; NULL if the worker loads it when it performs a range */
    bool allow_code;
    const request *request;
    python_functions *python; /* functions with Python code that this context knows */
} told;

/* Reads a range message. One extra byte of the buffer detects messages that are too long. */
static cubed_status read_message(const told *t, uint8_t bytes[CUBED_RANGE_BYTES + 1], size_t *size,
                                 cubed_error *err)
{
    const char *from = t->request->message;
    const bool in = strcmp(from, "-") == 0;
    if (cli_is_url(from)) {
        void *data;
        const cubed_status st = cli_read_url(t->ctx, from, CUBED_RANGE_BYTES + 1, &data, size, err);
        if (st == CUBED_OK) memcpy(bytes, data, *size);
        cli_free(data);
        return st;
    }
    FILE *f = in ? stdin : fopen(from, "rb");
    if (!f) return fail_io(err, "cannot read the message", errno);
    *size = fread(bytes, 1, CUBED_RANGE_BYTES + 1, f);
    const bool failed = ferror(f);
    if (!in) (void)fclose(f);
    return failed ? fail_io(err, "cannot read the message", EIO) : CUBED_OK;
}

/* Reports of a range. */
typedef struct reports {
    const void *bytes;
    size_t size;
    void *owned; /* NULL if the worker owns the bytes */
} reports;

/* Performs a range in this process, or in a process of Python if the plan has Python functions. The caller frees
 * answer->owned. */
static cubed_status perform_bytes(const told *t, cubed_worker *worker, const uint8_t *message,
                                  size_t size, reports *answer, cubed_error *err)
{
    const cubed_work_input in = {.struct_size = sizeof in,
                                 .plan = t->loaded ? NULL : t->plan,
                                 .plan_size = t->loaded ? 0 : t->size,
                                 .message = message,
                                 .message_size = size,
                                 .cancel = &cli_cancel};
    const python_range range = {t->plan, t->size, message, size, t->request->of > 0};
    if (!t->python->found) return cubed_work(worker, &in, &answer->bytes, &answer->size, err);
    const cubed_status st = python_perform(&range, &answer->owned, &answer->size, err);
    answer->bytes = answer->owned;
    return st;
}

/* Performs a range and writes its reports. Reports may contain errors of tasks. The command fails only if there are no
 * reports. */
static cubed_status perform_message(const told *t, cubed_worker *worker, cubed_error *err)
{
    uint8_t message[CUBED_RANGE_BYTES + 1];
    size_t size = 0;
    reports answer = {NULL, 0, NULL};
    cubed_status st = read_message(t, message, &size, err);
    if (st == CUBED_OK) st = perform_bytes(t, worker, message, size, &answer, err);
    if (st == CUBED_OK &&
        (fwrite(answer.bytes, 1, answer.size, stdout) != answer.size || fflush(stdout) != 0))
        st = fail_io(err, "cannot write reports", errno);
    cli_free(answer.owned);
    return st;
}

static void warn_of_held(uint64_t held)
{
    char text[32];
    fprintf(
        stderr,
        "cubed worker: warning: this process used %s before its first task, which leaves less of "
        "the plan's allowed_mem than a task needs: create the plan with --reserved-mem %" PRIu64
        ", and raise --allowed-mem by as much\n",
        cli_format_bytes((double)held, text), held);
}

/* Performs the range that the command's arguments state, and writes its reports. */
static cubed_status perform_range(const told *t, cubed_worker *worker, cubed_error *err)
{
    const request *r = t->request;
    cubed_range_message m = {.range = {.stage = r->stage, .first = r->first, .last = r->last},
                             .timeout_ms = r->timeout_ms};
    uint8_t message[CUBED_RANGE_BYTES];
    reports answer = {NULL, 0, NULL};
    size_t left, used;
    cubed_task_report report;
    int64_t tasks = 0, ns = 0;
    uint64_t memory = 0, held = 0;
    if (strlen(r->run) >= sizeof m.run) {
        err->status = CUBED_E_ARG;
        snprintf(err->message, sizeof err->message, "the run's name is too long: %.60s", r->run);
        return CUBED_E_ARG;
    }
    memcpy(m.run, r->run, strlen(r->run) + 1);
    cubed_range_write(&m, message);
    cubed_status st = perform_bytes(t, worker, message, sizeof message, &answer, err);
    left = answer.size;
    for (const char *at = answer.bytes; st == CUBED_OK && left > 0; at += used, left -= used) {
        st = cubed_report_read(t->ctx, at, left, &report, &used, err);
        if (st != CUBED_OK) break;
        st = report.error.status;
        if (st != CUBED_OK) *err = report.error;
        tasks++;
        ns += report.end_ns - report.start_ns;
        if (report.measured_mem > memory) memory = report.measured_mem;
        if (report.process_mem > held) held = report.process_mem;
    }
    cli_free(answer.owned);
    if (held > 0) warn_of_held(held);
    if (st == CUBED_OK)
        printf("%" PRId64 " tasks in %.3f s, memory %" PRIu64 " bytes\n", tasks, (double)ns * 1e-9,
               memory);
    return st;
}

/* Gets the index that the batch system assigned to this array task. */
static cubed_status find_index(int64_t of, int64_t *index, cubed_error *err)
{
    static const char *const names[] = {"CUBED_TASK_INDEX",     "SLURM_ARRAY_TASK_ID",
                                        "PBS_ARRAY_INDEX",      "AWS_BATCH_JOB_ARRAY_INDEX",
                                        "CLOUD_RUN_TASK_INDEX", "JOB_COMPLETION_INDEX",
                                        "COILED_BATCH_TASK_ID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]), *end = text;
        if (!text) continue;
        if (lang_parse_int(&end, index) && !*end && *index >= 0 && *index < of) return CUBED_OK;
        return cli_reject(err, "%s is \"%s\", expected a number from 0 to %" PRId64, names[i], text,
                          of - 1);
    }
    return cli_reject(err,
                      "--of %" PRId64
                      ": no environment variable gives the number of the part: expected one of "
                      "those that cubed worker --help lists",
                      of);
}

/* Sets the range of tasks that this array task performs. */
static cubed_status find_part(const cubed_plan *plan, request *r, cubed_error *err)
{
    cubed_stage_info info;
    int64_t index;
    cubed_status st = find_index(r->of, &index, err);
    if (st == CUBED_OK) st = cubed_plan_get_stage(plan, r->stage, &info, err);
    if (st == CUBED_OK) cli_part_of(info.num_tasks, index, r->of, &r->first, &r->last);
    return st;
}

static cubed_status work(const told *t, cubed_error *err)
{
    cubed_worker_options o = CUBED_WORKER_OPTIONS_INIT;
    cubed_worker *worker;
    request part = *t->request;
    told mine = *t;
    cubed_status st = part.of > 0 ? find_part(t->loaded, &part, err) : CUBED_OK;
    if (st != CUBED_OK) return st;
    mine.request = &part;
    o.allow_code = t->allow_code;
    o.plan = t->loaded;
    o.ends_process = true;
    o.skip_done = part.of > 0;
    st = cubed_worker_new(t->ctx, &o, &worker, err);
    if (st != CUBED_OK) return st;
    st = part.message ? perform_message(&mine, worker, err) : perform_range(&mine, worker, err);
    cubed_worker_free(worker);
    return st;
}

static cubed_status begin_or_finish(const told *t, cubed_error *err)
{
    const request *r = t->request;
    char name[CUBED_RUN_NAME_CAP];
    const cubed_status st = r->begin ? cubed_run_begin(t->loaded, r->run, &r->takeover, name, err)
                                     : cubed_run_finish(t->loaded, r->run, err);
    if (st == CUBED_OK && r->begin) puts(name);
    return st;
}

/* Loads the plan once: here if this process needs it before the tasks, otherwise when the worker performs the range. */
static cubed_status perform(told *t, cubed_error *err)
{
    const request *r = t->request;
    const bool places = r->begin || r->finish;
    cubed_status st =
        places || r->of > 0 || t->allow_code
            ? python_load_plan(t->ctx, t->python, t->plan, t->size, t->allow_code, &t->loaded, err)
            : python_add_functions(t->ctx, t->python, err);
    if (st == CUBED_OK) st = places ? begin_or_finish(t, err) : work(t, err);
    cubed_plan_unref(t->loaded);
    return st;
}

static int check_request(request *r, int argc, char **argv)
{
    const int left = argc - optind;
    const bool alone = r->begin || r->finish || r->message;
    if (r->begin + r->finish + (r->message != NULL) > 1)
        return cli_usage_error("worker", "--begin, --finish and --message: expected one of them");
    if (r->message && r->run)
        return cli_usage_error("worker", "--message contains the name of the run: leave out --run");
    if (!r->begin && (r->takeover.take_over || r->takeover.silence_seconds))
        return cli_usage_error("worker", "--take-over and --silence: expected with --begin");
    if (alone && r->timeout_ms)
        return cli_usage_error("worker",
                               "--task-timeout is for tasks of a stage: expected PLAN STAGE");
    if (alone && r->of > 0)
        return cli_usage_error("worker", "--of is for tasks of a stage: expected PLAN STAGE");
    const int want = alone ? 1 : r->of > 0 ? 2 : 3;
    if (left != want)
        return cli_argument_error("worker",
                                  alone       ? "PLAN"
                                  : r->of > 0 ? "PLAN STAGE"
                                              : "PLAN STAGE FIRST[:LAST]",
                                  left);
    if (left >= 2 && !parse_number(argv[optind + 1], &r->stage))
        return cli_usage_error("worker", "STAGE \"%s\": expected a number", argv[optind + 1]);
    if (left == 3 && !parse_range(argv[optind + 2], &r->first, &r->last))
        return cli_usage_error(
            "worker", "tasks \"%s\": expected FIRST, or FIRST:LAST with LAST not less than FIRST",
            argv[optind + 2]);
    if (!r->begin && !r->message && !r->run)
        return cli_usage_error("worker", "expected --run NAME, which --begin has printed");
    return EXIT_SUCCESS;
}

/* Exit statuses for scripts of batch systems, which decide about a retry: transient error (EX_TEMPFAIL of sysexits.h), and
 * out of memory. */
enum { EXIT_AGAIN = 75, EXIT_MEMORY = 12 };

static int exit_of(const cubed_error *err)
{
    const int code = cli_report("worker", err);
    if (code != EXIT_FAILURE) return code;
    switch (cubed_failure_of(err)) {
    case CUBED_FAILURE_PERMANENT: return code;
    case CUBED_FAILURE_MEMORY: return EXIT_MEMORY;
    default: return EXIT_AGAIN;
    }
}

/* Runs a worker. `server` is the Python module of a worker over HTTP, followed by its options. */
static int run(int argc, char **argv, python_words *server)
{
    request r = {.takeover = CUBED_TAKEOVER_OPTIONS_INIT};
    bool allow_code = false, lambda = false, http = false;
    const char *serve_fd = NULL, *driver = NULL;
    cli_common c = CLI_COMMON_INIT;
    int key;
    while ((key = cli_next_option(argc, argv, &cmd_worker_usage, NULL)) != -1) {
        if (key == KEY_BEGIN) r.begin = true;
        if (key == KEY_FINISH) r.finish = true;
        if (key == KEY_RUN) r.run = optarg;
        if (key == KEY_MESSAGE) r.message = optarg;
        if (key == KEY_TIMEOUT && !cli_parse_milliseconds(optarg, &r.timeout_ms))
            return cli_usage_error("worker", "--task-timeout \"%s\": expected " CLI_MILLISECONDS,
                                   optarg);
        if (key == KEY_OF && (!parse_count(optarg, &r.of)))
            return cli_usage_error("worker", "--of \"%s\": expected a number of at least 1",
                                   optarg);
        if (key == KEY_SERVE) serve_fd = optarg;
        if (key == KEY_LAMBDA) lambda = true;
        if (key == KEY_HTTP) http = true;
        if (key == KEY_HTTP || (key >= KEY_HOST && key <= KEY_MAX_BODY))
            python_add_option(server, own, key, optarg);
        if (key == KEY_ISA) c.isa = optarg;
        if (key == KEY_ALLOW_CODE) allow_code = true;
        if (key == KEY_DRIVER) driver = optarg;
        if (key == KEY_TAKE_OVER) r.takeover.take_over = true;
        if (key == KEY_SILENCE && !cli_parse_silence(optarg, &r.takeover.silence_seconds))
            return cli_usage_error("worker", "--silence \"%s\": expected " CLI_SILENCE, optarg);
    }
    if (server->n > PYTHON_MODULE_WORDS && !http)
        return cli_usage_error("worker", "%s: expected with --http",
                               server->list[PYTHON_MODULE_WORDS]);
    if ((serve_fd || lambda || http) &&
        (optind < argc || r.begin || r.finish || r.run || r.message))
        return cli_usage_error("worker",
                               "%s gets its work from its caller: no other arguments are expected",
                               serve_fd ? "--serve"
                               : lambda ? "--lambda"
                                        : "--http");
    if (http) return serve_http(server);
    if (serve_fd || lambda) return serve(serve_fd, &c);
    int code = check_request(&r, argc, argv);
    if (code != EXIT_SUCCESS) return code;
    if (driver && strcmp(driver, cubed_version()) != 0) {
        fprintf(stderr,
                "cubed worker: the driver has version %.40s of cubed, this worker has %s: install "
                "the same version\n",
                driver, cubed_version());
        return EXIT_FAILURE;
    }
    python_functions python;
    told t = {.allow_code = allow_code, .request = &r, .python = &python};
    cubed_error err = CUBED_ERROR_INIT;
    cli_catch_signals();
    code = cli_context("worker", &c, &t.ctx);
    if (code == EXIT_SUCCESS) code = cli_read_plan("worker", t.ctx, argv[optind], &t.plan, &t.size);
    if (code == EXIT_SUCCESS && perform(&t, &err) != CUBED_OK) code = exit_of(&err);
    cubed_context_unref(t.ctx);
    cli_free(t.plan);
    return code;
}

int cmd_worker(int argc, char **argv)
{
    python_words server = python_module_words("cubed.runtime.http_worker");
    const int code = run(argc, argv, &server);
    python_words_free(&server);
    return code;
}
