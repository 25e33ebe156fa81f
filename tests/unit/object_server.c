#define _GNU_SOURCE
#include "object_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "run/executors/told.h"

enum { MOST = 256, PAGE = 3, NAME = 512, LOG = 4096 };

typedef struct object {
    char name[NAME], id[64];
    char *data;
    size_t size;
    int version;
} object;

typedef struct answer {
    char what[NAME], headers[256], body[2048];
    int code, times;
} answer;

/* An invocation of a function: requested, taken by a runtime, and answered. */
typedef struct invocation {
    enum { FREE, ASKED, TAKEN, ANSWERED } state;
    char *event, *result;
    size_t size, result_size;
    bool failed;
} invocation;

struct object_server {
    int fd, port;
    pthread_t acceptor, threads[MOST];
    int fds[MOST], nthreads;
    bool ended[MOST];     /* threads that were joined */
    pthread_mutex_t lock; /* protects all members below */
    bool redis[MOST];     /* connections that sent commands of Redis */
    object objects[MOST];
    int nobjects, versions;
    answer faults[16], said[16];
    int nfaults, nsaid;
    char *log[LOG];
    int nlog;
    invocation invocations[16];
    bool closing;
    /* signalled when an invocation is available, or when the server closes */
    pthread_cond_t changed;
};

typedef struct connection {
    object_server *s;
    int fd, number;
    /* in: bytes of the next request that were read; size: their number; room: size of the buffer */
    char *in;
    size_t size, room;
} connection;

/* One request; strings point into the connection's buffer. */
typedef struct request {
    char method[16], name[NAME], query[2 * NAME];
    const char *head, *body;
    size_t body_size;
    bool google, azure;
} request;

static _Noreturn void die(const char *what)
{
    perror(what);
    abort();
}

static char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *text_of(const char *format, ...)
{
    char *out;
    va_list args;
    va_start(args, format);
    if (vasprintf(&out, format, args) < 0) die("vasprintf");
    va_end(args);
    return out;
}

/* --- Bytes -------------------------------------------------------------------------------------------- */

static bool read_more(connection *c)
{
    if (c->size + 1 >= c->room) {
        c->room = 2 * c->room + 4096;
        c->in = realloc(c->in, c->room);
        if (!c->in) die("realloc");
    }
    const ssize_t n = read(c->fd, c->in + c->size, c->room - c->size - 1);
    if (n <= 0) return false;
    c->size += (size_t)n;
    c->in[c->size] = 0;
    return true;
}

static void take(connection *c, size_t n)
{
    memmove(c->in, c->in + n, c->size - n + 1);
    c->size -= n;
}

static void write_all(int fd, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = send(fd, (const char *)data + done, size - done, MSG_NOSIGNAL);
        if (n <= 0) return;
        done += (size_t)n;
    }
}

static void decode(char *text)
{
    char *to = text, digits[3] = "";
    for (; *text; to++) {
        if (text[0] == '%' && text[1] && text[2]) {
            memcpy(digits, text + 1, 2);
            *to = (char)strtoul(digits, NULL, 16);
            text += 3;
        } else {
            *to = *text++;
        }
    }
    *to = 0;
}

/* Returns the value of a parameter of the query, decoded; "" if the query does not have it. */
static const char *query_of(const request *r, const char *name, char value[NAME])
{
    const size_t n = strlen(name);
    value[0] = 0;
    for (const char *at = r->query; *at;) {
        const size_t length = strcspn(at, "&");
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            snprintf(value, NAME, "%.*s", (int)(length - n - 1), at + n + 1);
        at += length + (at[length] == '&');
    }
    decode(value);
    return value;
}

static const char *header_of(const request *r, const char *name, char value[NAME])
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\r\n%s:", name);
    const char *at = strcasestr(r->head, wanted);
    value[0] = 0;
    if (!at || at > r->body) return value;
    at += strlen(wanted);
    at += strspn(at, " ");
    snprintf(value, NAME, "%.*s", (int)strcspn(at, "\r"), at);
    return value;
}

static void reply(const connection *c, const request *r, int code, const char *headers,
                  const void *body, size_t size)
{
    char *head = text_of("HTTP/1.1 %d Said\r\ncontent-length: %zu\r\n%s\r\n", code, size, headers);
    write_all(c->fd, head, strlen(head));
    if (strcmp(r->method, "HEAD") != 0 && code != 304) write_all(c->fd, body, size);
    free(head);
}

static void reply_text(const connection *c, const request *r, int code, const char *text)
{
    reply(c, r, code, "", text, strlen(text));
}

static void refuse(const connection *c, const request *r, int code, const char *name)
{
    char *text = r->google ? text_of("{\"error\": {\"code\": %d, \"message\": \"no\", \"errors\": "
                                     "[{\"reason\": \"%s\"}]}}",
                                     code, name)
                           : text_of("<Error><Code>%s</Code><Message>no</Message></Error>", name);
    reply_text(c, r, code, text);
    free(text);
}

/* --- Objects ------------------------------------------------------------------------------------------ */

static object *find(object_server *s, const char *name)
{
    for (int i = 0; i < s->nobjects; i++) {
        if (strcmp(s->objects[i].name, name) == 0) return &s->objects[i];
    }
    return NULL;
}

