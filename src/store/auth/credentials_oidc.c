/* Identity tokens of OpenID Connect (JSON Web Tokens) for an endpoint that runs tasks: from a command, from a file that
 * another program renews, or from the identity of the machine in Google Cloud or Azure. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "store/auth/credentials_pkg.h"
#include "store/core/uri.h"
#include "store/http/address.h"

#define GOOGLE_HOST "metadata.google.internal"

/* UNKNOWN_LIFE: seconds for which a token without an expiry is used. LEAST_LIFE: seconds that a new token must be valid. */
enum { ATTEMPTS = 3, UNKNOWN_LIFE = 600, LEAST_LIFE = 60 };

/* --- Expiry --------------------------------------------------------------------------------------------- */

/* Decodes base64 with the alphabet for URLs and without padding, and appends the bytes. */
static bool decode_base64url(const char *text, size_t n, cb_buf *out)
{
    if (n % 4 == 1) return false;
    for (size_t i = 0; i < n; i += 4) {
        char four[5] = "====";
        unsigned char three[3];
        size_t size;
        for (size_t k = 0; k < 4 && i + k < n; k++) {
            const char c = text[i + k];
            four[k] = (char)(c == '-' ? '+' : c == '_' ? '/' : c);
        }
        if (!cb_base64_decode(four, three, sizeof three, &size)) return false;
        cb_buf_put(out, three, size);
    }
    return !out->failed;
}

/* Returns the expiry of a token in seconds since 1970. Does not check the token's signature, which its receiver checks. */
static int64_t expiry_of(const cubed_allocator *a, const char *token)
{
    const char *payload = strchr(token, '.');
    int64_t ends = (int64_t)time(NULL) + UNKNOWN_LIFE;
    json_t *o = NULL;
    cb_buf text;
    if (!payload) return ends;
    payload++;
    cb_buf_init(&text, a);
    if (decode_base64url(payload, strcspn(payload, "."), &text) &&
        cb_json_try("token", text.data, text.size, &o, NULL) == CUBED_OK && o) {
        const json_t *exp = json_object_get(o, "exp");
        if (json_is_number(exp) && json_number_value(exp) > 0 && json_number_value(exp) < 1e12)
            ends = (int64_t)json_number_value(exp);
        json_decref(o);
    }
    cb_buf_free(&text);
    return ends;
}

/* Sets the token from `text`, without white space around it. */
static cubed_status take_token(const cb_credentials *c, const char *from, const cb_buf *text,
                               cb_keys *keys, int64_t *ends, cubed_error *err)
{
    const char *at = text->data ? text->data : "";
    at += strspn(at, " \t\r\n");
    const size_t n = strcspn(at, " \t\r\n");
    if (n == 0 || at[n + strspn(at + n, " \t\r\n")])
        return cb_fail(err, CUBED_E_IO, "%s returned no token, expected one line with a token",
                       from);
    if (n >= sizeof keys->token)
        return cb_fail(err, CUBED_E_IO, "the token of %s has %zu bytes, expected less than %zu",
                       from, n, sizeof keys->token);
    memcpy(keys->token, at, n);
    keys->token[n] = 0;
    *ends = expiry_of(cb_zone_allocator(c->zone), keys->token);
    if (*ends >= (int64_t)time(NULL) + LEAST_LIFE) return CUBED_OK;
    explicit_bzero(keys->token, n);
    return cb_fail(err, CUBED_E_IO, "the token of %s expires in less than %d s", from, LEAST_LIFE);
}

/* --- Sources -------------------------------------------------------------------------------------------- */

static cubed_status fetch_from_command(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                       cubed_error *err)
{
    cb_buf out;
    cb_buf_init(&out, cb_zone_allocator(c->zone));
    cubed_status st = cb_run_program(c->command, "token_command", &out, err);
    if (st == CUBED_OK) st = take_token(c, "token_command", &out, keys, ends, err);
    cb_free_secret(&out);
    return st;
}

