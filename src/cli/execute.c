/* Plans and runs computations for all subcommands. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive.h"
#include "cli.h"
#include "report/report.h"
#include "status_file.h"

/* check_layers: allow global: a signal handler has nowhere else to write */
cubed_cancel cli_cancel;

static void on_signal(int number)
{
    (void)number;
    if (cubed_cancel_is_set(&cli_cancel)) _exit(EXIT_INTERRUPTED);
    cubed_cancel_set(&cli_cancel);
}

void cli_catch_signals(void)
{
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_signal;
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
}

/* Allows the context to follow references with the given prefixes, and frees the command's copies of the prefixes. */
static cubed_status allow_references(cubed_context *ctx, cli_common *c, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    if (!c) return st;
    for (int i = 0; i < c->nreferences && st == CUBED_OK; i++)
        st = cubed_context_allow_references(ctx, NULL, c->references[i], err);
    cli_free(c->references);
    c->references = NULL;
    c->nreferences = 0;
    return st;
}

int cli_context(const char *verb, cli_common *c, cubed_context **out)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
    *out = NULL;
    if (c) o.isa = c->isa;
    cubed_status st = cubed_context_new(&o, out, &err);
    if (st == CUBED_OK) {
        st = cubed_context_set_variables(*out, (const char *const *)environ, &err);
        if (st == CUBED_OK && (st = allow_references(*out, c, &err)) != CUBED_OK) {
            cubed_context_unref(*out);
            *out = NULL;
            return cli_usage_error(verb, "--" CLI_REFERENCES_OPTION ": %s", err.message);
        }
        if (st == CUBED_OK) return EXIT_SUCCESS;
        cubed_context_unref(*out);
        *out = NULL;
    }
    if (st == CUBED_E_ARG && o.isa) return cli_usage_error(verb, "--isa: %s", err.message);
    return cli_report(verb, &err);
}

static cubed_status io_error(cubed_error *err, const char *what, const char *name)
{
    err->status = CUBED_E_IO;
    err->os_errno = errno;
    snprintf(err->message, sizeof err->message, "cannot %s %s: %s", what, name, strerror(errno));
    return CUBED_E_IO;
}

/* Returns a message about an option that --save-plan requires and that is missing, or NULL. */
static const char *missing_to_save(const cubed_plan *plan, const cubed_target *targets,
                                   int ntargets, const cli_common *c)
{
    cubed_plan_info info;
    cubed_stored_info x;
    cubed_plan_get_info(plan, &info);
    for (int i = 0; i < ntargets; i++) {
        if (!targets[i].url) return "--save-plan needs --out: workers store what they compute";
    }
    for (int i = 0; i < info.num_stages && !c->work_dir; i++) {
        for (int k = 0; cubed_plan_get_output(plan, i, k, &x, NULL) == CUBED_OK; k++) {
            if (!x.is_target)
                return "--save-plan needs --work-dir: this plan has intermediates, which workers "
                       "share there";
        }
    }
    return NULL;
}

static cubed_status save_plan(const cubed_plan *plan, const char *file, cubed_error *err)
{
    void *bytes;
    size_t size;
    cubed_status st = cubed_plan_save(plan, &bytes, &size, err);
    if (st != CUBED_OK) return st;
    FILE *f = fopen(file, "wb");
    bool ok = f && fwrite(bytes, 1, size, f) == size;
    if (f && fclose(f) != 0) ok = false;
    if (!ok) st = io_error(err, "write", file);
    cubed_plan_free_bytes(plan, bytes, size);
    return st;
}

static cubed_status draw_plan(const cubed_plan *plan, const char *file, cubed_error *err)
{
    size_t n = strlen(file);
    FILE *f = fopen(file, "w");
    if (!f) return io_error(err, "write", file);
    cubed_status st = CUBED_OK;
    if (n > 4 && strcmp(file + n - 4, ".dot") == 0)
        report_plan_dot(plan, f);
    else
        st = report_plan_svg(plan, false, f, err);
    bool lost = ferror(f);
    if (fclose(f) != 0) lost = true;
    return lost && st == CUBED_OK ? io_error(err, "write", file) : st;
}

