/* Tokens of Google (OAuth 2): of a service's account, of a user who has signed in with gcloud, of the machine. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "store/credentials_pkg.h"
#include "store/digest.h"
#include "store/ini.h"
#include "store/uri.h"

#define SCOPE     "https://www.googleapis.com/auth/devstorage.read_write"
#define TOKEN_URI "https://oauth2.googleapis.com/token"

enum { MOST_FILE = 64 << 10, ATTEMPTS = 3, HOUR = 3600 };

/* --- What is asked ------------------------------------------------------------------------------------ */

static cubed_status take_token(const cb_question *q, cb_buf *reply, cb_keys *keys, int64_t *ends,
                               cubed_error *err)
{
    json_t *o = NULL;
    const int host = (int)strcspn(q->url, "?");
    cubed_status st = cb_ask(q, reply, err);
    if (st != CUBED_OK) return st;
    /* No part of it is quoted: it is a secret. */
    if (cb_json_parse(q->url, reply->data, reply->size, &o, NULL) != CUBED_OK) o = NULL;
    const char *token = json_string_value(json_object_get(o, "access_token"));
    const json_int_t seconds = json_integer_value(json_object_get(o, "expires_in"));
    *ends = (int64_t)time(NULL) + (seconds > 0 ? seconds : HOUR);
    if (token && strlen(token) < sizeof keys->token)
        memcpy(keys->token, token, strlen(token) + 1);
    else
        st =
            cb_fail(err, CUBED_E_IO, "credentials from %.*s: the reply has no token", host, q->url);
    json_decref(o);
    return st;
}

/* Base64 as tokens have it: of an alphabet for URLs, without '=' at its end. */
static void put_base64url(cb_buf *out, const void *bytes, size_t n)
{
    char text[2048];
    const unsigned char *at = bytes;
    while (n > 0) {
        const size_t k = n < 1536 ? n : 1536;
        cb_base64_encode(at, k, text);
        for (char *c = text; *c && *c != '='; c++) {
            const char same = (char)(*c == '+' ? '-' : *c == '/' ? '_' : *c);
            cb_buf_put(out, &same, 1);
        }
        at += k;
        n -= k;
    }
}

