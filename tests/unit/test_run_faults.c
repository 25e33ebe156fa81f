/* Runs of every kind - that replace, resume, update, grow or change arrays, or are made in parts - of which one allocation or
 * request after the other fails: an error or the right result, and the next run succeeds. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/owner.h"
#include "cubed/cubed.h"
#include "cubed/sys/message.h"
#include "fault_steps.h"
#include "flaky_store.h"
#include "remove_dir.h"
#include "test_path.h"

enum { N = 16, CHUNK = 8, MORE = 6, MOST = N + MORE, FROM = 5, PART = 6 };

typedef enum kind {
    FRESH,
    OVERWRITE,
    RESUME,
    UPDATE,
    GROW,
    REGION,
    APPEND,
    PARTS,
    CLEAN,
    DONE,      /* resume a run that was complete */
    TAKE_OVER, /* of a process on another machine */
    CLEAN_NEW, /* a new array next to the array that it was to replace */
    CLEAN_FAR, /* of a process on another machine */
    COPY,
    NKINDS
} kind;

static const char *const names[NKINDS] = {"fresh",     "overwrite", "resume",    "update", "grow",
                                          "region",    "append",    "parts",     "clean",  "done",
                                          "take over", "clean new", "clean far", "copy"};

typedef struct fixture {
    bool local; /* a directory instead of a store of the program */
    uint32_t flags;
    char root[64], dir[80], src[96], out[96], work[96];
    flaky_store flaky;
    cubed_context *ctx; /* nothing fails */
    kind kind;
} fixture;

/* Records of this process count as those of a process that has ended: its record stays if the last requests of a run fail. */
static bool failed_process_ended;

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker makes these names */
cb_owner_state __real_cb_owner_alive(const cb_owner *o);
cb_owner_state __wrap_cb_owner_alive(const cb_owner *o);

cb_owner_state __wrap_cb_owner_alive(const cb_owner *o)
{
    return failed_process_ended ? CB_OWNER_GONE : __real_cb_owner_alive(o);
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* --- Plans --------------------------------------------------------------------------------------------- */

static cubed_context *new_context(fixture *f, const cubed_allocator *a, cubed_error *err)
{
    cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
    cubed_context *ctx;
    o.allocator = a;
    if (cubed_context_new(&o, &ctx, err) != CUBED_OK) return NULL;
    if (f->local || cubed_context_add_store(ctx, &f->flaky.vt, err) == CUBED_OK) return ctx;
    cubed_context_unref(ctx);
    return NULL;
}

static cubed_plan_options plan_options(const fixture *f)
{
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    o.max_workers = 2;
    o.reserved_mem = 1;
    o.allowed_mem = (uint64_t)8 << 20;
    o.work_dir = f->work;
    o.optimize = false;
    return o;
}

/* Leaves no memory to intermediates. */
static cubed_status spill(cubed_plan *plan, cubed_error *err)
{
    cubed_plan_info info;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_plan_get_info(plan, &info);
    o.reserved_mem = info.allowed_mem - info.projected_mem;
    return cubed_plan_set_limits(plan, &o, err);
}

static cubed_status new_plan(const fixture *f, const cubed_target *t, cubed_plan **out,
                             cubed_error *err)
{
    const cubed_plan_options o = plan_options(f);
    return cubed_plan_new(f->ctx, t, 1, &o, out, err);
}

/* Plans x - mean(x), with the mean as an intermediate. */
static cubed_status plan_deviations(const fixture *f, bool overwrite, cubed_plan **out,
                                    cubed_error *err)
{
    static const int64_t chunk[1] = {10};
    cubed_array *x = NULL, *mean = NULL, *y = NULL, *z = NULL;
    cubed_reduce_options keep = CUBED_REDUCE_OPTIONS_INIT;
    keep.keepdims = true;
    cubed_status st = cubed_array_open(f->ctx, f->src, &x, err);
    if (st == CUBED_OK) st = cubed_reduce(CUBED_REDUCE_MEAN, x, &keep, &mean, err);
    cubed_array *args[2] = {x, mean};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_SUBTRACT, args, 2, &y, err);
    if (st == CUBED_OK) st = cubed_rechunk(y, chunk, &z, err);
    const cubed_target t = {.array = z, .url = f->out, .overwrite = overwrite};
    if (st == CUBED_OK) st = new_plan(f, &t, out, err);
    if (st == CUBED_OK) st = spill(*out, err);
    cubed_array_unref(x);
    cubed_array_unref(mean);
    cubed_array_unref(y);
    cubed_array_unref(z);
    return st;
}