static object *put(object_server *s, const char *name, const void *data, size_t size)
{
    object *o = find(s, name);
    if (!o && s->nobjects == MOST) die("too many objects");
    if (!o) {
        o = &s->objects[s->nobjects++];
        *o = (object){.version = 0};
    }
    char *copy = malloc(size + 1);
    if (!copy) die("malloc");
    memcpy(copy, data, size);
    free(o->data);
    o->data = copy;
    o->size = size;
    o->version = ++s->versions;
    snprintf(o->name, sizeof o->name, "%s", name);
    return o;
}

static void drop(object_server *s, const char *name)
{
    object *o = find(s, name);
    if (!o) return;
    free(o->data);
    *o = s->objects[--s->nobjects];
}

static bool copy(object_server *s, const char *from, const char *to)
{
    const object *o = find(s, from);
    if (!o) return false;
    char *data = malloc(o->size + 1), id[64];
    if (!data) die("malloc");
    memcpy(data, o->data, o->size);
    memcpy(id, o->id, sizeof id);
    object *made = put(s, to, data, o->size);
    memcpy(made->id, id, sizeof id);
    free(data);
    return true;
}

/* Returns true if the object fulfils the conditions of the request. Otherwise sets *code to the status code of the reply. */
static bool allows(const request *r, const object *o, int *code)
{
    char value[NAME], own[32], quoted[34];
    snprintf(own, sizeof own, "%d", o ? o->version : 0);
    snprintf(quoted, sizeof quoted, "\"%s\"", own);
    *code = 412;
    if (*header_of(r, "if-match", value) && (!o || strcmp(value, quoted) != 0)) return false;
    if (*query_of(r, "ifGenerationMatch", value) && strcmp(value, own) != 0) return false;
    if (*header_of(r, "x-goog-if-generation-match", value) && strcmp(value, own) != 0) return false;
    if (strcmp(r->method, "PUT") != 0) *code = 304;
    if (*header_of(r, "if-none-match", value) && o &&
        (strcmp(value, "*") == 0 || strcmp(value, quoted) == 0))
        return false;
    return !*query_of(r, "ifGenerationNotMatch", value) || strcmp(value, own) != 0;
}

static void send_object(const connection *c, const request *r, const object *o)
{
    char range[NAME], *end;
    size_t first = 0, last = o->size;
    header_of(r, "range", range);
    if (strncmp(range, "bytes=-", 7) == 0) {
        const size_t n = strtoul(range + 7, NULL, 10);
        first = n < o->size ? o->size - n : 0;
    } else if (*range) {
        first = strtoul(range + 6, &end, 10);
        if (end[1]) last = strtoul(end + 1, NULL, 10) + 1;
        if (last > o->size) last = o->size;
        if (first >= o->size) {
            char *text = text_of("content-range: bytes */%zu\r\n", o->size);
            reply(c, r, 416, text, "", 0);
            free(text);
            return;
        }
    }
    char *headers = text_of("etag: \"%d\"\r\nx-goog-generation: %d\r\nx-amz-meta-cubed-write: "
                            "%s\r\nx-goog-meta-cubed-write: %s\r\nx-ms-meta-cubed_write: %s\r\n",
                            o->version, o->version, o->id, o->id, o->id);
    if (*range) {
        char *more =
            text_of("%scontent-range: bytes %zu-%zu/%zu\r\n", headers, first, last - 1, o->size);
        free(headers);
        headers = more;
    }
    reply(c, r, *range ? 206 : 200, headers, o->data + first, last - first);
    free(headers);
}

static void put_object(const connection *c, const request *r)
{
    char id[NAME];
    const char *data = r->body;
    size_t size = r->body_size;
    int code;
    if (!allows(r, find(c->s, r->name), &code)) {
        refuse(c, r, 412, r->azure ? "ConditionNotMet" : "PreconditionFailed");
        return;
    }
    if (r->google) { /* a body of two parts: metadata and bytes */
        const char *said = strstr(data, "\"cubed-write\":\"") + strlen("\"cubed-write\":\"");
        snprintf(id, sizeof id, "%.*s", (int)strcspn(said, "\""), said);
        const char *second = strstr(strstr(data, "\r\n\r\n") + 4, "\r\n\r\n") + 4;
        size -= (size_t)(second - data) + strlen("\r\n--cubed-7f2a9c41d5e86b03--\r\n");
        data = second;
    } else {
        header_of(r, r->azure ? "x-ms-meta-cubed_write" : "x-amz-meta-cubed-write", id);
        if (!*id) header_of(r, "x-goog-meta-cubed-write", id);
    }
    object *o = put(c->s, r->name, data, size);
    snprintf(o->id, sizeof o->id, "%.60s", id);
    char *headers = text_of("etag: \"%d\"\r\nx-goog-generation: %d\r\n", o->version, o->version);
    char *body = r->google ? text_of("{\"generation\": \"%d\"}", o->version) : text_of("%s", "");
    reply(c, r, 200, headers, body, strlen(body));
    free(headers);
    free(body);
}

/* --- Listings ----------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const object *)a)->name, ((const object *)b)->name);
}

/* Lists the names with the bucket and the prefix, in order, PAGE names per reply. The token for the next page is the last
 * name. */
