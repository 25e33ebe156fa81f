#include "store/services/store_registry.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/error.h"
#include "store/core/file_kind.h"
#include "store/services/remotes.h"
#ifdef CB_HAVE_HTTP
#include "store/auth/credentials.h"
#include "store/services/remote.h"
#endif

#ifdef CB_HAVE_HTTP
#define HAS_HTTP 1
#else
#define HAS_HTTP 0
#endif
#define WITHOUT_HTTP                                                                               \
    " (this libcubed was built without libcurl and OpenSSL, which stores of other machines need)"

/* Built-in remote stores. */
static const struct {
    const char *scheme;
    const cubed_store_vtable *vt;
    cubed_status (*open)(cb_net *net, const char *url, cubed_store **out, cubed_error *err);
    /* NULL if the store never uploads in parts. */
    cubed_status (*get_upload_sizes)(cb_net *net, cb_zone *zone, const char *url,
                                     cb_upload_sizes *out, cubed_error *err);
} remote_stores[] = {
#ifdef CB_HAVE_HTTP
    {"s3", &cb_s3_vtable, cb_s3_open, cb_remote_get_upload_sizes},
    {"gs", &cb_gcs_vtable, cb_gcs_open, cb_gcs_get_upload_sizes},
    {"az", &cb_azure_vtable, cb_azure_open, cb_remote_get_upload_sizes},
    {"http", &cb_web_vtable, cb_web_open, NULL},
    {"https", &cb_web_vtable, cb_web_open, NULL},
#endif
    {"redis", &cb_redis_vtable, cb_redis_open, NULL},
    {NULL, NULL, NULL, NULL}};

void cb_stores_init(cb_stores *s, const cubed_allocator *a)
{
    s->alloc = a;
    s->open_file = NULL;
    atomic_init(&s->added, NULL);
    atomic_init(&s->files, NULL);
    cb_memory_init(&s->memory, a);
    cb_net_init(&s->net, a);
}

static void free_list(cb_stores *s, cb_added_store *a)
{
    for (cb_added_store *next; a; a = next) {
        next = a->next;
        cb_free(s->alloc, a, sizeof *a);
    }
}

void cb_stores_free(cb_stores *s)
{
    free_list(s, atomic_load(&s->added));
    free_list(s, atomic_load(&s->files));
    cb_memory_free(&s->memory);
#ifdef CB_HAVE_HTTP
    cb_credentials_free(&s->net);
#endif
    cb_net_free(&s->net);
}

/* Returns the length of the URL's scheme, or 0 for a path. */
static size_t scheme_length(const char *url)
{
    const char *end = *url == '/' ? NULL : strstr(url, "://");
    return end ? (size_t)(end - url) : 0;
}

static bool is_scheme(const char *url, size_t n, const char *scheme)
{
    return strncasecmp(url, scheme, n) == 0 && scheme[n] == 0;
}

/* Returns the index of the built-in remote store with the scheme; -1 if there is none. */
static int find_remote(const char *url, size_t n)
{
    for (int i = 0; remote_stores[i].scheme; i++) {
        if (is_scheme(url, n, remote_stores[i].scheme)) return i;
    }
    return -1;
}

cubed_status cb_store_get_upload_sizes(cb_stores *s, cb_zone *zone, const char *url,
                                       cb_upload_sizes *out, cubed_error *err)
{
    const int remote = find_remote(url, scheme_length(url));
    *out = (cb_upload_sizes){0, 0};
    return remote < 0 || !remote_stores[remote].get_upload_sizes
               ? CUBED_OK
               : remote_stores[remote].get_upload_sizes(&s->net, zone, url, out, err);
}

static const cubed_store_vtable *find(const cb_stores *s, const char *url, size_t n)
{
    for (const cb_added_store *a = atomic_load(&s->added); a; a = a->next) {
        if (is_scheme(url, n, a->vt->scheme)) return a->vt;
    }
    return NULL;
}

static const cubed_store_vtable *vtable_of(const cb_stores *s, const char *url)
{
    const size_t n = scheme_length(url);
    const int remote = n ? find_remote(url, n) : -1;
    return remote >= 0 ? remote_stores[remote].vt : n ? find(s, url, n) : NULL;
}

