/* Store in Azure Blob Storage. URLs are az://CONTAINER/PATH, with the account in the settings, or
 * az://CONTAINER@ACCOUNT.HOST/PATH. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "store/auth/credentials.h"
#include "store/core/uri.h"
#include "store/http/digest.h"
#include "store/http/xml.h"
#include "store/services/remote.h"
#include "store/services/remotes.h"

#define ACCOUNT "AZURE_STORAGE_ACCOUNT_NAME AZURE_STORAGE_ACCOUNT account_name account"
#define KEY                                                                                        \
    "AZURE_STORAGE_ACCOUNT_KEY AZURE_STORAGE_KEY AZURE_STORAGE_ACCESS_KEY account_key access_key"
#define SAS      "AZURE_STORAGE_SAS_TOKEN AZURE_STORAGE_SAS_KEY sas_token sas_key"
#define LINE     "AZURE_STORAGE_CONNECTION_STRING connection_string"
#define TOKEN    "AZURE_STORAGE_TOKEN bearer_token token"
#define ENDPOINT CB_AZURE_ENDPOINT
#define NOBODY   "AZURE_SKIP_SIGNATURE anon skip_signature"
#define EMULATOR "AZURE_STORAGE_USE_EMULATOR use_emulator"
#define OPTIONS                                                                                    \
    ACCOUNT " " KEY " " SAS " " LINE " " TOKEN " " ENDPOINT " " NOBODY " " EMULATOR                \
            " " CB_AZURE_OPTIONS " " CB_REMOTE_PART_OPTIONS " " CB_REMOTE_OPTIONS
#define VERSION "2021-12-02"
#define OWN     "x-ms-meta-cubed_write"
/* Published account and key of the emulator. */
#define EMULATED "devstoreaccount1"
#define EMULATED_KEY                                                                               \
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

enum { KEY_CAP = 128, MOST_HEADERS = 32 };

typedef struct azure_store {
    cb_remote remote;
    /* endpoint: "https://HOST" or "http://HOST/ACCOUNT" */
    const char *container, *account, *endpoint;
    /* NULL: not set; sas is the query of a shared access signature without '?' */
    const char *sas, *bearer;
    bool anonymous;
    unsigned char key[KEY_CAP];
    size_t key_size; /* 0: no key */
    /* source of tokens; NULL: the settings have other credentials, or access is anonymous */
    cb_credentials *who;
} azure_store;

/* --- Signatures --------------------------------------------------------------------------------------- */

/* Returns the value of a header of the request, or "" if the request does not have the header. */
static const char *sent(const cb_http_call *h, const char *name)
{
    const size_t n = strlen(name);
    const char *end = h->headers.data + h->headers.size;
    for (const char *at = h->headers.data; at && at < end; at += strlen(at) + 1) {
        if (strncmp(at, name, n) == 0 && at[n] == ':') return at + n + 2;
    }
    return "";
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Appends the headers of the service, one per line, sorted. */
static bool put_own_headers(const cb_http_call *h, cb_buf *out)
{
    const char *lines[MOST_HEADERS], *end = h->headers.data + h->headers.size;
    size_t n = 0;
    for (const char *at = h->headers.data; at < end; at += strlen(at) + 1) {
        if (strncmp(at, "x-ms-", 5) != 0) continue;
        if (n == MOST_HEADERS) return false;
        lines[n++] = at;
    }
    qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 0; i < n; i++) {
        const size_t name = strcspn(lines[i], ":");
        cb_buf_put(out, lines[i], name + 1);
        cb_buf_printf(out, "%s\n", lines[i] + name + 2);
    }
    return true;
}

/* Appends the account and the path as sent, then each part of the query decoded. The parts are sorted already. */
static void put_resource(const azure_store *s, const char *path, const char *query, cb_buf *out)
{
    cb_buf_printf(out, "/%s%s", s->account, path);
    for (const char *at = query; *at;) {
        const size_t n = strcspn(at, "&"), name = strcspn(at, "=");
        cb_buf_puts(out, "\n");
        cb_buf_put(out, at, name);
        cb_buf_puts(out, ":");
        cb_uri_decode(out, at + name + 1, n - name - 1, false);
        at += n + (at[n] == '&');
    }
}

