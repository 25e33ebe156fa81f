/* Tokens of Google (OAuth 2): for a service account, a user who has signed in with gcloud, an identity of another provider,
 * an account that one of these may impersonate, or the machine. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "store/auth/credentials_pkg.h"
#include "store/auth/ini.h"
#include "store/core/uri.h"
#include "store/http/digest.h"

#define SCOPE "https://www.googleapis.com/auth/devstorage.read_write"
/* OAuth scope of a token that may impersonate an account. */
#define SCOPE_ALL "https://www.googleapis.com/auth/cloud-platform"
#define TOKEN_URI "https://oauth2.googleapis.com/token"

enum { MOST_FILE = 64 << 10, ATTEMPTS = 3, HOUR = 3600 };

/* --- Requests ----------------------------------------------------------------------------------------- */

/* Appends base64 with the alphabet for URLs, without trailing '='. */
static void put_base64url(cb_buf *out, const void *bytes, size_t n)
{
    enum { PART = 1536 };
    char text[PART / 3 * 4 + 1];
    const unsigned char *at = bytes;
    while (n > 0) {
        const size_t k = n < PART ? n : PART;
        cb_base64_encode(at, k, text);
        for (char *c = text; *c && *c != '='; c++) {
            const char same = (char)(*c == '+' ? '-' : *c == '/' ? '_' : *c);
            cb_buf_put(out, &same, 1);
        }
        at += k;
        n -= k;
    }
}

