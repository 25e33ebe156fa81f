/* Runs plans as job arrays of batch systems, from a folder with the plan, the job descriptions, and scripts that start, list and
 * cancel jobs.
 *
 * Workers write notes about completed tasks in the work directory. So no process has to run all the time, and restarted jobs
 * continue with the missing tasks. */
#define _GNU_SOURCE
#include "lang/lang_memory.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engines.h"
#include "python.h"
#include "python_tasks.h"
#include "status_file.h"

enum {
    KEY_ENGINE = CLI_OWN_KEY,
    KEY_OPTION,
    KEY_RUN,
    KEY_WORKERS,
    KEY_ELEMENTS,
    KEY_TRIES,
    KEY_START,
    KEY_TAKE_OVER,
    KEY_ALLOW_CODE,
    KEY_EVERY,
    KEY_SERVE,
    KEY_JSON
};
/* Maximum number of missing ranges to examine. */
enum { LOOKED_AT = 1 << 16 };
/* Seconds between checks of the run. */
enum { EVERY = 5 };
/* RETRIES: default number of retries of a part; MAX_RETRIES: its maximum. */
enum { RETRIES = 2, MAX_RETRIES = 255 };

static const cli_option submit_options[] = {
    {"engine", "slurm|pbs|htcondor|flux|kubernetes|aws-batch|cloud-run|coiled-batch|beam",
     "the batch system", KEY_ENGINE},
    {"engine-option", "NAME=VALUE",
     "option of the batch system, such as partition=long or image=me/cubed (repeatable)",
     KEY_OPTION},
    {"run", "NAME",
     "name of the run: letters, digits, \"-\", \"_\" and \".\" (default: DIR's last part)",
     KEY_RUN},
    {"max-workers", "N", "maximum number of jobs at a time (default: the plan's workers)",
     KEY_WORKERS},
    {"elements", "N",
     "number of array tasks per stage, if the stage has as many tasks (default: by the plan's "
     "estimate)",
     KEY_ELEMENTS},
    {"retries", "N", "retries of a part after a transient failure (default 2)", KEY_TRIES},
    {CLI_TAKE_OVER_OPTION, NULL,
     "take the targets immediately from unfinished runs on other machines: make sure that these "
     "runs have ended",
     KEY_TAKE_OVER},
    {"allow-code", NULL,
     "allow the jobs to run the plan's Python functions, and code of the shared objects that it "
     "names; such code can do anything",
     KEY_ALLOW_CODE},
    {"start", NULL, "also start the jobs, as DIR/start does", KEY_START},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_submit_usage = {
    .synopsis = "submit PLAN DIR --engine NAME [options]",
    .text =
        "Writes to DIR the files with which a batch system runs a plan that --save-plan wrote: a "
        "job array for each stage, which waits for the stages that it reads, and a job at the end. "
        "All nodes must see DIR, the plan's work directory and its stores. DIR has the scripts "
        "start, status and cancel; start after a failure runs only the missing tasks. Options go "
        "to slurm, pbs, htcondor, flux, coiled-batch and beam unchanged; kubernetes needs image= "
        "and claim= (a volume that contains DIR, mounted at mount=), aws-batch queue= and "
        "definition=, cloud-run image= and region=.",
    .examples =
        "  cubed eval 'mean(x, axis=0)' --in x=s3://b/x.zarr --out s3://b/y.zarr --max-workers "
        "100 \\\n      --other-machines --work-dir s3://b/tmp --save-plan p.cubed\n"
        "  cubed submit p.cubed /shared/monday --engine slurm --engine-option partition=long "
        "--start\n  cubed attach /shared/monday\n",
    .repeats = "engine-option",
    .own = submit_options};

/* --- Writing ------------------------------------------------------------------------------------------ */

/* Starts a process that runs the script. Its output goes to `out`, unless `out` is -1. */
static pid_t start_script(const char *dir, const char *script, int out)
{
    char *path = cli_printf("%s/%s", dir, script);
    (void)fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        if (out >= 0 && dup2(out, STDOUT_FILENO) < 0) _exit(127);
        execl("/bin/sh", "sh", path, (char *)NULL);
        _exit(127);
    }
    cli_free(path);
    return pid;
}

