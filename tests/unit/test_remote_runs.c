/* Runs whose arrays are in an object store, and whose workers are AWS Lambda functions: with a server on this machine, and the
 * runtime's loop in threads of this process. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cubed/cubed.h"
#include "cubed/sys/message.h"
#include "object_server.h"
#include "plan_test.h"

enum { ROWS = 24, COLUMNS = 10, N = ROWS * COLUMNS, WORKERS = 2 };

static object_server *server;
static pthread_t threads[WORKERS];
static cubed_status ended[WORKERS];
static double data[N];

static cubed_context *new_context(void)
{
    char endpoint[64];
    const char *const variables[] = {endpoint, "AWS_ACCESS_KEY_ID=me", "AWS_SECRET_ACCESS_KEY=x",
                                     "AWS_REGION=eu-north-1", NULL};
    cubed_context *ctx;
    cubed_error err = CUBED_ERROR_INIT;
    snprintf(endpoint, sizeof endpoint, "AWS_ENDPOINT_URL=http://127.0.0.1:%d",
             object_server_port(server));
    must(cubed_context_new(NULL, &ctx, &err), &err);
    must(cubed_context_set_variables(ctx, variables, &err), &err);
    return ctx;
}

static void *serve(void *arg)
{
    char api[32];
    cubed_context *ctx = new_context();
    snprintf(api, sizeof api, "127.0.0.1:%d", object_server_port(server));
    *(cubed_status *)arg = cubed_lambda_serve(ctx, api, NULL, NULL);
    cubed_context_unref(ctx);
    return NULL;
}

static int setup(void **state)
{
    server = object_server_new();
    *state = new_context();
    for (int i = 0; i < N; i++) data[i] = (i * 7) % 50;
    for (int i = 0; i < WORKERS; i++) {
        if (pthread_create(&threads[i], NULL, serve, &ended[i]) != 0) return -1;
    }
    return 0;
}

static int teardown(void **state)
{
    object_server_close(server);
    for (int i = 0; i < WORKERS; i++) {
        if (pthread_join(threads[i], NULL) != 0 || ended[i] != CUBED_E_IO) return -1;
    }
    cubed_context_unref(*state);
    object_server_free(server);
    return 0;
}

/* Plans x - mean(x, axis=0) in several stages. x is in memory, so workers get it from the store with the plan. */
static cubed_plan *new_plan(cubed_context *ctx, const char *url, void *to, bool overwrite)
{
    const int64_t shape[2] = {ROWS, COLUMNS}, chunks[2] = {5, 4}, out[2] = {24, 5};
    const cubed_target t = {
        .url = url, .data = to, .chunks = to ? NULL : out, .overwrite = overwrite};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    cubed_plan_options o = CUBED_PLAN_OPTIONS_INIT;
    o.max_workers = WORKERS;
    o.work_dir = "s3://bucket/work";
    o.other_machines = true;
    must(cubed_array_from_memory(ctx, CUBED_FLOAT64, 2, shape, NULL, chunks, data, &x, &err), &err);
    return new_deviations(ctx, x, t, o);
}

static void expect(const double *got)
{
    for (int j = 0; j < COLUMNS; j++) {
        double sum = 0;
        for (int i = 0; i < ROWS; i++) sum += data[i * COLUMNS + j];
        for (int i = 0; i < ROWS; i++)
            assert_true(got[i * COLUMNS + j] == data[i * COLUMNS + j] - sum / ROWS);
    }
}

static void expect_stored(cubed_context *ctx, const char *url)
{
    double got[N] = {0};
    cubed_error err = CUBED_ERROR_INIT;
    cubed_array *x;
    cubed_plan *plan;
    must(cubed_array_open(ctx, url, &x, &err), &err);
    const cubed_target t = {.array = x, .data = got};
    must(cubed_plan_new(ctx, &t, 1, NULL, &plan, &err), &err);
    must(cubed_run(plan, NULL, NULL, &err), &err);
    cubed_plan_unref(plan);
    cubed_array_unref(x);
    expect(got);
}

