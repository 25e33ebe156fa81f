/* Where redirects may lead. */
#ifndef CB_STORE_HTTP_REDIRECT_H
#define CB_STORE_HTTP_REDIRECT_H

#include "store/address.h"
#include "store/curl.h"

/* The redirects of one transfer. */
typedef struct cb_redirects {
    CURL *curl;
    long proxy_port; /* 0: no proxy */
    bool first_seen;
    cb_address_kind first; /* the kind of the address that the user named */
    char refused[256];     /* the reason; "": nothing was refused */
} cb_redirects;

/* Lets a handle follow redirects: to http and https, from https to https alone, and to no address that is nearer than the first one.
 * Addresses are those that names resolve to. `proxy` may be NULL or "". False if libcurl refuses. */
bool cb_redirects_follow(cb_redirects *r, CURL *curl, const char *url, const char *proxy);

#endif