/* What a service's account says of itself (RFC 7523), signed. */
static cubed_status put_assertion(cb_buf *out, const char *mail, const char *id, const char *key,
                                  const char *uri, cubed_error *err)
{
    const json_int_t now = (json_int_t)time(NULL);
    cb_buf part, signature;
    cubed_status st = CUBED_OK;
    cb_buf_init(&part, out->alloc);
    cb_buf_init(&signature, out->alloc);
    json_t *head = json_pack("{ssssss*}", "alg", "RS256", "typ", "JWT", "kid", id);
    json_t *claim = json_pack("{sssssssIsI}", "iss", mail, "scope", SCOPE, "aud", uri, "iat", now,
                              "exp", now + HOUR);
    bool ok = head && claim && cb_json_dump(head, JSON_COMPACT, &part);
    if (ok) put_base64url(out, part.data, part.size);
    cb_buf_puts(out, ".");
    part.size = 0;
    ok = ok && cb_json_dump(claim, JSON_COMPACT, &part);
    if (ok) put_base64url(out, part.data, part.size);
    json_decref(head);
    json_decref(claim);
    if (!ok || out->failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for credentials"));
    if (!cb_rsa_sha256(key, out->data, out->size, &signature))
        CB_GO(cb_fail(err, CUBED_E_ARG, "the private_key of %s is none of RSA in PEM", mail));
    cb_buf_puts(out, ".");
    put_base64url(out, signature.data, signature.size);
out:
    cb_buf_free(&part);
    cb_buf_free(&signature);
    return st;
}

static void put_field(cb_buf *out, const char *name, const char *value)
{
    cb_buf_printf(out, "&%s=", name);
    cb_uri_put(out, value, "");
}

static cubed_status fetch_for_account(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                      cubed_error *err)
{
    const cubed_allocator *a = cb_zone_allocator(c->zone);
    json_t *o = NULL;
    cb_buf form, reply, assertion;
    cb_buf *const secrets[] = {&form, &reply, &assertion};
    cubed_status st;
    CB_TRY(cb_json_parse("credentials", c->account, strlen(c->account), &o, NULL));
    cb_buf_init(&form, a);
    cb_buf_init(&reply, a);
    cb_buf_init(&assertion, a);
    const char *mail = json_string_value(json_object_get(o, "client_email"));
    const char *key = json_string_value(json_object_get(o, "private_key"));
    const char *uri = json_string_value(json_object_get(o, "token_uri"));
    const char *again = json_string_value(json_object_get(o, "refresh_token"));
    const char *client = json_string_value(json_object_get(o, "client_id"));
    const char *secret = json_string_value(json_object_get(o, "client_secret"));
    if (!uri) uri = TOKEN_URI;
    if (mail && key) {
        const char *id = json_string_value(json_object_get(o, "private_key_id"));
        CB_GO(put_assertion(&assertion, mail, id, key, uri, err));
        cb_buf_puts(&form, "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer");
        put_field(&form, "assertion", assertion.data);
    } else if (again && client && secret) {
        cb_buf_puts(&form, "grant_type=refresh_token");
        put_field(&form, "client_id", client);
        put_field(&form, "client_secret", secret);
        put_field(&form, "refresh_token", again);
    }
    if (form.size == 0)
        CB_GO(cb_fail(err, CUBED_E_ARG,
                      "credentials of Google: expected client_email and private_key, or client_id, "
                      "client_secret and refresh_token"));
    if (form.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for credentials"));
    const cb_question q = {"POST", uri, NULL, 10000, ATTEMPTS, form.data};
    st = take_token(&q, &reply, keys, ends, err);
out:
    for (int i = 0; i < 3; i++) {
        if (secrets[i]->data) explicit_bzero(secrets[i]->data, secrets[i]->size);
        cb_buf_free(secrets[i]);
    }
    json_decref(o);
    return st;
}

static cubed_status fetch_from_machine(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                       cubed_error *err)
{
    cb_buf reply;
    cubed_error why = CUBED_ERROR_INIT;
    char url[512];
    snprintf(url, sizeof url,
             "http://%s/computeMetadata/v1/instance/service-accounts/default/token", c->address);
    cb_buf_init(&reply, cb_zone_allocator(c->zone));
    const cb_question q = {"GET", url, "Metadata-Flavor: Google", 1000, 1, NULL};
    cubed_status st = take_token(&q, &reply, keys, ends, &why);
    if (st != CUBED_OK) /* most likely this is no machine of Google's */
        st = cb_fail(err, CUBED_E_IO,
                     "there are no credentials: set GOOGLE_APPLICATION_CREDENTIALS to a file of "
                     "an account, run `gcloud auth application-default login`, or say "
                     "storage option token=\"anon\" for what is public (%s)",
                     why.message);
    if (reply.data) explicit_bzero(reply.data, reply.size);
    cb_buf_free(&reply);
    return st;
}

/* --- Where it is -------------------------------------------------------------------------------------- */

static cubed_status use_account(cb_credentials *c, const char *from, const char *text,
                                cubed_error *err)
{
    json_t *o = NULL;
    cubed_status st = CUBED_OK;
    if (cb_json_parse(from, text, strlen(text), &o, NULL) != CUBED_OK)
        return cb_fail(err, CUBED_E_ARG, "%s: credentials of Google are JSON", from);
    const char *type = json_string_value(json_object_get(o, "type"));
    if (type && strcmp(type, "service_account") != 0 && strcmp(type, "authorized_user") != 0)
        st =
            cb_fail(err, CUBED_E_UNSUPPORTED,
                    "%s has credentials of type %s, which are not supported: give a token (`gcloud "
                    "auth print-access-token`) in GOOGLE_OAUTH_ACCESS_TOKEN",
                    from, type);
    json_decref(o);
    c->account = text;
    c->fetch = fetch_for_account;
    return st;
}

static cubed_status use_file(cb_credentials *c, const char *path, bool must, cubed_error *err)
{
    const char *text;
    CB_TRY(cb_read_file(c->zone, path, MOST_FILE, &text, err));
    if (text) return use_account(c, path, text, err);
    return must ? cb_fail(err, CUBED_E_ARG, "there is no file of credentials %s", path) : CUBED_OK;
}

static cubed_status keep_token(cb_credentials *c, const char *token, cubed_error *err)
{
    if (strlen(token) >= sizeof c->keys.token)
        return cb_fail(err, CUBED_E_ARG, "a token is too long");
    memcpy(c->keys.token, token, strlen(token) + 1);
    c->ends = INT64_MAX;
    return CUBED_OK;
}

/* gcsfs takes by one name tokens, files of accounts, what such a file says, and words for where to look. */
static cubed_status use_token(cb_credentials *c, const char *token, cubed_error *err)
{
    if (strcmp(token, "anon") == 0) return keep_token(c, "", err);
    if (strcmp(token, "google_default") == 0 || strcmp(token, "cloud") == 0 ||
        strcmp(token, "cache") == 0)
        return CUBED_OK;
    if (*token == '{') return use_account(c, "token", token, err);
    const size_t n = strlen(token);
    if (*token == '/' || (n > 5 && strcmp(token + n - 5, ".json") == 0))
        return use_file(c, token, true, err);
    return keep_token(c, token, err);
}

static cubed_status get(const cb_credentials *c, const char *names, const char **out,
                        cubed_error *err)
{
    return cb_net_get(c->net, c->zone, c->url, names, out, err);
}

cubed_status cb_look_for_google(cb_credentials *c, cubed_error *err)
{
    const char *token, *file, *key, *home, *folder;
    char path[4096];
    CB_TRY(get(c, CB_GOOGLE_ENDPOINT, &c->endpoint, err));
    CB_TRY(get(c, CB_GOOGLE_TOKEN, &token, err));
    CB_TRY(get(c, CB_GOOGLE_KEY, &key, err));
    CB_TRY(get(c, CB_GOOGLE_FILE, &file, err));
    CB_TRY(get(c, "HOME", &home, err));
    CB_TRY(get(c, "CLOUDSDK_CONFIG", &folder, err));
    CB_TRY(get(c, "GCE_METADATA_HOST", &c->address, err));
    if (token) CB_TRY(use_token(c, token, err));
    if (c->fetch || c->ends) return CUBED_OK;
    if (key) return use_account(c, "service_account_key", key, err);
    if (file) return use_file(c, file, true, err);
    /* Emulators ask nobody who it is. */
    if (!token && c->endpoint && strncmp(c->endpoint, "https://", 8) != 0)
        return keep_token(c, "", err);
    if (home || folder) {
        snprintf(path, sizeof path, "%s%s/application_default_credentials.json",
                 folder ? folder : home, folder ? "" : "/.config/gcloud");
        CB_TRY(use_file(c, path, false, err));
    }
    if (c->fetch) return CUBED_OK;
    if (!c->address) c->address = "metadata.google.internal";
    c->fetch = fetch_from_machine;
    return CUBED_OK;
}
