/* The report of a run with made-up events, so that each number in it is known. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "plan_test.h"
#include "report/record.h"
#include "report/report_text.h"

enum { SIDE = 40, MS = 1000000 };

typedef struct fixture {
    cubed_context *ctx;
    double result[SIDE];
    cubed_plan *plan;
    report *r;
    char *page; /* the last drawing */
    size_t size;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    *state = f;
    return f && cubed_context_new(NULL, &f->ctx, NULL) == CUBED_OK ? 0 : -1;
}

static int teardown(void **state)
{
    fixture *f = *state;
    report_close(f->r);
    cubed_plan_unref(f->plan);
    cubed_context_unref(f->ctx);
    free(f->page);
    free(f);
    return 0;
}

/* Plans `stages` operations, each in its own stage, on an array of `tasks` chunks, and begins a report of the run. */
static void begin(fixture *f, int stages, int tasks, unsigned workers)
{
    const int64_t shape = SIDE, chunk = SIDE / tasks;
    static const cubed_scalar one = {.f64 = 1};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    cubed_array *x, *y;
    o.optimize = false;
    o.allowed_mem = 100000000;
    o.reserved_mem = 20000000;
    o.max_workers = workers;
    o.other_machines = true; /* set, because events of such runs lack some members */
    must(cubed_array_full(f->ctx, CUBED_FLOAT64, 1, &shape, &chunk, &one, &x, &err), &err);
    for (int i = 1; i < stages; i++, x = y) {
        must(cubed_elementwise(CUBED_OP_NEGATIVE, &x, 1, &y, &err), &err);
        cubed_array_unref(x);
    }
    const cubed_target to = {.array = x, .data = f->result};
    must(cubed_plan_new(f->ctx, &to, 1, &o, &f->plan, &err), &err);
    cubed_array_unref(x);
    must(report_open(f->plan, &f->r, &err), &err);
    assert_int_equal(f->r->info.num_stages, stages);
    assert_int_equal(f->r->info.num_tasks, (int64_t)stages * tasks);
}

static void start(fixture *f)
{
    report_event(f->r, &(cubed_event){.kind = CUBED_EVENT_PLAN_START,
                                      .time_ns = (int64_t)1000 * MS,
                                      .stage = -1,
                                      .task = -1});
}

/* A task of 10 ms that ended this many milliseconds after the start. */
static cubed_event task(int stage, int64_t number, unsigned worker, int ms)
{
    return (cubed_event){.kind = CUBED_EVENT_TASK_END,
                         .time_ns = (int64_t)(1000 + ms) * MS,
                         .duration_ns = (int64_t)10 * MS,
                         .stage = stage,
                         .task = number,
                         .worker = worker,
                         .coop = 1,
                         .bytes_read = 1000,
                         .bytes_written = 2000,
                         .measured_mem = 30000000};
}

static void run(fixture *f, int stage, int64_t number, unsigned worker, int ms)
{
    const cubed_event e = task(stage, number, worker, ms);
    report_event(f->r, &e);
}

static void draw(fixture *f, report_drawing which)
{
    free(f->page);
    FILE *to = open_memstream(&f->page, &f->size);
    assert_non_null(to);
    report_draw(f->r, which, to);
    fclose(to);
    assert_memory_equal(f->page, "<svg ", 5);
    assert_string_equal(f->page + f->size - 7, "</svg>\n");
}

static void write_page(fixture *f, const char *error)
{
    const cubed_run_stats stats = {.num_workers = 2};
    const report_run how = {"processes", &stats, error};
    cubed_error err = CUBED_ERROR_INIT;
    free(f->page);
    FILE *to = open_memstream(&f->page, &f->size);
    assert_non_null(to);
    must(report_write(f->r, &how, to, &err), &err);
    fclose(to);
}

static int count(const char *in, const char *what)
{
    int n = 0;
    for (const char *p = in; (p = strstr(p, what)) != NULL; p += strlen(what)) n++;
    return n;
}

