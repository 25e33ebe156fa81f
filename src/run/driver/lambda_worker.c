/* Worker in AWS Lambda. It is the loop of a custom runtime (docs.aws.amazon.com/lambda, "Building a custom runtime"): it
 * requests the next invocation from a service on its machine, performs it, and posts the result. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "base/lock.h"
#include "context/context.h"
#include "cubed/sys/message.h"
#include "run/executors/told.h"
#include "store/http/http_client.h"
#include "store/http/http_reply.h"

/* Maximum time of a request without progress. It is long, because the process is suspended until the next invocation, which
 * may come at any time. */
#define STALL_MS (24u * 3600 * 1000)

typedef struct exchange {
    cb_http_call http;
    const char *url;
    const char *error_type; /* NULL if there is no error */
    cb_mutex lock;
    cb_cond came;
    bool done CB_GUARDED_BY(&lock);
} exchange;

static cb_http_ready prepare(cb_http_call *c)
{
    const exchange *e = (exchange *)c;
    cb_buf_puts(&c->url, e->url);
    if (c->body) cb_http_put_header(c, "content-type", "application/json");
    if (e->error_type) cb_http_put_header(c, "lambda-runtime-function-error-type", e->error_type);
    return CB_HTTP_GO;
}

static cb_http_verdict judge(cb_http_call *c)
{
    if (c->code >= 200 && c->code < 300) return CB_HTTP_DONE;
    c->status = cb_fail(&c->error, CUBED_E_IO, "%s: the reply is %d", c->url.data, c->code);
    return CB_HTTP_DONE;
}

static void done(cb_http_call *c)
{
    exchange *e = (exchange *)c;
    cb_mutex_lock(&e->lock);
    e->done = true;
    cb_cond_signal(&e->came);
    cb_mutex_unlock(&e->lock);
}

/* Sends the request and waits for the reply. */
static cubed_status ask(cb_http *http, exchange *e, cubed_error *err)
{
    static const cb_http_functions functions = {prepare, judge, done};
    e->http.fns = &functions;
    e->http.method = e->http.body ? "POST" : "GET";
    e->http.stall_ms = STALL_MS;
    e->http.way.no_proxy = "*"; /* the service is on this machine */
    cb_mutex_init(&e->lock);
    cb_cond_init(&e->came);
    cb_http_submit(http, &e->http);
    cb_mutex_lock(&e->lock);
    while (!e->done) cb_cond_wait(&e->came, &e->lock);
    cb_mutex_unlock(&e->lock);
    cb_mutex_destroy(&e->lock);
    cb_cond_destroy(&e->came);
    if (e->http.status != CUBED_OK && err) *err = e->http.error;
    return e->http.status;
}

typedef struct server {
    const cubed_allocator *alloc;
    const char *api; /* HOST:PORT */
    cb_http *http;
    cubed_worker *worker;
    const cubed_cancel *cancel;
    cb_buf message, body, url;
} server;

static cubed_status url_of(server *s, const char *what, const char *id, cubed_error *err)
{
    s->url.size = 0;
    cb_buf_printf(&s->url, "http://%s/2018-06-01/runtime/%s%s%s", s->api, id ? "invocation/" : "",
                  id ? id : "", what);
    return s->url.failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for a URL") : CUBED_OK;
}

static cubed_status post(server *s, const char *what, const char *id, const char *error_type,
                         cubed_error *err)
{
    CB_TRY(url_of(s, what, id, err));
    exchange e = {.url = s->url.data, .error_type = error_type};
    cb_http_call_init(&e.http, s->alloc);
    e.http.body = s->body.data;
    e.http.body_size = s->body.size;
    const cubed_status st = ask(s->http, &e, err);
    cb_http_call_free(&e.http);
    return st;
}