static cubed_status sign(const azure_store *s, cb_remote_call *c, const char *path,
                         const char *query, cubed_error *err)
{
    static const char *const names[] = {"content-md5", "content-type",  "", "",
                                        "if-match",    "if-none-match", "", "range"};
    cb_http_call *h = &c->http;
    unsigned char hash[CB_SHA256_BYTES];
    char text[64];
    cb_buf what;
    cb_buf_init(&what, s->remote.head.alloc);
    cb_buf_printf(&what, "%s\n\n\n", h->method);
    if (strcmp(h->method, "PUT") == 0 && h->body_size) cb_buf_printf(&what, "%zu", h->body_size);
    cb_buf_puts(&what, "\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cb_buf_printf(&what, "%s\n", *names[i] ? sent(h, names[i]) : "");
    bool ok = put_own_headers(h, &what);
    put_resource(s, path, query, &what);
    ok = ok && !what.failed && cb_hmac_sha256(s->key, s->key_size, what.data, what.size, hash);
    cb_buf_free(&what);
    if (!ok) return cb_fail(err, CUBED_E_NOMEM, "no memory for a signature");
    cb_base64_encode(hash, sizeof hash, text);
    cb_buf_printf(&h->headers, "authorization: SharedKey %s:%s", s->account, text);
    cb_buf_put(&h->headers, "", 1);
    return CUBED_OK;
}

/* --- Requests ----------------------------------------------------------------------------------------- */

/* Computes the MD5 of the body or, for the end of an upload, of the object. The service stores it. */
static cubed_status begin(cb_remote *s, cb_remote_call *c, cubed_error *err)
{
    unsigned char hash[CB_MD5_BYTES];
    const cubed_store_request *r = c->request;
    (void)s;
    if (c->what == CB_REMOTE_CREATE) return cb_remote_make_id(c, err);
    if (c->what == CB_REMOTE_COMPLETE) memcpy(c->id, c->upload->id, sizeof c->id);
    if (c->what != CB_REMOTE_PUT && c->what != CB_REMOTE_PART && c->what != CB_REMOTE_COMPLETE)
        return CUBED_OK;
    if (!(c->what == CB_REMOTE_COMPLETE
              ? cb_md5(r->src, r->size, hash)
              : cb_md5(c->http.body ? c->http.body : "", c->http.body_size, hash)))
        return cb_fail(err, CUBED_E_NOMEM, "no memory for a digest");
    cb_base64_encode(hash, sizeof hash, c->sha256);
    return c->what == CB_REMOTE_PUT ? cb_remote_make_id(c, err) : CUBED_OK;
}

/* Appends the name of a block in base64. It contains the upload's ID, and all names have the same length. */
static void put_block(const cb_remote_call *c, size_t part, cb_buf *out)
{
    char name[64], text[96];
    const int n = snprintf(name, sizeof name, "%s-%05zu", c->upload->id, part);
    cb_base64_encode((const unsigned char *)name, (size_t)n, text);
    cb_buf_puts(out, text);
}

/* Creates the list of blocks. "Latest" also selects blocks that an attempt with a lost reply has committed. */
static void put_blocks(cb_remote_call *c)
{
    c->body.size = 0;
    cb_buf_puts(&c->body, "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>");
    for (size_t i = 1; i <= c->nparts; i++) {
        cb_buf_puts(&c->body, "<Latest>");
        put_block(c, i, &c->body);
        cb_buf_puts(&c->body, "</Latest>");
    }
    cb_buf_puts(&c->body, "</BlockList>");
    c->http.body = c->body.data;
    c->http.body_size = c->body.size;
}

static void put_upload_query(const cb_remote_call *c, cb_buf *query)
{
    cb_buf block;
    if (c->what == CB_REMOTE_COMPLETE) cb_buf_puts(query, "comp=blocklist");
    if (c->what != CB_REMOTE_PART) return;
    cb_buf_init(&block, query->alloc);
    put_block(c, c->part, &block);
    cb_buf_puts(query, "blockid=");
    cb_uri_put(query, block.failed ? "" : block.data, "");
    cb_buf_puts(query, "&comp=block");
    query->failed |= block.failed;
    cb_buf_free(&block);
}

/* Writes the query of a listing. Its parts are sorted by name, as the signature requires. */
static void put_list_query(const cb_remote *s, const cb_remote_call *c, cb_buf *query)
{
    const cubed_store_request *r = c->request;
    cb_buf_puts(query, "comp=list");
    if (r->delimiter) cb_buf_puts(query, "&delimiter=%2F");
    if (r->page) {
        cb_buf_puts(query, "&marker=");
        cb_uri_put(query, r->page, "");
    }
    cb_buf_puts(query, "&prefix=");
    cb_uri_put(query, s->root, "");
    if (*s->root && *c->key) cb_buf_puts(query, "%2F");
    cb_uri_put(query, c->key, "");
    if (*s->root || *c->key) cb_buf_puts(query, "%2F");
    cb_buf_puts(query, "&restype=container");
}

/* Appends the path of an object's URL. */
static void put_path(const azure_store *s, const char *key, cb_buf *out)
{
    const char *host = strstr(s->endpoint, "://") + 3;
    cb_buf_printf(out, "%s/%s", host + strcspn(host, "/"), s->container);
    if (!key) return;
    cb_buf_puts(out, "/");
    cb_remote_put_key(&s->remote, out, key, "");
}

static void put_source(const azure_store *s, cb_remote_call *c)
{
    const char *host = strstr(s->endpoint, "://") + 3;
    cb_buf *out = &c->http.headers;
    cb_buf_puts(out, "x-ms-copy-source: ");
    cb_buf_put(out, s->endpoint, (size_t)(host - s->endpoint) + strcspn(host, "/"));
    put_path(s, c->source, out);
    if (s->sas) cb_buf_printf(out, "?%s", s->sas);
    cb_buf_put(out, "", 1);
}

static void put_headers(const azure_store *s, cb_remote_call *c)
{
    cb_http_call *h = &c->http;
    const time_t now = time(NULL);
    char date[64];
    struct tm utc;
    gmtime_r(&now, &utc);
    /* Names of days and months must be English, regardless of the program's locale. */
    static const char days[] = "SunMonTueWedThuFriSat",
                      months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    snprintf(date, sizeof date, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
             days + 3 * (ptrdiff_t)utc.tm_wday, utc.tm_mday, months + 3 * (ptrdiff_t)utc.tm_mon,
             utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
    cb_http_put_header(h, "x-ms-date", date);
    cb_http_put_header(h, "x-ms-version", VERSION);
    if (*c->range && c->what == CB_REMOTE_GET) cb_http_put_header(h, "range", c->range);
    if (c->if_match && c->what != CB_REMOTE_CHECK) cb_http_put_header(h, "if-match", c->if_match);
    if (c->if_none_match && c->what != CB_REMOTE_CHECK)
        cb_http_put_header(h, "if-none-match", c->if_none_match);
    if (c->what == CB_REMOTE_COPY && !c->body.size) put_source(s, c);
    if (c->what == CB_REMOTE_PUT) {
        cb_http_put_header(h, "content-type", "application/octet-stream");
        cb_http_put_header(h, "content-md5", c->sha256);
        cb_http_put_header(h, "x-ms-blob-type", "BlockBlob");
        cb_http_put_header(h, OWN, c->id);
    }
    if (c->what == CB_REMOTE_PART) cb_http_put_header(h, "content-md5", c->sha256);
    if (c->what == CB_REMOTE_COMPLETE) {
        cb_http_put_header(h, "content-type", "application/xml");
        cb_http_put_header(h, "x-ms-blob-content-md5", c->sha256);
        cb_http_put_header(h, "x-ms-blob-content-type", "application/octet-stream");
        cb_http_put_header(h, OWN, c->id);
    }
}

/* Adds the header of a bearer token, if one is used. May have to wait for the token. */
static cb_http_ready put_token(const azure_store *s, cb_http_call *h)
{
    if (s->who) return cb_credentials_put_token(s->who, h);
    if (s->bearer && !s->sas && !s->anonymous) cb_put_bearer(h, s->bearer);
    return CB_HTTP_GO;
}

static cb_http_ready prepare(cb_remote *remote, cb_remote_call *c)
{
    static const char *const methods[] = {
        [CB_REMOTE_GET] = "GET",    [CB_REMOTE_HEAD] = "HEAD", [CB_REMOTE_PUT] = "PUT",
        [CB_REMOTE_CHECK] = "HEAD", [CB_REMOTE_LIST] = "GET",  [CB_REMOTE_DELETE] = "DELETE",
        [CB_REMOTE_COPY] = "PUT",   [CB_REMOTE_PART] = "PUT",  [CB_REMOTE_COMPLETE] = "PUT"};
    const azure_store *s = (azure_store *)remote;
    cb_http_call *h = &c->http;
    const char *host = strstr(s->endpoint, "://") + 3;
    const bool lists = c->what == CB_REMOTE_LIST;
    cb_http_ready ready = CB_HTTP_GO;
    cb_buf path, query;
    cb_buf_init(&path, remote->head.alloc);
    cb_buf_init(&query, remote->head.alloc);
    /* A copy in progress is polled with HEAD. */
    h->method = c->what == CB_REMOTE_COPY && c->body.size ? "HEAD" : methods[c->what];
    put_path(s, lists ? NULL : c->key, &path);
    cb_buf_puts(&query, "");
    if (lists) put_list_query(remote, c, &query);
    put_upload_query(c, &query);
    if (c->what == CB_REMOTE_COMPLETE) put_blocks(c);
    put_headers(s, c);
    cubed_status st = CUBED_OK;
    if (path.failed || query.failed || h->headers.failed || c->body.failed)
        st = cb_fail(&h->error, CUBED_E_NOMEM, "no memory for a request");
    if (st == CUBED_OK && s->key_size && !s->anonymous && !s->sas && !s->bearer)
        st = sign(s, c, path.data, query.data ? query.data : "", &h->error);
    if (st == CUBED_OK) ready = put_token(s, h);
    if (st == CUBED_OK && ready == CB_HTTP_GO) {
        cb_buf_put(&h->url, s->endpoint, (size_t)(host - s->endpoint) + strcspn(host, "/"));
        cb_buf_puts(&h->url, path.data);
        if (query.size) cb_buf_printf(&h->url, "?%s", query.data);
        if (s->sas && !s->anonymous) cb_buf_printf(&h->url, "%c%s", query.size ? '&' : '?', s->sas);
    }
    cb_buf_free(&path);
    cb_buf_free(&query);
    return st == CUBED_OK ? ready : cb_remote_refuse(c, st);
}

/* --- Replies ------------------------------------------------------------------------------------------ */

static void tell(const cb_remote_call *c, cubed_object_info *info)
{
    cb_remote_set_version(info, cb_http_header(&c->http, "etag"));
}

static bool is_own(const cb_remote_call *c)
{
    const char *id = cb_http_header(&c->http, OWN);
    return id && strcmp(id, c->id) == 0;
}

static bool is_whole(const cb_remote_call *c)
{
    const char *text = cb_http_header(&c->http, "content-md5");
    unsigned char hash[CB_MD5_BYTES];
    char own[28];
    if (!text || !c->whole || c->http.code != 200) return true;
    if (!cb_md5(c->pieces->got ? c->pieces->dst : "", c->pieces->got, hash)) return false;
    cb_base64_encode(hash, sizeof hash, own);
    return strcmp(own, text) == 0;
}

static cb_http_verdict repair(cb_remote *remote, cb_remote_call *c, const cb_remote_fault *f)
{
    const azure_store *s = (azure_store *)remote;
    if (c->http.code == 401 && s->who && cb_credentials_renew(s->who, &c->http))
        return CB_HTTP_AGAIN;
    /* the service returns this code if a condition requires that the object does not exist, but it exists */
    if (strcmp(f->code, "BlobAlreadyExists") == 0 && c->if_none_match) c->http.code = 412;
    return CB_HTTP_DONE;
}

static cb_http_verdict judge_copy(cb_remote *s, cb_remote_call *c)
{
    const char *state = cb_http_header(&c->http, "x-ms-copy-status");
    (void)s;
    if (!state || strcmp(state, "success") == 0) return CB_HTTP_DONE;
    c->http.status =
        cb_fail(&c->http.error, CUBED_E_IO, "the copy's state is %s, expected success", state);
    if (strcmp(state, "pending") != 0) return CB_HTTP_DONE;
    if (!c->body.size) cb_buf_puts(&c->body, state);
    return CB_HTTP_LATER;
}

static const char *advice(const cb_remote *remote, int code, const cb_remote_fault *f)
{
    static const struct {
        const char *code, *text;
    } known[] = {
        {"ContainerNotFound", "there is no container of that name in the account: check both"},
        {"AuthenticationFailed",
         "check AZURE_STORAGE_ACCOUNT_KEY or the SAS token, and this machine's clock"},
        {"AuthorizationFailure", "the account's network rules, or the SAS token, forbid it"},
        {"AuthorizationPermissionMismatch",
         "the caller has no role, or no SAS token, that permits it"},
        {"InvalidBlobOrBlock",
         "another program has begun to put this blob in blocks of its own: delete the blob"},
        {"AuthorizationServiceMismatch", "the SAS token is not for blobs"},
        {"AuthorizationResourceTypeMismatch",
         "the SAS token is not for what was asked: containers and objects are both needed"},
        {"PublicAccessNotPermitted", "it is not public: give an account's key or a SAS token"},
        {"ResourceNotFound",
         "there is no such container, or it is not public: give an account's key or a SAS token"},
        {"NoAuthenticationInformation", "it is not public: give an account's key or a SAS token"},
    };
    const azure_store *s = (const azure_store *)remote;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].code, f->code) == 0) return known[i].text;
    }
    if (code == 401 && (s->bearer || s->who))
        return s->who
                   ? "the identity's token is not valid here: check AZURE_CLIENT_ID, and its roles"
                   : "the token is not valid here, or has ended: get a new one";
    if (code == 403 && (s->anonymous || (!s->key_size && !s->sas && !s->bearer && !s->who)))
        return "it is not public: give an account's key or a SAS token";
    return code == 403
               ? "these credentials do not permit it: check the key, or what the SAS token permits"
               : NULL;
}

