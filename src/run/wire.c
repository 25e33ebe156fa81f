#include "run/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/text.h"
#include "plan/context.h"

void cb_wire_hello_init(cb_wire_hello *h)
{
    memset(h, 0, sizeof *h);
    memcpy(h->version, CUBED_VERSION_STRING, sizeof CUBED_VERSION_STRING);
    h->range_size = sizeof(cubed_task_range);
    h->report_size = sizeof(cubed_task_report);
}

bool cb_wire_send(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = send(fd, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

bool cb_wire_receive(int fd, void *data, size_t size)
{
    char *at = data;
    while (size > 0) {
        ssize_t n = recv(fd, at, size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static cubed_status append(void *sink, const void *data, size_t size, cubed_error *err)
{
    cb_buf *b = sink;
    cb_buf_put(b, data, size);
    return b->failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for an error's bytes") : CUBED_OK;
}

bool cb_wire_send_report(const cubed_context *ctx, int fd, const cubed_task_report *report)
{
    const cubed_raised_fn *fn = ctx->raised_fn;
    if (!cb_wire_send(fd, report, sizeof *report)) return false;
    if (!report->error.raised) return true;
    cb_buf bytes;
    cb_buf_init(&bytes, &ctx->alloc);
    bool saved = fn && fn->save(report->error.raised, append, &bytes, fn->ctx, NULL) == CUBED_OK;
    uint64_t size = saved && bytes.size <= CUBED_RAISED_BYTES ? bytes.size : 0;
    bool ok = cb_wire_send(fd, &size, sizeof size) &&
              (size == 0 || cb_wire_send(fd, bytes.data, (size_t)size));
    cb_buf_free(&bytes);
    return ok;
}

bool cb_wire_send_some(int fd, const void *data, size_t size, size_t *sent)
{
    while (*sent < size) {
        ssize_t n = send(fd, (const char *)data + *sent, size - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
        if (n <= 0) return false;
        *sent += (size_t)n;
    }
    return true;
}

/* Takes the message's bytes from `before` on, `size` of them, if it is their turn. */
static cb_wire_came take(int fd, cb_wire_inbox *in, size_t before, void *data, size_t size)
{
    while (in->got < before + size) {
        size_t at = in->got - before;
        ssize_t n = recv(fd, (char *)data + at, size - at, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return CB_WIRE_MORE;
        if (n <= 0) return CB_WIRE_END;
        in->got += (size_t)n;
    }
    return CB_WIRE_WHOLE;
}

/* What is behind the error of a report that has come. */
static cb_wire_came take_raised(const cubed_context *ctx, int fd, cb_wire_inbox *in)
{
    const size_t before = sizeof in->report + sizeof in->size;
    cb_wire_came came = take(fd, in, sizeof in->report, &in->size, sizeof in->size);
    if (came != CB_WIRE_WHOLE || in->size == 0) return came;
    if (in->size > CUBED_RAISED_BYTES) return CB_WIRE_END;
    if (!in->raised) in->raised = cb_alloc(&ctx->alloc, (size_t)in->size);
    return in->raised ? take(fd, in, before, in->raised, (size_t)in->size) : CB_WIRE_END;
}

cb_wire_came cb_wire_receive_some(const cubed_context *ctx, int fd, cb_wire_inbox *in)
{
    const cubed_raised_fn *fn = ctx->raised_fn;
    cb_wire_came came = take(fd, in, 0, &in->report, sizeof in->report);
    bool raised = came == CB_WIRE_WHOLE && in->report.error.raised != 0;
    if (raised) came = take_raised(ctx, fd, in);
    if (came != CB_WIRE_WHOLE) return came;
    in->report.error.raised = 0; /* it was the other process's */
    if (in->raised && fn) in->report.error.raised = fn->load(in->raised, (size_t)in->size, fn->ctx);
    cb_wire_inbox_clear(ctx, in);
    return CB_WIRE_WHOLE;
}

void cb_wire_inbox_clear(const cubed_context *ctx, cb_wire_inbox *in)
{
    cb_free(&ctx->alloc, in->raised, (size_t)in->size);
    in->raised = NULL;
    in->size = 0;
    in->got = 0;
}
