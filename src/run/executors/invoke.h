/* Executors that send each range of tasks as one HTTP request to a service. The request contains the message to a worker, and the
 * reply contains the reports of the tasks. One file for each service (lambda.c, http.c) makes the requests and interprets the
 * replies. */
#ifndef CB_RUN_INVOKE_H
#define CB_RUN_INVOKE_H

#include "base/lock.h"
#include "run/executors/told.h"
#include "store/auth/credentials.h"

enum { CB_INVOKE_MOST = 1000 }; /* maximum number of calls in flight */
/* Maximum bytes of a message, and of the reports in a reply. */
#define CB_INVOKE_MESSAGE ((uint64_t)4 << 20)
/* Assumed duration of a call in milliseconds, in addition to its tasks. */
#define CB_INVOKE_OVERHEAD_MS 50u
/* Number of workers that AWS Lambda starts immediately, and number of further workers per second. "Lambda scaling behavior" in
 * AWS's Developer Guide: 1,000 execution environments every 10 seconds, refilled continuously. */
enum { CB_LAMBDA_RAMP_WORKERS = 1000, CB_LAMBDA_RAMP_PER_SECOND = 100 };

typedef struct cb_invoker cb_invoker;

typedef struct cb_invocation {
    cb_http_call http; /* must be first */
    /* links of the list of invocations in flight; in the list of completed invocations, only `next` is used */
    struct cb_invocation *next, *before;
    cb_invoker *of;
    cubed_task_range range;
    cb_buf body;
    /* the credentials were renewed once for this call, after the service had refused it */
    bool renewed;
} cb_invocation;

typedef struct cb_invoke_kind {
    const cubed_executor_vtable *vt;
    const char *what;     /* noun for the target in error messages: "function" */
    const char *expected; /* the syntax of a target in error messages: "FUNCTION" */
    const char *
        prefix; /* prefix of the URL of a target's options, which ends with the target: "lambda://" */
    bool json;              /* messages and answers are JSON (cb_told_put_json) instead of bytes */
    size_t size;            /* size of the executor's struct, which starts with cb_invoker */
    uint32_t stall_ms;      /* milliseconds without a byte after which a call fails */
    cb_http_functions http; /* `done` is cb_invoke_done */
    /* Finds the service: its address and credentials. `url` is the URL for which the user sets the service's options. The caller
     * sets `throttle` and `way` afterwards. */
    cubed_status (*find)(cb_invoker *x, cb_net *net, const char *url, cubed_error *err);
    /* Appends the name of the throttle, which limits the number of calls in flight to the service. */
    void (*put_throttle)(const cb_invoker *x, cb_buf *name);
} cb_invoke_kind;

struct cb_invoker {
    cubed_executor head; /* must be first */
    const cb_invoke_kind *kind;
    cubed_executor_args args;
    const cubed_allocator *alloc;
    cb_zone *zone;
    const char *target; /* the part of the executor's name after its colon */
    cb_http_way way;
    cb_credentials *who;
    cb_http *http;
    cb_throttle *throttle;
    uint32_t refused_ms;
    cb_mutex lock;
    cb_cond came;
    cb_invocation *flying CB_GUARDED_BY(&lock), *done_first CB_GUARDED_BY(&lock),
        *done_last CB_GUARDED_BY(&lock);
    /* the following fields are used only by the driver's thread */
    /* names of workers, each with a terminating NUL; the number of a worker is the position of its name in this list */
    cb_buf workers;
    cb_invocation *at; /* invocation whose reports are being returned, or NULL */
    cb_buf reply;
    cb_answer answer;
    unsigned worker;
    /* offset in `workers` of the name of the worker that performed the invocation `at` */
    size_t worker_at;
    cubed_error
        /* Error of the first task without a report; its status is CUBED_OK if no error was received. */
        error;
};

/* Opens the executor args->name, which is NAME:TARGET. */
CUBED_MUST_CHECK cubed_status cb_invoke_open(const cb_invoke_kind *kind,
                                             const cubed_executor_args *args, cubed_executor **out,
                                             cubed_error *err);
/* Members of the vtables (cubed_executor_vtable) of these executors. */
cubed_status cb_invoke_submit(cubed_executor *ex, const cubed_task_range *range, cubed_error *err);
cubed_status cb_invoke_poll(cubed_executor *ex, int timeout_ms, cubed_task_report *report,
                            bool *got, cubed_error *err);
void cb_invoke_close(cubed_executor *ex);

void cb_invoke_done(cb_http_call *c);
/* Gets the service's error text from a JSON reply: ": " and the string at the first of `keys` that has a string, or "" if there
 * is none. `keys` ends with NULL; `out` has `cap` bytes. At most 300 characters of the string are used. */
void cb_invoke_text(const cb_http_call *c, const char *const *keys, char *out, size_t cap);

#endif
