#define _GNU_SOURCE
#include "store/services/resp.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"

static cubed_status broken(const char *what, int os_errno, cubed_error *err)
{
    const bool timeout = os_errno == EAGAIN || os_errno == EWOULDBLOCK;
    cubed_status st = cb_fail(err, CUBED_E_IO, "%s: %s", what,
                              timeout    ? "no answer in time"
                              : os_errno ? strerror(os_errno)
                                         : "the server has closed the connection");
    if (err) err->transient = true;
    return st;
}

void cb_resp_begin(cb_resp *c, unsigned sharing)
{
    c->sharing = sharing;
    c->moved = 0;
    cb_pace_begin(&c->pace, cb_clock_ns(), (int64_t)c->timeout_ms * 1000000);
}

/* Counts n bytes that were sent or received. Fails if the request is too slow. */
static cubed_status keep_pace(cb_resp *c, size_t n, cubed_error *err)
{
    const int64_t grace_ms = (int64_t)c->timeout_ms * CB_PACE_GRACE;
    c->moved += n;
    cb_pace_note(&c->pace, cb_clock_ns(), c->moved, c->sharing);
    if (!cb_pace_is_lost(&c->pace, grace_ms * 1000000)) return CUBED_OK;
    cubed_status st =
        cb_fail(err, CUBED_E_IO,
                "the server is too slow: %" PRIu64 " bytes in %" PRId64
                " s, expected %d bytes a second after %.3g s (REDIS_TIMEOUT allows more)",
                c->moved, c->pace.elapsed / 1000000000, CB_PACE_BYTES, (double)grace_ms / 1000);
    if (err) err->transient = true;
    return st;
}

static int connect_to(const struct addrinfo *a, int timeout_ms)
{
    const struct timeval limit = {.tv_sec = timeout_ms / 1000,
                                  .tv_usec = timeout_ms % 1000 * 1000L};
    const int one = 1;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    /* A send timeout also limits connecting. */
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0 &&
        connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return fd;
    const int why = errno == EINPROGRESS ? EAGAIN : errno;
    close(fd);
    errno = why;
    return -1;
}

cubed_status cb_resp_open(const char *host, const char *port, int timeout_ms, cb_resp *c,
                          cubed_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;
    char where[320];
    snprintf(where, sizeof where, "connecting to %.255s port %.16s", host, port);
    const int rc = getaddrinfo(host, port, &hints, &all);
    if (rc != 0) {
        cubed_status st = cb_fail(err, CUBED_E_IO, "%s: %s", where, gai_strerror(rc));
        if (err) err->transient = rc == EAI_AGAIN;
        return st;
    }
    c->fd = -1;
    c->timeout_ms = timeout_ms;
    c->at = c->n = 0;
    for (const struct addrinfo *a = all; a && c->fd < 0; a = a->ai_next)
        c->fd = connect_to(a, timeout_ms);
    const int why = errno;
    freeaddrinfo(all);
    return c->fd < 0 ? broken(where, why, err) : CUBED_OK;
}

void cb_resp_close(cb_resp *c)
{
    if (c->fd >= 0) close(c->fd);
    c->fd = -1;
}

