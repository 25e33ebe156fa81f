/* Finds objects in other stores to which a document refers, such as the files of kerchunk references. */
#ifndef CB_FILES_LINKED_H
#define CB_FILES_LINKED_H

#include "base/json.h"
#include "files/file_pkg.h"
#include "place/confine.h"

enum { CB_LINKED_KEY = 1024, CB_LINKED_URL = 4096 };

/* The stores to which a document refers, and the places to which it may refer. Memory is in the file's zone. Not
 * thread-safe. */
typedef struct cb_linked {
    cb_confine confine;
    cubed_store **stores;
    int nstores, cap;
    json_t *opened; /* numbers of stores by canonical URL */
    /* Numbers of stores by the URL of a directory as spelled in the document, for directories whose objects are all
     * allowed. */
    json_t *parents;
    size_t bytes; /* memory of this struct outside the zone at the last cb_linked_find */
} cb_linked;

CUBED_MUST_CHECK cubed_status cb_linked_init(cb_linked *l, cb_file *f, cubed_error *err);
/* Gets the store and key of a URL or an absolute path. The object is never opened as a document, so its own references are
 * not followed. CUBED_E_ARG if the document may not refer to this place. */
CUBED_MUST_CHECK cubed_status cb_linked_find(cb_linked *l, cb_file *f, const char *url,
                                             cubed_store **store, char key[CB_LINKED_KEY],
                                             cubed_error *err);
/* Frees memory that only cb_linked_find needs. */
void cb_linked_forget(cb_linked *l);
void cb_linked_close(cb_linked *l);

#endif