static void list(const connection *c, const request *r)
{
    object_server *s = c->s;
    char prefix[NAME], token[NAME], whole[2 * NAME], last[NAME] = "";
    const char *bucket = r->name;
    char *files = text_of("%s", ""), *folders = text_of("%s", "");
    int n = 0;
    bool more = false;
    const bool deep = !strstr(r->query, "delimiter=");
    query_of(r, "prefix", prefix);
    query_of(r, r->google ? "pageToken" : r->azure ? "marker" : "continuation-token", token);
    snprintf(whole, sizeof whole, "%s%s%s", bucket,
             *bucket && bucket[strlen(bucket) - 1] != '/' ? "/" : "", prefix);
    const size_t skip = strlen(whole) - strlen(prefix);
    qsort(s->objects, (size_t)s->nobjects, sizeof *s->objects, by_name);
    for (int i = 0; i < s->nobjects && !more; i++) {
        const object *o = &s->objects[i];
        char name[NAME];
        if (strncmp(o->name, whole, strlen(whole)) != 0) continue;
        const char *slash = deep ? NULL : strchr(o->name + strlen(whole), '/');
        snprintf(name, sizeof name, "%.*s",
                 slash ? (int)(slash - o->name - (long)skip) + 1 : NAME - 1, o->name + skip);
        if (strcmp(name, last) == 0 || (*token && strcmp(name, token) <= 0)) continue;
        more = n++ == PAGE;
        if (more) break;
        memcpy(last, name, sizeof last);
        char **to = slash ? &folders : &files, *before = *to;
        if (r->google && slash)
            *to = text_of("%s%s\"%s\"", before, *before ? "," : "", name);
        else if (r->google)
            *to = text_of("%s%s{\"name\": \"%s\", \"size\": \"%zu\"}", before, *before ? "," : "",
                          name, o->size);
        else if (slash)
            *to = text_of(r->azure ? "%s<BlobPrefix><Name>%s</Name></BlobPrefix>"
                                   : "%s<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>",
                          before, name);
        else
            *to = text_of(r->azure ? "%s<Blob><Name>%s</Name><Properties><Content-Length>%zu"
                                     "</Content-Length></Properties></Blob>"
                                   : "%s<Contents><Key>%s</Key><Size>%zu</Size></Contents>",
                          before, name, o->size);
        free(before);
    }
    char *text =
        r->google
            ? text_of("{\"items\": [%s], \"prefixes\": [%s]%s%s%s}", files, folders,
                      more ? ", \"nextPageToken\": \"" : "", more ? last : "", more ? "\"" : "")
        : r->azure ? text_of("<EnumerationResults><Blobs>%s%s</Blobs><NextMarker>%s</NextMarker>"
                             "</EnumerationResults>",
                             files, folders, more ? last : "")
                   : text_of("<ListBucketResult>%s%s%s%s%s</ListBucketResult>", files, folders,
                             more ? "<NextContinuationToken>" : "", more ? last : "",
                             more ? "</NextContinuationToken>" : "");
    reply_text(c, r, 200, text);
    free(text);
    free(files);
    free(folders);
}

/* --- Multipart uploads ---------------------------------------------------------------------------------- */

/* An upload is the object UPLOADS + ID, whose bytes are the name of the object that is uploaded. Its parts are objects, too:
 * PARTS + ID + "/" + NUMBER, and in Azure PARTS + NAME + "/" + BLOCK. Requests of objects do not find these names. */
#define UPLOADS "\1uploads/"
#define PARTS   "\1parts/"

/* Makes an object of parts, and removes them. `whole` has the bytes. */
static void complete(const connection *c, const request *r, const char *whole, size_t size,
                     const char *id, const char *parts)
{
    object_server *s = c->s;
    object *o = put(s, r->name, whole, size);
    snprintf(o->id, sizeof o->id, "%.60s", id);
    char *headers = text_of("etag: \"%d\"\r\n", o->version);
    for (int i = s->nobjects - 1; i >= 0; i--) {
        if (strncmp(s->objects[i].name, parts, strlen(parts)) == 0) drop(s, s->objects[i].name);
    }
    char *body = text_of("<CompleteMultipartUploadResult></CompleteMultipartUploadResult>");
    reply(c, r, r->azure ? 201 : 200, headers, body, strlen(body));
    free(headers);
    free(body);
}

static bool append(object_server *s, const char *name, char **whole, size_t *size)
{
    const object *o = find(s, name);
    if (!o) return false;
    *whole = realloc(*whole, *size + o->size + 1);
    if (!*whole) die("realloc");
    memcpy(*whole + *size, o->data, o->size);
    *size += o->size;
    return true;
}

/* Azure's blocks: put, and made an object. */
static void put_blocks(const connection *c, const request *r)
{
    char block[NAME], id[NAME], *whole = NULL;
    size_t size = 0;
    int code;
    bool ok = true;
    if (*query_of(r, "blockid", block)) {
        char *name = text_of(PARTS "%s/%s", r->name, block);
        put(c->s, name, r->body, r->body_size);
        free(name);
        reply(c, r, 201, "", "", 0);
        return;
    }
    if (!allows(r, find(c->s, r->name), &code)) {
        refuse(c, r, 412, "ConditionNotMet");
        return;
    }
    char *parts = text_of(PARTS "%s/", r->name);
    for (const char *at = r->body; ok && (at = strstr(at, "<Latest>")); at++) {
        char *name = text_of("%s%.*s", parts, (int)strcspn(at + 8, "<"), at + 8);
        ok = append(c->s, name, &whole, &size);
        free(name);
    }
    header_of(r, "x-ms-meta-cubed_write", id);
    if (ok)
        complete(c, r, whole ? whole : "", size, id, parts);
    else
        refuse(c, r, 400, "InvalidBlockList");
    free(parts);
    free(whole);
}