static cubed_status send_all(cb_resp *c, const char *bytes, size_t n, bool more, cubed_error *err)
{
    while (n > 0) {
        const ssize_t k = send(c->fd, bytes, n, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return broken("sending", errno, err);
        CB_TRY(keep_pace(c, (size_t)k, err));
        bytes += k;
        n -= (size_t)k;
    }
    return CUBED_OK;
}

cubed_status cb_resp_send(cb_resp *c, const cb_resp_arg *args, size_t n, cubed_error *err)
{
    char head[64];
    int k = snprintf(head, sizeof head, "*%zu\r\n", n);
    CB_TRY(send_all(c, head, (size_t)k, true, err));
    for (size_t i = 0; i < n; i++) {
        k = snprintf(head, sizeof head, "$%zu\r\n", args[i].size + args[i].rest_size);
        CB_TRY(send_all(c, head, (size_t)k, true, err));
        CB_TRY(send_all(c, args[i].bytes, args[i].size, true, err));
        CB_TRY(send_all(c, args[i].rest, args[i].rest_size, true, err));
        CB_TRY(send_all(c, "\r\n", 2, i + 1 < n, err));
    }
    return CUBED_OK;
}

static cubed_status receive(cb_resp *c, void *to, size_t cap, size_t *got, cubed_error *err)
{
    ssize_t k;
    do {
        k = recv(c->fd, to, cap, 0);
    } while (k < 0 && errno == EINTR);
    if (k <= 0) return broken("receiving", k < 0 ? errno : 0, err);
    *got = (size_t)k;
    return keep_pace(c, (size_t)k, err);
}

static cubed_status next(cb_resp *c, char *out, cubed_error *err)
{
    if (c->at == c->n) {
        c->at = 0;
        CB_TRY(receive(c, c->ahead, sizeof c->ahead, &c->n, err));
    }
    *out = c->ahead[c->at++];
    return CUBED_OK;
}

static cubed_status malformed(const cb_resp_reply *r, cubed_error *err)
{
    return cb_fail(err, CUBED_E_IO,
                   "the reply \"%c%.60s\" is not a valid reply of the Redis protocol", r->type,
                   r->text);
}

cubed_status cb_resp_parse(char type, const char *line, cb_resp_reply *r, cubed_error *err)
{
    char *end;
    *r = (cb_resp_reply){.type = type};
    snprintf(r->text, sizeof r->text, "%s", line);
    if (!type || !strchr("+-:$*", type))
        return cb_fail(err, CUBED_E_IO, "the server does not speak the Redis protocol (RESP 2)");
    if (type == '+' || type == '-') return CUBED_OK;
    errno = 0;
    r->number = strtoll(r->text, &end, 10);
    if (errno || end == r->text || *end || (*r->text != '-' && (*r->text < '0' || *r->text > '9')))
        return malformed(r, err);
    if (type == ':') return CUBED_OK;
    const int64_t most = type == '$' ? CB_RESP_MOST_BULK : CB_RESP_MOST_REPLIES;
    if (r->number < -1) return malformed(r, err);
    if (r->number > most)
        return cb_fail(err, CUBED_E_IO, "the reply has %" PRId64 " %s, expected at most %" PRId64,
                       r->number, type == '$' ? "bytes" : "parts", most);
    if (r->number < 0) r->type = '_';
    return CUBED_OK;
}

cubed_status cb_resp_read(cb_resp *c, cb_resp_reply *r, cubed_error *err)
{
    char type = 0, byte = 0, line[sizeof r->text];
    size_t n = 0;
    CB_TRY(next(c, &type, err));
    for (size_t all = 0;; all++) {
        CB_TRY(next(c, &byte, err));
        if (byte == '\n') break;
        if (all == CB_RESP_MOST_LINE)
            return cb_fail(err, CUBED_E_IO, "the reply has a line of more than %d bytes",
                           CB_RESP_MOST_LINE);
        if (n < sizeof line - 1 && byte != '\r') line[n++] = byte;
    }
    line[n] = 0;
    return cb_resp_parse(type, line, r, err);
}

/* Reads n bytes; discards them if `to` is NULL. */
static cubed_status take(cb_resp *c, char *to, size_t n, cubed_error *err)
{
    while (n > 0) {
        size_t k = cb_min_size(n, c->n - c->at);
        if (k > 0) {
            if (to) memcpy(to, c->ahead + c->at, k);
            c->at += k;
        } else if (to && n >= sizeof c->ahead) {
            CB_TRY(receive(c, to, n, &k, err));
        } else {
            c->at = 0;
            CB_TRY(receive(c, c->ahead, sizeof c->ahead, &c->n, err));
        }
        if (to) to += k;
        n -= k;
    }
    return CUBED_OK;
}

cubed_status cb_resp_take(cb_resp *c, const cb_resp_reply *r, size_t skip, void *dst, size_t cap,
                          cubed_error *err)
{
    if (r->type != '$') return CUBED_OK;
    const size_t all = (size_t)r->number;
    skip = cb_min_size(skip, all);
    cap = cb_min_size(cap, all - skip);
    CB_TRY(take(c, NULL, skip, err));
    char end[2];
    CB_TRY(take(c, dst, cap, err));
    CB_TRY(take(c, NULL, all - skip - cap, err));
    CB_TRY(take(c, end, sizeof end, err));
    if (end[0] == '\r' && end[1] == '\n') return CUBED_OK;
    return cb_fail(err, CUBED_E_IO, "a string of %zu bytes does not end where it should", all);
}
