#define _GNU_SOURCE
#include "store/http/http_client.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/pool.h"
#include "cubed/sys/store.h"
#include "store/http/curl.h"
#include "store/http/http_redirect.h"
#include "store/http/http_reply.h"
#include "store/http/http_sockets.h"
#include "store/http/pace.h"

/* Maximum numbers of attempts of a call: in general, if no connection can be made, and if the server is silent or slow
 * (store/http/pace.h). */
enum { MOST_ATTEMPTS = 8, MOST_CONNECTS = 4, MOST_SLOW = 4 };
/* The client has a number of tokens. A retry costs tokens, and each successful call adds a token. If all calls fail, no tokens
 * are left and the client stops retrying, to reduce the load of the server. */
enum { TOKENS = 500, PRICE = 5, PRICE_OF_TIMEOUT = 10 };
/* The n-th retry waits a random time up to 2^n times the first delay. If the server asks for more than LONGEST, the call
 * fails and reports the requested pause. */
#define MS          ((int64_t)1000000)
#define LOOK_NS     (250 * MS) /* interval between checks for slow transfers */
#define LONGEST_GAP (5000 * MS)
/* Seconds between probes of a silent connection: gateways forget a connection that is silent for 350 s (AWS) or 240 s
 * (Azure), and a call may take 15 minutes. */
#define KEEPALIVE_S 60L
#define FIRST_DELAY (100 * MS)
#define LONGEST     (20000 * MS)
#define DAY         ((int64_t)86400)
/* Maximum pause that a server may request before a task is retried. */
#define LONGEST_ASKED (600000 * MS)
/* Default time for which a service may refuse every call because of the rate of calls. */
#define LONGEST_REFUSED (30000 * MS)
/* Interval between checks of held calls. Calls of other clients may have ended, so that the throttle allows more. */
#define HELD_LOOK (20 * MS)
enum { BUFFER = 128 << 10 };

/* A reusable handle of libcurl. */
typedef struct cb_http_transfer {
    cb_turn turn; /* must be first, as http_sockets.h requires */
    struct cb_http_transfer *next;
    CURL *curl;
    struct curl_slist *headers;
    cb_http *http;
    cb_http_call *call; /* NULL if the transfer is idle */
    /* true if another transfer continues the call, so that the reply of this one is discarded */
    bool lost;
    cb_redirects redirects;
    cb_pace pace;
    uint64_t received; /* bytes of headers and body */
    char why[CURL_ERROR_SIZE];
} transfer;

typedef struct call_list {
    cb_http_call *first, *last;
} call_list;

struct cb_http {
    const cubed_allocator *alloc;
    CURLM *multi;
    cb_sockets *sockets;
    cb_pool *thread;
    pid_t pid;
    cb_mutex lock;
    call_list came CB_GUARDED_BY(&lock);
    atomic_bool stopping, cancelling, woken;
    atomic_uint calls;
    /* The following fields are used only by the client thread. */
    call_list queued, delayed, waiting;
    /* Calls that wait because their throttle's limit of calls in flight is reached. */
    call_list held;
    /* Idle transfers as a list, and an array of all transfers, with a capacity of `transfers` pointers. */
    transfer *free, **all;
    /* Maximum number of simultaneous calls, and maximum number of transfers, which include second requests. */
    unsigned most, transfers;
    unsigned nall, used; /* number of all transfers, and of the transfers that are not free */
    unsigned active;     /* number of calls with a transfer */
    cb_hedge *hedge;     /* policy of second requests; NULL if there are none */
    int64_t looked;      /* time of the last check for slow transfers */
    int tokens;
    uint64_t random;
};

static void append(call_list *l, cb_http_call *c)
{
    c->next = NULL;
    if (l->first)
        l->last->next = c;
    else
        l->first = c;
    l->last = c;
}

static cb_http_call *take_first(call_list *l)
{
    cb_http_call *c = l->first;
    if (c) l->first = c->next;
    return c;
}

static call_list take_all(call_list *l)
{
    const call_list all = *l;
    *l = (call_list){NULL, NULL};
    return all;
}

static uint64_t next_random(cb_http *h)
{
    /* xorshift64* (Marsaglia 2003, Vigna 2016). */
    h->random ^= h->random >> 12;
    h->random ^= h->random << 25;
    h->random ^= h->random >> 27;
    return h->random * 0x2545F4914F6CDD1Du;
}

/* --- Replies ------------------------------------------------------------------------------------------ */

