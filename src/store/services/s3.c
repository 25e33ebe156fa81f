#define _GNU_SOURCE
#include "store/services/remotes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/text.h"
#include "store/auth/credentials.h"
#include "store/auth/sigv4.h"
#include "store/core/uri.h"
#include "store/http/digest.h"
#include "store/http/xml.h"
#include "store/services/remote.h"
#include "store/services/s3_listing.h"
#include "store/services/s3_upload.h"

#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define UNSIGNED     "UNSIGNED-PAYLOAD"
#define OWN          "x-amz-meta-cubed-write"
#define CRC32C       "x-amz-checksum-crc32c"
/* Name of user-defined metadata with the checksum of an object that was uploaded in parts, because services store only the
 * checksums of the parts. */
#define OWN_CRC32C "x-amz-meta-cubed-crc32c"

#define REGION   "AWS_REGION AWS_DEFAULT_REGION region region_name"
#define ENDPOINT "AWS_ENDPOINT_URL_S3 AWS_ENDPOINT_URL endpoint_url endpoint AWS_ENDPOINT"
#define NOBODY   "AWS_NO_SIGN_REQUEST AWS_SKIP_SIGNATURE anon skip_signature"
#define VIRTUAL  "AWS_VIRTUAL_HOSTED_STYLE_REQUEST virtual_hosted_style_request"
#define PAYS     "AWS_REQUEST_PAYER requester_pays"
#define OPTIONS                                                                                    \
    CB_AWS_OPTIONS " " REGION " " ENDPOINT " " NOBODY " " VIRTUAL " " PAYS                         \
                   " " CB_NET_CONDITIONAL_PUT " " CB_REMOTE_PART_OPTIONS " " CB_REMOTE_OPTIONS

enum { REGION_CAP = 64 };

typedef struct s3_learned {
    char region[REGION_CAP];
    int64_t ahead; /* seconds that the server's clock is ahead of this machine's */
    /* the service refuses conditional deletions; other services support or ignore them */
    bool refuses_conditions;
    /* true if the service refuses signatures in the query, which limit deletions to some seconds */
    bool refuses_leases;
} s3_learned;

typedef struct s3_store {
    cb_remote remote;
    /* "https://host:port/base" without trailing '/'; NULL: Amazon's endpoint of the region */
    const char *endpoint;
    bool by_host; /* the bucket is part of the host name */
    bool tls, anonymous, pays;
    bool unconditional; /* the service does not support conditions, so requests have none */
    cb_credentials *who;
    /* Replies change this in the threads of the clients, so the lock of `remote` guards it. */
    s3_learned learned;
} s3_store;

static s3_learned what_is_known(s3_store *s)
{
    cb_mutex_lock(&s->remote.lock);
    const s3_learned known = s->learned;
    cb_mutex_unlock(&s->remote.lock);
    return known;
}

/* --- Requests ----------------------------------------------------------------------------------------- */

static cubed_status put_digests(const s3_store *s, cb_remote_call *c, cubed_error *err)
{
    unsigned char hash[CB_SHA256_BYTES];
    const cb_http_call *h = &c->http;
    c->crc32c = cb_crc32c(0, h->body, h->body_size);
    snprintf(c->sha256, sizeof c->sha256, "%s", UNSIGNED);
    if (!s->tls && !s->anonymous) {
        if (!cb_sha256(h->body, h->body_size, hash))
            return cb_fail(err, CUBED_E_NOMEM, "no memory for a digest");
        cb_hex(hash, sizeof hash, c->sha256);
    }
    return c->what == CB_REMOTE_PUT ? cb_remote_make_id(c, err) : CUBED_OK;
}

/* Returns true if deletions are conditional. */
static bool deletes_if(s3_store *s)
{
    return !s->unconditional && !what_is_known(s).refuses_conditions;
}