static void test_runs_of_functions(void **state)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cubed_run_stats stats;
    o.executor = "lambda:worker";
    cubed_plan *plan = new_plan(*state, "s3://bucket/y.zarr", NULL, false);
    must(cubed_run(plan, &o, &stats, &err), &err);
    assert_true(stats.num_tasks > 10);
    cubed_plan_unref(plan);
    expect_stored(*state, "s3://bucket/y.zarr");
    assert_true(object_server_count(server, "POST /2015-03-31/functions/worker/invocations") > 3);
    assert_true(object_server_count(server, "/eu-north-1/lambda/aws4_request") > 3);
    /* Existing arrays are replaced by copies of new arrays that are created next to them. */
    plan = new_plan(*state, "s3://bucket/y.zarr", NULL, true);
    must(cubed_run(plan, &o, &stats, &err), &err);
    cubed_plan_unref(plan);
    expect_stored(*state, "s3://bucket/y.zarr");
}

/* A function may be named by its ARN. Plans with results in memory are refused. */
static void test_names_of_functions(void **state)
{
    double got[N];
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    o.executor = "lambda:arn:aws:lambda:eu-north-1:123456789012:function:worker";
    cubed_plan *plan = new_plan(*state, "s3://bucket/a.zarr", NULL, false);
    must(cubed_run(plan, &o, NULL, &err), &err);
    cubed_plan_unref(plan);
    expect_stored(*state, "s3://bucket/a.zarr");
    assert_true(object_server_count(server, "functions/arn%3Aaws%3Alambda%3Aeu-north-1") > 3);
    plan = new_plan(*state, NULL, got, false);
    assert_int_equal(cubed_run(plan, &o, NULL, &err), CUBED_E_UNSUPPORTED);
    cubed_plan_unref(plan);
}

/* The executor "threads" runs the plan in this process, with the same stores. */
static void test_runs_of_threads(void **state)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_plan *plan = new_plan(*state, "s3://bucket/t.zarr", NULL, false);
    must(cubed_run(plan, NULL, NULL, &err), &err);
    cubed_plan_unref(plan);
    expect_stored(*state, "s3://bucket/t.zarr");
}

/* Files in object stores and on the web are read by ranges. */
static void test_files_elsewhere(void **state)
{
    /* NetCDF 3: int16 v(x) of three elements. */
    static const char classic[112] =
        "CDF\001\0\0\0\0\0\0\0\012\0\0\0\001\0\0\0\001x\0\0\0\0\0\0\003\0\0\0\0\0\0\0\0"
        "\0\0\0\013\0\0\0\001\0\0\0\001v\0\0\0\0\0\0\001\0\0\0\0\0\0\0\014\0\0\0\001\0\0\0\005"
        "units\0\0\0\0\0\0\002\0\0\0\001m\0\0\0\0\0\0\003\0\0\0\010\0\0\0\150\0\001\0\002\0\003";
    static const char *const urls[] = {"s3://bucket/files/c.nc::v",
                                       "http://127.0.0.1:%d/files/c.nc::v"};
    object_server_put(server, "bucket/files/c.nc", classic, sizeof classic);
    object_server_put(server, "files/c.nc", classic, sizeof classic);
    object_server_put(server, "bucket/files/cut.nc", classic, 60);
    object_server_put(server, "bucket/files/no.nc", "nothing", 7);
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        int16_t got[3] = {0};
        char url[64];
        cubed_error err = CUBED_ERROR_INIT;
        cubed_array *x;
        cubed_plan *plan;
        snprintf(url, sizeof url, urls[i], object_server_port(server));
        must(cubed_array_open(*state, url, &x, &err), &err);
        const cubed_target t = {.array = x, .data = got};
        must(cubed_plan_new(*state, &t, 1, NULL, &plan, &err), &err);
        must(cubed_run(plan, NULL, NULL, &err), &err);
        cubed_plan_unref(plan);
        cubed_array_unref(x);
        assert_true(got[0] == 1 && got[1] == 2 && got[2] == 3);
    }
    static const struct {
        const char *url, *says;
    } wrong[] = {{"s3://bucket/files/cut.nc::v", "of a file of 60"},
                 {"s3://bucket/files/no.nc::v", "is a file of an unknown format"},
                 {"s3://bucket/files/gone.nc::v", "gone.nc"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_array *x;
        assert_int_not_equal(cubed_array_open(*state, wrong[i].url, &x, &err), CUBED_OK);
        if (!strstr(err.message, wrong[i].says)) fail_msg("%s: %s", wrong[i].url, err.message);
    }
}