/* Appends the signed assertion of a service account (RFC 7523). */
static cubed_status put_assertion(cb_buf *out, const char *mail, const char *id, const char *key,
                                  const char *uri, const char *scope, cubed_error *err)
{
    const json_int_t now = (json_int_t)time(NULL);
    cb_buf part, signature;
    cubed_status st = CUBED_OK;
    cb_buf_init(&part, out->alloc);
    cb_buf_init(&signature, out->alloc);
    json_t *head = json_pack("{ssssss*}", "alg", "RS256", "typ", "JWT", "kid", id);
    json_t *claim = json_pack("{sssssssIsI}", "iss", mail, "scope", scope, "aud", uri, "iat", now,
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
        CB_GO(cb_fail(err, CUBED_E_ARG, "the private_key of %s is not an RSA key in PEM format",
                      mail));
    cb_buf_puts(out, ".");
    put_base64url(out, signature.data, signature.size);
    if (signature.failed || out->failed)
        st = cb_fail(err, CUBED_E_NOMEM, "no memory for credentials");
out:
    cb_buf_free(&part);
    cb_buf_free(&signature);
    return st;
}

static const char *text_of(const json_t *o, const char *name)
{
    return json_string_value(json_object_get(o, name));
}

static cubed_status post_form(const cb_credentials *c, const char *uri, const cb_buf *form,
                              cb_keys *keys, int64_t *ends, cubed_error *err)
{
    const cb_question q = {"POST", uri, NULL, 10000, ATTEMPTS, form->data};
    if (form->failed) return cb_fail(err, CUBED_E_NOMEM, "no memory for credentials");
    return cb_ask_for_token(c, &q, keys, ends, err);
}

/* Fetches the token of a service account, or of a user who has signed in with gcloud. */
static cubed_status fetch_own(const cb_credentials *c, const json_t *o, const char *scope,
                              cb_keys *keys, int64_t *ends, cubed_error *err)
{
    const cubed_allocator *a = cb_zone_allocator(c->zone);
    cb_buf form, assertion;
    cubed_status st = CUBED_OK;
    cb_buf_init(&form, a);
    cb_buf_init(&assertion, a);
    const char *mail = text_of(o, "client_email"), *key = text_of(o, "private_key");
    const char *uri = text_of(o, "token_uri"), *again = text_of(o, "refresh_token");
    const char *client = text_of(o, "client_id"), *secret = text_of(o, "client_secret");
    if (!uri) uri = TOKEN_URI;
    if (mail && key) {
        CB_GO(put_assertion(&assertion, mail, text_of(o, "private_key_id"), key, uri, scope, err));
        cb_put_field(&form, "grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer");
        cb_put_field(&form, "assertion", assertion.data);
    } else if (again && client && secret) {
        cb_put_field(&form, "grant_type", "refresh_token");
        cb_put_field(&form, "client_id", client);
        cb_put_field(&form, "client_secret", secret);
        cb_put_field(&form, "refresh_token", again);
    } else {
        CB_GO(cb_fail(err, CUBED_E_ARG,
                      "credentials of Google: expected client_email and private_key, or client_id, "
                      "client_secret and refresh_token"));
    }
    st = post_form(c, uri, &form, keys, ends, err);
out:
    cb_free_secret(&form);
    cb_free_secret(&assertion);
    return st;
}

/* --- Identities of other providers -------------------------------------------------------------------- */

/* Gets the token of the other provider from a file or a service, as text or as a field of JSON. */
static cubed_status get_subject(const cb_credentials *c, const json_t *source, cb_zone *zone,
                                const char **out, cubed_error *err)
{
    const char *file = text_of(source, "file"), *url = text_of(source, "url"), *name;
    const json_t *format = json_object_get(source, "format");
    const char *field = text_of(format, "subject_token_field_name");
    cb_buf headers, reply;
    cubed_status st = CUBED_OK;
    json_t *o = NULL, *value;
    cb_buf_init(&headers, cb_zone_allocator(zone));
    cb_buf_init(&reply, cb_zone_allocator(zone));
    if (file) {
        CB_GO(cb_read_token(zone, file, out, err));
    } else {
        json_object_foreach(json_object_get(source, "headers"), name, value)
        {
            const char *text = json_string_value(value);
            cb_buf_printf(&headers, "%s: %s\n", name, text ? text : "");
        }
        if (headers.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for credentials"));
        const cb_question q = {"GET", url, headers.data, 2000, ATTEMPTS, NULL};
        CB_GO(cb_ask(c, &q, &reply, err));
        *out = cb_zone_strdup(zone, reply.data);
        if (!*out) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for credentials"));
    }
    const char *type = text_of(format, "type");
    if (!type || strcmp(type, "json") != 0) goto out;
    CB_GO(cb_json_try("token", *out, strlen(*out), &o, err));
    const char *token = field ? text_of(o, field) : NULL;
    if (!token)
        CB_GO(cb_fail(err, CUBED_E_IO, "credentials from %s: there is no \"%s\" in JSON",
                      file ? file : url, field ? field : "subject_token_field_name"));
    *out = cb_zone_strdup(zone, token);
    if (!*out) st = cb_fail(err, CUBED_E_NOMEM, "no memory for credentials");
out:
    json_decref(o);
    cb_free_secret(&headers);
    cb_free_secret(&reply);
    return st;
}

/* Exchanges another provider's token for one of Google (RFC 8693). */
static cubed_status exchange(const cb_credentials *c, const json_t *o, const char *scope,
                             cb_keys *keys, int64_t *ends, cubed_error *err)
{
    cb_zone *zone;
    const char *subject;
    cb_buf form;
    CB_TRY(cb_zone_new(cb_zone_allocator(c->zone), &zone, err));
    cb_buf_init(&form, cb_zone_allocator(zone));
    cubed_status st;
    CB_GO(get_subject(c, json_object_get(o, "credential_source"), zone, &subject, err));
    cb_put_field(&form, "grant_type", "urn:ietf:params:oauth:grant-type:token-exchange");
    cb_put_field(&form, "requested_token_type", "urn:ietf:params:oauth:token-type:access_token");
    cb_put_field(&form, "audience", text_of(o, "audience"));
    cb_put_field(&form, "subject_token_type", text_of(o, "subject_token_type"));
    cb_put_field(&form, "subject_token", subject);
    cb_put_field(&form, "scope", scope);
    st = post_form(c, text_of(o, "token_url"), &form, keys, ends, err);
out:
    cb_free_secret(&form);
    cb_zone_free(zone);
    return st;
}

/* Exchanges the caller's token for one of an account that the caller may impersonate. */
static cubed_status impersonate(const cb_credentials *c, const json_t *o, const char *url,
                                cb_keys *keys, int64_t *ends, cubed_error *err)
{
    const cubed_allocator *a = cb_zone_allocator(c->zone);
    const json_int_t asked = json_integer_value(json_object_get(
        json_object_get(o, "service_account_impersonation"), "token_lifetime_seconds"));
    char lifetime[32];
    cb_buf headers, body;
    cubed_status st = CUBED_OK;
    cb_buf_init(&headers, a);
    cb_buf_init(&body, a);
    snprintf(lifetime, sizeof lifetime, "%llds", asked > 0 ? (long long)asked : (long long)HOUR);
    json_t *wanted = json_pack("{s[s]ss}", "scope", SCOPE, "lifetime", lifetime);
    json_t *delegates = json_object_get(o, "delegates");
    bool ok = wanted != NULL;
    if (json_array_size(delegates) > 0)
        cb_json_put(wanted, "delegates", json_incref(delegates), &ok);
    ok = ok && cb_json_dump(wanted, JSON_COMPACT, &body);
    json_decref(wanted);
    cb_buf_printf(&headers, "Content-Type: application/json\nAuthorization: Bearer %s",
                  keys->token);
    const cb_question q = {"POST", url, headers.data, 10000, ATTEMPTS, body.data};
    if (ok && !headers.failed)
        st = cb_ask_for_token(c, &q, keys, ends, err);
    else
        st = cb_fail(err, CUBED_E_NOMEM, "no memory for credentials");
    cb_free_secret(&headers);
    cb_free_secret(&body);
    return st;
}

static bool is_type(const json_t *o, const char *type)
{
    const char *text = text_of(o, "type");
    return text && strcmp(text, type) == 0;
}

static cubed_status fetch_for_account(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                      cubed_error *err)
{
    json_t *o = NULL;
    CB_TRY(cb_json_parse("credentials", c->account, strlen(c->account), &o, err));
    const char *url = text_of(o, "service_account_impersonation_url");
    const char *scope = url ? SCOPE_ALL : SCOPE;
    const json_t *who =
        is_type(o, "impersonated_service_account") ? json_object_get(o, "source_credentials") : o;
    cubed_status st = is_type(who, "external_account") ? exchange(c, who, scope, keys, ends, err)
                                                       : fetch_own(c, who, scope, keys, ends, err);
    if (st == CUBED_OK && url) st = impersonate(c, o, url, keys, ends, err);
    json_decref(o);
    return st;
}

static cubed_status fetch_from_machine(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                       cubed_error *err)
{
    cubed_error why = CUBED_ERROR_INIT;
    char url[512];
    snprintf(url, sizeof url,
             "http://%s/computeMetadata/v1/instance/service-accounts/default/token", c->address);
    const cb_question q = {"GET", url, "Metadata-Flavor: Google", 1000, 1, NULL};
    cubed_status st = cb_ask_for_token(c, &q, keys, ends, &why);
    if (st == CUBED_E_NOMEM && err)
        *err = why;
    else if (st != CUBED_OK) /* most likely this is not a machine of Google Cloud */
        st = cb_fail(err, CUBED_E_IO,
                     "no credentials were found: set GOOGLE_APPLICATION_CREDENTIALS to a file of "
                     "an account, run `gcloud auth application-default login`, or set storage "
                     "option token=\"anon\" for public data (%s)",
                     why.message);
    return st;
}

/* --- Sources ------------------------------------------------------------------------------------------ */

/* Checks that the credentials are complete, and that tokens are sent with TLS or stay on this machine. */
static cubed_status check_external(const char *from, const json_t *o, cubed_error *err)
{
    static const char *const needed[] = {"audience", "subject_token_type", "token_url"};
    const json_t *source = json_object_get(o, "credential_source");
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (!text_of(o, needed[i]))
            return cb_fail(err, CUBED_E_ARG, "%s: credentials of an external account need \"%s\"",
                           from, needed[i]);
    }
    if (!cb_is_near(text_of(o, "token_url")))
        return cb_fail(err, CUBED_E_ARG, "%s: token_url is %s, expected https:// or this machine",
                       from, text_of(o, "token_url"));
    if (text_of(source, "environment_id") || (!text_of(source, "file") && !text_of(source, "url")))
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: the credential_source of an external account must be a file or a "
                       "url; for %s give a token (`gcloud auth print-access-token`) in "
                       "GOOGLE_OAUTH_ACCESS_TOKEN",
                       from,
                       text_of(source, "environment_id")        ? "an instance of AWS"
                       : json_object_get(source, "executable")  ? "an executable"
                       : json_object_get(source, "certificate") ? "a certificate"
                                                                : "another");
    return CUBED_OK;
}