/* Uploads of the bucket, in order, PAGE per reply. */
static void list_uploads(const connection *c, const request *r)
{
    object_server *s = c->s;
    char after[NAME], last[NAME] = "";
    char *text = text_of("<ListMultipartUploadsResult>");
    int n = 0;
    bool more = false;
    query_of(r, "upload-id-marker", after);
    qsort(s->objects, (size_t)s->nobjects, sizeof *s->objects, by_name);
    for (int i = 0; i < s->nobjects; i++) {
        const object *o = &s->objects[i];
        const char *id = o->name + strlen(UPLOADS);
        if (strncmp(o->name, UPLOADS, strlen(UPLOADS)) != 0 || strcmp(id, after) <= 0) continue;
        more = n == PAGE;
        if (more) break;
        n++;
        snprintf(last, sizeof last, "%s", id);
        const char *key = memchr(o->data, '/', o->size); /* the data are the name of the object */
        if (!key) die("an upload without a bucket");
        char *before = text;
        text = text_of("%s<Upload><Key>%.*s</Key><UploadId>%s</UploadId>"
                       "<Initiated>2020-01-01T00:00:00.000Z</Initiated></Upload>",
                       before, (int)(o->data + o->size - key - 1), key + 1, id);
        free(before);
    }
    char *all = text_of("%s<IsTruncated>%s</IsTruncated><NextKeyMarker>k</NextKeyMarker>"
                        "<NextUploadIdMarker>%s</NextUploadIdMarker></ListMultipartUploadsResult>",
                        text, more ? "true" : "false", last);
    reply_text(c, r, 200, all);
    free(all);
    free(text);
}

static void create_upload(const connection *c, const request *r)
{
    object_server *s = c->s;
    char name[NAME], id[NAME];
    snprintf(name, sizeof name, UPLOADS "u%05d", ++s->versions);
    header_of(r, "x-amz-meta-cubed-write", id);
    if (!*id) header_of(r, "x-goog-meta-cubed-write", id);
    object *o = put(s, name, r->name, strlen(r->name));
    snprintf(o->id, sizeof o->id, "%.60s", id);
    char *text = text_of("<InitiateMultipartUploadResult><UploadId>%s</UploadId>"
                         "</InitiateMultipartUploadResult>",
                         name + strlen(UPLOADS));
    reply_text(c, r, 200, text);
    free(text);
}

static void complete_upload(const connection *c, const request *r, const object *upload,
                            const char *parts)
{
    char id[sizeof upload->id], key[NAME], *whole = NULL;
    size_t size = 0;
    int code;
    memcpy(id, upload->id, sizeof id);
    snprintf(key, sizeof key, "%s", upload->name);
    if (!allows(r, find(c->s, r->name), &code)) {
        refuse(c, r, 412, "PreconditionFailed");
        return;
    }
    bool more = true;
    for (int i = 1; more; i++) {
        char *name = text_of("%s%05d", parts, i);
        more = append(c->s, name, &whole, &size);
        free(name);
    }
    drop(c->s, key);
    complete(c, r, whole ? whole : "", size, id, parts);
    free(whole);
}

/* A request that has an upload's ID. */
static void serve_upload(const connection *c, const request *r, const char *id)
{
    char number[NAME], name[NAME], parts[NAME];
    object_server *s = c->s;
    snprintf(name, sizeof name, UPLOADS "%.100s", id);
    snprintf(parts, sizeof parts, PARTS "%.100s/", id);
    const object *upload = find(s, name);
    if (!upload) {
        refuse(c, r, 404, "NoSuchUpload");
    } else if (strcmp(r->method, "PUT") == 0) {
        const long n = strtol(query_of(r, "partNumber", number), NULL, 10);
        char *part = text_of("%s%05ld", parts, n);
        char *headers = text_of("etag: \"%d\"\r\n", put(s, part, r->body, r->body_size)->version);
        reply(c, r, 200, headers, "", 0);
        free(headers);
        free(part);
    } else if (strcmp(r->method, "POST") == 0) {
        complete_upload(c, r, upload, parts);
    } else {
        drop(s, name);
        for (int i = s->nobjects - 1; i >= 0; i--) {
            if (strncmp(s->objects[i].name, parts, strlen(parts)) == 0) drop(s, s->objects[i].name);
        }
        reply(c, r, 204, "", "", 0);
    }
}

/* Returns true if the request is part of an upload. */
static bool is_of_upload(const connection *c, const request *r)
{
    char id[NAME];
    if (r->azure && strstr(r->query, "comp=block"))
        put_blocks(c, r);
    else if (*query_of(r, "uploadId", id))
        serve_upload(c, r, id);
    else if (strstr(r->query, "uploads=") && strcmp(r->method, "GET") == 0)
        list_uploads(c, r);
    else if (strstr(r->query, "uploads="))
        create_upload(c, r);
    else
        return false;
    return true;
}

/* --- Requests ----------------------------------------------------------------------------------------- */