/* Writes {"errorMessage": .., "errorType": ..} as the body. */
static cubed_status put_error(server *s, const cubed_error *why, cubed_error *err)
{
    json_t *o = json_pack("{s:s%, s:s}", "errorMessage", why->message, strlen(why->message),
                          "errorType", "Cubed.Error");
    s->body.size = 0;
    const bool ok = o && cb_json_dump(o, JSON_COMPACT, &s->body);
    json_decref(o);
    return ok ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for a reply");
}

/* Returns the milliseconds until the service ends the invocation, from the deadline in the reply's header. Returns 0 if there is
 * no such header. */
static uint32_t time_left(const cb_http_call *c)
{
    const char *header = cb_http_header(c, "lambda-runtime-deadline-ms"), *end;
    struct timespec now;
    uint64_t deadline;
    if (!header || !cb_http_number(header, &end, &deadline) || *end || deadline > INT64_MAX)
        return 0;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t left = (int64_t)deadline - (int64_t)now.tv_sec * 1000 - now.tv_nsec / 1000000;
    return left < 1 ? 1 : (uint32_t)cb_min_i64(left, UINT32_MAX);
}

/* Runs a range and sets the answer. Fails only if the event holds no valid message. */
static cubed_status perform(server *s, const cb_buf *event, uint32_t time_ms, cubed_error *err)
{
    const void *answer;
    size_t size;
    s->message.size = 0;
    CB_TRY(cb_told_take_json(event->data, event->size, &s->message, err));
    const cubed_work_input in = {.struct_size = sizeof in,
                                 .message = s->message.data,
                                 .message_size = s->message.size,
                                 .cancel = s->cancel,
                                 .time_ms = time_ms};
    CB_TRY(cubed_work(s->worker, &in, &answer, &size, err));
    s->body.size = 0;
    cb_told_put_json(&s->body, answer, size);
    return s->body.failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for a reply") : CUBED_OK;
}

static cubed_status serve_one(server *s, cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    CB_TRY(url_of(s, "invocation/next", NULL, err));
    exchange e = {.url = s->url.data};
    cb_http_call_init(&e.http, s->alloc);
    cubed_status st = ask(s->http, &e, err);
    const char *header = cb_http_header(&e.http, "lambda-runtime-aws-request-id");
    char id[128] = "";
    if (header && strlen(header) < sizeof id) memcpy(id, header, strlen(header) + 1);
    if (st == CUBED_OK && !*id)
        st = cb_fail(err, CUBED_E_FORMAT, "%s: the reply has no invocation ID", s->url.data);
    if (st == CUBED_OK) {
        const cubed_status worked = perform(s, &e.http.text, time_left(&e.http), &why);
        if (worked != CUBED_OK) st = put_error(s, &why, err);
        if (st == CUBED_OK)
            st = post(s, worked == CUBED_OK ? "/response" : "/error", id,
                      worked == CUBED_OK ? NULL : "Cubed.Error", err);
    }
    if (e.http.text.data) explicit_bzero(e.http.text.data, e.http.text.size);
    cb_http_call_free(&e.http);
    return st;
}

cubed_status cubed_lambda_serve(cubed_context *ctx, const char *api, const cubed_cancel *cancel,
                                cubed_error *err)
{
    cubed_worker_options o = CUBED_WORKER_OPTIONS_INIT;
    server s = {.alloc = &ctx->alloc, .api = api, .cancel = cancel};
    cubed_status st;
    o.ends_process = true;
    cb_buf_init(&s.message, s.alloc);
    cb_buf_init(&s.body, s.alloc);
    cb_buf_init(&s.url, s.alloc);
    CB_GO(cb_http_new(s.alloc, 1, NULL, &s.http, err));
    CB_GO(cubed_worker_new(ctx, &o, &s.worker, err));
    do {
        st = serve_one(&s, err);
    } while (st == CUBED_OK && !cubed_cancel_is_set(cancel));
out:
    cubed_worker_free(s.worker);
    cb_http_free(s.http);
    cb_buf_free(&s.message);
    cb_buf_free(&s.body);
    cb_buf_free(&s.url);
    return st;
}
