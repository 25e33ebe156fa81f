/* AWS Lambda: each range of tasks is one invocation of a function whose runtime is `cubed worker --lambda`
 * (run/driver/lambda_worker.c). The executor's name is "lambda:FUNCTION", where FUNCTION is a name, NAME:QUALIFIER or an
 * ARN.
 *
 * Invocations are synchronous (docs.aws.amazon.com/lambda, "Invoke"); a client that disconnects does not end them. Chunks
 * that are written twice have the same bytes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/text.h"
#include "cubed/sys/message.h"
#include "run/executors/executor.h"
#include "run/executors/told.h"
#include "store/auth/credentials.h"
#include "store/auth/sigv4.h"
#include "store/core/uri.h"
#include "store/http/digest.h"
#include "store/services/remote.h"

/* Lambda limits requests and replies to 6 MB of JSON, in which messages are base64. */
#define MOST_MESSAGE (4u << 20)
/* Longer than the maximum duration of an invocation, 15 minutes. */
#define STALL_MS (16u * 60 * 1000)
/* Default time that the service may refuse every invocation: others of the account may run until then. */
#define REFUSED_MS 120000
/* An empty invocation takes about 50 ms. */
#define OVERHEAD_MS 50u
enum { MOST_AT_ONCE = 1000 };

#define OPTIONS                                                                                    \
    CB_AWS_OPTIONS " AWS_REGION AWS_DEFAULT_REGION region region_name AWS_ENDPOINT_URL_LAMBDA "    \
                   "AWS_ENDPOINT_URL endpoint_url endpoint " CB_REMOTE_OPTIONS

typedef struct lambda lambda;

typedef struct invocation {
    cb_http_call http;
    /* both links for invocations in flight; only `next` for completed ones */
    struct invocation *next, *before;
    lambda *of;
    cubed_task_range range;
    cb_buf body;
    char digest[2 * CB_SHA256_BYTES + 1];
    bool renewed;
} invocation;

struct lambda {
    cubed_executor head;
    cubed_executor_args args;
    const cubed_allocator *alloc;
    cb_zone *zone;
    const char *function, *region, *host, *path; /* path: of the endpoint, "" or "/base" */
    bool tls;
    cb_http_way way;
    cb_credentials *who;
    cb_http *http;
    cb_throttle *throttle;
    uint32_t refused_ms;
    cb_mutex lock;
    cb_cond came;
    invocation *flying CB_GUARDED_BY(&lock), *done_first CB_GUARDED_BY(&lock),
        *done_last CB_GUARDED_BY(&lock);
    /* Used only by the driver's thread: */
    cb_buf workers; /* NUL-terminated names; a worker's number is its position */
    invocation *at; /* invocation whose reports are being returned, or NULL */
    cb_buf reply;
    cb_answer answer;
    unsigned worker;
    size_t worker_at;  /* position in `workers` of its name */
    cubed_error error; /* of the first task without a report; CUBED_OK: no error was received */
};

/* --- The call, in the client's thread ---------------------------------------------------------------- */

/* Appends the request path to `out`, and to `to_sign` the path encoded once more: AWS services except S3 require that for
 * the signature. */
static void put_path(const lambda *x, cb_buf *out, cb_buf *to_sign)
{
    cb_buf_printf(out, "%s/2015-03-31/functions/", x->path);
    cb_uri_put(out, x->function, "");
    cb_buf_puts(out, "/invocations");
    if (!out->failed) cb_uri_put(to_sign, out->data, "/");
}

static cubed_status sign(const lambda *x, invocation *i, const char *path, const cb_keys *keys,
                         cubed_error *err)
{
    const cb_sigv4 who = {.id = keys->id,
                          .secret = keys->secret,
                          .token = keys->token,
                          .region = x->region,
                          .service = "lambda",
                          .now = time(NULL)};
    const cb_sigv4_request r = {.method = "POST", .path = path, .query = "", .body = i->digest};
    return cb_sigv4_sign(&who, &r, &i->http.headers, err);
}