/* Serialises and deserialises the plan, and binds the results in memory again. */
static cubed_status reload(cubed_context *ctx, const cubed_target *targets, int ntargets,
                           cubed_plan **plan, cubed_error *err)
{
    void *bytes;
    size_t size;
    cubed_plan *loaded;
    cubed_status st = cubed_plan_save(*plan, &bytes, &size, err);
    if (st != CUBED_OK) return st;
    st = cubed_plan_load(ctx, bytes, size, &loaded, err);
    cubed_plan_free_bytes(*plan, bytes, size);
    if (st != CUBED_OK) return st;
    for (int i = 0; i < ntargets && st == CUBED_OK; i++) {
        const cubed_array *x = targets[i].array;
        size_t n = cubed_dtype_size(cubed_array_dtype(x));
        if (targets[i].url) continue;
        for (int d = 0; d < cubed_array_ndim(x); d++) n *= (size_t)cubed_array_shape(x)[d];
        st = cubed_plan_bind_result(loaded, i, targets[i].data, n, err);
    }
    cubed_plan_unref(*plan);
    *plan = loaded;
    return st;
}

cubed_status cli_own_path(char path[PATH_MAX], cubed_error *err)
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (n < 0) return io_error(err, "find out the path of", "this program");
    path[n] = 0;
    return CUBED_OK;
}

/* Objects that receive the events of a run. */
typedef struct listeners {
    cli_progress *progress;
    report *report; /* may be NULL */
    cli_status status;
} listeners;

static void on_event(void *ctx, const cubed_event *e)
{
    listeners *l = ctx;
    cli_progress_event(l->progress, e);
    if (!l->report) return;
    report_event(l->report, e);
    cli_status_event(&l->status, l->report);
}

/* Creates a report with the requests that the plan states. */
static cubed_status open_report(cubed_plan *plan, const cli_common *c, report **out,
                                cubed_error *err)
{
    report_requests requests;
    cubed_status st = cli_get_traffic(plan, c, &requests, err);
    if (st != CUBED_OK) return st;
    st = report_open(plan, out, err);
    if (st == CUBED_OK) report_expect(*out, &requests);
    return st;
}

static const char *executor_name(const cli_common *c)
{
    return c->executor ? c->executor : cubed_executor_name(NULL, 0);
}

/* Writes a report of the run. If the run failed, the report has the error. */
static cubed_status write_report(const report *r, const cli_common *c, FILE *f, cubed_status st,
                                 const cubed_run_stats *stats, cubed_error *err)
{
    cubed_error own = CUBED_ERROR_INIT;
    report_run run = {.executor = executor_name(c),
                      .stats = stats,
                      .error = st == CUBED_OK ? NULL : err->message};
    cubed_status written = report_write(r, &run, f, &own);
    if (written == CUBED_OK && (fflush(f) != 0 || ferror(f)))
        written = io_error(&own, "write the report to", c->report);
    if (st != CUBED_OK || written == CUBED_OK) return st;
    *err = own;
    return written;
}

/* Returns the executor's capabilities. The name of the executor is valid, because the option was checked. */
static cubed_executor_caps executor_caps(const cli_common *c)
{
    cubed_executor_caps caps = {.shares_memory = false};
    cubed_status ignored = cubed_executor_get_caps(NULL, c->executor, &caps, NULL);
    (void)ignored;
    return caps;
}

void cli_warn_of_reserve(const char *verb, const cubed_plan *plan, const cli_common *c)
{
    cubed_plan_info info;
    char held[32], reserved[32], over[32];
    const uint64_t resident = cubed_resident_mem();
    /* workers of this executor fail with their own error if they exceed their memory */
    if (executor_caps(c).enforces_memory) return;
    cubed_plan_get_info(plan, &info);
    const uint64_t bound = info.max_workers * info.allowed_mem, all = resident + info.process_mem;
    if (all <= bound) return;
    cli_format_bytes((double)resident, held);
    cli_format_bytes((double)info.reserved_mem, reserved);
    cli_format_bytes((double)(all - bound), over);
    fprintf(stderr,
            "cubed %s: warning: this process holds %s before any task, but for each of %u workers "
            "only %s is reserved, so it may use %s more than all workers are allowed: use "
            "--reserved-mem %" PRIu64 "\n",
            verb, held, info.max_workers, reserved, over,
            (resident + info.max_workers - 1) / info.max_workers);
}

/* Warns on stderr if worker processes used more memory in a run than reserved_mem assumes. */
static void warn_of_workers(const cubed_plan *plan, const cubed_run_stats *stats)
{
    cubed_plan_info info;
    char held[32], over[32];
    const uint64_t tasks = stats->process_tasks > 0 ? stats->process_tasks : 1;
    const uint64_t enough = (stats->process_mem + tasks - 1) / tasks;
    if (stats->process_excess == 0) return;
    cubed_plan_get_info(plan, &info);
    fprintf(stderr,
            "cubed: warning: a worker process held %s for code and libraries before its first "
            "task: it may use %s more than is allowed; use --reserved-mem %" PRIu64
            " --allowed-mem %" PRIu64 "\n",
            cli_format_bytes((double)stats->process_mem, held),
            cli_format_bytes((double)stats->process_excess, over), enough,
            enough + info.allowed_mem - info.reserved_mem);
}

