/* The server of `cubed status --serve`: replies, and requests that it refuses. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/cli.h"
#include "cli/status_file.h"

typedef struct fixture {
    pthread_t thread;
    int code, port;
    bool fails; /* there is no status */
} fixture;

static json_t *get_status(void *ctx, char **why)
{
    const fixture *f = ctx;
    if (!f->fails) return json_pack("{s:s, s:i}", "state", "running", "done", 7);
    *why = cli_strdup("the directory \x1b is gone");
    return NULL;
}

static void *serve(void *ctx)
{
    fixture *f = ctx;
    f->code = cli_status_serve("status", 0, get_status, f);
    return NULL;
}

/* Starts the server, which prints its address to the standard output. */
static int setup(void **state)
{
    static fixture f;
    char line[128] = "";
    int ends[2];
    const int out = dup(STDOUT_FILENO);
    (void)fflush(stdout);
    if (out < 0 || pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) return -1;
    if (pthread_create(&f.thread, NULL, serve, &f) != 0) return -1;
    const ssize_t n = read(ends[0], line, sizeof line - 1);
    if (dup2(out, STDOUT_FILENO) < 0) return -1;
    close(out);
    close(ends[0]);
    close(ends[1]);
    *state = &f;
    const char before[] = "http://127.0.0.1:";
    if (n <= 0 || strncmp(line, before, sizeof before - 1) != 0) return -1;
    f.port = (int)strtol(line + sizeof before - 1, NULL, 10);
    return f.port > 0 ? 0 : -1;
}

static int teardown(void **state)
{
    fixture *f = *state;
    cubed_cancel_set(&cli_cancel);
    return pthread_join(f->thread, NULL) != 0 || f->code != EXIT_SUCCESS;
}

/* Sends a request, and returns the reply up to the end of the connection; the caller frees it. */
static char *ask(const fixture *f, const char *request, size_t size)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)f->port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char *reply = calloc(1, 1 << 20);
    size_t n = 0;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    while (size > 0) {
        const ssize_t sent = send(fd, request, size, MSG_NOSIGNAL);
        if (sent <= 0) break;
        request += sent;
        size -= (size_t)sent;
    }
    (void)shutdown(fd, SHUT_WR);
    for (ssize_t more; (more = recv(fd, reply + n, (1 << 20) - 1 - n, 0)) > 0;) n += (size_t)more;
    close(fd);
    return reply;
}

/* Sends a request for a path with the server's own host. */
static char *get(const fixture *f, const char *method, const char *path, const char *host)
{
    char request[512];
    const int n =
        snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: %s:%d\r\nAccept: */*\r\n\r\n",
                 method, path, host, f->port);
    return ask(f, request, (size_t)n);
}

static void expect(char *reply, const char *code, const char *type, const char *part)
{
    char line[64];
    snprintf(line, sizeof line, "HTTP/1.1 %s\r\n", code);
    assert_non_null(strstr(reply, line));
    snprintf(line, sizeof line, "Content-Type: %s; charset=utf-8\r\n", type);
    assert_non_null(strstr(reply, line));
    const char *body = strstr(reply, "\r\n\r\n"), *length = strstr(reply, "Content-Length: ");
    assert_non_null(body);
    assert_non_null(length);
    if (part) {
        assert_int_equal(strtol(length + 16, NULL, 10), strlen(body + 4));
        assert_non_null(strstr(body, part));
    } else {
        assert_true(strtol(length + 16, NULL, 10) > 0);
        assert_string_equal(body, "\r\n\r\n"); /* the reply to HEAD has no body */
    }
    free(reply);
}

static void test_replies(void **state)
{
    fixture *f = *state;
    expect(get(f, "GET", "/", "127.0.0.1"), "200 OK", "text/html", "status.js");
    expect(get(f, "GET", "/", "LocalHost"), "200 OK", "text/html", "</html>");
    expect(get(f, "GET", "/status.js", "localhost"), "200 OK", "text/javascript", "status.json");
    expect(get(f, "GET", "/status.json", "localhost"), "200 OK", "application/json",
           "{\"state\":\"running\",\"done\":7}");
    expect(get(f, "HEAD", "/status.json", "localhost"), "200 OK", "application/json", NULL);
    expect(get(f, "HEAD", "/", "localhost"), "200 OK", "text/html", NULL);
    f->fails = true;
    expect(get(f, "GET", "/status.json", "localhost"), "503 Service Unavailable", "text/plain",
           "the directory \\x1b is gone");
    f->fails = false;
}

static void test_refusals(void **state)
{
    static const char twice[] = "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n";
    static const char none[] = "GET / HTTP/1.1\r\n\r\n";
    const fixture *f = *state;
    expect(get(f, "GET", "/status.json", "example.org"), "421 Misdirected Request", "text/plain",
           "another server");
    expect(ask(f, twice, sizeof twice - 1), "421 Misdirected Request", "text/plain", "Host");
    expect(ask(f, none, sizeof none - 1), "421 Misdirected Request", "text/plain", "Host");
    expect(get(f, "POST", "/", "localhost"), "405 Method Not Allowed", "text/plain", "GET or HEAD");
    expect(get(f, "GET", "/../etc/passwd", "localhost"), "404 Not Found", "text/plain",
           "/status.json");
}

/* Requests without an end get no reply, and the server answers the next one. */
static void test_broken_requests(void **state)
{
    static char large[20 << 10];
    static const char zero[] = "GET / HTTP/1.1\r\nHost: local\0host\r\n\r\n";
    fixture *f = *state;
    memset(large, 'a', sizeof large);
    memcpy(large, "GET / HTTP/1.1\r\nX: ", 19);
    char *reply = ask(f, "GET / HT", 8);
    assert_string_equal(reply, "");
    free(reply);
    reply = ask(f, zero, sizeof zero - 1);
    assert_string_equal(reply, "");
    free(reply);
    reply = ask(f, large, sizeof large);
    assert_string_equal(reply, "");
    free(reply);
    expect(get(f, "GET", "/status.json", "localhost"), "200 OK", "application/json", "running");
}

/* A port that another server has. */
static void test_port_in_use(void **state)
{
    const fixture *f = *state;
    assert_int_equal(cli_status_serve("status", (uint16_t)f->port, get_status, *state),
                     EXIT_FAILURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replies), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_broken_requests), cmocka_unit_test(test_port_in_use)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
