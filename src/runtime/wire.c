#include "runtime/wire.h"

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

bool cb_wire_receive_report(const cubed_context *ctx, int fd, cubed_task_report *report)
{
    const cubed_raised_fn *fn = ctx->raised_fn;
    uint64_t size;
    if (!cb_wire_receive(fd, report, sizeof *report)) return false;
    if (!report->error.raised) return true;
    report->error.raised = 0; /* it was the other process's */
    if (!cb_wire_receive(fd, &size, sizeof size) || size > CUBED_RAISED_BYTES) return false;
    if (size == 0) return true;
    void *data = cb_alloc(&ctx->alloc, (size_t)size);
    bool ok = data && cb_wire_receive(fd, data, (size_t)size);
    if (ok && fn) report->error.raised = fn->load(data, (size_t)size, fn->ctx);
    cb_free(&ctx->alloc, data, (size_t)size);
    return ok;
}