/* Creates the body of a bulk deletion. Objects with a given version are deleted only if they have it. */
static cubed_status put_deletions(s3_store *s, cb_remote_call *c, cubed_error *err)
{
    cb_buf name;
    cubed_status st = CUBED_OK;
    bool ok = true;
    const bool conditional = c->versions && deletes_if(s);
    c->body.size = 0;
    cb_buf_init(&name, s->remote.head.alloc);
    cb_buf_puts(&c->body,
                "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>");
    for (size_t i = 0; i < c->nkeys && ok; i++) {
        name.size = 0;
        if (*s->remote.root) cb_buf_printf(&name, "%s/", s->remote.root);
        cb_buf_puts(&name, c->keys[i]);
        cb_buf_puts(&c->body, "<Object><Key>");
        ok = !name.failed && cb_xml_escape(&c->body, name.data);
        cb_buf_puts(&c->body, "</Key>");
        if (conditional && c->versions[i]) {
            cb_buf_puts(&c->body, "<ETag>");
            ok = ok && cb_xml_escape(&c->body, c->versions[i]);
            cb_buf_puts(&c->body, "</ETag>");
        }
        cb_buf_puts(&c->body, "</Object>");
    }
    cb_buf_puts(&c->body, "</Delete>");
    if (name.failed || c->body.failed)
        st = cb_fail(err, CUBED_E_NOMEM, "no memory to delete keys");
    else if (!ok)
        st = cb_fail(err, CUBED_E_ARG, "%s: a key has control characters, which S3 cannot delete",
                     s->remote.head.url);
    cb_buf_free(&name);
    c->http.body = c->body.data;
    c->http.body_size = c->body.size;
    return st;
}

static cubed_status begin(cb_remote *remote, cb_remote_call *c, cubed_error *err)
{
    s3_store *s = (s3_store *)remote;
    if (c->what == CB_REMOTE_DELETE_MANY) CB_TRY(put_deletions(s, c, err));
    if (c->what == CB_REMOTE_CREATE) {
        c->crc32c = cb_crc32c(0, c->request->src, c->request->size);
        return cb_remote_make_id(c, err);
    }
    if (c->what == CB_REMOTE_COMPLETE) memcpy(c->id, c->upload->id, sizeof c->id);
    return c->what == CB_REMOTE_PUT || c->what == CB_REMOTE_PART || c->what == CB_REMOTE_DELETE_MANY
               ? put_digests(s, c, err)
               : CUBED_OK;
}

static bool put_parts(cb_remote_call *c)
{
    unsigned char hash[CB_SHA256_BYTES];
    if (!cb_s3_put_parts(c, true) || !cb_sha256(c->body.data, c->body.size, hash)) return false;
    cb_hex(hash, sizeof hash, c->sha256);
    return true;
}

/* Appends the host, and the path of the bucket's objects without trailing '/'. */
static void put_place(const s3_store *s, const char *region, cb_buf *host, cb_buf *path)
{
    const char *china = strncmp(region, "cn-", 3) == 0 ? ".cn" : "";
    const char *name = s->endpoint ? strstr(s->endpoint, "://") + 3 : NULL;
    const size_t n = name ? strcspn(name, "/") : 0;
    if (s->by_host) cb_buf_printf(host, "%s.", s->remote.bucket);
    if (name)
        cb_buf_put(host, name, n);
    else
        cb_buf_printf(host, "s3.%s.amazonaws.com%s", region, china);
    cb_buf_puts(path, name ? name + n : "");
    if (s->by_host) return;
    cb_buf_puts(path, "/");
    cb_uri_put(path, s->remote.bucket, "");
}

static void put_checksum(cb_remote_call *c, const char *name)
{
    char text[12];
    cb_remote_put_crc32c(c->crc32c, text);
    cb_http_put_header(&c->http, name, text);
}

