/* Common parts of all batch systems: checks of options, the job arrays of a plan, and files in its directory. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "batch/batch.h"

enum { ELEMENTS_PER_WORKER = 4 };

static cubed_status fail(cubed_error *err, cubed_status st, const char *fmt, ...)
    CUBED_PRINTF(3, 4);

static cubed_status fail(cubed_error *err, cubed_status st, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    err->status = st;
    return st;
}

/* Returns zeroed memory; free it with free_memory.
 * check_layers: allow call: the public API has no allocator for its callers */
static void *new_memory(size_t size)
{
    return calloc(1, size); /* check_layers: allow call: see above */
}

static void free_memory(void *p) { free(p); /* check_layers: allow call: see above */ }

/* --- Options ------------------------------------------------------------------------------------------ */

bool batch_is_plain(const char *text)
{
    for (const char *c = text; *c; c++) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        if (!letter && !(*c >= '0' && *c <= '9') && !strchr("-_./:=,@+", *c)) return false;
    }
    return *text && *text != '-';
}

static bool is_word_of(const char *list, const char *word, size_t length)
{
    for (const char *at = list; at && *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        if (n == length && strncmp(at, word, n) == 0) return true;
        at += n;
    }
    return false;
}

cubed_status batch_check(const batch_choice *c, cubed_error *err)
{
    const batch_system *e = c->engine;
    for (const char *at = e->needs; at && *at; at += strspn(at, " ")) {
        char name[32];
        const size_t n = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (!batch_get(c, name))
            return fail(err, CUBED_E_ARG, "%s needs --engine-option %s=...", e->name, name);
        at += n;
    }
    for (int i = 0; i < c->noptions; i++) {
        const char *name = c->options[i].name;
        if (!batch_is_plain(name) || !batch_is_plain(c->options[i].value))
            return fail(err, CUBED_E_ARG,
                        "--engine-option \"%s=%s\": expected NAME=VALUE of letters, digits and "
                        "-_./:=,@+",
                        name, c->options[i].value);
        if ((e->needs || e->takes) && !is_word_of(e->needs, name, strlen(name)) &&
            !is_word_of(e->takes, name, strlen(name)))
            return fail(err, CUBED_E_ARG, "%s has no option \"%s\": expected %s %s", e->name, name,
                        e->needs ? e->needs : "", e->takes ? e->takes : "");
    }
    return CUBED_OK;
}

/* --- Jobs --------------------------------------------------------------------------------------------- */

/* Returns the number of array tasks of a stage. The default is ELEMENTS_PER_WORKER for each worker, or fewer if array tasks would
 * run for less than CUBED_RANGE_OVERHEADS times their start-up time. */
static int64_t elements_of(const batch_submission *s, const cubed_stage_info *info)
{
    const batch_system *e = s->choice->engine;
    const double all = info->compute_seconds + info->read_seconds + info->write_seconds;
    const double worth = all / (CUBED_RANGE_OVERHEADS * e->overhead) + 1;
    int64_t n = (int64_t)s->workers * ELEMENTS_PER_WORKER;
    if ((double)n > worth) n = (int64_t)worth;
    if (s->elements) n = s->elements;
    if (e->most && n > e->most) n = e->most;
    return n > info->num_tasks ? info->num_tasks : n;
}

/* Sets *yes if stage b reads an array that stage a writes. */
static cubed_status reads(const cubed_plan *plan, int b, int a, bool *yes, cubed_error *err)
{
    cubed_stage_info from, to;
    cubed_stored_info made, taken;
    cubed_status st = cubed_plan_get_stage(plan, a, &from, err);
    if (st == CUBED_OK) st = cubed_plan_get_stage(plan, b, &to, err);
    *yes = false;
    for (int i = 0; st == CUBED_OK && !*yes && i < from.num_outputs; i++) {
        st = cubed_plan_get_output(plan, a, i, &made, err);
        for (int k = 0; st == CUBED_OK && !*yes && k < to.num_inputs; k++) {
            st = cubed_plan_get_input(plan, b, k, &taken, err);
            *yes = st == CUBED_OK && made.id == taken.id;
        }
    }
    return st;
}

static cubed_status list_stage(batch_submission *s, const cubed_plan *plan, int stage, int *job_of,
                               cubed_error *err)
{
    batch_job *j = &s->jobs[s->njobs];
    cubed_stage_info info;
    job_of[stage] = -1;
    cubed_status st = cubed_plan_get_stage(plan, stage, &info, err);
    if (st != CUBED_OK || info.num_tasks == 0) return st;
    for (int k = 0; k < stage; k++) {
        bool before;
        st = reads(plan, stage, k, &before, err);
        if (st != CUBED_OK) return st;
        if (before && job_of[k] >= 0) j->after[j->nafter++] = job_of[k];
    }
    j->n = elements_of(s, &info);
    snprintf(j->name, sizeof j->name, "stage-%d", stage);
    snprintf(j->args, sizeof j->args, "%d --of %" PRId64 " --run %s --driver-version %s%s", stage,
             j->n, s->run, cubed_version(), s->allowed);
    job_of[stage] = s->njobs++;
    return CUBED_OK;
}

