/* The worker side of the executor "processes". */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#endif

#include "base/alloc.h"
#include "base/error.h"
#include "exec/operators/finish.h"
#include "run/driver/memory_limit.h"
#include "run/executors/executor.h"
#include "run/executors/shared.h"
#include "run/executors/watchdog.h"
#include "run/executors/wire.h"

#define POLL_MS 200

/* Receives the plan. Code in the plan is allowed, because the process that started this process sends the plan. */
static cubed_status receive_plan(cubed_context *ctx, int fd, const cb_wire_hello *hello,
                                 cubed_plan **out, cubed_error *err)
{
    const cubed_allocator *a = &ctx->alloc;
    void *blob = cb_alloc(a, (size_t)hello->plan_size);
    if (!blob)
        return cb_fail(err, CUBED_E_NOMEM, "no memory for a plan of %" PRIu64 " bytes",
                       hello->plan_size);
    cubed_status st =
        cb_wire_receive(fd, blob, (size_t)hello->plan_size)
            ? cb_plan_load(ctx, blob, (size_t)hello->plan_size, CB_TRUST_DRIVER, out, err)
            : cb_fail(err, CUBED_E_IO,
                      "the connection to the driver ended while the plan was received");
    cb_free(a, blob, (size_t)hello->plan_size);
    return st;
}

/* Receives the next range. Returns false if the connection ended or the worker has to stop. */
static bool next_range(int fd, const cubed_cancel *cancel, cubed_task_range *range)
{
    struct pollfd p = {fd, POLLIN, 0};
    uint8_t bytes[CUBED_RANGE_BYTES];
    cubed_range_message message;
    while (poll(&p, 1, POLL_MS) <= 0) {
        if (cubed_cancel_is_set(cancel)) return false;
    }
    if (cubed_cancel_is_set(cancel) || !cb_wire_receive(fd, bytes, sizeof bytes)) return false;
    /* The driver has the same version and sends valid messages. So an invalid message only means that the connection has
     * ended. */
    if (cubed_range_read(bytes, sizeof bytes, &message, NULL) != CUBED_OK) return false;
    *range = message.range;
    return true;
}

static cubed_status run_ranges(const cb_task_env *env, cb_watchdog *watchdog,
                               const cubed_cancel *cancel, int fd, cubed_error *err)
{
    cubed_task_range range;
    cubed_task_report report;
    cb_arena *arena;
    cb_ahead ahead = {.chunks = NULL};
    bool open;
    CB_TRY(cb_arena_new(&env->plan->ctx->alloc, env->plan->need, &arena, err));
    memset(&report, 0, sizeof report);
    report.token = CB_WIRE_READY;
    open = cb_wire_send_report(env->plan->ctx, fd, &report);
    while (open && next_range(fd, cancel, &range)) {
        report.token = range.token;
        cb_runner_expect(env, &ahead, &range);
        for (int64_t task = range.first; open && task < range.last; task++) {
            cb_watchdog_begin(watchdog);
            cb_runner_run_task(env, arena, &ahead, NULL, range.stage, task, &report);
            cb_watchdog_end(watchdog, &report);
            /* Send no report if the worker has to stop, because the driver notices the end of the process. */
            open = !cubed_cancel_is_set(cancel) && cb_wire_send_report(env->plan->ctx, fd, &report);
            if (report.error.status != CUBED_OK) break;
        }
    }
    cb_ahead_end(&ahead);
    cb_arena_free(arena);
    return CUBED_OK;
}

cubed_status cubed_worker_serve(cubed_context *ctx, int fd, const cubed_cancel *cancel,
                                cubed_error *err)
{
    uint8_t greeting[CB_WIRE_HELLO_BYTES];
    cb_wire_hello hello;
    cubed_error why = CUBED_ERROR_INIT;
    cubed_plan *plan = NULL;
    cb_io *io = NULL;
    cb_watchdog *watchdog = NULL;
    cubed_status st;
#ifdef __linux__
    /* let the system kill this worker if its driver is killed */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (!cb_wire_receive(fd, greeting, sizeof greeting))
        return cb_fail(err, CUBED_E_IO, "descriptor %d is not a connection to a driver", fd);
    cb_spare_begin(&ctx->spare);
    cb_spare_drop(&ctx->spare);
    CB_GO(cb_wire_get_hello(greeting, &hello, &why));
    CB_GO(receive_plan(ctx, fd, &hello, &plan, &why));
    cubed_plan_load_functions(plan);
    CB_GO(cb_shared_map(plan, fd + 1, hello.nshared, &why));
    const cb_io_options storage = {
        .mode = CB_IO_WORKER, .resume = hello.resume, .run = hello.run, .plan = hello.plan};
    CB_GO(cb_io_open(plan, &storage, &io, &why));
    const cb_watchdog_args limit = {
        .alloc = &ctx->alloc, .cancel = cancel, .limit_ms = hello.timeout_ms, .ends_process = true};
    CB_GO(cb_watchdog_new(&limit, &watchdog, &why));
    CB_GO(cb_memory_limit(plan, &why));
    const cb_task_env env = {
        .plan = plan, .io = io, .cancel = cb_watchdog_cancel(watchdog, cancel)};
    CB_GO(run_ranges(&env, watchdog, cancel, fd, &why));
out:
    cb_spare_end(&ctx->spare);
    cb_watchdog_free(watchdog);
    if (st != CUBED_OK) {
        cubed_task_report report = {.token = CB_WIRE_NO_START, .error = why};
        report.error.status = st;
        bool ignored = cb_wire_send_report(ctx, fd, &report);
        (void)ignored;
        if (err) *err = why;
    }
    cb_io_close(io);
    cubed_plan_unref(plan);
    return st;
}