void cb_http_call_init(cb_http_call *c, const cubed_allocator *a)
{
    *c = (cb_http_call){
        .method = "GET", .total = UINT64_MAX, .limit = CB_ADDRESS_ANY, .farthest = CB_ADDRESS_ANY};
    cb_buf_init(&c->url, a);
    cb_buf_init(&c->headers, a);
    cb_buf_init(&c->reply, a);
    cb_buf_init(&c->text, a);
    cb_buf_init(&c->before, a);
    cb_buf_init(&c->behind, a);
}

void cb_http_call_free(cb_http_call *c)
{
    cb_buf_free(&c->url);
    if (c->headers.data) explicit_bzero(c->headers.data, c->headers.size);
    cb_buf_free(&c->headers);
    cb_buf_free(&c->reply);
    cb_buf_free(&c->text);
    cb_buf_free(&c->before);
    cb_buf_free(&c->behind);
}

void cb_http_put_header(cb_http_call *c, const char *name, const char *value)
{
    cb_buf_printf(&c->headers, "%s: %s", name, value);
    cb_buf_put(&c->headers, "", 1);
}

int64_t cb_http_date(const cb_http_call *c, const char *name)
{
    const char *text = cb_http_header(c, name);
    const time_t t = text ? curl_getdate(text, NULL) : -1;
    return t < 0 ? 0 : (int64_t)t;
}

/* Detaches a transfer from its call. The thread removes the transfer after libcurl has returned. */
static void detach_transfer(transfer *t)
{
    t->call = NULL;
    t->lost = true;
}

/* Decides which of two transfers of a call continues: the first that receives bytes. The second transfer wins only with a
 * 2xx reply, because the first may still succeed. Returns false if the other transfer wins. */
static bool wins(transfer *t, const char *line, size_t n)
{
    cb_http_call *c = t->call;
    if (!c) return false;
    const bool first = c->transfer == t;
    if (!first && !(n > 9 && memcmp(line, "HTTP/", 5) == 0 && line[9] == '2')) {
        c->second = NULL;
        detach_transfer(t);
        return false;
    }
    if (c->second) detach_transfer(first ? c->second : c->transfer);
    if (!first) cb_http_reply_forget(c);
    c->transfer = t;
    c->second = NULL;
    return true;
}

static void hear(transfer *t)
{
    const int64_t now = cb_clock_ns();
    if (!t->turn.heard && t->call->may_hedge) cb_hedge_note(t->http->hedge, now - t->turn.began);
    t->turn.heard = now;
}

static size_t on_header(char *line, size_t size, size_t n, void *ctx)
{
    transfer *t = ctx;
    const size_t length = size * n;
    if (!wins(t, line, length)) return 0;
    cb_http_call *c = t->call;
    hear(t);
    t->received += length;
    c->stop = (int)cb_http_reply_line(c, line, length);
    return c->stop ? 0 : length;
}

