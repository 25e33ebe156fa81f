/* Stores behind HTTP: how a store's requests become calls, whatever the service. What differs is a dialect. */
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
    CB_REMOTE_CHECK, /* whether an object is the one that was put: a head without conditions */
    CB_REMOTE_DELETE,
    CB_REMOTE_DELETE_MANY,
    CB_REMOTE_LIST,
    CB_REMOTE_COPY,
    /* Of an object that is put in parts. */
    CB_REMOTE_CREATE,
    CB_REMOTE_PART,
    CB_REMOTE_COMPLETE,
    CB_REMOTE_ABORT,
    CB_REMOTE_UPLOADS, /* a list of those that were not completed */
} cb_remote_what;

typedef struct cb_remote_call {
    cb_http_call http; /* the first */
    cb_remote_job *job;
    const cb_remote *store;
    const cubed_store_request *request; /* that it is a part of */
    cb_remote_what what;
    const char *key;             /* in the store */
    const char *source;          /* of a copy; of an upload that is listed and aborted, its id */
    const char *const *keys;     /* to delete */
    const char *const *versions; /* of these, see cubed_store_request; NULL: any */
    size_t nkeys;
    int64_t looked; /* see cubed_store_request */
    char range[64]; /* "bytes=0-7"; "": all */
    const char *if_match, *if_none_match;
    cb_http_piece *pieces; /* of a get */
    size_t npieces;
    bool whole;
    /* Of a head that reads one byte instead (cb_dialect.probe). */
    bool probes;
    char probed;
    cb_http_piece probe;
    /* Of the body, for a put. */
    char id[33]; /* that tells it from others' */
    uint32_t crc32c;
    char sha256[65]; /* or what stands for it */
    cb_buf body;     /* made by the dialect; of CB_REMOTE_CREATE the upload's id */
    /* Of its parts and end: CB_REMOTE_CREATE, behind which the parts are. */
    const struct cb_remote_call *upload;
    size_t part, nparts; /* part: from 1 on */
    bool ended;          /* the service no longer has the upload that is to be completed */
    int repairs;         /* how often the dialect found another way */
    int steps;           /* calls of one copy */
} cb_remote_call;

/* What an error's reply says: "" where it does not. */
typedef struct cb_remote_fault {
    char code[64], message[256];
} cb_remote_fault;

typedef struct cb_dialect {
    const char *options; /* that its URLs may have */
    size_t size;         /* of a store's struct, of which the cb_remote is the first member */
    /* Of a store whose settings that all have are known: those that are the dialect's. NULL: there are none. */
    cubed_status (*set_rest)(cb_remote *s, cubed_error *err);
    bool writes, lists;
    size_t most_deleted;      /* by one call; 1: each by its own */
    bool conditional_uploads; /* what is put with a condition may go in parts */
    /* Of a reply to CB_REMOTE_UPLOADS, like read_page: tells of each upload by cb_remote_tell_upload. NULL: uploads are not
     * begun and aborted: parts that no object has come to have are deleted by the service, some day. */
    cubed_status (*read_uploads)(cb_remote *s, cb_remote_call *c, cubed_store_request *r,
                                 cubed_error *err);
    /* Whether the reply to CB_REMOTE_CREATE has an id, which goes to the call's body, that to a part what its list needs.
     * NULL: nothing is needed of them. */
    bool (*read_upload)(cb_remote_call *c);
    /* In the thread that submits: digests, and bodies that are not the caller's. */
    cubed_status (*begin)(cb_remote *s, cb_remote_call *c, cubed_error *err);
    /* Method, URL, headers. */
    cb_http_ready (*prepare)(cb_remote *s, cb_remote_call *c);
    /* What an error's reply says. NULL: as S3 does, in XML. */
    void (*read_fault)(const cb_remote_call *c, cb_remote_fault *f);
    /* A way around the fault, or CB_HTTP_DONE: it is one. May change http.code to what it means. May be NULL. */
    cb_http_verdict (*repair)(cb_remote *s, cb_remote_call *c, const cb_remote_fault *f);
    /* Whether a head whose reply is refused, or tells no length or 0, is made again as a read of the first byte, whose reply
     * tells the size. NULL: it is not. */
    bool (*probe)(cb_remote *s, cb_remote_call *c);
    /* The advice if an object seems to change with each reply. May be NULL. */
    const char *if_changing;
    /* The version that a reply tells, and the size, where it does so elsewhere than in its length. */
    void (*tell)(const cb_remote_call *c, cubed_object_info *info);
    /* Whether an object that a reply tells of is what the call had put. */
    bool (*is_own)(const cb_remote_call *c);
    /* Whether what came has the checksum that it should have; NULL: not known. */
    bool (*is_whole)(const cb_remote_call *c);
    /* Tells the request's entries and the next page. */
    cubed_status (*read_page)(cb_remote *s, cb_remote_call *c, cubed_store_request *r,
                              cubed_error *err);
    /* What a reply to many deletions says that went wrong: the fault, "" if nothing. *changed: some objects had other versions
     * than were expected, and nothing else went wrong. */
    void (*read_deleted)(const cb_remote_call *c, cb_remote_fault *f, bool *changed);
    /* Whether a copy is done, or goes on with another call. NULL: it is. */
    cb_http_verdict (*judge_copy)(cb_remote *s, cb_remote_call *c);
    /* What a user can do; NULL: nothing is known. */
    const char *(*advice)(const cb_remote *s, int code, const cb_remote_fault *f);
    /* The kind of a version that `tell` told. NULL: a version. */
    cubed_validator (*judge_version)(const char *version);
    cubed_status (*open)(cb_net *net, const char *url, cubed_store **out, cubed_error *err);
} cb_dialect;

