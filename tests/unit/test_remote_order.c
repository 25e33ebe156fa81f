/* The order of transfers if more data arrives than can be read: the oldest request first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "http_whole.h"
#include "store/http/net.h"

enum { CALLS = 8, BODY = 16 << 20, ATTEMPTS = 20 };

static char body[BODY];

/* --- A server ----------------------------------------------------------------------------------------- */

static void *serve(void *arg)
{
    static const char head[] = "HTTP/1.1 200 OK\r\ncontent-length: 16777216\r\n\r\n";
    const int fd = *(int *)arg;
    char text[4096];
    free(arg);
    while (read(fd, text, sizeof text) > 0) { /* the request is short, so one read is enough */
        if (write(fd, head, sizeof head - 1) != (ssize_t)sizeof head - 1) break;
        ssize_t k = 0;
        for (size_t sent = 0; sent < BODY && k >= 0; sent += (size_t)k)
            k = write(fd, body + sent, BODY - sent);
    }
    close(fd);
    return NULL;
}

static void *accept_all(void *arg)
{
    const int *listening = arg;
    for (int fd; (fd = accept(*listening, NULL, NULL)) >= 0;) {
        pthread_t thread;
        int *copy = malloc(sizeof *copy);
        if (!copy) abort();
        *copy = fd;
        if (pthread_create(&thread, NULL, serve, copy) == 0) pthread_detach(thread);
    }
    return NULL;
}

/* --- Calls -------------------------------------------------------------------------------------------- */

typedef struct world {
    char url[64];
    cb_net net;
    atomic_int left;
    size_t others; /* bytes of all other transfers when the first one is complete */
} world;

typedef struct request {
    whole_call call; /* the first */
    world *w;
} request;

static request requests[CALLS];

static void done(cb_http_call *c)
{
    const request *r = (request *)c;
    if (atomic_load(&r->w->left) == CALLS) {
        for (int i = 0; i < CALLS; i++) {
            if (&requests[i] != r) r->w->others += requests[i].call.piece.got;
        }
    }
    atomic_fetch_sub(&r->w->left, c->status == CUBED_OK ? 1 : 1000);
}

static const cb_http_functions functions = {whole_prepare, whole_judge, done};

/* Starts all transfers at once with one client. */
static void get_all(world *w, cb_http *client)
{
    static char *room;
    if (!room) room = malloc((size_t)CALLS * BODY);
    assert_non_null(room);
    atomic_store(&w->left, CALLS);
    w->others = 0;
    for (int i = 0; i < CALLS; i++) {
        requests[i].w = w;
        whole_init(&requests[i].call, &functions, w->url,
                   (cb_http_piece){.size = BODY, .dst = room + (size_t)i * BODY},
                   &cb_system_allocator);
    }
    for (int i = 0; i < CALLS; i++) cb_http_submit(client, &requests[i].call.http);
    while (atomic_load(&w->left) > 0) usleep(1000);
    assert_int_equal(atomic_load(&w->left), 0);
    for (int i = 0; i < CALLS; i++) {
        assert_memory_equal(requests[i].call.piece.dst, body, BODY);
        cb_http_call_free(&requests[i].call.http);
    }
}

/* If transfers took turns, the others would have nearly all of their bytes when the first is complete. A server that is slower
 * than the client, as on a busy machine, leaves no choice: then the test tries again. */
static void test_the_oldest_first(void **state)
{
    world *w = *state;
    cb_http *client;
    int i = 0;
    assert_int_equal(cb_net_http(&w->net, &client, NULL), CUBED_OK);
    for (; i < ATTEMPTS; i++) {
        get_all(w, client);
        if (w->others < (size_t)(CALLS - 1) * BODY / 2) break;
    }
    assert_true(i < ATTEMPTS);
}

static const cb_http *second_client(world *w)
{
    cb_mutex_lock(&w->net.lock);
    const cb_http *second = w->net.http[1];
    cb_mutex_unlock(&w->net.lock);
    return second;
}

/* A context has one client until this client has several calls. Then it has two. */
static void test_clients(void **state)
{
    world *w = *state;
    cb_http *first, *next;
    assert_int_equal(cb_net_http(&w->net, &first, NULL), CUBED_OK);
    assert_int_equal(cb_net_http(&w->net, &next, NULL), CUBED_OK);
    assert_ptr_equal(first, next);
    assert_null(second_client(w));
    assert_true((int)CALLS >= (int)CB_NET_FEW_CALLS);
    w->others = 0;
    atomic_store(&w->left, CALLS);
    for (int i = 0; i < CALLS; i++) {
        requests[i].w = w;
        whole_init(&requests[i].call, &functions, w->url, (cb_http_piece){.dst = NULL},
                   &cb_system_allocator);
        requests[i].call.http.most_text = BODY;
        cb_http_submit(first, &requests[i].call.http);
    }
    /* Both clients have calls now. */
    assert_int_equal(cb_net_http(&w->net, &next, NULL), CUBED_OK);
    assert_ptr_not_equal(first, next);
    assert_ptr_equal(next, second_client(w));
    while (atomic_load(&w->left) > 0) usleep(1000);
    assert_int_equal(atomic_load(&w->left), 0);
    for (int i = 0; i < CALLS; i++) cb_http_call_free(&requests[i].call.http);
}

int main(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    world w = {.others = 0};
    pthread_t thread;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    for (size_t i = 0; i < BODY; i++) body[i] = (char)(i * i >> 8 & 0x7f);
    if (bind(fd, (struct sockaddr *)&at, size) != 0 || listen(fd, 64) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) != 0 ||
        pthread_create(&thread, NULL, accept_all, &fd) != 0)
        return 1;
    cb_net_init(&w.net, &cb_system_allocator);
    snprintf(w.url, sizeof w.url, "http://127.0.0.1:%d/x", ntohs(at.sin_port));
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_clients, &w),
                                       cmocka_unit_test_prestate(test_the_oldest_first, &w)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cb_net_free(&w.net);
    shutdown(fd, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(fd);
    return failed;
}