static cb_http_ready prepare(cb_http_call *c)
{
    invocation *i = (invocation *)c;
    const lambda *x = i->of;
    cb_keys keys;
    cb_buf path, to_sign;
    const cb_http_ready ready = cb_credentials_get(x->who, &keys, &c->status, &c->error);
    if (ready != CB_HTTP_GO) return ready;
    cb_buf_init(&path, x->alloc);
    cb_buf_init(&to_sign, x->alloc);
    put_path(x, &path, &to_sign);
    cb_http_put_header(c, "host", x->host);
    cb_http_put_header(c, "content-type", "application/json");
    cb_http_put_header(c, "x-amz-content-sha256", i->digest);
    cb_http_put_header(c, "x-amz-invocation-type", "RequestResponse");
    c->status = path.failed || to_sign.failed
                    ? cb_fail(&c->error, CUBED_E_NOMEM, "no memory for an invocation")
                    : sign(x, i, to_sign.data, &keys, &c->error);
    if (c->status == CUBED_OK)
        cb_buf_printf(&c->url, "%s://%s%s", x->tls ? "https" : "http", x->host, path.data);
    explicit_bzero(&keys, sizeof keys);
    cb_buf_free(&path);
    cb_buf_free(&to_sign);
    return c->status == CUBED_OK ? CB_HTTP_GO : CB_HTTP_NO;
}

static const char *advice(int code)
{
    switch (code) {
    case 403: return ": who asks may not invoke it: check credentials and the policy";
    case 404: return ": check the function's name and AWS_REGION";
    case 429:
        return ": the account's limit on concurrent executions, or the function's reserved "
               "concurrency, allows no invocation";
    default: return "";
    }
}

/* Extracts the message: {"errorMessage": ..} from a function, {"Message": ..} from the service. */
static void put_what(const cb_http_call *c, char *out, size_t cap)
{
    json_t *o = NULL;
    const char *text = NULL;
    if (cb_json_parse("reply", c->text.data ? c->text.data : "", c->text.size, &o, NULL) ==
        CUBED_OK) {
        static const char *const keys[] = {"errorMessage", "Message", "message"};
        for (size_t k = 0; k < sizeof keys / sizeof *keys && !text; k++)
            text = json_string_value(json_object_get(o, keys[k]));
    }
    snprintf(out, cap, "%s%.300s", text ? ": " : "", text ? text : "");
    json_decref(o);
}

/* Derives the failure from Lambda's message ("Troubleshoot invocation issues"), because there is no other source. */
static cubed_failure failure_of(const char *what)
{
    static const struct {
        const char *text;
        cubed_failure failure;
    } known[] = {{"Task timed out after", CUBED_FAILURE_TIMED_OUT},
                 {"exit status 124", CUBED_FAILURE_TIMED_OUT}, /* CB_STUCK_STATUS */
                 {"signal: killed", CUBED_FAILURE_MEMORY}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strstr(what, known[i].text)) return known[i].failure;
    }
    return CUBED_FAILURE_LOST;
}

static cb_http_verdict judge(cb_http_call *c)
{
    invocation *i = (invocation *)c;
    char what[304];
    const bool own = cb_http_header(c, "x-amz-function-error") != NULL;
    if (c->code == 200 && !own) return CB_HTTP_DONE;
    put_what(c, what, sizeof what);
    if (c->code == 403 && !i->renewed && strstr(what, "expired") &&
        cb_credentials_renew(i->of->who)) {
        i->renewed = true;
        return CB_HTTP_AGAIN;
    }
    c->status =
        c->code == 200
            ? cb_fail(&c->error, CUBED_E_IO, "function %s ended%s", i->of->function, what)
            : cb_fail(&c->error, CUBED_E_IO, "invoking function %s in %s: the reply is %d%s%s",
                      i->of->function, i->of->region, c->code, what, advice(c->code));
    if (own) {
        c->error.failure = failure_of(what);
        return CB_HTTP_DONE;
    }
    if (c->code == 429) return CB_HTTP_THROTTLED;
    c->error.transient = c->code >= 500;
    return c->error.transient ? CB_HTTP_LATER : CB_HTTP_DONE;
}