static void tell_of_throttling(const cubed_run_stats *s)
{
    if (s->num_throttled)
        cli_say(stderr,
                "cubed: %" PRIu64 " %s refused because of their rate and repeated; at the end %u "
                "at a time %s allowed\n",
                s->num_throttled, s->num_throttled == 1 ? "request was" : "requests were",
                s->throttle_limit, s->throttle_limit == 1 ? "was" : "were");
}

static void tell_of_update(const cubed_update *u, const cubed_run_stats *s)
{
    char read[32];
    if (u->in_place)
        cli_say(stderr,
                "cubed: update: %" PRId64 " of %" PRId64 " stored objects of the sources changed: "
                "%" PRId64 " %s run and %" PRId64 " skipped; %s were read to compare them\n",
                u->num_changed, u->num_checked, s->num_tasks,
                s->num_tasks == 1 ? "task was" : "tasks were", s->num_resumed,
                cli_format_bytes((double)u->bytes_read, read));
    else
        cli_say(stderr, "cubed: update: everything was %s%s\n",
                *u->why ? "recomputed, because " : "computed, because there was no result", u->why);
    if (*u->no_record)
        cli_say(stderr,
                "cubed: warning: the next update will recompute everything, because the record of "
                "sources could not be written: %s\n",
                u->no_record);
}

cubed_status cli_run_plan(cubed_plan *plan, const cli_common *c, cubed_run_stats *stats,
                          cubed_error *err)
{
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    FILE *events = NULL, *page = NULL;
    listeners l = {.report = NULL};
    cubed_run_stats own_stats;
    cubed_update update;
    cubed_status st = CUBED_OK;
    char path[PATH_MAX];
    const char *command[6] = {path, "worker", NULL};
    int n = 2;
    if (executor_caps(c).takes_command && cli_own_path(path, err) != CUBED_OK) return err->status;
    if (c->isa) command[n++] = "--isa";
    if (c->isa) command[n++] = c->isa;
    command[n] = "--serve";
    if (!stats) stats = &own_stats;
    if (c->events && !(events = fopen(c->events, "w"))) return io_error(err, "write", c->events);
    if (c->report && !(page = fopen(c->report, "w"))) st = io_error(err, "write", c->report);
    if ((page || c->status) && st == CUBED_OK) st = open_report(plan, c, &l.report, err);
    if (c->status && st == CUBED_OK)
        st = cli_status_open(&l.status, c->status, executor_name(c), l.report, err);
    l.progress = cli_progress_open(plan, c->progress, events);
    o.executor = c->executor;
    o.retries = c->retries;
    o.backups = !c->no_backups;
    o.task_timeout_ms = c->task_timeout_ms;
    o.silence_seconds = c->silence_seconds;
    o.take_over = c->take_over;
    o.on_event = on_event;
    o.event_ctx = &l;
    o.cancel = &cli_cancel;
    o.resume = c->resume;
    o.update = c->update;
    o.updated = &update;
    o.keep = CUBED_KEEP_CHUNKS | CUBED_KEEP_RECORD | (c->work_dir ? CUBED_KEEP_INTERMEDIATES : 0);
    o.worker_command = command;
    if (st == CUBED_OK) {
        st = cubed_run(plan, &o, stats, err);
        warn_of_workers(plan, stats);
        tell_of_throttling(stats);
        if (c->update && st == CUBED_OK) tell_of_update(&update, stats);
        if (page) st = write_report(l.report, c, page, st, stats, err);
    }
    cli_status_close(&l.status, l.report, st == CUBED_OK ? NULL : err->message);
    cli_progress_close(l.progress);
    report_close(l.report);
    if (page) (void)fclose(page);
    bool lost = events && ferror(events);
    if (events && fclose(events) != 0) lost = true;
    if (lost && st == CUBED_OK) st = io_error(err, "write all events to", c->events);
    return st;
}