size_t cb_store_request_bytes(const cb_stores *s, const char *url)
{
    const cubed_store_vtable *vt = vtable_of(s, url);
    return vt ? vt->request_bytes : 0;
}

size_t cb_store_process_bytes(const cb_stores *s, const char *url)
{
    const cubed_store_vtable *vt = vtable_of(s, url);
    return vt ? vt->process_bytes : 0;
}

static bool is_legal(const char *scheme)
{
    const size_t n = strlen(scheme);
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)scheme[i];
        if (!islower(c) && (i == 0 || (!isdigit(c) && !strchr("+-.", c)))) return false;
    }
    return n > 0;
}

cubed_status cb_stores_add(cb_stores *s, const cubed_store_vtable *vt, cubed_error *err)
{
    CB_TRY(cb_check_made_for("a store's vtable", vt->struct_size, sizeof *vt, vt->version,
                             CUBED_STORE_VERSION, err));
    if (!vt->scheme || !is_legal(vt->scheme))
        return cb_fail(err, CUBED_E_ARG,
                       "the scheme of a store is \"%s\", expected lower case letters, then also "
                       "digits, '+', '-' and '.'",
                       vt->scheme ? vt->scheme : "");
    if (!vt->open || !vt->close || !vt->submit)
        return cb_fail(err, CUBED_E_ARG, "the store of scheme %s needs open, close and submit",
                       vt->scheme);
    cb_added_store *added = cb_alloc_zero(s->alloc, sizeof *added);
    if (!added) return cb_fail(err, CUBED_E_NOMEM, "no memory for a store");
    const size_t n = strlen(vt->scheme);
    added->vt = vt;
    added->next = atomic_load(&s->added);
    /* Retry if another thread has added a store in the meantime. */
    while (!is_scheme(vt->scheme, n, "file") && !is_scheme(vt->scheme, n, "memory") &&
           find_remote(vt->scheme, n) < 0 && !find(s, vt->scheme, n)) {
        if (atomic_compare_exchange_weak(&s->added, &added->next, added)) return CUBED_OK;
    }
    cb_free(s->alloc, added, sizeof *added);
    return cb_fail(err, CUBED_E_EXISTS, "there is a store of scheme %s already", vt->scheme);
}

cubed_status cb_store_check(const cb_stores *s, const char *url, cubed_error *err)
{
    const size_t n = scheme_length(url);
    if (!*url) return cb_fail(err, CUBED_E_ARG, "a store's path is empty");
    if (n == 0 || is_scheme(url, n, "memory") || find_remote(url, n) >= 0 || find(s, url, n))
        return CUBED_OK;
    cb_buf all;
    cb_buf_init(&all, s->alloc);
    for (int i = 0; remote_stores[i].scheme; i++)
        cb_buf_printf(&all, ", %s://", remote_stores[i].scheme);
    for (const cb_added_store *a = atomic_load(&s->added); a; a = a->next)
        cb_buf_printf(&all, ", %s://", a->vt->scheme);
    cubed_status st =
        cb_fail(err, CUBED_E_UNSUPPORTED,
                "\"%s\": stores of scheme %.*s are not supported%s; there are: a path, file://, "
                "memory://%s",
                url, (int)n, url, HAS_HTTP ? "" : WITHOUT_HTTP, all.size > 0 ? all.data : "");
    cb_buf_free(&all);
    return st;
}

const cubed_store_vtable *cb_store_added(const cb_stores *s, const char *url)
{
    const size_t n = scheme_length(url);
    return n ? find(s, url, n) : NULL;
}

unsigned cb_store_at_once(const cb_stores *s, const char *url)
{
    const size_t n = scheme_length(url);
    const int remote = find_remote(url, n);
    const cubed_store_vtable *vt = remote >= 0 ? remote_stores[remote].vt : cb_store_added(s, url);
    if (!vt || vt->flags & CUBED_STORE_AT_ONCE) return 1;
    return vt->max_in_flight ? vt->max_in_flight : CUBED_STORE_IN_FLIGHT;
}

