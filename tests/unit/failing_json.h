/* Has Jansson's allocations fail together with those of a failing allocator. Link with
 * -Wl,--wrap=json_loads,--wrap=json_loadb (cmake/tests.cmake).
 *
 * While Jansson parses, it truncates strings without memory, and reports other errors. Its parsers fail as a whole here. */
#ifndef CB_TESTS_FAILING_JSON_H
#define CB_TESTS_FAILING_JSON_H

#include <jansson.h>
#include <stdlib.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker makes these names */
/* Whether the next allocation fails; counts it. Defined by the test. */
static bool json_fails(void);

json_t *__real_json_loads(const char *text, size_t flags, json_error_t *error);
json_t *__wrap_json_loads(const char *text, size_t flags, json_error_t *error);
json_t *__real_json_loadb(const char *text, size_t size, size_t flags, json_error_t *error);
json_t *__wrap_json_loadb(const char *text, size_t size, size_t flags, json_error_t *error);

static _Thread_local bool json_is_parsing;
static bool json_may_fail;

static void *failing_json_malloc(size_t size)
{
    return !json_is_parsing && json_fails() ? NULL : malloc(size);
}

static json_t *no_json_parser(json_error_t *error)
{
    if (error) *error = (json_error_t){.line = -1};
    return NULL;
}

json_t *__wrap_json_loads(const char *text, size_t flags, json_error_t *error)
{
    if (json_may_fail && json_fails()) return no_json_parser(error);
    json_is_parsing = true;
    json_t *v = __real_json_loads(text, flags, error);
    json_is_parsing = false;
    return v;
}

json_t *__wrap_json_loadb(const char *text, size_t size, size_t flags, json_error_t *error)
{
    if (json_may_fail && json_fails()) return no_json_parser(error);
    json_is_parsing = true;
    json_t *v = __real_json_loadb(text, size, flags, error);
    json_is_parsing = false;
    return v;
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* Jansson's allocations count, and fail, until they are restored. */
static void let_json_fail(bool may)
{
    json_set_alloc_funcs(may ? failing_json_malloc : malloc, free);
    json_may_fail = may;
}

#endif