static bool end_script(pid_t pid)
{
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int run_script(const char *verb, const char *dir, const char *script)
{
    if (end_script(start_script(dir, script, -1))) return EXIT_SUCCESS;
    cli_say(stderr, "cubed %s: %s/%s failed\n", verb, dir, script);
    return EXIT_FAILURE;
}

/* Checks that shells and batch systems accept the path unquoted; *full is the absolute path, which the caller frees. */
static int find_directory(const char *verb, const char *dir, char **full)
{
    char path[PATH_MAX];
    if (!realpath(dir, path)) {
        cli_say(stderr, "cubed %s: %s: %s\n", verb, dir, strerror(errno));
        return EXIT_FAILURE;
    }
    if (!batch_is_plain(path))
        return cli_usage_error(verb,
                               "\"%s\": expected letters, digits and -_./:=,@+ in the "
                               "path of a directory for batch systems",
                               path);
    *full = cli_strdup(path);
    return EXIT_SUCCESS;
}

static int make_directory(const char *verb, const char *dir)
{
    if (mkdir(dir, 0777) == 0 || errno == EEXIST) return EXIT_SUCCESS;
    cli_say(stderr, "cubed %s: cannot make %s: %s\n", verb, dir, strerror(errno));
    return EXIT_FAILURE;
}

int engine_choose(const char *verb, const char *name, batch_choice *c)
{
    c->engine = batch_find(name);
    if (c->engine) return EXIT_SUCCESS;
    return cli_usage_error(verb, "--engine \"%s\": expected one of those in --help", name);
}

int engine_add_option(const char *verb, char *text, batch_choice *c)
{
    char *value = strchr(text, '=');
    if (!value || c->noptions == BATCH_OPTIONS)
        return cli_usage_error(verb, "--engine-option \"%s\": expected NAME=VALUE, at most %d",
                               text, BATCH_OPTIONS);
    *value = 0;
    c->options[c->noptions++] = (batch_option){text, value + 1};
    return EXIT_SUCCESS;
}

int engine_check(const char *verb, const batch_choice *c)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (batch_check(c, &err) == CUBED_OK) return EXIT_SUCCESS;
    return cli_usage_error(verb, "%s", err.message);
}

/* Writes a run's files to s->dir, which exists. If s->run is NULL, the run has the name of the directory. */
static int write_run(const char *verb, batch_submission *s, const cubed_plan *plan,
                     const void *bytes, size_t size)
{
    cubed_error err = CUBED_ERROR_INIT;
    char program[PATH_MAX];
    if (cli_own_path(program, &err) != CUBED_OK) return cli_report(verb, &err);
    s->program = program;
    s->python = python_name();
    const cubed_status st = batch_write(s, plan, bytes, size, &err);
    s->program = NULL;
    if (st == CUBED_E_ARG) return cli_usage_error(verb, "%s", err.message);
    return st == CUBED_OK ? EXIT_SUCCESS : cli_report(verb, &err);
}