static cubed_status check_account(const char *from, const json_t *o, bool may_act, cubed_error *err)
{
    const char *type = text_of(o, "type"), *url = text_of(o, "service_account_impersonation_url");
    if (url && !cb_is_near(url))
        return cb_fail(err, CUBED_E_ARG,
                       "%s: service_account_impersonation_url is %s, expected https:// or this "
                       "machine",
                       from, url);
    if (may_act && is_type(o, "impersonated_service_account")) {
        if (url) return check_account(from, json_object_get(o, "source_credentials"), false, err);
        return cb_fail(err, CUBED_E_ARG,
                       "%s: credentials of an impersonated account need "
                       "\"service_account_impersonation_url\"",
                       from);
    }
    if (is_type(o, "external_account")) return check_external(from, o, err);
    if (!type || strcmp(type, "service_account") == 0 || strcmp(type, "authorized_user") == 0)
        return CUBED_OK;
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "%s has credentials of type %s, which are not supported: give a token (`gcloud "
                   "auth print-access-token`) in GOOGLE_OAUTH_ACCESS_TOKEN",
                   from, type);
}

static cubed_status use_account(cb_credentials *c, const char *from, const char *text,
                                cubed_error *err)
{
    json_t *o = NULL;
    CB_TRY(cb_json_try(from, text, strlen(text), &o, err));
    if (!o) return cb_fail(err, CUBED_E_ARG, "%s: expected credentials of Google in JSON", from);
    cubed_status st = check_account(from, o, true, err);
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
    return must ? cb_fail(err, CUBED_E_ARG, "cannot find the credentials file %s", path) : CUBED_OK;
}