/* Returns the content length according to libcurl, or -1 if unknown. */
static int64_t length_of(const transfer *t)
{
    curl_off_t length = -1;
    curl_easy_getinfo(t->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    return (int64_t)length;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx)
{
    transfer *t = ctx;
    n *= size;
    if (!wins(t, bytes, 0)) return 0;
    cb_http_call *c = t->call;
    hear(t);
    t->received += n;
    if (c->code == 0) {
        long code = 0;
        curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
        c->stop = (int)cb_http_reply_begin(c, (int)code, length_of(t));
    }
    if (!c->stop) c->stop = (int)cb_http_reply_bytes(c, bytes, n);
    return c->stop ? 0 : n;
}

/* --- One attempt -------------------------------------------------------------------------------------- */

static transfer *get_transfer(cb_http *h)
{
    transfer *t = h->free;
    if (t) {
        h->free = t->next;
        h->used++;
        return t;
    }
    if (h->nall == h->transfers || !(t = cb_alloc_zero(h->alloc, sizeof *t))) return NULL;
    if (!(t->curl = curl_easy_init())) {
        cb_free(h->alloc, t, sizeof *t);
        return NULL;
    }
    t->http = h;
    h->all[h->nall++] = t;
    h->used++;
    return t;
}

static void release(cb_http *h, transfer *t)
{
    curl_slist_free_all(t->headers);
    t->headers = NULL;
    t->call = NULL;
    t->lost = false;
    t->next = h->free;
    h->free = t;
    h->used--;
}

static bool add_header(transfer *t, const char *line)
{
    struct curl_slist *more = curl_slist_append(t->headers, line);
    if (more) t->headers = more;
    return more;
}

/* Sets the call's headers, and suppresses the headers that libcurl would add. */
static bool set_headers(transfer *t, const cb_http_call *c)
{
    bool ok = add_header(t, "Expect:");
    if (!c->headers.data || !memmem(c->headers.data, c->headers.size, "content-type:", 13))
        ok = ok && add_header(t, "Content-Type:");
    for (const char *at = c->headers.data; ok && at && at < c->headers.data + c->headers.size;
         at += strlen(at) + 1)
        ok = add_header(t, at);
    return ok && curl_easy_setopt(t->curl, CURLOPT_HTTPHEADER, t->headers) == CURLE_OK;
}

/* Provides the next bytes to send: `before`, then the body, then `behind`. */
static size_t on_read(char *out, size_t size, size_t n, void *ctx)
{
    transfer *t = ctx;
    cb_http_call *c = t->call;
    const struct {
        const char *bytes;
        size_t size;
    } parts[] = {{c->before.data, c->before.size},
                 {c->body, c->body_size},
                 {c->behind.data, c->behind.size}};
    uint64_t from = c->sent;
    size_t done = 0;
    n *= size;
    for (int i = 0; i < 3; i++) {
        if (from < parts[i].size) {
            const size_t k = cb_min_size(parts[i].size - (size_t)from, n - done);
            memcpy(out + done, parts[i].bytes + from, k);
            done += k;
            from = 0;
        } else {
            from -= parts[i].size;
        }
    }
    c->sent += done;
    return done;
}

/* Called when the server closed a reused connection and the body must be sent again: returns to its first byte. */
static int on_seek(void *ctx, curl_off_t offset, int origin)
{
    if (origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
    ((transfer *)ctx)->call->sent = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

static bool set_body(transfer *t, cb_http_call *c)
{
    CURL *curl = t->curl;
    const curl_off_t size = (curl_off_t)(c->before.size + c->body_size + c->behind.size);
    bool ok = true;
    if (strcmp(c->method, "HEAD") == 0) return curl_easy_setopt(curl, CURLOPT_NOBODY, 1L) == 0;
    c->sent = 0;
    if (strcmp(c->method, "PUT") == 0 || strcmp(c->method, "POST") == 0) {
        ok = curl_easy_setopt(curl, CURLOPT_POST, 1L) == 0 &&
             curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, size) == 0 &&
             curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_read) == 0 &&
             curl_easy_setopt(curl, CURLOPT_READDATA, t) == 0 &&
             curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, on_seek) == 0 &&
             curl_easy_setopt(curl, CURLOPT_SEEKDATA, t) == 0;
    }
    if (strcmp(c->method, "GET") != 0)
        ok = ok && curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, c->method) == 0;
    return ok;
}

const char *cb_http_find_certificates(const char *known_file, const char *known_folder)
{
    static const char *const places[] = {
        "/etc/ssl/certs/ca-certificates.crt", /* Debian, Alpine, Arch */
        "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora and derivatives */
        "/etc/ssl/ca-bundle.pem",             /* openSUSE */
        "/etc/ssl/cert.pem",                  /* BSD, macOS */
    };
    if (known_file && access(known_file, R_OK) == 0) return NULL;
    if (known_folder && access(known_folder, R_OK | X_OK) == 0) return NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (access(places[i], R_OK) == 0) return places[i];
    }
    return NULL;
}

/* libcurl's compiled-in path may belong to another system. A file of certificates is read once for all connections. With a
 * directory as well, each connection would have its own copy of 1 MB or more. */
static bool set_certificates(CURL *curl, const char *file)
{
    const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
    if (!file) file = cb_http_find_certificates(v->cainfo, v->capath);
    if (!file && v->cainfo && access(v->cainfo, R_OK) == 0) file = v->cainfo;
    return !file || (curl_easy_setopt(curl, CURLOPT_CAINFO, file) == 0 &&
                     curl_easy_setopt(curl, CURLOPT_CAPATH, NULL) == 0);
}

bool cb_curl_set_way(CURL *curl, const cb_http_way *way, const char *url)
{
    const char *proxy = strncasecmp(url, "https:", 6) == 0 ? way->proxy : way->plain_proxy;
    /* If this option were not set, libcurl would use a proxy from the environment. */
    return curl_easy_setopt(curl, CURLOPT_PROXY, proxy ? proxy : "") == 0 &&
           curl_easy_setopt(curl, CURLOPT_NOPROXY, way->no_proxy) == 0 &&
           set_certificates(curl, way->ca_file);
}

static bool set_redirects(transfer *t, const cb_http_call *c)
{
    const bool tls = strncasecmp(c->url.data, "https:", 6) == 0;
    t->redirects = (cb_redirects){.curl = t->curl, .farthest = CB_ADDRESS_ANY};
    if (!c->follows) return curl_easy_setopt(t->curl, CURLOPT_FOLLOWLOCATION, 0L) == 0;
    return cb_redirects_follow(&t->redirects, t->curl, c->url.data,
                               tls ? c->way.proxy : c->way.plain_proxy, c->limit);
}

