/* AWS Lambda: each range of tasks is one invocation of a function whose runtime is `cubed worker --lambda`
 * (run/driver/lambda_worker.c). The executor's name is "lambda:FUNCTION", where FUNCTION is a name, NAME:QUALIFIER or an
 * ARN.
 *
 * Invocations are synchronous (docs.aws.amazon.com/lambda, "Invoke"); a client that disconnects does not end them. Requests
 * and replies have at most 6 MB of JSON, in which messages are base64. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "run/executors/executor.h"
#include "run/executors/invoke.h"
#include "store/auth/sigv4.h"
#include "store/core/uri.h"
#include "store/http/digest.h"
#include "store/services/remote.h"

/* Maximum time in milliseconds of a request without progress. It exceeds the maximum duration of an invocation, 15 minutes. */
#define STALL_MS (16u * 60 * 1000)

#define OPTIONS                                                                                    \
    CB_AWS_OPTIONS " AWS_REGION AWS_DEFAULT_REGION region region_name AWS_ENDPOINT_URL_LAMBDA "    \
                   "AWS_ENDPOINT_URL endpoint_url endpoint " CB_REMOTE_OPTIONS

typedef struct lambda {
    cb_invoker head;
    const char *region, *host, *path; /* path: path of the endpoint, "" or "/base" */
    bool tls;
} lambda;

static const lambda *lambda_of(const cb_http_call *c)
{
    return (const lambda *)((const cb_invocation *)c)->of;
}

/* --- Handling a call in the client's thread ---------------------------------------------------------- */

/* Appends the request path to `out`, and to `to_sign` the path encoded once more: AWS services except S3 require that for
 * the signature. */
static void put_path(const lambda *x, cb_buf *out, cb_buf *to_sign)
{
    cb_buf_printf(out, "%s/2015-03-31/functions/", x->path);
    cb_uri_put(out, x->head.target, "");
    cb_buf_puts(out, "/invocations");
    if (!out->failed) cb_uri_put(to_sign, out->data, "/");
}

static cubed_status sign(const lambda *x, cb_http_call *c, const char *path, const cb_keys *keys,
                         const char *digest)
{
    const cb_sigv4 who = {.id = keys->id,
                          .secret = keys->secret,
                          .token = keys->token,
                          .region = x->region,
                          .service = "lambda",
                          .now = time(NULL)};
    const cb_sigv4_request r = {.method = "POST", .path = path, .query = "", .body = digest};
    return cb_sigv4_sign(&who, &r, &c->headers, &c->error);
}

/* Sets the URL of a request and signs the request. `path` and `to_sign` are empty buffers for the request path. */
static cubed_status put_request(cb_http_call *c, const cb_keys *keys, cb_buf *path, cb_buf *to_sign)
{
    const lambda *x = lambda_of(c);
    unsigned char hash[CB_SHA256_BYTES];
    char digest[2 * CB_SHA256_BYTES + 1];
    put_path(x, path, to_sign);
    if (path->failed || to_sign->failed || !cb_sha256(c->body, c->body_size, hash))
        return cb_fail(&c->error, CUBED_E_NOMEM, "no memory for an invocation");
    cb_hex(hash, sizeof hash, digest);
    cb_http_put_header(c, "host", x->host);
    cb_http_put_header(c, "content-type", "application/json");
    cb_http_put_header(c, "x-amz-content-sha256", digest);
    cb_http_put_header(c, "x-amz-invocation-type", "RequestResponse");
    CB_TRY(sign(x, c, to_sign->data, keys, digest));
    cb_buf_printf(&c->url, "%s://%s%s", x->tls ? "https" : "http", x->host, path->data);
    return CUBED_OK;
}

static cb_http_ready prepare(cb_http_call *c)
{
    const cb_invoker *x = ((cb_invocation *)c)->of;
    cb_keys keys;
    cb_buf path, to_sign;
    const cb_http_ready ready = cb_credentials_get(x->who, c, &keys);
    if (ready != CB_HTTP_GO) return ready;
    cb_buf_init(&path, x->alloc);
    cb_buf_init(&to_sign, x->alloc);
    c->status = put_request(c, &keys, &path, &to_sign);
    explicit_bzero(&keys, sizeof keys);
    cb_buf_free(&path);
    cb_buf_free(&to_sign);
    return c->status == CUBED_OK ? CB_HTTP_GO : CB_HTTP_NO;
}

static const char *advice(int code)
{
    switch (code) {
    case 403:
        return ": these credentials do not permit the invocation: check credentials and the policy";
    case 404: return ": check the function's name and AWS_REGION";
    case 429:
        return ": the account's limit on concurrent executions, or the function's reserved "
               "concurrency, allows no invocation";
    default: return "";
    }
}

