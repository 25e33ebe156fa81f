/* Takes any bytes as files of credentials, and as replies of services that give credentials. The first byte chooses the service.
 * The rest has three parts, separated by lines "===": two files, or settings, and the reply to every request.
 *
 * No request is sent: cmake/fuzz.cmake wraps the functions that load libcurl. No program is run. */
#define _GNU_SOURCE
#define CB_CURL_LIBRARY "none"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/auth/credentials_pkg.h"
#include "store/auth/ini.h"
#include "store/http/curl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
cubed_status load_nothing(cubed_error *err) __asm__("__wrap_cb_curl_load");
const cb_curl *get_fakes(void) __asm__("__wrap_cb_curl_get");

enum { PARTS = 3 };
#define SEPARATOR "\n===\n"

static void require(bool holds)
{
    if (!holds) abort();
}

/* --- A libcurl whose requests all have the reply of the input -------------------------------------------- */

static struct {
    const char *reply;
    size_t size;
    long code;
    curl_write_callback body, header;
    void *body_ctx, *header_ctx;
} server;

static CURL *fake_init(void) { return &server; }
static void fake_cleanup(CURL *curl) { (void)curl; }

static CURLcode fake_setopt(CURL *curl, CURLoption option, ...)
{
    va_list args;
    (void)curl;
    va_start(args, option);
    if (option == CURLOPT_WRITEFUNCTION) server.body = va_arg(args, curl_write_callback);
    if (option == CURLOPT_WRITEDATA) server.body_ctx = va_arg(args, void *);
    if (option == CURLOPT_HEADERFUNCTION) server.header = va_arg(args, curl_write_callback);
    if (option == CURLOPT_HEADERDATA) server.header_ctx = va_arg(args, void *);
    va_end(args);
    return CURLE_OK;
}

static CURLcode fake_perform(CURL *curl)
{
    char line[] = "content-type: text/plain\r\n";
    char *bytes = malloc(server.size + 1);
    (void)curl;
    require(bytes != NULL);
    memcpy(bytes, server.reply, server.size);
    CURLcode rc = CURLE_OK;
    if (server.header(line, 1, sizeof line - 1, server.header_ctx) != sizeof line - 1)
        rc = CURLE_WRITE_ERROR;
    for (size_t at = 0, n; rc == CURLE_OK && at < server.size; at += n) {
        n = server.size - at < 100 ? server.size - at : 100;
        if (server.body(bytes + at, 1, n, server.body_ctx) != n) rc = CURLE_WRITE_ERROR;
    }
    free(bytes);
    return rc;
}

static CURLcode fake_getinfo(CURL *curl, CURLINFO info, ...)
{
    va_list args;
    (void)curl;
    va_start(args, info);
    if (info == CURLINFO_RESPONSE_CODE) *va_arg(args, long *) = server.code;
    va_end(args);
    return CURLE_OK;
}

static const char *fake_strerror(CURLcode rc) { return rc ? "failed" : "no error"; }

static struct curl_slist *fake_append(struct curl_slist *list, const char *text)
{
    struct curl_slist *node = malloc(sizeof *node);
    require(node != NULL);
    node->data = strdup(text);
    node->next = list;
    return node;
}

static void fake_free_all(struct curl_slist *list)
{
    for (struct curl_slist *next; list; list = next) {
        next = list->next;
        free(list->data);
        free(list);
    }
}

static curl_version_info_data *fake_version(CURLversion version)
{
    static curl_version_info_data none;
    (void)version;
    return &none;
}

cubed_status load_nothing(cubed_error *err)
{
    (void)err;
    return CUBED_OK;
}

const cb_curl *get_fakes(void)
{
    static const cb_curl fakes = {.easy_init = fake_init,
                                  .easy_cleanup = fake_cleanup,
                                  .easy_setopt = fake_setopt,
                                  .easy_perform = fake_perform,
                                  .easy_getinfo = fake_getinfo,
                                  .easy_strerror = fake_strerror,
                                  .slist_append = fake_append,
                                  .slist_free_all = fake_free_all,
                                  .version_info = fake_version};
    return &fakes;
}

/* --- Inputs ------------------------------------------------------------------------------------------- */

static char *part[PARTS];

/* Splits a NUL-terminated text; parts that are missing are "". */
static void split(char *text)
{
    for (int i = 0; i < PARTS; i++) {
        char *end = i < PARTS - 1 ? strstr(text, SEPARATOR) : NULL;
        part[i] = text;
        text += strlen(text);
        if (end) {
            *end = 0;
            text = end + sizeof SEPARATOR - 1;
        }
    }
}

/* The path of an anonymous file that has the text, which is also read by its path. */
static void write_file(int fd, const char *text, const char *name, char *setting, size_t cap)
{
    require(ftruncate(fd, 0) == 0 && pwrite(fd, text, strlen(text), 0) == (ssize_t)strlen(text));
    snprintf(setting, cap, "%s=/proc/self/fd/%d", name, fd);
}

typedef struct source {
    cb_credentials_look look;
    const char *url;
    const char *files[2]; /* variables that name the files of the first two parts */
    const char *settings[5];
} source;

