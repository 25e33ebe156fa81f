/* What the remote stores of a context share: settings, and clients. */
#ifndef CB_STORE_NET_H
#define CB_STORE_NET_H

#include <stdatomic.h>

#include "base/lock.h"
#include "store/core/store.h"
#include "store/http/http_client.h"

typedef struct cb_setting {
    struct cb_setting *next;
    size_t size; /* of this struct with the text behind it */
    const char *scope, *name,
        *value; /* scope: the URL that it is for, with all below; NULL: a variable, for all */
    char text[];
} cb_setting;

typedef struct cb_credentials cb_credentials;

/* Threads that send requests. One takes about 1.5 GB/s from sockets, and less of it out of TLS: another one begins when
 * those that there are have a few calls each. */
enum { CB_NET_CLIENTS = 2, CB_NET_FEW_CALLS = 8 };

typedef struct cb_net {
    const cubed_allocator *alloc;
    cb_mutex lock;
    cb_setting *settings CB_GUARDED_BY(&lock);          /* newest first */
    cb_http *http[CB_NET_CLIENTS] CB_GUARDED_BY(&lock); /* NULL until a client is needed */
    cb_hedge hedge;                                     /* the clients' */
    struct cb_fetcher *fetcher CB_GUARDED_BY(&lock); /* of credentials; NULL until one is needed */
    bool keeps_secrets CB_GUARDED_BY(&lock); /* memory of secrets is excluded from core files */
} cb_net;

CUBED_MUST_CHECK cubed_status cb_net_init(cb_net *n, const cubed_allocator *a, cubed_error *err);
/* No store is open, and cb_credentials_free has run if credentials were used. */
void cb_net_free(cb_net *n);
/* The client of this process that has least to do. All calls of a request are sent by one. */
CUBED_MUST_CHECK cubed_status cb_net_http(cb_net *n, cb_http **out, cubed_error *err);
/* Credentials that calls wait for have come. */
void cb_net_wake(cb_net *n);
/* Calls whose `cancelled` has been set are given back. */
void cb_net_look_at_cancelled(cb_net *n);

/* Takes the place of all variables: "NAME=VALUE", NULL behind the last. Those that no store looks at are left out. */
CUBED_MUST_CHECK cubed_status cb_net_set_variables(cb_net *n, const char *const *variables,
                                                   cubed_error *err);
/* `value` NULL: no longer set; `name` NULL: none of that URL. */
CUBED_MUST_CHECK cubed_status cb_net_set_option(cb_net *n, const char *url, const char *name,
                                                const char *value, cubed_error *err);
/* Variable by which options come to another process of the same user, and its value. */
#define CB_NET_OPTIONS "CUBED_STORAGE_OPTIONS"
CUBED_MUST_CHECK cubed_status cb_net_put_options(cb_net *n, cb_buf *out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_net_take_options(cb_net *n, const char *text, cubed_error *err);
/* A copy of the first that is set of `names`, which are divided by spaces: options of the URL in any case of letters, then
 * variables as they are spelled. *out is NULL if none is, or is empty. */
CUBED_MUST_CHECK cubed_status cb_net_get(cb_net *n, cb_zone *zone, const char *url,
                                         const char *names, const char **out, cubed_error *err);
/* Option that lists the places that a document may refer to (place/confine.h): of documents, not of stores. */
#define CB_NET_REFERENCES "allow_references"
/* Its values for a document at a URL, of all scopes that the URL is in; NULL if it is not set. */
CUBED_MUST_CHECK cubed_status cb_net_get_references(cb_net *n, cb_zone *zone, const char *url,
                                                    const char **out, cubed_error *err);
/* The same of truth values. */
CUBED_MUST_CHECK cubed_status cb_net_get_flag(cb_net *n, cb_zone *zone, const char *url,
                                              const char *names, bool *out, cubed_error *err);
/* Whether the storage option conditional_put says that puts have no conditions ("disabled"); "etag": they have. */
#define CB_NET_CONDITIONAL_PUT "AWS_CONDITIONAL_PUT conditional_put"
CUBED_MUST_CHECK cubed_status cb_net_get_unconditional(cb_net *n, cb_zone *zone, const char *url,
                                                       bool *out, cubed_error *err);
/* The same of seconds, of which there are less than `most`; *ms is left as it is if they are not set. */
CUBED_MUST_CHECK cubed_status cb_net_get_seconds(cb_net *n, cb_zone *zone, const char *url,
                                                 const char *names, double most, int64_t *ms,
                                                 cubed_error *err);
/* Variable that says what core files of a process have that keeps secrets: "full", all that others have; else nothing of
 * its memory, where its environment is, too. */
#define CB_NET_CORES "CUBED_CORE_DUMPS"
/* Before credentials are used: sees to it. */
CUBED_MUST_CHECK cubed_status cb_net_keep_secrets(cb_net *n, cubed_error *err);
/* cb_net_get of what is a secret. */
CUBED_MUST_CHECK cubed_status cb_net_get_secret(cb_net *n, cb_zone *zone, const char *url,
                                                const char *names, const char **out,
                                                cubed_error *err);
/* How a URL's servers are reached. */
CUBED_MUST_CHECK cubed_status cb_net_get_way(cb_net *n, cb_zone *zone, const char *url,
                                             cb_http_way *out, cubed_error *err);
/* CUBED_E_ARG if the URL has an option that is not among the names. */
CUBED_MUST_CHECK cubed_status cb_net_check_options(cb_net *n, const char *url, const char *names,
                                                   cubed_error *err);

#endif
