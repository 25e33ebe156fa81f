/* Where redirects, and references of documents, may lead. */
#ifndef CB_STORE_HTTP_REDIRECT_H
#define CB_STORE_HTTP_REDIRECT_H

#include "store/http/address.h"
#include "store/http/curl.h"

/* Size of a message that says why an address was refused, including the terminating NUL. */
enum { CB_REDIRECT_REFUSAL = 512 };

/* The connections of one transfer. */
typedef struct cb_redirects {
    CURL *curl;
    long proxy_port; /* 0: no proxy */
    bool referred;   /* a document named the URL, not the user */
    /* The kind of the first server's address, or of the address of the document. CB_ADDRESS_ANY: no server was asked yet. */
    cb_address_kind first;
    cb_address_kind farthest; /* of the servers that were asked; CB_ADDRESS_ANY: none was */
    char refused[CB_REDIRECT_REFUSAL]; /* the reason; "": nothing was refused */
} cb_redirects;

/* Lets a handle follow redirects: to http and https, from https to https alone, and to no address that is nearer than the first one.
 * If `limit` is not CB_ADDRESS_ANY, a document at an address of that kind named the URL: no address, not even the first one, may be
 * nearer. Addresses are those that names resolve to. `proxy` may be NULL or "". False if libcurl refuses. */
bool cb_redirects_follow(cb_redirects *r, CURL *curl, const char *url, const char *proxy,
                         cb_address_kind limit);

#endif
