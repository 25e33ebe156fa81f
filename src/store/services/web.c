/* Read-only store for URLs http:// and https://, to which the key is appended. The version of an object is its ETag or its
 * Last-Modified date. If the server sends neither, the version is the object's size. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "store/core/uri.h"
#include "store/services/remote.h"
#include "store/services/remotes.h"

#define VERSIONS "versions"
#define WHO      "username"
#define SECRET   "password"

/* Kinds of versions. The version in a reply is of the first kind that the reply has, from the kind in the store's setting on. */
typedef enum web_versions { BY_ETAG, BY_DATE, BY_SIZE } web_versions;

typedef struct web_store {
    cb_remote remote;
    web_versions versions;
    atomic_bool no_head; /* the server refuses HEAD or sends no length: one byte is read instead */
    /* value of the header "authorization"; NULL: the header is not sent */
    const char *authorization;
    /* no server whose address is nearer to this machine is contacted; CB_ADDRESS_ANY: the kind of the first server's address is
     * the limit (store/http/http_redirect.h) */
    cb_address_kind limit;
    /* farthest kind of the servers that sent objects; CB_ADDRESS_ANY: none yet */
    _Atomic(cb_address_kind) farthest;
} web_store;

static bool is_weak(const char *tag) { return strncmp(tag, "W/", 2) == 0; }

/* Adds a condition. The server checks an ETag or a date; other versions are compared with the reply. */
static void put_condition(cb_remote_call *c, const char *version, const char *tag, const char *date)
{
    if (*version == '"' || *version == '*')
        cb_http_put_header(&c->http, tag, version);
    else if (!is_weak(version) && (*version < '0' || *version > '9'))
        cb_http_put_header(&c->http, date, version);
}

static cb_http_ready prepare(cb_remote *s, cb_remote_call *c)
{
    const web_store *w = (web_store *)s;
    const char *path = strchr(s->head.url + strlen("https://"), '/');
    const size_t host = path ? (size_t)(path - s->head.url) : strlen(s->head.url);
    const bool heads = c->what == CB_REMOTE_HEAD;
    c->http.limit = w->limit;
    if (heads && atomic_load(&w->no_head)) c->probes = true;
    c->http.method = heads && !c->probes ? "HEAD" : "GET";
    cb_buf_put(&c->http.url, s->head.url, host);
    cb_buf_puts(&c->http.url, "/");
    cb_remote_put_key(s, &c->http.url, c->key, "");
    /* Without this header a server may compress the reply. */
    cb_http_put_header(&c->http, "accept-encoding", "identity");
    if (w->authorization) cb_http_put_header(&c->http, "authorization", w->authorization);
    if (heads && c->probes) {
        c->probe = (cb_http_piece){.size = 1, .dst = &c->probed};
        c->http.pieces = &c->probe;
        c->http.npieces = 1;
        cb_http_put_header(&c->http, "range", "bytes=0-0");
    } else if (*c->range) {
        cb_http_put_header(&c->http, "range", c->range);
    }
    if (c->if_match) put_condition(c, c->if_match, "if-match", "if-unmodified-since");
    if (c->if_none_match) put_condition(c, c->if_none_match, "if-none-match", "if-modified-since");
    return CB_HTTP_GO;
}

static void note_address(web_store *w, cb_address_kind kind)
{
    cb_address_kind known = atomic_load(&w->farthest);
    while (kind < known && !atomic_compare_exchange_weak(&w->farthest, &known, kind)) {
    }
}

/* Returns the kind of a version. `tell` formats each kind differently. */
static cubed_validator judge_version(const char *version)
{
    static const char bytes[] = " bytes", zone[] = " GMT";
    const size_t n = strlen(version);
    const bool is_size =
        n >= sizeof bytes && strcmp(version + n + 1 - sizeof bytes, bytes) == 0 && *version <= '9';
    if (is_size) return CUBED_VALIDATOR_SIZE;
    return n >= sizeof zone && strcmp(version + n + 1 - sizeof zone, zone) == 0
               ? CUBED_VALIDATOR_DATE
               : CUBED_VALIDATOR_VERSION;
}

static void tell(const cb_remote_call *c, cubed_object_info *info)
{
    web_store *w = (web_store *)c->store;
    note_address(w, c->http.farthest);
    const char *tag = cb_http_header(&c->http, "etag");
    const char *date = cb_http_header(&c->http, "last-modified");
    info->version.text[0] = 0;
    if (tag && w->versions == BY_ETAG) cb_remote_set_version(info, tag);
    if (!*info->version.text && date && w->versions <= BY_DATE) cb_remote_set_version(info, date);
    if (!*info->version.text && info->size != UINT64_MAX)
        snprintf(info->version.text, sizeof info->version.text, "%" PRIu64 " bytes", info->size);
    if (w->versions == BY_SIZE) info->modified = 0;
}