/* Plans are made without faults, because other tests let their allocations fail. */
static long planned_fault;

static void begin_planning(void)
{
    planned_fault = fault_memory.at;
    fault_memory.at = 0;
}

static void end_planning(void)
{
    fault_memory.at = planned_fault;
    fault_memory.calls = 0;
}

static cubed_status run_plan(cubed_plan *plan, cubed_run_options o, cubed_error *err)
{
    end_planning();
    o.executor = "single-threaded";
    o.retries = 0;
    const cubed_status st = cubed_run(plan, &o, NULL, err);
    cubed_plan_unref(plan);
    return st;
}

/* Creates the array first, first + 1, ... */
static cubed_status numbers(const fixture *f, int64_t n, double first, cubed_array **out,
                            cubed_error *err)
{
    static const int64_t chunk = CHUNK;
    return cubed_array_arange(f->ctx, first, first + (double)n, 1, CUBED_FLOAT64, &chunk, out, err);
}

static void store_numbers(const fixture *f, const char *url, double first)
{
    cubed_plan *plan;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    assert_int_equal(numbers(f, N, first, &x, &err), CUBED_OK);
    const cubed_target t = {.array = x, .url = url};
    if (new_plan(f, &t, &plan, &err) != CUBED_OK ||
        run_plan(plan, (cubed_run_options)CUBED_RUN_OPTIONS_INIT, &err) != CUBED_OK)
        fail_msg("%s: %s", url, err.message);
    cubed_array_unref(x);
}

/* Writes numbers into a part of the array, or after its end. */
static cubed_status write_part(const fixture *f, const char *url, bool append, double first,
                               cubed_error *err)
{
    static const int64_t from = FROM;
    cubed_array *into = NULL, *x = NULL;
    cubed_target t = {.array = NULL};
    cubed_plan *plan;
    cubed_hold *hold = NULL;
    cubed_status st = numbers(f, append ? MORE : PART, first, &x, err);
    if (st == CUBED_OK && append) st = cubed_place_hold(f->ctx, url, NULL, &hold, err);
    if (st == CUBED_OK) st = cubed_array_open(f->ctx, url, &into, err);
    if (st == CUBED_OK)
        st = append ? cubed_append_target(x, into, 0, &t, err)
                    : cubed_region_target(x, into, &from, &t, err);
    if (st == CUBED_OK) st = new_plan(f, &t, &plan, err);
    if (st == CUBED_OK) st = run_plan(plan, (cubed_run_options)CUBED_RUN_OPTIONS_INIT, err);
    cubed_place_release(hold);
    cubed_array_unref(t.array);
    cubed_array_unref(into);
    cubed_array_unref(x);
    return st;
}

static cubed_status update(const fixture *f, cubed_error *err)
{
    cubed_array *x = NULL, *y = NULL;
    cubed_plan *plan;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cubed_status st = cubed_array_open(f->ctx, f->src, &x, err);
    cubed_array *args[2] = {x, x};
    if (st == CUBED_OK) st = cubed_elementwise(CUBED_OP_ADD, args, 2, &y, err);
    const cubed_target t = {.array = y, .url = f->out, .overwrite = true};
    o.update = true;
    if (st == CUBED_OK) st = new_plan(f, &t, &plan, err);
    if (st == CUBED_OK) st = run_plan(plan, o, err);
    cubed_array_unref(x);
    cubed_array_unref(y);
    return st;
}

/* --- Runs in parts --------------------------------------------------------------------------------------- */

static cubed_status report_all(const fixture *f, cubed_driver *d, const char *at, size_t size,
                               cubed_error *err)
{
    while (size > 0) {
        cubed_task_report r;
        size_t used;
        CB_TRY(cubed_report_read(f->ctx, at, size, &r, &used, err));
        CB_TRY(cubed_run_report(d, &r, err));
        at += used;
        size -= used;
    }
    return CUBED_OK;
}