bool cb_store_is_of_process(const cb_stores *s, const char *url)
{
    const size_t n = scheme_length(url);
    if (n == 0) return false;
    const cubed_store_vtable *vt = find(s, url, n);
    return is_scheme(url, n, "memory") || (vt && vt->flags & CUBED_STORE_OF_PROCESS);
}

static cubed_status open_root(cb_stores *s, const char *url, bool durable, cubed_store **out,
                              cubed_error *err)
{
    const size_t n = scheme_length(url);
    if (n == 0) return cb_store_open_local(s->alloc, url, durable, out, err);
    const int remote = find_remote(url, n);
    if (remote >= 0) return remote_stores[remote].open(&s->net, url, out, err);
    const cubed_store_vtable *vt = find(s, url, n);
    if (vt) {
        const cubed_store_open_args args = {
            .struct_size = sizeof args, .url = url, .alloc = s->alloc, .durable = durable};
        return vt->open(vt, &args, out, err);
    }
    if (durable)
        return cb_fail(err, CUBED_E_ARG, "durable: \"%s\" is lost when the process ends", url);
    return cb_memory_open(&s->memory, url, out, err);
}

cubed_validator cb_store_validator(const cubed_store *s)
{
#ifdef CB_HAVE_HTTP
    if (s->vt->submit == cb_remote_submit) return cb_remote_validator((const cb_remote *)s);
#else
    (void)s;
#endif
    return CUBED_VALIDATOR_VERSION;
}

const char *cubed_validator_name(cubed_validator v)
{
    static const char *const names[] = {"version", "date", "size", "none"};
    return names[v];
}

const char *cubed_validator_text(cubed_validator v)
{
    static const char *const texts[] = {
        NULL,
        "the server reports no ETag, only dates of objects: the replacement of an object within a "
        "second cannot be detected",
        "the server reports no ETag and no Last-Modified: the replacement of an object by one of "
        "the same size cannot be detected",
        "the server reports no versions of objects: the replacement of an object cannot be "
        "detected"};
    return texts[v];
}

/* --- Files -------------------------------------------------------------------------------------------- */

/* Opens the store that contains a file; NULL if the URL is not a file. *key is the file's name in the store. */
static cubed_status find_file(cb_stores *s, const char *url, cubed_store **out, const char **key,
                              cubed_error *err)
{
    const size_t n = scheme_length(url);
    const char *slash = strrchr(url, '/');
    struct stat info;
    /* A request checks whether the object exists, but only if the URL has the suffix of a file. */
    bool there = n == 0 ? stat(url, &info) == 0 && S_ISREG(info.st_mode)
                        : cb_store_file_kind(url, strlen(url)) != CUBED_FILE_NONE;
    *out = NULL;
    if (!there || !slash || !slash[1] || (n > 0 && slash < url + n + 4)) return CUBED_OK;
    *key = slash + 1;
    const size_t length = slash == url ? 1 : (size_t)(slash - url);
    char *parent = cb_alloc_zero(s->alloc, length + 1);
    if (!parent) return cb_fail(err, CUBED_E_NOMEM, "no memory to open %s", url);
    memcpy(parent, url, length);
    cubed_status st = open_root(s, parent, false, out, err);
    cb_free(s->alloc, parent, length + 1);
    if (st != CUBED_OK || n == 0) return st;
    st = cb_store_exists(*out, *key, &there, err);
    if (st == CUBED_OK && there) return st;
    cb_store_close(*out);
    *out = NULL;
    return st;
}

/* Returns the length of the URL before a ref such as "@branch.NAME" at its end, or 0 if it has no ref. */
static size_t ref_begins(const char *url)
{
    static const char *const kinds[] = {"@branch.", "@tag.", "@snapshot."};
    const char *slash = strrchr(url, '/'), *at = strchr(slash ? slash : url, CB_REF_OF_REPOSITORY);
    for (size_t i = 0; at && i < sizeof kinds / sizeof *kinds; i++) {
        const size_t n = strlen(kinds[i]);
        if (strncmp(at, kinds[i], n) == 0 && at[n]) return (size_t)(at - url);
    }
    return 0;
}