int cmd_submit(int argc, char **argv)
{
    batch_choice choice = {.engine = NULL};
    batch_submission s = {.choice = &choice, .retries = RETRIES};
    cli_common c = CLI_COMMON_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    char *dir = NULL;
    cubed_context *ctx = NULL;
    cubed_plan *plan = NULL;
    void *bytes = NULL;
    size_t size;
    bool start = false, allow_code = false;
    python_functions python;
    int key, code = EXIT_SUCCESS;
    while ((key = cli_next_option(argc, argv, &cmd_submit_usage, NULL)) != -1) {
        if (key == KEY_ENGINE) code = engine_choose("submit", optarg, &choice);
        if (key == KEY_OPTION) code = engine_add_option("submit", optarg, &choice);
        if (code != EXIT_SUCCESS) return code;
        if (key == KEY_RUN) s.run = optarg;
        if (key == KEY_START) start = true;
        if (key == KEY_ALLOW_CODE) allow_code = true;
        if (key == KEY_TAKE_OVER) s.take_over = true;
        if (key == KEY_TRIES) {
            const char *text = optarg;
            int64_t n;
            if (!lang_parse_int(&text, &n) || *text || n < 0 || n > MAX_RETRIES)
                return cli_usage_error("submit", "--retries \"%s\": expected 0 to %d", optarg,
                                       MAX_RETRIES);
            s.retries = (int)n;
        }
        if (key == KEY_WORKERS || key == KEY_ELEMENTS) {
            const char *text = optarg;
            int64_t n;
            if (!lang_parse_int(&text, &n) || *text || n < 1 || n > INT32_MAX)
                return cli_usage_error("submit", "--%s \"%s\": expected 1 or more",
                                       key == KEY_WORKERS ? "max-workers" : "elements", optarg);
            if (key == KEY_WORKERS)
                s.workers = (unsigned)n;
            else
                s.elements = n;
        }
    }
    if (!choice.engine) return cli_usage_error("submit", "expected --engine NAME");
    if (argc - optind != 2) return cli_argument_error("submit", "PLAN DIR", argc - optind);
    code = engine_check("submit", &choice);
    if (code != EXIT_SUCCESS) return code;
    code = cli_context("submit", &c, &ctx);
    if (code == EXIT_SUCCESS) code = cli_read_plan("submit", ctx, argv[optind], &bytes, &size);
    if (code == EXIT_SUCCESS &&
        python_load_plan(ctx, &python, bytes, size, allow_code, &plan, &err) != CUBED_OK)
        code = cli_report("submit", &err);
    if (code == EXIT_SUCCESS) code = make_directory("submit", argv[optind + 1]);
    if (code == EXIT_SUCCESS) code = find_directory("submit", argv[optind + 1], &dir);
    s.dir = dir;
    if (code == EXIT_SUCCESS) code = write_run("submit", &s, plan, bytes, size);
    if (code == EXIT_SUCCESS && start) code = run_script("submit", dir, "start");
    if (code == EXIT_SUCCESS)
        printf(start ? "started; to wait for it: cubed attach %s\n" : "to start it: sh %s/start\n",
               dir);
    cli_free(dir);
    cubed_plan_unref(plan);
    cubed_context_unref(ctx);
    cli_free(bytes);
    return code;
}

/* --- Following a run ---------------------------------------------------------------------------------- */

static const cli_option follow_options[] = {{NULL, NULL, NULL, 0}};
static const cli_option attach_options[] = {
    {"every", "SECONDS", "interval between checks in seconds (default 5)", KEY_EVERY},
    {NULL, NULL, NULL, 0}};

static const cli_option status_options[] = {
    {"serve", "PORT",
     "show the state on a page at http://127.0.0.1:PORT/ until an interrupt (0: a free port)",
     KEY_SERVE},
    {NULL, NULL, NULL, 0}};

const cli_usage cmd_status_usage = {
    .synopsis = "status FILE|DIR [--serve PORT]",
    .text = "Prints the state of a run. FILE is the status file of a run with --status FILE, or of "
            "StatusCallback in Python. DIR is a directory that `cubed submit` wrote: then the "
            "command counts completed tasks by the notes that workers write in the work directory, "
            "and also prints the jobs that the batch system still has.",
    .examples = "  cubed eval 'mean(x, axis=0)' --in x=x.zarr --out y.zarr --status run.json &\n"
                "  cubed status run.json --serve 8080\n",
    .own = status_options};

const cli_usage cmd_attach_usage = {
    .synopsis = "attach DIR [--every SECONDS]",
    .text = "Waits until a run that `cubed submit` wrote to DIR has ended. An interrupt ends only "
            "this command, not the run. Fails if the batch system has no more jobs of the run and "
            "tasks are missing.",
    .own = attach_options};

const cli_usage cmd_cancel_usage = {
    .synopsis = "cancel DIR",
    .text = "Cancels the jobs of a run that `cubed submit` wrote to DIR, and prints how to "
            "continue the run. Completed chunks stay until `cubed clean --detached` removes them.",
    .own = follow_options};