static void delete_all(const connection *c, const request *r)
{
    char bucket[NAME];
    snprintf(bucket, sizeof bucket, "%s", r->name);
    for (const char *at = r->body; (at = strstr(at, "<Key>")); at++) {
        char *name = text_of("%s%.*s", bucket, (int)strcspn(at + 5, "<"), at + 5);
        drop(c->s, name);
        free(name);
    }
    reply_text(c, r, 200, "<DeleteResult></DeleteResult>");
}

/* Implements Google's operation "rewrite", which copies an object in two calls. */
static void rewrite(const connection *c, const request *r)
{
    char value[NAME];
    char *to = strstr(r->name, "/rewriteTo/b/");
    char *target = text_of("%s", to + strlen("/rewriteTo/b/")), *o = strstr(target, "/o/");
    memmove(o + 1, o + 3, strlen(o + 3) + 1);
    *to = 0;
    if (!*query_of(r, "rewriteToken", value))
        reply_text(c, r, 200, "{\"done\": false, \"rewriteToken\": \"a+b/c==\"}");
    else if (copy(c->s, r->name, target))
        reply_text(c, r, 200, "{\"done\": true}");
    else
        refuse(c, r, 404, "notFound");
    free(target);
}

static bool copy_from(const connection *c, const request *r)
{
    char source[NAME], *from = source;
    header_of(r, "x-amz-copy-source", source);
    if (!*source) header_of(r, "x-goog-copy-source", source);
    if (!*source && !*header_of(r, "x-ms-copy-source", source)) return false;
    source[strcspn(source, "?")] = 0;
    decode(source);
    if (strncmp(from, "http://", 7) == 0) {
        from = strchr(from + 7, '/') + 1;
        from = strchr(from, '/');
    }
    if (copy(c->s, from + 1, r->name))
        reply(c, r, r->azure ? 202 : 200, "x-ms-copy-status: success\r\n", "<CopyObjectResult/>",
              19);
    else
        refuse(c, r, 404, "NoSuchKey");
    return true;
}

static void get(const connection *c, const request *r)
{
    const object *o = find(c->s, r->name);
    char value[NAME];
    int code;
    if (!o) {
        refuse(c, r, 404, r->azure ? "BlobNotFound" : "NoSuchKey");
    } else if (!allows(r, o, &code)) {
        refuse(c, r, code, "PreconditionFailed");
    } else if (r->google && !*query_of(r, "alt", value)) {
        char *text = text_of("{\"size\": \"%zu\", \"generation\": \"%d\", \"metadata\": "
                             "{\"cubed-write\": \"%s\"}}",
                             o->size, o->version, o->id);
        reply_text(c, r, 200, text);
        free(text);
    } else {
        send_object(c, r, o);
    }
}

/* Returns true if a test has set a reply for such a request. */
static bool is_planned(const connection *c, const request *r, const char *first)
{
    object_server *s = c->s;
    for (int i = 0; i < s->nfaults; i++) {
        answer *a = &s->faults[i];
        if (a->times == 0 || !strstr(first, a->what)) continue;
        a->times--;
        if (a->code)
            reply(c, r, a->code, a->headers, a->body, strlen(a->body));
        else
            shutdown(c->fd, SHUT_RDWR);
        return true;
    }
    for (int i = 0; i < s->nsaid; i++) {
        if (strstr(first, s->said[i].what) == NULL) continue;
        reply_text(c, r, 200, s->said[i].body);
        return true;
    }
    return false;
}

/* Parses the first line of a request. Removes the parts that a service adds before and after the path of an object. */
static void parse(request *r, const char *first)
{
    char target[2 * NAME], value[NAME];
    sscanf(first, "%15s %1023s", r->method, target);
    const size_t n = strcspn(target, "?");
    snprintf(r->query, sizeof r->query, "%s", target[n] ? target + n + 1 : "");
    target[n] = 0;
    char *path = target + 1;
    if (strncmp(path, "upload/", 7) == 0) path += 7;
    r->google = strncmp(path, "storage/v1/b/", 13) == 0;
    r->azure = *header_of(r, "x-ms-version", value) != 0;
    if (r->azure) path = strchr(path, '/') + 1; /* the account */
    if (r->google) {
        path += 13;
        char *o = strstr(path, "/o");
        memmove(o + 1, o + 2 + (o[2] == '/'), strlen(o + 2 + (o[2] == '/')) + 1);
    }
    decode(path);
    snprintf(r->name, sizeof r->name, "%.*s%s", NAME - 1, path,
             r->google ? query_of(r, "name", value) : "");
}

static void answer_one(const connection *c, const request *r)
{
    char value[NAME];
    const bool lists = strcmp(r->method, "GET") == 0 &&
                       (strstr(r->query, "list-type=2") || strstr(r->query, "comp=list") ||
                        (r->google && strstr(r->query, "prefix=")));
    if (is_of_upload(c, r)) return;
    if (lists) {
        list(c, r);
    } else if (strcmp(r->method, "DELETE") == 0) {
        drop(c->s, r->name);
        reply(c, r, r->azure ? 202 : 204, "", "", 0);
    } else if (strcmp(r->method, "POST") == 0 && strstr(r->query, "delete=")) {
        delete_all(c, r);
    } else if (strcmp(r->method, "POST") == 0 && strstr(r->name, "/rewriteTo/")) {
        rewrite(c, r);
    } else if (strcmp(r->method, "PUT") == 0 || (r->google && *query_of(r, "uploadType", value))) {
        if (!copy_from(c, r)) put_object(c, r);
    } else {
        get(c, r);
    }
}

