/* Files that hold arrays, as stores: the documents and chunks of a Zarr hierarchy, made of what a file has. */
#ifndef CB_FILES_FILES_H
#define CB_FILES_FILES_H

#include "store/services/store_registry.h"

/* What is in object `key` of `within`, which becomes the file's, also on failure. CUBED_E_UNSUPPORTED for bytes of
 * no format that is known. Objects of the store cannot be put or deleted. */
CUBED_MUST_CHECK cubed_status cb_file_open(cb_stores *stores, cubed_store *within, const char *key,
                                           const char *url, cubed_store **out, cubed_error *err);
/* The same with the places that it may refer to beside those that the context allows for its URL, one a line (place/confine.h);
 * NULL: no others. */
CUBED_MUST_CHECK cubed_status cb_file_open_allowed(cb_stores *stores, cubed_store *within,
                                                   const char *key, const char *url,
                                                   const char *references, cubed_store **out,
                                                   cubed_error *err);
/* The places that a document may refer to beside its own, in the zone; NULL if there are none, or the store is no document that
 * refers to others. */
CUBED_MUST_CHECK cubed_status cb_file_keep_references(const cubed_store *s, cb_zone *zone,
                                                      const char **out, cubed_error *err);
/* How the servers of a store, and those of the objects that a document in it refers to, tell versions: the least of them. */
cubed_validator cb_file_validator(const cubed_store *s);
/* Where what was opened is found again when what its URL says has become something else; NULL: by its URL. */
const char *cb_file_fixed_url(const cubed_store *s);
/* Whether where chunks lie is told elsewhere, and read when one of them is wanted. */
bool cb_file_refers(const cubed_store *s);
/* Reads it of a box of the array's objects, lo to before hi along each axis, if it is not known yet: tasks that get them
 * take no memory for it then. Nothing of stores that do not refer. */
CUBED_MUST_CHECK cubed_status cb_file_know_chunks(cubed_store *s, const char *path, int ndim,
                                                  const int64_t *lo, const int64_t *hi,
                                                  cubed_error *err);
/* Texts of any length in a file of HDF5: elements of such arrays lead to them. Of one thread; it keeps what it read last. */
typedef struct cb_file_texts cb_file_texts;
/* Of elements of *item bytes. Structures of more than `most` bytes are CUBED_E_BUDGET. CUBED_E_UNSUPPORTED of other
 * stores. */
CUBED_MUST_CHECK cubed_status cb_file_texts_open(cubed_store *s, size_t most, cb_file_texts **out,
                                                 size_t *item, cubed_error *err);
void cb_file_texts_close(cb_file_texts *x);
/* The text that an element leads to, until the next call. */
CUBED_MUST_CHECK cubed_status cb_file_texts_get(cb_file_texts *x, const void *element,
                                                const unsigned char **text, size_t *size,
                                                cubed_error *err);
/* Memory that an open file takes, or took while its metadata were read; 0 of other stores. */
size_t cb_file_bytes(const cubed_store *s);

#endif