static cubed_status work(const fixture *f, cubed_plan *plan, cubed_worker *worker, cubed_driver *d,
                         cubed_error *err)
{
    cubed_range_message m = {.run = "parts"};
    CB_TRY(cubed_plan_get_id(plan, m.plan, err));
    while (!cubed_run_is_over(d)) {
        uint8_t bytes[CUBED_RANGE_BYTES];
        cubed_work_input in = CUBED_WORK_INPUT_INIT;
        const void *reports;
        size_t size;
        int n;
        CB_TRY(cubed_run_ready(d, &m.range, 1, &n, err));
        assert_true(n == 1 || cubed_run_is_over(d)); /* the remaining tasks were done before */
        if (n == 0) break;
        cubed_range_write(&m, bytes);
        in.message = bytes;
        in.message_size = sizeof bytes;
        CB_TRY(cubed_work(worker, &in, &reports, &size, err));
        CB_TRY(report_all(f, d, reports, size, err));
    }
    return CUBED_OK;
}

static cubed_status run_in_parts(const fixture *f, cubed_error *err)
{
    char name[CUBED_RUN_NAME_CAP];
    cubed_plan *plan;
    cubed_driver *d = NULL;
    cubed_worker *worker = NULL;
    cubed_driver_options o = CUBED_DRIVER_OPTIONS_INIT;
    cubed_worker_options w = CUBED_WORKER_OPTIONS_INIT;
    o.retries = 0;
    CB_TRY(plan_deviations(f, false, &plan, err));
    end_planning();
    w.plan = plan;
    cubed_status st = cubed_run_begin(plan, "parts", NULL, name, err);
    if (st == CUBED_OK) st = cubed_worker_new(NULL, &w, &worker, err);
    if (st == CUBED_OK) st = cubed_driver_new(plan, "parts", &o, NULL, &d, err);
    if (st == CUBED_OK) st = work(f, plan, worker, d, err);
    if (st == CUBED_OK) st = cubed_run_finish(plan, "parts", err);
    cubed_driver_free(d);
    cubed_worker_free(worker);
    cubed_plan_unref(plan);
    return st;
}

/* Ends a run whose last call has failed, after it has published the result. */
static cubed_status finish_again(const fixture *f, cubed_error *err)
{
    cubed_plan *plan;
    CB_TRY(plan_deviations(f, false, &plan, err));
    const cubed_status st = cubed_run_finish(plan, "parts", err);
    cubed_plan_unref(plan);
    return st;
}

/* --- Removals and copies ---------------------------------------------------------------------------------- */

static cubed_status clean(const fixture *f, cubed_error *err)
{
    cubed_takeover_options o = CUBED_TAKEOVER_OPTIONS_INIT;
    o.take_over = f->kind == CLEAN_FAR;
    end_planning();
    CB_TRY(cubed_clean(f->ctx, f->out, 0, &o, NULL, NULL, err));
    return cubed_clean(f->ctx, f->work, 0, &o, NULL, NULL, err);
}

static bool is_clean(const fixture *f)
{
    return f->kind == CLEAN || f->kind == CLEAN_NEW || f->kind == CLEAN_FAR;
}

static cubed_status copy(const fixture *f, cubed_error *err)
{
    const cubed_plan_group group = {
        .url = f->out, .zarr_format = 3, .copy_of = f->src, .overwrite = true};
    end_planning();
    return cubed_groups_make(f->ctx, &group, 1, 0, false, err);
}

/* --- The cases ------------------------------------------------------------------------------------------- */

static cubed_status act(const fixture *f, cubed_error *err)
{
    cubed_plan *plan;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    switch (f->kind) {
    case UPDATE:
    case GROW: return update(f, err);
    case REGION: return write_part(f, f->out, false, 100, err);
    case APPEND: return write_part(f, f->out, true, N, err);
    case PARTS: return run_in_parts(f, err);
    case CLEAN:
    case CLEAN_NEW:
    case CLEAN_FAR: return clean(f, err);
    case COPY: return copy(f, err);
    default:
        o.resume = f->kind == RESUME || f->kind == DONE || f->kind == TAKE_OVER;
        o.take_over = f->kind == TAKE_OVER;
        CB_TRY(plan_deviations(f, f->kind == OVERWRITE, &plan, err));
        return run_plan(plan, o, err);
    }
}

static void cancel_late(void *ctx, const cubed_event *event)
{
    if (event->kind == CUBED_EVENT_TASK_END && event->stage > 0) cubed_cancel_set(ctx);
}

