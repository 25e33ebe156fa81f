/* Executors that perform each range of tasks by one call of a service. A range may be performed twice, because a call may
 * continue after the client has disconnected. This is harmless: chunks that are written twice have the same bytes. */
#define _GNU_SOURCE
#include "run/executors/invoke.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cubed/sys/message.h"
#include "plan/plan.h"

/* Default time for which a service may refuse every call, because other programs of the account use its limit. */
#define REFUSED_MS 120000
/* Maximum size of an answer as JSON: base64 of the reports and of the worker's name. */
#define MOST_REPLY ((size_t)(CB_INVOKE_MESSAGE / 3 * 4) + 4096)

void cb_invoke_text(const cb_http_call *c, const char *const *keys, char *out, size_t cap)
{
    json_t *o = NULL;
    const char *text = NULL;
    if (cb_json_parse("reply", c->text.data ? c->text.data : "", c->text.size, &o, NULL) ==
        CUBED_OK) {
        for (; *keys && !text; keys++) text = json_string_value(json_object_get(o, *keys));
    }
    snprintf(out, cap, "%s%.300s", text ? ": " : "", text ? text : "");
    json_decref(o);
}

/* --- Handling a call in the client's thread ----------------------------------------------------------- */

void cb_invoke_done(cb_http_call *c)
{
    cb_invocation *i = (cb_invocation *)c;
    cb_invoker *x = i->of;
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

static void free_invocation(cb_invocation *i)
{
    if (!i) return;
    if (i->body.data) explicit_bzero(i->body.data, i->body.size);
    cb_buf_free(&i->body);
    cb_http_call_free(&i->http);
    cb_free(i->of->alloc, i, sizeof *i);
}

/* --- The executor ------------------------------------------------------------------------------------- */

static cubed_status put_body(const cb_invoker *x, const cubed_task_range *range, cb_invocation *i,
                             cubed_error *err)
{
    cb_buf message;
    cubed_status st;
    cb_buf_init(&message, x->alloc);
    CB_GO(cb_told_write(&x->args, range, &message, err));
    if (x->kind->json)
        cb_told_put_json(&i->body, message.data, message.size);
    else
        cb_buf_put(&i->body, message.data, message.size);
    if (message.failed || i->body.failed)
        CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for a message"));
out:
    if (message.data) explicit_bzero(message.data, message.size);
    cb_buf_free(&message);
    return st;
}

cubed_status cb_invoke_submit(cubed_executor *ex, const cubed_task_range *range, cubed_error *err)
{
    cb_invoker *x = (cb_invoker *)ex;
    cb_invocation *i = cb_alloc_zero(x->alloc, sizeof *i);
    if (!i) return cb_fail(err, CUBED_E_NOMEM, "no memory for an invocation");
    i->of = x;
    i->range = *range;
    cb_buf_init(&i->body, x->alloc);
    cb_http_call_init(&i->http, x->alloc);
    i->http.fns = &x->kind->http;
    i->http.method = "POST";
    i->http.way = x->way;
    i->http.stall_ms = x->kind->stall_ms;
    i->http.most_text = MOST_REPLY;
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
static unsigned number_of(cb_invoker *x, const char *name, size_t size)
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

/* Points *bytes to the answer in a reply. */
static bool take_answer(cb_invoker *x, const cb_invocation *i, const cb_buf **bytes,
                        cubed_error *err)
{
    const cb_buf *text = &i->http.text;
    *bytes = text;
    x->reply.size = 0;
    if (!x->kind->json) return text->data != NULL;
    *bytes = &x->reply;
    return cb_told_take_json(text->data, text->size, &x->reply, err) == CUBED_OK;
}

static cubed_status read_reply(cb_invoker *x, const cb_invocation *i, cubed_error *err)
{
    const cb_buf *answer;
    if (!take_answer(x, i, &answer, err) ||
        cb_answer_read(answer->data, answer->size, &x->answer, err) != CUBED_OK)
        return cb_fail(err, CUBED_E_FORMAT,
                       "%s %s is not a worker of this library: its answer has another format",
                       x->kind->what, x->target);
    x->worker = number_of(x, x->answer.worker, x->answer.worker_size);
    return CUBED_OK;
}

static void begin_reports(cb_invoker *x, cb_invocation *i)
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

/* Reads the next report of the answer. Returns CUBED_E_FORMAT if it is not the report of the range's next task. */
static cubed_status read_report(cb_invoker *x, const cb_invocation *i, cubed_task_report *r,
                                cubed_error *err)
{
    size_t used;
    CB_TRY(cubed_report_read(x->args.plan->ctx, x->answer.reports, x->answer.size, r, &used, err));
    if (r->token != i->range.token || r->task != i->range.first)
        return cb_fail(err, CUBED_E_FORMAT, "%s %s reports task %" PRId64 ", expected %" PRId64,
                       x->kind->what, x->target, r->task, i->range.first);
    x->answer.reports += used;
    x->answer.size -= used;
    r->start_ns += x->answer.shift_ns;
    r->end_ns += x->answer.shift_ns;
    return CUBED_OK;
}

/* Sets the report of the first task that the answer does not report. */
static void report_missing(const cb_invoker *x, const cb_invocation *i, cubed_task_report *r)
{
    *r = (cubed_task_report){.token = i->range.token, .task = i->range.first, .coop = 1};
    r->error = x->error;
    if (r->error.status != CUBED_OK) return;
    r->error.status =
        cb_fail(&r->error, CUBED_E_IO, "%s %s did not report the results of its tasks",
                x->kind->what, x->target);
    r->error.failure = CUBED_FAILURE_LOST;
}

/* Sets *r to the next report of the current answer. A range ends after its last task, or after the first task that failed or has
 * no report. */
static void next_report(cb_invoker *x, cubed_task_report *r)
{
    cb_invocation *i = x->at;
    const bool reported = x->answer.size > 0;
    if (reported) x->error.status = read_report(x, i, r, &x->error);
    if (!reported || x->error.status != CUBED_OK) report_missing(x, i, r);
    r->worker = x->worker;
    r->host = x->workers.failed || !x->answer.worker ? NULL : x->workers.data + x->worker_at;
    i->range.first++;
    if (r->error.status != CUBED_OK || i->range.first >= i->range.last) {
        free_invocation(i);
        x->at = NULL;
    }
}

static cb_invocation *take_done(cb_invoker *x, int timeout_ms)
{
    const int64_t deadline = cb_clock_ns() + (int64_t)timeout_ms * 1000000;
    cb_mutex_lock(&x->lock);
    while (!x->done_first && cb_cond_wait_until(&x->came, &x->lock, deadline)) {
    }
    cb_invocation *i = x->done_first;
    if (i) x->done_first = i->next;
    cb_mutex_unlock(&x->lock);
    return i;
}

cubed_status cb_invoke_poll(cubed_executor *ex, int timeout_ms, cubed_task_report *report,
                            bool *got, cubed_error *err)
{
    cb_invoker *x = (cb_invoker *)ex;
    /* new credentials wake only the client of the stores when they arrive, so wake this client as well */
    cb_http_wake(x->http);
    if (!x->at) {
        cb_invocation *i = take_done(x, timeout_ms);
        if (i) begin_reports(x, i);
    }
    (void)err;
    *got = x->at != NULL;
    if (*got) next_report(x, report);
    return CUBED_OK;
}

static void free_invoker(cb_invoker *x)
{
    cb_http_free(x->http);
    cb_buf_free(&x->workers);
    cb_buf_free(&x->reply);
    cb_mutex_destroy(&x->lock);
    cb_cond_destroy(&x->came);
    cb_zone_free(x->zone);
    cb_free(x->alloc, x, x->kind->size);
}

void cb_invoke_close(cubed_executor *ex)
{
    cb_invoker *x = (cb_invoker *)ex;
    cb_mutex_lock(&x->lock);
    for (cb_invocation *i = x->flying; i; i = i->next) atomic_store(&i->http.cancelled, true);
    cb_mutex_unlock(&x->lock);
    cb_http_look_at_cancelled(x->http);
    cb_mutex_lock(&x->lock);
    while (x->flying) cb_cond_wait(&x->came, &x->lock);
    for (cb_invocation *next, *i = x->done_first; i; i = next) {
        next = i->next;
        free_invocation(i);
    }
    cb_mutex_unlock(&x->lock);
    free_invocation(x->at);
    free_invoker(x);
}

/* --- Opening ------------------------------------------------------------------------------------------ */

/* Finds the throttle that all calls of this target share. Accounts, functions and services limit the number of calls in
 * flight. */
static cubed_status find_throttle(cb_invoker *x, cb_net *net, const char *url, cubed_error *err)
{
    int64_t refused = REFUSED_MS;
    cb_buf name;
    CB_TRY(cb_net_get_seconds(net, x->zone, url, "throttle_timeout", 86400, &refused, err));
    x->refused_ms = (uint32_t)refused;
    cb_buf_init(&name, x->alloc);
    x->kind->put_throttle(x, &name);
    const cubed_status st =
        name.failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for a name")
                    : cb_net_throttle(net, name.data, CB_INVOKE_MOST, &x->throttle, err);
    cb_buf_free(&name);
    return st;
}

static cubed_status find(cb_invoker *x, cubed_error *err)
{
    cb_net *net = &x->args.plan->ctx->stores.net;
    const char *colon = strchr(x->args.name, ':');
    cb_buf url;
    cubed_status st;
    if (!colon || !colon[1])
        return cb_fail(err, CUBED_E_ARG, "executor \"%s\" has no %s, expected %s:%s", x->args.name,
                       x->kind->what, x->kind->vt->name, x->kind->expected);
    cb_buf_init(&url, x->alloc);
    x->target = cb_zone_strdup(x->zone, colon + 1);
    cb_buf_printf(&url, "%s%s", x->kind->prefix, colon + 1);
    if (!x->target || url.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for a name"));
    CB_GO(x->kind->find(x, net, url.data, err));
    CB_GO(find_throttle(x, net, url.data, err));
    CB_GO(cb_net_get_way(net, x->zone, url.data, &x->way, err));
out:
    cb_buf_free(&url);
    return st;
}

cubed_status cb_invoke_open(const cb_invoke_kind *kind, const cubed_executor_args *args,
                            cubed_executor **out, cubed_error *err)
{
    const cubed_allocator *a = &args->plan->ctx->alloc;
    cb_zone *zone;
    CB_TRY(cb_zone_new(a, &zone, err));
    cb_invoker *x = cb_alloc_zero(a, kind->size);
    if (!x) {
        cb_zone_free(zone);
        return cb_fail(err, CUBED_E_NOMEM, "no memory for an executor");
    }
    x->head = (cubed_executor){.vt = kind->vt, .slots = args->workers, .workers = args->workers};
    x->kind = kind;
    x->args = *args;
    x->alloc = a;
    x->zone = zone;
    cb_buf_init(&x->workers, a);
    cb_buf_init(&x->reply, a);
    cb_mutex_init(&x->lock);
    cb_cond_init(&x->came);
    cubed_status st = find(x, err);
    if (st == CUBED_OK) st = cb_http_new(a, args->workers, NULL, &x->http, err);
    if (st == CUBED_OK)
        *out = &x->head;
    else
        free_invoker(x);
    return st;
}