static void put_source(const s3_store *s, cb_remote_call *c)
{
    cb_buf *out = &c->http.headers;
    cb_buf_puts(out, "x-amz-copy-source: /");
    cb_uri_put(out, s->remote.bucket, "");
    cb_buf_puts(out, "/");
    cb_remote_put_key(&s->remote, out, c->source, "");
    cb_buf_put(out, "", 1);
}

static void put_headers(const s3_store *s, const s3_learned *known, cb_remote_call *c)
{
    cb_http_call *h = &c->http;
    if (*c->range && c->what == CB_REMOTE_GET) cb_http_put_header(h, "range", c->range);
    if (c->what == CB_REMOTE_GET && c->whole)
        cb_http_put_header(h, "x-amz-checksum-mode", "ENABLED");
    const bool puts = c->what == CB_REMOTE_PUT || c->what == CB_REMOTE_COMPLETE;
    const bool deletes = c->what == CB_REMOTE_DELETE;
    const bool conditional = c->what != CB_REMOTE_CHECK && c->what != CB_REMOTE_DELETE_MANY &&
                             !((puts || deletes) && s->unconditional) &&
                             !(deletes && known->refuses_conditions);
    if (c->if_match && conditional) cb_http_put_header(h, "if-match", c->if_match);
    if (c->if_none_match && conditional) cb_http_put_header(h, "if-none-match", c->if_none_match);
    if (c->what == CB_REMOTE_COPY) put_source(s, c);
    if (s->pays) cb_http_put_header(h, "x-amz-request-payer", "requester");
    if (c->what == CB_REMOTE_PUT) {
        cb_http_put_header(h, "content-type", "application/octet-stream");
        cb_http_put_header(h, OWN, c->id);
        put_checksum(c, CRC32C);
    }
    if (c->what == CB_REMOTE_CREATE) {
        cb_http_put_header(h, "content-type", "application/octet-stream");
        cb_http_put_header(h, "x-amz-checksum-algorithm", "CRC32C");
        cb_http_put_header(h, OWN, c->id);
        put_checksum(c, OWN_CRC32C);
    }
    if (c->what == CB_REMOTE_COMPLETE) cb_http_put_header(h, "content-type", "application/xml");
    if (c->what == CB_REMOTE_PART) put_checksum(c, CRC32C);
    if (c->what == CB_REMOTE_DELETE_MANY) {
        cb_http_put_header(h, "content-type", "application/xml");
        put_checksum(c, CRC32C);
    }
}

/* Appends the query that selects a subresource of an object or bucket; "" for the object itself. */
static void put_query(const s3_store *s, const cb_remote_call *c, cb_buf *query)
{
    cb_buf_puts(query, "");
    switch (c->what) {
    case CB_REMOTE_LIST: cb_s3_put_list_query(&s->remote, c, query); break;
    case CB_REMOTE_DELETE_MANY: cb_buf_puts(query, "delete="); break;
    default: cb_s3_put_upload_query(&s->remote, c, query); break;
    }
}

/* Adds the MD5 of the body, because some services accept no other checksum of a list of keys. */
static bool put_md5(cb_remote_call *c)
{
    unsigned char hash[CB_MD5_BYTES];
    char text[28];
    if (!cb_md5(c->http.body, c->http.body_size, hash)) return false;
    cb_base64_encode(hash, sizeof hash, text);
    cb_http_put_header(&c->http, "content-md5", text);
    return true;
}

/* Returns true if the service must refuse the call if it arrives late. The date of the signature is the time of the check of the
 * claim, by the service's clock. This machine's clock may stop while the machine is suspended. */
static bool is_leased(const s3_store *s, const s3_learned *known, const cb_remote_call *c)
{
    return c->looked && !s->anonymous && !known->refuses_leases;
}