cubed_status cli_show_plan(const cubed_plan *plan, const cli_common *c, uint64_t mem_after,
                           cubed_error *err)
{
    report_requests traffic;
    const cubed_status st = c->plan_only ? cli_get_traffic(plan, c, &traffic, err) : CUBED_OK;
    if (st != CUBED_OK) return st;
    if (c->plan_only && c->json) cli_print_plan_json(stdout, plan, &traffic, mem_after);
    if (c->plan_only && !c->json) cli_print_plan(stdout, plan, &traffic, mem_after);
    if (c->plan_only && !c->json && c->explain) cli_explain_plan(stdout, plan);
    char text[1024];
    for (int i = 0; cubed_plan_get_warning(plan, i, text, sizeof text); i++)
        cli_say(stderr, "cubed: warning: %s\n", text);
    return c->plan_svg ? draw_plan(plan, c->plan_svg, err) : CUBED_OK;
}

cubed_plan_options cli_plan_options(const cli_common *c)
{
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    o.allowed_mem = c->allowed_mem;
    o.reserved_mem = c->reserved_mem;
    o.max_workers = c->max_workers;
    o.other_machines = c->other_machines;
    o.work_dir = c->work_dir;
    o.optimize = c->optimize;
    /* A plan depends on the number of workers. If the user gives this number, another executor can resume the run. */
    const cubed_executor_caps caps = executor_caps(c);
    if (!o.max_workers) o.max_workers = caps.max_workers;
    o.share_tasks = caps.shares_tasks;
    o.other_machines = o.other_machines || caps.remote;
    return o;
}

cubed_status cli_compute(cubed_context *ctx, cubed_array *x, void *data, const cli_common *c,
                         cubed_error *err)
{
    return cli_compute_all(ctx, &x, &data, 1, c, err);
}

cubed_status cli_compute_all(cubed_context *ctx, cubed_array *const *x, void *const *data, int n,
                             const cli_common *c, cubed_error *err)
{
    cubed_target *targets = cli_alloc((size_t)n * sizeof *targets);
    cubed_plan_options o = cli_plan_options(c);
    cli_common quiet = *c;
    cubed_plan *plan;
    if (!o.work_dir) o.work_dir = cli_temp_dir();
    quiet.progress = PROGRESS_NONE;
    quiet.events = quiet.report = quiet.status = NULL;
    quiet.resume = quiet.update = false;
    cli_catch_signals();
    for (int i = 0; i < n; i++) targets[i] = (cubed_target){.array = x[i], .data = data[i]};
    cubed_status st = cubed_plan_new(ctx, targets, n, &o, &plan, err);
    cli_free(targets);
    if (st == CUBED_OK) {
        st = cli_run_plan(plan, &quiet, NULL, err);
        cubed_plan_unref(plan);
    }
    return st;
}

cubed_status cli_check_plans(cubed_context *ctx, const cubed_target *targets, const int *counts,
                             int nplans, const cubed_plan_group *groups, int ngroups,
                             const cli_common *c, cubed_error *err)
{
    cubed_plan_options o = cli_plan_options(c);
    if (!o.work_dir) o.work_dir = cli_temp_dir();
    o.groups = groups;
    o.num_groups = ngroups;
    o.remake = c->remake;
    o.remake_ctx = c->remake_ctx;
    return cubed_plan_check(ctx, targets, counts, nplans, &o, err);
}

/* Checks that memory suffices for `mem` bytes after the run, when all workers have freed their memory. */
static cubed_status check_mem_after(const cubed_plan *plan, uint64_t mem, cubed_error *err)
{
    cubed_plan_info info;
    char need[32], bound[32];
    cubed_plan_get_info(plan, &info);
    const uint64_t all = info.max_workers * (info.allowed_mem - info.reserved_mem);
    if (mem <= all) return CUBED_OK;
    err->status = CUBED_E_BUDGET;
    snprintf(err->message, sizeof err->message,
             "writing NetCDF needs up to %s, five times the largest chunk and the buffers of HDF5, "
             "but the process may use %s: make chunks smaller, or raise allowed_mem",
             cli_format_bytes((double)mem, need), cli_format_bytes((double)all, bound));
    return CUBED_E_BUDGET;
}

