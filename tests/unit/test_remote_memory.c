/* Memory of requests to stores on other machines in addition to their buffers: libcurl, TLS and certificates, measured by
 * counting allocators, and compared with the library's declared memory. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h requires these headers first. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "http_whole.h"
#include "store/http/curl.h"
#include "store/http/net.h"

enum { BODY = 1 << 20, CERTIFICATES = 3, RSA_BITS = 2048 };

/* --- Counting ----------------------------------------------------------------------------------------- */

static atomic_long in_use, peak;
/* Allocations of the test's own server, which are not counted. */
static _Thread_local bool is_server;

/* Header of each block; its size keeps malloc's alignment. */
typedef union block {
    struct {
        size_t size;
        bool counted;
    } is;
    max_align_t align;
} block;

static void add(const block *b, long sign)
{
    if (!b->is.counted) return;
    const long now = atomic_fetch_add(&in_use, sign * (long)b->is.size) + sign * (long)b->is.size;
    for (long was = atomic_load(&peak);
         was < now && !atomic_compare_exchange_weak(&peak, &was, now);) {
    }
}

static void *take(size_t n)
{
    block *b = malloc(sizeof *b + n);
    if (!b) return NULL;
    b->is.size = sizeof *b + n;
    b->is.counted = !is_server;
    add(b, 1);
    return b + 1;
}

static void give(void *p)
{
    block *b = p ? (block *)p - 1 : NULL;
    if (!b) return;
    add(b, -1);
    free(b);
}

static void *retake(void *p, size_t n)
{
    if (!p) return take(n);
    block *b = (block *)p - 1;
    add(b, -1);
    block *more = realloc(b, sizeof *b + n);
    if (more) {
        b = more;
        b->is.size = sizeof *b + n;
    }
    add(b, 1);
    return more ? more + 1 : NULL;
}

static void *take_zero(size_t n, size_t size)
{
    void *p = take(n * size);
    if (p) memset(p, 0, n * size);
    return p;
}

static char *copy(const char *text)
{
    const size_t n = strlen(text) + 1;
    char *p = take(n);
    return p ? memcpy(p, text, n) : NULL;
}

static void *crypto_take(size_t n, const char *file, int line)
{
    (void)file;
    (void)line;
    return take(n);
}

static void *crypto_retake(void *p, size_t n, const char *file, int line)
{
    (void)file;
    (void)line;
    return retake(p, n);
}

static void crypto_give(void *p, const char *file, int line)
{
    (void)file;
    (void)line;
    give(p);
}

static void *lib_retake(void *ctx, void *p, size_t old, size_t n)
{
    (void)ctx;
    (void)old;
    return retake(p, n);
}

static void lib_give(void *ctx, void *p, size_t n)
{
    (void)ctx;
    (void)n;
    give(p);
}

static const cubed_allocator counting = {NULL, lib_retake, lib_give};

/* Called before the library starts libcurl, which then uses these allocators. */
static bool count_libcurl(void)
{
    CURLcode (*begin)(long, curl_malloc_callback, curl_free_callback, curl_realloc_callback,
                      curl_strdup_callback, curl_calloc_callback);
#ifdef CB_CURL_LIBRARY
    void *lib = dlopen(CB_CURL_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *f = lib ? dlsym(lib, "curl_global_init_mem") : NULL;
    memcpy(&begin, &f, sizeof f);
#else
    begin = curl_global_init_mem;
#endif
    return begin && begin(CURL_GLOBAL_DEFAULT, take, give, retake, copy, take_zero) == CURLE_OK;
}

/* --- A server ----------------------------------------------------------------------------------------- */

typedef struct server {
    SSL_CTX *tls;
    int fd;
    char ca_file[64], url[64];
    /* Replies wait for this number of requests, each on its own connection. */
    pthread_mutex_t lock;
    pthread_cond_t all;
    int expected, came;
    int connections; /* number of connections whose requests are served now */
} server;

static EVP_PKEY *new_key(void) { return EVP_RSA_gen(RSA_BITS); }

static X509 *new_certificate(EVP_PKEY *key, int number)
{
    X509 *x = X509_new();
    X509_EXTENSION *e =
        X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost");
    char name[64];
    snprintf(name, sizeof name, "A service that tests ask, %d", number);
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), number);
    X509_gmtime_adj(X509_getm_notBefore(x), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x), 24 * 3600L);
    X509_set_pubkey(x, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, (unsigned char *)name,
                               -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    X509_add_ext(x, e, -1);
    X509_EXTENSION_free(e);
    assert_true(X509_sign(x, key, EVP_sha256()) > 0);
    return x;
}