static void note(object_server *s, const char *text)
{
    if (s->nlog == LOG) die("too many requests");
    s->log[s->nlog++] = text_of("%s", text);
}

/* --- Functions: a caller waits until a runtime takes its invocation ---------------------------------- */

static char *copy_of(const char *data, size_t size)
{
    char *copy = malloc(size + 1);
    if (!copy) die("malloc");
    memcpy(copy, data, size);
    copy[size] = 0;
    return copy;
}

/* Waits for an invocation in a state, and returns the first one. Returns NULL when the server closes. */
static invocation *wait_for(object_server *s, int state)
{
    while (!s->closing) {
        for (size_t i = 0; i < sizeof s->invocations / sizeof *s->invocations; i++) {
            if ((int)s->invocations[i].state == state) return &s->invocations[i];
        }
        pthread_cond_wait(&s->changed, &s->lock);
    }
    return NULL;
}

/* Replies with the result of an invocation, or with its bytes if the request is for an endpoint. */
static void reply_result(const connection *c, const request *r, const invocation *i, bool endpoint)
{
    cb_buf bytes;
    cb_buf_init(&bytes, &cb_system_allocator);
    if (!endpoint)
        reply(c, r, 200, i->failed ? "x-amz-function-error: Unhandled\r\n" : "", i->result,
              i->result_size);
    else if (i->failed || cb_told_take_json(i->result, i->result_size, &bytes, NULL) != CUBED_OK)
        reply(c, r, 400, "", i->result, i->result_size);
    else
        reply(c, r, 200, "", bytes.data, bytes.size);
    cb_buf_free(&bytes);
}

/* Passes a request to a runtime. Requests of endpoints have bytes instead of JSON. */
static void invoke(const connection *c, const request *r, bool endpoint)
{
    object_server *s = c->s;
    cb_buf event;
    invocation *i = wait_for(s, FREE);
    if (!i) return;
    cb_buf_init(&event, &cb_system_allocator);
    if (endpoint)
        cb_told_put_json(&event, r->body, r->body_size);
    else
        cb_buf_put(&event, r->body, r->body_size);
    if (event.failed) die("malloc");
    *i = (invocation){.state = ASKED, .event = copy_of(event.data, event.size), .size = event.size};
    cb_buf_free(&event);
    pthread_cond_broadcast(&s->changed);
    while (!s->closing && i->state != ANSWERED) pthread_cond_wait(&s->changed, &s->lock);
    if (i->state == ANSWERED) reply_result(c, r, i, endpoint);
    free(i->event);
    free(i->result);
    *i = (invocation){.state = FREE};
    pthread_cond_broadcast(&s->changed);
}

static void give_next(const connection *c, const request *r)
{
    object_server *s = c->s;
    invocation *i = wait_for(s, ASKED);
    if (!i) {
        reply(c, r, 410, "", "", 0);
        return;
    }
    i->state = TAKEN;
    char *id = text_of("lambda-runtime-aws-request-id: %d\r\n", (int)(i - s->invocations));
    reply(c, r, 200, id, i->event, i->size);
    free(id);
}

static void take_result(const connection *c, const request *r, const char *id)
{
    object_server *s = c->s;
    invocation *i = &s->invocations[strtoul(id, NULL, 10) % 16];
    i->result = copy_of(r->body, r->body_size);
    i->result_size = r->body_size;
    i->failed = strstr(id, "/error") != NULL;
    i->state = ANSWERED;
    pthread_cond_broadcast(&s->changed);
    reply(c, r, 202, "", "", 0);
}

/* Serves a request of the functions' API. Returns false for any other request. */
static bool serve_function(const connection *c, const request *r, const char *first)
{
    const char *at = strstr(first, "/runtime/invocation/");
    if (strstr(first, "/invocations "))
        invoke(c, r, false);
    else if (strncmp(first, "POST /endpoint ", 15) == 0)
        invoke(c, r, true);
    else if (at && strncmp(at + 20, "next", 4) == 0)
        give_next(c, r);
    else if (at)
        take_result(c, r, at + 20);
    else
        return false;
    return true;
}

static bool serve_http(connection *c)
{
    const char *end;
    while (!(end = c->size ? strstr(c->in, "\r\n\r\n") : NULL)) {
        if (!read_more(c)) return false;
    }
    const size_t head = (size_t)(end - c->in) + 4;
    request r = {.head = c->in, .body = c->in + head};
    char value[NAME], first[2 * NAME];
    const size_t body = strtoul(header_of(&r, "content-length", value), NULL, 10);
    if (strcasecmp(header_of(&r, "expect", value), "100-continue") == 0)
        write_all(c->fd, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    while (c->size < head + body) {
        if (!read_more(c)) return false;
    }
    r.head = c->in;
    r.body = c->in + head;
    r.body_size = body;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(c->in, "\r"), c->in);
    pthread_mutex_lock(&c->s->lock);
    note(c->s, c->in);
    parse(&r, first);
    if (!is_planned(c, &r, first) && !serve_function(c, &r, first)) answer_one(c, &r);
    pthread_mutex_unlock(&c->s->lock);
    take(c, head + body);
    return true;
}

/* --- Redis -------------------------------------------------------------------------------------------- */