/* --- Listings ----------------------------------------------------------------------------------------- */

static cubed_status malformed(cubed_error *err)
{
    return cb_fail(err, CUBED_E_IO, "the reply is not a listing of Azure's");
}

/* Returns true if an entry of a listing is a directory, which accounts with directories list as an empty blob. */
static bool is_directory(cb_xml_part blob)
{
    cb_xml_part x;
    return cb_xml_find(blob, "ResourceType", &x) && x.size == 9 &&
           memcmp(x.text, "directory", 9) == 0;
}

static cubed_status tell_all(const cb_remote *s, const cubed_store_request *r, cb_xml_part rest,
                             bool prefixes, cubed_error *err)
{
    cb_buf name, tag;
    cb_xml_part x, part;
    cubed_status st = CUBED_OK;
    cb_buf_init(&name, s->head.alloc);
    cb_buf_init(&tag, s->head.alloc);
    while (cb_xml_next(&rest, prefixes ? "BlobPrefix" : "Blob", &x)) {
        name.size = 0;
        cb_remote_put_tag(&tag, x, "Etag");
        if (!cb_xml_find(x, "Name", &part) || !cb_xml_put_text(&name, part)) CB_GO(malformed(err));
        if (name.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for a listing"));
        if (!prefixes && is_directory(x)) continue;
        const uint64_t size = !prefixes && cb_xml_find(x, "Content-Length", &part)
                                  ? strtoull(part.text, NULL, 10)
                                  : 0;
        if (name.size && (prefixes || name.data[name.size - 1] != '/'))
            CB_GO(cb_remote_tell_entry(s, r, &name, size, prefixes, &tag, err));
    }
out:
    cb_buf_free(&tag);
    cb_buf_free(&name);
    return st;
}

static cubed_status read_page(cb_remote *s, cb_remote_call *c, cubed_store_request *r,
                              cubed_error *err)
{
    cb_xml_part all = {c->http.text.data, c->http.text.size}, blobs, x;
    if (!all.size || !cb_xml_find(all, "EnumerationResults", &all)) return malformed(err);
    if (cb_xml_find(all, "Blobs", &blobs)) {
        CB_TRY(tell_all(s, r, blobs, false, err));
        CB_TRY(tell_all(s, r, blobs, true, err));
    }
    if (!r->next_page || !cb_xml_find(all, "NextMarker", &x) || x.size == 0) return CUBED_OK;
    return cb_remote_tell_next_page(s, r, x, err);
}

/* --- Opening ------------------------------------------------------------------------------------------ */

static cubed_status set_rest(cb_remote *remote, cubed_error *err);

static const cb_dialect azure = {
    .options = OPTIONS,
    .size = sizeof(azure_store),
    .set_rest = set_rest,
    .writes = true,
    .lists = true,
    .most_deleted = 1,
    .begin = begin,
    .prepare = prepare,
    .repair = repair,
    .tell = tell,
    .is_own = is_own,
    .is_whole = is_whole,
    .read_page = read_page,
    .judge_copy = judge_copy,
    .conditional_uploads = true,
    .advice = advice,
    .open = cb_azure_open,
};

const cubed_store_vtable cb_azure_vtable =
    CB_REMOTE_VTABLE("az", CUBED_STORE_ETAGS | CUBED_STORE_DELETES_IF | CUBED_STORE_PREFIXES);

/* Returns the value of a name in "NAME=VALUE;NAME=VALUE", or NULL if missing. */
static const char *of_line(cb_zone *zone, const char *line, const char *name)
{
    const size_t n = strlen(name);
    while (line && *line) {
        const size_t length = strcspn(line, ";");
        if (length > n && strncasecmp(line, name, n) == 0 && line[n] == '=') {
            char *value = cb_zone_memdup(zone, line + n + 1, length - n);
            if (value) value[length - n - 1] = 0;
            return value;
        }
        line += length + (line[length] == ';');
    }
    return NULL;
}

static cubed_status set_key(azure_store *s, const char *key, cubed_error *err)
{
    if (!key || cb_base64_decode(key, s->key, sizeof s->key, &s->key_size)) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG, "AZURE_STORAGE_ACCOUNT_KEY is not a key: expected base64");
}

