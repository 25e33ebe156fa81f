/* Endpoints over HTTP: each range of tasks is one POST to a service whose workers are `cubed worker --http`, such as Cloud Run,
 * Azure Container Apps and Functions. The executor's name is "http:URL".
 *
 * The body is a message (cubed/sys/message.h), the reply's body the answer; both are bytes. A reply that is not 200 may have
 * {"error": TEXT}. Status codes have the meanings of RFC 9110, and of the pages on errors of these services:
 * cloud.google.com/run/docs/troubleshooting, learn.microsoft.com/azure/container-apps. */
#define _GNU_SOURCE
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "run/executors/executor.h"
#include "run/executors/invoke.h"
#include "store/services/remote.h"

/* Maximum time in milliseconds of a request without progress. It exceeds the longest time limit of these services, 60 minutes
 * in Cloud Run. */
#define STALL_MS (61u * 60 * 1000)

#define OPTIONS CB_OIDC_OPTIONS " " CB_REMOTE_OPTIONS

static cb_http_ready prepare(cb_http_call *c)
{
    const cb_invoker *x = ((cb_invocation *)c)->of;
    cb_keys keys;
    const cb_http_ready ready = cb_credentials_get(x->who, c, &keys);
    cb_buf_puts(&c->url, x->target);
    cb_http_put_header(c, "content-type", "application/octet-stream");
    if (ready == CB_HTTP_GO) {
        cb_put_bearer(c, keys.token);
        /* Cloud Run checks this header instead of "authorization", and removes its signature. The worker checks
         * "authorization". */
        if (*keys.token)
            cb_buf_printf(&c->headers, "x-serverless-authorization: Bearer %s", keys.token);
        if (*keys.token) cb_buf_put(&c->headers, "", 1);
    }
    explicit_bzero(&keys, sizeof keys);
    return ready;
}

static const char *advice(int code)
{
    switch (code) {
    case 401: return ": check the token's source, its audience and its issuer";
    case 403:
        return ": the caller's identity may not call it: grant the identity the right "
               "(roles/run.invoker)";
    case 404: return ": check the URL";
    case 408:
    case 504: return ": the time limit of a request was over: raise it, or use smaller chunks";
    case 413: return ": the worker's --max-body, or the service's limit, is lower than a message";
    case 429: return ": the service has no more workers, or those that it has are busy";
    default: return "";
    }
}

static cb_http_verdict judge(cb_http_call *c)
{
    static const char *const keys[] = {"error", "message", NULL};
    cb_invocation *i = (cb_invocation *)c;
    char what[304];
    if (c->code == 200) return CB_HTTP_DONE;
    if (c->code == 401 && !i->renewed && cb_credentials_renew(i->of->who, c)) {
        i->renewed = true;
        return CB_HTTP_AGAIN;
    }
    cb_invoke_text(c, keys, what, sizeof what);
    c->status = cb_fail(&c->error, CUBED_E_IO, "calling %s: the reply is %d%s%s", i->of->target,
                        c->code, what, advice(c->code));
    if (c->code == 429) return CB_HTTP_THROTTLED;
    if (c->code == 408 || c->code == 504) {
        c->error.failure = CUBED_FAILURE_TIMED_OUT;
        return CB_HTTP_DONE;
    }
    if (c->code == 507) { /* a Python function exceeded its memory */
        c->error.failure = CUBED_FAILURE_MEMORY;
        return CB_HTTP_DONE;
    }
    c->error.transient = c->code >= 500;
    return c->error.transient ? CB_HTTP_LATER : CB_HTTP_DONE;
}

static cubed_status find(cb_invoker *x, cb_net *net, const char *url, cubed_error *err)
{
    const char *endpoint;
    bool tls;
    CB_TRY(cb_net_check_options(net, url, OPTIONS, err));
    if (strpbrk(x->target, "?#"))
        return cb_fail(err, CUBED_E_ARG,
                       "url is \"%.*s?...\", expected no query: give a token as token_command, "
                       "token_file or token_from",
                       (int)strcspn(x->target, "?#"), x->target);
    CB_TRY(cb_remote_endpoint(x->zone, "url", x->target, &endpoint, &tls, err));
    return cb_credentials_find(net, url, cb_look_for_oidc, &x->who, err);
}

static void put_throttle(const cb_invoker *x, cb_buf *name) { cb_buf_puts(name, x->target); }

static cubed_status http_open(const cubed_executor_args *args, cubed_executor **out,
                              cubed_error *err)
{
    static const cb_invoke_kind kind = {.vt = &cb_executor_http,
                                        .what = "endpoint",
                                        .expected = "URL",
                                        .prefix = CB_OIDC_PREFIX,
                                        .size = sizeof(cb_invoker),
                                        .stall_ms = STALL_MS,
                                        .http = {prepare, judge, cb_invoke_done},
                                        .find = find,
                                        .put_throttle = put_throttle};
    return cb_invoke_open(&kind, args, out, err);
}

const cubed_executor_vtable cb_executor_http = {
    .struct_size = sizeof(cubed_executor_vtable),
    .name = "http",
    .caps = {.remote = true,
             .finds_plan = true,
             .max_workers = CB_INVOKE_MOST,
             .max_message_bytes = CB_INVOKE_MESSAGE,
             .range_ms = CUBED_RANGE_OVERHEADS * CB_INVOKE_OVERHEAD_MS},
    .open = http_open,
    .submit = cb_invoke_submit,
    .poll = cb_invoke_poll,
    .close = cb_invoke_close,
};
