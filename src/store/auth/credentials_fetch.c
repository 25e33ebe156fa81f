/* Credentials fetched by requests. All functions block and run in the fetcher's thread. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "store/auth/credentials_pkg.h"
#include "store/auth/ini.h"
#include "store/core/uri.h"
#include "store/http/address.h"
#include "store/http/curl.h"
#include "store/http/xml.h"

enum { MOST_REPLY = 64 << 10, HEADER_COST = 64, MOST_TOKEN = 16 << 10, ATTEMPTS = 3, HOUR = 3600 };
#define PROCESS_NS ((int64_t)60 * 1000000000)

/* --- One request -------------------------------------------------------------------------------------- */

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx)
{
    cb_buf *out = ctx;
    n *= size;
    if (out->size + n > MOST_REPLY) return 0;
    cb_buf_put(out, bytes, n);
    return out->failed ? 0 : n;
}

/* libcurl callback: limits the total size of all headers. libcurl stores each header with a few bytes in addition to its line. */
static size_t on_header(char *bytes, /* NOLINT(readability-non-const-parameter): libcurl's type */
                        size_t size, size_t n, void *ctx)
{
    size_t *all = ctx;
    (void)bytes;
    *all += size * n + HEADER_COST;
    return *all > MOST_REPLY ? 0 : size * n;
}

/* Splits the request's headers into lines. Sets *ok to false if out of memory. */
static struct curl_slist *split_headers(const cb_question *q, bool *ok)
{
    struct curl_slist *all = NULL;
    cb_buf line;
    cb_buf_init(&line, &cb_system_allocator);
    *ok = true;
    for (const char *at = q->headers; at && *at && *ok; at += *at == '\n') {
        const size_t n = strcspn(at, "\n");
        line.size = 0;
        cb_buf_put(&line, at, n);
        struct curl_slist *more = line.failed ? NULL : curl_slist_append(all, line.data);
        if (more) all = more;
        *ok = more;
        at += n;
    }
    cb_free_secret(&line);
    return all;
}

/* Adds the reply's error description to the message. The message never quotes the request. */
static void note_fault(cubed_error *err, const cb_buf *reply)
{
    json_t *o = NULL;
    char text[256] = "";
    cb_xml_part x;
    if (cb_json_try("reply", reply->data, reply->size, &o, NULL) == CUBED_OK && o) {
        const json_t *e = json_object_get(o, "error");
        const char *more = json_string_value(json_object_get(o, "error_description"));
        if (!more) more = json_string_value(json_object_get(e, "message"));
        if (!more) more = json_string_value(e);
        snprintf(text, sizeof text, "%s", more ? more : "");
    } else if (cb_xml_find((cb_xml_part){reply->data, reply->size}, "Message", &x)) {
        snprintf(text, sizeof text, "%.*s", x.size < sizeof text ? (int)x.size : (int)sizeof text,
                 x.text);
    }
    json_decref(o);
    text[strcspn(text, "\r\n")] = 0;
    if (*text) cb_note(err, " (%s)", text);
}

static cubed_status ask_once(const cb_question *q, const cb_http_way *way, cb_buf *out,
                             cubed_error *err)
{
    long code = 0;
    size_t header_bytes = 0;
    bool ok;
    CB_TRY(cb_curl_load(err));
    struct curl_slist *headers = split_headers(q, &ok);
    CURL *curl = curl_easy_init();
    CURLcode rc = CURLE_OUT_OF_MEMORY;
    out->size = 0;
    if (ok && curl && curl_easy_setopt(curl, CURLOPT_URL, q->url) == 0 &&
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, q->method) == 0 &&
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers) == 0 &&
        (!q->form || curl_easy_setopt(curl, CURLOPT_POSTFIELDS, q->form) == 0) &&
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == 0 &&
        cb_curl_set_way(curl, way, q->url) && curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == 0 &&
        curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, q->connect_ms) == 0 &&
        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 4 * q->connect_ms) == 0 &&
        curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header) == 0 &&
        curl_easy_setopt(curl, CURLOPT_HEADERDATA, &header_bytes) == 0 &&
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body) == 0 &&
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, out) == 0)
        rc = curl_easy_perform(curl);
    if (rc == CURLE_OK) curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    const int host = (int)strcspn(q->url, "?");
    const bool lacks_memory = !ok || !curl || rc == CURLE_OUT_OF_MEMORY || out->failed;
    if (rc != CURLE_OK)
        return cb_fail(err, lacks_memory ? CUBED_E_NOMEM : CUBED_E_IO, "credentials from %.*s: %s",
                       host, q->url, lacks_memory ? "out of memory" : curl_easy_strerror(rc));
    cb_buf_put(out, "", 0);
    if (out->failed)
        return cb_fail(err, CUBED_E_NOMEM, "credentials from %.*s: out of memory", host, q->url);
    if (code == 200) return CUBED_OK;
    cubed_status st =
        cb_fail(err, CUBED_E_IO, "credentials from %.*s: the reply is %ld", host, q->url, code);
    if (err) note_fault(err, out);
    if (err) err->transient = code >= 500 || code == 429;
    return st;
}