static void expect(const fixture *f, const char *what)
{
    if (!strstr(f->page, what)) fail_msg("there is no '%s' in:\n%s", what, f->page);
}

static void expect_none(const fixture *f, const char *what)
{
    if (strstr(f->page, what)) fail_msg("there is '%s' in:\n%s", what, f->page);
}

/* --- Progress ----------------------------------------------------------------------------------------- */

static void test_progress_before_a_run(void **state)
{
    fixture *f = *state;
    begin(f, 2, 4, 2);
    start(f);
    draw(f, REPORT_PROGRESS);
    expect(f, ">0 of 8 tasks, 0 \xc2\xb5s<");
    expect(f, ">0 B read, 0 B written<");
    assert_int_equal(count(f->page, ">0 / 4<"), 2);
    /* bars for all tasks, for two stages, and for memory */
    assert_int_equal(count(f->page, "class=\"track\""), 4);
    expect(f, "20.0 MB reserved, largest task 0 B");
    expect(f, ">100 MB allowed<");
    expect_none(f, "are shown");
    expect_none(f, "failed attempts");
}

static void test_progress_of_a_run(void **state)
{
    fixture *f = *state;
    begin(f, 2, 4, 2);
    start(f);
    for (int i = 0; i < 4; i++) run(f, 0, i, 0, 10 * (i + 1));
    cubed_event e = task(1, 0, 1, 100);
    e.kind = CUBED_EVENT_TASK_RETRY;
    report_event(f->r, &e);
    run(f, 1, 0, 1, 2500);
    draw(f, REPORT_PROGRESS);
    expect(f, ">5 of 8 tasks, 2.50 s<");
    expect(f, ">1 failed attempts, 5.0 kB read, 10.0 kB written<");
    expect(f, ">4 / 4<");
    expect(f, ">1 / 4<");
    /* The bar is 1144 wide, half of it for each stage. One stage is complete, the other one to a quarter. */
    expect(f,
           "<rect x=\"8.0\" y=\"22.0\" width=\"572.0\" height=\"10\" rx=\"2\" fill=\"#0072b2\"/>");
    expect(
        f,
        "<rect x=\"580.0\" y=\"22.0\" width=\"143.0\" height=\"10\" rx=\"2\" fill=\"#e69f00\"/>");
    expect(f, "width=\"260.0\" height=\"10\" rx=\"2\" fill=\"#0072b2\"/>");
    expect(f, "width=\"65.0\" height=\"10\" rx=\"2\" fill=\"#e69f00\"/>");
    /* Of 100 MB, 20 MB are reserved, and the largest task used 30 MB. */
    expect(f, "largest task 30.0 MB");
    expect(f, "<rect class=\"resumed\" x=\"8\" y=\"114\" width=\"228.8\"");
    expect(f, "<rect x=\"236.8\" y=\"114.0\" width=\"343.2\"");
    assert_int_equal(count(f->page, ">30.0 MB of "), 2);
}

/* Tasks of an earlier run count as complete, and a task that used more than the allowed memory does not break the drawing. */
static void test_progress_of_a_resumed_run(void **state)
{
    fixture *f = *state;
    begin(f, 1, 4, 1);
    start(f);
    for (int i = 0; i < 3; i++)
        report_event(f->r, &(cubed_event){.kind = CUBED_EVENT_TASK_RESUMED,
                                          .time_ns = (int64_t)1000 * MS,
                                          .task = i});
    cubed_event e = task(0, 3, 0, 700000);
    e.measured_mem = 900000000;
    report_event(f->r, &e);
    draw(f, REPORT_PROGRESS);
    expect(f, ">4 of 4 tasks, 11 min 40 s<");
    expect(f, ">4 / 4<");
    expect(f, "largest task 900 MB");
    /* The bar of the memory ends at the memory that is allowed. */
    expect(f, "<rect x=\"236.8\" y=\"90.0\" width=\"915.2\"");
    draw(f, REPORT_MEMORY);
    assert_int_equal(count(f->page, "done by an earlier run"), 3);
}

