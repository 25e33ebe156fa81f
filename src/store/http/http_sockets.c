#include "store/http/http_sockets.h"

#include <poll.h>

#include "base/clock.h"
#include "base/error.h"

/* Number of sockets of a transfer: for addresses of IPv4 and IPv6, and for name lookup. */
enum { SOCKETS_EACH = 4 };
/* A transfer that was ready for this long is served before all other transfers. */
#define PATIENCE_NS ((int64_t)100000000)

typedef struct watched {
    curl_socket_t fd;
    short events;
    cb_turn *turn;
} watched;

struct cb_sockets {
    const cubed_allocator *alloc;
    CURLM *multi;
    cb_turn libcurls; /* state of libcurl's own handles, which close connections */
    int64_t due;      /* time of libcurl's next timer; INT64_MAX: none */
    size_t n, cap;
    struct pollfd *polled; /* array of `cap` entries */
    watched all[];
};

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *unused)
{
    cb_sockets *s = ctx;
    size_t i = 0;
    (void)unused;
    while (i < s->n && s->all[i].fd != fd) i++;
    if (what == CURL_POLL_REMOVE) {
        if (i < s->n) s->all[i] = s->all[--s->n];
        return 0;
    }
    if (i == s->cap) return -1;
    watched *w = &s->all[i];
    if (i == s->n) s->n++;
    w->fd = fd;
    w->events = (short)((what & CURL_POLL_IN ? POLLIN : 0) | (what & CURL_POLL_OUT ? POLLOUT : 0));
    w->turn = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&w->turn);
    if (!w->turn) w->turn = &s->libcurls;
    return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *ctx)
{
    cb_sockets *s = ctx;
    (void)multi;
    s->due = timeout_ms < 0 ? INT64_MAX : cb_clock_ns() + (int64_t)timeout_ms * 1000000;
    return 0;
}

/* Returns the rank of a transfer. The transfer with the lowest rank is served first. */
static int64_t rank(const cb_turn *t, int64_t now)
{
    return t->heard == 0 || now - t->served > PATIENCE_NS ? 0 : t->began;
}

bool cb_sockets_serve(cb_sockets *s)
{
    const int64_t now = cb_clock_ns();
    int running, action = 0;
    const bool is_due = now >= s->due;
    if (is_due) {
        s->due = INT64_MAX; /* libcurl may set a new timer */
        curl_multi_socket_action(s->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    for (size_t i = 0; i < s->n; i++)
        s->polled[i] = (struct pollfd){.fd = s->all[i].fd, .events = s->all[i].events};
    if (s->n == 0 || poll(s->polled, (nfds_t)s->n, 0) <= 0) return is_due;
    size_t best = s->n;
    for (size_t i = 0; i < s->n; i++) {
        /* If a call has no data to read, its waiting time starts again. */
        if (s->polled[i].revents == 0)
            s->all[i].turn->served = now;
        else if (best == s->n || rank(s->all[i].turn, now) < rank(s->all[best].turn, now))
            best = i;
    }
    if (s->polled[best].revents & (POLLIN | POLLHUP | POLLERR)) action |= CURL_CSELECT_IN;
    if (s->polled[best].revents & POLLOUT) action |= CURL_CSELECT_OUT;
    s->all[best].turn->served = now;
    curl_multi_socket_action(s->multi, s->all[best].fd, action, &running);
    return true;
}

static size_t size_of(size_t cap)
{
    return sizeof(cb_sockets) + cap * (sizeof(watched) + sizeof(struct pollfd));
}

cubed_status cb_sockets_new(const cubed_allocator *a, CURLM *multi, unsigned transfers,
                            cb_sockets **out, cubed_error *err)
{
    const size_t cap = (size_t)transfers * SOCKETS_EACH;
    cb_sockets *s = cb_alloc_zero(a, size_of(cap));
    if (!s) return cb_fail(err, CUBED_E_NOMEM, "no memory for connections");
    s->alloc = a;
    s->multi = multi;
    s->due = INT64_MAX;
    s->cap = cap;
    s->polled = (struct pollfd *)(s->all + cap);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, s);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, s);
    *out = s;
    return CUBED_OK;
}

void cb_sockets_free(cb_sockets *s)
{
    if (s) cb_free(s->alloc, s, size_of(s->cap));
}