static cubed_status fetch_from_file(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                    cubed_error *err)
{
    cb_zone *zone;
    const char *token;
    cb_buf text;
    CB_TRY(cb_zone_new(cb_zone_allocator(c->zone), &zone, err));
    cb_buf_init(&text, cb_zone_allocator(zone));
    cubed_status st = cb_read_token(zone, c->token_file, &token, err);
    if (st == CUBED_OK) {
        cb_buf_puts(&text, token);
        st = text.failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for a token")
                         : take_token(c, c->token_file, &text, keys, ends, err);
    }
    cb_free_secret(&text);
    cb_zone_free(zone);
    return st;
}

/* Gets an identity token from the metadata server (cloud.google.com/compute/docs/instances/verifying-instance-identity). */
static cubed_status fetch_from_google(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                      cubed_error *err)
{
    const cubed_allocator *a = cb_zone_allocator(c->zone);
    cb_buf url, reply;
    cubed_status st;
    cb_buf_init(&url, a);
    cb_buf_init(&reply, a);
    cb_buf_printf(&url,
                  "http://%s/computeMetadata/v1/instance/service-accounts/default/identity"
                  "?audience=",
                  c->address);
    cb_uri_put(&url, c->resource, "");
    if (url.failed) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for credentials"));
    const cb_question q = {"GET", url.data, "Metadata-Flavor: Google", 1000, ATTEMPTS, NULL};
    CB_GO(cb_ask(c, &q, &reply, err));
    st = take_token(c, "the metadata server", &reply, keys, ends, err);
out:
    cb_buf_free(&url);
    cb_free_secret(&reply);
    return st;
}

/* Returns true if the host of the URL is this machine. */
static bool is_here(const char *url)
{
    char host[CB_MOST_HOST];
    cb_host_of(url, host);
    return cb_address_kind_of(host) == CB_ADDRESS_LOOPBACK;
}

static cubed_status use_machine(cb_credentials *c, const char *from, cubed_error *err)
{
    if (strcmp(from, "azure") == 0) return cb_look_for_azure(c, err);
    if (strcmp(from, "google") != 0)
        return cb_fail(err, CUBED_E_ARG, "token_from is \"%s\", expected google, azure or none",
                       from);
    CB_TRY(cb_credentials_option(c, "GCE_METADATA_HOST", &c->address, err));
    if (!c->address) c->address = GOOGLE_HOST;
    c->fetch = fetch_from_google;
    return CUBED_OK;
}

cubed_status cb_look_for_oidc(cb_credentials *c, cubed_error *err)
{
    const char *from, *audience, *endpoint = c->url + sizeof CB_OIDC_PREFIX - 1;
    CB_TRY(cb_credentials_option(c, CB_OIDC_COMMAND, &c->command, err));
    CB_TRY(cb_credentials_option(c, CB_OIDC_FILE, &c->token_file, err));
    CB_TRY(cb_credentials_option(c, CB_OIDC_FROM, &from, err));
    CB_TRY(cb_credentials_option(c, CB_OIDC_AUDIENCE, &audience, err));
    if ((c->command != NULL) + (c->token_file != NULL) + (from != NULL) > 1)
        return cb_fail(err, CUBED_E_ARG,
                       "token_command, token_file and token_from: expected one of them");
    if (from && strcmp(from, "none") == 0)
        from = NULL;
    else if (!from && !c->command && !c->token_file && !is_here(endpoint))
        return cb_fail(
            err, CUBED_E_ARG,
            "%s: expected token_command, token_file or token_from, so that the endpoint can "
            "identify the caller; token_from=none for an endpoint that needs no token",
            endpoint);
    if (!c->command && !c->token_file && !from) {
        c->ends = INT64_MAX;
        return CUBED_OK;
    }
    if (!cb_is_near(endpoint))
        return cb_fail(err, CUBED_E_ARG,
                       "url is \"%s\", expected https:// or this machine, because a token is sent "
                       "there",
                       endpoint);
    c->resource = audience ? audience : cb_zone_strdup(c->zone, endpoint);
    if (!c->resource) return cb_fail(err, CUBED_E_NOMEM, "no memory for an audience");
    if (from) return use_machine(c, from, err);
    c->fetch = c->command ? fetch_from_command : fetch_from_file;
    return CUBED_OK;
}