/* If there are many stages, only some around the first incomplete one are drawn. */
static void test_progress_of_many_stages(void **state)
{
    fixture *f = *state;
    begin(f, 50, 2, 1);
    start(f);
    draw(f, REPORT_PROGRESS);
    expect(f, ">stages 0 to 19 of 50 are shown<");
    for (int s = 0; s < 50; s++) {
        for (int i = 0; i < 2; i++) run(f, s, i, 0, 10 * (2 * s + i + 1));
        if (s != 29) continue;
        draw(f, REPORT_PROGRESS);
        expect(f, ">stages 25 to 44 of 50 are shown<");
        assert_int_equal(count(f->page, ">2 / 2<"), 5);
        assert_int_equal(count(f->page, ">0 / 2<"), 15);
        expect(f, ">stage 25: ");
        expect_none(f, ">stage 24: ");
        expect_none(f, ">stage 45: ");
    }
    draw(f, REPORT_PROGRESS);
    expect(f, ">100 of 100 tasks, ");
    expect(f, ">stages 30 to 49 of 50 are shown<");
    /* The legend of the timeline lists only 24 stages. */
    draw(f, REPORT_TIMELINE);
    expect(f, ">stage 23: ");
    expect_none(f, ">stage 24: ");
    expect(f, ">and 26 more<");
}

/* --- Other drawings ------------------------------------------------------------------------------------- */

static void test_marks_say_who_did_what(void **state)
{
    fixture *f = *state;
    begin(f, 1, 4, 3);
    start(f);
    cubed_event e = task(0, 0, 0, 20);
    e.host = "node1:17";
    report_event(f->r, &e);
    e = task(0, 1, 1, 30);
    e.host = "a<b>&\"c\":18";
    e.kind = CUBED_EVENT_TASK_RETRY;
    e.failure = CUBED_FAILURE_LOST;
    e.message = "killed <9>";
    report_event(f->r, &e);
    e = task(0, 2, 2, 40);
    e.coop = 3; /* three workers performed the task together */
    report_event(f->r, &e);
    draw(f, REPORT_TIMELINE);
    expect(f, "<title>task 0 of stage 0: 10 ms, 30.0 MB, on node1</title>");
    expect(f, "class=\"failed\"><title>task 1 of stage 0: 10 ms, 1 failed attempt, on "
              "a&lt;b&gt;&amp;&quot;c&quot;</title>");
    assert_int_equal(count(f->page, "<title>task 2, with other workers, of stage 0: "), 2);
    assert_int_equal(count(f->page, "<title>task 2 of stage 0: "), 1);
    for (int w = 0; w < 3; w++) {
        char text[32];
        snprintf(text, sizeof text, ">worker %d<", w);
        expect(f, text);
    }
    write_page(f, NULL);
    expect(f, "<h2>Machines</h2>");
    expect(f, "<h2>Slowest tasks</h2>");
    expect(f, "<tr><td class=\"number\">10 ms</td>");
    expect(f, "<td>a&lt;b&gt;&amp;&quot;c&quot;</td>");
    expect(f, "<li>task 1 of stage 0, ");
    expect(f, ": killed &lt;9&gt;</li>");
    expect(f, "<p class=\"good\">Done in 40 ms.</p>");
    write_page(f, "disk <full>");
    expect(f, "<p class=\"bad\">Failed: disk &lt;full&gt;</p>");
}