/* Returns the milliseconds of silence after which an attempt fails. */
static int64_t stall_of(const cb_http_call *c) { return c->stall_ms ? c->stall_ms : 30000; }

static bool set_limits(CURL *curl, const cb_http_call *c)
{
    const long connect = c->connect_ms ? (long)c->connect_ms : 10000;
    return curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, connect) == 0 &&
           curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == 0 &&
           cb_curl_set_way(curl, &c->way, c->url.data);
}

static bool set_up(transfer *t, cb_http_call *c)
{
    CURL *curl = t->curl;
    curl_easy_reset(curl);
    t->call = c;
    t->why[0] = 0;
    t->turn = (cb_turn){.began = cb_clock_ns()};
    /* libcurl refuses this if the handle still has the buffer of a failed transfer, and then reuses that buffer. */
    (void)curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, (long)BUFFER);
    t->received = 0;
    cb_pace_begin(&t->pace, t->turn.began, LONGEST_GAP);
    return curl_easy_setopt(curl, CURLOPT_URL, c->url.data) == 0 &&
           curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L) == 0 &&
           curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == 0 &&
           curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == 0 &&
           curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L) == 0 &&
           curl_easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_S) == 0 &&
           curl_easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_S) == 0 &&
           curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, t->why) == 0 &&
           curl_easy_setopt(curl, CURLOPT_PRIVATE, t) == 0 &&
           curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header) == 0 &&
           curl_easy_setopt(curl, CURLOPT_HEADERDATA, t) == 0 &&
           curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body) == 0 &&
           curl_easy_setopt(curl, CURLOPT_WRITEDATA, t) == 0 && set_limits(curl, c) &&
           set_redirects(t, c) && set_body(t, c) && set_headers(t, c);
}

/* Ends a call in the statistics of its throttle. Returns the nanoseconds for which the service has refused all calls. */
static int64_t leave_throttle(cb_http *h, cb_http_call *c, cb_throttled how)
{
    const int64_t entered = c->entered;
    c->entered = 0;
    return entered ? cb_throttle_leave(c->throttle, entered, how, next_random(h), cb_clock_ns())
                   : 0;
}

/* Ends a call: calls the function `done` of its owner. */
static void give_back(cb_http *h, cb_http_call *c)
{
    (void)leave_throttle(h, c, CB_THROTTLED_NOT);
    atomic_fetch_sub(&h->calls, 1);
    c->fns->done(c);
}

static void finish(cb_http *h, cb_http_call *c, cubed_status st)
{
    c->status = st;
    give_back(h, c);
}

static void give_back_cancelled(cb_http *h, cb_http_call *c)
{
    finish(h, c, cb_fail(&c->error, CUBED_E_CANCELLED, "a request was cancelled"));
}

static cb_http_ready make_ready(cb_http_call *c)
{
    c->url.size = c->headers.size = c->before.size = c->behind.size = 0;
    return c->fns->prepare(c);
}

/* Starts a transfer of a prepared call. Returns NULL if out of memory. */
static transfer *begin_transfer(cb_http *h, cb_http_call *c)
{
    const bool failed = c->url.failed || c->headers.failed || c->before.failed || c->behind.failed;
    transfer *t = failed ? NULL : get_transfer(h);
    if (t && set_up(t, c) && curl_multi_add_handle(h->multi, t->curl) == CURLM_OK) return t;
    if (t) release(h, t);
    return NULL;
}

static void start(cb_http *h, cb_http_call *c)
{
    if (atomic_load(&c->cancelled)) {
        give_back_cancelled(h, c);
        return;
    }
    if (c->throttle) {
        const int64_t now = cb_clock_ns();
        if (!cb_throttle_enter(c->throttle, now)) {
            append(&h->held, c);
            return;
        }
        c->entered = now;
    }
    c->error = (cubed_error)CUBED_ERROR_INIT;
    const cb_http_ready ready = make_ready(c);
    if (ready == CB_HTTP_WAIT) {
        (void)leave_throttle(h, c, CB_THROTTLED_NOT);
        append(&h->waiting, c);
        return;
    }
    if (ready == CB_HTTP_NO) {
        finish(h, c, c->status);
        return;
    }
    cb_http_reply_forget(c);
    c->transfer = begin_transfer(h, c);
    if (!c->transfer) {
        finish(h, c, cb_fail(&c->error, CUBED_E_NOMEM, "no memory for a request"));
        return;
    }
    c->may_hedge = h->hedge && c->npieces > 0;
    if (c->may_hedge) cb_hedge_ask(h->hedge);
    c->attempts++;
    h->active++;
}