/* Begins a run that is cancelled after some tasks, and leaves their chunks. */
static void leave_half(const fixture *f)
{
    cubed_plan *plan;
    cubed_cancel cancel = CUBED_CANCEL_INIT;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    o.on_event = cancel_late;
    o.event_ctx = &cancel;
    o.cancel = &cancel;
    o.keep = CUBED_KEEP_CHUNKS | CUBED_KEEP_INTERMEDIATES;
    assert_int_equal(plan_deviations(f, f->kind == CLEAN_NEW, &plan, &err), CUBED_OK);
    assert_int_equal(run_plan(plan, o, &err), CUBED_E_CANCELLED);
}

static void run_completely(const fixture *f)
{
    cubed_plan *plan;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    o.keep = CUBED_KEEP_RECORD;
    assert_int_equal(plan_deviations(f, false, &plan, &err), CUBED_OK);
    assert_int_equal(run_plan(plan, o, &err), CUBED_OK);
}

static cubed_status add_key(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    char(*keys)[128] = ctx;
    (void)size;
    (void)err;
    while (**keys) keys++;
    if (strstr(key, ".cubed-run")) snprintf(*keys, sizeof *keys, "%s", key);
    return CUBED_OK;
}

/* Changes the records of a run: it works, on another machine, whose last heartbeat was long ago. */
static void move_away(fixture *f)
{
    for (int i = 0; i < 2; i++) {
        char keys[8][128] = {""};
        cubed_store *s = f->flaky.inner[i];
        if (f->local)
            assert_int_equal(
                cb_store_open_local(&cb_system_allocator, i ? f->work : f->dir, false, &s, NULL),
                CUBED_OK);
        assert_int_equal(cb_store_list(s, "", add_key, keys, NULL), CUBED_OK);
        assert_true(*keys[0]);
        for (int k = 0; *keys[k]; k++) {
            cb_buf b;
            cb_owner owner;
            char name[CB_OWNER_CAP];
            cb_buf_init(&b, &cb_system_allocator);
            assert_int_equal(cb_store_read_all(s, keys[k], 1 << 16, &b, NULL), CUBED_OK);
            json_t *o = json_loadb(b.data, b.size, 0, NULL);
            assert_true(
                cb_owner_parse(json_string_value(json_object_get(o, "owner")), &owner, NULL));
            owner.machine++;
            owner.boot++;
            cb_owner_format(&owner, name);
            json_object_set_new(o, "owner", json_string(name));
            json_object_set_new(o, "beat", json_integer(1));
            json_object_set_new(o, "state", json_string("working"));
            char *text = json_dumps(o, 0);
            assert_int_equal(cb_store_put(s, keys[k], text, strlen(text), NULL), CUBED_OK);
            free(text);
            json_decref(o);
            cb_buf_free(&b);
        }
        if (f->local) cb_store_close(s);
    }
}

static void must_do(cubed_status st, const fixture *f, const cubed_error *err)
{
    if (st != CUBED_OK) fail_msg("%s: %s", names[f->kind], err->message);
}

/* Creates the state in which the case begins. */
static void prepare(fixture *f)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (f->local) {
        if (access(f->dir, F_OK) == 0) assert_int_equal(remove_dir(f->dir), 0);
        assert_int_equal(mkdir(f->dir, 0777), 0);
    } else {
        flaky_end(&f->flaky);
        flaky_begin(&f->flaky, f->flags);
    }
    store_numbers(f, f->src, 0);
    if (f->kind == OVERWRITE || f->kind == REGION || f->kind == APPEND || f->kind == CLEAN_NEW)
        store_numbers(f, f->out, 0);
    if (f->kind == COPY) store_numbers(f, f->out, 1);
    if (f->kind == RESUME || f->kind == TAKE_OVER || is_clean(f)) leave_half(f);
    if (f->kind == DONE) run_completely(f);
    if (f->kind == TAKE_OVER || f->kind == CLEAN_FAR) move_away(f);
    if (f->kind == UPDATE || f->kind == GROW) {
        must_do(update(f, &err), f, &err);
        must_do(write_part(f, f->src, f->kind == GROW, f->kind == GROW ? N : 100, &err), f, &err);
    }
}

static double expected(const fixture *f, int i)
{
    const double changed = i >= FROM && i < FROM + PART ? 100 + i - FROM : i;
    switch (f->kind) {
    case UPDATE: return 2 * changed;
    case GROW: return 2.0 * i;
    case REGION: return changed;
    case APPEND:
    case COPY: return i;
    default: return i - (N - 1) / 2.0;
    }
}