/* Signs a call. `signed_query` receives the query to send. */
static cb_http_ready sign(s3_store *s, cb_remote_call *c, const s3_learned *known, const char *path,
                          const char *query, cb_buf *signed_query)
{
    cb_http_call *h = &c->http;
    const bool has_body = c->what == CB_REMOTE_PUT || c->what == CB_REMOTE_DELETE_MANY ||
                          c->what == CB_REMOTE_PART || c->what == CB_REMOTE_COMPLETE;
    const char *body = has_body ? c->sha256 : EMPTY_SHA256;
    const bool leased = is_leased(s, known, c);
    cb_keys keys;
    if (!leased) cb_buf_puts(signed_query, query);
    if (s->anonymous) return CB_HTTP_GO;
    const cb_http_ready ready = cb_credentials_get(s->who, h, &keys);
    if (ready != CB_HTTP_GO) return ready;
    const cb_sigv4 who = {.id = keys.id,
                          .secret = keys.secret,
                          .token = keys.token,
                          .region = known->region,
                          .service = "s3",
                          .now = (time_t)(leased ? c->looked : time(NULL) + known->ahead)};
    const cb_sigv4_request r = {
        .method = h->method, .path = path, .query = query, .body = leased ? UNSIGNED : body};
    if (!leased) cb_http_put_header(h, "x-amz-content-sha256", body);
    h->status = leased ? cb_sigv4_sign_query(&who, &r, CUBED_STORE_LEASE, &h->headers, signed_query,
                                             &h->error)
                       : cb_sigv4_sign(&who, &r, &h->headers, &h->error);
    explicit_bzero(&keys, sizeof keys);
    return h->status == CUBED_OK ? CB_HTTP_GO : CB_HTTP_NO;
}

static cb_http_ready prepare(cb_remote *remote, cb_remote_call *c)
{
    static const char *const methods[] = {
        [CB_REMOTE_GET] = "GET",    [CB_REMOTE_HEAD] = "HEAD",     [CB_REMOTE_PUT] = "PUT",
        [CB_REMOTE_CHECK] = "HEAD", [CB_REMOTE_DELETE] = "DELETE", [CB_REMOTE_DELETE_MANY] = "POST",
        [CB_REMOTE_LIST] = "GET",   [CB_REMOTE_COPY] = "PUT",      [CB_REMOTE_CREATE] = "POST",
        [CB_REMOTE_PART] = "PUT",   [CB_REMOTE_COMPLETE] = "POST", [CB_REMOTE_ABORT] = "DELETE",
        [CB_REMOTE_UPLOADS] = "GET"};
    s3_store *s = (s3_store *)remote;
    const s3_learned known = what_is_known(s);
    cb_buf host, path, query, sent;
    cb_http_ready ready = CB_HTTP_GO;
    cb_buf_init(&host, remote->head.alloc);
    cb_buf_init(&path, remote->head.alloc);
    cb_buf_init(&query, remote->head.alloc);
    cb_buf_init(&sent, remote->head.alloc);
    c->http.method = methods[c->what];
    put_place(s, known.region, &host, &path);
    cb_buf_puts(&path, "/");
    put_query(s, c, &query);
    if (c->what != CB_REMOTE_LIST && c->what != CB_REMOTE_UPLOADS &&
        c->what != CB_REMOTE_DELETE_MANY)
        cb_remote_put_key(remote, &path, c->key, "");
    bool ok = !host.failed && !path.failed && !query.failed;
    if (ok && c->what == CB_REMOTE_COMPLETE) ok = put_parts(c);
    if (ok) {
        cb_http_put_header(&c->http, "host", host.data);
        put_headers(s, &known, c);
        if (c->what == CB_REMOTE_DELETE_MANY) ok = put_md5(c);
    }
    if (ok) ready = sign(s, c, &known, path.data, query.data, &sent);
    /* Without its query, a call would mean something else: a call of an upload would overwrite the object. */
    if (!ok || sent.failed)
        ready =
            cb_remote_refuse(c, cb_fail(&c->http.error, CUBED_E_NOMEM, "no memory for a request"));
    if (ready == CB_HTTP_GO)
        cb_buf_printf(&c->http.url, "%s://%s%s%s%s", s->tls ? "https" : "http", host.data,
                      path.data, sent.size ? "?" : "", sent.size ? sent.data : "");
    cb_buf_free(&sent);
    cb_buf_free(&host);
    cb_buf_free(&path);
    cb_buf_free(&query);
    return ready;
}

