#define _GNU_SOURCE
#include "store/http/net.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "mem/pages.h"
#include "store/core/file_kind.h"
#include "store/core/uri.h"

void cb_net_init(cb_net *n, const cubed_allocator *a)
{
    *n = (cb_net){.alloc = a};
    cb_hedge_init(&n->hedge);
    cb_mutex_init(&n->lock);
}

static void free_setting(const cb_net *n, cb_setting *s)
{
    explicit_bzero(s->text, s->size - sizeof *s); /* the value may be a secret */
    cb_free(n->alloc, s, s->size);
}

/* Takes no lock: no store is open, so no other thread uses the net. */
void cb_net_free(cb_net *n) CB_UNCHECKED_LOCKS
{
    for (cb_setting *next, *s = n->settings; s; s = next) {
        next = s->next;
        free_setting(n, s);
    }
#ifdef CB_HAVE_HTTP
    for (int i = 0; i < CB_NET_CLIENTS; i++) cb_http_free(n->http[i]);
#endif
    cb_throttle_free_all(n->throttles);
    cb_hedge_free(&n->hedge);
    cb_mutex_destroy(&n->lock);
}

cubed_status cb_net_throttle(cb_net *n, const char *name, unsigned most, cb_throttle **out,
                             cubed_error *err)
{
    cb_mutex_lock(&n->lock);
    const cubed_status st = cb_throttle_get(&n->throttles, n->alloc, name, most, out, err);
    cb_mutex_unlock(&n->lock);
    return st;
}

uint64_t cb_net_refusals(cb_net *n, unsigned *limit)
{
    cb_mutex_lock(&n->lock);
    const uint64_t refusals = cb_throttle_refusals(n->throttles, limit);
    cb_mutex_unlock(&n->lock);
    return refusals;
}

#ifdef CB_HAVE_HTTP
cubed_status cb_net_http(cb_net *n, cb_http **out, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    cb_http *best = NULL;
    int i = 0;
    cb_mutex_lock(&n->lock);
    /* Ignore clients inherited from the parent of a fork. */
    for (; i < CB_NET_CLIENTS && n->http[i] && cb_http_is_here(n->http[i]); i++) {
        if (!best || cb_http_calls(n->http[i]) < cb_http_calls(best)) best = n->http[i];
    }
    if (i < CB_NET_CLIENTS && (!best || cb_http_calls(best) >= CB_NET_FEW_CALLS)) {
        st = cb_http_new(n->alloc, CB_HTTP_MOST / CB_NET_CLIENTS, &n->hedge, &n->http[i], err);
        best = n->http[i];
    }
    *out = best;
    cb_mutex_unlock(&n->lock);
    return st;
}

static void tell_all(cb_net *n, void (*tell)(cb_http *))
{
    cb_mutex_lock(&n->lock);
    for (int i = 0; i < CB_NET_CLIENTS && n->http[i] && cb_http_is_here(n->http[i]); i++)
        tell(n->http[i]);
    cb_mutex_unlock(&n->lock);
}

void cb_net_wake(cb_net *n) { tell_all(n, cb_http_wake); }

void cb_net_look_at_cancelled(cb_net *n) { tell_all(n, cb_http_look_at_cancelled); }
#endif

/* --- Settings ----------------------------------------------------------------------------------------- */

static cubed_status new_setting(const cb_net *n, const char *scope, const char *name,
                                size_t name_size, const char *value, cb_setting **out,
                                cubed_error *err)
{
    const size_t s = scope ? strlen(scope) + 1 : 0, v = strlen(value) + 1;
    const size_t size = sizeof(cb_setting) + s + name_size + 1 + v;
    cb_setting *x = cb_alloc_zero(n->alloc, size);
    if (!x) return cb_fail(err, CUBED_E_NOMEM, "no memory for a setting");
    x->size = size;
    x->scope = scope ? x->text : NULL;
    x->name = x->text + s;
    x->value = x->text + s + name_size + 1;
    if (scope) memcpy(x->text, scope, s);
    memcpy(x->text + s, name, name_size);
    memcpy(x->text + s + name_size + 1, value, v);
    *out = x;
    return CUBED_OK;
}

