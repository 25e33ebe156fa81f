/* Declarations shared by the files of credentials only. */
#ifndef CB_STORE_CREDENTIALS_PKG_H
#define CB_STORE_CREDENTIALS_PKG_H

#include "store/auth/credentials.h"

#define CB_NO_CREDENTIALS                                                                          \
    "no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, " \
    "or AWS_NO_SIGN_REQUEST=true for public data"

typedef struct cb_fetcher cb_fetcher;

/* Strings are stored in the zone and do not change. */
struct cb_credentials {
    cb_credentials *next;
    cb_zone *zone;
    cb_fetcher *fetcher;
    cb_net *net;
    const char *url; /* URL whose options apply */
    cb_http_way way; /* certificates and proxy; no proxy is used for requests without TLS */
    /* files: contents of configuration files; NULL if missing */
    const char *profile, *files[2], *region, *endpoint;
    /* Fetches keys; NULL: `keys` are fixed. Blocks; called by the fetcher's thread. Sets *ends to seconds since 1970, or 0
     * if the keys do not expire. */
    cubed_status (*fetch)(const cb_credentials *c, cb_keys *keys, int64_t *ends, cubed_error *err);
    const char *command, *role, *session, *token_file, *address, *bearer, *sts;
    const char *account;                  /* JSON of a Google service account */
    const char *client, *tenant, *secret; /* for Azure */
    const char *resource;                 /* audience of tokens; NULL: the stores of the service */
    /* Guarded by the fetcher's lock. */
    cb_keys keys;
    int64_t ends;     /* time when the keys expire; 0: no keys yet; INT64_MAX: no expiry */
    uint64_t fetched; /* number of times that keys were fetched */
    bool wanted;
    int64_t failed;
    cubed_status status;
    cubed_error why;
};

/* Gets a storage option, or the environment variable for it, under one of the names. Sets *out to NULL if none is set. */
cubed_status cb_credentials_option(const cb_credentials *c, const char *names, const char **out,
                                   cubed_error *err);

/* An HTTP request for credentials. `headers` has header lines, `form` the body to post; both may be NULL. */
typedef struct cb_question {
    const char *method, *url, *headers;
    long connect_ms;
    int attempts;
    const char *form;
} cb_question;

/* Sends a request and gets the text of the reply, which must have code 200. Blocks. A proxy is used only with TLS: services
 * on this machine or in its cloud are reached directly. */
cubed_status cb_ask(const cb_credentials *c, const cb_question *q, cb_buf *out, cubed_error *err);
/* Sends a request and parses the reply, a token of OAuth 2. Stores the token in `keys`, and in *ends the time of its expiry in
 * seconds since 1970; one hour from now if the reply does not state it. Blocks. CUBED_E_IO if the reply has no token. */
cubed_status cb_ask_for_token(const cb_credentials *c, const cb_question *q, cb_keys *keys,
                              int64_t *ends, cubed_error *err);
/* Appends a field to a form. */
void cb_put_field(cb_buf *out, const char *name, const char *value);
/* Reads a token from a file, without the line break. */
cubed_status cb_read_token(cb_zone *zone, const char *path, const char **out, cubed_error *err);
/* Returns true if a secret may be sent to the URL: it uses TLS, or is on this machine. */
bool cb_is_near(const char *url);
/* Overwrites the memory with zeros and frees it. */
void cb_free_secret(cb_buf *b);

/* Runs a program with /bin/sh and gets its output. `name` is for messages. */
cubed_status cb_run_program(const char *command, const char *name, cb_buf *out, cubed_error *err);
cubed_status cb_fetch_from_process(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                   cubed_error *err);
cubed_status cb_fetch_for_token(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                cubed_error *err);
cubed_status cb_fetch_from_container(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                     cubed_error *err);
cubed_status cb_fetch_from_machine(const cb_credentials *c, cb_keys *keys, int64_t *ends,
                                   cubed_error *err);

#endif
