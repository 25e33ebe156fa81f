/* Limits the targets of redirects and of references in documents. */
#ifndef CB_STORE_HTTP_REDIRECT_H
#define CB_STORE_HTTP_REDIRECT_H

#include "store/http/address.h"
#include "store/http/curl.h"

/* Size of a message about a refused address, including the terminating NUL. */
enum { CB_REDIRECT_REFUSAL = 512 };

/* The connections of one transfer. */
typedef struct cb_redirects {
    CURL *curl;
    long proxy_port; /* 0: no proxy */
    bool referred;   /* the URL comes from a document, not from the user */
    /* Kind of the first server's address, or of the document's address. CB_ADDRESS_ANY: no server was contacted yet. */
    cb_address_kind first;
    cb_address_kind
        farthest; /* farthest kind of address that was contacted; CB_ADDRESS_ANY: no server yet */
    char refused
        [CB_REDIRECT_REFUSAL]; /* reason for a refused address; "" if no address was refused */
} cb_redirects;

/* Makes libcurl follow redirects of a transfer, with these limits:
 *
 * - A redirect may lead to http or https; from https only to https.
 * - No redirect leads to an address of a nearer kind (cb_address_kind) than the first address.
 * - If a document named the URL, `limit` is the kind of the document's address. Then the first address must not be nearer than
 *   this kind. CB_ADDRESS_ANY: the user named the URL.
 *
 * Host names are resolved before the check. `proxy` may be NULL or "". Returns false if libcurl fails. */
bool cb_redirects_follow(cb_redirects *r, CURL *curl, const char *url, const char *proxy,
                         cb_address_kind limit);

#endif