cubed_status cb_ask(const cb_credentials *c, const cb_question *q, cb_buf *out, cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    cubed_status st = CUBED_E_IO;
    for (int i = 0; i < q->attempts; i++) {
        st = ask_once(q, &c->way, out, &why);
        if (st == CUBED_OK || !why.transient) break;
        cb_sleep_ns((int64_t)200000000 << i);
    }
    if (st != CUBED_OK && err) *err = why;
    return st;
}

/* --- Replies ------------------------------------------------------------------------------------------ */

static bool put(char *to, size_t cap, const char *text)
{
    const size_t n = strlen(text);
    if (n >= cap) return false;
    memcpy(to, text, n + 1);
    return true;
}

static cubed_status take_keys(const char *from, const char *id, const char *secret,
                              const char *token, const char *end, cb_keys *keys, int64_t *ends,
                              cubed_error *err)
{
    *ends = end ? cb_parse_utc(end) : 0;
    if (id && *id && secret && *secret && (!end || *ends) && put(keys->id, sizeof keys->id, id) &&
        put(keys->secret, sizeof keys->secret, secret) &&
        put(keys->token, sizeof keys->token, token ? token : ""))
        return CUBED_OK;
    return cb_fail(err, CUBED_E_IO, "credentials from %s: the reply contains no credentials", from);
}

static cubed_status take_json(const char *from, const cb_buf *text, const char *token,
                              cb_keys *keys, int64_t *ends, cubed_error *err)
{
    json_t *o = NULL;
    /* Do not quote the reply: it may contain a secret. */
    CB_TRY(cb_json_try(from, text->data, text->size, &o, err));
    if (!o) return cb_fail(err, CUBED_E_IO, "credentials from %s: the reply is not JSON", from);
    cubed_status st =
        take_keys(from, json_string_value(json_object_get(o, "AccessKeyId")),
                  json_string_value(json_object_get(o, "SecretAccessKey")),
                  json_string_value(json_object_get(o, token)),
                  json_string_value(json_object_get(o, "Expiration")), keys, ends, err);
    json_decref(o);
    return st;
}

void cb_put_field(cb_buf *out, const char *name, const char *value)
{
    cb_buf_printf(out, "%s%s=", out->size ? "&" : "", name);
    cb_uri_put(out, value, "");
}

void cb_free_secret(cb_buf *b)
{
    if (b->data) explicit_bzero(b->data, b->cap);
    cb_buf_free(b);
}

/* Returns the number of a field, which some services write as a string, or 0 if missing. */
static int64_t number(const json_t *o, const char *name)
{
    const json_t *x = json_object_get(o, name);
    const char *text = json_string_value(x);
    return text ? strtoll(text, NULL, 10) : (int64_t)json_integer_value(x);
}

cubed_status cb_ask_for_token(const cb_credentials *c, const cb_question *q, cb_keys *keys,
                              int64_t *ends, cubed_error *err)
{
    json_t *o = NULL;
    cb_buf reply;
    cb_buf_init(&reply, cb_zone_allocator(c->zone));
    cubed_status st;
    CB_GO(cb_ask(c, q, &reply, err));
    /* Do not quote the reply: it contains a secret. */
    CB_GO(cb_json_try("credentials", reply.data, reply.size, &o, err));
    const char *token = json_string_value(json_object_get(o, "access_token"));
    const char *end = json_string_value(json_object_get(o, "expireTime"));
    if (!token) token = json_string_value(json_object_get(o, "accessToken"));
    const int64_t seconds = number(o, "expires_in"), at = number(o, "expires_on");
    *ends = end           ? cb_parse_utc(end)
            : seconds > 0 ? (int64_t)time(NULL) + seconds
            : at > 0      ? at
                          : (int64_t)time(NULL) + HOUR;
    if (!token || !*token || !put(keys->token, sizeof keys->token, token))
        st = cb_fail(err, CUBED_E_IO, "credentials from %.*s: the reply has no token",
                     (int)strcspn(q->url, "?"), q->url);
out:
    json_decref(o);
    cb_free_secret(&reply);
    return st;
}

/* --- Sources ------------------------------------------------------------------------------------------ */

