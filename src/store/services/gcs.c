/* Google Cloud Storage. Uses the JSON API with bearer tokens. Uses the XML API with HMAC keys, and for uploads in parts,
 * which only the XML API has. Versions are generations. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/json.h"
#include "store/auth/credentials.h"
#include "store/auth/sigv4.h"
#include "store/core/uri.h"
#include "store/services/remote.h"
#include "store/services/remotes.h"
#include "store/services/s3_listing.h"
#include "store/services/s3_upload.h"

#define ENDPOINT CB_GOOGLE_ENDPOINT
#define NOBODY   "GOOGLE_SKIP_SIGNATURE anon skip_signature"
#define PAYS     "GOOGLE_USER_PROJECT user_project"
#define HMAC_ID  "GS_ACCESS_KEY_ID access_key_id key"
#define HMAC_KEY "GS_SECRET_ACCESS_KEY secret_access_key secret"
#define OPTIONS                                                                                    \
    CB_GOOGLE_TOKEN " " CB_GOOGLE_KEY " " CB_GOOGLE_FILE " " HMAC_ID " " HMAC_KEY " " ENDPOINT     \
                    " " NOBODY " " PAYS " " CB_REMOTE_PART_OPTIONS " " CB_REMOTE_OPTIONS
#define OWN     "cubed-write"
#define OWN_XML "x-goog-meta-" OWN
/* Maximum number of calls for one copy: each copies at least 1 GiB, and an object has at most 5 TiB. */
enum { MOST_REWRITES = 8192 };
#define BOUNDARY "cubed-7f2a9c41d5e86b03"

typedef struct gcs_store {
    cb_remote remote;
    const char *endpoint, *payer;
    const char *id, *secret; /* HMAC keys; NULL: not set */
    bool anonymous;
    cb_credentials
        *who; /* source of bearer tokens; NULL: HMAC keys sign requests, or access is anonymous */
} gcs_store;

/* --- Requests ----------------------------------------------------------------------------------------- */

static bool is_of_upload(const cb_remote_call *c) { return c->what >= CB_REMOTE_CREATE; }

static cubed_status begin(cb_remote *s, cb_remote_call *c, cubed_error *err)
{
    (void)s;
    if (c->what == CB_REMOTE_PUT || c->what == CB_REMOTE_PART)
        c->crc32c = cb_crc32c(0, c->http.body, c->http.body_size);
    if (c->what == CB_REMOTE_COMPLETE) memcpy(c->id, c->upload->id, sizeof c->id);
    return c->what == CB_REMOTE_PUT || c->what == CB_REMOTE_CREATE ? cb_remote_make_id(c, err)
                                                                   : CUBED_OK;
}

static void put_object(const cb_remote *s, cb_buf *out, const char *key)
{
    cb_buf name;
    cb_buf_init(&name, out->alloc);
    cb_buf_printf(&name, "%s%s%s", s->root, *s->root ? "/" : "", key);
    cb_uri_put(out, name.failed ? "" : name.data, "");
    out->failed |= name.failed;
    cb_buf_free(&name);
}

static void put_condition(cb_buf *url, const char *name, const char *version)
{
    cb_buf_printf(url, "&%s=%s", name, strcmp(version, "*") == 0 ? "0" : version);
}

/* Adds conditions on the object's generation. In such a condition, generation 0 means that the object does not exist. */
static void put_conditions(cb_buf *url, const cb_remote_call *c)
{
    const bool puts = c->what == CB_REMOTE_PUT;
    if (c->if_match) put_condition(url, "ifGenerationMatch", c->if_match);
    if (!c->if_none_match) return;
    put_condition(url,
                  puts && strcmp(c->if_none_match, "*") == 0 ? "ifGenerationMatch"
                                                             : "ifGenerationNotMatch",
                  c->if_none_match);
}

