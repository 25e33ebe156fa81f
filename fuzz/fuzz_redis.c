/* Takes any bytes as the replies of a Redis server. The first byte chooses the request: to read, write, delete, list or copy
 * objects. The connection is a pair of sockets (cmake/fuzz.cmake wraps cb_resp_open). */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/error.h"
#include "store/core/store.h"
#include "store/http/net.h"
#include "store/services/remotes.h"
#include "store/services/resp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
cubed_status open_pair(const char *host, const char *port, int timeout_ms, cb_resp *c,
                       cubed_error *err) __asm__("__wrap_cb_resp_open");

enum {
    GET_WHOLE,
    GET_PARTS,
    GET_END,
    HEAD,
    PUT,
    PUT_IF,
    DELETE,
    DELETE_IF,
    LIST,
    LIST_NAMES,
    COPY,
    KINDS
};
enum {
    ROOM = 64,
    GUARD = 0x5A,
    MOST_SENT = 32 << 10
}; /* MOST_SENT fits into the buffer of a socket */

static struct {
    const uint8_t *bytes;
    size_t size;
    int peer; /* the server's end, or -1 */
} server;

static void require(bool holds)
{
    if (!holds) abort();
}

/* The first connection has all replies; there is no second one. */
cubed_status open_pair(const char *host, const char *port, int timeout_ms, cb_resp *c,
                       cubed_error *err)
{
    const struct timeval limit = {.tv_usec = 10000};
    int fds[2];
    (void)host;
    (void)port;
    if (server.peer >= 0) return cb_fail(err, CUBED_E_IO, "there is one connection only");
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    require(setsockopt(fds[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
    require(send(fds[1], server.bytes, server.size, 0) == (ssize_t)server.size);
    require(shutdown(fds[1], SHUT_WR) == 0);
    server.peer = fds[1];
    c->fd = fds[0];
    c->timeout_ms = timeout_ms;
    c->at = c->n = 0;
    return CUBED_OK;
}

/* Every key that is reported is below the listed prefix. */
static cubed_status tell(void *ctx, const cubed_store_entry *e, cubed_error *err)
{
    (void)ctx;
    (void)err;
    require(strncmp(e->key, "group/", 6) == 0 && cb_key_check(e->key, NULL) == CUBED_OK);
    return CUBED_OK;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the request writes to dst */
static void fill(cubed_store_request *r, unsigned kind, char *dst)
{
    static const cubed_range parts[] = {{0, 16}, {20, 24}}, end[] = {{CUBED_RANGE_SUFFIX, 16}};
    static const char *const keys[] = {"group/x", "group/y"};
    *r = (cubed_store_request){.op = CUBED_STORE_GET, .key = "group/x", .dst = dst, .cap = ROOM};
    if (kind == GET_PARTS) {
        r->ranges = parts;
        r->nranges = 2;
    } else if (kind == GET_END) {
        r->ranges = end;
        r->nranges = 1;
    } else if (kind == HEAD) {
        r->op = CUBED_STORE_HEAD;
    } else if (kind == PUT || kind == PUT_IF) {
        r->op = CUBED_STORE_PUT;
        r->src = "values";
        r->size = 6;
        if (kind == PUT_IF) r->if_none_match = "*";
    } else if (kind == DELETE || kind == DELETE_IF) {
        r->op = CUBED_STORE_DELETE;
        r->keys = keys;
        r->nkeys = 2;
        if (kind == DELETE_IF) {
            r->guard = "group/guard";
            r->guard_version = "0123456789abcdef";
        }
    } else if (kind == LIST || kind == LIST_NAMES) {
        r->op = CUBED_STORE_LIST;
        r->key = "group";
        r->delimiter = kind == LIST_NAMES ? '/' : 0;
        r->entry = tell;
    }
}

static void check_get(const cubed_store_request *r, const char *dst)
{
    size_t most = 0;
    for (size_t i = 0; i < r->nranges; i++) most += r->ranges[i].size;
    if (!r->nranges) most = ROOM;
    require(dst[ROOM] == GUARD);
    if (r->status != CUBED_OK) return;
    require(r->got <= most && memchr(r->info.version.text, 0, sizeof r->info.version.text));
    if (!r->nranges && r->info.size <= ROOM) require(r->got == r->info.size);
}

static void exchange(cubed_store *s, unsigned kind)
{
    static const char *const from[] = {"group/x"}, *const to[] = {"group/z"};
    char dst[ROOM + 1];
    cubed_store_request r;
    cubed_error err = CUBED_ERROR_INIT;
    memset(dst, GUARD, sizeof dst);
    if (kind == COPY) {
        const cubed_status st = cb_store_copy(s, from, to, 1, &err);
        require((st == CUBED_OK) == (err.message[0] == 0));
        return;
    }
    fill(&r, kind, dst);
    const cubed_status st = cb_store_do(s, &r, &err);
    require((st == CUBED_OK) == (err.message[0] == 0));
    if (r.op == CUBED_STORE_GET) check_get(&r, dst);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cb_net net;
    cubed_store *s;
    if (size == 0 || size > MOST_SENT) return 0;
    server.bytes = data + 1;
    server.size = size - 1;
    server.peer = -1;
    cb_net_init(&net, &cb_system_allocator);
    require(cb_redis_open(&net, "redis://server/0/root", &s, NULL) == CUBED_OK);
    exchange(s, data[0] % KINDS);
    cb_store_close(s);
    cb_net_free(&net);
    if (server.peer >= 0) close(server.peer);
    return 0;
}