/* If there are many tasks, marks are merged, so memory does not grow. The marks still represent all tasks. */
static void test_many_tasks_take_no_more_memory(void **state)
{
    enum { MANY = 20 * RECORD_MARKS };
    fixture *f = *state;
    int64_t tasks = 0, failed = 0;
    begin(f, 2, 4, 2);
    start(f);
    for (int i = 0; i < MANY; i++) {
        cubed_event e = task(i % 3 == 0, i % 4, i % 2 == 0, 10 + i);
        char host[40];
        snprintf(host, sizeof host, "node%d:1", i / 100);
        e.host = host;
        e.message = "once more";
        if (i % 1000 == 999) e.kind = CUBED_EVENT_TASK_RETRY;
        report_event(f->r, &e);
    }
    assert_true(f->r->nmarks <= RECORD_MARKS);
    for (int i = 0; i < f->r->nmarks; i++) {
        tasks += f->r->mark[i].tasks;
        failed += f->r->mark[i].failed;
    }
    assert_int_equal(failed, MANY / 1000);
    assert_int_equal(tasks, MANY - failed);
    draw(f, REPORT_TIMELINE);
    assert_int_equal(count(f->page, "data-tasks="), f->r->nmarks);
    expect(f, " of stage 0 and others: ");
    /* Further hosts are counted as one. */
    assert_int_equal(f->r->nhosts, RECORD_HOSTS);
    assert_string_equal(f->r->host[RECORD_HOSTS - 1].name, "all others");
    int64_t of_hosts = 0;
    for (int i = 0; i < RECORD_HOSTS; i++) of_hosts += f->r->host[i].tasks;
    assert_int_equal(of_hosts, tasks);
    write_page(f, NULL);
    expect(f, "; a bar is up to ");
    assert_int_equal(count(f->page, "once more</li>"), RECORD_FAILURES);
    expect(f, "<p>These are the first of 24.</p>");
}

/* If there are more workers than lanes, several workers share a lane. */
static void test_many_workers(void **state)
{
    fixture *f = *state;
    begin(f, 1, 40, 400);
    start(f);
    for (int i = 0; i < 40; i++) run(f, 0, i, (unsigned)(i * 10 + 9), 20);
    run(f, 0, 0, 5000, 30); /* from a worker with a much larger number */
    draw(f, REPORT_TIMELINE);
    assert_int_equal(count(f->page, "data-tasks="), 41);
    expect(f, ">worker 40<");
    expect(f, ">worker 360<");
    expect_none(f, ">worker 400<");
}

/* Events of tasks that the plan does not have are ignored. */
static void test_events_of_other_plans(void **state)
{
    fixture *f = *state;
    begin(f, 1, 4, 1);
    start(f);
    run(f, 1, 0, 0, 10);
    run(f, -1, 0, 0, 10);
    run(f, 0, -1, 0, 10);
    assert_int_equal(f->r->total.ended, 0);
    assert_int_equal(f->r->nmarks, 0);
    run(f, 0, 99, 0, 10); /* the stage has no task 99, so the event counts for its last task */
    assert_int_equal(f->r->total.ended, 1);
    assert_int_equal(f->r->bin[f->r->nbins - 1].ended, 1);
}

/* --- Text --------------------------------------------------------------------------------------------- */

static void test_numbers_as_text(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } times[] = {{0, "0 \xc2\xb5s"},    {0.00025, "250 \xc2\xb5s"},
                 {0.0042, "4.2 ms"},    {0.25, "250 ms"},
                 {1.5, "1.50 s"},       {123.4, "123 s"},
                 {700, "11 min 40 s"},  {7200, "2 h 00 min"},
                 {90061, "25 h 01 min"}};
    static const struct {
        double bytes;
        const char *text;
    } sizes[] = {{0, "0 B"},       {999, "999 B"},     {999.6, "1.0 kB"},
                 {1500, "1.5 kB"}, {99949, "99.9 kB"}, {123456, "123 kB"},
                 {2e9, "2.0 GB"},  {3.1e12, "3.1 TB"}, {5e18, "5000 PB"}};
    char text[32];
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_string_equal(text_time(times[i].seconds, text), times[i].text);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_string_equal(text_bytes(sizes[i].bytes, text), sizes[i].text);
}