/* Sends the object's checksum and the ID of the put before the object. The service refuses data with another checksum. */
static void put_body(cb_remote_call *c)
{
    char crc[12];
    cb_remote_put_crc32c(c->crc32c, crc);
    cb_buf_printf(&c->http.before,
                  "--" BOUNDARY "\r\ncontent-type: application/json\r\n\r\n"
                  "{\"crc32c\":\"%s\",\"metadata\":{\"" OWN "\":\"%s\"}}\r\n"
                  "--" BOUNDARY "\r\ncontent-type: application/octet-stream\r\n\r\n",
                  crc, c->id);
    cb_buf_puts(&c->http.behind, "\r\n--" BOUNDARY "--\r\n");
    cb_http_put_header(&c->http, "content-type", "multipart/related; boundary=" BOUNDARY);
}

static void put_list_query(const cb_remote *s, const cb_remote_call *c, cb_buf *url)
{
    const cubed_store_request *r = c->request;
    cb_buf_puts(url, "?fields=prefixes,nextPageToken,items(name,size,generation)");
    if (r->page) {
        cb_buf_puts(url, "&pageToken=");
        cb_uri_put(url, r->page, "");
    }
    if (r->delimiter) cb_buf_puts(url, "&delimiter=%2F");
    cb_buf_puts(url, "&prefix=");
    if (*s->root || *c->key) put_object(s, url, c->key);
    if (*c->key) cb_buf_puts(url, "%2F");
}

static void put_url(const gcs_store *s, cb_remote_call *c)
{
    const cb_remote *r = &s->remote;
    cb_buf *url = &c->http.url;
    cb_buf_printf(url, "%s%s/storage/v1/b/", s->endpoint,
                  c->what == CB_REMOTE_PUT ? "/upload" : "");
    cb_uri_put(url, r->bucket, "");
    cb_buf_puts(url, "/o");
    switch (c->what) {
    case CB_REMOTE_LIST: put_list_query(r, c, url); return;
    case CB_REMOTE_PUT:
        cb_buf_puts(url, "?uploadType=multipart&fields=generation&name=");
        put_object(r, url, c->key);
        put_conditions(url, c);
        put_body(c);
        return;
    case CB_REMOTE_COPY:
        cb_buf_puts(url, "/");
        put_object(r, url, c->source);
        cb_buf_puts(url, "/rewriteTo/b/");
        cb_uri_put(url, r->bucket, "");
        cb_buf_puts(url, "/o/");
        put_object(r, url, c->key);
        cb_buf_puts(url, "?fields=done,rewriteToken");
        if (c->body.size) cb_buf_printf(url, "&rewriteToken=%s", c->body.data);
        return;
    default: break;
    }
    cb_buf_puts(url, "/");
    put_object(r, url, c->key);
    if (c->what == CB_REMOTE_DELETE) {
        if (c->if_match) cb_buf_printf(url, "?ifGenerationMatch=%s", c->if_match);
        return;
    }
    cb_buf_puts(url, c->what == CB_REMOTE_GET ? "?alt=media" : "?fields=size,generation,metadata");
    if (c->what != CB_REMOTE_CHECK) put_conditions(url, c);
}

/* Adds the header of the bearer token, unless access is anonymous. May have to wait for the token. */
static cb_http_ready put_token(const gcs_store *s, cb_http_call *h)
{
    return s->anonymous ? CB_HTTP_GO : cb_credentials_put_token(s->who, h);
}

static cb_http_ready prepare_xml(cb_remote *remote, cb_remote_call *c);

static cb_http_ready prepare(cb_remote *remote, cb_remote_call *c)
{
    static const char *const methods[] = {
        [CB_REMOTE_GET] = "GET",   [CB_REMOTE_HEAD] = "GET", [CB_REMOTE_PUT] = "POST",
        [CB_REMOTE_CHECK] = "GET", [CB_REMOTE_LIST] = "GET", [CB_REMOTE_DELETE] = "DELETE",
        [CB_REMOTE_COPY] = "POST"};
    const gcs_store *s = (gcs_store *)remote;
    cb_http_call *h = &c->http;
    if (is_of_upload(c)) return prepare_xml(remote, c);
    h->method = methods[c->what];
    put_url(s, c);
    if (*c->range && c->what == CB_REMOTE_GET) cb_http_put_header(h, "range", c->range);
    if (s->payer) cb_http_put_header(h, "x-goog-user-project", s->payer);
    return put_token(s, h);
}