static const source sources[] = {
    {cb_look_for_aws,
     "s3://bucket",
     {"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"},
     {"AWS_EC2_METADATA_DISABLED=true"}},
    {cb_look_for_aws,
     "s3://bucket",
     {"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"},
     {"AWS_PROFILE=p", "AWS_EC2_METADATA_DISABLED=true"}},
    {cb_look_for_aws,
     "s3://bucket",
     {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_CONFIG_FILE"},
     {"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1/keys"}},
    {cb_look_for_aws,
     "s3://bucket",
     {NULL, NULL},
     {"AWS_EC2_METADATA_SERVICE_ENDPOINT=http://host"}},
    {cb_look_for_aws,
     "s3://bucket",
     {"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONFIG_FILE"},
     {"AWS_ROLE_ARN=role", "AWS_REGION=eu-north-1"}},
    {cb_look_for_google, "gs://bucket", {"GOOGLE_APPLICATION_CREDENTIALS", NULL}, {NULL}},
    {cb_look_for_google, "gs://bucket", {NULL, NULL}, {"GCE_METADATA_HOST=host"}},
    {cb_look_for_azure,
     "az://container@host",
     {"AZURE_FEDERATED_TOKEN_FILE", NULL},
     {"AZURE_CLIENT_ID=client", "AZURE_TENANT_ID=tenant"}},
    {cb_look_for_azure,
     "az://container@host",
     {NULL, NULL},
     {"AZURE_MSI_ENDPOINT=http://127.0.0.1"}},
    {cb_look_for_oidc, "worker+https://host", {"CUBED_HTTP_TOKEN_FILE", NULL}, {NULL}},
    {cb_look_for_oidc,
     "worker+https://host",
     {NULL, NULL},
     {"CUBED_HTTP_TOKEN_FROM=google", "GCE_METADATA_HOST=host"}},
};
enum { NSOURCES = sizeof sources / sizeof *sources };

static void check_keys(const cb_keys *k)
{
    require(memchr(k->id, 0, sizeof k->id) && memchr(k->secret, 0, sizeof k->secret));
    require(memchr(k->token, 0, sizeof k->token) != NULL);
    require((*k->id && *k->secret) || *k->token || (!*k->id && !*k->secret));
}

static void fetch(const cb_credentials *c)
{
    static cb_keys keys;
    int64_t ends = 0;
    cubed_error err = CUBED_ERROR_INIT;
    if (!c->fetch || c->command) return; /* a program */
    memset(&keys, 0, sizeof keys);
    const cubed_status st = c->fetch(c, &keys, &ends, &err);
    require((st == CUBED_OK) == (err.message[0] == 0));
    if (st == CUBED_OK) check_keys(&keys);
    if (st == CUBED_OK) require(*keys.token || *keys.secret);
}

static void look(const source *s, const int *fds)
{
    char settings[2][100];
    const char *all[10] = {"CUBED_CORE_DUMPS=full", "HOME=/nowhere"};
    size_t n = 2;
    cb_net net;
    cb_credentials *c;
    cubed_error err = CUBED_ERROR_INIT;
    for (size_t i = 0; i < 2; i++) {
        if (!s->files[i]) continue;
        write_file(fds[i], part[i], s->files[i], settings[i], sizeof settings[i]);
        all[n++] = settings[i];
    }
    for (size_t i = 0; i < 5 && s->settings[i]; i++) all[n++] = s->settings[i];
    cb_net_init(&net, &cb_system_allocator);
    require(cb_net_set_variables(&net, all, NULL) == CUBED_OK);
    const cubed_status st = cb_credentials_find(&net, s->url, s->look, &c, &err);
    require((st == CUBED_OK) == (err.message[0] == 0));
    if (st == CUBED_OK) {
        check_keys(&c->keys);
        (void)cb_credentials_region(c);
        (void)cb_credentials_endpoint(c);
        fetch(c);
    }
    cb_credentials_free(&net);
    cb_net_free(&net);
}

/* A value of a profile is a part of one line, without white space around it. */
static void read_ini(const char *text)
{
    static const char *const sections[] = {"default", "p", "profile p"};
    cb_zone *zone;
    require(cb_zone_new(&cb_system_allocator, &zone, NULL) == CUBED_OK);
    for (size_t i = 0; i < 3; i++) {
        bool found = false;
        const char *value = cb_ini_get(zone, text, sections[i], "aws_access_key_id", &found);
        require(!value || (found && strstr(text, value)));
        require(!value || (!strpbrk(value, "\r\n") && *value != ' '));
    }
    cb_zone_free(zone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fds[2] = {-1, -1};
    static const long codes[] = {200, 200, 200, 200, 403, 404};
    if (fds[0] < 0) {
        fds[0] = memfd_create("first", MFD_CLOEXEC);
        fds[1] = memfd_create("second", MFD_CLOEXEC);
        require(fds[0] >= 0 && fds[1] >= 0);
    }
    if (size == 0) return 0;
    char *text = malloc(size);
    require(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    split(text);
    server.reply = part[PARTS - 1];
    server.size = size - 1 - (size_t)(part[PARTS - 1] - text);
    server.code = codes[data[0] / NSOURCES % 6];
    read_ini(part[0]);
    look(sources + data[0] % NSOURCES, fds);
    free(text);
    return 0;
}