typedef struct followed {
    const char *dir;
    char *run, *engine;
    cubed_context *ctx;
    cubed_plan *plan;
    int stages;
    int64_t tasks,
        *done; /* tasks: number of tasks of the plan; done: number of completed tasks, by stage */
    bool all_done, over; /* all_done: all tasks are done; over: the results are also complete */
    python_functions python;
} followed;

static void count_event(void *ctx, const cubed_event *e)
{
    followed *f = ctx;
    if (e->kind == CUBED_EVENT_TASK_RESUMED && e->stage >= 0 && e->stage < f->stages)
        f->done[e->stage]++;
}

/* Reads the notes of workers about completed tasks, and counts these tasks. */
static cubed_status look(followed *f, cubed_error *err)
{
    cubed_driver_options o = CUBED_DRIVER_OPTIONS_INIT;
    cubed_driver *driver;
    cubed_error why = CUBED_ERROR_INIT;
    o.max_in_flight = LOOKED_AT;
    o.on_event = count_event;
    o.event_ctx = f;
    memset(f->done, 0, (size_t)f->stages * sizeof *f->done);
    cubed_status st = cubed_driver_new(f->plan, f->run, &o, NULL, &driver, &why);
    if (st == CUBED_OK) {
        cubed_task_range one;
        int n;
        /* If no other stage waits for a stage, the driver examines it only when its ranges are requested. So all ready ranges are
         * requested here. */
        while (cubed_run_ready(driver, &one, 1, &n, NULL) == CUBED_OK && n == 1) continue;
        f->all_done = cubed_run_is_over(driver);
        cubed_driver_free(driver);
        return CUBED_OK;
    }
    if (st == CUBED_E_NOT_FOUND && cubed_run_finish(f->plan, f->run, NULL) == CUBED_OK) {
        f->over = true;
        return CUBED_OK;
    }
    *err = why;
    return st;
}

static int open_run(const char *verb, const char *dir, followed *f)
{
    cli_common c = CLI_COMMON_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_info info;
    json_error_t wrong;
    void *bytes = NULL;
    size_t size;
    char *path = cli_printf("%s/run.json", dir), *saved = cli_printf("%s/plan.cubed", dir);
    json_t *doc = json_load_file(path, 0, &wrong);
    const char *run = json_string_value(json_object_get(doc, "run"));
    const char *system = json_string_value(json_object_get(doc, "engine"));
    int code = EXIT_SUCCESS;
    f->dir = dir;
    if (!run || !system || cli_read_file(saved, &bytes, &size) != 0) {
        cli_say(stderr, "cubed %s: %s is no directory that cubed submit wrote\n", verb, dir);
        code = EXIT_FAILURE;
    } else {
        f->run = cli_strdup(run);
        f->engine = cli_strdup(system);
        code = cli_context(verb, &c, &f->ctx);
    }
    /* The user who submitted the plan allowed its code. This process runs no task. */
    if (code == EXIT_SUCCESS &&
        python_load_plan(f->ctx, &f->python, bytes, size, true, &f->plan, &err) != CUBED_OK)
        code = cli_report(verb, &err);
    if (code == EXIT_SUCCESS) {
        cubed_plan_get_info(f->plan, &info);
        f->stages = info.num_stages;
        f->tasks = info.num_tasks;
        f->done = cli_alloc(((size_t)f->stages + 1) * sizeof *f->done);
    }
    json_decref(doc);
    cli_free(bytes);
    cli_free(path);
    cli_free(saved);
    return code;
}

static void close_run(followed *f)
{
    cubed_plan_unref(f->plan);
    cubed_context_unref(f->ctx);
    cli_free(f->done);
    cli_free(f->run);
    cli_free(f->engine);
}

static int64_t total_done(const followed *f)
{
    int64_t n = 0;
    for (int i = 0; i < f->stages; i++) n += f->done[i];
    return f->over ? f->tasks : n;
}

static int one_directory(const char *verb, int argc)
{
    if (argc - optind == 1) return EXIT_SUCCESS;
    return cli_argument_error(verb, "DIR", argc - optind);
}