static void done(cb_http_call *c)
{
    invocation *i = (invocation *)c;
    lambda *x = i->of;
    cb_mutex_lock(&x->lock);
    if (i->before)
        i->before->next = i->next;
    else
        x->flying = i->next;
    if (i->next) i->next->before = i->before;
    i->next = NULL;
    if (x->done_first)
        x->done_last->next = i;
    else
        x->done_first = i;
    x->done_last = i;
    cb_cond_signal(&x->came);
    cb_mutex_unlock(&x->lock);
}

static void free_invocation(invocation *i)
{
    if (!i) return;
    if (i->body.data) explicit_bzero(i->body.data, i->body.size);
    cb_buf_free(&i->body);
    cb_http_call_free(&i->http);
    cb_free(i->of->alloc, i, sizeof *i);
}

/* --- The executor ------------------------------------------------------------------------------------- */

static cubed_status put_body(const lambda *x, const cubed_task_range *range, invocation *i,
                             cubed_error *err)
{
    unsigned char hash[CB_SHA256_BYTES];
    cb_buf message;
    cubed_status st;
    cb_buf_init(&message, x->alloc);
    CB_GO(cb_told_write(&x->args, range, &message, err));
    cb_told_put_json(&i->body, message.data, message.size);
    if (message.failed || i->body.failed)
        CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for a message"));
    if (!cb_sha256(i->body.data, i->body.size, hash))
        CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for a digest"));
    cb_hex(hash, sizeof hash, i->digest);
out:
    if (message.data) explicit_bzero(message.data, message.size);
    cb_buf_free(&message);
    return st;
}

static cubed_status lambda_submit(cubed_executor *ex, const cubed_task_range *range,
                                  cubed_error *err)
{
    static const cb_http_functions functions = {prepare, judge, done};
    lambda *x = (lambda *)ex;
    invocation *i = cb_alloc_zero(x->alloc, sizeof *i);
    if (!i) return cb_fail(err, CUBED_E_NOMEM, "no memory for an invocation");
    i->of = x;
    i->range = *range;
    cb_buf_init(&i->body, x->alloc);
    cb_http_call_init(&i->http, x->alloc);
    i->http.fns = &functions;
    i->http.method = "POST";
    i->http.way = x->way;
    i->http.stall_ms = STALL_MS;
    i->http.throttle = x->throttle;
    i->http.refused_ms = x->refused_ms;
    const cubed_status st = put_body(x, range, i, err);
    if (st != CUBED_OK) {
        free_invocation(i);
        return st;
    }
    i->http.body = i->body.data;
    i->http.body_size = i->body.size;
    cb_mutex_lock(&x->lock);
    i->next = x->flying;
    if (i->next) i->next->before = i;
    x->flying = i;
    cb_mutex_unlock(&x->lock);
    cb_http_submit(x->http, &i->http);
    return CUBED_OK;
}

/* Returns the number of the worker with that name. */
static unsigned number_of(lambda *x, const char *name, size_t size)
{
    unsigned n = 0;
    for (size_t at = 0; at < x->workers.size; n++) {
        const char *other = x->workers.data + at;
        x->worker_at = at;
        if (strlen(other) == size && memcmp(other, name, size) == 0) return n;
        at += strlen(other) + 1;
    }
    x->worker_at = x->workers.size;
    cb_buf_put(&x->workers, name, size);
    cb_buf_put(&x->workers, "", 1);
    return n;
}

static cubed_status read_reply(lambda *x, const invocation *i, cubed_error *err)
{
    x->reply.size = 0;
    if (cb_told_take_json(i->http.text.data, i->http.text.size, &x->reply, err) != CUBED_OK)
        return cb_fail(err, CUBED_E_FORMAT,
                       "function %s does not answer as a worker of this library: it is another one",
                       x->function);
    CB_TRY(cb_answer_read(x->reply.data, x->reply.size, &x->answer, err));
    x->worker = number_of(x, x->answer.worker, x->answer.worker_size);
    return CUBED_OK;
}

static void begin_reports(lambda *x, invocation *i)
{
    x->at = i;
    x->answer = (cb_answer){.size = 0};
    x->error = (cubed_error)CUBED_ERROR_INIT;
    if (i->http.status != CUBED_OK) {
        x->error = i->http.error;
        x->error.status = i->http.status;
    } else {
        x->error.status = read_reply(x, i, &x->error);
        if (x->error.status != CUBED_OK) x->answer.size = 0;
    }
}