/* --- Replies ------------------------------------------------------------------------------------------ */

static void tell(const cb_remote_call *c, cubed_object_info *info)
{
    cb_buf tag;
    cb_buf_init(&tag, c->http.text.alloc);
    const char *text = cb_http_header(&c->http, "etag");
    if (!text && c->what == CB_REMOTE_COMPLETE && cb_s3_put_element(c, "ETag", &tag))
        text = tag.data;
    cb_remote_set_version(info, text);
    cb_buf_free(&tag);
}

static bool is_own(const cb_remote_call *c)
{
    const char *id = cb_http_header(&c->http, OWN);
    return id && strcmp(id, c->id) == 0;
}

static bool is_whole(const cb_remote_call *c)
{
    const char *text = cb_http_header(&c->http, OWN_CRC32C);
    if (!text) /* a checksum of parts is recognised later, because it is longer */
        text = cb_http_header(&c->http, CRC32C);
    return cb_remote_has_crc32c(c, text, text ? strlen(text) : 0);
}

/* Records the bucket's region if a reply reports another region than assumed. */
static bool record_region(s3_store *s, const cb_remote_call *c)
{
    bool news;
    char quoted[REGION_CAP] = "";
    const char *region = cb_http_header(&c->http, "x-amz-bucket-region");
    cb_xml_part x;
    if (!region && c->http.text.size &&
        cb_xml_find((cb_xml_part){c->http.text.data, c->http.text.size}, "Region", &x) &&
        x.size < sizeof quoted) {
        memcpy(quoted, x.text, x.size);
        region = quoted;
    }
    if (!region || !*region || strlen(region) >= REGION_CAP ||
        strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(region))
        return false;
    cb_mutex_lock(&s->remote.lock);
    news = strcmp(region, s->learned.region) != 0;
    if (news) snprintf(s->learned.region, REGION_CAP, "%s", region);
    cb_mutex_unlock(&s->remote.lock);
    /* Also retries once if another call has recorded the region since this call was sent. */
    return news || c->repairs == 0;
}

/* Records the server's clock offset if it differs from the assumed one. */
static bool record_clock_offset(s3_store *s, const cb_remote_call *c, int64_t ahead)
{
    cb_mutex_lock(&s->remote.lock);
    const bool news = llabs(ahead - s->learned.ahead) >= 60;
    if (news) s->learned.ahead = ahead;
    cb_mutex_unlock(&s->remote.lock);
    return news || c->repairs == 0;
}

/* Returns true if the service refuses a deletion because it is conditional. Later deletions are then unconditional, as with
 * services that ignore conditions. */
static bool learn_refusal(s3_store *s, cb_remote_call *c, const cb_remote_fault *f)
{
    const bool many = c->what == CB_REMOTE_DELETE_MANY;
    const bool conditional =
        many ? c->versions != NULL : c->what == CB_REMOTE_DELETE && c->if_match;
    if (!conditional || !deletes_if(s) ||
        !(c->http.code == 501 || strcmp(f->code, "NotImplemented") == 0 ||
          (many && strcmp(f->code, "MalformedXML") == 0)))
        return false;
    cb_mutex_lock(&s->remote.lock);
    s->learned.refuses_conditions = true;
    cb_mutex_unlock(&s->remote.lock);
    return !many || (put_deletions(s, c, NULL) == CUBED_OK && put_digests(s, c, NULL) == CUBED_OK);
}

/* Returns true if the reply may mean that the call's lease has expired, or that the service does not support such signatures. */
static bool is_refused_lease(s3_store *s, const cb_remote_call *c, const cb_remote_fault *f)
{
    const s3_learned known = what_is_known(s);
    const int code = c->http.code;
    return is_leased(s, &known, c) && (code == 400 || code == 403 || code == 501) &&
           strcmp(f->code, "ExpiredToken") != 0 && strcmp(f->code, "InvalidToken") != 0;
}