/* --- Replies ------------------------------------------------------------------------------------------ */

static json_t *parse(const cb_remote_call *c)
{
    json_t *o = NULL;
    return cb_json_try("reply", c->http.text.data, c->http.text.size, &o, NULL) == CUBED_OK ? o
                                                                                            : NULL;
}

static void tell(const cb_remote_call *c, cubed_object_info *info)
{
    const char *version = cb_http_header(&c->http, "x-goog-generation");
    json_t *o = version ? NULL : parse(c);
    const char *size = json_string_value(json_object_get(o, "size"));
    if (!version) version = json_string_value(json_object_get(o, "generation"));
    if (size) info->size = strtoull(size, NULL, 10);
    cb_remote_set_version(info, version);
    /* Ignores the modification time, because only replies with data have one. The generation alone identifies the version. */
    info->modified = 0;
    json_decref(o);
}

static bool is_own(const cb_remote_call *c)
{
    json_t *o = parse(c);
    const char *id = json_string_value(json_object_get(json_object_get(o, "metadata"), OWN));
    const bool own = id && strcmp(id, c->id) == 0;
    json_decref(o);
    return own;
}

/* Checks the data against the header "crc32c=...,md5=...". */
static bool is_whole(const cb_remote_call *c)
{
    const char *text = cb_http_header(&c->http, "x-goog-hash");
    const char *crc = text ? strstr(text, "crc32c=") : NULL;
    const char *coded = cb_http_header(&c->http, "x-goog-stored-content-encoding");
    /* The server decompresses objects that are stored compressed, so the checksum does not apply. */
    if (!crc || (coded && strcmp(coded, "identity") != 0)) return true;
    return cb_remote_has_crc32c(c, crc + 7, strcspn(crc + 7, ","));
}

static void read_fault(const cb_remote_call *c, cb_remote_fault *f)
{
    if (is_of_upload(c)) {
        cb_remote_read_fault(&c->http, f);
        return;
    }
    json_t *o = parse(c), *error = json_object_get(o, "error");
    const json_t *first = json_array_get(json_object_get(error, "errors"), 0);
    const char *reason = json_string_value(json_object_get(first, "reason"));
    const char *message = json_string_value(json_object_get(error, "message"));
    const bool is_text = !o && c->http.text.size && *c->http.text.data != '<';
    *f = (cb_remote_fault){"", ""};
    if (!message && is_text) message = c->http.text.data;
    if (c->what != CB_REMOTE_COPY || c->http.code >= 300)
        snprintf(f->message, sizeof f->message, "%s", message ? message : "");
    if (reason) snprintf(f->code, sizeof f->code, "%s", reason);
    /* The service reports missing objects and missing buckets by the same code, so the message is examined. */
    if (c->http.code == 404)
        snprintf(f->code, sizeof f->code, "%s",
                 strcasestr(f->message, "bucket does not exist") ? "NoSuchBucket" : "NotFound");
    json_decref(o);
}

static cb_http_verdict repair(cb_remote *remote, cb_remote_call *c, const cb_remote_fault *f)
{
    gcs_store *s = (gcs_store *)remote;
    (void)f;
    if (c->http.code == 401 && !s->anonymous && cb_credentials_renew(s->who, &c->http))
        return CB_HTTP_AGAIN;
    return CB_HTTP_DONE;
}