/* With the system's certificates, which use most of the memory per process. */
static void write_certificates(server *s, X509 *own)
{
    static char text[1 << 16];
    FILE *system_file = fopen("/etc/ssl/certs/ca-certificates.crt", "r");
    snprintf(s->ca_file, sizeof s->ca_file, "/tmp/cubed-test-ca-%d.pem", (int)getpid());
    FILE *f = fopen(s->ca_file, "w");
    assert_non_null(f);
    for (size_t n; system_file && (n = fread(text, 1, sizeof text, system_file)) > 0;)
        assert_int_equal(fwrite(text, 1, n, f), n);
    if (system_file) fclose(system_file);
    assert_true(PEM_write_X509(f, own));
    assert_int_equal(fclose(f), 0);
}

static bool read_request(SSL *ssl)
{
    static const char end[] = "\r\n\r\n";
    char text[1 << 14];
    size_t n = 0, body = 0;
    const char *length;
    while (n < 4 || !memmem(text, n, end, 4)) {
        const int k = SSL_read(ssl, text + n, (int)(sizeof text - 1 - n));
        if (k <= 0) return false;
        n += (size_t)k;
    }
    text[n] = 0;
    if ((length = strcasestr(text, "content-length:"))) body = strtoul(length + 15, NULL, 10);
    n -= (size_t)(strstr(text, end) + 4 - text);
    while (n < body) {
        const int k = SSL_read(ssl, text, sizeof text);
        if (k <= 0) return false;
        n += (size_t)k;
    }
    return true;
}

static void wait_for_all(server *s)
{
    pthread_mutex_lock(&s->lock);
    s->came++;
    pthread_cond_broadcast(&s->all);
    while (s->came < s->expected) pthread_cond_wait(&s->all, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

typedef struct connection {
    server *s;
    int fd;
} connection;

static void *serve(void *arg)
{
    connection c = *(connection *)arg;
    static char body[BODY];
    static const char head[] = "HTTP/1.1 200 OK\r\ncontent-length: 1048576\r\n\r\n";
    is_server = true;
    free(arg);
    SSL *ssl = SSL_new(c.s->tls);
    SSL_set_fd(ssl, c.fd);
    if (SSL_accept(ssl) == 1) {
        while (read_request(ssl)) {
            wait_for_all(c.s);
            if (SSL_write(ssl, head, sizeof head - 1) <= 0 || SSL_write(ssl, body, BODY) <= 0)
                break;
        }
    }
    SSL_free(ssl);
    close(c.fd);
    pthread_mutex_lock(&c.s->lock);
    c.s->connections--;
    pthread_cond_broadcast(&c.s->all);
    pthread_mutex_unlock(&c.s->lock);
    return NULL;
}

static void *accept_all(void *arg)
{
    server *s = arg;
    is_server = true;
    for (int fd; (fd = accept(s->fd, NULL, NULL)) >= 0;) {
        pthread_t thread;
        connection *c = malloc(sizeof *c);
        *c = (connection){s, fd};
        pthread_mutex_lock(&s->lock);
        s->connections++;
        pthread_mutex_unlock(&s->lock);
        assert_int_equal(pthread_create(&thread, NULL, serve, c), 0);
        pthread_detach(thread);
    }
    return NULL;
}

static void start(server *s, pthread_t *thread)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    is_server = true;
    EVP_PKEY *key = new_key();
    X509 *own = new_certificate(key, 1);
    s->tls = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate(s->tls, own), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(s->tls, key), 1);
    /* Add further certificates, because services send chains of several certificates. */
    for (int i = 1; i < CERTIFICATES; i++) {
        EVP_PKEY *other = new_key();
        assert_int_equal(SSL_CTX_add_extra_chain_cert(s->tls, new_certificate(other, 1 + i)), 1);
        EVP_PKEY_free(other);
    }
    write_certificates(s, own);
    X509_free(own);
    EVP_PKEY_free(key);
    is_server = false;
    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(s->fd, 128), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &size), 0);
    snprintf(s->url, sizeof s->url, "https://127.0.0.1:%d/x", ntohs(at.sin_port));
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->all, NULL);
    assert_int_equal(pthread_create(thread, NULL, accept_all, s), 0);
}

