#define _GNU_SOURCE
#include "run/driver/memory_limit.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/resource.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/sanitizers.h"
#include "mem/process.h"
#include "plan/plan.h"

#if defined(__linux__) && !defined(CB_HAVE_ASAN) && !defined(CB_HAVE_TSAN) && !defined(CB_HAVE_MSAN)

/* Memory that allocators of this process reserve in advance, such as Python's arenas, in addition to the memory in use. */
#define CB_WORKER_SLACK ((uint64_t)2 << 20)

/* Fails before any task runs if this process already uses so much memory that tasks would not fit. The error suggests
 * values of reserved_mem and allowed_mem that leave tasks the same memory as this plan does. Planning with both values produces
 * the same plan. */
static cubed_status check_held(const cubed_plan *plan, cubed_error *err)
{
    const uint64_t held = cb_sat_add(cb_private_memory(), CB_WORKER_SLACK);
    const uint64_t tasks =
        cb_sat_add(cb_sat_add(plan->need.arena, plan->need.library), plan->fetch_bytes);
    if (cb_sat_add(held, tasks) <= plan->allowed_mem) return CUBED_OK;
    const uint64_t room = plan->allowed_mem - plan->reserved_mem;
    return cb_fail(err, CUBED_E_BUDGET,
                   "its program, functions and libraries use %" PRIu64
                   " bytes before the first task, and a task needs %" PRIu64
                   ", but allowed_mem is %" PRIu64 " and reserved_mem is %" PRIu64
                   ": reserve at least %" PRIu64 " bytes, and allow at least %" PRIu64 " bytes",
                   held, tasks, plan->allowed_mem, plan->reserved_mem, held,
                   cb_sat_add(held, room));
}

static cubed_status get_limit(struct rlimit *out, cubed_error *err)
{
    return getrlimit(RLIMIT_DATA, out) == 0
               ? CUBED_OK
               : cb_fail_errno(err, errno, "cannot get the memory limit");
}

static cubed_status set_limit(struct rlimit limit, cubed_error *err)
{
    return setrlimit(RLIMIT_DATA, &limit) == 0
               ? CUBED_OK
               : cb_fail_errno(err, errno,
                               "cannot limit this process's memory to %" PRIu64 " bytes",
                               (uint64_t)limit.rlim_cur);
}

cubed_status cb_memory_limit(const cubed_plan *plan, cubed_error *err)
{
    struct rlimit now;
    CB_TRY(get_limit(&now, err));
    if (now.rlim_cur != RLIM_INFINITY && now.rlim_cur <= (rlim_t)plan->allowed_mem) return CUBED_OK;
    CB_TRY(check_held(plan, err));
    now.rlim_cur = (rlim_t)plan->allowed_mem;
    return set_limit(now, err);
}

cubed_status cb_memory_limit_begin(cubed_plan *plan, cubed_error *err)
{
    struct rlimit now;
    uint64_t most = atomic_load(&plan->worker.limit);
    CB_TRY(get_limit(&now, err));
    if (most == 0) {
        const uint64_t room = plan->allowed_mem - plan->reserved_mem;
        const uint64_t held = cb_sat_add(cb_private_memory(), CB_WORKER_SLACK);
        most = cb_max_size(plan->allowed_mem, cb_sat_add(held, room));
    }
    now.rlim_cur = cb_min_size((rlim_t)most, now.rlim_max);
    return set_limit(now, err);
}

void cb_memory_limit_end(cubed_plan *plan)
{
    struct rlimit now;
    if (get_limit(&now, NULL) != CUBED_OK) return;
    if (now.rlim_cur != now.rlim_max) atomic_store(&plan->worker.limit, (uint64_t)now.rlim_cur);
    now.rlim_cur = now.rlim_max;
    const cubed_status ignored = set_limit(now, NULL);
    (void)ignored;
}

#else

cubed_status cb_memory_limit(const cubed_plan *plan, cubed_error *err)
{
    (void)plan;
    (void)err;
    return CUBED_OK;
}

cubed_status cb_memory_limit_begin(cubed_plan *plan, cubed_error *err)
{
    (void)plan;
    (void)err;
    return CUBED_OK;
}

void cb_memory_limit_end(cubed_plan *plan) { (void)plan; }

#endif