/* Continues a copy. Large objects are copied in several calls, and each call returns a token for the next. */
static cb_http_verdict judge_copy(cb_remote *s, cb_remote_call *c)
{
    json_t *o = NULL;
    (void)s;
    c->http.status = cb_json_try("reply", c->http.text.data, c->http.text.size, &o, &c->http.error);
    if (c->http.status != CUBED_OK) return CB_HTTP_DONE;
    const char *token = json_string_value(json_object_get(o, "rewriteToken"));
    const bool done = json_is_true(json_object_get(o, "done"));
    if (!done && !token)
        c->http.status = cb_fail(&c->http.error, CUBED_E_IO,
                                 "the reply does not confirm that the object was copied");
    c->body.size = 0;
    c->http.attempts = 0;
    if (!done && token) cb_uri_put(&c->body, token, "");
    json_decref(o);
    if (c->body.failed)
        c->http.status = cb_fail(&c->http.error, CUBED_E_NOMEM, "no memory for a copy");
    if (c->http.status != CUBED_OK) return CB_HTTP_DONE;
    if (!done && ++c->steps > MOST_REWRITES) {
        c->http.status = cb_fail(&c->http.error, CUBED_E_IO,
                                 "the copy is incomplete after %d calls, expected a complete copy",
                                 MOST_REWRITES);
        return CB_HTTP_DONE;
    }
    return done ? CB_HTTP_DONE : CB_HTTP_AGAIN;
}

static const char *advice(const cb_remote *remote, int code, const cb_remote_fault *f)
{
    const gcs_store *s = (const gcs_store *)remote;
    if (strcmp(f->code, "NoSuchBucket") == 0 || (code == 404 && strcmp(f->code, "NotFound") == 0))
        return "there is no bucket of that name here: check it, and STORAGE_EMULATOR_HOST";
    if (code == 401 && !s->anonymous)
        return "the token is not valid, or has ended: check GOOGLE_APPLICATION_CREDENTIALS";
    if (code == 401 || (code == 403 && s->anonymous))
        return "it is not public: give credentials instead of token=\"anon\"";
    if (strcmp(f->code, "SignatureDoesNotMatch") == 0)
        return "check GS_SECRET_ACCESS_KEY: it is not that of the access key";
    if (strcmp(f->code, "InvalidAccessKeyId") == 0 || strcmp(f->code, "InvalidSecurity") == 0)
        return "check GS_ACCESS_KEY_ID: it is not known here";
    if (strcmp(f->code, "RequestTimeTooSkewed") == 0) return "set this machine's clock";
    if (strcmp(f->code, "NoSuchUpload") == 0)
        return "another process or a rule of the bucket ended the upload";
    return code == 403 ? "these credentials do not permit it: check the account and the bucket's "
                         "permissions"
                       : NULL;
}

/* --- Listings ----------------------------------------------------------------------------------------- */

static cubed_status tell_name(const cb_remote *s, const cubed_store_request *r, const char *text,
                              const char *size, const char *version, bool prefix, cubed_error *err)
{
    cb_buf name, generation;
    const size_t n = text ? strlen(text) : 0;
    if (n == 0 || (!prefix && text[n - 1] == '/')) return CUBED_OK;
    cb_buf_init(&name, s->head.alloc);
    cb_buf_init(&generation, s->head.alloc);
    cb_buf_puts(&name, text);
    if (version) cb_buf_puts(&generation, version);
    cubed_status st = cb_remote_tell_entry(s, r, &name, size ? strtoull(size, NULL, 10) : 0, prefix,
                                           &generation, err);
    cb_buf_free(&generation);
    cb_buf_free(&name);
    return st;
}

