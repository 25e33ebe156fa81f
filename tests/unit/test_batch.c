/* Files for batch systems: options and plans that are refused, the jobs of a plan, and failures to write or to allocate. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "batch/batch.h"
#include "cubed/cubed.h"
#include "remove_dir.h"
#include "test_path.h"

/* --- Calls that fail ----------------------------------------------------------------------------------- */

typedef enum call { CALL_NONE, CALL_OPEN, CALL_CLOSE, CALL_ALLOC } call;

/* Call number `nth` of the kind `which` fails. */
static struct {
    call which;
    int nth, calls;
} fault;

static bool fails(call which) { return fault.which == which && ++fault.calls == fault.nth; }

static void arm(call which, int nth)
{
    fault.which = which;
    fault.nth = nth;
    fault.calls = 0;
}

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker makes these names */
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
int __real_fclose(FILE *f);
int __wrap_fclose(FILE *f);

FILE *__wrap_fopen(const char *path, const char *mode)
{
    errno = EACCES;
    return fails(CALL_OPEN) ? NULL : __real_fopen(path, mode);
}

int __wrap_fclose(FILE *f)
{
    const int rc = __real_fclose(f);
    errno = ENOSPC;
    return fails(CALL_CLOSE) ? EOF : rc;
}
/* NOLINTEND(bugprone-reserved-identifier) */

static void *json_malloc(size_t size) { return fails(CALL_ALLOC) ? NULL : malloc(size); }

/* --- Plans --------------------------------------------------------------------------------------------- */

typedef struct fixture {
    char root[64], dir[96], target[96], work[96];
    cubed_context *ctx;
    cubed_plan *plan; /* two stages, the second of which reads the output of the first */
    void *bytes;
    size_t size;
} fixture;

