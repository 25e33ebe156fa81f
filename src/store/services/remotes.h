/* The built-in stores on other machines: their vtables, and functions that open them. For the registry of stores. */
#ifndef CB_STORE_REMOTES_H
#define CB_STORE_REMOTES_H

#include "store/http/net.h"

/* Objects larger than CB_REMOTE_UPLOAD_FROM are uploaded in parts: at most CB_REMOTE_MOST_PARTS, each at least
 * CB_REMOTE_PART_SIZE, CB_REMOTE_PARTS_AT_ONCE at a time. */
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
    uint64_t from; /* size in bytes above which objects are uploaded in parts; 0: never */
    size_t part;
} cb_upload_sizes;

/* Gets the sizes for uploads in parts from the options of a URL. */
CUBED_MUST_CHECK cubed_status cb_remote_get_upload_sizes(cb_net *net, cb_zone *zone,
                                                         const char *url, cb_upload_sizes *out,
                                                         cubed_error *err);
/* Gets the sizes for uploads in parts to Google Cloud Storage from the options of a URL. Emulators rarely support uploads in
 * parts, so objects are uploaded to an emulator in parts only if an option requests it. */
CUBED_MUST_CHECK cubed_status cb_gcs_get_upload_sizes(cb_net *net, cb_zone *zone, const char *url,
                                                      cb_upload_sizes *out, cubed_error *err);

extern const cubed_store_vtable cb_s3_vtable, cb_gcs_vtable, cb_azure_vtable, cb_web_vtable,
    cb_redis_vtable;

/* Opens s3://BUCKET/PATH: Amazon S3 and compatible services. */
CUBED_MUST_CHECK cubed_status cb_s3_open(cb_net *net, const char *url, cubed_store **out,
                                         cubed_error *err);
/* Opens gs://BUCKET/PATH: Google Cloud Storage. */
CUBED_MUST_CHECK cubed_status cb_gcs_open(cb_net *net, const char *url, cubed_store **out,
                                          cubed_error *err);
/* Opens az://CONTAINER/PATH or az://CONTAINER@HOST/PATH: Azure Blob Storage. */
CUBED_MUST_CHECK cubed_status cb_azure_open(cb_net *net, const char *url, cubed_store **out,
                                            cubed_error *err);
/* Opens redis://HOST:PORT/DB/PATH. Does not need libcurl. */
CUBED_MUST_CHECK cubed_status cb_redis_open(cb_net *net, const char *url, cubed_store **out,
                                            cubed_error *err);
/* Opens http://HOST/PATH or https://HOST/PATH. Read-only. */
CUBED_MUST_CHECK cubed_status cb_web_open(cb_net *net, const char *url, cubed_store **out,
                                          cubed_error *err);
/* Limits a store at a URL that a document named: its requests must not go to a nearer address (cb_address_kind) than the servers
 * of `document`, the store with the document. Call it before the store's first request. No effect unless cb_web_open opened both
 * stores. */
void cb_web_limit(cubed_store *store, const cubed_store *document);

#endif
