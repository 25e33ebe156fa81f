/* Takes any bytes as a message between a driver and its workers. The first byte chooses the kind: a range, reports, a driver's
 * greeting, a whole message to a worker that starts without a plan, a worker's answer, or JSON around a message. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cubed/cubed.h"
#include "run/executors/told.h"
#include "run/executors/wire.h"
#include "store/http/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANGE, REPORTS, REPORTS_BY_SOCKET, GREETING, TOLD, ANSWER, JSON, KINDS };
enum { MOST_SENT = 32 << 10 }; /* fits into the buffer of a socket */

static void require(bool holds)
{
    if (!holds) abort();
}

/* Every error has a message, and is the fault of the bytes. */
static bool worked(cubed_status st, const cubed_error *err)
{
    require(st == CUBED_OK ||
            ((st == CUBED_E_FORMAT || st == CUBED_E_UNSUPPORTED) && err->message[0]));
    return st == CUBED_OK;
}

static cubed_status append(void *sink, const void *data, size_t size, cubed_error *err)
{
    (void)err;
    cb_buf_put(sink, data, size);
    return CUBED_OK;
}

/* A range that is read is written as the same bytes. */
static void read_range(const uint8_t *data, size_t size)
{
    cubed_range_message m;
    cubed_error err = CUBED_ERROR_INIT;
    uint8_t again[CUBED_RANGE_BYTES];
    if (!worked(cubed_range_read(data, size, &m, &err), &err)) return;
    require(m.range.stage >= 0 && m.range.first >= 0 && m.range.first <= m.range.last);
    require(memchr(m.run, 0, sizeof m.run) && memchr(m.plan, 0, sizeof m.plan));
    cubed_range_write(&m, again);
    require(memcmp(again, data, sizeof again) == 0);
}

static void check_report(const cubed_context *ctx, const cubed_task_report *r)
{
    cb_buf again;
    cubed_error err = CUBED_ERROR_INIT;
    cb_buf_init(&again, &cb_system_allocator);
    require(r->task >= 0 && memchr(r->error.message, 0, sizeof r->error.message));
    require(cubed_failure_of(&r->error) < CUBED_FAILURES);
    require(cubed_report_write(ctx, r, append, &again, &err) == CUBED_OK);
    cb_buf_free(&again);
}

static void read_reports(const cubed_context *ctx, const uint8_t *data, size_t size)
{
    cubed_task_report r;
    cubed_error err = CUBED_ERROR_INIT;
    size_t used = 0;
    for (; worked(cubed_report_read(ctx, data, size, &r, &used, &err), &err) && size > 0;) {
        require(used >= CUBED_REPORT_BYTES && used <= size);
        check_report(ctx, &r);
        data += used;
        size -= used;
    }
}

/* The same by a socket, as worker processes send them. */
static void receive_reports(const cubed_context *ctx, const uint8_t *data, size_t size)
{
    int fds[2];
    cb_wire_inbox in = {.size = 0};
    cb_wire_came came = CB_WIRE_MORE;
    cubed_error err = CUBED_ERROR_INIT;
    if (size > MOST_SENT) return;
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    require(send(fds[0], data, size, 0) == (ssize_t)size);
    close(fds[0]);
    while (came != CB_WIRE_END) {
        if (!worked(cb_wire_receive_some(ctx, fds[1], &in, &came, &err), &err)) break;
        require(came != CB_WIRE_MORE);
        if (came == CB_WIRE_WHOLE) check_report(ctx, &in.report);
    }
    cb_wire_inbox_clear(ctx, &in);
    close(fds[1]);
}

static void read_greeting(const uint8_t *data, size_t size)
{
    cb_wire_hello h;
    cubed_error err = CUBED_ERROR_INIT;
    if (size != CB_WIRE_HELLO_BYTES || !worked(cb_wire_get_hello(data, &h, &err), &err)) return;
    require(memchr(h.plan, 0, sizeof h.plan) && memchr(h.run, 0, sizeof h.run));
}

/* As cubed_context_set_option is called with what a message says. The message has a terminating NUL, as receivers add it. */
static void read_told(const uint8_t *data, size_t size)
{
    cb_told told;
    cb_net net;
    cubed_error err = CUBED_ERROR_INIT;
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    if (worked(cb_told_read(text, size, &told, &err), &err)) {
        require(told.work_dir >= text && told.options <= text + size);
        cb_net_init(&net, &cb_system_allocator);
        const cubed_status st = cb_net_take_options(&net, told.options, &err);
        require((st == CUBED_OK) == (err.message[0] == 0));
        cb_net_free(&net);
    }
    free(text);
}

static void read_answer(const cubed_context *ctx, const uint8_t *data, size_t size)
{
    cb_answer a;
    cubed_error err = CUBED_ERROR_INIT;
    if (!worked(cb_answer_read(data, size, &a, &err), &err)) return;
    const char *end = (const char *)data + size;
    require(a.worker_size <= size && a.worker + a.worker_size == a.reports);
    require(a.reports + a.size == end);
    read_reports(ctx, (const uint8_t *)a.reports, a.size);
}

/* A message in JSON that is read is read again from the JSON that it is written as. */
static void read_json(const uint8_t *data, size_t size)
{
    cb_buf bytes, text, again;
    cubed_error err = CUBED_ERROR_INIT;
    cb_buf_init(&bytes, &cb_system_allocator);
    cb_buf_init(&text, &cb_system_allocator);
    cb_buf_init(&again, &cb_system_allocator);
    if (worked(cb_told_take_json((const char *)data, size, &bytes, &err), &err)) {
        cb_told_put_json(&text, bytes.data, bytes.size);
        require(cb_told_take_json(text.data, text.size, &again, &err) == CUBED_OK);
        require(again.size == bytes.size);
        require(again.size == 0 || memcmp(again.data, bytes.data, again.size) == 0);
    }
    cb_buf_free(&bytes);
    cb_buf_free(&text);
    cb_buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cubed_context *ctx;
    if (!ctx) require(cubed_context_new(NULL, &ctx, NULL) == CUBED_OK);
    if (size == 0) return 0;
    const unsigned kind = *data++ % KINDS;
    uint8_t *bytes = malloc(size); /* exactly the size, so that an overrun is seen */
    require(bytes != NULL);
    memcpy(bytes, data, --size);
    if (kind == RANGE) read_range(bytes, size);
    if (kind == REPORTS) read_reports(ctx, bytes, size);
    if (kind == REPORTS_BY_SOCKET) receive_reports(ctx, bytes, size);
    if (kind == GREETING) read_greeting(bytes, size);
    if (kind == TOLD) read_told(bytes, size);
    if (kind == ANSWER) read_answer(ctx, bytes, size);
    if (kind == JSON) read_json(bytes, size);
    free(bytes);
    return 0;
}