/* Returns true if a transfer is available for a second request. There are `most` transfers for first requests, plus a fixed
 * number for second requests. */
static bool may_send_second(const cb_http *h)
{
    return h->used - h->active < h->transfers - h->most;
}

/* Sends a second request for each call whose reply is later than usual. Returns the milliseconds until the next one is due, at
 * most `wait`. A second request has no separate memory: it writes to the buffers of the first request. */
static int hedge(cb_http *h, int wait)
{
    const int64_t now = cb_clock_ns(), after = h->hedge ? cb_hedge_after(h->hedge) : 0;
    for (unsigned i = 0; after && i < h->nall && may_send_second(h); i++) {
        transfer *t = h->all[i];
        cb_http_call *c = t->call;
        if (!c || !c->may_hedge || c->second || c->transfer != t) continue;
        const int64_t left = (t->turn.heard ? t->turn.heard : t->turn.began) + after - now;
        if (left > 0) {
            if (left / MS < wait) wait = (int)(left / MS) + 1;
            continue;
        }
        c->may_hedge = false; /* a second request is sent at most once per attempt */
        if (atomic_load(&c->cancelled) || !cb_hedge_spend(h->hedge)) continue;
        if (make_ready(c) == CB_HTTP_GO) c->second = begin_transfer(h, c);
    }
    return wait;
}

/* --- Results ------------------------------------------------------------------------------------------ */

static void set_passing(cb_http_call *c, uint32_t after_ms)
{
    c->error.transient = true;
    c->error.retry_after_ms = after_ms;
}

/* Returns the nanoseconds that the server asks to wait, at most a day. Returns 0 if the server does not ask. */
static int64_t retry_after(const cb_http_call *c)
{
    const char *text = c->code ? cb_http_header(c, "retry-after") : NULL;
    const char *end;
    uint64_t seconds = 0;
    if (!text) return 0;
    if (*text >= '0' && *text <= '9') {
        const bool fits = cb_http_number(text, &end, &seconds) && seconds < (uint64_t)DAY;
        return (fits ? (int64_t)seconds : DAY) * 1000 * MS;
    }
    const time_t at = curl_getdate(text, NULL);
    const int64_t now = cb_http_date(c, "date"),
                  wait = at < 0 ? 0 : (int64_t)at - (now ? now : time(NULL));
    return wait <= 0 ? 0 : (wait < DAY ? wait : DAY) * 1000 * MS;
}

/* Queues the n-th retry of a call after a random pause, which is at least the pause that the server requests. */
static void delay(cb_http *h, cb_http_call *c, int n, int64_t asked)
{
    int64_t longest = FIRST_DELAY << (n < 8 ? n - 1 : 8);
    if (longest > LONGEST) longest = LONGEST;
    const int64_t wait = (int64_t)(next_random(h) % (uint64_t)longest);
    (void)leave_throttle(h, c, CB_THROTTLED_NOT);
    c->not_before = cb_clock_ns() + (wait > asked ? wait : asked);
    append(&h->delayed, c);
}

/* Schedules a retry unless the limits are reached; otherwise fails the call with its `error`. */
static void try_later(cb_http *h, cb_http_call *c, int attempts, int price)
{
    const int64_t asked = retry_after(c);
    if (asked > LONGEST_ASKED) {
        cb_note(&c->error,
                " (the server asks for a pause of %" PRId64 " s, expected at most %" PRId64 ")",
                asked / (1000 * MS), LONGEST_ASKED / (1000 * MS));
        finish(h, c, CUBED_E_IO);
        return;
    }
    if (c->attempts >= attempts || h->tokens < price || asked > LONGEST) {
        set_passing(c, (uint32_t)(asked / MS));
        if (c->attempts > 1) cb_note(&c->error, " (tried %d times)", c->attempts);
        finish(h, c, CUBED_E_IO);
        return;
    }
    h->tokens -= price;
    delay(h, c, c->attempts, asked);
}

/* Retries a call that the service refused because of the rate of calls, when the throttle allows it. The retry does not count as
 * an attempt. */
static void wait_for_throttle(cb_http *h, cb_http_call *c)
{
    const int64_t refused = leave_throttle(h, c, CB_THROTTLED_REFUSED), asked = retry_after(c);
    if (asked > LONGEST) {
        try_later(h, c, MOST_ATTEMPTS, PRICE);
        return;
    }
    if (refused <= (c->refused_ms ? c->refused_ms * MS : LONGEST_REFUSED)) {
        c->attempts--;
        delay(h, c, ++c->refusals, asked);
        return;
    }
    set_passing(c, (uint32_t)(asked / MS));
    cb_note(&c->error,
            " (every request was refused for %.3g s; storage option throttle_timeout allows more)",
            (double)refused / (double)(1000 * MS));
    finish(h, c, CUBED_E_IO);
}