cubed_status cb_read_token(cb_zone *zone, const char *path, const char **out, cubed_error *err)
{
    CB_TRY(cb_read_file(zone, path, MOST_TOKEN, out, err));
    if (!*out) return cb_fail(err, CUBED_E_IO, "credentials: the file %s does not exist", path);
    char *end = (char *)(uintptr_t)*out + strlen(*out);
    while (end > *out && strchr(" \r\n", end[-1])) *--end = 0;
    return CUBED_OK;
}

/* Sets *out to the text of an element, in the zone; NULL if there is none. */
static cubed_status find_element(cb_zone *zone, const cb_buf *text, const char *name,
                                 const char **out, cubed_error *err)
{
    cb_xml_part x;
    *out = NULL;
    if (!cb_xml_find((cb_xml_part){text->data, text->size}, name, &x)) return CUBED_OK;
    char *copy = cb_zone_alloc(zone, x.size + 1);
    if (!copy) return cb_fail(err, CUBED_E_NOMEM, "no memory for credentials");
    memcpy(copy, x.text, x.size);
    *out = copy;
    return CUBED_OK;
}

cubed_status cb_fetch_for_token(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                cubed_error *err)
{
    cb_zone *zone;
    cb_buf url, reply;
    const char *token, *id, *secret, *session, *end;
    CB_TRY(cb_zone_new(cb_zone_allocator(c->zone), &zone, err));
    cb_buf_init(&url, cb_zone_allocator(zone));
    cb_buf_init(&reply, cb_zone_allocator(zone));
    cubed_status st;
    CB_GO(cb_read_token(zone, c->token_file, &token, err));
    if (c->sts)
        cb_buf_puts(&url, c->sts);
    else
        cb_buf_printf(&url, "https://sts.%s%samazonaws.com", c->region ? c->region : "",
                      c->region ? "." : "");
    cb_buf_puts(&url, "/?Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=");
    cb_uri_put(&url, c->role, "");
    cb_buf_puts(&url, "&RoleSessionName=");
    cb_uri_put(&url, c->session ? c->session : "cubed", "");
    cb_buf_puts(&url, "&WebIdentityToken=");
    cb_uri_put(&url, token, "");
    if (url.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for credentials"));
    const cb_question q = {"GET", url.data, NULL, 10000, ATTEMPTS, NULL};
    CB_GO(cb_ask(c, &q, &reply, err));
    CB_GO(find_element(zone, &reply, "AccessKeyId", &id, err));
    CB_GO(find_element(zone, &reply, "SecretAccessKey", &secret, err));
    CB_GO(find_element(zone, &reply, "SessionToken", &session, err));
    CB_GO(find_element(zone, &reply, "Expiration", &end, err));
    st = take_keys("STS", id, secret, session, end, keys, ends, err);
out:
    cb_buf_free(&url);
    cb_buf_free(&reply);
    cb_zone_free(zone);
    return st;
}

bool cb_is_near(const char *url)
{
    static const char *const hosts[] = {"127.0.0.1",      "localhost",    "169.254.170.2",
                                        "169.254.170.23", "fd00:ec2::23", "::1"};
    char host[CB_MOST_HOST];
    if (strncmp(url, "https://", 8) == 0) return true;
    if (strncmp(url, "http://", 7) != 0) return false;
    cb_host_of(url, host);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        if (strcmp(host, hosts[i]) == 0) return true;
    }
    return false;
}