/* Reads the result into `got`, which has room for MOST doubles. Returns its length, or -1 if there is no complete array. */
static int64_t read_result(const fixture *f, void *got)
{
    cubed_array *x;
    cubed_plan *plan;
    cubed_error err = CUBED_ERROR_INIT;
    if (cubed_array_open(f->ctx, f->out, &x, &err) != CUBED_OK) return -1;
    const int64_t n = cubed_array_shape(x)[0];
    const cubed_target t = {.array = x, .data = got};
    assert_true(n <= MOST);
    assert_int_equal(cubed_plan_new(f->ctx, &t, 1, NULL, &plan, NULL), CUBED_OK);
    must_do(run_plan(plan, (cubed_run_options)CUBED_RUN_OPTIONS_INIT, &err), f, &err);
    cubed_array_unref(x);
    return n;
}

static void check_result(const fixture *f, const char *when)
{
    double got[MOST];
    const int64_t n = read_result(f, got);
    assert_int_equal(n, f->kind == GROW || f->kind == APPEND ? MOST : N);
    for (int i = 0; i < n; i++) {
        if (got[i] != expected(f, i))
            fail_msg("%s, %s: element %d is %g, expected %g", names[f->kind], when, i, got[i],
                     expected(f, i));
    }
}

/* After a failure the array that is overwritten is complete, either the old one or the new one. In a store without exchange there
 * may be none. */
static void check_old(const fixture *f)
{
    double got[MOST];
    const int64_t n = read_result(f, got);
    if (n < 0) assert_false(f->local);
    for (int i = 0; i < n; i++) assert_true(got[i] == (got[0] == 0 ? i : expected(f, i)));
}

/* Whether the array has been extended although the call has failed: the reply was lost. */
static bool is_longer(const fixture *f)
{
    double got[MOST];
    return f->kind == APPEND && read_result(f, got) == MOST;
}

static void check(fixture *f, cubed_status st)
{
    cubed_error err = CUBED_ERROR_INIT;
    if (is_clean(f)) {
        cubed_plan *plan;
        if (f->kind == CLEAN_NEW) check_old(f);
        must_do(plan_deviations(f, f->kind == CLEAN_NEW, &plan, &err), f, &err);
        must_do(run_plan(plan, (cubed_run_options)CUBED_RUN_OPTIONS_INIT, &err), f, &err);
    } else if (st != CUBED_OK && !is_longer(f)) {
        if (f->kind == OVERWRITE) check_old(f);
        failed_process_ended = true;
        st = act(f, &err);
        if (st != CUBED_OK && f->kind == PARTS) st = finish_again(f, &err);
        failed_process_ended = false;
        must_do(st, f, &err);
    }
    check_result(f, st == CUBED_OK ? "first run" : "second run");
}

/* --- Faults ---------------------------------------------------------------------------------------------- */

static cubed_status act_with(void *ctx, const cubed_allocator *a, cubed_error *err)
{
    fixture own = *(fixture *)ctx;
    begin_planning();
    own.ctx = new_context(ctx, a, err);
    if (!own.ctx) return err->status;
    const cubed_status st = act(&own, err);
    cubed_context_unref(own.ctx);
    return st;
}

static void check_then_prepare(void *ctx, cubed_status st)
{
    check(ctx, st);
    prepare(ctx);
}

/* A set of kinds, as bits. */
enum {
    ALL = (1 << NKINDS) - 1,
    REMOVING = 1 << OVERWRITE | 1 << CLEAN | 1 << CLEAN_NEW | 1 << CLEAN_FAR | 1 << COPY
};

static void fail_allocations(fixture *f, int kinds)
{
    for (int k = 0; k < NKINDS; k++) {
        if (!(kinds >> k & 1)) continue;
        f->kind = (kind)k;
        prepare(f);
        assert_true(fail_each_allocation(names[k], act_with, check_then_prepare, f) > 5);
    }
}

/* Lets each request fail in turn. */
static void fail_requests(fixture *f, int kinds, bool performs)
{
    for (int k = 0; k < NKINDS; k++) {
        if (!(kinds >> k & 1)) continue;
        f->kind = (kind)k;
        for (int n = 1;; n++) {
            cubed_error err = CUBED_ERROR_INIT;
            prepare(f);
            f->flaky.nth = n;
            f->flaky.calls = 0;
            f->flaky.performs = performs;
            const cubed_status st = act(f, &err);
            const bool failed = f->flaky.calls >= n;
            f->flaky.nth = 0;
            if (st != CUBED_OK &&
                (!failed || st != CUBED_E_IO || !strstr(err.message, FLAKY_MESSAGE)))
                fail_msg("%s, request %d: status %d, \"%s\"", names[k], n, st, err.message);
            check(f, st);
            if (!failed) {
                assert_true(n > 5);
                break;
            }
        }
    }
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    test_path(f->root, sizeof f->root, "cubed-test-runs-XXXXXX");
    if (!mkdtemp(f->root)) return -1;
    snprintf(f->dir, sizeof f->dir, "%s/d", f->root);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    const int rc = remove_dir(f->root);
    free(f);
    return rc;
}