static cubed_status read_page(cb_remote *s, cb_remote_call *c, cubed_store_request *r,
                              cubed_error *err)
{
    json_t *o = NULL, *x;
    cubed_status st = CUBED_OK;
    size_t i;
    CB_TRY(cb_json_try("reply", c->http.text.data, c->http.text.size, &o, err));
    if (!json_is_object(o)) {
        json_decref(o);
        return cb_fail(err, CUBED_E_IO, "the reply is not a listing of Google's Cloud Storage");
    }
    json_array_foreach(json_object_get(o, "items"), i, x)
    {
        CB_GO(tell_name(s, r, json_string_value(json_object_get(x, "name")),
                        json_string_value(json_object_get(x, "size")),
                        json_string_value(json_object_get(x, "generation")), false, err));
    }
    json_array_foreach(json_object_get(o, "prefixes"), i, x)
    {
        CB_GO(tell_name(s, r, json_string_value(x), NULL, NULL, true, err));
    }
    const char *token = json_string_value(json_object_get(o, "nextPageToken"));
    if (token && strlen(token) >= CUBED_STORE_PAGE_CAP)
        CB_GO(cb_fail(err, CUBED_E_IO, "the listing's token is too long"));
    if (r->next_page && token) memcpy(r->next_page, token, strlen(token) + 1);
out:
    json_decref(o);
    return st;
}

/* --- XML API ------------------------------------------------------------------------------------------ */

static cubed_status read_xml_page(cb_remote *s, cb_remote_call *c, cubed_store_request *r,
                                  cubed_error *err)
{
    return cb_s3_read_entries(s, c, r, "Generation", err);
}

static void put_xml_headers(const gcs_store *s, cb_remote_call *c)
{
    cb_http_call *h = &c->http;
    char crc[12];
    const char *match = c->if_match;
    if (c->what == CB_REMOTE_PUT && c->if_none_match && strcmp(c->if_none_match, "*") == 0)
        match = "0";
    if (*c->range && c->what == CB_REMOTE_GET) cb_http_put_header(h, "range", c->range);
    /* The XML API has no condition "not this generation", so the reply's generation is compared instead. */
    if (match && c->what != CB_REMOTE_CHECK)
        cb_http_put_header(h, "x-goog-if-generation-match", match);
    if (s->payer) cb_http_put_header(h, "x-goog-user-project", s->payer);
    if (c->what == CB_REMOTE_COPY) {
        cb_buf_puts(&h->headers, "x-goog-copy-source: /");
        cb_uri_put(&h->headers, s->remote.bucket, "");
        cb_buf_puts(&h->headers, "/");
        cb_remote_put_key(&s->remote, &h->headers, c->source, "");
        cb_buf_put(&h->headers, "", 1);
    }
    if (c->what == CB_REMOTE_PUT || c->what == CB_REMOTE_PART) {
        cb_remote_put_crc32c(c->crc32c, crc);
        cb_buf_printf(&h->headers, "x-goog-hash: crc32c=%s", crc);
        cb_buf_put(&h->headers, "", 1);
    }
    if (c->what == CB_REMOTE_COMPLETE) cb_http_put_header(h, "content-type", "application/xml");
    if (c->what != CB_REMOTE_PUT && c->what != CB_REMOTE_CREATE) return;
    cb_http_put_header(h, "content-type", "application/octet-stream");
    cb_http_put_header(h, OWN_XML, c->id);
}

/* Signs the headers. They include the checksum of the body, except for the list of parts. */
static cubed_status sign(const gcs_store *s, cb_remote_call *c, const char *path, const char *query)
{
    cb_http_call *h = &c->http;
    const cb_sigv4 who = {.id = s->id,
                          .secret = s->secret,
                          .region = "auto",
                          .service = "storage",
                          .now = time(NULL),
                          .google = true};
    const cb_sigv4_request r = {
        .method = h->method, .path = path, .query = query, .body = "UNSIGNED-PAYLOAD"};
    cb_http_put_header(h, "x-goog-content-sha256", r.body);
    return cb_sigv4_sign(&who, &r, &h->headers, &h->error);
}

