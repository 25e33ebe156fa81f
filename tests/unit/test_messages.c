/* Messages of a run: written messages are read back unchanged, and other bytes are refused. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "remove_dir.h"

#include "cubed/cubed.h"
#include "cubed/sys/message.h"
#include "test_path.h"

enum { CASES = 2000, MOST = CUBED_REPORT_BYTES + 2048 };

static uint64_t random_state = 1;

static uint64_t random_bits(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return random_state ^ random_state >> 29;
}

/* Returns a random number with a random number of bits. */
static uint64_t any(void) { return random_bits() >> random_bits() % 64; }

typedef struct bytes {
    uint8_t data[MOST];
    size_t size;
} bytes;

static cubed_status append(void *sink, const void *data, size_t size, cubed_error *err)
{
    bytes *b = sink;
    (void)err;
    assert_true(b->size + size <= sizeof b->data);
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return CUBED_OK;
}

static void fill_text(char *text, size_t cap)
{
    const size_t n = random_bits() % cap;
    memset(text, 0, cap);
    for (size_t i = 0; i < n; i++) text[i] = (char)('a' + random_bits() % 26);
}

static cubed_task_report random_report(void)
{
    cubed_task_report r;
    memset(&r, 0, sizeof r);
    r.token = random_bits();
    r.task = (int64_t)(any() >> 1);
    r.worker = (unsigned)any();
    r.coop = (unsigned)any();
    r.start_ns = (int64_t)any() >> 3; /* at most 2^60 */
    r.end_ns = (int64_t)any() >> 3;
    r.bytes_read = any();
    r.bytes_written = any();
    r.stored_read = any();
    r.stored_written = any();
    r.measured_mem = any();
    r.function_mem = any();
    r.cache_peak = any();
    r.process_mem = any();
    r.process_tasks = (uint32_t)any();
    r.error.status = (cubed_status)(random_bits() % (CUBED_E_AXIS + 1));
    r.error.os_errno = (int)any();
    r.error.enough_mem = any();
    r.error.retry_after_ms = (uint32_t)any();
    r.error.failure = (cubed_failure)(random_bits() % CUBED_FAILURES);
    for (int i = 0; i < CUBED_ERROR_ORIGINS; i++) r.error.origins[i] = (uint32_t)any();
    if (random_bits() & 1) fill_text(r.error.message, sizeof r.error.message);
    return r;
}

static void expect_same(const cubed_task_report *a, const cubed_task_report *b)
{
    assert_true(a->token == b->token && a->task == b->task && a->worker == b->worker);
    assert_true(a->coop == b->coop && a->start_ns == b->start_ns && a->end_ns == b->end_ns);
    assert_true(a->bytes_read == b->bytes_read && a->bytes_written == b->bytes_written);
    assert_true(a->stored_read == b->stored_read && a->stored_written == b->stored_written);
    assert_true(a->measured_mem == b->measured_mem && a->function_mem == b->function_mem);
    assert_true(a->cache_peak == b->cache_peak && a->error.status == b->error.status);
    assert_true(a->process_mem == b->process_mem && a->process_tasks == b->process_tasks);
    assert_true(a->error.os_errno == b->error.os_errno);
    assert_true(a->error.enough_mem == b->error.enough_mem && b->error.raised == 0);
    assert_true(a->error.retry_after_ms == b->error.retry_after_ms);
    assert_int_equal(cubed_failure_of(&a->error), cubed_failure_of(&b->error));
    assert_memory_equal(a->error.origins, b->error.origins, sizeof a->error.origins);
    assert_string_equal(a->error.message, b->error.message);
}

/* Reads arbitrary bytes. The result is an error with a message, or a report that is written as the same bytes. */
static bool read_any(const cubed_context *ctx, const bytes *b)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_task_report r;
    size_t used = 0;
    /* allocate the exact size, so that sanitizers detect an overrun */
    uint8_t *exact = malloc(b->size + 1);
    bytes again = {.size = 0};
    assert_non_null(exact);
    memcpy(exact, b->data, b->size);
    const cubed_status st = cubed_report_read(ctx, exact, b->size, &r, &used, &err);
    free(exact);
    if (st != CUBED_OK) {
        assert_true(st == CUBED_E_FORMAT || st == CUBED_E_UNSUPPORTED);
        assert_true(err.message[0] != 0);
        return false;
    }
    assert_true(used <= b->size);
    assert_int_equal(cubed_report_write(ctx, &r, append, &again, &err), CUBED_OK);
    /* Reports with objects of exceptions, or with NULs in texts, become shorter when they are written again. */
    assert_true(again.size <= used);
    if (again.size == used) assert_memory_equal(again.data, b->data, used);
    return true;
}