static void test_strings_as_json(void **state)
{
    static const char *const cases[][2] = {
        {"", "\"\""},
        {"a \"b\" \\c\n\t\x01\x7f", "\"a \\\"b\\\" \\\\c\\n\\t??\""},
        {"\xc3\xa4\xff", "\"\xc3\xa4?\""},
        {"123456789", "\"12345678\xe2\x80\xa6\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        assert_non_null(f);
        text_put_json(f, cases[i][0], i == 1 ? 100 : 8);
        assert_int_equal(fclose(f), 0);
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
}

static void test_steps_of_axes(void **state)
{
    static const struct {
        double extent;
        int ticks;
        double step;
    } cases[] = {{10, 10, 1}, {15, 10, 2}, {40, 10, 5}, {70, 10, 10}, {0.003, 5, 0.001}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(fabs(text_step(cases[i].extent, cases[i].ticks) / cases[i].step - 1) < 1e-9);
    assert_true(text_step(0, 5) > 0); /* a step of 0 would make the loop over ticks endless */
    assert_true(text_step((double)NAN, 5) > 0);
}

typedef void (*cut_fn)(FILE *f, const char *s, int max);

static void expect_cut(cut_fn fn, const char *s, int max, const char *text)
{
    char *page = NULL;
    size_t size;
    FILE *f = open_memstream(&page, &size);
    assert_non_null(f);
    fn(f, s, max);
    fclose(f);
    assert_string_equal(page, text);
    free(page);
}

static void test_text_of_strangers(void **state)
{
    static const char *const none[] = {
        "\x01",             /* a control character, which XML does not allow */
        "\x7f",             /* another control character */
        "\xff",             /* no UTF-8 */
        "\xc3",             /* the first of two bytes of a character */
        "\xe2\x82",         /* two thirds */
        "\xc0\xaf",         /* "/" in two bytes, which is longer than necessary */
        "\xe0\x80\xaf",     /* again */
        "\xf0\x80\x80\xaf", /* again */
        "\xed\xa0\x80",     /* a surrogate, which is half of a pair in UTF-16 */
        "\xef\xbf\xbf",     /* no character */
        "\xf4\x90\x80\x80", /* beyond U+10FFFF, the last code point */
    };
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        const size_t n = strlen(none[i]);
        char text[8] = "????";
        text[n] = 0;
        expect_cut(text_put_start, none[i], 10, text);
        assert_int_equal(text_width(none[i], 10), n);
    }
    expect_cut(text_put_start, "<a href=\"x\">&\t\n", 20, "&lt;a href=&quot;x&quot;&gt;&amp;\t\n");
    /* Truncated between characters, not between bytes. */
    expect_cut(text_put_start,
               "gr\xc3\xbc\xc3\x9f"
               "e",
               5,
               "gr\xc3\xbc\xc3\x9f"
               "e");
    expect_cut(text_put_start,
               "gr\xc3\xbc\xc3\x9f"
               "e",
               4, "gr\xc3\xbc\xe2\x80\xa6");
    expect_cut(text_put_end,
               "gr\xc3\xbc\xc3\x9f"
               "e",
               4,
               "\xe2\x80\xa6\xc3\xbc\xc3\x9f"
               "e");
    expect_cut(text_put_end, "\xf0\x9f\x98\x80<", 2, "\xf0\x9f\x98\x80&lt;");
    assert_int_equal(text_width("gr\xc3\xbc\xc3\x9f"
                                "e",
                                10),
                     5);
    assert_int_equal(text_width("gr\xc3\xbc\xc3\x9f"
                                "e",
                                3),
                     3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_progress_before_a_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_progress_of_a_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_progress_of_a_resumed_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_progress_of_many_stages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_marks_say_who_did_what, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_tasks_take_no_more_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_workers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_events_of_other_plans, setup, teardown),
        cmocka_unit_test(test_numbers_as_text),
        cmocka_unit_test(test_strings_as_json),
        cmocka_unit_test(test_steps_of_axes),
        cmocka_unit_test(test_text_of_strangers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
