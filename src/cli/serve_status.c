/* The HTTP server of `cubed status --serve`: one page, its script and its status, for browsers on this machine. */
#define _GNU_SOURCE
#include "status_file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* MOST_REQUEST: maximum size of a request in bytes, larger than requests of browsers. TURN_MS: time for a client to send its
 * request, and again to receive the reply. */
enum { MOST_REQUEST = 16 << 10, TURN_MS = 2000, POLL_MS = 200, WAITING = 16 };
#define MS_NS ((int64_t)1000000)

typedef struct server {
    int listener;
    uint16_t port;
    cli_status_fn get;
    void *ctx;
} server;

/* Waits for an event of a client until `end_ns`. */
static bool is_ready(int fd, short events, int64_t end_ns)
{
    struct pollfd p = {.fd = fd, .events = events};
    const int64_t left_ms = (end_ns - cli_clock_ns()) / MS_NS;
    return left_ms > 0 && poll(&p, 1, (int)left_ms) == 1;
}

/* Reads a request up to the empty line. Returns false if the client sends no request in time, or a request that is too long. */
static bool receive(int fd, char request[MOST_REQUEST])
{
    const int64_t end_ns = cli_clock_ns() + TURN_MS * MS_NS;
    size_t n = 0;
    while (n < MOST_REQUEST - 1 && is_ready(fd, POLLIN, end_ns)) {
        const ssize_t more = recv(fd, request + n, MOST_REQUEST - 1 - n, MSG_DONTWAIT);
        if (more <= 0) return false;
        n += (size_t)more;
        request[n] = 0;
        if (strlen(request) != n) return false;
        if (strstr(request, "\r\n\r\n")) return true;
    }
    return false;
}

static void send_all(int fd, const char *bytes, size_t n)
{
    const int64_t end_ns = cli_clock_ns() + TURN_MS * MS_NS;
    while (n > 0 && is_ready(fd, POLLOUT, end_ns)) {
        const ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0) return;
        bytes += sent;
        n -= (size_t)sent;
    }
}

static void reply(int fd, const char *code, const char *type, const char *body, size_t n,
                  bool has_body)
{
    char *head = cli_printf(
        "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src "
        "'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n"
        "Connection: close\r\n\r\n",
        code, type, n);
    send_all(fd, head, strlen(head));
    if (has_body) send_all(fd, body, n);
    cli_free(head);
}

static void reply_text(int fd, const char *code, const char *text)
{
    reply(fd, code, "text/plain", text, strlen(text), true);
}

/* Returns true if the only Host header names this server. In an attack by DNS rebinding, the host name of the attacker's page
 * resolves to this machine, and the header has that name. */
static bool names_this_server(const char *request, uint16_t port)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    static const char header[] = "\r\nHost:";
    int found = 0, right = 0;
    for (const char *line = strcasestr(request, header); line; line = strcasestr(line, header)) {
        line += sizeof header - 1;
        line += strspn(line, " \t");
        const size_t n = strcspn(line, "\r");
        found++;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            char *name = cli_printf("%s:%u", names[i], port);
            right += strlen(name) == n && strncasecmp(line, name, n) == 0;
            cli_free(name);
        }
    }
    return found == 1 && right == 1;
}

static void send_status(const server *s, int fd, bool has_body)
{
    char *why = NULL;
    json_t *status = s->get(s->ctx, &why);
    if (!status) {
        char *shown = cli_visible(why, true);
        reply_text(fd, "503 Service Unavailable", shown);
        cli_free(shown);
        cli_free(why);
        return;
    }
    char *text = json_dumps(status, JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(status);
    if (text)
        reply(fd, "200 OK", "application/json", text, strlen(text), has_body);
    else
        reply_text(fd, "500 Internal Server Error", "the status has invalid strings\n");
    cli_free(text);
}

static void send_made(int fd, void (*make)(FILE *f), const char *type, bool has_body)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f) return;
    make(f);
    if (fclose(f) == 0) reply(fd, "200 OK", type, text, n, has_body);
    cli_free(text);
}

static void answer(const server *s, int fd)
{
    char request[MOST_REQUEST];
    if (!receive(fd, request)) return;
    const bool get = strncmp(request, "GET ", 4) == 0, head = strncmp(request, "HEAD ", 5) == 0;
    if (!names_this_server(request, s->port)) {
        reply_text(fd, "421 Misdirected Request", "the Host header names another server\n");
        return;
    }
    if (!get && !head) {
        reply_text(fd, "405 Method Not Allowed", "expected GET or HEAD\n");
        return;
    }
    const char *path = request + (get ? 4 : 5);
    if (strncmp(path, "/ ", 2) == 0)
        send_made(fd, report_put_live_page, "text/html", get);
    else if (strncmp(path, "/status.js ", 11) == 0)
        send_made(fd, report_put_live_script, "text/javascript", get);
    else if (strncmp(path, "/status.json ", 13) == 0)
        send_status(s, fd, get);
    else
        reply_text(fd, "404 Not Found", "expected /, /status.js or /status.json\n");
}

static int listen_here(server *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(s->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int on = 1;
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listener < 0) return errno;
    (void)setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(s->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(s->listener, WAITING) != 0 ||
        getsockname(s->listener, (struct sockaddr *)&address, &size) != 0)
        return errno;
    s->port = ntohs(address.sin_port);
    return 0;
}

int cli_status_serve(const char *verb, uint16_t port, cli_status_fn get, void *ctx)
{
    server s = {.listener = -1, .port = port, .get = get, .ctx = ctx};
    const int failed = listen_here(&s);
    if (failed) {
        cli_say(stderr,
                "cubed %s: cannot listen on 127.0.0.1:%u: %s; choose another port for --serve\n",
                verb, port, strerror(failed));
    } else {
        cli_catch_signals();
        printf("http://127.0.0.1:%u/\n", s.port);
        (void)fflush(stdout);
    }
    while (!failed && !cubed_cancel_is_set(&cli_cancel)) {
        struct pollfd p = {.fd = s.listener, .events = POLLIN};
        if (poll(&p, 1, POLL_MS) != 1) continue;
        const int fd = accept4(s.listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) continue;
        answer(&s, fd);
        close(fd);
    }
    if (s.listener >= 0) close(s.listener);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
