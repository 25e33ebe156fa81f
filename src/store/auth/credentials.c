#define _GNU_SOURCE
#include "store/auth/credentials.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/pool.h"
#include "store/auth/credentials_pkg.h"
#include "store/auth/ini.h"

enum { MOST_FILE = 1 << 20 };
/* Times in seconds. Credentials are renewed EARLY before they expire, and are not used in their last LAST seconds. A failed
 * renewal is repeated after PAUSE. */
enum { EARLY = 300, LAST = 30, PAUSE = 20 };

/* Renews the credentials of all stores of a net in one thread. */
struct cb_fetcher {
    cb_net *net;
    cb_pool *thread;
    cb_mutex lock;
    cb_cond wanted;
    cb_credentials *all CB_GUARDED_BY(&lock);
    bool stopping CB_GUARDED_BY(&lock);
};

static int64_t now(void) { return (int64_t)time(NULL); }

/* --- The thread --------------------------------------------------------------------------------------- */

static cb_credentials *next_wanted(cb_fetcher *f) CB_REQUIRES(&f->lock)
{
    for (cb_credentials *c = f->all; c; c = c->next) {
        if (c->wanted) return c;
    }
    return NULL;
}

static void fetch_one(cb_fetcher *f, cb_credentials *c) CB_REQUIRES(&f->lock)
{
    cb_keys keys = {.id = ""};
    int64_t ends = 0;
    cubed_error err = CUBED_ERROR_INIT;
    cb_mutex_unlock(&f->lock);
    cubed_status st = cb_net_keep_secrets(f->net, &err);
    if (st == CUBED_OK) st = c->fetch(c, &keys, &ends, &err);
    cb_mutex_lock(&f->lock);
    c->wanted = false;
    if (st == CUBED_OK) {
        c->keys = keys;
        c->fetched++;
        c->ends = ends ? ends : INT64_MAX;
        c->status = CUBED_OK;
    } else {
        c->status = st;
        c->why = err;
        c->failed = now();
    }
    explicit_bzero(&keys, sizeof keys);
    cb_mutex_unlock(&f->lock);
    cb_net_wake(f->net);
    cb_mutex_lock(&f->lock);
}

static void run(void *ctx, unsigned index)
{
    cb_fetcher *f = ctx;
    (void)index;
    cb_mutex_lock(&f->lock);
    while (!f->stopping) {
        cb_credentials *c = next_wanted(f);
        if (c)
            fetch_one(f, c);
        else
            cb_cond_wait(&f->wanted, &f->lock);
    }
    cb_mutex_unlock(&f->lock);
}

static cubed_status get_fetcher(cb_net *net, cb_fetcher **out, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    cb_mutex_lock(&net->lock);
    if (!net->fetcher) {
        cb_fetcher *f = cb_alloc_zero(net->alloc, sizeof *f);
        if (f) {
            cb_mutex_init(&f->lock);
            cb_cond_init(&f->wanted);
            f->net = net;
            net->fetcher = f;
        } else {
            st = cb_fail(err, CUBED_E_NOMEM, "no memory for credentials");
        }
    }
    *out = net->fetcher;
    cb_mutex_unlock(&net->lock);
    return st;
}

/* Requests a renewal from the thread. Requires the fetcher's lock. */
static cubed_status want(cb_fetcher *f, cb_credentials *c, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    if (!f->thread) st = cb_pool_start(f->net->alloc, 1, run, NULL, f, &f->thread, err);
    if (st != CUBED_OK) return st;
    c->wanted = true;
    cb_cond_signal(&f->wanted);
    return CUBED_OK;
}

cb_http_ready cb_credentials_get(cb_credentials *c, cb_http_call *call, cb_keys *out)
{
    cb_fetcher *f = c->fetcher;
    cb_http_ready ready = CB_HTTP_GO;
    cubed_status st = CUBED_OK;
    cb_mutex_lock(&f->lock);
    const int64_t left = c->ends == INT64_MAX ? INT64_MAX : c->ends - now();
    const bool paused = c->status != CUBED_OK && now() - c->failed < PAUSE;
    if (c->fetch && left < EARLY && !c->wanted && !paused) st = want(f, c, &call->error);
    if (left > LAST) {
        *out = c->keys;
        call->keys_fetched = c->fetched;
        st = CUBED_OK;
    } else if (c->wanted) {
        ready = CB_HTTP_WAIT;
    } else {
        ready = CB_HTTP_NO;
        if (st == CUBED_OK) {
            st = c->status;
            call->error = c->why;
        }
    }
    cb_mutex_unlock(&f->lock);
    call->status = st;
    return ready;
}