static void judge(cb_http *h, cb_http_call *c)
{
    switch (c->fns->judge(c)) {
    case CB_HTTP_DONE:
        if (h->tokens < TOKENS && c->status == CUBED_OK) h->tokens++;
        (void)leave_throttle(h, c, c->status == CUBED_OK ? CB_THROTTLED_DONE : CB_THROTTLED_NOT);
        give_back(h, c);
        break;
    case CB_HTTP_AGAIN:
        (void)leave_throttle(h, c, CB_THROTTLED_NOT);
        if (c->attempts < 2 * MOST_ATTEMPTS)
            append(&h->queued, c);
        else
            finish(h, c, CUBED_E_IO);
        break;
    case CB_HTTP_THROTTLED:
        if (c->throttle)
            wait_for_throttle(h, c);
        else
            try_later(h, c, MOST_ATTEMPTS, PRICE);
        break;
    case CB_HTTP_LATER: try_later(h, c, MOST_ATTEMPTS, PRICE); break;
    }
}

static void fail_to_transfer(cb_http *h, cb_http_call *c, CURLcode code, const char *why)
{
    int attempts = MOST_ATTEMPTS, price = PRICE;
    if (!*why) why = curl_easy_strerror(code);
    (void)cb_fail(&c->error, CUBED_E_IO, "%s", why);
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT: attempts = MOST_CONNECTS; break;
    case CURLE_OPERATION_TIMEDOUT:
        attempts = MOST_SLOW;
        price = PRICE_OF_TIMEOUT;
        break;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: break;
    case CURLE_UNSUPPORTED_PROTOCOL:
        cb_note(&c->error, ": expected a redirect to http or https, and from https only to https");
        finish(h, c, CUBED_E_IO);
        return;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        cb_note(&c->error, ": the server's certificate is not believed; one of your own is given "
                           "in AWS_CA_BUNDLE or SSL_CERT_FILE");
        finish(h, c, CUBED_E_IO);
        return;
    case CURLE_OUT_OF_MEMORY:
        cb_note(&c->error, ": a header line of more than 100 kB, or no memory for a request");
        finish(h, c, CUBED_E_IO);
        return;
    default: finish(h, c, CUBED_E_IO); return;
    }
    if (code == CURLE_SSL_CONNECT_ERROR && c->attempts >= attempts)
        cb_note(&c->error, ": does the address begin with http://, not https://?");
    try_later(h, c, attempts, price);
}

static void stop_short(cb_http *h, cb_http_call *c)
{
    const cubed_status st = cb_http_reply_end(c);
    if (st == CUBED_OK)
        judge(h, c);
    else
        finish(h, c, st);
}

static void drop_transfer(cb_http *h, transfer *t)
{
    curl_multi_remove_handle(h->multi, t->curl);
    release(h, t);
}

/* Removes transfers that were detached from their calls. */
static void drop_lost(cb_http *h)
{
    for (unsigned i = 0; i < h->nall; i++) {
        if (h->all[i]->lost) drop_transfer(h, h->all[i]);
    }
}

/* If a call has two transfers and one fails, continues with the other. Returns false if there is only one. */
static bool leave_to_other(cb_http *h, transfer *t)
{
    cb_http_call *c = t->call;
    if (!c->second) return false;
    if (c->transfer == t) {
        c->transfer = c->second;
        cb_http_reply_forget(c);
    }
    c->second = NULL;
    drop_transfer(h, t);
    return true;
}

static void end_transfer(cb_http *h, transfer *t, CURLcode code)
{
    cb_http_call *c = t->call;
    char why[CB_REDIRECT_REFUSAL] = "";
    long status = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    const int64_t length = length_of(t);
    const bool refused = *t->redirects.refused;
    snprintf(why, sizeof why, "%s", refused ? t->redirects.refused : t->why);
    c->farthest = t->redirects.farthest;
    if (c->second) drop_transfer(h, c->second);
    c->transfer = c->second = NULL;
    h->active--;
    drop_transfer(h, t);
    if (atomic_load(&c->cancelled)) {
        give_back_cancelled(h, c);
    } else if (c->stop) {
        stop_short(h, c);
    } else if (refused) {
        finish(h, c, cb_fail(&c->error, CUBED_E_IO, "%s", why));
    } else if (code != CURLE_OK) {
        c->code = 0;
        fail_to_transfer(h, c, code, why);
    } else {
        /* for a range at the end of an empty object, the reply has no body */
        if (c->code == 0 && (status == 200 || status == 206) && c->npieces && !c->whole &&
            c->pieces->offset == CUBED_RANGE_SUFFIX)
            c->pieces->offset = c->pieces->size = 0;
        if (c->code == 0 && status == 200 && c->npieces) c->total = 0;
        c->code = (int)status;
        c->length = length;
        judge(h, c);
    }
}