/* Returns the next report. If a range ended without a report for each task, returns the error for the first task without
 * one. */
static cubed_status next_report(lambda *x, cubed_task_report *r, cubed_error *err)
{
    invocation *i = x->at;
    if (x->answer.size > 0) {
        size_t used;
        CB_TRY(
            cubed_report_read(x->args.plan->ctx, x->answer.reports, x->answer.size, r, &used, err));
        x->answer.reports += used;
        x->answer.size -= used;
        r->start_ns += x->answer.shift_ns;
        r->end_ns += x->answer.shift_ns;
    } else {
        *r = (cubed_task_report){.token = i->range.token, .task = i->range.first, .coop = 1};
        r->error = x->error;
        if (r->error.status == CUBED_OK) {
            r->error.status =
                cb_fail(&r->error, CUBED_E_IO,
                        "function %s did not report the results of its tasks", x->function);
            r->error.failure = CUBED_FAILURE_LOST;
        }
    }
    r->worker = x->worker;
    r->host = x->workers.failed || !x->answer.worker ? NULL : x->workers.data + x->worker_at;
    i->range.first = r->task + 1;
    if (r->error.status != CUBED_OK || i->range.first >= i->range.last) {
        free_invocation(i);
        x->at = NULL;
    }
    return CUBED_OK;
}

static invocation *take_done(lambda *x, int timeout_ms)
{
    const int64_t deadline = cb_clock_ns() + (int64_t)timeout_ms * 1000000;
    cb_mutex_lock(&x->lock);
    while (!x->done_first && cb_cond_wait_until(&x->came, &x->lock, deadline)) {
    }
    invocation *i = x->done_first;
    if (i) x->done_first = i->next;
    cb_mutex_unlock(&x->lock);
    return i;
}

static cubed_status lambda_poll(cubed_executor *ex, int timeout_ms, cubed_task_report *report,
                                bool *got, cubed_error *err)
{
    lambda *x = (lambda *)ex;
    cb_http_wake(x->http); /* new credentials wake only the stores' client */
    if (!x->at) {
        invocation *i = take_done(x, timeout_ms);
        if (i) begin_reports(x, i);
    }
    *got = x->at != NULL;
    return *got ? next_report(x, report, err) : CUBED_OK;
}

static void free_lambda(lambda *x)
{
    cb_http_free(x->http);
    cb_buf_free(&x->workers);
    cb_buf_free(&x->reply);
    cb_mutex_destroy(&x->lock);
    cb_cond_destroy(&x->came);
    cb_zone_free(x->zone);
    cb_free(x->alloc, x, sizeof *x);
}

static void lambda_close(cubed_executor *ex)
{
    lambda *x = (lambda *)ex;
    cb_mutex_lock(&x->lock);
    for (invocation *i = x->flying; i; i = i->next) atomic_store(&i->http.cancelled, true);
    cb_mutex_unlock(&x->lock);
    cb_http_look_at_cancelled(x->http);
    cb_mutex_lock(&x->lock);
    while (x->flying) cb_cond_wait(&x->came, &x->lock);
    for (invocation *next, *i = x->done_first; i; i = next) {
        next = i->next;
        free_invocation(i);
    }
    cb_mutex_unlock(&x->lock);
    free_invocation(x->at);
    free_lambda(x);
}

/* --- Opening ------------------------------------------------------------------------------------------ */

static cubed_status find_service(lambda *x, cb_net *net, const char *url, cubed_error *err)
{
    const char *endpoint;
    cb_buf text;
    CB_TRY(cb_credentials_find(net, url, cb_look_for_aws, &x->who, err));
    x->region = cb_credentials_region(x->who);
    if (!x->region) x->region = "us-east-1";
    CB_TRY(cb_net_get(net, x->zone, url,
                      "AWS_ENDPOINT_URL_LAMBDA AWS_ENDPOINT_URL endpoint_url endpoint", &endpoint,
                      err));
    x->tls = true;
    x->path = "";
    cb_buf_init(&text, x->alloc);
    if (endpoint) {
        CB_TRY(cb_remote_endpoint(x->zone, "AWS_ENDPOINT_URL_LAMBDA", endpoint, &endpoint, &x->tls,
                                  err));
        const char *host = strstr(endpoint, "://") + 3;
        x->path = host + strcspn(host, "/");
        cb_buf_put(&text, host, (size_t)(x->path - host));
    } else {
        cb_buf_printf(&text, "lambda.%s.amazonaws.com%s", x->region,
                      strncmp(x->region, "cn-", 3) == 0 ? ".cn" : "");
    }
    x->host = text.failed ? NULL : cb_zone_strdup(x->zone, text.data);
    cb_buf_free(&text);
    return x->host ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for a host's name");
}