/* Derives the kind of failure from the text of Lambda's error message ("Troubleshoot invocation issues"), because the reply
 * has no other description. */
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
    /* The first key has an error of the function, the other keys an error of the service. */
    static const char *const keys[] = {"errorMessage", "Message", "message", NULL};
    cb_invocation *i = (cb_invocation *)c;
    const lambda *x = lambda_of(c);
    char what[304];
    const bool own = cb_http_header(c, "x-amz-function-error") != NULL;
    if (c->code == 200 && !own) return CB_HTTP_DONE;
    cb_invoke_text(c, keys, what, sizeof what);
    if (c->code == 403 && !i->renewed && strstr(what, "expired") &&
        cb_credentials_renew(i->of->who, c)) {
        i->renewed = true;
        return CB_HTTP_AGAIN;
    }
    c->status =
        c->code == 200
            ? cb_fail(&c->error, CUBED_E_IO, "function %s ended%s", x->head.target, what)
            : cb_fail(&c->error, CUBED_E_IO, "invoking function %s in %s: the reply is %d%s%s",
                      x->head.target, x->region, c->code, what, advice(c->code));
    if (own) {
        c->error.failure = failure_of(what);
        return CB_HTTP_DONE;
    }
    if (c->code == 429) return CB_HTTP_THROTTLED;
    c->error.transient = c->code >= 500;
    return c->error.transient ? CB_HTTP_LATER : CB_HTTP_DONE;
}

/* --- Opening ------------------------------------------------------------------------------------------ */

static cubed_status find(cb_invoker *head, cb_net *net, const char *url, cubed_error *err)
{
    lambda *x = (lambda *)head;
    const char *endpoint;
    cb_buf text;
    CB_TRY(cb_net_check_options(net, url, OPTIONS, err));
    CB_TRY(cb_credentials_find(net, url, cb_look_for_aws, &head->who, err));
    x->region = cb_credentials_region(head->who);
    if (!x->region) x->region = "us-east-1";
    CB_TRY(cb_net_get(net, head->zone, url,
                      "AWS_ENDPOINT_URL_LAMBDA AWS_ENDPOINT_URL endpoint_url endpoint", &endpoint,
                      err));
    x->tls = true;
    x->path = "";
    cb_buf_init(&text, head->alloc);
    if (endpoint) {
        CB_TRY(cb_remote_endpoint(head->zone, "AWS_ENDPOINT_URL_LAMBDA", endpoint, &endpoint,
                                  &x->tls, err));
        const char *host = strstr(endpoint, "://") + 3;
        x->path = host + strcspn(host, "/");
        cb_buf_put(&text, host, (size_t)(x->path - host));
    } else {
        cb_buf_printf(&text, "lambda.%s.amazonaws.com%s", x->region,
                      strncmp(x->region, "cn-", 3) == 0 ? ".cn" : "");
    }
    x->host = text.failed ? NULL : cb_zone_strdup(head->zone, text.data);
    cb_buf_free(&text);
    return x->host ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for a host's name");
}

static void put_throttle(const cb_invoker *x, cb_buf *name)
{
    cb_buf_printf(name, "lambda://%s/%s", ((const lambda *)x)->host, x->target);
}

static cubed_status lambda_open(const cubed_executor_args *args, cubed_executor **out,
                                cubed_error *err)
{
    static const cb_invoke_kind kind = {.vt = &cb_executor_lambda,
                                        .what = "function",
                                        .expected = "FUNCTION",
                                        .prefix = "lambda://",
                                        .json = true,
                                        .size = sizeof(lambda),
                                        .stall_ms = STALL_MS,
                                        .http = {prepare, judge, cb_invoke_done},
                                        .find = find,
                                        .put_throttle = put_throttle};
    return cb_invoke_open(&kind, args, out, err);
}

const cubed_executor_vtable cb_executor_lambda = {
    .struct_size = sizeof(cubed_executor_vtable),
    .name = "lambda",
    .caps = {.remote = true,
             .enforces_memory = true,
             .finds_plan = true,
             .max_workers = CB_INVOKE_MOST,
             .max_message_bytes = CB_INVOKE_MESSAGE,
             .range_ms = CUBED_RANGE_OVERHEADS * CB_INVOKE_OVERHEAD_MS,
             .ramp_workers = CB_LAMBDA_RAMP_WORKERS,
             .ramp_per_second = CB_LAMBDA_RAMP_PER_SECOND},
    .open = lambda_open,
    .submit = cb_invoke_submit,
    .poll = cb_invoke_poll,
    .close = cb_invoke_close,
};