/* Sets the endpoint: the host of the URL, or of the account. A host of the files service is replaced by the host of the blob
 * service. */
static cubed_status set_endpoint(azure_store *s, const char *given, const char *host,
                                 const char *suffix, cubed_error *err)
{
    cb_zone *zone = s->remote.zone;
    bool tls = true;
    char text[512];
    if (given)
        return cb_remote_endpoint(zone, "AZURE_STORAGE_ENDPOINT", given, &s->endpoint, &tls, err);
    const char *files = host ? strstr(host, ".dfs.") : NULL;
    if (host)
        snprintf(text, sizeof text, "https://%.*s%s%s",
                 (int)(files ? files - host : (long)strlen(host)), host, files ? ".blob." : "",
                 files ? files + 5 : "");
    else
        snprintf(text, sizeof text, "https://%s.blob.%s", s->account,
                 suffix ? suffix : "core.windows.net");
    s->endpoint = cb_zone_strdup(zone, text);
    return s->endpoint ? CUBED_OK : cb_fail(err, CUBED_E_NOMEM, "no memory for an endpoint");
}

/* Splits the URL into container and, if given, host with account. */
static cubed_status split(azure_store *s, const char **host, cubed_error *err)
{
    cb_zone *zone = s->remote.zone;
    char *name = cb_zone_strdup(zone, s->remote.bucket), *at = name ? strchr(name, '@') : NULL;
    if (!name) return cb_fail(err, CUBED_E_NOMEM, "no memory for a store");
    s->container = name;
    *host = NULL;
    if (!at) return CUBED_OK;
    *at = 0;
    *host = at + 1;
    char *account = cb_zone_strdup(zone, at + 1);
    if (!account) return cb_fail(err, CUBED_E_NOMEM, "no memory for a store");
    account[strcspn(account, ".")] = 0;
    s->account = account;
    return CUBED_OK;
}

