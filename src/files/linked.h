/* Objects of other stores that a document refers to. */
#ifndef CB_FILES_LINKED_H
#define CB_FILES_LINKED_H

#include "base/json.h"
#include "files/file_pkg.h"
#include "place/confine.h"

enum { CB_LINKED_KEY = 1024, CB_LINKED_URL = 4096 };

/* The stores that a document refers to, and the places that it may refer to. Memory is in the file's zone. One thread at a
 * time. */
typedef struct cb_linked {
    cb_confine confine;
    cubed_store **stores;
    int nstores, cap;
    json_t *opened; /* by canonical URL: numbers of stores */
    /* Numbers of stores by the URL of a directory, as the document spells it, whose objects are all allowed. */
    json_t *parents;
    size_t bytes; /* of this struct's memory that is not in the zone, at the last cb_linked_find */
} cb_linked;

CUBED_MUST_CHECK cubed_status cb_linked_init(cb_linked *l, cb_file *f, cubed_error *err);
/* The store and the key of a URL or an absolute path. An object is never a document of its own: what it refers to is not read.
 * CUBED_E_ARG for a place that the document may not refer to. */
CUBED_MUST_CHECK cubed_status cb_linked_find(cb_linked *l, cb_file *f, const char *url,
                                             cubed_store **store, char key[CB_LINKED_KEY],
                                             cubed_error *err);
/* Frees what only cb_linked_find needs. */
void cb_linked_forget(cb_linked *l);
void cb_linked_close(cb_linked *l);

#endif
