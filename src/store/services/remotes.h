/* The library's stores of other machines: rows of the registry. */
#ifndef CB_STORE_REMOTES_H
#define CB_STORE_REMOTES_H

#include "store/http/net.h"

/* Objects that are longer go in parts, of this size at least: there are no more than 10,000 of them. So many are sent at
 * a time. */
enum {
    CB_REMOTE_UPLOAD_FROM = 64 << 20,
    CB_REMOTE_PART_SIZE = 16 << 20,
    CB_REMOTE_PARTS_AT_ONCE = 4,
    CB_REMOTE_MOST_PARTS = 10000
};
static inline size_t cb_remote_part_size(size_t least, uint64_t size)
{
    const uint64_t part = (size + CB_REMOTE_MOST_PARTS - 1) / CB_REMOTE_MOST_PARTS;
    return part > least ? (size_t)part : least;
}
typedef struct cb_upload_sizes {
    uint64_t from; /* what is longer goes in parts; 0: nothing does */
    size_t part;
} cb_upload_sizes;

/* As options of the URL have it. */
CUBED_MUST_CHECK cubed_status cb_remote_get_upload_sizes(cb_net *net, cb_zone *zone,
                                                         const char *url, cb_upload_sizes *out,
                                                         cubed_error *err);
/* The same; emulators, which seldom know uploads in parts, get them if that is asked for. */
CUBED_MUST_CHECK cubed_status cb_gcs_get_upload_sizes(cb_net *net, cb_zone *zone, const char *url,
                                                      cb_upload_sizes *out, cubed_error *err);

extern const cubed_store_vtable cb_s3_vtable, cb_gcs_vtable, cb_azure_vtable, cb_web_vtable,
    cb_redis_vtable;

/* s3://BUCKET/PATH: Amazon's S3, and what speaks like it. */
CUBED_MUST_CHECK cubed_status cb_s3_open(cb_net *net, const char *url, cubed_store **out,
                                         cubed_error *err);
/* gs://BUCKET/PATH: Google's Cloud Storage. */
CUBED_MUST_CHECK cubed_status cb_gcs_open(cb_net *net, const char *url, cubed_store **out,
                                          cubed_error *err);
/* az://CONTAINER/PATH, az://CONTAINER@HOST/PATH: Azure's blobs. */
CUBED_MUST_CHECK cubed_status cb_azure_open(cb_net *net, const char *url, cubed_store **out,
                                            cubed_error *err);
/* redis://HOST:PORT/DB/PATH: without libcurl, too. */
CUBED_MUST_CHECK cubed_status cb_redis_open(cb_net *net, const char *url, cubed_store **out,
                                            cubed_error *err);
/* http://HOST/PATH and https://: reading alone. */
CUBED_MUST_CHECK cubed_status cb_web_open(cb_net *net, const char *url, cubed_store **out,
                                          cubed_error *err);
/* Before the store's first request: it asks no server at a nearer address than the servers of the document's store. No effect on
 * other stores than those of cb_web_open. */
void cb_web_limit(cubed_store *store, const cubed_store *document);

#endif