static cubed_status set_rest(cb_remote *remote, cubed_error *err)
{
    azure_store *s = (azure_store *)remote;
    const char *url = s->remote.head.url, *line, *key, *endpoint, *host = NULL, *account;
    cb_net *net = s->remote.net;
    cb_zone *zone = s->remote.zone;
    bool emulated = false;
    CB_TRY(split(s, &host, err));
    CB_TRY(cb_net_get_secret(net, zone, url, LINE, &line, err));
    CB_TRY(cb_net_get(net, zone, url, ACCOUNT, &account, err));
    CB_TRY(cb_net_get_secret(net, zone, url, KEY, &key, err));
    CB_TRY(cb_net_get_secret(net, zone, url, SAS, &s->sas, err));
    CB_TRY(cb_net_get_secret(net, zone, url, TOKEN, &s->bearer, err));
    CB_TRY(cb_net_get(net, zone, url, ENDPOINT, &endpoint, err));
    CB_TRY(cb_net_get_flag(net, zone, url, NOBODY, &s->anonymous, err));
    CB_TRY(cb_net_get_flag(net, zone, url, EMULATOR, &emulated, err));
    if (line && !account) account = of_line(zone, line, "AccountName");
    if (line && !key) key = of_line(zone, line, "AccountKey");
    if (line && !s->sas) s->sas = of_line(zone, line, "SharedAccessSignature");
    if (line && !endpoint) endpoint = of_line(zone, line, "BlobEndpoint");
    if (of_line(zone, line, "UseDevelopmentStorage")) emulated = true;
    if (emulated) {
        if (!account) account = EMULATED;
        if (!key) key = EMULATED_KEY;
        if (!endpoint) endpoint = "http://127.0.0.1:10000/" EMULATED;
    }
    if (s->sas && *s->sas == '?') s->sas++;
    if (!s->account) s->account = account;
    if (!s->account && endpoint) s->account = "";
    if (!s->account)
        return cb_fail(err, CUBED_E_ARG,
                       "the URL has no account: set AZURE_STORAGE_ACCOUNT_NAME, or write the "
                       "account as in abfs://%s@ACCOUNT.dfs.core.windows.net/PATH",
                       s->container);
    CB_TRY(set_key(s, key, err));
    if (s->key_size && !*s->account && !s->sas)
        return cb_fail(err, CUBED_E_ARG,
                       "an account key is set, but AZURE_STORAGE_ACCOUNT_NAME is not: set both");
    CB_TRY(set_endpoint(s, endpoint, host, of_line(zone, line, "EndpointSuffix"), err));
    CB_TRY(cb_remote_get_upload_sizes(net, zone, url, &s->remote.uploads, err));
    return s->key_size || s->sas || s->bearer || s->anonymous
               ? CUBED_OK
               : cb_credentials_find(net, url, cb_look_for_azure, &s->who, err);
}

cubed_status cb_azure_open(cb_net *net, const char *url, cubed_store **out, cubed_error *err)
{
    return cb_remote_open(net, &cb_azure_vtable, &azure, url, out, err);
}