cubed_status cb_fetch_from_container(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                     cubed_error *err)
{
    cb_zone *zone;
    cb_buf header, reply;
    const char *token = c->bearer;
    if (!cb_is_near(c->address))
        return cb_fail(
            err, CUBED_E_ARG,
            "AWS_CONTAINER_CREDENTIALS_FULL_URI is %s, expected https:// or this machine",
            c->address);
    CB_TRY(cb_zone_new(cb_zone_allocator(c->zone), &zone, err));
    cb_buf_init(&header, cb_zone_allocator(zone));
    cb_buf_init(&reply, cb_zone_allocator(zone));
    cubed_status st = CUBED_OK;
    if (c->token_file) CB_GO(cb_read_token(zone, c->token_file, &token, err));
    if (token) cb_buf_printf(&header, "Authorization: %s", token);
    if (header.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for credentials"));
    const cb_question q = {"GET", c->address, token ? header.data : NULL, 2000, ATTEMPTS, NULL};
    CB_GO(cb_ask(c, &q, &reply, err));
    st = take_json(c->address, &reply, "Token", keys, ends, err);
out:
    cb_buf_free(&header);
    cb_buf_free(&reply);
    cb_zone_free(zone);
    return st;
}

/* Requests credentials from the EC2 instance metadata service, version 2. The requests are for a session token, for the role's
 * name, and for its keys. */
static cubed_status request_from_instance(const cb_credentials *c, cb_buf *reply, cubed_error *err)
{
    const cubed_allocator *a = cb_zone_allocator(c->zone);
    cb_buf url, header;
    cubed_status st;
    cb_question q = {"PUT", NULL, "X-aws-ec2-metadata-token-ttl-seconds: 21600", 1000, 1, NULL};
    cb_buf_init(&url, a);
    cb_buf_init(&header, a);
    cb_buf_printf(&url, "%s/latest/api/token", c->address);
    q.url = url.data;
    if (url.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for credentials"));
    CB_GO(cb_ask(c, &q, reply, err));
    cb_buf_printf(&header, "X-aws-ec2-metadata-token: %s", reply->data);
    url.size = 0;
    cb_buf_printf(&url, "%s/latest/meta-data/iam/security-credentials/", c->address);
    if (url.failed || header.failed)
        CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for credentials"));
    q = (cb_question){"GET", url.data, header.data, 1000, ATTEMPTS, NULL};
    CB_GO(cb_ask(c, &q, reply, err));
    cb_buf_put(&url, reply->data, strcspn(reply->data, "\r\n"));
    if (url.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for credentials"));
    q.url = url.data;
    CB_GO(cb_ask(c, &q, reply, err));
out:
    cb_buf_free(&url);
    cb_buf_free(&header);
    return st;
}

cubed_status cb_fetch_from_machine(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                   cubed_error *err)
{
    cb_buf reply;
    cubed_error why = CUBED_ERROR_INIT;
    cb_buf_init(&reply, cb_zone_allocator(c->zone));
    cubed_status st = request_from_instance(c, &reply, &why);
    if (st == CUBED_OK)
        st = take_json(c->address, &reply, "Token", keys, ends, err);
    else if (st == CUBED_E_NOMEM)
        st = cb_fail(err, st, "%s", why.message);
    else /* most likely, this machine is not an EC2 instance */
        st = cb_fail(err, CUBED_E_IO, CB_NO_CREDENTIALS " (%s)", why.message);
    cb_buf_free(&reply);
    return st;
}

/* --- credential_process ------------------------------------------------------------------------------- */

static int start(const char *command, int fd, pid_t *pid)
{
    char *argv[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none;
    sigemptyset(&none);
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0) return rc;
    rc = posix_spawnattr_init(&attr);
    if (rc == 0) {
        rc = posix_spawnattr_setsigmask(&attr, &none);
        if (rc == 0) rc = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
        if (rc == 0) rc = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
        if (rc == 0) rc = posix_spawn(pid, "/bin/sh", &actions, &attr, argv, environ);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* Reads all output of the program within its time limit. */
static bool read_output(int fd, cb_buf *out)
{
    const int64_t until = cb_clock_ns() + PROCESS_NS;
    char part[4096];
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        const int64_t left = (until - cb_clock_ns()) / 1000000;
        if (left <= 0) return false;
        if (poll(&p, 1, (int)left) < 0 && errno != EINTR) return false;
        if (!p.revents) continue;
        const ssize_t n = read(fd, part, sizeof part);
        if (n == 0) break;
        if (n < 0 && errno != EINTR) return false;
        if (n > 0 && on_body(part, 1, (size_t)n, out) == 0) return false;
    }
    explicit_bzero(part, sizeof part);
    return true;
}

cubed_status cb_run_program(const char *command, const char *name, cb_buf *out, cubed_error *err)
{
    int ends_of_pipe[2], status = 0;
    pid_t pid = 0;
    if (pipe2(ends_of_pipe, O_CLOEXEC) != 0)
        return cb_fail_errno(err, errno, "cannot start %s", name);
    const int rc = start(command, ends_of_pipe[1], &pid);
    close(ends_of_pipe[1]);
    const bool ok = rc == 0 && read_output(ends_of_pipe[0], out);
    close(ends_of_pipe[0]);
    if (rc == 0 && !ok) kill(pid, SIGKILL);
    while (rc == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (rc != 0) return cb_fail_errno(err, rc, "cannot start %s", name);
    if (out->failed) return cb_fail(err, CUBED_E_NOMEM, "no memory for the output of %s", name);
    if (ok && status == 0) return CUBED_OK;
    return cb_fail(err, CUBED_E_IO, "%s failed or took more than a minute", name);
}

cubed_status cb_fetch_from_process(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                   cubed_error *err)
{
    char name[300];
    cb_buf out;
    cb_buf_init(&out, cb_zone_allocator(c->zone));
    snprintf(name, sizeof name, "credential_process of profile \"%s\"", c->profile);
    cubed_status st = cb_run_program(c->command, name, &out, err);
    if (st == CUBED_OK) st = take_json("credential_process", &out, "SessionToken", keys, ends, err);
    cb_free_secret(&out);
    return st;
}
