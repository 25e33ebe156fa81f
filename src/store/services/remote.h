/* Stores over HTTP. The functions here convert requests to HTTP calls. A dialect, a structure of functions, implements the
 * differences between services such as S3 and Azure. */
#ifndef CB_STORE_REMOTE_H
#define CB_STORE_REMOTE_H

#include <sys/types.h>

#include "base/lock.h"
#include "store/core/adopted.h"
#include "store/http/net.h"
#include "store/http/xml.h"
#include "store/services/remotes.h"

typedef struct cb_remote cb_remote;
typedef struct cb_remote_job cb_remote_job;

typedef enum cb_remote_what {
    CB_REMOTE_GET,
    CB_REMOTE_HEAD,
    CB_REMOTE_PUT,
    /* like CB_REMOTE_HEAD, but without conditions, to check whether the stored object is the one that an earlier request put */
    CB_REMOTE_CHECK,
    CB_REMOTE_DELETE,
    CB_REMOTE_DELETE_MANY,
    CB_REMOTE_LIST,
    CB_REMOTE_COPY,
    /* Multipart uploads. */
    CB_REMOTE_CREATE,
    CB_REMOTE_PART,
    CB_REMOTE_COMPLETE,
    CB_REMOTE_ABORT,
    CB_REMOTE_UPLOADS, /* list of unfinished uploads */
} cb_remote_what;

typedef struct cb_remote_call {
    cb_http_call http; /* must be first */
    cb_remote_job *job;
    const cb_remote *store;
    const cubed_store_request *request; /* request that the call belongs to */
    cb_remote_what what;
    const char *key;             /* key in the store */
    const char *source;          /* source of a copy; ID of an upload that is listed or aborted */
    const char *const *keys;     /* keys to delete */
    const char *const *versions; /* versions of `keys`, see cubed_store_request; NULL: any */
    size_t nkeys;
    int64_t looked; /* see cubed_store_request */
    char range[64]; /* "bytes=0-7"; "": all */
    const char *if_match, *if_none_match;
    cb_http_piece *pieces; /* buffers that a get fills */
    size_t npieces;
    bool whole;
    /* Used if a head request is replaced by a get of one byte (cb_dialect.probe). */
    bool probes;
    char probed;
    cb_http_piece probe;
    /* Used for puts. */
    char id[33]; /* identifies this put */
    uint32_t crc32c;
    char sha256[65]; /* hexadecimal digest of the body, or a word that replaces it in signatures */
    cb_buf body;     /* body created by the dialect; for CB_REMOTE_CREATE the upload's ID */
    /* Used for the upload of parts and its completion: the call of CB_REMOTE_CREATE. In memory, the calls of the parts come
     * directly after it. */
    const struct cb_remote_call *upload;
    size_t part, nparts; /* part: from 1 */
    bool ended;          /* the service no longer has the upload to complete */
    int repairs;         /* number of repairs by the dialect */
    int steps;           /* number of calls of this copy so far */
} cb_remote_call;

/* Code and message of an error reply; "" if missing. */
typedef struct cb_remote_fault {
    char code[64], message[256];
} cb_remote_fault;

