#include "run/executors/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/le.h"
#include "context/context.h"

#define MAGIC "CBDH"
enum { VERSION_BYTES = 24, NAME_BYTES = 40 };

_Static_assert(sizeof CUBED_VERSION_STRING <= VERSION_BYTES, "the bytes of a version");
_Static_assert(sizeof(((cb_wire_hello *)0)->plan) == NAME_BYTES &&
                   sizeof(((cb_wire_hello *)0)->run) == NAME_BYTES,
               "the bytes of a name");
_Static_assert(CB_WIRE_HELLO_BYTES == 48 + 2 * NAME_BYTES + 4, "the last field is at byte 128");

void cb_wire_put_hello(const cb_wire_hello *h, uint8_t bytes[CB_WIRE_HELLO_BYTES])
{
    memset(bytes, 0, CB_WIRE_HELLO_BYTES);
    memcpy(bytes, MAGIC, 4);
    cb_le_put(bytes + 4, CUBED_MESSAGE_VERSION, 2);
    memcpy(bytes + 8, CUBED_VERSION_STRING, sizeof CUBED_VERSION_STRING);
    cb_le_put(bytes + 32, h->plan_size, 8);
    cb_le_put(bytes + 40, h->nshared, 4);
    cb_le_put(bytes + 44, h->resume, 4);
    memcpy(bytes + 48, h->plan, NAME_BYTES);
    memcpy(bytes + 88, h->run, NAME_BYTES);
    cb_le_put(bytes + 128, h->timeout_ms, 4);
}

cubed_status cb_wire_get_hello(const uint8_t bytes[CB_WIRE_HELLO_BYTES], cb_wire_hello *h,
                               cubed_error *err)
{
    char version[VERSION_BYTES] = CUBED_VERSION_STRING;
    if (memcmp(bytes, MAGIC, 4) != 0)
        return cb_fail(err, CUBED_E_FORMAT, "these bytes are not a driver's first message");
    if (cb_le_get(bytes + 4, 2) != CUBED_MESSAGE_VERSION ||
        memcmp(bytes + 8, version, VERSION_BYTES) != 0)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "the driver has version %.23s, this worker %s",
                       (const char *)bytes + 8, version);
    memset(h, 0, sizeof *h);
    h->plan_size = cb_le_get(bytes + 32, 8);
    h->nshared = (uint32_t)cb_le_get(bytes + 40, 4);
    h->resume = cb_le_get(bytes + 44, 4) != 0;
    memcpy(h->plan, bytes + 48, NAME_BYTES - 1);
    memcpy(h->run, bytes + 88, NAME_BYTES - 1);
    h->timeout_ms = (uint32_t)cb_le_get(bytes + 128, 4);
    return CUBED_OK;
}

static bool send_all(int fd, const void *data, size_t size)
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

static cubed_status send_part(void *fd, const void *data, size_t size, cubed_error *err)
{
    if (send_all(*(int *)fd, data, size)) return CUBED_OK;
    return cb_fail(err, CUBED_E_IO, "the driver does not accept connections");
}

bool cb_wire_send_report(const cubed_context *ctx, int fd, const cubed_task_report *report)
{
    return cubed_report_write(ctx, report, send_part, &fd, NULL) == CUBED_OK;
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

/* Receives the bytes `before` to `before + size` - 1 of a message, as far as they have arrived. */
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

cubed_status cb_wire_receive_some(const cubed_context *ctx, int fd, cb_wire_inbox *in,
                                  cb_wire_came *came, cubed_error *err)
{
    const uint8_t *bytes = in->head;
    size_t used;
    *came = take(fd, in, 0, in->head, sizeof in->head);
    if (*came != CB_WIRE_WHOLE) return CUBED_OK;
    if (!in->size) CB_TRY(cubed_report_size(in->head, &in->size, err));
    if (in->size > sizeof in->head) {
        if (!in->whole) {
            in->whole = cb_alloc(&ctx->alloc, in->size);
            if (!in->whole) return cb_fail(err, CUBED_E_NOMEM, "no memory for a worker's report");
            memcpy(in->whole, in->head, sizeof in->head);
        }
        *came =
            take(fd, in, sizeof in->head, in->whole + sizeof in->head, in->size - sizeof in->head);
        if (*came != CB_WIRE_WHOLE) return CUBED_OK;
        bytes = in->whole;
    }
    cubed_status st = cubed_report_read(ctx, bytes, in->size, &in->report, &used, err);
    cb_wire_inbox_clear(ctx, in);
    return st;
}

void cb_wire_inbox_clear(const cubed_context *ctx, cb_wire_inbox *in)
{
    cb_free(&ctx->alloc, in->whole, in->size);
    in->whole = NULL;
    in->size = in->got = 0;
}