enum { WORDS = 16 };

typedef struct command {
    char *word[WORDS];
    size_t size[WORDS];
    int n;
} command;

static bool read_number(connection *c, char type, size_t *n)
{
    const char *end;
    while (!(end = c->size ? strstr(c->in, "\r\n") : NULL)) {
        if (!read_more(c)) return false;
    }
    if (c->in[0] != type) die("redis");
    *n = strtoul(c->in + 1, NULL, 10);
    take(c, (size_t)(end - c->in) + 2);
    return true;
}

static bool read_command(connection *c, command *out)
{
    size_t n;
    out->n = 0;
    if (!read_number(c, '*', &n)) return false;
    for (size_t i = 0; i < n && i < WORDS; i++) {
        size_t size;
        if (!read_number(c, '$', &size)) return false;
        while (c->size < size + 2) {
            if (!read_more(c)) return false;
        }
        char *word = malloc(size + 1);
        if (!word) die("malloc");
        memcpy(word, c->in, size);
        word[size] = 0;
        out->word[out->n] = word;
        out->size[out->n++] = size;
        take(c, size + 2);
    }
    return true;
}

static void free_command(command *k)
{
    for (int i = 0; i < k->n; i++) free(k->word[i]);
    k->n = 0;
}

static void say(const connection *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const connection *c, const char *format, ...)
{
    char text[2 * NAME];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    write_all(c->fd, text, (size_t)n);
}

static void say_bytes(const connection *c, const char *data, size_t size)
{
    say(c, "$%zu\r\n", size);
    write_all(c->fd, data, size);
    say(c, "\r\n");
}

/* Does the same as the library's script: puts the value if the stored value begins with the expected version. */
static bool put_if(object_server *s, const command *k)
{
    const object *o = find(s, k->word[3]);
    char version[17] = "", new[17];
    if (o) snprintf(version, sizeof version, "%.*s", (int)o->size, o->data);
    snprintf(new, sizeof new, "%s", k->word[6]);
    const char *match = k->word[4], *none = k->word[5];
    if (strcmp(version, new) != 0) {
        if (*match && strcmp(version, match) != 0) return false;
        if (*none && *version && (strcmp(none, "*") == 0 || strcmp(version, none) == 0))
            return false;
    }
    put(s, k->word[3], k->word[6], k->size[6]);
    return true;
}

static void scan(const connection *c, const command *k)
{
    object_server *s = c->s;
    char prefix[NAME];
    int n = 0;
    /* Names are listed in two pages. The second page begins with the last name of the first page. */
    const bool second = strcmp(k->word[1], "0") != 0;
    size_t size = 0;
    for (const char *at = k->word[3]; *at && !(*at == '*' && !at[1]); at++) {
        if (*at != '\\') prefix[size++] = *at;
    }
    prefix[size] = 0;
    for (int i = 0; i < s->nobjects; i++) n += strncmp(s->objects[i].name, prefix, size) == 0;
    const int half = n / 2, from = second && half > 0 ? half - 1 : half * second;
    const int to = second ? n : half;
    say(c, "*2\r\n$1\r\n%d\r\n*%d\r\n", second ? 0 : 7, to - from);
    for (int i = 0, at = 0; i < s->nobjects; i++) {
        if (strncmp(s->objects[i].name, prefix, size) != 0) continue;
        if (at >= from && at < to) say_bytes(c, s->objects[i].name, strlen(s->objects[i].name));
        at++;
    }
}

static void obey(const connection *c, const command *k)
{
    object_server *s = c->s;
    const char *name = k->word[0];
    const object *o = k->n > 1 ? find(s, k->word[1]) : NULL;
    for (int i = 0; i < s->nfaults; i++) {
        answer *a = &s->faults[i];
        if (a->times == 0 || strcmp(a->what, name) != 0) continue;
        a->times--;
        if (*a->body)
            say(c, "%s\r\n", a->body);
        else
            shutdown(c->fd, SHUT_RDWR);
        return;
    }
    if (strcmp(name, "STRLEN") == 0) {
        say(c, ":%zu\r\n", o ? o->size : 0);
    } else if (strcmp(name, "GETRANGE") == 0) {
        const size_t size = o ? o->size : 0, first = strtoul(k->word[2], NULL, 10);
        size_t end = strtoul(k->word[3], NULL, 10) + 1;
        if (end > size) end = size;
        say_bytes(c, o ? o->data + (first < end ? first : 0) : "", first < end ? end - first : 0);
    } else if (strcmp(name, "SET") == 0) {
        put(s, k->word[1], k->word[2], k->size[2]);
        say(c, "+OK\r\n");
    } else if (strcmp(name, "EVAL") == 0) {
        say(c, ":%d\r\n", put_if(s, k));
    } else if (strcmp(name, "UNLINK") == 0) {
        drop(s, k->word[1]);
        say(c, ":%d\r\n", o != NULL);
    } else if (strcmp(name, "COPY") == 0) {
        say(c, ":%d\r\n", copy(s, k->word[1], k->word[2]));
    } else if (strcmp(name, "SCAN") == 0) {
        scan(c, k);
    } else {
        say(c, "+OK\r\n"); /* AUTH, SELECT */
    }
}

