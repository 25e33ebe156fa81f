/* Location of an array, a group or a directory, as a value that can be compared regardless of spelling. */
#ifndef CB_PLACE_PLACE_H
#define CB_PLACE_PLACE_H

#include "base/alloc.h"
#include "store/services/store_registry.h"

/* Identifies an existing directory or file by its device and inode number. */
typedef struct cb_place_id {
    uint64_t dev, ino;
} cb_place_id;

/* The location of an array, a group or a directory. Strings and IDs are allocated in the zone that the place was parsed with,
 * and do not change.
 *
 * The file system is read only once, by cb_place_parse. For a local place, `store` has no symbolic links, "." or "..", so
 * it stays the intended directory if links change. Parts that did not exist, and parts of `path`, may later be created as
 * links. Therefore a run parses its places again when it begins, and repeats comparisons made before others could write. */
typedef struct cb_place {
    const char *given; /* original spelling without user and password, for messages */
    const char *store; /* absolute path or URL of the store's root, for cb_store_open */
    const char *user;  /* "USER:PASSWORD" of the URL, percent-encoded; NULL: the URL has no user */
    const char *path;  /* key of the array or group in the store; "" for the root */
    const char *text;  /* canonical form of store and path: equal for all spellings of a place */
    /* For a local place, the directories on which the place depends: the deepest existing directory, its parents up to the root,
     * and the parents of the links on the way. Empty for other places. */
    const cb_place_id *ids;
    int nids;
    /* the last components of the path in `text`, which did not exist below the directory ids[0]; "" if the whole path existed */
    const char *missing;
} cb_place;

/* Parses STORE or STORE::PATH. STORE is a path, a file:// URL (percent-encoded; absolute, relative, or of localhost), or a
 * URL with a host. PATH follows the first "::".
 *
 * User and password are separate (`user`) and not part of a place. Inaccessible directories count as missing, because
 * nothing below them can be read or written. Opens nothing and accepts unknown schemes. */
CUBED_MUST_CHECK cubed_status cb_place_parse(cb_zone *zone, const char *url, cb_place *out,
                                             cubed_error *err);
/* Parses a STORE in which "::" has no special meaning, such as a work directory. */
CUBED_MUST_CHECK cubed_status cb_place_parse_store(cb_zone *zone, const char *url, cb_place *out,
                                                   cubed_error *err);
/* Gets the place of the object `key` in the directory `url` (a STORE). */
CUBED_MUST_CHECK cubed_status cb_place_parse_object(cb_zone *zone, const char *url, const char *key,
                                                    cb_place *out, cubed_error *err);
/* Removes user and password from a URL and stores them as options of its host (store/http/net.h), so that no plan, message
 * or report contains them. *out is the URL itself if it has none. */
CUBED_MUST_CHECK cubed_status cb_place_take_user(cb_stores *stores, cb_zone *zone, const char *url,
                                                 const char **out, cubed_error *err);
/* Copies a place to another zone. Does not read the file system. */
CUBED_MUST_CHECK cubed_status cb_place_copy(cb_zone *zone, const cb_place *from, cb_place *out,
                                            cubed_error *err);
/* Appends STORE or STORE::PATH in a form that does not depend on the current directory. */
void cb_place_put_url(const cb_place *p, cb_buf *out);

typedef enum cb_place_relation {
    CB_PLACES_APART,
    CB_PLACES_SAME,
    CB_PLACE_ABOVE, /* a contains b */
    CB_PLACE_BELOW  /* b contains a */
} cb_place_relation;

/* Compares two places.
 *
 * Local places are the same if their deepest existing directories have the same device and inode and their missing parts
 * are spelled alike. So links, bind mounts and case-insensitive file systems are handled. An existing place is above
 * another if its ID is among the other's parents. Other places are compared by `text`. A local place is always apart from a
 * place on another machine. */
cb_place_relation cb_place_compare(const cb_place *a, const cb_place *b);

/* Open the store of a place, or of a STORE in which "::" has no special meaning. The caller closes the store. */
CUBED_MUST_CHECK cubed_status cb_place_open(cb_stores *stores, const cb_place *p, bool durable,
                                            cubed_store **out, cubed_error *err);
CUBED_MUST_CHECK cubed_status cb_place_open_store(cb_stores *stores, const char *url, bool durable,
                                                  cubed_store **out, cubed_error *err);

#endif