static void test_reports_come_back(void **state)
{
    for (int i = 0; i < CASES; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        const cubed_task_report r = random_report();
        cubed_task_report got;
        bytes b = {.size = 0};
        size_t used = 0, whole = 0;
        assert_int_equal(cubed_report_write(*state, &r, append, &b, &err), CUBED_OK);
        assert_int_equal(cubed_report_size(b.data, &whole, &err), CUBED_OK);
        assert_int_equal(whole, b.size);
        assert_int_equal(cubed_report_read(*state, b.data, b.size, &got, &used, &err), CUBED_OK);
        assert_int_equal(used, b.size);
        expect_same(&r, &got);
        assert_true(read_any(*state, &b));
    }
}

static void test_changed_reports_are_refused_or_others(void **state)
{
    const size_t words[] = {0, 4, 6, 16, 96, 104, 124, 128, 132, 180};
    for (int i = 0; i < CASES; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        const cubed_task_report r = random_report();
        bytes b = {.size = 0};
        assert_int_equal(cubed_report_write(*state, &r, append, &b, &err), CUBED_OK);
        bytes cut = b;
        cut.size = random_bits() % b.size;
        assert_false(read_any(*state, &cut));
        const size_t at = random_bits() & 1 ? random_bits() % b.size
                                            : words[random_bits() % (sizeof words / sizeof *words)];
        b.data[at] ^= (uint8_t)(1u << random_bits() % 8);
        const bool fine = read_any(*state, &b);
        if (at < 8) assert_false(fine);
    }
}

static void test_other_versions_are_refused(void **state)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_range_message m = {.range = {.token = 1}}, got;
    cubed_task_report r = {.task = 1};
    uint8_t range[CUBED_RANGE_BYTES];
    bytes b = {.size = 0};
    size_t used;
    cubed_range_write(&m, range);
    range[4]++;
    assert_int_equal(cubed_range_read(range, sizeof range, &got, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "the range has version 4 of messages"));
    range[4] = 0;
    assert_int_equal(cubed_range_read(range, sizeof range, &got, &err), CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "the range has version 0 of messages"));
    assert_non_null(strstr(err.message, "driver and workers need the same version"));
    assert_int_equal(cubed_report_write(*state, &r, append, &b, &err), CUBED_OK);
    b.data[5]++;
    assert_int_equal(cubed_report_read(*state, b.data, b.size, &r, &used, &err),
                     CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "the report has version 259 of messages"));
    b.data[4] = b.data[5] = 0;
    assert_int_equal(cubed_report_read(*state, b.data, b.size, &r, &used, &err),
                     CUBED_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "the report has version 0 of messages"));
}

/* Checks the exact bytes of messages, because other programs write and read them. */
static void test_bytes_are_as_documented(void **state)
{
    cubed_range_message m = {.range = {.token = 0x0102030405060708, .stage = 3, .first = 256},
                             .timeout_ms = 9,
                             .run = "monday",
                             .plan = "0123",
                             .driven = true};
    uint8_t got[CUBED_RANGE_BYTES], expected[CUBED_RANGE_BYTES] = "CBDR\3\0\1\0\10\7\6\5\4\3\2\1";
    cubed_task_report r = {.token = 5, .task = 258, .coop = 1};
    bytes b = {.size = 0};
    m.range.last = INT64_C(1) << 32;
    expected[17] = expected[28] = 1;
    expected[32] = 3;
    expected[36] = 9;
    memcpy(expected + 40, "monday", 6);
    memcpy(expected + 80, "0123", 4);
    cubed_range_write(&m, got);
    assert_memory_equal(got, expected, sizeof got);
    uint8_t report[CUBED_REPORT_BYTES + 3] = "CBDT\3\0\0\0\5";
    report[16] = 2;
    report[17] = 1;
    report[100] = 1;
    report[104] = CUBED_E_IO;
    report[124] = 1;
    report[128] = 3;
    memcpy(report + CUBED_REPORT_BYTES, "why", 3);
    r.error = (cubed_error){.status = CUBED_E_IO, .message = "why", .transient = true};
    assert_int_equal(cubed_report_write(*state, &r, append, &b, NULL), CUBED_OK);
    assert_int_equal(b.size, sizeof report);
    assert_memory_equal(b.data, report, sizeof report);
}