/* --- Requests ----------------------------------------------------------------------------------------- */

typedef struct request {
    whole_call call; /* the first */
    atomic_int *left;
} request;

static void done(cb_http_call *c)
{
    const request *r = (request *)c;
    if (c->status != CUBED_OK) fprintf(stderr, "a request: %s\n", c->error.message);
    atomic_fetch_sub(r->left, c->status == CUBED_OK ? 1 : 1000);
}

/* Returns the peak memory while n requests are answered at once, each on its own connection. The data that are read or sent do
 * not count. */
static long measure(server *s, cb_http *const http[CB_NET_CLIENTS], int n, bool puts)
{
    static const cb_http_functions functions = {whole_prepare, whole_judge, done};
    static char body[BODY], room[CB_HTTP_MOST][BODY];
    static request r[CB_HTTP_MOST];
    atomic_int left = n;
    const long before = atomic_load(&in_use);
    pthread_mutex_lock(&s->lock);
    s->expected = n;
    s->came = 0;
    pthread_mutex_unlock(&s->lock);
    atomic_store(&peak, before);
    for (int i = 0; i < n; i++) {
        cb_http_call *c = &r[i].call.http;
        whole_init(&r[i].call, &functions, s->url, (cb_http_piece){.size = BODY, .dst = room[i]},
                   &counting);
        c->way.ca_file = s->ca_file;
        r[i].left = &left;
        if (puts) {
            c->method = "PUT";
            c->body = body;
            c->body_size = BODY;
        }
        cb_http_submit(http[http[1] ? i % CB_NET_CLIENTS : 0], c);
    }
    while (atomic_load(&left) > 0) usleep(1000);
    assert_int_equal(atomic_load(&left), 0);
    for (int i = 0; i < n; i++) cb_http_call_free(&r[i].call.http);
    return atomic_load(&peak);
}

static void test_stated(void **state)
{
    static const int counts[] = {1, 8, CB_HTTP_MOST};
    server s = {.came = 0};
    pthread_t thread;
    (void)state;
    start(&s, &thread);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        cb_http *http[CB_NET_CLIENTS] = {NULL};
        const int n = counts[i], clients = n < CB_NET_FEW_CALLS ? 1 : CB_NET_CLIENTS;
        const long before = atomic_load(&in_use);
        for (int k = 0; k < clients; k++)
            assert_int_equal(cb_http_new(&counting, CB_HTTP_MOST / clients, NULL, &http[k], NULL),
                             CUBED_OK);
        for (int k = 0; k < 3; k++) {
            const long used = measure(&s, http, n, k == 1) - before;
            const long stated = (long)CB_HTTP_PROCESS_BYTES + n * (long)CB_HTTP_REQUEST_BYTES;
            printf("%d %s: %ld bytes of %ld that are stated\n", n, k == 1 ? "puts" : "gets", used,
                   stated);
            assert_true(used <= stated);
            if (n == CB_HTTP_MOST) /* at least half of the declared memory is really used */
                assert_true(used >= stated / 2);
        }
        for (int k = 0; k < clients; k++) cb_http_free(http[k]);
    }
    shutdown(s.fd, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(s.fd);
    /* OpenSSL's memory is freed when the process ends, whoever uses it. */
    pthread_mutex_lock(&s.lock);
    while (s.connections > 0) pthread_cond_wait(&s.all, &s.lock);
    pthread_mutex_unlock(&s.lock);
    SSL_CTX_free(s.tls);
    unlink(s.ca_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stated)};
    /* The measurement needs libraries that have not allocated anything before. */
    if (!CRYPTO_set_mem_functions(crypto_take, crypto_retake, crypto_give) || !count_libcurl()) {
        printf("skipped: libcurl or OpenSSL takes memory before it can be counted\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