static bool is_wanted(const char *name, size_t n)
{
    static const char *const beginnings[] = {"AWS_",   "GOOGLE_", "GS_",
                                             "AZURE_", "REDIS_",  "CUBED_HTTP_"};
    static const char *const names[] = {"HOME",
                                        "CLOUDSDK_CONFIG",
                                        "STORAGE_EMULATOR_HOST",
                                        "SSL_CERT_FILE",
                                        "CURL_CA_BUNDLE",
                                        "REQUESTS_CA_BUNDLE",
                                        "HTTP_PROXY",
                                        "http_proxy",
                                        "HTTPS_PROXY",
                                        "https_proxy",
                                        "ALL_PROXY",
                                        "all_proxy",
                                        "NO_PROXY",
                                        "no_proxy",
                                        "GCE_METADATA_HOST",
                                        "IDENTITY_ENDPOINT",
                                        "IDENTITY_HEADER",
                                        CB_NET_CORES};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        const size_t k = strlen(beginnings[i]);
        if (n > k && memcmp(name, beginnings[i], k) == 0) return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == n && memcmp(name, names[i], n) == 0) return true;
    }
    return false;
}

/* Removes the settings of a scope, or only the one with this name. */
static void drop(cb_net *n, const char *scope, const char *name)
{
    for (cb_setting **at = &n->settings; *at;) {
        cb_setting *s = *at;
        const bool same = scope ? s->scope && strcmp(s->scope, scope) == 0 : !s->scope;
        if (!same || (name && strcasecmp(s->name, name) != 0)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        free_setting(n, s);
    }
}

/* --- Passing options to other processes --------------------------------------------------------------- */

/* Returns true if only the driver needs the settings of a scope. Workers do not call functions or endpoints, so they do not get
 * the keys for them. */
static bool is_of_driver(const char *scope)
{
    return strncmp(scope, "lambda://", 9) == 0 || strncmp(scope, "worker+", 7) == 0;
}

cubed_status cb_net_put_options(cb_net *n, cb_buf *out, cubed_error *err)
{
    size_t count = 0;
    cb_mutex_lock(&n->lock);
    for (const cb_setting *s = n->settings; s; s = s->next) count += s->scope != NULL;
    /* Writes the oldest setting first, because a later one of the same name takes precedence. */
    for (; count > 0; count--) {
        const cb_setting *s = n->settings;
        for (size_t left = count; s; s = s->next) {
            if (s->scope && --left == 0) break;
        }
        if (is_of_driver(s->scope)) continue;
        const char *const parts[] = {s->scope, s->name, s->value};
        for (int i = 0; i < 3; i++) {
            cb_uri_put(out, parts[i], "");
            cb_buf_puts(out, i < 2 ? " " : "\n");
        }
    }
    cb_mutex_unlock(&n->lock);
    return out->failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for settings") : CUBED_OK;
}

cubed_status cb_net_take_options(cb_net *n, const char *text, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    cb_buf parts[3];
    for (int i = 0; i < 3; i++) cb_buf_init(&parts[i], n->alloc);
    while (*text && st == CUBED_OK) {
        bool failed = false;
        for (int i = 0; i < 3; i++) {
            const size_t k = strcspn(text, " \n");
            parts[i].size = 0;
            cb_buf_puts(&parts[i], "");
            cb_uri_decode(&parts[i], text, k, false);
            text += k + (text[k] != 0);
            failed = failed || parts[i].failed || !parts[i].data;
        }
        st = failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for settings")
                    : cb_net_set_option(n, parts[0].data, parts[1].data, parts[2].data, err);
    }
    for (int i = 0; i < 3; i++) {
        if (parts[i].data) explicit_bzero(parts[i].data, parts[i].cap);
        cb_buf_free(&parts[i]);
    }
    return st;
}

cubed_status cb_net_set_variables(cb_net *n, const char *const *variables, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    const char *options = NULL;
    cb_mutex_lock(&n->lock);
    drop(n, NULL, NULL);
    for (; *variables && st == CUBED_OK; variables++) {
        const char *equals = strchr(*variables, '=');
        const size_t size = equals ? (size_t)(equals - *variables) : 0;
        cb_setting *s = NULL;
        if (strncmp(*variables, CB_NET_OPTIONS "=", sizeof CB_NET_OPTIONS) == 0)
            options = equals + 1;
        if (!equals || !is_wanted(*variables, size)) continue;
        st = new_setting(n, NULL, *variables, size, equals + 1, &s, err);
        if (st != CUBED_OK) break;
        s->next = n->settings;
        n->settings = s;
    }
    cb_mutex_unlock(&n->lock);
    return st == CUBED_OK && options ? cb_net_take_options(n, options, err) : st;
}

cubed_status cb_net_set_option(cb_net *n, const char *url, const char *name, const char *value,
                               cubed_error *err)
{
    cb_setting *s = NULL;
    if (name && value) CB_TRY(new_setting(n, url, name, strlen(name), value, &s, err));
    cb_mutex_lock(&n->lock);
    drop(n, url, name);
    if (s) {
        s->next = n->settings;
        n->settings = s;
    }
    cb_mutex_unlock(&n->lock);
    return CUBED_OK;
}

static bool is_of(const cb_setting *s, const char *url)
{
    if (!s->scope) return false;
    const size_t n = strlen(s->scope);
    return strncmp(url, s->scope, n) == 0 &&
           (!url[n] || url[n] == '/' || n == 0 || s->scope[n - 1] == '/');
}

/* Returns true if the suffix of a URL marks a document that refers to other objects. */
static bool may_refer(const char *url)
{
    static const char *const ends[] = {".parq", ".parquet", ".icechunk"};
    const size_t n = strlen(url);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t length = strlen(ends[i]);
        if (n > length && strcasecmp(url + n - length, ends[i]) == 0) return true;
    }
    return cb_store_file_kind(url, n) == CUBED_FILE_REFERENCES;
}