static cubed_status count_members(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    (void)err;
    *(int *)ctx += info->is_array ? 100 : 1;
    return CUBED_OK;
}

/* Groups in an object store: created, listed, consolidated, removed. */
static void test_groups(void **state)
{
    cubed_error err = CUBED_ERROR_INIT;
    int n = 0;
    must(cubed_zarr_make_group(*state, "s3://bucket/g.zarr", 3, "{\"title\": \"t\"}", 0, &err),
         &err);
    must(cubed_zarr_make_group(*state, "s3://bucket/g.zarr::inner", 3, NULL, 0, &err), &err);
    cubed_plan *plan = new_plan(*state, "s3://bucket/g.zarr::y", NULL, false);
    must(cubed_run(plan, NULL, NULL, &err), &err);
    cubed_plan_unref(plan);
    must(cubed_zarr_members(*state, "s3://bucket/g.zarr", false, count_members, &n, &err), &err);
    assert_int_equal(n, 102);
    must(cubed_zarr_consolidate(*state, "s3://bucket/g.zarr", false, &err), &err);
    n = 0;
    must(cubed_zarr_members(*state, "s3://bucket/g.zarr", true, count_members, &n, &err), &err);
    assert_int_equal(n, 102);
    must(cubed_zarr_remove(*state, "s3://bucket/g.zarr::y", &err), &err);
    n = 0;
    must(cubed_zarr_members(*state, "s3://bucket/g.zarr", false, count_members, &n, &err), &err);
    assert_int_equal(n, 2);
}

static void test_functions_that_fail(void **state)
{
    static const struct {
        int code;
        const char *headers, *body;
        const char *says; /* a part of the expected error; NULL: the call succeeds */
    } cases[] = {
        {429, "", "{\"Message\": \"Rate Exceeded.\"}", NULL},
        {200, "x-amz-function-error: Unhandled\r\n",
         "{\"errorMessage\": \"RequestId: 1 Error: Runtime exited without providing a reason\"}",
         NULL},
        {200, "x-amz-function-error: Unhandled\r\n",
         "{\"errorMessage\": \"RequestId: 1 Error: Runtime exited with error: signal: killed\"}",
         "signal: killed"},
        {403, "", "{\"Message\": \"not authorized\"}", "check credentials and the policy"},
        {404, "", "{\"Message\": \"Function not found\"}", "check the function's name"},
        {200, "", "{\"hello\": \"world\"}", "is not a worker of this library"},
    };
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    o.executor = "lambda:worker";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        object_server_fail(server, "/invocations ", cases[i].code, cases[i].headers, cases[i].body,
                           cases[i].says ? 99 : 1);
        cubed_plan *plan = new_plan(*state, "s3://bucket/f.zarr", NULL, true);
        const cubed_status st = cubed_run(plan, &o, NULL, &err);
        cubed_plan_unref(plan);
        if (!cases[i].says) must(st, &err);
        if (!cases[i].says)
            expect_stored(*state, "s3://bucket/f.zarr");
        else if (st == CUBED_OK || !strstr(err.message, cases[i].says))
            fail_msg("case %zu: %s", i, err.message);
        object_server_forgive(server);
    }
}

static char *endpoint_name(char name[64])
{
    snprintf(name, 64, "http:http://127.0.0.1:%d/endpoint", object_server_port(server));
    return name;
}