/* Runs the script that lists failed parts, if the batch system has one. */
static void list_failures(const char *dir, int out)
{
    char *path = cli_printf("%s/failures", dir);
    if (access(path, R_OK) == 0) (void)end_script(start_script(dir, "failures", out));
    cli_free(path);
}

/* Minimum interval, in seconds, between reads of the workers' notes, however many pages are open. */
enum { LOOK_EVERY = 5, SHOWN_STAGES = 100 };

/* A run of a batch system that a page shows. */
typedef struct shown_run {
    followed f;
    time_t looked;
} shown_run;

static json_t *stages_of(const followed *f)
{
    json_t *stages = json_array();
    for (int i = 0; i < f->stages && i < SHOWN_STAGES; i++) {
        cubed_stage_info info;
        if (cubed_plan_get_stage(f->plan, i, &info, NULL) != CUBED_OK) break;
        char *shown = cli_visible(info.name, false);
        json_t *name = json_string(shown); /* NULL if it is not valid UTF-8 */
        cli_free(shown);
        json_t *s = json_pack("{s:i, s:o, s:I, s:I, s:I}", "stage", i, "name",
                              name ? name : json_string(""), "tasks", (json_int_t)info.num_tasks,
                              "done", (json_int_t)(f->over ? info.num_tasks : f->done[i]),
                              "projected_mem", (json_int_t)info.projected_mem);
        (void)json_array_append_new(stages, s);
    }
    return stages;
}

/* Status of a run of a batch system, for cli_status_fn. Batch systems report neither memory nor failures of tasks, so the status
 * has fewer numbers. */
static json_t *status_of_jobs(void *ctx, char **why)
{
    shown_run *s = ctx;
    cubed_error err = CUBED_ERROR_INIT;
    const time_t now = time(NULL);
    if (!s->f.over && now - s->looked >= LOOK_EVERY) {
        if (look(&s->f, &err) != CUBED_OK) {
            *why = cli_strdup(err.message);
            return NULL;
        }
        s->looked = now;
    }
    const int left = s->f.stages > SHOWN_STAGES ? s->f.stages - SHOWN_STAGES : 0;
    return json_pack("{s:i, s:s, s:s, s:I, s:I, s:I, s:o, s:i, s:[], s:n}", "cubed_status", 1,
                     "state", s->f.over ? "done" : "running", "executor", s->f.engine, "age",
                     (json_int_t)(now - s->looked), "tasks", (json_int_t)s->f.tasks, "done",
                     (json_int_t)total_done(&s->f), "stages", stages_of(&s->f), "stages_left_out",
                     left, "failures", "error");
}

/* Status from a status file, for cli_status_fn. `ctx` is the path of the file. */
static json_t *status_of_file(void *ctx, char **why) { return cli_status_read(ctx, why); }

static int show_file(char *path)
{
    char *why = NULL;
    json_t *status = cli_status_read(path, &why);
    if (status)
        cli_status_print(status);
    else
        cli_say(stderr, "cubed status: %s\n", why);
    cli_free(why);
    const int code = status ? EXIT_SUCCESS : EXIT_FAILURE;
    json_decref(status);
    return code;
}

static int serve(char *path, bool is_file, uint16_t port)
{
    shown_run s = {.f = {.dir = NULL}};
    if (is_file) return cli_status_serve("status", port, status_of_file, path);
    int code = open_run("status", path, &s.f);
    if (code == EXIT_SUCCESS) code = cli_status_serve("status", port, status_of_jobs, &s);
    close_run(&s.f);
    return code;
}

