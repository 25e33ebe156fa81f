/* Where an array, a group or a directory lies: a value that is compared, whatever its spelling. */
#ifndef CB_PLACE_PLACE_H
#define CB_PLACE_PLACE_H

#include "base/alloc.h"
#include "store/services/store_registry.h"

/* A directory or a file that exists. */
typedef struct cb_place_id {
    uint64_t dev, ino;
} cb_place_id;

/* Strings and ids lie in the zone that the place was parsed with, and never change.
 *
 * What exists is looked at once, by cb_place_parse. Of a local place `store` has no symbolic links, "." or ".."
 * left, so it stays the directory that was meant when links change. Parts that did not exist then may exist
 * now, and be links; so may parts of `path`. What was compared before others could write is compared again, with
 * places that are parsed anew, when a run begins. */
typedef struct cb_place {
    const char *given; /* as it was spelled, without user and password: for messages */
    const char *store; /* absolute path or URL of the store's root: what cb_store_open takes */
    const char *user;  /* "USER:PASSWORD" of the URL, encoded; NULL: it has none */
    const char *path;  /* key of the array or group in it; "" is the root */
    const char *text;  /* both in one, canonical: equal of places that are spelled differently */
    /* Of a local place: the deepest part that exists, those above it from there to the root, and those above links
     * that were followed on the way, which cannot be removed either. Other places have none. */
    const cb_place_id *ids;
    int nids;
    const char *missing; /* parts of `text` below ids[0], which did not exist; "" if all did */
} cb_place;

/* STORE or STORE::PATH, where STORE is a path, a file:// URL (the same percent-encoded; absolute, relative, or of
 * localhost), or a URL with a host. PATH is what is behind the first "::". User and password are kept apart (`user`):
 * they are no part of a place. What may not be looked at counts as missing: nothing below it can be read or written.
 * Nothing is opened, and the scheme need not be that of a store there is. */
CUBED_MUST_CHECK cubed_status cb_place_parse(cb_zone *zone, const char *url, cb_place *out,
                                             cubed_error *err);
/* The same of STORE, in whose name "::" has no meaning: of work directories. */
CUBED_MUST_CHECK cubed_status cb_place_parse_store(cb_zone *zone, const char *url, cb_place *out,
                                                   cubed_error *err);
/* The object of that key in the directory STORE. */
CUBED_MUST_CHECK cubed_status cb_place_parse_object(cb_zone *zone, const char *url, const char *key,
                                                    cb_place *out, cubed_error *err);
/* The URL without user and password, which become options of its host (store/http/net.h): no plan, message or report has them.
 * The URL itself if it has none. */
CUBED_MUST_CHECK cubed_status cb_place_take_user(cb_stores *stores, cb_zone *zone, const char *url,
                                                 const char **out, cubed_error *err);
/* The same place with strings and ids in another zone: what exists is not looked at again. */
CUBED_MUST_CHECK cubed_status cb_place_copy(cb_zone *zone, const cb_place *from, cb_place *out,
                                            cubed_error *err);
/* STORE or STORE::PATH, from which the place is parsed in any directory. */
void cb_place_put_url(const cb_place *p, cb_buf *out);

typedef enum cb_place_relation {
    CB_PLACES_APART,
    CB_PLACES_SAME,
    CB_PLACE_ABOVE, /* the first holds the second */
    CB_PLACE_BELOW  /* the second holds the first */
} cb_place_relation;

/* Local places are the same if their deepest parts that exist are one directory or file, by device and inode, and
 * what is missing below is spelled alike; so links, bind mounts and case where a file system ignores it do not
 * matter. One that exists is above another if it is among the directories that lead there. Other places are
 * compared by their texts. A local place and another one are apart. */
cb_place_relation cb_place_compare(const cb_place *a, const cb_place *b);

/* The store of a place, or of a STORE as cb_place_parse_store takes it. */
CUBED_MUST_CHECK cubed_status cb_place_open(cb_stores *stores, const cb_place *p, bool durable,
                                            cubed_store **out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_place_open_store(cb_stores *stores, const char *url, bool durable,
                                                  cubed_store **out, cubed_error *err);

#endif
