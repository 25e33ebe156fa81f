/* A host name that resolves to a nearer address after a document was read from it (DNS rebinding). This program replaces
 * getaddrinfo, connect and getpeername: the name has a public address, at which the test's server answers, and an address of
 * this machine. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "files_test.h"
#include "object_server.h"

#define NAME   "rebinding.example"
#define PUBLIC 0xcb007107u /* 203.0.113.7 */

/* Exported, so that libcurl finds it before the C library's function. */
#define EXPORTED __attribute__((visibility("default")))

enum { MOST_FDS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* true: the name resolves to this machine, and the public address refuses connections */
static bool rebound;
static int public_fds[MOST_FDS]; /* descriptors of connections to the public address */
static int npublic;

static void *next_of(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    if (!next) abort();
    return next;
}

static bool is_public(int fd)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < npublic; i++) found = found || public_fds[i] == fd;
    pthread_mutex_unlock(&lock);
    return found;
}

EXPORTED int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                         struct addrinfo **out)
{
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    *(void **)&next = next_of("getaddrinfo");
    if (!node || strcmp(node, NAME) != 0) return next(node, service, hints, out);
    struct addrinfo four = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *near = NULL;
    if (next("203.0.113.7", service, &four, out) != 0 || next("127.0.0.1", service, &four, &near))
        abort();
    (*out)->ai_next = near;
    return 0;
}

EXPORTED int connect(int fd, const struct sockaddr *address, socklen_t size)
{
    int (*next)(int, const struct sockaddr *, socklen_t);
    struct sockaddr_in four;
    *(void **)&next = next_of("connect");
    memcpy(&four, address, size < sizeof four ? size : sizeof four);
    if (address->sa_family != AF_INET || four.sin_addr.s_addr != htonl(PUBLIC)) {
        pthread_mutex_lock(&lock);
        for (int i = 0; i < npublic; i++) {
            if (public_fds[i] == fd) public_fds[i] = -1;
        }
        pthread_mutex_unlock(&lock);
        return next(fd, address, size);
    }
    pthread_mutex_lock(&lock);
    const bool refuses = rebound || npublic == MOST_FDS;
    if (!refuses) public_fds[npublic++] = fd;
    pthread_mutex_unlock(&lock);
    if (refuses) {
        errno = ECONNREFUSED;
        return -1;
    }
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return next(fd, (const struct sockaddr *)&four, sizeof four);
}

EXPORTED int getpeername(int fd, struct sockaddr *address, socklen_t *size)
{
    int (*next)(int, struct sockaddr *, socklen_t *);
    *(void **)&next = next_of("getpeername");
    const int failed = next(fd, address, size);
    if (!failed && address->sa_family == AF_INET && is_public(fd)) {
        struct sockaddr_in four;
        memcpy(&four, address, sizeof four);
        four.sin_addr.s_addr = htonl(PUBLIC);
        memcpy(address, &four, sizeof four);
    }
    return failed;
}

/* If `now`, the name resolves only to this machine from this call on. */
static void rebind(bool now)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < npublic && now; i++) {
        if (public_fds[i] >= 0) shutdown(public_fds[i], SHUT_RDWR);
    }
    npublic = 0;
    rebound = now;
    pthread_mutex_unlock(&lock);
}

typedef struct world {
    cb_stores stores;
    object_server *server;
    char url[128], host[64];
} world;

static int setup(void **state)
{
    world *w = calloc(1, sizeof *w);
    if (!w) return -1;
    cb_stores_init(&w->stores, &cb_system_allocator);
    w->stores.open_file = cb_file_open_allowed;
    w->server = object_server_new();
    snprintf(w->host, sizeof w->host, "http://" NAME ":%d", object_server_port(w->server));
    snprintf(w->url, sizeof w->url, "%s/refs.json", w->host);
    static const char document[] =
        "{\"version\": 1, \"refs\": {\".zgroup\": \"{}\", \"x/0\": [\"a.bin\", 0, 4]}}";
    object_server_put(w->server, "refs.json", document, strlen(document));
    object_server_put(w->server, "a.bin", "abcdefgh", 8);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    world *w = *state;
    rebind(false);
    cb_stores_free(&w->stores);
    object_server_free(w->server);
    free(w);
    return 0;
}

static cubed_store *open_document(world *w, const char *allowed)
{
    cubed_store *s = NULL;
    cubed_error err = CUBED_ERROR_INIT;
    if (cb_store_open_allowed(&w->stores, w->url, allowed, false, &s, &err) != CUBED_OK)
        fail_msg("%s", err.message);
    return s;
}

static void test_references_to_the_same_address(void **state)
{
    cubed_store *s = open_document(*state, NULL);
    expect_object(s, "x/0", "abcd", 4);
    cb_store_close(s);
}

static void test_references_after_rebinding(void **state)
{
    world *w = *state;
    cubed_store *s = open_document(w, NULL);
    rebind(true);
    expect_failure(s, "x/0", CUBED_E_IO,
                   "a reference leads to " NAME ", an address of this machine, but its document "
                   "came from a public address");
    assert_int_equal(object_server_count(w->server, "a.bin"), 0);
    cb_store_close(s);
}

static void test_references_that_the_user_allowed(void **state)
{
    world *w = *state;
    cubed_store *s = open_document(w, w->host);
    rebind(true);
    expect_object(s, "x/0", "abcd", 4);
    cb_store_close(s);
}

static void test_documents_of_this_machine(void **state)
{
    world *w = *state;
    rebind(true);
    cubed_store *s = open_document(w, NULL);
    expect_object(s, "x/0", "abcd", 4);
    cb_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_references_to_the_same_address, setup, teardown),
        cmocka_unit_test_setup_teardown(test_references_after_rebinding, setup, teardown),
        cmocka_unit_test_setup_teardown(test_references_that_the_user_allowed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_documents_of_this_machine, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