static void test_ranges_come_back_or_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_range_message m, got;
        uint8_t data[CUBED_RANGE_BYTES], again[CUBED_RANGE_BYTES];
        memset(&m, 0, sizeof m);
        m.range.token = random_bits();
        m.timeout_ms = (uint32_t)any();
        m.driven = random_bits() % 2;
        m.range.stage = (int)(any() >> 33);
        m.range.first = (int64_t)(any() >> 2);
        m.range.last = m.range.first + (int64_t)(any() >> 2);
        fill_text(m.run, sizeof m.run);
        fill_text(m.plan, sizeof m.plan);
        cubed_range_write(&m, data);
        assert_int_equal(cubed_range_read(data, sizeof data, &got, &err), CUBED_OK);
        cubed_range_write(&got, again);
        assert_memory_equal(data, again, sizeof data);
        assert_int_equal(cubed_range_read(data, random_bits() % sizeof data, &got, &err),
                         CUBED_E_FORMAT);
        data[random_bits() % sizeof data] ^= (uint8_t)(1u << random_bits() % 8);
        if (cubed_range_read(data, sizeof data, &got, &err) != CUBED_OK) continue;
        assert_true(got.range.first >= 0 && got.range.first <= got.range.last);
        assert_true(got.range.stage >= 0);
        cubed_range_write(&got, again);
        assert_memory_equal(data, again, sizeof data);
    }
}

static void expect_object(cubed_context *ctx, const char *url, const bytes *expected)
{
    bytes got = {.size = 0};
    assert_int_equal(cubed_object_read(ctx, url, MOST, append, &got, NULL), CUBED_OK);
    assert_int_equal(got.size, expected->size);
    assert_memory_equal(got.data, expected->data, expected->size);
}

/* Writes and reads objects in two kinds of stores. A write replaces the whole object. */
static void test_objects_come_back(void **state)
{
    char folder[64];
    char urls[3][96];
    assert_non_null(mkdtemp(test_path(folder, sizeof folder, "cubed-objects-XXXXXX")));
    snprintf(urls[0], sizeof urls[0], "%s/an answer", folder);
    snprintf(urls[1], sizeof urls[1], "file://%s/an%%20answer", folder);
    snprintf(urls[2], sizeof urls[2], "memory://store/answer");
    for (int i = 0; i < 3; i++) {
        bytes b = {.size = random_bits() % MOST};
        for (size_t j = 0; j < b.size; j++) b.data[j] = (uint8_t)random_bits();
        assert_int_equal(cubed_object_write(*state, urls[i], b.data, b.size, NULL), CUBED_OK);
        expect_object(*state, urls[i], &b);
        if (i == 1) expect_object(*state, urls[0], &b); /* both URLs name the same file */
    }
    const bytes none = {.size = 0};
    assert_int_equal(cubed_object_write(*state, urls[0], none.data, 0, NULL), CUBED_OK);
    expect_object(*state, urls[0], &none);
    assert_int_equal(remove_dir(folder), 0);
}

static void test_objects_nowhere_are_refused(void **state)
{
    cubed_error err = CUBED_ERROR_INIT;
    bytes got = {.size = 0};
    assert_int_equal(cubed_object_write(*state, "memory://store/", "x", 1, &err), CUBED_E_ARG);
    assert_non_null(strstr(err.message, "has no key of an object"));
    assert_int_equal(cubed_object_write(*state, "gopher://host/x", "x", 1, &err),
                     CUBED_E_UNSUPPORTED);
    assert_int_equal(cubed_object_write(*state, "/proc/nowhere/x", "x", 1, &err), CUBED_E_IO);
    assert_int_equal(cubed_object_read(*state, "memory://store/none", MOST, append, &got, &err),
                     CUBED_E_NOT_FOUND);
}

static int start(void **state)
{
    cubed_context *ctx;
    if (cubed_context_new(NULL, &ctx, NULL) != CUBED_OK) return -1;
    *state = ctx;
    return 0;
}

static int stop(void **state)
{
    cubed_context_unref(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reports_come_back),
        cmocka_unit_test(test_changed_reports_are_refused_or_others),
        cmocka_unit_test(test_other_versions_are_refused),
        cmocka_unit_test(test_bytes_are_as_documented),
        cmocka_unit_test(test_ranges_come_back_or_are_refused),
        cmocka_unit_test(test_objects_come_back),
        cmocka_unit_test(test_objects_nowhere_are_refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