static bool probe(cb_remote *s, cb_remote_call *c)
{
    web_store *w = (web_store *)s;
    if (c->what != CB_REMOTE_HEAD || c->probes) return false;
    /* This is a property of the server, so it is remembered. */
    if (c->http.code != 200 || c->http.length < 0) atomic_store(&w->no_head, true);
    c->probes = true;
    return true;
}

/* Repeats a HEAD as a read of one byte. Servers that support only GET reply to HEAD with these codes. Services also do so if the
 * URL is signed for GET. */
static cb_http_verdict repair(cb_remote *s, cb_remote_call *c, const cb_remote_fault *f)
{
    const int code = c->http.code;
    (void)f;
    return (code == 400 || code == 403 || code == 405 || code == 501) && probe(s, c) ? CB_HTTP_AGAIN
                                                                                     : CB_HTTP_DONE;
}

static const char *advise(const cb_remote *s, int code, const cb_remote_fault *f)
{
    (void)f;
    if (code != 401) return NULL;
    return ((const web_store *)s)->authorization
               ? "the server does not take this user and password"
               : "give user and password: USER:PASSWORD@ in front of the host, or storage options "
                 "username and password";
}

/* Sets basic authentication (RFC 7617), in UTF-8. */
static cubed_status set_authorization(cb_remote *s, cubed_error *err)
{
    static const char scheme[] = "Basic ";
    const char *user, *password;
    CB_TRY(cb_net_get(s->net, s->zone, s->head.url, WHO, &user, err));
    CB_TRY(cb_net_get_secret(s->net, s->zone, s->head.url, SECRET, &password, err));
    if (!user && !password) return CUBED_OK;
    if (user && strchr(user, ':'))
        return cb_fail(err, CUBED_E_ARG, "storage option username has a colon, expected none");
    const size_t n = (user ? strlen(user) : 0) + 1 + (password ? strlen(password) : 0);
    char *both = cb_zone_alloc(s->zone, n + 1);
    char *text = cb_zone_alloc(s->zone, sizeof scheme + (n + 2) / 3 * 4);
    if (!both || !text) return cb_fail(err, CUBED_E_NOMEM, "no memory for a password");
    snprintf(both, n + 1, "%s:%s", user ? user : "", password ? password : "");
    memcpy(text, scheme, sizeof scheme);
    cb_base64_encode((const unsigned char *)both, n, text + strlen(scheme));
    ((web_store *)s)->authorization = text;
    return CUBED_OK;
}

static cubed_status set_rest(cb_remote *s, cubed_error *err)
{
    static const char *const names[] = {
        [BY_ETAG] = "etag", [BY_DATE] = "modified", [BY_SIZE] = "size"};
    web_store *w = (web_store *)s;
    const char *text;
    w->limit = CB_ADDRESS_ANY;
    atomic_init(&w->farthest, CB_ADDRESS_ANY);
    CB_TRY(set_authorization(s, err));
    CB_TRY(cb_net_get(s->net, s->zone, s->head.url, VERSIONS, &text, err));
    for (size_t i = 0; text && i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        w->versions = (web_versions)i;
        return CUBED_OK;
    }
    return text ? cb_fail(err, CUBED_E_ARG,
                          "storage option " VERSIONS " is \"%s\", expected etag, modified or size",
                          text)
                : CUBED_OK;
}

static const cb_dialect web = {.options = WHO " " SECRET " " CB_REMOTE_OPTIONS " " VERSIONS,
                               .size = sizeof(web_store),
                               .set_rest = set_rest,
                               .advice = advise,
                               .judge_version = judge_version,
                               .most_deleted = 1,
                               .prepare = prepare,
                               .repair = repair,
                               .probe = probe,
                               .tell = tell,
                               .if_changing =
                                   "a server that reports another version with each reply is read "
                                   "with storage option " VERSIONS " = modified, or size"};

const cubed_store_vtable cb_web_vtable = {
    .struct_size = sizeof(cubed_store_vtable),
    .version = CUBED_STORE_VERSION,
    .flags = CUBED_STORE_ETAGS,
    .scheme = "http",
    .max_in_flight = CB_HTTP_MOST,
    .request_bytes = CB_HTTP_REQUEST_BYTES,
    .process_bytes = CB_HTTP_PROCESS_BYTES,
    .close = cb_remote_close,
    .submit = cb_remote_submit,
    .cancel = cb_remote_cancel,
};

cubed_status cb_web_open(cb_net *net, const char *url, cubed_store **out, cubed_error *err)
{
    return cb_remote_open(net, &cb_web_vtable, &web, url, out, err);
}

void cb_web_limit(cubed_store *store, const cubed_store *document)
{
    if (store->vt != &cb_web_vtable || document->vt != &cb_web_vtable) return;
    const cb_address_kind kind = atomic_load(&((const web_store *)document)->farthest);
    /* If no server sent the document, uses the strictest limit. */
    ((web_store *)store)->limit = kind == CB_ADDRESS_ANY ? CB_ADDRESS_PUBLIC : kind;
}