static bool serve_redis(connection *c, command *queue, int *queued)
{
    command k = {.n = 0};
    if (!read_command(c, &k)) {
        free_command(&k);
        return false;
    }
    pthread_mutex_lock(&c->s->lock);
    c->s->redis[c->number] = true;
    note(c->s, k.word[0]);
    if (strcmp(k.word[0], "MULTI") == 0) {
        *queued = 1;
        say(c, "+OK\r\n");
    } else if (strcmp(k.word[0], "EXEC") == 0) {
        say(c, "*%d\r\n", *queued - 1);
        for (int i = 1; i < *queued; i++) {
            obey(c, &queue[i]);
            free_command(&queue[i]);
        }
        *queued = 0;
    } else if (*queued) {
        if (*queued == WORDS) die("too many commands");
        queue[(*queued)++] = k;
        k.n = 0;
        say(c, "+QUEUED\r\n");
    } else {
        obey(c, &k);
    }
    pthread_mutex_unlock(&c->s->lock);
    free_command(&k);
    return true;
}

/* --- Threads ------------------------------------------------------------------------------------------ */

static void *converse(void *arg)
{
    connection *c = arg;
    command queue[WORDS];
    int queued = 0;
    while (c->size || read_more(c)) {
        if (!(c->in[0] == '*' ? serve_redis(c, queue, &queued) : serve_http(c))) break;
    }
    shutdown(c->fd, SHUT_RDWR);
    for (int i = 1; i < queued; i++) free_command(&queue[i]);
    free(c->in);
    free(c);
    return NULL;
}

/* Waits for commands on connections that clients have closed. Redis has one thread, so it executes them before commands of later
 * connections. */
static void end_closed(object_server *s)
{
    for (int i = 0; i < s->nthreads; i++) {
        struct pollfd peer = {.fd = s->fds[i], .events = POLLRDHUP};
        pthread_mutex_lock(&s->lock);
        const bool waits = s->redis[i] && !s->ended[i];
        pthread_mutex_unlock(&s->lock);
        if (!waits || poll(&peer, 1, 0) <= 0) continue;
        pthread_join(s->threads[i], NULL);
        s->ended[i] = true;
    }
}

static void *accept_all(void *arg)
{
    object_server *s = arg;
    for (int fd; (fd = accept(s->fd, NULL, NULL)) >= 0;) {
        connection *c = calloc(1, sizeof *c);
        if (!c || s->nthreads == MOST) die("too many connections");
        const int now = 1;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
        end_closed(s);
        c->s = s;
        c->number = s->nthreads;
        c->fd = s->fds[s->nthreads] = fd;
        if (pthread_create(&s->threads[s->nthreads], NULL, converse, c) != 0) die("pthread_create");
        s->nthreads++;
    }
    return NULL;
}

object_server *object_server_new(void)
{
    object_server *s = calloc(1, sizeof *s);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    if (!s || pthread_mutex_init(&s->lock, NULL) != 0 || pthread_cond_init(&s->changed, NULL) != 0)
        die("no memory");
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&at, size) != 0 || listen(s->fd, 64) != 0 ||
        getsockname(s->fd, (struct sockaddr *)&at, &size) != 0)
        die("no socket");
    s->port = ntohs(at.sin_port);
    if (pthread_create(&s->acceptor, NULL, accept_all, s) != 0) die("pthread_create");
    return s;
}

void object_server_close(object_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void object_server_free(object_server *s)
{
    object_server_close(s);
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->acceptor, NULL);
    for (int i = 0; i < s->nthreads; i++) {
        shutdown(s->fds[i], SHUT_RDWR);
        if (!s->ended[i]) pthread_join(s->threads[i], NULL);
        close(s->fds[i]);
    }
    close(s->fd);
    for (int i = 0; i < s->nobjects; i++) free(s->objects[i].data);
    for (int i = 0; i < s->nlog; i++) free(s->log[i]);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

int object_server_port(const object_server *s) { return s->port; }

void object_server_fail(object_server *s, const char *what, int code, const char *headers,
                        const char *body, int times)
{
    pthread_mutex_lock(&s->lock);
    answer *a = NULL;
    for (int i = 0; i < s->nfaults && !a; i++) {
        if (s->faults[i].times == 0) a = &s->faults[i];
    }
    if (!a) a = &s->faults[s->nfaults++];
    a->code = code;
    a->times = times;
    snprintf(a->what, sizeof a->what, "%s", what);
    snprintf(a->headers, sizeof a->headers, "%s", headers);
    snprintf(a->body, sizeof a->body, "%s", body);
    pthread_mutex_unlock(&s->lock);
}

void object_server_forgive(object_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->nfaults = 0;
    pthread_mutex_unlock(&s->lock);
}

void object_server_say(object_server *s, const char *path, const char *body)
{
    pthread_mutex_lock(&s->lock);
    answer *a = &s->said[s->nsaid++];
    snprintf(a->what, sizeof a->what, "%s", path);
    snprintf(a->body, sizeof a->body, "%s", body);
    pthread_mutex_unlock(&s->lock);
}

int object_server_count(object_server *s, const char *what)
{
    int n = 0;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->nlog; i++) n += strstr(s->log[i], what) != NULL;
    pthread_mutex_unlock(&s->lock);
    return n;
}

void object_server_put(object_server *s, const char *name, const void *data, size_t size)
{
    pthread_mutex_lock(&s->lock);
    put(s, name, data, size);
    pthread_mutex_unlock(&s->lock);
}