size_t cb_store_root_length(const char *url)
{
    const size_t n = ref_begins(url);
    return n ? n : strlen(url);
}

static bool has_file(const char *folder, const char *name)
{
    char path[4096];
    struct stat info;
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
           stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Recognises Icechunk repositories: URLs with a ref; directories that look like a repository, and URLs with the suffix
 * ".icechunk", which mean the main branch. *out is the store at the repository's root, NULL if the URL is none of these;
 * *key is the ref. Does not check that a remote repository exists. */
static cubed_status find_repository(cb_stores *s, const char *url, cubed_store **out,
                                    const char **key, cubed_error *err)
{
    static const char end[] = ".icechunk";
    const size_t ref = ref_begins(url), scheme = scheme_length(url), n = strlen(url);
    struct stat info;
    *out = NULL;
    *key = ref ? url + ref : "@branch.main";
    /* a file whose name is the whole URL exists, so the URL does not end with a ref */
    if (scheme == 0 && ref && lstat(url, &info) == 0) return CUBED_OK;
    if (scheme == 0 && !ref &&
        (has_file(url, "zarr.json") ||
         (!has_file(url, "repo") && !has_file(url, "refs/branch.main/ref.json"))))
        return CUBED_OK;
    if (scheme > 0 && !ref && (n <= sizeof end || strcmp(url + n + 1 - sizeof end, end) != 0))
        return CUBED_OK;
    char *root = cb_alloc_zero(s->alloc, n + 1);
    if (!root) return cb_fail(err, CUBED_E_NOMEM, "no memory to open %s", url);
    memcpy(root, url, ref ? ref : n);
    cubed_status st = open_root(s, root, false, out, err);
    cb_free(s->alloc, root, n + 1);
    return st;
}

/* Recognises folders of references in Parquet: directories that contain only consolidated metadata, or URLs with the suffix
 * ".parq" or ".parquet". *out is the store of the folder, NULL if the URL is none of these; *key is the file of metadata.
 * Does not check that a remote folder exists. */
static cubed_status find_references(cb_stores *s, const char *url, cubed_store **out,
                                    const char **key, cubed_error *err)
{
    static const char file[] = ".zmetadata";
    const char *dot = strrchr(url, '.');
    const bool named = dot && (strcasecmp(dot, ".parq") == 0 || strcasecmp(dot, ".parquet") == 0);
    *out = NULL;
    *key = file;
    if (scheme_length(url) > 0 ? !named
                               : !has_file(url, file) || has_file(url, ".zgroup") ||
                                     has_file(url, ".zarray") || has_file(url, "zarr.json"))
        return CUBED_OK;
    return open_root(s, url, false, out, err);
}

cubed_status cb_store_open_plain(cb_stores *s, const char *url, cubed_store **out, cubed_error *err)
{
    CB_TRY(cb_store_check(s, url, err));
    return open_root(s, url, false, out, err);
}

cubed_status cb_store_open_referred(cb_stores *s, const char *url, const cubed_store *document,
                                    cubed_store **out, cubed_error *err)
{
    CB_TRY(cb_store_open_plain(s, url, out, err));
#ifdef CB_HAVE_HTTP
    cb_web_limit(*out, document);
#else
    (void)document;
#endif
    return CUBED_OK;
}

cubed_status cb_store_open(cb_stores *s, const char *url, bool durable, cubed_store **out,
                           cubed_error *err)
{
    return cb_store_open_allowed(s, url, NULL, durable, out, err);
}

cubed_status cb_store_open_allowed(cb_stores *s, const char *url, const char *references,
                                   bool durable, cubed_store **out, cubed_error *err)
{
    cubed_store *within = NULL;
    const char *key = NULL;
    CB_TRY(cb_store_check(s, url, err));
    if (s->open_file) CB_TRY(find_file(s, url, &within, &key, err));
    if (s->open_file && !within) CB_TRY(find_repository(s, url, &within, &key, err));
    if (s->open_file && !within) CB_TRY(find_references(s, url, &within, &key, err));
    return within ? s->open_file(s, within, key, url, references, out, err)
                  : open_root(s, url, durable, out, err);
}