/* Lists the jobs of all stages, and a last job, which waits for all other jobs. The list is one allocation. */
static cubed_status list_jobs(batch_submission *s, const cubed_plan *plan, cubed_error *err)
{
    cubed_plan_info about;
    cubed_plan_get_info(plan, &about);
    const size_t most = (size_t)about.num_stages + 1;
    const size_t room = most * sizeof *s->jobs + (most + 1) * most * sizeof(int);
    s->jobs = new_memory(room);
    if (!s->jobs) return fail(err, CUBED_E_NOMEM, "out of memory: %zu jobs", most);
    int *const numbers = (int *)(s->jobs + most), *const job_of = numbers + most * most;
    for (size_t i = 0; i < most; i++) s->jobs[i].after = numbers + i * most;
    for (int i = 0; i < about.num_stages; i++) {
        const cubed_status st = list_stage(s, plan, i, job_of, err);
        if (st != CUBED_OK) return st;
    }
    batch_job *last = &s->jobs[s->njobs];
    for (int k = 0; k < s->njobs; k++) last->after[last->nafter++] = k;
    snprintf(last->name, sizeof last->name, "finish");
    snprintf(last->args, sizeof last->args, "--finish --run %s --driver-version %s%s", s->run,
             cubed_version(), s->allowed);
    last->n = 1;
    s->njobs++;
    return CUBED_OK;
}

/* --- Files -------------------------------------------------------------------------------------------- */

static FILE *open_file(const batch_submission *s, const char *name)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%s", s->dir, name);
    return fopen(path, "wb");
}

/* Returns `error`, or errno if the file cannot be closed. */
static int close_file(FILE *f, int error)
{
    if (ferror(f) && !error) error = EIO;
    if (fclose(f) != 0 && !error) error = errno;
    return error;
}

/* Returns 0, or errno of the failure. */
static int write_bytes(const batch_submission *s, const char *name, const void *data, size_t size)
{
    FILE *f = open_file(s, name);
    if (!f) return errno;
    return close_file(f, fwrite(data, 1, size, f) == size ? 0 : errno);
}

/* Like write_bytes. Writes to the file and not to a string, because json_dumps does not report a failure to allocate a key. */
static int write_document(const batch_submission *s, const char *name, const json_t *doc)
{
    FILE *f = doc ? open_file(s, name) : NULL;
    if (!f) return doc ? errno : ENOMEM;
    return close_file(f, json_dumpf(doc, f, JSON_INDENT(2)) == 0 || ferror(f) ? 0 : ENOMEM);
}

/* Writes the files that all systems have, and makes the scripts executable. */
static void finish_files(batch_submission *s, const void *plan, size_t size)
{
    static const char *const scripts[] = {"start", "status", "cancel", "part", "failures"};
    json_t *doc = json_pack("{s:s,s:s,s:s,s:i}", "cubed", cubed_version(), "run", s->run, "engine",
                            s->choice->engine->name, "jobs", s->njobs);
    if (!s->failed) s->failed = write_document(s, "run.json", doc);
    if (!s->failed) s->failed = write_bytes(s, "plan.cubed", plan, size);
    json_decref(doc);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char path[PATH_MAX + 16];
        snprintf(path, sizeof path, "%s/%s", s->dir, scripts[i]);
        /* The scripts `part` and `failures` do not exist for all batch systems. */
        if (chmod(path, 0755) != 0 && errno != ENOENT && !s->failed) s->failed = errno;
    }
}

cubed_status batch_write(batch_submission *s, const cubed_plan *plan, const void *bytes,
                         size_t size, cubed_error *err)
{
    cubed_plan_info info;
    if (!s->run) s->run = strrchr(s->dir, '/') + 1;
    if (!batch_is_plain(s->run) || !batch_is_plain(s->program) ||
        strlen(s->run) >= CUBED_RUN_NAME_CAP || strpbrk(s->run, "/:=,@+"))
        return fail(err, CUBED_E_ARG,
                    "the run's name is \"%s\", expected 1 to %d letters, digits, \"-\", \"_\" and "
                    "\".\": --run gives another",
                    s->run, CUBED_RUN_NAME_CAP - 1);
    cubed_plan_get_info(plan, &info);
    s->mebibytes = (info.allowed_mem + (1 << 20) - 1) >> 20;
    if (!s->workers) s->workers = info.max_workers;
    if (!info.work_dir)
        return fail(err, CUBED_E_UNSUPPORTED,
                    "the plan has no work directory, in which jobs note completed tasks: save it "
                    "with --work-dir");
    s->allowed = info.code ? " --allow-code" : "";
    if (info.code && s->choice->engine->refuses_code)
        return fail(err, CUBED_E_UNSUPPORTED,
                    "the plan carries code, which workers of %s do not run: use another engine",
                    s->choice->engine->name);
    if (info.code && !batch_is_plain(s->python))
        return fail(
            err, CUBED_E_ARG,
            "CUBED_PYTHON is \"%s\": expected letters, digits and -_./:=,@+ in the path for "
            "jobs with Python functions",
            s->python);
    cubed_status st = list_jobs(s, plan, err);
    if (st == CUBED_OK) {
        s->choice->engine->write(s);
        finish_files(s, bytes, size);
        if (s->failed)
            st = fail(err, s->failed == ENOMEM ? CUBED_E_NOMEM : CUBED_E_IO,
                      "cannot write to %s: %s", s->dir, strerror(s->failed));
    }
    free_memory(s->jobs);
    s->jobs = NULL;
    return st;
}