/* Counts bytes of an upload both when libcurl reads them and when it sends them, because either shows progress. */
static uint64_t moved_by(const transfer *t)
{
    curl_off_t sent = 0;
    curl_easy_getinfo(t->curl, CURLINFO_SIZE_UPLOAD_T, &sent);
    return t->received + t->call->sent + (uint64_t)sent;
}

/* Returns true if a transfer must end because it is silent or too slow. Writes the reason to t->why. */
static bool is_lost(transfer *t)
{
    cb_http_call *c = t->call;
    const cb_pace *p = &t->pace;
    const int64_t stall = stall_of(c);
    const int64_t grace = stall * (c->patient ? CB_PACE_LONG_GRACE : CB_PACE_GRACE);
    if (p->silence > stall * MS) {
        snprintf(t->why, sizeof t->why,
                 "the server has been silent for %.3g s (storage option read_timeout allows more)",
                 (double)stall / 1000);
        return true;
    }
    if (!cb_pace_is_lost(p, grace * MS)) return false;
    snprintf(
        t->why, sizeof t->why,
        "the server is too slow: %" PRIu64 " bytes in %" PRId64
        " s, expected %d bytes a second after %.3g s (storage option read_timeout allows more)",
        p->moved, p->elapsed / (1000 * MS), CB_PACE_BYTES, (double)grace / 1000);
    return true;
}

/* Ends transfers that are silent or below the minimum speed. */
static void drop_slow(cb_http *h)
{
    const int64_t now = cb_clock_ns();
    if (now - h->looked < LOOK_NS) return;
    h->looked = now;
    for (unsigned i = 0; i < h->nall; i++) {
        transfer *t = h->all[i];
        if (!t->call) continue;
        cb_pace_note(&t->pace, now, moved_by(t), h->active);
        if (is_lost(t) && !leave_to_other(h, t)) end_transfer(h, t, CURLE_OPERATION_TIMEDOUT);
    }
}

/* --- The thread --------------------------------------------------------------------------------------- */

static void drop_cancelled_of(cb_http *h, call_list *l)
{
    call_list all = take_all(l);
    for (cb_http_call *c; (c = take_first(&all));) {
        if (atomic_load(&c->cancelled))
            give_back_cancelled(h, c);
        else
            append(l, c);
    }
}

static void drop_cancelled(cb_http *h)
{
    drop_cancelled_of(h, &h->queued);
    drop_cancelled_of(h, &h->delayed);
    drop_cancelled_of(h, &h->waiting);
    drop_cancelled_of(h, &h->held);
    for (unsigned i = 0; i < h->nall; i++) {
        cb_http_call *c = h->all[i]->call;
        if (c && c->transfer == h->all[i] && atomic_load(&c->cancelled))
            end_transfer(h, h->all[i], CURLE_OK);
    }
}

static void take_what_came(cb_http *h)
{
    cb_mutex_lock(&h->lock);
    call_list came = take_all(&h->came);
    cb_mutex_unlock(&h->lock);
    for (cb_http_call *c; (c = take_first(&came));) append(&h->queued, c);
    if (atomic_exchange(&h->woken, false)) {
        call_list waiting = take_all(&h->waiting);
        for (cb_http_call *c; (c = take_first(&waiting));) append(&h->queued, c);
    }
    if (atomic_exchange(&h->cancelling, false)) drop_cancelled(h);
}

/* Queues held calls before all other calls, so that they keep their order. */
static void queue_held(cb_http *h)
{
    if (!h->held.first) return;
    h->held.last->next = h->queued.first;
    if (!h->queued.first) h->queued.last = h->held.last;
    h->queued.first = h->held.first;
    h->held = (call_list){NULL, NULL};
}

/* Queues delayed calls that are due. Returns the milliseconds until the next one. */
static int take_delayed(cb_http *h)
{
    const int64_t now = cb_clock_ns();
    int64_t first = now + 1000 * MS;
    call_list delayed = take_all(&h->delayed);
    for (cb_http_call *c; (c = take_first(&delayed));) {
        if (c->not_before <= now) {
            append(&h->queued, c);
            continue;
        }
        if (c->not_before < first) first = c->not_before;
        append(&h->delayed, c);
    }
    return (int)((first - now) / MS) + 1;
}