int cmd_status(int argc, char **argv)
{
    followed f = {.dir = NULL};
    cubed_error err = CUBED_ERROR_INIT;
    struct stat found;
    int64_t port = -1;
    while (cli_next_option(argc, argv, &cmd_status_usage, NULL) != -1) {
        const char *text = optarg;
        if (!lang_parse_int(&text, &port) || *text || port < 0 || port > UINT16_MAX)
            return cli_usage_error("status", "--serve \"%s\": expected a port, 0 to 65535", optarg);
    }
    if (argc - optind != 1) return cli_argument_error("status", "FILE or DIR", argc - optind);
    /* A status file may not exist yet. */
    const bool is_file = stat(argv[optind], &found) != 0 || !S_ISDIR(found.st_mode);
    if (port >= 0) return serve(argv[optind], is_file, (uint16_t)port);
    if (is_file) return show_file(argv[optind]);
    int code = open_run("status", argv[optind], &f);
    if (code == EXIT_SUCCESS && look(&f, &err) != CUBED_OK) code = cli_report("status", &err);
    for (int i = 0; i < f.stages && code == EXIT_SUCCESS && !f.over; i++) {
        cubed_stage_info info;
        if (cubed_plan_get_stage(f.plan, i, &info, &err) != CUBED_OK) break;
        printf("stage %d: %" PRId64 " of %" PRId64 " tasks done: %s\n", i, f.done[i],
               info.num_tasks, info.name);
    }
    if (code == EXIT_SUCCESS)
        cli_say(stdout, "run %s on %s: %" PRId64 " of %" PRId64 " tasks done%s\n", f.run, f.engine,
                total_done(&f), f.tasks, f.over ? ", the results are complete" : "");
    if (code == EXIT_SUCCESS && !f.over) list_failures(f.dir, STDOUT_FILENO);
    if (code == EXIT_SUCCESS && !f.over) code = run_script("status", f.dir, "status");
    close_run(&f);
    return code;
}

/* Returns true if the batch system has jobs of the run, including waiting ones. */
static bool has_jobs(const char *dir)
{
    int ends[2];
    char said[4096];
    bool any = false;
    /* assume that there are jobs; the caller checks again later */
    if (pipe(ends) != 0) return true;
    const pid_t pid = start_script(dir, "status", ends[1]);
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], said, sizeof said)) != 0;) {
        if (n < 0 && errno != EINTR) break;
        any = any || n > 0;
    }
    close(ends[0]);
    (void)end_script(pid);
    return any;
}

static int wait_for(const char *verb, followed *f, unsigned every)
{
    cubed_error err = CUBED_ERROR_INIT;
    int64_t said = -1;
    for (bool jobs = true;; jobs = has_jobs(f->dir)) {
        if (look(f, &err) != CUBED_OK) return cli_report(verb, &err);
        if (total_done(f) != said) {
            said = total_done(f);
            fprintf(stderr, "%" PRId64 " of %" PRId64 " tasks done\n", said, f->tasks);
        }
        /* The job that completes the results did not start, or ended too early, so this process completes them. */
        if (!jobs && f->all_done && !f->over) {
            if (cubed_run_finish(f->plan, f->run, &err) != CUBED_OK) return cli_report(verb, &err);
            f->over = true;
        }
        if (f->over) return EXIT_SUCCESS;
        if (!jobs) {
            list_failures(f->dir, STDERR_FILENO);
            fprintf(stderr,
                    "cubed %s: no jobs are left, but tasks are missing: see the logs in %s; to "
                    "continue: sh %s/start\n",
                    verb, f->dir, f->dir);
            return EXIT_FAILURE;
        }
        for (unsigned i = 0; i < every && !cubed_cancel_is_set(&cli_cancel); i++) sleep(1);
        if (cubed_cancel_is_set(&cli_cancel)) {
            fprintf(stderr,
                    "cubed %s: the run continues; to wait for it: cubed attach %s; to cancel it: "
                    "cubed cancel %s\n",
                    verb, f->dir, f->dir);
            return EXIT_INTERRUPTED;
        }
    }
}

static int attach(const char *verb, const char *dir, unsigned every)
{
    followed f = {.dir = NULL};
    int code = open_run(verb, dir, &f);
    cli_catch_signals();
    if (code == EXIT_SUCCESS) code = wait_for(verb, &f, every);
    close_run(&f);
    return code;
}