struct cb_remote {
    cubed_store head;
    const cb_dialect *dialect;
    cb_net *net;
    cb_zone *zone;      /* of this struct and all its texts */
    const char *bucket; /* or host: what the URL has up to its first slash */
    const char *root;   /* key of the store in its bucket, "" or without '/' at its end */
    cb_http_way way;
    uint32_t connect_ms, stall_ms;
    cb_upload_sizes uploads;
    _Atomic(cubed_validator) validator; /* the least of what replies have told */
    cb_adopted process;
    cb_mutex lock;
    cb_cond idle;
    cb_remote_job *jobs CB_GUARDED_BY(&lock);
    size_t njobs CB_GUARDED_BY(&lock); /* jobs that are not yet freed */
};

/* Names of options that every remote store has, and those that put objects in parts. */
#define CB_REMOTE_PART_OPTIONS "multipart_threshold multipart_chunksize"
#define CB_REMOTE_OPTIONS                                                                          \
    "connect_timeout read_timeout AWS_CA_BUNDLE ca_bundle proxy HTTPS_PROXY HTTP_PROXY NO_PROXY"

CUBED_MUST_CHECK cubed_status cb_remote_open(cb_net *net, const cubed_store_vtable *vt,
                                             const cb_dialect *dialect, const char *url,
                                             cubed_store **out, cubed_error *err);
void cb_remote_close(cubed_store *store);
void cb_remote_submit(cubed_store *store, cubed_store_request *const *requests, size_t n);
void cb_remote_cancel(cubed_store *store, cubed_store_request *request);
cubed_validator cb_remote_validator(const cb_remote *s);
/* Each object is copied to another key of the store, without its bytes coming here. */
CUBED_MUST_CHECK cubed_status cb_remote_copy(cubed_store *store, const char *const *from,
                                             const char *const *to, size_t n, cubed_error *err);

/* The same store, with the settings of its URL, a part further up. */
CUBED_MUST_CHECK cubed_status cb_remote_around(cubed_store *store, const char *prefix,
                                               cubed_store **out, char *name, size_t cap,
                                               cubed_error *err);

/* Unfinished uploads below the prefix: those that were begun a day ago, or all. */
CUBED_MUST_CHECK cubed_status cb_remote_sweep(cubed_store *store, const char *prefix,
                                              unsigned flags, cubed_store_list_fn fn, void *ctx,
                                              cubed_error *err);