static void read_messages(cb_http *h)
{
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(h->multi, &left));) {
        transfer *t = NULL;
        if (m->msg != CURLMSG_DONE) continue;
        const CURLcode code = m->data.result;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        /* Each branch removes the handle of the transfer. libcurl then drops further messages about the handle. */
        if (t->lost)
            drop_transfer(h, t);
        else if (code == CURLE_OK || !leave_to_other(h, t))
            end_transfer(h, t, code);
    }
}

static void run(void *ctx, unsigned index)
{
    cb_http *h = ctx;
    (void)index;
    pthread_setname_np(pthread_self(), "cubed-http");
    while (!atomic_load(&h->stopping)) {
        take_what_came(h);
        queue_held(h);
        while (h->active < h->most && h->queued.first) start(h, take_first(&h->queued));
        const bool served = cb_sockets_serve(h->sockets);
        read_messages(h);
        drop_slow(h);
        drop_lost(h);
        int wait = hedge(h, take_delayed(h));
        if (h->active && wait > LOOK_NS / MS) wait = (int)(LOOK_NS / MS);
        if (h->held.first && wait > HELD_LOOK / MS) wait = (int)(HELD_LOOK / MS);
        if (served || (h->queued.first && h->active < h->most)) continue;
        curl_multi_poll(h->multi, NULL, 0, wait, NULL);
    }
}

/* --- Creating and freeing ----------------------------------------------------------------------------- */

cubed_status cb_http_new(const cubed_allocator *a, unsigned most, cb_hedge *hedge, cb_http **out,
                         cubed_error *err)
{
    CB_TRY(cb_curl_load(err));
    /* Reference-counted and thread-safe in libcurl. */
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return cb_fail(err, CUBED_E_NOMEM, "libcurl cannot be initialised");
    cb_http *h = cb_alloc_zero(a, sizeof *h);
    cubed_status st = CUBED_OK;
    if (!h) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for connections"));
    h->alloc = a;
    h->most = most;
    h->hedge = hedge;
    h->transfers = most + (hedge ? most / CB_HEDGE_EVERY + 1 : 0);
    h->all = cb_alloc_zero(a, h->transfers * sizeof *h->all);
    if (!h->all) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for connections"));
    h->pid = getpid();
    h->tokens = TOKENS;
    if (getrandom(&h->random, sizeof h->random, 0) != (ssize_t)sizeof h->random || !h->random)
        h->random = (uint64_t)cb_clock_ns() | 1;
    h->multi = curl_multi_init();
    if (!h->multi || curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, (long)h->transfers) != 0) {
        if (h->multi) curl_multi_cleanup(h->multi);
        CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for connections"));
    }
    cb_mutex_init(&h->lock);
    st = cb_sockets_new(a, h->multi, h->transfers, &h->sockets, err);
    if (st == CUBED_OK) st = cb_pool_start(a, 1, run, NULL, h, &h->thread, err);
    if (st != CUBED_OK) {
        curl_multi_cleanup(h->multi);
        cb_sockets_free(h->sockets);
        cb_mutex_destroy(&h->lock);
        goto out;
    }
    *out = h;
    return CUBED_OK;
out:
    if (h) cb_free(a, h->all, h->transfers * sizeof *h->all);
    cb_free(a, h, sizeof *h);
    curl_global_cleanup();
    return st;
}

void cb_http_free(cb_http *h)
{
    /* A forked child has no thread to join, and the connections belong to the parent. */
    if (!h || !cb_http_is_here(h)) return;
    atomic_store(&h->stopping, true);
    curl_multi_wakeup(h->multi);
    cb_pool_join(h->thread);
    for (unsigned i = 0; i < h->nall; i++) {
        curl_easy_cleanup(h->all[i]->curl);
        cb_free(h->alloc, h->all[i], sizeof *h->all[i]);
    }
    curl_multi_cleanup(h->multi);
    cb_sockets_free(h->sockets);
    cb_mutex_destroy(&h->lock);
    cb_free(h->alloc, h->all, h->transfers * sizeof *h->all);
    cb_free(h->alloc, h, sizeof *h);
    curl_global_cleanup();
}

bool cb_http_is_here(const cb_http *h) { return h->pid == getpid(); }

unsigned cb_http_calls(const cb_http *h) { return atomic_load(&h->calls); }

void cb_http_submit(cb_http *h, cb_http_call *c)
{
    atomic_fetch_add(&h->calls, 1);
    cb_mutex_lock(&h->lock);
    append(&h->came, c);
    cb_mutex_unlock(&h->lock);
    curl_multi_wakeup(h->multi);
}

void cb_http_look_at_cancelled(cb_http *h)
{
    atomic_store(&h->cancelling, true);
    curl_multi_wakeup(h->multi);
}

void cb_http_wake(cb_http *h)
{
    atomic_store(&h->woken, true);
    curl_multi_wakeup(h->multi);
}