static void begin_local(fixture *f)
{
    f->local = true;
    snprintf(f->src, sizeof f->src, "%s/src", f->dir);
    snprintf(f->out, sizeof f->out, "%s/out", f->dir);
    snprintf(f->work, sizeof f->work, "%s/work", f->dir);
    f->ctx = new_context(f, NULL, NULL);
}

static void begin_flaky(fixture *f, uint32_t flags)
{
    f->local = false;
    f->flags = flags;
    snprintf(f->src, sizeof f->src, "flaky://data::src");
    snprintf(f->out, sizeof f->out, "flaky://data::out");
    snprintf(f->work, sizeof f->work, "flaky://work");
    flaky_begin(&f->flaky, flags);
    f->ctx = new_context(f, NULL, NULL);
}

static void end(fixture *f)
{
    cubed_context_unref(f->ctx);
    if (!f->local) flaky_end(&f->flaky);
}

static void test_allocations_in_directories(void **state)
{
    fixture *f = *state;
    begin_local(f);
    fail_allocations(f, 1 << FRESH | 1 << OVERWRITE | 1 << UPDATE | 1 << APPEND | 1 << PARTS |
                            1 << TAKE_OVER | 1 << COPY);
    end(f);
}

static void test_allocations_in_stores(void **state)
{
    fixture *f = *state;
    begin_flaky(f, CUBED_STORE_CONDITIONS_IN_ONE_PIECE);
    fail_allocations(f, REMOVING);
    end(f);
}

static void test_requests(void **state)
{
    fixture *f = *state;
    begin_flaky(f, CUBED_STORE_CONDITIONS_IN_ONE_PIECE);
    fail_requests(f, ALL, false);
    end(f);
    begin_flaky(f, CUBED_STORE_GUARDS);
    fail_requests(f, REMOVING, false);
    end(f);
    begin_flaky(f, CUBED_STORE_DELETES_IF);
    fail_requests(f, REMOVING, false);
    end(f);
}

static void test_lost_replies(void **state)
{
    fixture *f = *state;
    begin_flaky(f, CUBED_STORE_CONDITIONS_IN_ONE_PIECE);
    fail_requests(
        f, 1 << FRESH | 1 << OVERWRITE | 1 << UPDATE | 1 << APPEND | 1 << PARTS | 1 << TAKE_OVER,
        true);
    end(f);
}

/* --- Without faults -------------------------------------------------------------------------------------- */

static void begin_any(fixture *f, bool local)
{
    if (local)
        begin_local(f);
    else
        begin_flaky(f, CUBED_STORE_CONDITIONS_IN_ONE_PIECE);
}

static void expect_error(const fixture *f, cubed_status status, const char *part)
{
    cubed_error err = CUBED_ERROR_INIT;
    const cubed_status st = act(f, &err);
    if (st != status || !strstr(err.message, part)) fail_msg("status %d, \"%s\"", st, err.message);
}

/* A source is written anew after a run began, or removed after a plan was made. */
static void test_sources_that_change(void **state)
{
    fixture *f = *state;
    for (int local = 0; local < 2; local++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_plan *plan;
        const cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
        begin_any(f, local);
        f->kind = RESUME;
        prepare(f);
        assert_int_equal(plan_deviations(f, false, &plan, &err), CUBED_OK);
        assert_int_equal(cubed_zarr_remove(f->ctx, f->src, &err), CUBED_OK);
        if (run_plan(plan, o, &err) == CUBED_OK ||
            !strstr(err.message, "has been removed since the plan was made"))
            fail_msg("%s", err.message);
        store_numbers(f, f->src, 0);
        expect_error(f, CUBED_E_EXISTS, "src has been overwritten since the run began");
        end(f);
    }
}