/* Returns true if the setting's scope is a file that is read through the store at the URL: a file in this folder, or a document
 * that may refer to objects there. A document may refer to all objects of its host or bucket. */
static bool is_of_file_in(const cb_setting *s, const char *url)
{
    const char *host = s->scope ? strstr(s->scope, "://") : NULL;
    if (!host) return false;
    const char *slash = strrchr(host + 3, '/');
    const bool refers = may_refer(s->scope);
    if (!slash || (!refers && cb_store_file_kind(s->scope, strlen(s->scope)) == CUBED_FILE_NONE))
        return false;
    const size_t n = refers ? (size_t)(host + 3 - s->scope) + strcspn(host + 3, "/")
                            : (size_t)(slash - s->scope);
    return strncmp(url, s->scope, n) == 0 && (!url[n] || (refers && url[n] == '/'));
}

static bool is_among(const char *names, const char *name, bool any_case)
{
    const size_t length = strlen(name);
    for (const char *at = names; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        if (n == length && (any_case ? strncasecmp(at, name, n) : strncmp(at, name, n)) == 0)
            return true;
        at += n;
    }
    return false;
}

cubed_status cb_net_get(cb_net *n, cb_zone *zone, const char *url, const char *names,
                        const char **out, cubed_error *err)
{
    const cb_setting *found = NULL;
    *out = NULL;
    cb_mutex_lock(&n->lock);
    for (const cb_setting *s = n->settings; s && !found; s = s->next) {
        if (is_of(s, url) && is_among(names, s->name, true)) found = s;
    }
    for (const cb_setting *s = n->settings; s && !found; s = s->next) {
        if (is_of_file_in(s, url) && is_among(names, s->name, true)) found = s;
    }
    for (const char *at = names; *at && !found; at += strspn(at, " ")) {
        const size_t k = strcspn(at, " ");
        for (const cb_setting *s = n->settings; s && !found; s = s->next) {
            if (!s->scope && strlen(s->name) == k && strncmp(s->name, at, k) == 0 && *s->value)
                found = s;
        }
        at += k;
    }
    const bool wanted = found && *found->value;
    if (wanted) *out = cb_zone_strdup(zone, found->value);
    cb_mutex_unlock(&n->lock);
    return wanted && !*out ? cb_fail(err, CUBED_E_NOMEM, "no memory for a setting") : CUBED_OK;
}

cubed_status cb_net_get_references(cb_net *n, cb_zone *zone, const char *url, const char **out,
                                   cubed_error *err)
{
    cb_buf all;
    cb_buf_init(&all, cb_zone_allocator(zone));
    cb_mutex_lock(&n->lock);
    for (const cb_setting *s = n->settings; s; s = s->next) {
        if (!is_of(s, url) || strcasecmp(s->name, CB_NET_REFERENCES) != 0 || !*s->value) continue;
        if (all.size > 0) cb_buf_puts(&all, "\n");
        cb_buf_puts(&all, s->value);
    }
    cb_mutex_unlock(&n->lock);
    const bool any = all.size > 0;
    *out = any && !all.failed ? cb_zone_strdup(zone, all.data) : NULL;
    const bool failed = all.failed || (any && !*out);
    cb_buf_free(&all);
    return failed ? cb_fail(err, CUBED_E_NOMEM, "no memory for a setting") : CUBED_OK;
}