typedef struct cb_dialect {
    const char *options; /* names of supported storage options */
    size_t size;         /* size of the store's struct, which starts with cb_remote */
    /* Called when a store is opened, after the settings of all services were applied: applies settings of this service. May be
     * NULL. */
    cubed_status (*set_rest)(cb_remote *s, cubed_error *err);
    bool writes, lists;
    size_t most_deleted; /* maximum number of keys that one call deletes; 1: no bulk deletion */
    bool conditional_uploads; /* conditional puts may be uploaded in parts */
    /* Reads a reply to CB_REMOTE_UPLOADS: passes each upload to cb_remote_tell_upload, and stores the token of the next page.
     * NULL: uploads are not explicitly begun or aborted, and the service deletes unused parts after some time. */
    cubed_status (*read_uploads)(cb_remote *s, cb_remote_call *c, cubed_store_request *r,
                                 cubed_error *err);
    /* Reads a reply during an upload. Stores in the call's body the ID from the reply to CB_REMOTE_CREATE, or, for a part, its
     * data for the list of parts. Returns false if these are missing. NULL: replies contain no needed data. */
    bool (*read_upload)(cb_remote_call *c);
    /* Prepares digests, and bodies other than the caller's. Called by the submitting thread. */
    cubed_status (*begin)(cb_remote *s, cb_remote_call *c, cubed_error *err);
    /* Sets method, URL and headers. */
    cb_http_ready (*prepare)(cb_remote *s, cb_remote_call *c);
    /* Reads an error reply. NULL: XML as in S3. */
    void (*read_fault)(const cb_remote_call *c, cb_remote_fault *f);
    /* Works around a fault if possible; returns CB_HTTP_DONE if it cannot. May change http.code to the meaning of the reply.
     * May be NULL. */
    cb_http_verdict (*repair)(cb_remote *s, cb_remote_call *c, const cb_remote_fault *f);
    /* Returns true if a HEAD request should be repeated as a GET of the first byte, whose reply contains the object's size.
     * Called if the HEAD was refused, or if its reply has no length or the length 0. NULL: HEAD is never repeated. */
    bool (*probe)(cb_remote *s, cb_remote_call *c);
    /* Advice for the user if an object seems to change with each reply. May be NULL. */
    const char *if_changing;
    /* Gets the version from a reply, and the size if it is not the content length. */
    void (*tell)(const cb_remote_call *c, cubed_object_info *info);
    /* Returns true if the object in the reply is the object that the call had put. */
    bool (*is_own)(const cb_remote_call *c);
    /* Returns false if received data do not have their checksum. NULL: not checked. */
    bool (*is_whole)(const cb_remote_call *c);
    /* Parses one page of a listing: passes its entries to the request, and stores the token of the next page. */
    cubed_status (*read_page)(cb_remote *s, cb_remote_call *c, cubed_store_request *r,
                              cubed_error *err);
    /* Reads the reply to a bulk deletion: gets the fault, or "" if there was no fault. Sets *changed if the only errors are
     * objects with unexpected versions. */
    void (*read_deleted)(const cb_remote_call *c, cb_remote_fault *f, bool *changed);
    /* Examines the reply to a copy: determines whether the copy is complete or needs another call. NULL: the copy is always
     * complete. */
    cb_http_verdict (*judge_copy)(cb_remote *s, cb_remote_call *c);
    /* Returns advice for the user after a failure, or NULL. */
    const char *(*advice)(const cb_remote *s, int code, const cb_remote_fault *f);
    /* Returns the kind of a version that `tell` has set, such as a date. NULL: all are CUBED_VALIDATOR_VERSION. */
    cubed_validator (*judge_version)(const char *version);
    cubed_status (*open)(cb_net *net, const char *url, cubed_store **out, cubed_error *err);
} cb_dialect;

struct cb_remote {
    cubed_store head;
    const cb_dialect *dialect;
    cb_net *net;
    cb_zone *zone;         /* allocates this struct and its strings */
    const char *bucket;    /* the URL up to its first slash: a bucket or a host */
    const char *root;      /* key of the store in its bucket, without trailing '/'; may be "" */
    cb_throttle *throttle; /* limits requests to the bucket, or to its first folder */
    cb_http_way way;
    uint32_t connect_ms, stall_ms, refused_ms;
    cb_upload_sizes uploads;
    _Atomic(cubed_validator) validator; /* weakest kind of version in the replies so far */
    cb_adopted process;
    cb_mutex lock;
    cb_cond idle;
    cb_remote_job *jobs CB_GUARDED_BY(&lock);
    size_t njobs CB_GUARDED_BY(&lock); /* jobs not freed yet */
};

/* Names of options that every remote store has, and of those for multipart uploads. */
#define CB_REMOTE_PART_OPTIONS "multipart_threshold multipart_chunksize"
#define CB_REMOTE_OPTIONS                                                                          \
    "connect_timeout read_timeout throttle_timeout AWS_CA_BUNDLE ca_bundle proxy HTTPS_PROXY "     \
    "HTTP_PROXY NO_PROXY"

CUBED_MUST_CHECK cubed_status cb_remote_open(cb_net *net, const cubed_store_vtable *vt,
                                             const cb_dialect *dialect, const char *url,
                                             cubed_store **out, cubed_error *err);
void cb_remote_close(cubed_store *store);
void cb_remote_submit(cubed_store *store, cubed_store_request *const *requests, size_t n);
void cb_remote_cancel(cubed_store *store, cubed_store_request *request);
cubed_validator cb_remote_validator(const cb_remote *s);
/* Copies objects of the store to other keys of the store. The service copies them, so their bytes are not transferred to this
 * machine. */
CUBED_MUST_CHECK cubed_status cb_remote_copy(cubed_store *store, const char *const *from,
                                             const char *const *to, size_t n, cubed_error *err);

/* The member `around` of cubed_store_vtable: opens the parent of `prefix` as a store, with the settings of the store's URL. */
CUBED_MUST_CHECK cubed_status cb_remote_around(cubed_store *store, const char *prefix,
                                               cubed_store **out, char *name, size_t cap,
                                               cubed_error *err);