static cb_http_ready prepare_xml(cb_remote *remote, cb_remote_call *c)
{
    static const char *const methods[] = {
        [CB_REMOTE_GET] = "GET",       [CB_REMOTE_HEAD] = "HEAD",    [CB_REMOTE_PUT] = "PUT",
        [CB_REMOTE_CHECK] = "HEAD",    [CB_REMOTE_LIST] = "GET",     [CB_REMOTE_DELETE] = "DELETE",
        [CB_REMOTE_COPY] = "PUT",      [CB_REMOTE_CREATE] = "POST",  [CB_REMOTE_PART] = "PUT",
        [CB_REMOTE_COMPLETE] = "POST", [CB_REMOTE_ABORT] = "DELETE", [CB_REMOTE_UPLOADS] = "GET"};
    const gcs_store *s = (gcs_store *)remote;
    const char *host = strstr(s->endpoint, "://") + 3;
    const size_t n = strcspn(host, "/");
    cb_http_call *h = &c->http;
    cb_http_ready ready = CB_HTTP_NO;
    cb_buf path, query;
    cb_buf_init(&path, remote->head.alloc);
    cb_buf_init(&query, remote->head.alloc);
    h->method = methods[c->what];
    cb_buf_printf(&path, "%s/", host + n);
    cb_uri_put(&path, remote->bucket, "");
    cb_buf_puts(&path, "/");
    cb_buf_puts(&query, "");
    if (c->what == CB_REMOTE_LIST) cb_s3_put_list_query(remote, c, &query);
    cb_s3_put_upload_query(remote, c, &query);
    if (c->what != CB_REMOTE_LIST && c->what != CB_REMOTE_UPLOADS)
        cb_remote_put_key(remote, &path, c->key, "");
    cb_buf_printf(&h->headers, "host: %.*s", (int)n, host);
    cb_buf_put(&h->headers, "", 1);
    put_xml_headers(s, c);
    h->status =
        path.failed || query.failed || (c->what == CB_REMOTE_COMPLETE && !cb_s3_put_parts(c, false))
            ? cb_fail(&h->error, CUBED_E_NOMEM, "no memory for a request")
            : CUBED_OK;
    if (h->status == CUBED_OK && s->id) h->status = sign(s, c, path.data, query.data);
    if (h->status == CUBED_OK) ready = s->id ? CB_HTTP_GO : put_token(s, h);
    if (ready == CB_HTTP_GO) {
        cb_buf_put(&h->url, s->endpoint, (size_t)(host - s->endpoint) + n);
        cb_buf_printf(&h->url, "%s%s%s", path.data, query.size ? "?" : "", query.data);
    }
    cb_buf_free(&path);
    cb_buf_free(&query);
    return ready;
}

static void tell_xml(const cb_remote_call *c, cubed_object_info *info)
{
    cb_remote_set_version(info, cb_http_header(&c->http, "x-goog-generation"));
}

static bool is_own_xml(const cb_remote_call *c)
{
    const char *id = cb_http_header(&c->http, OWN_XML);
    return id && strcmp(id, c->id) == 0;
}

/* --- Opening ------------------------------------------------------------------------------------------ */

static cubed_status set_rest(cb_remote *remote, cubed_error *err);

static const cb_dialect gcs = {
    .options = OPTIONS,
    .size = sizeof(gcs_store),
    .set_rest = set_rest,
    .writes = true,
    .lists = true,
    .most_deleted = 1,
    .begin = begin,
    .prepare = prepare,
    .read_fault = read_fault,
    .repair = repair,
    .tell = tell,
    .is_own = is_own,
    .is_whole = is_whole,
    .read_page = read_page,
    .read_uploads = cb_s3_read_uploads,
    .read_upload = cb_s3_read_upload,
    .judge_copy = judge_copy,
    .advice = advice,
    .open = cb_gcs_open,
};

static const cb_dialect gcs_xml = {
    .writes = true,
    .lists = true,
    .most_deleted = 1,
    .begin = begin,
    .prepare = prepare_xml,
    .tell = tell_xml,
    .is_own = is_own_xml,
    .is_whole = is_whole,
    .read_page = read_xml_page,
    .read_uploads = cb_s3_read_uploads,
    .read_upload = cb_s3_read_upload,
    .advice = advice,
    .open = cb_gcs_open,
};