cubed_status cb_net_get_flag(cb_net *n, cb_zone *zone, const char *url, const char *names,
                             bool *out, cubed_error *err)
{
    const char *text;
    CB_TRY(cb_net_get(n, zone, url, names, &text, err));
    if (!text) return CUBED_OK;
    *out = is_among("1 true yes on", text, true);
    if (*out || is_among("0 false no off none", text, true)) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG, "%.*s is \"%s\", expected true or false",
                   (int)strcspn(names, " "), names, text);
}

cubed_status cb_net_get_unconditional(cb_net *n, cb_zone *zone, const char *url, bool *out,
                                      cubed_error *err)
{
    const char *text;
    CB_TRY(cb_net_get(n, zone, url, CB_NET_CONDITIONAL_PUT, &text, err));
    *out = text && strcmp(text, "disabled") == 0;
    if (!text || *out || strcmp(text, "etag") == 0) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "storage option conditional_put is \"%s\", expected \"etag\" or \"disabled\"",
                   text);
}

cubed_status cb_net_get_seconds(cb_net *n, cb_zone *zone, const char *url, const char *names,
                                double most, int64_t *ms, cubed_error *err)
{
    const char *text;
    char *end;
    CB_TRY(cb_net_get(n, zone, url, names, &text, err));
    if (!text) return CUBED_OK;
    const double seconds = strtod(text, &end);
    if (end == text || (*end && strcmp(end, "s") != 0) || !(seconds >= 0.001 && seconds < most))
        return cb_fail(err, CUBED_E_ARG,
                       "%.*s is \"%s\", expected seconds, at least 0.001 and less than %.0f",
                       (int)strcspn(names, " "), names, text, most);
    *ms = (int64_t)(seconds * 1000);
    return CUBED_OK;
}

cubed_status cb_net_keep_secrets(cb_net *n, cubed_error *err)
{
    bool full = false;
    cubed_status st = CUBED_OK;
    cb_mutex_lock(&n->lock);
    for (const cb_setting *s = n->settings; s && st == CUBED_OK; s = s->next) {
        if (s->scope || strcmp(s->name, CB_NET_CORES) != 0 || !*s->value) continue;
        full = strcmp(s->value, "full") == 0;
        if (!full)
            st = cb_fail(err, CUBED_E_ARG, CB_NET_CORES " is \"%s\", expected full, or nothing",
                         s->value);
    }
    if (st == CUBED_OK && !full && !n->keeps_secrets) {
        cb_pages_keep_from_cores();
        n->keeps_secrets = true;
    }
    cb_mutex_unlock(&n->lock);
    return st;
}

cubed_status cb_net_get_secret(cb_net *n, cb_zone *zone, const char *url, const char *names,
                               const char **out, cubed_error *err)
{
    CB_TRY(cb_net_get(n, zone, url, names, out, err));
    return *out ? cb_net_keep_secrets(n, err) : CUBED_OK;
}

cubed_status cb_net_get_way(cb_net *n, cb_zone *zone, const char *url, cb_http_way *out,
                            cubed_error *err)
{
    const struct {
        const char *names, **to;
    } settings[] = {
        {"AWS_CA_BUNDLE ca_bundle SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE", &out->ca_file},
        {"proxy HTTPS_PROXY https_proxy ALL_PROXY all_proxy", &out->proxy},
        {"proxy http_proxy ALL_PROXY all_proxy", &out->plain_proxy},
        {"NO_PROXY no_proxy", &out->no_proxy}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        CB_TRY(cb_net_get(n, zone, url, settings[i].names, settings[i].to, err));
    return CUBED_OK;
}

cubed_status cb_net_check_options(cb_net *n, const char *url, const char *names, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    cb_mutex_lock(&n->lock);
    for (const cb_setting *s = n->settings; s && st == CUBED_OK; s = s->next) {
        if ((is_of(s, url) || is_of_file_in(s, url)) &&
            strcasecmp(s->name, CB_NET_REFERENCES) != 0 && !is_among(names, s->name, true))
            st = cb_fail(err, CUBED_E_ARG, "%s has no storage option \"%s\"; there are: %s", url,
                         s->name, names);
    }
    cb_mutex_unlock(&n->lock);
    return st;
}
