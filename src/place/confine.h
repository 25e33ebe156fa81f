/* Checks the places to which a document may refer. */
#ifndef CB_PLACE_CONFINE_H
#define CB_PLACE_CONFINE_H

#include "place/place.h"

/* The places that a document may refer to. A document on this machine may refer to any place. A document on another machine may
 * refer to its own scheme and host (or bucket, or container), and to the places that the user allowed.
 *
 * Strings and places are allocated in the zone that was passed to cb_confine_init. */
typedef struct cb_confine {
    /* canonical "scheme://host" of the document; NULL: a document on this machine */
    const char *own;
    cb_place *allowed;
    int nallowed;
} cb_confine;

/* Initialises the limits for a document. `document` is its URL or path. `allowed` is a list from cb_confine_put_prefixes, or
 * NULL. */
CUBED_MUST_CHECK cubed_status cb_confine_init(cb_zone *zone, const char *document,
                                              const char *allowed, cb_confine *out,
                                              cubed_error *err);
/* Returns true if the document may refer to an object. If the object has a URL, also sets *all_in_parent: true means that the
 * result is the same for all objects in the object's directory. */
bool cb_confine_allows(const cb_confine *c, const cb_place *object, bool *all_in_parent);
/* Returns true if the store at a canonical URL is on the document's own host, and the user has allowed no place on that host.
 * Then the document may refer to the store only because it is on the same host. */
bool cb_confine_is_own(const cb_confine *c, const char *url);
/* Appends the canonical forms of allowed prefixes, one per line. `text` has one prefix per line; empty lines are skipped.
 * CUBED_E_ARG if a prefix is neither a path nor a URL with a host. */
CUBED_MUST_CHECK cubed_status cb_confine_put_prefixes(const char *text, cb_buf *out,
                                                      cubed_error *err);

#endif