/* Finds unfinished multipart uploads below the prefix: all of them, or those older than a day (see `flags` of
 * cubed_store_vtable.sweep). */
CUBED_MUST_CHECK cubed_status cb_remote_sweep(cubed_store *store, const char *prefix,
                                              unsigned flags, cubed_store_list_fn fn, void *ctx,
                                              cubed_error *err);
/* Makes one call for each of n <= CB_REMOTE_AT_ONCE requests, and waits for all of them. The operation and the key of each
 * request must be set. Returns the status of the first failure. */
enum { CB_REMOTE_AT_ONCE = 64 };
CUBED_MUST_CHECK cubed_status cb_remote_do(cb_remote *s, cb_remote_what what,
                                           cubed_store_request *requests,
                                           const char *const *sources, size_t n, cubed_error *err);

/* Vtable of a store that can be read, written and listed. `name` is the scheme of its URLs, `what` its flags. */
#define CB_REMOTE_VTABLE(name, what)                                                               \
    {                                                                                              \
        .struct_size = sizeof(cubed_store_vtable), .version = CUBED_STORE_VERSION,                 \
        .flags = (what), .scheme = (name), .max_in_flight = CB_HTTP_MOST,                          \
        .request_bytes = CB_HTTP_REQUEST_BYTES, .process_bytes = CB_HTTP_PROCESS_BYTES,            \
        .close = cb_remote_close, .submit = cb_remote_submit, .cancel = cb_remote_cancel,          \
        .around = cb_remote_around, .copy = cb_remote_copy, .sweep = cb_remote_sweep               \
    }

/* Functions for dialects. */

/* Parses an endpoint from settings to *out, without trailing '/'. CUBED_E_ARG if it is not http://HOST or https://HOST. */
CUBED_MUST_CHECK cubed_status cb_remote_endpoint(cb_zone *zone, const char *name, const char *given,
                                                 const char **out, bool *tls, cubed_error *err);
/* Creates the random ID by which a put recognises its object. */
CUBED_MUST_CHECK cubed_status cb_remote_make_id(cb_remote_call *c, cubed_error *err);
/* Writes the CRC-32C of an object or body in the services' encoding (base64); text[12]. */
void cb_remote_put_crc32c(uint32_t crc, char *text);
/* Returns true if the received data has the CRC-32C in `text`. Also returns true if the data cannot be checked: `n` is not the
 * length of such a text (8), or only a part of the object was received. */
bool cb_remote_has_crc32c(const cb_remote_call *c, const char *text, size_t n);

/* Appends the percent-encoded key of an object in its bucket; '/' and the characters of `keep` are not encoded. */
void cb_remote_put_key(const cb_remote *s, cb_buf *out, const char *key, const char *keep);
/* Returns true if `name`, a key of the bucket, is the store's prefix or is below it. */
bool cb_remote_is_below(const cb_remote *s, const char *name, const char *prefix);
/* Reports an entry of a listing by its name in the bucket. Skips names that cannot be keys. Fails if the name is not below
 * the listed prefix. `version` is as in replies; NULL or empty if the listing has none. */
CUBED_MUST_CHECK cubed_status cb_remote_tell_entry(const cb_remote *s, const cubed_store_request *r,
                                                   cb_buf *name, uint64_t size, bool is_prefix,
                                                   const cb_buf *version, cubed_error *err);
/* Reports an unfinished upload: its name in the bucket, its ID, and its start in seconds since 1970. */
CUBED_MUST_CHECK cubed_status cb_remote_tell_upload(const cb_remote *s,
                                                    const cubed_store_request *r, cb_buf *name,
                                                    const char *id, int64_t begun,
                                                    cubed_error *err);
/* Stores the token of a listing's next page, if the request asks for the next page. CUBED_E_IO if it is not valid text or too
 * long. */
CUBED_MUST_CHECK cubed_status cb_remote_tell_next_page(const cb_remote *s, cubed_store_request *r,
                                                       cb_xml_part token, cubed_error *err);
/* Sets `out` to the ETag of a listing's entry, or to "" if the entry has no ETag. The ETag always has quotes, as in headers,
 * although some services omit the quotes in listings. */
void cb_remote_put_tag(cb_buf *out, cb_xml_part entry, const char *element);
/* Sets the version from a header; "" if missing or too long. */
void cb_remote_set_version(cubed_object_info *info, const char *text);
/* Reads the XML of an error reply. */
void cb_remote_read_fault(const cb_http_call *c, cb_remote_fault *f);
void cb_remote_read_fault_of(cb_xml_part error, cb_remote_fault *f, const cubed_allocator *a);
/* Fails the call, in prepare. */
cb_http_ready cb_remote_refuse(cb_remote_call *c, cubed_status st);

#endif
