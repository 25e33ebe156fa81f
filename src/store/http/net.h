/* Settings and HTTP clients that the remote stores of a context share. */
#ifndef CB_STORE_NET_H
#define CB_STORE_NET_H

#include <stdatomic.h>

#include "base/lock.h"
#include "store/core/store.h"
#include "store/http/http_client.h"

typedef struct cb_setting {
    struct cb_setting *next;
    size_t size; /* size of this struct including the text */
    /* `scope` is the URL prefix to which an option applies. It is NULL for a variable, which applies to all URLs. */
    const char *scope, *name, *value;
    char text[];
} cb_setting;

typedef struct cb_credentials cb_credentials;

/* Maximum number of client threads. A thread reads about 1.5 GB/s, or less with TLS. Another thread starts when each running
 * thread has CB_NET_FEW_CALLS calls. */
enum { CB_NET_CLIENTS = 2, CB_NET_FEW_CALLS = 8 };

typedef struct cb_net {
    const cubed_allocator *alloc;
    cb_mutex lock;
    cb_setting *settings CB_GUARDED_BY(&lock);          /* newest first */
    cb_http *http[CB_NET_CLIENTS] CB_GUARDED_BY(&lock); /* entries are NULL until they are needed */
    cb_hedge hedge; /* policy of second requests, shared by all clients */
    struct cb_fetcher *
        fetcher CB_GUARDED_BY(&lock); /* thread that renews credentials; NULL until needed */
    /* Throttles of the services that stores use, as a linked list. cb_net_throttle finds a throttle by its name. */
    cb_throttle *throttles CB_GUARDED_BY(&lock);
    bool keeps_secrets CB_GUARDED_BY(&lock); /* memory with secrets is excluded from core dumps */
} cb_net;

void cb_net_init(cb_net *n, const cubed_allocator *a);
/* Requires that no store is open, and that cb_credentials_free has run if credentials were used. */
void cb_net_free(cb_net *n);
/* Returns this process's client with the fewest calls. All calls of one request use the same client. */
CUBED_MUST_CHECK cubed_status cb_net_http(cb_net *n, cb_http **out, cubed_error *err);
/* Gets this process's throttle with the name `name`, or adds it with the limit of `most` calls in flight. `n` owns the
 * throttle. */
CUBED_MUST_CHECK cubed_status cb_net_throttle(cb_net *n, const char *name, unsigned most,
                                              cb_throttle **out, cubed_error *err);
/* Returns the number of calls that services have refused so far, and sets *limit (cb_throttle_refusals). */
uint64_t cb_net_refusals(cb_net *n, unsigned *limit);
/* Makes all clients continue calls that wait for credentials, after credentials arrived. */
void cb_net_wake(cb_net *n);
/* Makes all clients complete the calls whose `cancelled` has been set. */
void cb_net_look_at_cancelled(cb_net *n);

/* Replaces all variables by `variables`: "NAME=VALUE", NULL-terminated. Ignores those that no store uses. */
CUBED_MUST_CHECK cubed_status cb_net_set_variables(cb_net *n, const char *const *variables,
                                                   cubed_error *err);
/* Sets an option of a URL. If `value` is NULL, unsets the option. If `name` is NULL, unsets all options of the URL. */
CUBED_MUST_CHECK cubed_status cb_net_set_option(cb_net *n, const char *url, const char *name,
                                                const char *value, cubed_error *err);
/* Name of the variable that passes options to another process of the same user, and functions for its value. */
#define CB_NET_OPTIONS "CUBED_STORAGE_OPTIONS"
CUBED_MUST_CHECK cubed_status cb_net_put_options(cb_net *n, cb_buf *out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_net_take_options(cb_net *n, const char *text, cubed_error *err);
/* Gets a copy of the first setting in `names`, which are separated by spaces: options of the URL (case-insensitive) first,
 * then variables (case-sensitive). Sets *out to NULL if none is set or the value is empty. */
CUBED_MUST_CHECK cubed_status cb_net_get(cb_net *n, cb_zone *zone, const char *url,
                                         const char *names, const char **out, cubed_error *err);
/* Option that lists the places that a document may refer to (place/confine.h). Unlike other options, it is for documents,
 * not for stores. */
#define CB_NET_REFERENCES "allow_references"
/* Gets the values of CB_NET_REFERENCES for a document at a URL, from all scopes that contain the URL. Sets *out to NULL if the
 * option is not set. */
CUBED_MUST_CHECK cubed_status cb_net_get_references(cb_net *n, cb_zone *zone, const char *url,
                                                    const char **out, cubed_error *err);
/* Gets the boolean value of the first setting in `names` that is set: true for 1, true, yes and on; false for 0, false, no, off
 * and none. Leaves *out unchanged if no setting is set. CUBED_E_ARG for other values. */
CUBED_MUST_CHECK cubed_status cb_net_get_flag(cb_net *n, cb_zone *zone, const char *url,
                                              const char *names, bool *out, cubed_error *err);
/* Name of the option that turns conditional puts on ("etag") or off ("disabled"). cb_net_get_unconditional sets *out to true
 * if it turns them off. */
#define CB_NET_CONDITIONAL_PUT "AWS_CONDITIONAL_PUT conditional_put"
CUBED_MUST_CHECK cubed_status cb_net_get_unconditional(cb_net *n, cb_zone *zone, const char *url,
                                                       bool *out, cubed_error *err);
/* Gets a duration: the value in seconds of the first setting in `names` that is set, converted to milliseconds. Leaves *ms
 * unchanged if no setting is set. CUBED_E_ARG unless the value is at least 0.001 s and less than `most` seconds. */
CUBED_MUST_CHECK cubed_status cb_net_get_seconds(cb_net *n, cb_zone *zone, const char *url,
                                                 const char *names, double most, int64_t *ms,
                                                 cubed_error *err);
/* Variable that selects the core dumps of a process with secrets. With the value "full" they are normal core dumps. Otherwise
 * they contain no memory of the process, and so no environment variables. */
#define CB_NET_CORES "CUBED_CORE_DUMPS"
/* Excludes secrets from core dumps. Call it before credentials are used. */
CUBED_MUST_CHECK cubed_status cb_net_keep_secrets(cb_net *n, cubed_error *err);
/* Gets a copy of a secret: the first setting in `names` that is set. Also excludes secrets from core dumps (cb_net_keep_secrets).
 * Sets *out to NULL if no setting is set. */
CUBED_MUST_CHECK cubed_status cb_net_get_secret(cb_net *n, cb_zone *zone, const char *url,
                                                const char *names, const char **out,
                                                cubed_error *err);
/* Gets the certificates and proxies with which requests to a URL are sent. */
CUBED_MUST_CHECK cubed_status cb_net_get_way(cb_net *n, cb_zone *zone, const char *url,
                                             cb_http_way *out, cubed_error *err);
/* Fails with CUBED_E_ARG if the URL has an option that is not in `names`. */
CUBED_MUST_CHECK cubed_status cb_net_check_options(cb_net *n, const char *url, const char *names,
                                                   cubed_error *err);

#endif