static void test_runs_of_endpoints(void **state)
{
    char name[64];
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    cubed_run_stats stats;
    o.executor = endpoint_name(name);
    cubed_plan *plan = new_plan(*state, "s3://bucket/e.zarr", NULL, false);
    must(cubed_run(plan, &o, &stats, &err), &err);
    assert_true(stats.num_tasks > 10);
    cubed_plan_unref(plan);
    expect_stored(*state, "s3://bucket/e.zarr");
    assert_true(object_server_count(server, "POST /endpoint HTTP") > 3);
    assert_true(object_server_count(server, "ontent-type: application/octet-stream") > 3);
}

static void test_endpoints_that_fail(void **state)
{
    static const struct {
        int code;
        const char *body, *says; /* says: a part of the expected error; NULL: the call succeeds */
    } cases[] = {
        {429, "", NULL},
        {503, "", NULL},
        {400, "{\"error\": \"no such range\"}", "the reply is 400: no such range"},
        {401, "", "the reply is 401: check the token's source, its audience and its issuer"},
        {403, "{\"message\": \"denied\"}", "the reply is 403: denied: the caller's identity may"},
        {404, "<html>", "the reply is 404: check the URL"},
        {408, "", "the reply is 408: the time limit of a request was over"},
        {413, "", "the reply is 413: the worker's --max-body, or the service's limit, is lower"},
        {504, "", "the reply is 504: the time limit of a request was over: raise it"},
        {507, "{\"error\": \"memory\"}", "the reply is 507: memory"},
        {200, "<html>hello</html>", "/endpoint is not a worker of this library"},
        {200, "", "/endpoint is not a worker of this library"},
    };
    char name[64];
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    o.executor = endpoint_name(name);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        object_server_fail(server, "POST /endpoint ", cases[i].code, "", cases[i].body,
                           cases[i].says ? 99 : 1);
        cubed_plan *plan = new_plan(*state, "s3://bucket/f.zarr", NULL, true);
        const cubed_status st = cubed_run(plan, &o, NULL, &err);
        cubed_plan_unref(plan);
        if (!cases[i].says) {
            must(st, &err);
            expect_stored(*state, "s3://bucket/f.zarr");
        } else if (st == CUBED_OK || !strstr(err.message, cases[i].says)) {
            fail_msg("case %zu: %s", i, err.message);
        }
        object_server_forgive(server);
    }
}

static void test_what_is_no_endpoint(void **state)
{
    static const struct {
        const char *name, *says;
    } cases[] = {
        {"http:", "executor \"http:\" has no endpoint, expected http:URL"},
        {"http:http://127.0.0.1:9/run?token=secret",
         "url is \"http://127.0.0.1:9/run?...\", expected no query: give a token as token_command"},
        {"http:127.0.0.1/run", "url"},
        {"http:ftp://127.0.0.1/run", "url"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cubed_error err = CUBED_ERROR_INIT;
        cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
        o.executor = cases[i].name;
        cubed_plan *plan = new_plan(*state, "s3://bucket/n.zarr", NULL, false);
        assert_int_not_equal(cubed_run(plan, &o, NULL, &err), CUBED_OK);
        if (!strstr(err.message, cases[i].says) || strstr(err.message, "secret"))
            fail_msg("%s: %s", cases[i].name, err.message);
        cubed_plan_unref(plan);
    }
}

static void test_what_is_no_function(void **state)
{
    cubed_error err = CUBED_ERROR_INIT;
    cubed_run_options o = CUBED_RUN_OPTIONS_INIT;
    o.executor = "lambda:";
    cubed_plan *plan = new_plan(*state, "s3://bucket/n.zarr", NULL, false);
    assert_int_not_equal(cubed_run(plan, &o, NULL, &err), CUBED_OK);
    assert_non_null(strstr(err.message, "lambda:"));
    cubed_plan_unref(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_runs_of_functions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names_of_functions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_runs_of_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_files_elsewhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_groups, setup, teardown),
        cmocka_unit_test_setup_teardown(test_functions_that_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_no_function, setup, teardown),
        cmocka_unit_test_setup_teardown(test_runs_of_endpoints, setup, teardown),
        cmocka_unit_test_setup_teardown(test_endpoints_that_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_no_endpoint, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
