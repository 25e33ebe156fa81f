/* Calls every function of the catalogue with arguments of every kind, and while allocations fail in turn. The result must be an
 * error or the arrays, and all memory must be freed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FAULT_STEPS_FEW
#include "../../fuzz/call_arguments.h"
#include "fault_steps.h"

enum { BYTES = 40, TRIES = 400, FEW_TRIES = 150, NEEDED = 2 };

typedef struct chosen_call {
    const cubed_function *f;
    uint8_t bytes[BYTES];
    size_t size;
} chosen_call;

static uint64_t random_state = 1;

static uint64_t random_bits(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return random_state >> 33;
}

static cubed_status new_context(const cubed_allocator *a, cubed_context **out, cubed_error *err)
{
    cubed_context_options o = CUBED_CONTEXT_OPTIONS_INIT;
    o.allocator = a;
    return cubed_context_new(&o, out, err);
}

/* An error has a message, and numbers an argument of the call or none. It leaves no results. */
static void check_results(const cubed_function *f, cubed_status st, const cubed_results *r,
                          const cubed_error *err, int n)
{
    if (st == CUBED_OK) {
        if (r->n == 0 && !f->any_results) fail_msg("%s: no results", f->name);
        for (int i = 0; i < r->n; i++) assert_non_null(r->arrays[i]);
        return;
    }
    if (!err->message[0] || r->n != 0 || r->arrays || err->argument < 0 || err->argument > n)
        fail_msg("%s: status %d, %d results, argument %d of %d, \"%s\"", f->name, st, r->n,
                 err->argument, n, err->message);
}

static cubed_status call_in(cubed_context *context, const chosen_call *c, cubed_error *err)
{
    input in = {.at = c->bytes, .end = c->bytes + c->size};
    cubed_argument arguments[MOST] = {{.name = NULL}};
    cubed_results results;
    cubed_status st = CUBED_E_NOMEM;
    if (make_arrays(context, &in)) {
        const int n = make_arguments(&in, c->f, arguments);
        st = cubed_call(context, c->f, arguments, n, &results, err);
        check_results(c->f, st, &results, err, n);
        cubed_results_free(context, &results);
    } else {
        snprintf(err->message, sizeof err->message, "no memory for arrays");
    }
    free_arrays(&in);
    return st;
}

/* Calls the function in a separate context, whose allocator fails. */
static cubed_status call_once(void *ctx, const cubed_allocator *a, cubed_error *err)
{
    cubed_context *context;
    cubed_status st = new_context(a, &context, err);
    if (st != CUBED_OK) return st;
    st = call_in(context, ctx, err);
    cubed_context_unref(context);
    return st;
}

/* Tries random arguments. Those that the function accepts are then used with faults: all of them in nightly tests, otherwise
 * the first ones. */
static int try_function(cubed_context *context, const cubed_function *f)
{
    const bool all = getenv("CUBED_ALL_FAULTS");
    int found = 0;
    for (int i = 0; all ? i < TRIES && found < NEEDED : i < FEW_TRIES / SLOW; i++) {
        chosen_call c = {.f = f, .size = random_bits() % BYTES};
        cubed_error err = CUBED_ERROR_INIT;
        for (size_t k = 0; k < c.size; k++) c.bytes[k] = (uint8_t)random_bits();
        if (call_in(context, &c, &err) != CUBED_OK) continue;
        if (found++ == 0 || all) fail_each_allocation(f->name, call_once, NULL, &c);
    }
    return found;
}

static void test_functions(void **state)
{
    int n = 0, reached = 0;
    cubed_context *context;
    (void)state;
    assert_int_equal(new_context(&cb_system_allocator, &context, NULL), CUBED_OK);
    for (const cubed_function *f = cubed_function_next(NULL); f; f = cubed_function_next(f), n++)
        reached += try_function(context, f) > 0;
    cubed_context_unref(context);
    print_message("%d of %d functions\n", reached, n);
    assert_true(reached > n / (SLOW > 1 ? 4 : 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
