/* Takes any bytes as a reply of an object store: S3, Google Cloud Storage (JSON and XML), Azure, or plain HTTP. The first byte
 * chooses the service, the second one the request and the reply's code; header lines follow up to an empty one, then the body.
 * Also parses the body as XML. cmake/fuzz.cmake wraps cb_remote_tell_upload. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/core/store.h"
#include "store/http/curl.h"
#include "store/http/http_reply.h"
#include "store/http/xml.h"
#include "store/services/remote.h"
#include "store/services/s3_listing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
cubed_status tell_upload(const cb_remote *s, const cubed_store_request *r, cb_buf *name,
                         const char *id, int64_t begun,
                         cubed_error *err) __asm__("__wrap_cb_remote_tell_upload");

static void require(bool holds)
{
    if (!holds) abort();
}

/* --- Services ----------------------------------------------------------------------------------------- */

typedef struct service {
    const char *url;
    cubed_status (*open)(cb_net *net, const char *url, cubed_store **out, cubed_error *err);
    cubed_store *store;
    const cb_dialect *dialect;
} service;

static service services[] = {{"s3://bucket/root", cb_s3_open, NULL, NULL},
                             {"gs://bucket/root", cb_gcs_open, NULL, NULL},
                             {"gs://hmac/root", cb_gcs_open, NULL, NULL},
                             {"az://container@127.0.0.1:1/root", cb_azure_open, NULL, NULL},
                             {"http://127.0.0.1:1/root", cb_web_open, NULL, NULL}};
enum { NSERVICES = sizeof services / sizeof *services };

/* Opening does no I/O. The stores stay open for all inputs. */
static void open_services(void)
{
    static const char *const variables[] = {"AWS_ACCESS_KEY_ID=id",
                                            "AWS_SECRET_ACCESS_KEY=secret",
                                            "AWS_REGION=eu-north-1",
                                            "AWS_EC2_METADATA_DISABLED=true",
                                            "GOOGLE_OAUTH_ACCESS_TOKEN=token",
                                            "AZURE_STORAGE_ACCOUNT_NAME=account",
                                            "AZURE_STORAGE_ACCOUNT_KEY=a2V5",
                                            "CUBED_CORE_DUMPS=full",
                                            NULL};
    static cb_net net;
    cubed_error err = CUBED_ERROR_INIT;
    require(cb_curl_load(NULL) == CUBED_OK); /* it parses dates */
    cb_net_init(&net, &cb_system_allocator);
    require(cb_net_set_variables(&net, variables, NULL) == CUBED_OK);
    require(cb_net_set_option(&net, "gs://hmac", "access_key_id", "id", NULL) == CUBED_OK);
    require(cb_net_set_option(&net, "gs://hmac", "secret_access_key", "secret", NULL) == CUBED_OK);
    for (size_t i = 0; i < NSERVICES; i++) {
        require(services[i].open(&net, services[i].url, &services[i].store, &err) == CUBED_OK);
        services[i].dialect = ((cb_remote *)services[i].store)->dialect;
        require(services[i].dialect != NULL);
    }
}

/* --- Replies ------------------------------------------------------------------------------------------ */

/* Every key that is reported is below the listed prefix. */
static cubed_status tell(void *ctx, const cubed_store_entry *e, cubed_error *err)
{
    (void)err;
    ++*(size_t *)ctx;
    require(strncmp(e->key, "group/", 6) == 0 && cb_key_check(e->key, NULL) == CUBED_OK);
    require(!e->version || strlen(e->version) < sizeof(cubed_object_version));
    return CUBED_OK;
}

/* In place of the list of remote_sweep.c. */
cubed_status tell_upload(const cb_remote *s, const cubed_store_request *r, cb_buf *name,
                         const char *id, int64_t begun, cubed_error *err)
{
    (void)s;
    (void)begun;
    (void)err;
    ++*(size_t *)r->entry_ctx;
    require(id && (!name->data || memchr(name->data, 0, name->size + 1)));
    return CUBED_OK;
}

/* Reads header lines and the body into a call, as the client does. */
static bool receive(cb_http_call *c, int code, const char *at, const char *end)
{
    cb_http_stop stop = CB_HTTP_GOES_ON;
    uint64_t n = 0;
    cb_http_reply_forget(c);
    c->most_text = CB_HTTP_MOST_TEXT;
    while (at < end && !stop) {
        const char *line = memchr(at, '\n', (size_t)(end - at)), *next = line ? line + 1 : end;
        const bool empty = *at == '\n';
        stop = cb_http_reply_line(c, at, (size_t)(next - at));
        at = next;
        if (empty) break;
    }
    const char *text = cb_http_header(c, "content-length");
    const bool has_length = text && cb_http_number(text, &text, &n) && n <= INT64_MAX;
    if (!stop) stop = cb_http_reply_begin(c, code, has_length ? (int64_t)n : -1);
    if (!stop && at < end) stop = cb_http_reply_bytes(c, at, (size_t)(end - at));
    c->stop = (int)stop;
    c->code = code;
    return cb_http_reply_end(c) == CUBED_OK;
}