static cubed_status keep_token(cb_credentials *c, const char *token, cubed_error *err)
{
    if (strlen(token) >= sizeof c->keys.token)
        return cb_fail(err, CUBED_E_ARG, "a token is too long");
    memcpy(c->keys.token, token, strlen(token) + 1);
    c->ends = INT64_MAX;
    return CUBED_OK;
}

/* Uses the option "token" of gcsfs. It may be a token, a file of an account, the contents of such a file, or a keyword that says
 * where to search. */
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

cubed_status cb_look_for_google(cb_credentials *c, cubed_error *err)
{
    const char *token, *file, *key, *home, *folder;
    char path[4096];
    CB_TRY(cb_credentials_option(c, CB_GOOGLE_ENDPOINT, &c->endpoint, err));
    CB_TRY(cb_credentials_option(c, CB_GOOGLE_TOKEN, &token, err));
    CB_TRY(cb_credentials_option(c, CB_GOOGLE_KEY, &key, err));
    CB_TRY(cb_credentials_option(c, CB_GOOGLE_FILE, &file, err));
    CB_TRY(cb_credentials_option(c, "HOME", &home, err));
    CB_TRY(cb_credentials_option(c, "CLOUDSDK_CONFIG", &folder, err));
    CB_TRY(cb_credentials_option(c, "GCE_METADATA_HOST", &c->address, err));
    if (token) CB_TRY(use_token(c, token, err));
    if (c->fetch || c->ends) return CUBED_OK;
    if (key) return use_account(c, "service_account_key", key, err);
    if (file) return use_file(c, file, true, err);
    /* Emulators need no credentials. */
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
