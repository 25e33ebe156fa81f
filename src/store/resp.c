#define _GNU_SOURCE
#include "store/resp.h"

#include <errno.h>
#include <fcntl.h>
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

static int connect_to(const struct addrinfo *a, int timeout_ms)
{
    const struct timeval limit = {.tv_sec = timeout_ms / 1000,
                                  .tv_usec = timeout_ms % 1000 * 1000L};
    const int one = 1;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    /* A limit of sending is one of connecting, too. */
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
    return CUBED_OK;
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

cubed_status cb_resp_read(cb_resp *c, cb_resp_reply *r, cubed_error *err)
{
    char byte = 0;
    size_t n = 0;
    *r = (cb_resp_reply){.type = '_'};
    CB_TRY(next(c, &r->type, err));
    for (;;) {
        CB_TRY(next(c, &byte, err));
        if (byte == '\n') break;
        if (n < sizeof r->text - 1 && byte != '\r') r->text[n++] = byte;
    }
    r->text[n] = 0;
    if (strchr(":$*", r->type)) r->number = strtoll(r->text, NULL, 10);
    if (!strchr("+-:$*", r->type)) return cb_fail(err, CUBED_E_IO, "this is no server of Redis's");
    if (strchr("$*", r->type) && r->number < 0) r->type = '_';
    return CUBED_OK;
}

/* Nowhere, if `to` is NULL. */
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
    CB_TRY(take(c, dst, cap, err));
    return take(c, NULL, all - skip - cap + 2, err);
}