/* Plans and runs a job. `mem_after` is the number of bytes that the command needs after the run. */
static int execute(const cli_job *job, uint64_t mem_after, bool *ran, cubed_run_stats *stats,
                   cubed_plan_info *info)
{
    const char *verb = job->verb;
    const cubed_target *targets = job->targets;
    const cli_common *c = job->common;
    cubed_context *ctx = job->ctx;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options o = cli_plan_options(c);
    cubed_plan *plan = NULL;
    const char *missing = NULL;
    cubed_status st = CUBED_OK;
    bool dry = c->plan_only || c->save_plan, unfinished = false;
    *ran = false;
    if (dry && c->report)
        return cli_usage_error(verb, "--report describes a run: leave out --plan and --save-plan");
    if (dry && c->status)
        return cli_usage_error(verb, "--status describes a run: leave out --plan and --save-plan");
    cli_catch_signals();
    o.groups = job->groups;
    o.num_groups = job->ngroups;
    o.remake = c->remake;
    o.remake_ctx = c->remake_ctx;
    o.partials = c->partials;
    if (!o.work_dir && !dry) o.work_dir = cli_temp_dir();
    st = cubed_plan_new(ctx, targets, job->ntargets, &o, &plan, &err);
    if (st == CUBED_OK && c->through_bytes) st = reload(ctx, targets, job->ntargets, &plan, &err);
    if (st == CUBED_OK && mem_after > 0) st = check_mem_after(plan, mem_after, &err);
    if (st != CUBED_OK) goto out;
    if (info) cubed_plan_get_info(plan, info);
    missing = c->save_plan ? missing_to_save(plan, targets, job->ntargets, c) : NULL;
    if (missing) goto out;
    st = cli_show_plan(plan, c, mem_after, &err);
    if (st == CUBED_OK && c->save_plan) st = save_plan(plan, c->save_plan, &err);
    if (st == CUBED_OK && !dry) {
        cli_warn_of_reserve(verb, plan, c);
        st = cli_run_plan(plan, c, stats, &err);
        *ran = st == CUBED_OK;
        if (*ran && c->resume && stats && stats->num_tasks == 0 && stats->num_resumed > 0)
            fputs("Nothing to do: an earlier run has completed all tasks.\n", stderr);
        unfinished = st == CUBED_E_CANCELLED || st == CUBED_E_IO;
    }
out:
    cubed_plan_unref(plan);
    if (missing) return cli_usage_error(verb, "%s", missing);
    int code = st == CUBED_OK ? EXIT_SUCCESS : cli_report(verb, &err);
    if (unfinished && targets[0].url)
        fputs(c->update ? "The same command continues from here: chunks that are up to date are "
                          "not recomputed.\n"
                        : "The same command with --resume continues from here; without --resume it "
                          "starts again.\n",
              stderr);
    return code;
}

int cli_execute(const cli_job *job, bool *ran, cubed_run_stats *stats, cubed_plan_info *info)
{
    const char *verb = job->verb;
    const cubed_target *targets = job->targets;
    const cli_common *c = job->common;
    archive a = {.path = NULL};
    cubed_error err = CUBED_ERROR_INIT;
    const char *to = job->ntargets > 0 ? targets[0].url : NULL;
    *ran = false;
    if (to && archive_is_unknown(to))
        return cli_usage_error(verb,
                               "%s: files of this format can only be read: name a file of NetCDF "
                               "(r.nc), a Zarr store (r.zarr) or an archive of one (r.zip)",
                               to);
    if (to && !targets[0].region && archive_is_elsewhere(to))
        return cli_usage_error(verb,
                               "%s: files can be written only to local paths: write a local file "
                               "and copy it when it is complete, or write a Zarr store",
                               to);
    if (to && archive_is_picture(to) && !c->picture)
        return cli_usage_error(verb, "%s: `cubed plot` draws pictures", to);
    uint64_t mem = 0;
    if (to && archive_is_netcdf(to) &&
        cubed_netcdf_check(targets, job->ntargets, &mem, &err) != CUBED_OK)
        return cli_report(verb, &err);
    if (!to || !(archive_is_wanted(to) || c->picture) || (c->plan_only && !c->save_plan))
        return execute(job, mem, ran, stats, info);
    if (c->update)
        return cli_usage_error(verb,
                               "--update: %s is a file that is written as a whole, expected "
                               "a Zarr store",
                               to);
    if (c->save_plan || targets[0].region)
        return cli_usage_error(verb, "a file is written as a whole, by a run of the command: leave "
                                     "out --save-plan and --region");
    char *wrong = archive_begin(&a, targets, job->ntargets, job->groups, job->ngroups, c->picture,
                                c->overwrite || c->resume);
    cli_job packed = *job;
    int code;
    if (wrong)
        code = cli_usage_error(verb, "%s", wrong);
    else if (archive_claim(&a, job->ctx, c, &err) != CUBED_OK)
        code = cli_report(verb, &err);
    else {
        packed.targets = a.targets;
        packed.ntargets = a.ntargets;
        packed.groups = a.groups;
        packed.ngroups = a.ngroups;
        code = execute(&packed, mem, ran, stats, info);
    }
    if (*ran && archive_end(&a, job->ctx, c->durable, &err) != CUBED_OK) {
        *ran = false;
        code = cli_report(verb, &err);
    }
    cli_free(wrong);
    archive_free(&a);
    return code;
}