const cubed_store_vtable cb_gcs_vtable = CB_REMOTE_VTABLE(
    "gs", CUBED_STORE_CONDITIONS_IN_ONE_PIECE | CUBED_STORE_DELETES_IF | CUBED_STORE_PREFIXES);

static cubed_status set_endpoint(gcs_store *s, cubed_error *err)
{
    const char *given;
    bool tls = true;
    cb_buf url;
    s->endpoint = "https://storage.googleapis.com";
    CB_TRY(cb_net_get(s->remote.net, s->remote.zone, s->remote.head.url, CB_GOOGLE_ENDPOINT, &given,
                      err));
    if (!given) return CUBED_OK;
    cb_buf_init(&url, s->remote.head.alloc);
    cb_buf_printf(&url, "%s%s", strstr(given, "://") ? "" : "http://", given);
    cubed_status st = url.failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for an endpoint")
                                 : cb_remote_endpoint(s->remote.zone, "STORAGE_EMULATOR_HOST",
                                                      url.data, &s->endpoint, &tls, err);
    cb_buf_free(&url);
    return st;
}

/* Reads HMAC keys from the settings; a token takes precedence. */
static cubed_status set_hmac_keys(gcs_store *s, cubed_error *err)
{
    const char *url = s->remote.head.url, *token;
    cb_net *net = s->remote.net;
    cb_zone *zone = s->remote.zone;
    CB_TRY(cb_net_get(net, zone, url, CB_GOOGLE_TOKEN, &token, err));
    if (token || s->anonymous) return CUBED_OK;
    CB_TRY(cb_net_get(net, zone, url, HMAC_ID, &s->id, err));
    CB_TRY(cb_net_get_secret(net, zone, url, HMAC_KEY, &s->secret, err));
    if (!s->id != !s->secret)
        return cb_fail(err, CUBED_E_ARG,
                       "GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY: expected both, got the %s alone",
                       s->id ? "first" : "second");
    if (s->id) s->remote.dialect = &gcs_xml;
    return CUBED_OK;
}

cubed_status cb_gcs_get_upload_sizes(cb_net *net, cb_zone *zone, const char *url,
                                     cb_upload_sizes *out, cubed_error *err)
{
    const char *emulator, *asked;
    CB_TRY(cb_remote_get_upload_sizes(net, zone, url, out, err));
    CB_TRY(cb_net_get(net, zone, url, CB_GOOGLE_ENDPOINT, &emulator, err));
    CB_TRY(cb_net_get(net, zone, url, CB_REMOTE_PART_OPTIONS, &asked, err));
    if (emulator && !asked) out->from = 0;
    return CUBED_OK;
}

static cubed_status set_rest(cb_remote *remote, cubed_error *err)
{
    gcs_store *s = (gcs_store *)remote;
    const char *url = s->remote.head.url;
    cb_net *net = s->remote.net;
    cb_zone *zone = s->remote.zone;
    CB_TRY(cb_net_get_flag(net, zone, url, NOBODY, &s->anonymous, err));
    CB_TRY(cb_net_get(net, zone, url, PAYS, &s->payer, err));
    CB_TRY(set_endpoint(s, err));
    CB_TRY(set_hmac_keys(s, err));
    CB_TRY(cb_gcs_get_upload_sizes(net, zone, url, &s->remote.uploads, err));
    return s->id || s->anonymous ? CUBED_OK
                                 : cb_credentials_find(net, url, cb_look_for_google, &s->who, err);
}

cubed_status cb_gcs_open(cb_net *net, const char *url, cubed_store **out, cubed_error *err)
{
    return cb_remote_open(net, &cb_gcs_vtable, &gcs, url, out, err);
}