static void get_promise(const fixture *f, cubed_promise *out, char text[CUBED_PROMISE_TEXT_CAP])
{
    static const int64_t from = FROM;
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan;
    cubed_promise none;
    cubed_array *x = NULL, *into = NULL;
    cubed_target t = {.array = NULL};
    if (f->kind == REGION) {
        assert_int_equal(numbers(f, PART, 0, &x, &err), CUBED_OK);
        assert_int_equal(cubed_array_open(f->ctx, f->src, &into, &err), CUBED_OK);
        assert_int_equal(cubed_region_target(x, into, &from, &t, &err), CUBED_OK);
        assert_int_equal(new_plan(f, &t, &plan, &err), CUBED_OK);
    } else {
        assert_int_equal(plan_deviations(f, f->kind == OVERWRITE, &plan, &err), CUBED_OK);
    }
    assert_int_equal(cubed_plan_get_promise(plan, 0, out, &err), CUBED_OK);
    cubed_promise_text(out, text, CUBED_PROMISE_TEXT_CAP);
    assert_int_equal(cubed_plan_get_promise(plan, 1, &none, &err), CUBED_E_NOT_FOUND);
    assert_string_equal(err.message, "the plan has no target number 1");
    cubed_plan_unref(plan);
    cubed_array_unref(t.array);
    cubed_array_unref(into);
    cubed_array_unref(x);
}

#define EXCHANGE                                                                                   \
    "late writes go to a directory that a takeover exchanges for a new one; without requests"
#define CONDITIONS "late writes are refused, as puts have conditions; up to "
#define STAYS      "; an array that is there exists until the new one is complete"

static void test_promises(void **state)
{
    static const struct {
        bool local;
        kind kind;
        const char *fence, *text;
        uint64_t claim, chunk;
    } cases[] = {
        {true, FRESH, "exchange", EXCHANGE, 0, 0},
        {true, OVERWRITE, "exchange", EXCHANGE STAYS, 0, 0},
        {true, REGION, "lock",
         "a region, which keeps what others write to shared chunks: files are locked", 0, 0},
        {false, FRESH, "conditions",
         CONDITIONS "5 requests for the claim, 0 in addition for each chunk", 5, 0},
        {false, OVERWRITE, "conditions",
         CONDITIONS "11 requests for the claim, 0 in addition for each chunk" STAYS
                    ", which exists twice while it is copied",
         11, 0},
        {false, REGION, "conditions",
         "a region, which keeps what others write to shared chunks: puts have conditions", 0, 0},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cubed_promise p;
        char text[CUBED_PROMISE_TEXT_CAP];
        begin_any(f, cases[i].local);
        f->kind = FRESH;
        prepare(f);
        f->kind = cases[i].kind;
        get_promise(f, &p, text);
        assert_string_equal(cubed_fence_name(p.fence), cases[i].fence);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(p.claim_requests, cases[i].claim);
        assert_int_equal(p.chunk_requests, cases[i].chunk);
        assert_int_equal(p.is_region, cases[i].kind == REGION);
        assert_int_equal(p.may_replace, cases[i].kind == OVERWRITE);
        end(f);
    }
}

/* Sentences for stores that these tests do not have. */
static void test_texts_of_promises(void **state)
{
    static const struct {
        cubed_promise p;
        const char *text;
    } cases[] = {
        {{.fence = CUBED_FENCE_PROCESS}, "no other process reaches it; without requests"},
        {{.fence = CUBED_FENCE_PROCESS, .is_region = true}, "no other process reaches it"},
        {{.fence = CUBED_FENCE_NONE, .chunk_requests = 1},
         "late writes are not refused, as puts have no conditions: nothing is taken over without "
         "--take-over (take_over=True); up to 0 requests for the claim, 1 in addition for each "
         "chunk"},
        {{.fence = CUBED_FENCE_NONE, .is_region = true, .shared_chunks = 1},
         "a region, and nothing protects what others write to shared chunks: puts have no "
         "conditions"},
        {{.fence = CUBED_FENCE_LOCK, .is_region = true},
         "a region of whole chunks, which no other run may write at the same time"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[CUBED_PROMISE_TEXT_CAP];
        cubed_promise_text(&cases[i].p, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_requests),
                                       TEST(test_lost_replies),
                                       TEST(test_allocations_in_directories),
                                       TEST(test_allocations_in_stores),
                                       TEST(test_sources_that_change),
                                       TEST(test_promises),
                                       cmocka_unit_test(test_texts_of_promises)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