/* Sums an array of 8 chunks in stages of one task each, and stores the result. */
static cubed_plan *new_plan(const fixture *f, const char *work, bool code)
{
    static const int64_t shape[2] = {8, 4}, chunk[2] = {1, 4}, columns[2] = {8, 2};
    static const double limits[2] = {0, 100};
    static const cubed_kernel kernel = {.library = KERNEL_LIBRARY,
                                        .symbol = "between",
                                        .params = limits,
                                        .params_size = sizeof limits};
    cubed_array *x, *y, *z;
    cubed_plan *plan;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    static const cubed_scalar one = {.f64 = 1};
    o.max_workers = 3;
    o.reserved_mem = 1;
    o.allowed_mem = (uint64_t)10 << 20;
    o.work_dir = work;
    o.optimize = false;
    assert_int_equal(cubed_array_full(f->ctx, CUBED_FLOAT64, 2, shape, chunk, &one, &x, &err),
                     CUBED_OK);
    if (code && cubed_map_blocks(f->ctx, &kernel, &x, 1, CUBED_FLOAT64, NULL, &y, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    if (!code) y = cubed_array_ref(x);
    assert_int_equal(cubed_rechunk(y, columns, &z, &err), CUBED_OK);
    const cubed_target t = {.array = z, .url = f->target};
    if (cubed_plan_new(f->ctx, &t, 1, &o, &plan, &err) != CUBED_OK) fail_msg("%s", err.message);
    cubed_array_unref(x);
    cubed_array_unref(y);
    cubed_array_unref(z);
    return plan;
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    test_path(f->root, sizeof f->root, "cubed-test-batch-XXXXXX");
    if (!mkdtemp(f->root)) return -1;
    snprintf(f->dir, sizeof f->dir, "%s/Run_1.a", f->root);
    snprintf(f->target, sizeof f->target, "%s/out", f->root);
    snprintf(f->work, sizeof f->work, "%s/work", f->root);
    if (mkdir(f->dir, 0777) != 0) return -1;
    if (cubed_context_new(NULL, &f->ctx, NULL) != CUBED_OK) return -1;
    f->plan = new_plan(f, f->work, false);
    if (cubed_plan_save(f->plan, &f->bytes, &f->size, NULL) != CUBED_OK) return -1;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cubed_plan_free_bytes(f->plan, f->bytes, f->size);
    cubed_plan_unref(f->plan);
    cubed_context_unref(f->ctx);
    const int rc = remove_dir(f->root);
    free(f);
    return rc;
}

/* --- Options ------------------------------------------------------------------------------------------- */

/* Sets the options that a system needs, each to "v". */
static batch_choice choose(const char *name)
{
    batch_choice c = {.engine = batch_find(name)};
    assert_non_null(c.engine);
    static const char *const all[] = {"image", "claim", "queue", "definition", "region"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (c.engine->needs && strstr(c.engine->needs, all[i]))
            c.options[c.noptions++] = (batch_option){all[i], "v"};
    }
    return c;
}

static void add(batch_choice *c, const char *name, const char *value)
{
    c->options[c->noptions++] = (batch_option){name, value};
}

static void test_plain(void **state)
{
    (void)state;
    assert_true(batch_is_plain("/a-b_c/D.9:x=1,y@z+"));
    assert_true(batch_is_plain("Z"));
    static const char *const others[] = {"",    "-a",  "a b", "a'b", "a\"",
                                         "a$b", "a;b", "[",   "`",   "{"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (batch_is_plain(others[i])) fail_msg("\"%s\" is plain", others[i]);
    }
}

static void refuse(const batch_choice *c, const char *message)
{
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(batch_check(c, &err), CUBED_E_ARG);
    assert_int_equal(err.status, CUBED_E_ARG);
    assert_string_equal(err.message, message);
}

static void test_options(void **state)
{
    (void)state;
    assert_null(batch_find("lsf"));
    for (const batch_system *e = batch_systems; e->name; e++) {
        const batch_choice c = choose(e->name);
        cubed_error err = CUBED_ERROR_INIT;
        if (batch_check(&c, &err) != CUBED_OK) fail_msg("%s: %s", e->name, err.message);
    }
    batch_choice c = {.engine = batch_find("kubernetes")};
    refuse(&c, "kubernetes needs --engine-option image=...");
    add(&c, "image", "me/cubed:1");
    refuse(&c, "kubernetes needs --engine-option claim=...");
    c = choose("kubernetes");
    add(&c, "mount", "/m");
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(batch_check(&c, &err), CUBED_OK);
    add(&c, "name", "x"); /* part of "namespace" */
    refuse(&c, "kubernetes has no option \"name\": expected image claim mount namespace "
               "service-account");
    c = choose("aws-batch");
    add(&c, "priority", "1");
    refuse(&c, "aws-batch has no option \"priority\": expected queue definition ");
    c = choose("slurm");
    add(&c, "anything", "goes");
    assert_int_equal(batch_check(&c, &err), CUBED_OK);
    add(&c, "a b", "x");
    refuse(&c, "--engine-option \"a b=x\": expected NAME=VALUE of letters, digits and -_./:=,@+");
    c = choose("slurm");
    add(&c, "queue", "$(id)");
    refuse(&c,
           "--engine-option \"queue=$(id)\": expected NAME=VALUE of letters, digits and -_./:=,@+");
}

/* --- Plans that are refused ---------------------------------------------------------------------------- */

static void refuse_write(const fixture *f, batch_submission s, const cubed_plan *plan,
                         cubed_status status, const char *part)
{
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_status st = batch_write(&s, plan, f->bytes, f->size, &err);
    if (st != status || err.status != st || !strstr(err.message, part))
        fail_msg("status %d, %s", st, err.message);
    char path[128];
    snprintf(path, sizeof path, "%s/start", f->dir);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_refusals(void **state)
{
    const fixture *f = *state;
    const batch_choice slurm = choose("slurm"), beam = choose("beam");
    const batch_submission s = {
        .choice = &slurm, .dir = f->dir, .program = "/bin/cubed", .python = "/bin/python3"};
    static const char *const names[] = {
        "",    "-a",  "a b", "a/b", "a:b",
        "a=b", "a,b", "a@b", "a+b", "0123456789abcdef0123456789abcdef0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        batch_submission wrong = s;
        char part[96];
        wrong.run = names[i];
        snprintf(part, sizeof part, "the run's name is \"%s\", expected 1 to %d letters", names[i],
                 CUBED_RUN_NAME_CAP - 1);
        refuse_write(f, wrong, f->plan, CUBED_E_ARG, part);
    }
    cubed_plan *apart = new_plan(f, NULL, false), *code = new_plan(f, f->work, true);
    refuse_write(f, s, apart, CUBED_E_UNSUPPORTED, "the plan has no work directory");
    batch_submission with_code = s;
    with_code.choice = &beam;
    refuse_write(f, with_code, code, CUBED_E_UNSUPPORTED,
                 "the plan carries code, which workers of beam do not run");
    with_code.choice = &slurm;
    with_code.python = "/my python";
    refuse_write(f, with_code, code, CUBED_E_ARG, "CUBED_PYTHON is \"/my python\"");
    cubed_plan_unref(apart);
    cubed_plan_unref(code);
}

/* --- What is written ----------------------------------------------------------------------------------- */

/* Returns the text of a file of the run's directory, to be freed; NULL if there is no such file. */
static char *text_of(const fixture *f, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = calloc(1, 1 << 16);
    const size_t n = fread(text, 1, (1 << 16) - 1, file);
    text[n] = 0;
    fclose(file);
    return text;
}

static void expect_text(const fixture *f, const char *name, const char *part)
{
    char *text = text_of(f, name);
    if (!text || !strstr(text, part)) fail_msg("%s has no \"%s\": %s", name, part, text);
    free(text);
}

static cubed_status write_files(const fixture *f, batch_submission *s, cubed_error *err)
{
    s->dir = f->dir;
    s->program = "/bin/cubed";
    s->python = "/bin/python3";
    return batch_write(s, f->plan, f->bytes, f->size, err);
}

static void write_well(const fixture *f, batch_submission s)
{
    cubed_error err = CUBED_ERROR_INIT;
    assert_int_equal(remove_dir(f->dir), 0);
    assert_int_equal(mkdir(f->dir, 0777), 0);
    if (write_files(f, &s, &err) != CUBED_OK)
        fail_msg("%s: %s", s.choice->engine->name, err.message);
    assert_null(s.jobs);
}

static void test_options_in_files(void **state)
{
    const fixture *f = *state;
    batch_choice c = choose("kubernetes");
    add(&c, "service-account", "robot");
    add(&c, "namespace", "jobs");
    batch_submission s = {.choice = &c, .elements = 2, .retries = 4, .leaves = true};
    write_well(f, s);
    expect_text(f, "stage-0.json", "\"serviceAccountName\": \"robot\"");
    expect_text(f, "stage-0.json", "\"namespace\": \"jobs\"");
    expect_text(f, "stage-0.json", "\"completions\": 2");
    expect_text(f, "stage-0.json", "\"backoffLimitPerIndex\": 4");
    expect_text(f, "stage-0.json", "\"name\": \"cubed-run-1-a-stage-0\"");
    expect_text(f, "driver.json", "\"name\": \"cubed-run-1-a-driver\"");
    expect_text(f, "start", "kubectl apply -f driver.json");
    expect_text(f, "stages", "kubectl apply -f stage-0.json");
    c = choose("aws-batch");
    s = (batch_submission){.choice = &c, .elements = 2, .run = "other", .take_over = true};
    write_well(f, s);
    expect_text(f, "stage-0.json", "\"size\": 2");
    expect_text(f, "finish.json", "\"name\": \"CUBED_TASK_INDEX\"");
    expect_text(f, "run.json", "\"run\": \"other\"");
    expect_text(f, "start", "--begin --run other --take-over");
    c = choose("pbs");
    s = (batch_submission){.choice = &c, .elements = 2};
    write_well(f, s);
    expect_text(f, "stage-0.pbs", "#PBS -J 0-1\n");
    c = choose("coiled-batch");
    add(&c, "workspace", "team");
    add(&c, "memory", "8GiB");
    s = (batch_submission){.choice = &c};
    write_well(f, s);
    expect_text(f, "stage-0.sh", "# COILED workspace team\n");
    expect_text(f, "start", "coiled batch logs --workspace team $job");
    char *text = text_of(f, "stage-0.sh");
    assert_null(strstr(text, "MiB-"));
    free(text);
    c.noptions = 0;
    write_well(f, s);
    expect_text(f, "stage-0.sh", "# COILED memory 1163MiB-21036MiB\n");
    add(&c, "vm-type", "t3.large");
    write_well(f, s);
    text = text_of(f, "stage-0.sh");
    assert_null(strstr(text, "MiB-"));
    free(text);
    c = choose("beam");
    add(&c, "runner", "DataflowRunner");
    write_well(f, s);
    expect_text(f, "pipeline.json", "\"--runner=DataflowRunner\"");
    expect_text(f, "start", "'/bin/python3' -m cubed.runtime.beam_job start");
}

/* No system gets more array tasks than it can have, nor more than the stage has tasks. */
static void test_elements(void **state)
{
    const fixture *f = *state;
    const batch_choice slurm = choose("slurm");
    batch_submission s = {.choice = &slurm, .elements = 100000, .workers = 7};
    write_well(f, s);
    expect_text(f, "stage-0.sbatch", "#SBATCH --array=0-1%7\n"); /* two chunks are written */
    s.elements = 0;
    write_well(f, s);
    expect_text(f, "stage-0.sbatch", "#SBATCH --array=0-0%7\n"); /* it is not worth two tasks */
    batch_system few = *batch_find("slurm");
    few.most = 1;
    const batch_choice c = {.engine = &few};
    s = (batch_submission){.choice = &c, .elements = 2};
    write_well(f, s);
    expect_text(f, "stage-0.sbatch", "#SBATCH --array=0-0%3\n");
}

/* --- Failures ------------------------------------------------------------------------------------------ */

/* Returns the texts of all descriptions in JSON, to be freed. */
static char *descriptions(const fixture *f)
{
    static const char *const names[] = {"run.json",    "stage-0.json", "stage-1.json",
                                        "finish.json", "driver.json",  "pipeline.json"};
    char *all = calloc(1, 1 << 18);
    size_t n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *text = text_of(f, names[i]);
        n += (size_t)snprintf(all + n, (1 << 18) - n, "%s:%s\n", names[i], text ? text : "");
        free(text);
    }
    return all;
}

/* Lets each call fail in turn. Returns the number of calls. Jansson ignores some failures to allocate: then nothing is missing in
 * the files. */
static int fail_each(const fixture *f, const batch_system *e, call which, cubed_status status)
{
    char *right = NULL;
    for (int n = 1;; n++) {
        cubed_error err = CUBED_ERROR_INIT;
        batch_choice c = choose(e->name);
        if (strcmp(e->name, "kubernetes") == 0) add(&c, "service-account", "robot");
        batch_submission s = {.choice = &c, .leaves = true, .elements = 2};
        arm(which, n);
        const cubed_status st = write_files(f, &s, &err);
        const bool failed = fault.calls >= n;
        arm(CALL_NONE, 0);
        if (st == CUBED_OK && (!failed || which == CALL_ALLOC)) {
            char *all = descriptions(f);
            if (right) assert_string_equal(all, right);
            free(right);
            right = all;
        }
        if (!failed) {
            assert_int_equal(st, CUBED_OK);
            free(right);
            return n - 1;
        }
        if (st == CUBED_OK && which == CALL_ALLOC) continue;
        if (st != status || err.status != st || !strstr(err.message, f->dir))
            fail_msg("%s: call %d: status %d, %s", e->name, n, st, err.message);
        if (which != CALL_ALLOC)
            assert_non_null(strstr(err.message, strerror(which == CALL_OPEN ? EACCES : ENOSPC)));
    }
}

static void test_files_that_cannot_be_written(void **state)
{
    const fixture *f = *state;
    for (const batch_system *e = batch_systems; e->name; e++) {
        assert_int_equal(remove_dir(f->dir), 0);
        assert_int_equal(mkdir(f->dir, 0777), 0);
        const int opened = fail_each(f, e, CALL_OPEN, CUBED_E_IO);
        assert_true(opened >= 6);
        assert_int_equal(fail_each(f, e, CALL_CLOSE, CUBED_E_IO), opened);
    }
}

static void test_memory(void **state)
{
    const fixture *f = *state;
    json_set_alloc_funcs(json_malloc, free);
    for (const batch_system *e = batch_systems; e->name; e++) {
        assert_int_equal(remove_dir(f->dir), 0);
        assert_int_equal(mkdir(f->dir, 0777), 0);
        assert_true(fail_each(f, e, CALL_ALLOC, CUBED_E_NOMEM) > 1);
    }
    json_set_alloc_funcs(malloc, free);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain),
                                       cmocka_unit_test(test_options),
                                       TEST(test_refusals),
                                       TEST(test_options_in_files),
                                       TEST(test_elements),
                                       TEST(test_files_that_cannot_be_written),
                                       TEST(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
