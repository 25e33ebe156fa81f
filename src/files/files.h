/* Read-only stores over files that contain arrays, such as HDF5. The store presents the contents of the file as metadata
 * documents and chunks of a Zarr hierarchy. */
#ifndef CB_FILES_FILES_H
#define CB_FILES_FILES_H

#include "store/services/store_registry.h"

/* Opens object `key` of `within` as a store, and takes ownership of `within`, even on failure. CUBED_E_UNSUPPORTED if the
 * format is unknown. The store is read-only. */
CUBED_MUST_CHECK cubed_status cb_file_open(cb_stores *stores, cubed_store *within, const char *key,
                                           const char *url, cubed_store **out, cubed_error *err);
/* Opens object `key` of `within` as a read-only store, and takes ownership of `within`, even on failure. CUBED_E_UNSUPPORTED if
 * the format is unknown.
 *
 * references  places that the file may refer to, one per line (place/confine.h), in addition to the places that the context
 *             allows for the URL; NULL: no further places */
CUBED_MUST_CHECK cubed_status cb_file_open_allowed(cb_stores *stores, cubed_store *within,
                                                   const char *key, const char *url,
                                                   const char *references, cubed_store **out,
                                                   cubed_error *err);
/* Gets a copy, in the zone, of the places that a document with references may refer to in addition to its own place. Sets *out to
 * NULL if there are no such places, or if the store is not such a document. */
CUBED_MUST_CHECK cubed_status cb_file_keep_references(const cubed_store *s, cb_zone *zone,
                                                      const char **out, cubed_error *err);
/* Returns the weakest kind of version that the servers of a store report. The servers of objects that a document in the store
 * refers to are included. */
cubed_validator cb_file_validator(const cubed_store *s);
/* Returns a permanent URL of the opened contents, which refers to them even if the store's URL later refers to other contents.
 * NULL if the store's URL is permanent. */
const char *cb_file_fixed_url(const cubed_store *s);
/* Appends bytes that identify the contents of an object, without reading the object: if two snapshots of a repository have the
 * same bytes for a key, they have the same contents there. Appends nothing if the object is missing, or can be identified only by
 * its contents, as in all formats except Icechunk. Thread-safe. */
CUBED_MUST_CHECK cubed_status cb_file_put_version(cubed_store *s, const char *key, cb_buf *out,
                                                  cubed_error *err);
/* Returns true if the format stores the locations of chunks in separate objects, which are read when a chunk is needed (kerchunk
 * references and Icechunk). */
bool cb_file_refers(const cubed_store *s);
/* Loads the locations of chunks in advance, unless they are loaded already, so that tasks need no memory for them. Has no effect
 * on stores without references.
 *
 * path    the array in the store
 * lo, hi  a box in the grid of the array's stored objects; hi is exclusive */
CUBED_MUST_CHECK cubed_status cb_file_know_chunks(cubed_store *s, const char *path, int ndim,
                                                  const int64_t *lo, const int64_t *hi,
                                                  cubed_error *err);
/* Variable-length strings in an HDF5 file, to which elements of arrays refer. Not thread-safe: caches the last structure
 * read. */
typedef struct cb_file_texts cb_file_texts;
/* Opens the strings of a file. *item is the size of an element in bytes. CUBED_E_UNSUPPORTED for other stores.
 * cb_file_texts_get fails with CUBED_E_BUDGET if a structure has more than `most` bytes. */
CUBED_MUST_CHECK cubed_status cb_file_texts_open(cubed_store *s, size_t most, cb_file_texts **out,
                                                 size_t *item, cubed_error *err);
void cb_file_texts_close(cb_file_texts *x);
/* Gets the string that an element refers to. Valid until the next call. */
CUBED_MUST_CHECK cubed_status cb_file_texts_get(cb_file_texts *x, const void *element,
                                                const unsigned char **text, size_t *size,
                                                cubed_error *err);
/* Returns the memory of an open file, including the peak while its metadata was read; 0 for other stores. */
size_t cb_file_bytes(const cubed_store *s);

#endif