void cb_put_bearer(cb_http_call *call, const char *token)
{
    if (!*token) return;
    cb_buf_printf(&call->headers, "authorization: Bearer %s", token);
    cb_buf_put(&call->headers, "", 1);
}

cb_http_ready cb_credentials_put_token(cb_credentials *c, cb_http_call *call)
{
    cb_keys keys;
    const cb_http_ready ready = cb_credentials_get(c, call, &keys);
    if (ready == CB_HTTP_GO) cb_put_bearer(call, keys.token);
    explicit_bzero(&keys, sizeof keys);
    return ready;
}

bool cb_credentials_renew(cb_credentials *c, const cb_http_call *call)
{
    cb_mutex_lock(&c->fetcher->lock);
    /* Many calls with the old keys may be in flight when a server begins to reject them. The first rejected call renews the
     * keys. */
    const bool can = c->fetch && c->ends != INT64_MAX;
    if (can && call->keys_fetched == c->fetched) c->ends = 0;
    cb_mutex_unlock(&c->fetcher->lock);
    return can;
}

/* Frees all credentials. Takes no lock for that, because the thread has ended and no store uses the net. */
void cb_credentials_free(cb_net *net) CB_UNCHECKED_LOCKS
{
    cb_fetcher *f = net->fetcher;
    if (!f) return;
    cb_mutex_lock(&f->lock);
    f->stopping = true;
    cb_cond_signal(&f->wanted);
    cb_mutex_unlock(&f->lock);
    cb_pool_join(f->thread);
    for (cb_credentials *next, *c = f->all; c; c = next) {
        next = c->next;
        explicit_bzero(&c->keys, sizeof c->keys);
        cb_zone_free(c->zone);
    }
    cb_cond_destroy(&f->wanted);
    cb_mutex_destroy(&f->lock);
    cb_free(net->alloc, f, sizeof *f);
    net->fetcher = NULL;
}

/* --- Sources ------------------------------------------------------------------------------------------ */

cubed_status cb_credentials_option(const cb_credentials *c, const char *names, const char **out,
                                   cubed_error *err)
{
    return cb_net_get(c->net, c->zone, c->url, names, out, err);
}

static cubed_status keep(cb_credentials *c, const char *id, const char *secret, const char *token,
                         cubed_error *err)
{
    if (!secret) return cb_fail(err, CUBED_E_ARG, "there is an access key without its secret");
    if (strlen(id) >= sizeof c->keys.id || strlen(secret) >= sizeof c->keys.secret ||
        (token && strlen(token) >= sizeof c->keys.token))
        return cb_fail(err, CUBED_E_ARG, "an access key, its secret or its token is too long");
    memcpy(c->keys.id, id, strlen(id) + 1);
    memcpy(c->keys.secret, secret, strlen(secret) + 1);
    if (token) memcpy(c->keys.token, token, strlen(token) + 1);
    c->ends = INT64_MAX;
    return CUBED_OK;
}

static cubed_status read_profiles(cb_credentials *c, cubed_error *err)
{
    static const struct {
        const char *variable, *name;
    } files[2] = {{"AWS_SHARED_CREDENTIALS_FILE", "credentials"}, {"AWS_CONFIG_FILE", "config"}};
    const char *home;
    CB_TRY(cb_credentials_option(c, "HOME", &home, err));
    for (int i = 0; i < 2; i++) {
        const char *path;
        char own[4096];
        CB_TRY(cb_credentials_option(c, files[i].variable, &path, err));
        if (!path && !home) continue;
        snprintf(own, sizeof own, "%s/.aws/%s", home ? home : "", files[i].name);
        CB_TRY(cb_read_file(c->zone, path ? path : own, MOST_FILE, &c->files[i], err));
    }
    return CUBED_OK;
}

const char *cb_credentials_region(const cb_credentials *c) { return c->region; }
const char *cb_credentials_endpoint(const cb_credentials *c) { return c->endpoint; }

