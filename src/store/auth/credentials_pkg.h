/* For the files of credentials only. */
#ifndef CB_STORE_CREDENTIALS_PKG_H
#define CB_STORE_CREDENTIALS_PKG_H

#include "store/auth/credentials.h"

#define CB_NO_CREDENTIALS                                                                          \
    "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, "  \
    "or AWS_NO_SIGN_REQUEST=true for what is public"

typedef struct cb_fetcher cb_fetcher;

/* Strings lie in the zone, and stay. */
struct cb_credentials {
    cb_credentials *next;
    cb_zone *zone;
    cb_fetcher *fetcher;
    cb_net *net;
    const char *url; /* whose options count */
    cb_http_way way; /* without a proxy to what is asked without TLS */
    const char *profile, *files[2], *region,
        *endpoint; /* files: what is in them; NULL: there are none */
    /* NULL: keys are what they are. Blocks; in the fetcher's thread. *ends: seconds since 1970, 0: never. */
    cubed_status (*fetch)(const cb_credentials *c, cb_keys *keys, int64_t *ends, cubed_error *err);
    const char *command, *role, *session, *token_file, *address, *bearer, *sts;
    const char *account;                  /* of Google: JSON */
    const char *client, *tenant, *secret; /* of Azure */
    /* Under the fetcher's lock. */
    cb_keys keys;
    int64_t ends; /* 0: there are none, INT64_MAX: never */
    bool wanted;
    int64_t failed;
    cubed_status status;
    cubed_error why;
};

/* An option of the store, or what the environment has in its place, under one of these names; NULL: it is not set. */
cubed_status cb_credentials_option(const cb_credentials *c, const char *names, const char **out,
                                   cubed_error *err);

/* One request; `headers` are lines, `form` is what is posted. NULL: none. */
typedef struct cb_question {
    const char *method, *url, *headers;
    long connect_ms;
    int attempts;
    const char *form;
} cb_question;

/* Blocks. The reply's text, of code 200. Proxies are for what is asked over TLS: services of this machine, and of the cloud's
 * machines, are not behind one. */
cubed_status cb_ask(const cb_credentials *c, const cb_question *q, cb_buf *out, cubed_error *err);
/* The same of a token of OAuth 2, with its end. */
cubed_status cb_ask_for_token(const cb_credentials *c, const cb_question *q, cb_keys *keys,
                              int64_t *ends, cubed_error *err);
/* Appends a field of a form. */
void cb_put_field(cb_buf *out, const char *name, const char *value);
/* What a file of a token has, without the end of its line. */
cubed_status cb_read_token(cb_zone *zone, const char *path, const char **out, cubed_error *err);
/* Whether a secret may be sent there: with TLS, or not further than this machine. */
bool cb_is_near(const char *url);
/* Wipes and frees. */
void cb_free_secret(cb_buf *b);

cubed_status cb_fetch_from_process(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                   cubed_error *err);
cubed_status cb_fetch_for_token(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                cubed_error *err);
cubed_status cb_fetch_from_container(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                     cubed_error *err);
cubed_status cb_fetch_from_machine(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                   cubed_error *err);

#endif