/* If the lease has expired, the caller must check its claim again. Otherwise the service or a bucket policy may refuse
 * signatures in queries: sign the call in the headers. */
static cb_http_verdict check_lease(s3_store *s, cb_remote_call *c)
{
    if (cb_http_date(&c->http, "date") > c->looked + CUBED_STORE_LEASE) {
        c->http.code = 412;
        return CB_HTTP_DONE;
    }
    cb_mutex_lock(&s->remote.lock);
    s->learned.refuses_leases = true;
    cb_mutex_unlock(&s->remote.lock);
    return CB_HTTP_AGAIN;
}

static cb_http_verdict repair(cb_remote *remote, cb_remote_call *c, const cb_remote_fault *f)
{
    s3_store *s = (s3_store *)remote;
    const int code = c->http.code;
    if ((code == 301 || code == 307 || code == 400 || code == 403) && record_region(s, c))
        return CB_HTTP_AGAIN;
    if ((strcmp(f->code, "ExpiredToken") == 0 || strcmp(f->code, "InvalidToken") == 0) &&
        !s->anonymous && cb_credentials_renew(s->who, &c->http))
        return CB_HTTP_AGAIN;
    if (strcmp(f->code, "OperationAborted") == 0 ||
        strcmp(f->code, "ConditionalRequestConflict") == 0)
        return CB_HTTP_LATER; /* another writer is putting the object, so retry later */
    if (learn_refusal(s, c, f)) return CB_HTTP_AGAIN;
    if (is_refused_lease(s, c, f)) return check_lease(s, c);
    if (strcmp(f->code, "RequestTimeTooSkewed") == 0) {
        const int64_t theirs = cb_http_date(&c->http, "date"), ahead = theirs - (int64_t)time(NULL);
        return theirs && record_clock_offset(s, c, ahead) ? CB_HTTP_AGAIN : CB_HTTP_DONE;
    }
    return CB_HTTP_DONE;
}

static const char *advice(const cb_remote *remote, int code, const cb_remote_fault *f)
{
    static const struct {
        const char *code, *text;
    } known[] = {
        {"NoSuchBucket", "there is no bucket of that name here: check it, and AWS_ENDPOINT_URL"},
        {"InvalidAccessKeyId", "check AWS_ACCESS_KEY_ID: it is not known here"},
        {"SignatureDoesNotMatch", "check AWS_SECRET_ACCESS_KEY: it is not that of the access key"},
        {"ExpiredToken", "the session has ended: get new credentials"},
        {"InvalidToken", "check AWS_SESSION_TOKEN: it is not that of the access key"},
        {"AccessDenied",
         "these credentials do not permit it: check credentials and the bucket's policy"},
        {"RequestTimeTooSkewed", "set this machine's clock"},
        {"NoSuchUpload", "another process or a rule of the bucket ended the upload"},
        {"PermanentRedirect", "the bucket is elsewhere: check AWS_REGION and AWS_ENDPOINT_URL"},
    };
    const s3_store *s = (const s3_store *)remote;
    if (code == 403 && s->anonymous)
        return "it is not public: give credentials instead of AWS_NO_SIGN_REQUEST";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].code, f->code) == 0) return known[i].text;
    }
    return code >= 300 && code < 400
               ? "the bucket is elsewhere: check AWS_REGION and AWS_ENDPOINT_URL"
               : NULL;
}

/* --- Bulk deletions ----------------------------------------------------------------------------------- */

static bool is_code(cb_xml_part error, const char *const *codes)
{
    cb_xml_part x;
    if (!cb_xml_find(error, "Code", &x)) return false;
    for (; *codes; codes++) {
        if (x.size == strlen(*codes) && memcmp(x.text, *codes, x.size) == 0) return true;
    }
    return false;
}