/* Makes one call for each of n <= CB_REMOTE_AT_ONCE requests, which have operation and key, and waits for all: the first
 * failure's status. */
enum { CB_REMOTE_AT_ONCE = 64 };
CUBED_MUST_CHECK cubed_status cb_remote_do(cb_remote *s, cb_remote_what what,
                                           cubed_store_request *requests,
                                           const char *const *sources, size_t n, cubed_error *err);

/* The functions of a store that is read, written and listed, by the scheme of its URLs, and its flags. */
#define CB_REMOTE_VTABLE(name, what)                                                               \
    {                                                                                              \
        .struct_size = sizeof(cubed_store_vtable), .version = CUBED_STORE_VERSION,                 \
        .flags = (what), .scheme = (name), .max_in_flight = CB_HTTP_MOST,                          \
        .request_bytes = CB_HTTP_REQUEST_BYTES, .process_bytes = CB_HTTP_PROCESS_BYTES,            \
        .close = cb_remote_close, .submit = cb_remote_submit, .cancel = cb_remote_cancel,          \
        .around = cb_remote_around, .copy = cb_remote_copy, .sweep = cb_remote_sweep               \
    }

/* For dialects. */

/* An endpoint from settings: *out without '/' at its end. CUBED_E_ARG if it is no http://HOST. */
CUBED_MUST_CHECK cubed_status cb_remote_endpoint(cb_zone *zone, const char *name, const char *given,
                                                 const char **out, bool *tls, cubed_error *err);
/* The id by which a put knows its object again. */
CUBED_MUST_CHECK cubed_status cb_remote_make_id(cb_remote_call *c, cubed_error *err);
/* The CRC-32C of a whole object or of a body, as services write it; text[12]. */
void cb_remote_put_crc32c(uint32_t crc, char *text);
/* Whether what came has that checksum; true if there is none, or only a part came. */
bool cb_remote_has_crc32c(const cb_remote_call *c, const char *text, size_t n);

/* Appends the key of an object of the store in its bucket, encoded; '/' and the characters of `keep` stay. */
void cb_remote_put_key(const cb_remote *s, cb_buf *out, const char *key, const char *keep);
/* Whether a name in the bucket is that of a prefix of the store, or below it. */
bool cb_remote_is_below(const cb_remote *s, const char *name, const char *prefix);
/* Tells of an entry of a listing, by its name in the bucket. A name that cannot be a key is passed over; one that is not
 * below the listed prefix is an error. `version`: as replies tell it; NULL or empty if the listing does not. */
CUBED_MUST_CHECK cubed_status cb_remote_tell_entry(const cb_remote *s, const cubed_store_request *r,
                                                   cb_buf *name, uint64_t size, bool is_prefix,
                                                   const cb_buf *version, cubed_error *err);
/* Tells of an unfinished upload: its name in the bucket, its id, and the second since 1970 that it was begun. */
CUBED_MUST_CHECK cubed_status cb_remote_tell_upload(const cb_remote *s,
                                                    const cubed_store_request *r, cb_buf *name,
                                                    const char *id, int64_t begun,
                                                    cubed_error *err);
/* Tells where a listing's next page begins; false: it is no text, or too long. The request wants to know it. */
bool cb_remote_tell_next_page(const cb_remote *s, cubed_store_request *r, cb_xml_part token);
/* The ETag that an entry of a listing tells, as headers have it: with the quotes that some services leave out. "" if the entry
 * has none. Replaces what is in `out`. */
void cb_remote_put_tag(cb_buf *out, cb_xml_part entry, const char *element);
/* A version from a header: "" if there is none, or it is too long. */
void cb_remote_set_version(cubed_object_info *info, const char *text);
/* Fills in what an error's XML says. */
void cb_remote_read_fault(const cb_http_call *c, cb_remote_fault *f);
void cb_remote_read_fault_of(cb_xml_part error, cb_remote_fault *f, const cubed_allocator *a);
/* Fails the call, in prepare. */
cb_http_ready cb_remote_refuse(cb_remote_call *c, cubed_status st);

#endif