static const char *of_profile(const cb_credentials *c, const char *name)
{
    char title[512];
    bool found = false;
    const char *value = NULL;
    if (c->files[0]) value = cb_ini_get(c->zone, c->files[0], c->profile, name, &found);
    if (value || !c->files[1]) return value;
    const bool plain = strcmp(c->profile, "default") == 0;
    snprintf(title, sizeof title, "%s%s", plain ? "" : "profile ", c->profile);
    return cb_ini_get(c->zone, c->files[1], title, name, &found);
}

static bool has_profile(const cb_credentials *c)
{
    char title[512];
    bool found = false;
    snprintf(title, sizeof title, "profile %s", c->profile);
    if (c->files[0]) (void)cb_ini_get(c->zone, c->files[0], c->profile, "", &found);
    if (c->files[1]) (void)cb_ini_get(c->zone, c->files[1], title, "", &found);
    if (c->files[1] && strcmp(c->profile, "default") == 0)
        (void)cb_ini_get(c->zone, c->files[1], c->profile, "", &found);
    return found;
}

/* Uses a profile: its keys, a process that prints them, or a role with a token. */
static cubed_status use_profile(cb_credentials *c, bool named, cubed_error *err)
{
    const char *id = of_profile(c, "aws_access_key_id");
    if (named && !has_profile(c))
        return cb_fail(err, CUBED_E_ARG,
                       "cannot find profile \"%s\" in ~/.aws/credentials and "
                       "~/.aws/config",
                       c->profile);
    if (id)
        return keep(c, id, of_profile(c, "aws_secret_access_key"),
                    of_profile(c, "aws_session_token"), err);
    c->command = of_profile(c, "credential_process");
    c->role = of_profile(c, "role_arn");
    c->token_file = of_profile(c, "web_identity_token_file");
    if (c->command)
        c->fetch = cb_fetch_from_process;
    else if (c->role && c->token_file)
        c->fetch = cb_fetch_for_token;
    else if (c->role || of_profile(c, "source_profile"))
        return cb_fail(
            err, CUBED_E_UNSUPPORTED,
            "profile \"%s\" assumes a role, which is not supported: use the keys that `aws "
            "configure export-credentials --profile %s` prints, or use it as credential_process",
            c->profile, c->profile);
    else if (of_profile(c, "sso_session") || of_profile(c, "sso_start_url"))
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "profile \"%s\" signs in with SSO, which is not supported: use `aws "
                       "configure export-credentials --profile %s` as credential_process of "
                       "another profile",
                       c->profile, c->profile);
    return CUBED_OK;
}

