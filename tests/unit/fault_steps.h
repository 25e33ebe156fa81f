/* Runs an operation again and again: the first time its first allocation fails, then the second one, and so on, until an
 * operation has fewer allocations. Those of Jansson, and those
 * of the library without this allocator, count, too. Link as failing_json.h says, and with --wrap=realloc, or define
 * FAULT_STEPS_WITHOUT_REALLOC. */
#ifndef CB_TESTS_FAULT_STEPS_H
#define CB_TESTS_FAULT_STEPS_H

#include <stdlib.h>
#include <string.h>

#include "cubed/base.h"
#include "failing_allocator.h"
#include "failing_json.h"
#include "slow.h"

/* The allocator of all operations. */
static failing fault_memory;

static bool json_fails(void)
{
    return __atomic_add_fetch(&fault_memory.calls, 1, __ATOMIC_RELAXED) == fault_memory.at;
}

#ifndef FAULT_STEPS_WITHOUT_REALLOC
/* NOLINTBEGIN(bugprone-reserved-identifier): the linker makes these names */
/* The library's only use of the C library's allocator. */
void *__real_realloc(void *ptr, size_t size);
void *__wrap_realloc(void *ptr, size_t size);

void *__wrap_realloc(void *ptr, size_t size)
{
    return json_may_fail && !failing_is_resizing && json_fails() ? NULL : __real_realloc(ptr, size);
}
/* NOLINTEND(bugprone-reserved-identifier) */
#endif

/* An operation makes all that it needs with the allocator, and frees it. */
typedef cubed_status (*fault_operation)(void *ctx, const cubed_allocator *a, cubed_error *err);

/* Called after each operation, without faults: checks its result, or what is left of it. May be NULL. */
typedef void (*fault_check)(void *ctx, cubed_status st);

/* The number of steps that are tried one by one; then distances grow, unless CUBED_ALL_FAULTS is set, as it is in nightly
 * tests. With FAULT_STEPS_FEW, distances grow from the start. */
enum { FAULT_STEPS = 64 };

static inline long next_fault(long at)
{
    if (getenv("CUBED_ALL_FAULTS")) return at + 1;
#ifdef FAULT_STEPS_FEW
    return at + 1 + at / 2;
#endif
    if (SLOW > 1) return at + 1 + at / 4;
    return at < FAULT_STEPS ? at + 1 : at + at / 12;
}

/* Returns the number of allocations of the operation. */
static inline long fail_each_allocation(const char *name, fault_operation operation,
                                        fault_check check, void *ctx)
{
    for (long at = 1;; at = next_fault(at)) {
        cubed_error err = CUBED_ERROR_INIT;
        fault_memory = (failing){.at = at};
        const cubed_allocator a = failing_allocator(&fault_memory);
        let_json_fail(true);
        const cubed_status st = operation(ctx, &a, &err);
        let_json_fail(false);
        const long calls = fault_memory.calls;
        if (fault_memory.live != 0)
            fail_msg("%s: allocation %ld: %zu bytes are not freed", name, at, fault_memory.live);
        if (st != CUBED_OK && (at > calls || st != CUBED_E_NOMEM || !err.message[0]))
            fail_msg("%s: allocation %ld of %ld: status %d, \"%s\"", name, at, calls, st,
                     err.message);
        if (check) check(ctx, st);
        if (at > calls) return calls;
    }
}

#endif