int cmd_attach(int argc, char **argv)
{
    int64_t every = EVERY;
    while (cli_next_option(argc, argv, &cmd_attach_usage, NULL) != -1) {
        const char *text = optarg;
        if (!lang_parse_int(&text, &every) || *text || every < 1 || every > 3600)
            return cli_usage_error("attach", "--every \"%s\": expected 1 to 3600 seconds", optarg);
    }
    const int code = one_directory("attach", argc);
    return code == EXIT_SUCCESS ? attach("attach", argv[optind], (unsigned)every) : code;
}

int cmd_cancel(int argc, char **argv)
{
    followed f = {.dir = NULL};
    while (cli_next_option(argc, argv, &cmd_cancel_usage, NULL) != -1) continue;
    int code = one_directory("cancel", argc);
    if (code == EXIT_SUCCESS) code = open_run("cancel", argv[optind], &f);
    if (code == EXIT_SUCCESS) code = run_script("cancel", f.dir, "cancel");
    if (code == EXIT_SUCCESS) printf("cancelled; to continue the run: sh %s/start\n", f.dir);
    close_run(&f);
    return code;
}

/* --- Starting a run in the background ----------------------------------------------------------------- */

/* Creates a directory for a run in the plan's work directory; the caller frees its path. */
static int make_run_directory(const char *verb, const cubed_plan *plan, char **dir)
{
    cubed_plan_info info;
    cubed_plan_get_info(plan, &info);
    if (!info.work_dir || info.work_dir[0] != '/')
        return cli_usage_error(
            verb,
            "--engine: jobs read the plan in the work directory, but the plan has %s: expected "
            "--work-dir DIR, a directory that all nodes can access, or `cubed submit PLAN DIR`",
            info.work_dir ? info.work_dir : "none");
    int code = make_directory(verb, info.work_dir);
    if (code == EXIT_SUCCESS) code = find_directory(verb, info.work_dir, dir);
    if (code != EXIT_SUCCESS) return code;
    char *made = cli_printf("%s/run-XXXXXX", *dir);
    cli_free(*dir);
    *dir = made;
    /* mkdtemp gives only this user permissions, but jobs of batch systems may run as another user. */
    const mode_t mask = umask(0);
    (void)umask(mask);
    if (mkdtemp(made) && chmod(made, 0777 & ~mask) == 0) return EXIT_SUCCESS;
    cli_say(stderr, "cubed %s: cannot make %s: %s\n", verb, made, strerror(errno));
    return EXIT_FAILURE;
}

int engine_check_run(const char *verb, const batch_choice *c, bool detach)
{
    const char *name = c->engine->name;
    if (c->engine->apart)
        return cli_usage_error(
            verb,
            "--engine: machines of %s cannot access directories of this machine: expected "
            "`cubed submit PLAN DIR --engine %s --start`",
            name, name);
    if (detach && c->engine->leave == BATCH_STAYS)
        return cli_usage_error(
            verb, "--detach: a run with %s does not continue without this command", name);
    return EXIT_SUCCESS;
}

int engine_run(const char *verb, const batch_choice *c, const cubed_plan *plan, unsigned workers,
               int retries, bool detach)
{
    batch_submission s = {.choice = c, .workers = workers, .retries = retries, .leaves = detach};
    cubed_error err = CUBED_ERROR_INIT;
    char *dir = NULL;
    void *bytes;
    size_t size;
    if (cubed_plan_save(plan, &bytes, &size, &err) != CUBED_OK) return cli_report(verb, &err);
    int code = make_run_directory(verb, plan, &dir);
    s.dir = dir;
    if (code == EXIT_SUCCESS) code = write_run(verb, &s, plan, bytes, size);
    if (code == EXIT_SUCCESS) code = run_script(verb, dir, "start");
    if (code == EXIT_SUCCESS && detach)
        printf("started run %s on %s\nto see its progress:  cubed status %s\nto wait for it:       "
               "cubed attach %s\nto end it:            cubed cancel %s\n",
               s.run, c->engine->name, dir, dir, dir);
    if (code == EXIT_SUCCESS && !detach) code = attach(verb, dir, EVERY);
    cubed_plan_free_bytes(plan, bytes, size);
    cli_free(dir);
    return code;
}