static void read_listing(const service *s, cb_remote_call *c, bool uploads)
{
    size_t n = 0;
    char next[CUBED_STORE_PAGE_CAP] = "";
    cubed_error err = CUBED_ERROR_INIT;
    cubed_store_request r = {
        .op = CUBED_STORE_LIST, .key = "group", .entry = tell, .entry_ctx = &n, .next_page = next};
    if (uploads ? !s->dialect->read_uploads : !s->dialect->read_page) return;
    const cubed_store_request *before = c->request;
    c->request = &r;
    const cubed_status st = uploads ? s->dialect->read_uploads((cb_remote *)s->store, c, &r, &err)
                                    : s->dialect->read_page((cb_remote *)s->store, c, &r, &err);
    c->request = before;
    require((st == CUBED_OK) == (err.message[0] == 0) && memchr(next, 0, sizeof next));
}

static void read_fault(const service *s, cb_remote_call *c)
{
    cb_remote_fault f = {.code = ""};
    bool changed = false;
    if (s->dialect->read_fault)
        s->dialect->read_fault(c, &f);
    else
        cb_remote_read_fault(&c->http, &f);
    require(memchr(f.code, 0, sizeof f.code) && memchr(f.message, 0, sizeof f.message));
    if (s->dialect->advice) (void)s->dialect->advice((cb_remote *)s->store, c->http.code, &f);
    if (s->dialect->read_deleted) s->dialect->read_deleted(c, &f, &changed);
    require(memchr(f.code, 0, sizeof f.code) && memchr(f.message, 0, sizeof f.message));
}

static void read_object(const service *s, cb_remote_call *c)
{
    cubed_object_info info = {.size = 0};
    if (s->dialect->tell) s->dialect->tell(c, &info);
    require(memchr(info.version.text, 0, sizeof info.version.text));
    if (s->dialect->judge_version) (void)s->dialect->judge_version(info.version.text);
    if (s->dialect->is_own) (void)s->dialect->is_own(c);
    if (s->dialect->is_whole) (void)s->dialect->is_whole(c);
    if (s->dialect->read_upload) (void)s->dialect->read_upload(c);
    if (s->dialect->judge_copy) (void)s->dialect->judge_copy((cb_remote *)s->store, c);
    (void)cb_http_date(&c->http, "date");
    (void)cb_http_date(&c->http, "last-modified");
}

static void read_reply(const service *s, unsigned what, const char *at, const char *end)
{
    static const int codes[] = {200, 206, 201, 404, 412, 400, 503, 301};
    cubed_store_request r = {.op = CUBED_STORE_GET, .key = "group/x"};
    cb_remote_call c = {.what = (cb_remote_what)(what % (CB_REMOTE_UPLOADS + 1)),
                        .key = "group/x",
                        .request = &r,
                        .id = "0123456789abcdef",
                        .store = (cb_remote *)s->store};
    cb_http_call_init(&c.http, &cb_system_allocator);
    cb_buf_init(&c.body, &cb_system_allocator);
    if (receive(&c.http, codes[what / 16 % 8], at, end)) {
        if (c.what == CB_REMOTE_LIST || c.what == CB_REMOTE_UPLOADS)
            read_listing(s, &c, c.what == CB_REMOTE_UPLOADS);
        else if (c.http.code < 300)
            read_object(s, &c);
        read_fault(s, &c);
    }
    cb_buf_free(&c.body);
    cb_http_call_free(&c.http);
}

/* --- XML ---------------------------------------------------------------------------------------------- */

static void read_xml(const char *text, size_t size)
{
    static const char *const names[] = {"Message", "Key", "Contents", "Error"};
    cb_buf plain, escaped, again;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cb_xml_part rest = {text, size}, part;
        while (cb_xml_next(&rest, names[i], &part)) {
            require(part.text >= text && part.text + part.size <= text + size);
            require(rest.text >= part.text && rest.text + rest.size <= text + size);
            cb_buf_init(&plain, &cb_system_allocator);
            cb_buf_init(&escaped, &cb_system_allocator);
            cb_buf_init(&again, &cb_system_allocator);
            /* What is escaped has the same text again. */
            if (cb_xml_put_text(&plain, part) && plain.data && strlen(plain.data) == plain.size &&
                cb_xml_escape(&escaped, plain.data)) {
                const cb_xml_part whole = {escaped.data ? escaped.data : "", escaped.size};
                require(cb_xml_put_text(&again, whole) && again.size == plain.size);
                require(plain.size == 0 || memcmp(again.data, plain.data, plain.size) == 0);
            }
            cb_buf_free(&plain);
            cb_buf_free(&escaped);
            cb_buf_free(&again);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!services[0].store) open_services();
    if (size < 2) return 0;
    const char *text = (const char *)data + 2;
    read_reply(services + data[0] % NSERVICES, data[1], text, text + size - 2);
    read_xml(text, size - 2);
    return 0;
}