/* Reads the errors in the reply to a bulk deletion. A missing object counts as deleted. */
static void read_deleted(const cb_remote_call *c, cb_remote_fault *f, bool *changed)
{
    static const char *const gone[] = {"NoSuchKey", "NotFound", NULL};
    static const char *const other[] = {"PreconditionFailed", "412 Precondition Failed",
                                        "ConditionalRequestConflict", NULL};
    cb_xml_part rest = {c->http.text.data, c->http.text.size}, error;
    while (rest.size && cb_xml_next(&rest, "Error", &error)) {
        if (is_code(error, gone)) continue;
        if (c->versions && is_code(error, other)) {
            *changed = true;
            continue;
        }
        cb_remote_read_fault_of(error, f, c->http.text.alloc);
        if (!*f->code) snprintf(f->code, sizeof f->code, "Error");
        *changed = false;
        return;
    }
}

/* --- Opening ------------------------------------------------------------------------------------------ */

static cubed_status set_rest(cb_remote *remote, cubed_error *err);

static const cb_dialect s3 = {
    .options = OPTIONS,
    .size = sizeof(s3_store),
    .set_rest = set_rest,
    .writes = true,
    .lists = true,
    .most_deleted = 1000,
    .begin = begin,
    .prepare = prepare,
    .repair = repair,
    .tell = tell,
    .is_own = is_own,
    .is_whole = is_whole,
    .read_page = cb_s3_read_page,
    .read_deleted = read_deleted,
    .read_uploads = cb_s3_read_uploads,
    .read_upload = cb_s3_read_upload,
    .conditional_uploads = true,
    .advice = advice,
    .open = cb_s3_open,
};

const cubed_store_vtable cb_s3_vtable =
    CB_REMOTE_VTABLE("s3", CUBED_STORE_ETAGS | CUBED_STORE_DELETES_IF | CUBED_STORE_PREFIXES);

static cubed_status set_endpoint(s3_store *s, cubed_error *err)
{
    const char *given = cb_credentials_endpoint(s->who);
    cb_zone *zone = s->remote.zone;
    s->tls = true;
    /* Amazon's certificate does not cover host names with dots in the bucket. */
    s->by_host = !given && !strchr(s->remote.bucket, '.');
    if (given)
        CB_TRY(cb_remote_endpoint(zone, "AWS_ENDPOINT_URL", given, &s->endpoint, &s->tls, err));
    return cb_net_get_flag(s->remote.net, zone, s->remote.head.url, VIRTUAL, &s->by_host, err);
}

static cubed_status set_rest(cb_remote *remote, cubed_error *err)
{
    s3_store *s = (s3_store *)remote;
    const char *url = s->remote.head.url, *region;
    cb_net *net = s->remote.net;
    cb_zone *zone = s->remote.zone;
    CB_TRY(cb_credentials_find(net, url, cb_look_for_aws, &s->who, err));
    CB_TRY(set_endpoint(s, err));
    region = cb_credentials_region(s->who);
    if (region && strlen(region) >= REGION_CAP)
        return cb_fail(err, CUBED_E_ARG, "AWS_REGION is \"%s\", which is not a region", region);
    snprintf(s->learned.region, REGION_CAP, "%s", region ? region : "us-east-1");
    CB_TRY(cb_net_get_flag(net, zone, url, NOBODY, &s->anonymous, err));
    CB_TRY(cb_net_get_flag(net, zone, url, PAYS, &s->pays, err));
    CB_TRY(cb_net_get_unconditional(net, zone, url, &s->unconditional, err));
    return cb_remote_get_upload_sizes(net, zone, url, &s->remote.uploads, err);
}

cubed_status cb_s3_open(cb_net *net, const char *url, cubed_store **out, cubed_error *err)
{
    return cb_remote_open(net, &cb_s3_vtable, &s3, url, out, err);
}