/* Accounts and functions limit concurrent executions. */
static cubed_status find_throttle(lambda *x, cb_net *net, const char *url, cubed_error *err)
{
    int64_t refused = REFUSED_MS;
    cb_buf name;
    CB_TRY(cb_net_get_seconds(net, x->zone, url, "throttle_timeout", 86400, &refused, err));
    x->refused_ms = (uint32_t)refused;
    cb_buf_init(&name, x->alloc);
    cb_buf_printf(&name, "lambda://%s/%s", x->host, x->function);
    const cubed_status st = name.failed
                                ? cb_fail(err, CUBED_E_NOMEM, "no memory for a name")
                                : cb_net_throttle(net, name.data, MOST_AT_ONCE, &x->throttle, err);
    cb_buf_free(&name);
    return st;
}

static cubed_status find_settings(lambda *x, cb_net *net, const char *url, cubed_error *err)
{
    CB_TRY(cb_net_check_options(net, url, OPTIONS, err));
    CB_TRY(find_service(x, net, url, err));
    CB_TRY(find_throttle(x, net, url, err));
    return cb_net_get_way(net, x->zone, url, &x->way, err);
}

static cubed_status find_function(lambda *x, const char *name, cubed_error *err)
{
    const char *colon = strchr(name, ':');
    if (!colon || !colon[1])
        return cb_fail(err, CUBED_E_ARG,
                       "executor \"%s\" names no function, expected lambda:FUNCTION", name);
    x->function = cb_zone_strdup(x->zone, colon + 1);
    cb_buf url;
    cb_buf_init(&url, x->alloc);
    cb_buf_printf(&url, "lambda://%s", colon + 1);
    const cubed_status st = x->function && !url.failed
                                ? find_settings(x, &x->args.plan->ctx->stores.net, url.data, err)
                                : cb_fail(err, CUBED_E_NOMEM, "no memory for a name");
    cb_buf_free(&url);
    return st;
}

static cubed_status lambda_open(const cubed_executor_args *args, cubed_executor **out,
                                cubed_error *err)
{
    const cubed_allocator *a = &args->plan->ctx->alloc;
    cb_zone *zone;
    CB_TRY(cb_zone_new(a, &zone, err));
    lambda *x = cb_alloc_zero(a, sizeof *x);
    if (!x) {
        cb_zone_free(zone);
        return cb_fail(err, CUBED_E_NOMEM, "no memory for an executor");
    }
    x->head = (cubed_executor){
        .vt = &cb_executor_lambda, .slots = args->workers, .workers = args->workers};
    x->args = *args;
    x->alloc = a;
    x->zone = zone;
    cb_buf_init(&x->workers, a);
    cb_buf_init(&x->reply, a);
    cb_mutex_init(&x->lock);
    cb_cond_init(&x->came);
    cubed_status st = find_function(x, args->name, err);
    if (st == CUBED_OK) st = cb_http_new(a, args->workers, NULL, &x->http, err);
    if (st == CUBED_OK)
        *out = &x->head;
    else
        free_lambda(x);
    return st;
}

const cubed_executor_vtable cb_executor_lambda = {
    .struct_size = sizeof(cubed_executor_vtable),
    .name = "lambda",
    .caps = {.remote = true,
             .enforces_memory = true,
             .finds_plan = true,
             .max_workers = MOST_AT_ONCE,
             .max_message_bytes = MOST_MESSAGE,
             .range_ms = CUBED_RANGE_OVERHEADS * OVERHEAD_MS},
    .open = lambda_open,
    .submit = lambda_submit,
    .poll = lambda_poll,
    .close = lambda_close,
};