static cubed_status use_machine(cb_credentials *c, cubed_error *err)
{
    bool off = false;
    CB_TRY(cb_credentials_option(c, "AWS_CONTAINER_CREDENTIALS_FULL_URI", &c->address, err));
    if (!c->address) {
        const char *path;
        CB_TRY(cb_credentials_option(c, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", &path, err));
        if (path) {
            char *address = cb_zone_alloc(c->zone, strlen(path) + 32);
            if (!address) return cb_fail(err, CUBED_E_NOMEM, "no memory for credentials");
            sprintf(address, "http://169.254.170.2%s", path);
            c->address = address;
        }
    }
    if (c->address) {
        CB_TRY(cb_credentials_option(c, "AWS_CONTAINER_AUTHORIZATION_TOKEN", &c->bearer, err));
        CB_TRY(cb_credentials_option(c, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &c->token_file,
                                     err));
        c->fetch = cb_fetch_from_container;
        return CUBED_OK;
    }
    CB_TRY(cb_net_get_flag(c->net, c->zone, c->url, "AWS_EC2_METADATA_DISABLED", &off, err));
    CB_TRY(cb_credentials_option(c, "AWS_EC2_METADATA_SERVICE_ENDPOINT", &c->address, err));
    if (!c->address) c->address = "http://169.254.169.254";
    if (!off) c->fetch = cb_fetch_from_machine;
    return CUBED_OK;
}

static bool has_any(const cb_credentials *c) { return c->fetch || c->ends; }

cubed_status cb_look_for_aws(cb_credentials *c, cubed_error *err)
{
    const char *id, *secret, *token, *profile, *region;
    CB_TRY(cb_credentials_option(c, "AWS_PROFILE profile", &profile, err));
    CB_TRY(cb_credentials_option(c, CB_AWS_ID, &id, err));
    CB_TRY(cb_credentials_option(c, CB_AWS_SECRET, &secret, err));
    CB_TRY(cb_credentials_option(c, CB_AWS_TOKEN, &token, err));
    CB_TRY(cb_credentials_option(c, "AWS_ENDPOINT_URL_STS", &c->sts, err));
    CB_TRY(cb_credentials_option(c, "AWS_ROLE_SESSION_NAME", &c->session, err));
    c->profile = profile ? profile : "default";
    CB_TRY(read_profiles(c, err));
    CB_TRY(
        cb_credentials_option(c, "AWS_REGION AWS_DEFAULT_REGION region region_name", &region, err));
    c->region = region ? region : of_profile(c, "region");
    CB_TRY(cb_credentials_option(
        c, "AWS_ENDPOINT_URL_S3 AWS_ENDPOINT_URL endpoint_url endpoint AWS_ENDPOINT", &c->endpoint,
        err));
    if (!c->endpoint) c->endpoint = of_profile(c, "endpoint_url");
    if (id) CB_TRY(keep(c, id, secret, token, err));
    if (!has_any(c)) {
        CB_TRY(cb_credentials_option(c, "AWS_ROLE_ARN", &c->role, err));
        CB_TRY(cb_credentials_option(c, "AWS_WEB_IDENTITY_TOKEN_FILE", &c->token_file, err));
        if (c->role && c->token_file) c->fetch = cb_fetch_for_token;
    }
    if (!has_any(c)) CB_TRY(use_profile(c, profile, err));
    if (!has_any(c)) CB_TRY(use_machine(c, err));
    if (has_any(c)) return CUBED_OK;
    c->status = cb_fail(&c->why, CUBED_E_IO, CB_NO_CREDENTIALS);
    return CUBED_OK;
}

static bool same_keys(const cb_credentials *a, const cb_credentials *b)
{
#define TEXT(name) offsetof(cb_credentials, name)
    static const size_t texts[] = {
        TEXT(command),   TEXT(role),        TEXT(token_file), TEXT(address),  TEXT(bearer),
        TEXT(sts),       TEXT(profile),     TEXT(region),     TEXT(endpoint), TEXT(account),
        TEXT(client),    TEXT(tenant),      TEXT(secret),     TEXT(resource), TEXT(way.ca_file),
        TEXT(way.proxy), TEXT(way.no_proxy)};
#undef TEXT
    if (!a->fetch || a->fetch != b->fetch) return false;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *x, *y;
        memcpy(&x, (const char *)a + texts[i], sizeof x);
        memcpy(&y, (const char *)b + texts[i], sizeof y);
        if (!x != !y || (x && strcmp(x, y) != 0)) return false;
    }
    return true;
}

cubed_status cb_credentials_find(cb_net *net, const char *url, cb_credentials_look look,
                                 cb_credentials **out, cubed_error *err)
{
    cb_zone *zone;
    cb_fetcher *f;
    CB_TRY(get_fetcher(net, &f, err));
    CB_TRY(cb_zone_new(net->alloc, &zone, err));
    cb_credentials *c = cb_zone_alloc(zone, sizeof *c);
    cubed_status st = CUBED_OK;
    if (!c) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for credentials"));
    *c = (cb_credentials){.zone = zone, .fetcher = f, .net = net, .url = cb_zone_strdup(zone, url)};
    if (!c->url) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory for credentials"));
    CB_GO(cb_net_get_way(net, zone, url, &c->way, err));
    c->way.plain_proxy = NULL;
    st = look(c, err);
    /* If a setting could not be copied, it must not count as missing. */
    if (cb_zone_failed(zone)) st = cb_fail(err, CUBED_E_NOMEM, "no memory for credentials");
    CB_GO(st);
    if (*c->keys.secret || *c->keys.token || c->bearer || c->account || c->secret)
        CB_GO(cb_net_keep_secrets(net, err));
    cb_mutex_lock(&f->lock);
    cb_credentials *known = f->all;
    while (known && !same_keys(known, c)) known = known->next;
    if (known) {
        cb_zone_free(zone);
    } else {
        c->next = f->all;
        f->all = known = c;
    }
    cb_mutex_unlock(&f->lock);
    *out = known;
    return CUBED_OK;
out:
    cb_zone_free(zone);
    return st;
}
