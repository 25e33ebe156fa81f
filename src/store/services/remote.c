#define _GNU_SOURCE
#include "store/services/remote.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/lock.h"
#include "store/core/uri.h"
#include "store/http/http_reply.h"
#include "store/services/remotes.h"

/* Ranges are read in one call if the gap between them is at most JOINED_GAP bytes. Reading these bytes takes at most about as
 * long as a request. */
enum { JOINED_GAP = 64 << 10, OTHERS_CHANGED = 5 };

/* State of one request of the store's user. */
struct cb_remote_job {
    cb_remote *s;
    cubed_store_request *r;
    /* client that sends all of the job's calls; only its thread accesses the job between the calls */
    cb_http *http;
    cb_remote_job *next, *before;
    size_t size;          /* size of this struct including the arrays */
    size_t ncalls, left;  /* left: number of calls in flight */
    size_t nparts, nsent; /* nparts: number of parts of an upload; 0: no upload */
    size_t at;            /* index of the first call in flight */
    cb_remote_call *calls;
    cb_http_piece *pieces;
    const cubed_range **order;
    bool first_alone; /* the other calls wait for the version that the first call reads */
    int restarts;
    cubed_status status;
    cubed_error err;
    cubed_object_info info; /* known properties of the object; size UINT64_MAX: unknown */
};

static const char *verb(cb_remote_what what)
{
    static const char *const verbs[] = {[CB_REMOTE_GET] = "get",
                                        [CB_REMOTE_HEAD] = "head",
                                        [CB_REMOTE_PUT] = "put",
                                        [CB_REMOTE_CHECK] = "put",
                                        [CB_REMOTE_DELETE] = "delete",
                                        [CB_REMOTE_DELETE_MANY] = "delete",
                                        [CB_REMOTE_LIST] = "list",
                                        [CB_REMOTE_COPY] = "copy to",
                                        [CB_REMOTE_CREATE] = "put",
                                        [CB_REMOTE_PART] = "put",
                                        [CB_REMOTE_COMPLETE] = "put",
                                        [CB_REMOTE_ABORT] = "end the upload of",
                                        [CB_REMOTE_UPLOADS] = "list uploads of"};
    return verbs[what];
}

/* --- Conversion of requests to calls ------------------------------------------------------------------ */

static int by_offset(const void *a, const void *b)
{
    const cubed_range *x = *(const cubed_range *const *)a, *y = *(const cubed_range *const *)b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static uint64_t end_of(const cubed_range *r)
{
    uint64_t end;
    return __builtin_add_overflow(r->offset, (uint64_t)r->size, &end) ? UINT64_MAX : end;
}

/* Returns true if the range is so close after `end` that the same call reads it. */
static bool is_close(const cubed_range *r, uint64_t end)
{
    return r->offset != CUBED_RANGE_SUFFIX && end != CUBED_RANGE_SUFFIX && r->offset >= end &&
           r->offset - end <= JOINED_GAP;
}

static void set_range(cb_remote_call *c)
{
    const cb_http_piece *first = c->pieces, *last = first + c->npieces - 1;
    if (first->offset == CUBED_RANGE_SUFFIX)
        snprintf(c->range, sizeof c->range, "bytes=-%zu", first->size);
    else
        snprintf(c->range, sizeof c->range, "bytes=%" PRIu64 "-%" PRIu64, first->offset,
                 last->offset + last->size - 1);
}

/* Plans the calls for the ranges of a get. Each call reads ranges that are close together. */
static void plan_ranges(cb_remote_job *j)
{
    const cubed_store_request *r = j->r;
    size_t n = 0, at = 0;
    uint64_t end = CUBED_RANGE_SUFFIX;
    for (size_t i = 0; i < r->nranges; i++) {
        if (r->ranges[i].size > 0) j->order[n++] = &r->ranges[i];
    }
    qsort(j->order, n, sizeof *j->order, by_offset);
    j->ncalls = 0;
    for (size_t i = 0; i < n; i++) {
        cb_remote_call *c = j->ncalls ? &j->calls[j->ncalls - 1] : NULL;
        if (!c || !is_close(j->order[i], end)) {
            c = &j->calls[j->ncalls++];
            c->pieces = &j->pieces[i];
            c->npieces = 0;
        }
        j->pieces[i] = (cb_http_piece){.offset = j->order[i]->offset, .size = j->order[i]->size};
        c->npieces++;
        end = j->order[i]->offset == CUBED_RANGE_SUFFIX ? CUBED_RANGE_SUFFIX : end_of(j->order[i]);
    }
    /* The destination of each range follows from its position in the caller's list. */
    for (size_t i = 0; i < r->nranges; at += r->ranges[i++].size) {
        for (size_t k = 0; k < n; k++) {
            if (j->order[k] == &r->ranges[i]) j->pieces[k].dst = (char *)r->dst + at;
        }
    }
    for (size_t i = 0; i < j->ncalls; i++) set_range(&j->calls[i]);
}

/* Returns the number of parts of an upload, or 0 if the request is not an upload in parts. */
static size_t count_parts(const cb_remote *s, const cubed_store_request *r)
{
    if (r->op != CUBED_STORE_PUT || !s->uploads.from || r->size <= s->uploads.from) return 0;
    if (!s->dialect->conditional_uploads && (r->if_match || r->if_none_match)) return 0;
    return (r->size - 1) / cb_remote_part_size(s->uploads.part, r->size) + 1;
}

static size_t most_calls(const cb_remote *s, const cubed_store_request *r)
{
    const size_t batch = s->dialect->most_deleted, parts = count_parts(s, r);
    if (parts) return parts + 3; /* three further calls: begin, complete and abort */
    if (r->op == CUBED_STORE_GET && r->nranges) return r->nranges;
    return r->op == CUBED_STORE_DELETE ? (r->nkeys + batch - 1) / batch : 1;
}

static cb_http_ready prepare(cb_http_call *http);
static cb_http_verdict judge(cb_http_call *http);
static void done(cb_http_call *http);

static void plan_get(cb_remote_job *j)
{
    const cubed_store_request *r = j->r;
    cb_remote_call *c = j->calls;
    if (r->nranges) plan_ranges(j);
    if (!r->nranges) {
        j->pieces[0] = (cb_http_piece){.size = r->cap, .dst = r->dst};
        c->pieces = j->pieces;
        c->npieces = 1;
        c->whole = true;
    } else if (j->ncalls == 0) { /* all ranges are empty: only the object's info is requested */
        j->ncalls = 1;
        c->what = CB_REMOTE_HEAD;
    }
    j->first_alone = j->ncalls > 1 && !r->if_match;
}

static void plan_upload(cb_remote_job *j)
{
    const cubed_store_request *r = j->r;
    const size_t n = j->nparts, part = cb_remote_part_size(j->s->uploads.part, r->size);
    for (size_t i = 0; i < n + 3; i++) {
        cb_remote_call *c = &j->calls[i];
        c->what = i == 0       ? CB_REMOTE_CREATE
                  : i <= n     ? CB_REMOTE_PART
                  : i == n + 1 ? CB_REMOTE_COMPLETE
                               : CB_REMOTE_ABORT;
        c->key = r->key;
        c->upload = j->calls;
        c->part = i;
        c->nparts = n;
        if (c->what != CB_REMOTE_PART) continue;
        c->http.body = (const char *)r->src + (i - 1) * part;
        c->http.body_size = cb_min_size(part, r->size - (i - 1) * part);
    }
    j->calls[n + 1].if_match = r->if_match;
    j->calls[n + 1].if_none_match = r->if_none_match;
}

static void plan_calls(cb_remote_job *j)
{
    static const cb_remote_what kinds[] = {[CUBED_STORE_GET] = CB_REMOTE_GET,
                                           [CUBED_STORE_PUT] = CB_REMOTE_PUT,
                                           [CUBED_STORE_LIST] = CB_REMOTE_LIST,
                                           [CUBED_STORE_HEAD] = CB_REMOTE_HEAD,
                                           [CUBED_STORE_DELETE] = CB_REMOTE_DELETE};
    const cubed_store_request *r = j->r;
    const size_t batch = j->s->dialect->most_deleted;
    if (j->nparts) {
        plan_upload(j);
        return;
    }
    for (size_t i = 0; i < j->ncalls; i++) {
        cb_remote_call *c = &j->calls[i];
        c->what = kinds[r->op];
        c->key = r->key;
        c->if_match = r->if_match;
        c->if_none_match = r->if_none_match;
        if (r->op == CUBED_STORE_PUT) {
            c->http.body = r->src;
            c->http.body_size = r->size;
        } else if (r->op == CUBED_STORE_DELETE) {
            c->keys = r->keys + i * batch;
            c->versions = r->versions ? r->versions + i * batch : NULL;
            c->nkeys = cb_min_size(r->nkeys - i * batch, batch);
            c->key = c->keys[0];
            c->what = c->nkeys > 1 ? CB_REMOTE_DELETE_MANY : CB_REMOTE_DELETE;
            if (c->versions) c->if_match = c->versions[0];
            c->looked = r->looked;
        }
    }
    if (r->op == CUBED_STORE_GET) plan_get(j);
}

static void free_job(cb_remote_job *j, size_t ncalls)
{
    const cubed_allocator *a = j->s->head.alloc;
    for (size_t i = 0; i < ncalls; i++) {
        cb_http_call_free(&j->calls[i].http);
        cb_buf_free(&j->calls[i].body);
    }
    cb_free(a, j, j->size);
}

/* Creates a job. An internal request has a single call, whose kind is `what`. For other requests, `what` is CB_REMOTE_GET, and
 * the calls follow from the request. */
static cubed_status new_job(cb_remote *s, cubed_store_request *r, cb_remote_what what,
                            const char *source, cb_remote_job **out, cubed_error *err)
{
    static const cb_http_functions functions = {prepare, judge, done};
    const size_t n = most_calls(s, r);
    size_t size, each = sizeof(cb_remote_call) + sizeof(cb_http_piece) + sizeof(cubed_range *);
    cb_remote_job *j = cb_mul_size(n, each, &size) || cb_add_size(size, sizeof *j, &size)
                           ? NULL
                           : cb_alloc_zero(s->head.alloc, size);
    if (!j) return cb_fail(err, CUBED_E_NOMEM, "no memory for a request");
    j->s = s;
    j->r = r;
    j->size = size;
    j->ncalls = n;
    j->nparts = count_parts(s, r);
    j->calls = (cb_remote_call *)(j + 1);
    j->pieces = (cb_http_piece *)(j->calls + n);
    j->order = (const cubed_range **)(j->pieces + n);
    j->info.size = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        cb_remote_call *c = &j->calls[i];
        c->job = j;
        c->store = s;
        c->request = r;
        cb_http_call_init(&c->http, s->head.alloc);
        cb_buf_init(&c->body, s->head.alloc);
        c->http.fns = &functions;
        c->http.follows = !s->dialect->writes;
        c->http.way = s->way;
        c->http.throttle = s->throttle;
        c->http.connect_ms = s->connect_ms;
        c->http.stall_ms = s->stall_ms;
        c->http.refused_ms = s->refused_ms;
    }
    plan_calls(j);
    if (what != CB_REMOTE_GET) j->calls->what = what;
    j->calls->source = source;
    cubed_status st = CUBED_OK;
    for (size_t i = 0; i < j->ncalls && st == CUBED_OK && s->dialect->begin; i++)
        st = s->dialect->begin(s, &j->calls[i], err);
    if (st != CUBED_OK) {
        free_job(j, n);
        return st;
    }
    *out = j;
    return CUBED_OK;
}

/* --- Completing requests ------------------------------------------------------------------------------ */

static void unlink_job(cb_remote_job *j)
{
    cb_remote *s = j->s;
    cb_mutex_lock(&s->lock);
    if (j->before)
        j->before->next = j->next;
    else
        s->jobs = j->next;
    if (j->next) j->next->before = j->before;
    cb_mutex_unlock(&s->lock);
}

static void complete(cb_remote_job *j)
{
    cb_remote *s = j->s;
    cubed_store_request *r = j->r;
    const size_t n = most_calls(s, r);
    unlink_job(j);
    r->status = j->status;
    if (j->status != CUBED_OK && r->err) *r->err = j->err;
    if (j->info.size != UINT64_MAX) r->info = j->info;
    r->complete(r); /* `r` may be freed after this */
    free_job(j, n);
    cb_mutex_lock(&s->lock);
    if (--s->njobs == 0) cb_cond_broadcast(&s->idle);
    cb_mutex_unlock(&s->lock);
}

/* Sends calls `from` to `to` - 1. The job may be freed when this returns. */
static void send(cb_remote_job *j, size_t from, size_t to)
{
    cb_http *http = j->http;
    cb_remote_call *calls = j->calls;
    j->left = to - from;
    for (size_t i = from; i < to; i++) cb_http_submit(http, &calls[i].http);
}

/* Sends a step of an upload: its beginning, parts, or end. */
static void send_step(cb_remote_job *j, size_t at)
{
    j->at = at;
    j->nsent = cb_min_size(j->nparts, CB_REMOTE_PARTS_AT_ONCE);
    send(j, at, at + (at == 1 ? j->nsent : 1));
}

static void send_first(cb_remote_job *j)
{
    if (j->nparts)
        send_step(j, j->s->dialect->read_uploads ? 0 : 1);
    else
        send(j, 0, j->first_alone ? 1 : j->ncalls);
}

static bool is_condition(const cb_remote_call *c, cubed_status st)
{
    return st == CUBED_E_EXISTS && c->what == CB_REMOTE_GET && !c->job->r->if_match &&
           !c->job->r->if_none_match;
}

/* Repeats the whole request, because the object was replaced between two calls. Returns false after too many
 * repetitions. */
static bool restart(cb_remote_job *j)
{
    if (j->restarts++ == OTHERS_CHANGED) return false;
    j->status = CUBED_OK;
    j->info = (cubed_object_info){.size = UINT64_MAX};
    j->first_alone = j->ncalls > 1;
    for (size_t i = 0; i < j->ncalls; i++) {
        j->calls[i].if_match = NULL;
        j->calls[i].http.attempts = 0;
    }
    send_first(j);
    return true;
}

static void note_failure(cb_remote_job *j, const cb_remote_call *c)
{
    if (j->status != CUBED_OK) return;
    j->status = c->http.status;
    j->err = c->http.error;
    j->err.status = j->status;
    if (j->status == CUBED_E_NOT_FOUND && *c->key)
        (void)cb_fail(&j->err, j->status, "%s has no %s", j->s->head.url, c->key);
    else if (j->status == CUBED_E_NOT_FOUND)
        (void)cb_fail(&j->err, j->status, "%s: the reply is 404, expected a bucket that exists",
                      j->s->head.url);
    else
        (void)cb_context(&j->err, j->status, "%s: %s%s%s", j->s->head.url, verb(c->what),
                         *c->key ? " " : "", c->key);
}

/* Cancels the remaining parts of a failed upload. */
static void give_up_parts(cb_remote_job *j)
{
    for (size_t i = 1; i <= j->nparts; i++) atomic_store(&j->calls[i].http.cancelled, true);
    cb_http_look_at_cancelled(j->http);
}

/* Sends the next step of an upload: begin, parts, then complete, or abort after a failure. If the dialect has no uploads to
 * abort, unused parts stay until the service deletes them. Returns false after the last step. */
static bool continue_upload(cb_remote_job *j)
{
    const size_t last = j->nparts + 1, was = j->at;
    const bool failed = j->status != CUBED_OK;
    if (was > last || (was == last && !failed) ||
        (failed && (was == 0 || !j->s->dialect->read_uploads)))
        return false;
    send_step(j, failed ? last + 1 : was == 0 ? 1 : last);
    return true;
}

/* Sends the next part of an upload when one part is complete. */
static void send_next_part(cb_remote_job *j)
{
    if (j->at != 1 || j->status != CUBED_OK || j->nsent == j->nparts) return;
    j->left++;
    cb_http_submit(j->http, &j->calls[++j->nsent].http);
}

static void done(cb_http_call *http)
{
    cb_remote_call *c = (cb_remote_call *)http;
    cb_remote_job *j = c->job;
    if (http->status != CUBED_OK) {
        if (is_condition(c, http->status)) http->error.transient = true;
        if (c->what == CB_REMOTE_PART && j->status == CUBED_OK) give_up_parts(j);
        note_failure(j, c);
    }
    send_next_part(j);
    if (--j->left > 0) return;
    if (j->nparts && continue_upload(j)) return;
    if (is_condition(c, j->status) && restart(j)) return;
    if (is_condition(c, j->status) && j->s->dialect->if_changing)
        cb_note(&j->err, "; %s", j->s->dialect->if_changing);
    if (j->status == CUBED_OK && j->first_alone) {
        j->first_alone = false;
        for (size_t i = 1; i < j->ncalls; i++)
            j->calls[i].if_match = *j->info.version.text ? j->info.version.text : NULL;
        send(j, 1, j->ncalls);
        return;
    }
    complete(j);
}

/* --- Replies ------------------------------------------------------------------------------------------ */

static cb_http_ready prepare(cb_http_call *http)
{
    cb_remote_call *c = (cb_remote_call *)http;
    cb_remote_job *j = c->job;
    /* An earlier reply may have replaced a range that counts from the end by a fixed range. A retry needs the original range. */
    if (c->what == CB_REMOTE_GET && *c->range == 'b' && c->range[6] == '-') {
        c->pieces->offset = CUBED_RANGE_SUFFIX;
        c->pieces->size = strtoull(c->range + 7, NULL, 10);
    }
    const bool gets = c->what == CB_REMOTE_GET;
    const bool lists = c->what == CB_REMOTE_LIST || c->what == CB_REMOTE_UPLOADS ||
                       c->what == CB_REMOTE_DELETE_MANY;
    http->most_text = lists ? CB_HTTP_MOST_LISTING : 0;
    http->patient = c->what == CB_REMOTE_COPY || c->what == CB_REMOTE_COMPLETE;
    http->pieces = gets ? c->pieces : NULL;
    http->npieces = gets ? c->npieces : 0;
    http->whole = gets && c->whole;
    return j->s->dialect->prepare(j->s, c);
}

static void read_fault(const cb_remote_call *c, cb_remote_fault *f)
{
    const cb_dialect *d = c->job->s->dialect;
    if (d->read_fault)
        d->read_fault(c, f);
    else
        cb_remote_read_fault(&c->http, f);
    for (char *at = f->message; *at; at++) {
        if (*at == '\n' || *at == '\r') *at = ' ';
    }
}

static bool is_code(const cb_remote_fault *f, const char *const *codes)
{
    while (*codes && strcmp(f->code, *codes) != 0) codes++;
    return *codes != NULL;
}

/* Returns true if the service refused the request because of the rate of requests. A reply of S3 to HEAD contains no code. */
static bool is_throttled(const cb_remote_call *c, const cb_remote_fault *f)
{
    const int code = c->http.code;
    static const char *const codes[] = {"SlowDown", "ServerBusy", "RequestLimitExceeded",
                                        "Throttling", NULL};
    return code == 429 || is_code(f, codes) || (code == 503 && c->what == CB_REMOTE_HEAD);
}

static bool may_be_transient(int code, const cb_remote_fault *f)
{
    static const char *const codes[] = {"RequestTimeout", "InternalError", "ServiceUnavailable",
                                        "OperationTimedOut", NULL};
    return is_code(f, codes) || code == 408 || code == 500 || code == 502 || code == 503 ||
           code == 504;
}

static cubed_status fail_with(cb_remote_call *c, const cb_remote_fault *f)
{
    const cb_remote *s = c->job->s;
    const int code = c->http.code;
    cubed_error *err = &c->http.error;
    const char *advice = s->dialect->advice ? s->dialect->advice(s, code, f) : NULL;
    const char *type = cb_http_header(&c->http, "content-type");
    const bool page = type && strncasecmp(type, "text/html", 9) == 0;
    c->http.status =
        cb_fail(err, CUBED_E_IO, "the reply is %d%s%s%s%s%s", code, *f->code ? " " : "", f->code,
                *f->message ? " (" : "", f->message, *f->message ? ")" : "");
    if (page) cb_note(err, ", an HTML page: check the address, and whether a proxy answers");
    if (!advice && code == 401) advice = "the server requires credentials: give them";
    if (!advice && code == 403)
        advice = "these credentials do not permit it: check credentials and rights";
    if (!advice && code == 407) advice = "the proxy requires a user and a password";
    if (advice) cb_note(err, ": %s", advice);
    return c->http.status;
}

static cb_http_verdict passing(cb_remote_call *c, const char *what)
{
    c->http.status = cb_fail(&c->http.error, CUBED_E_IO, "%s", what);
    return CB_HTTP_LATER;
}

/* Returns true if the reply belongs to the object version being read. Records the object's info. */
static bool is_expected(cb_remote_call *c, const cubed_object_info *info)
{
    cb_remote_job *j = c->job;
    const cubed_store_request *r = j->r;
    if (j->info.size == UINT64_MAX) j->info = *info;
    if (j->info.size == UINT64_MAX && *info->version.text) j->info.version = info->version;
    const bool known = *info->version.text;
    c->http.status = CUBED_E_EXISTS;
    (void)cb_fail(&c->http.error, CUBED_E_EXISTS,
                  "the object has another version than expected, or exists");
    if (known && !cubed_store_allows(r, info->version.text)) return false;
    if (known && strcmp(j->info.version.text, info->version.text) != 0) return false;
    if (info->size != UINT64_MAX && j->info.size != info->size) return false;
    c->http.status = CUBED_OK;
    return true;
}

/* Returns true if the requested pieces were received, except bytes beyond the object's end. */
static bool has_all(const cb_remote_call *c)
{
    for (size_t i = 0; i < c->npieces; i++) {
        const cb_http_piece *p = &c->pieces[i];
        const cubed_range there =
            cubed_range_within((cubed_range){p->offset, p->size}, c->http.total);
        if (p->got < there.size) return false;
    }
    return true;
}

/* Returns true if the reply contains an object as stored. */
static bool is_object(cb_remote_call *c)
{
    const char *type = cb_http_header(&c->http, "content-type");
    const char *coding = cb_http_header(&c->http, "content-encoding");
    const bool reads_only = !c->job->s->dialect->writes;
    c->http.status = CUBED_OK;
    if (c->what == CB_REMOTE_GET && c->http.code != 200 && c->http.code != 206) {
        c->http.status =
            cb_fail(&c->http.error, CUBED_E_IO,
                    "the reply is %d, expected 200 or 206 with the object", c->http.code);
        return false;
    }
    /* Reject HTML, because chunks and metadata never have this type. It is a page of a proxy that asks for a login, or of a
     * server with one page for all paths. */
    if (type && strncasecmp(type, "text/html", 9) == 0 && (reads_only || c->what == CB_REMOTE_GET))
        c->http.status = cb_fail(&c->http.error, CUBED_E_IO,
                                 "the reply is %d and an HTML page (%.60s): check the address, and "
                                 "whether a proxy answers",
                                 c->http.code, type);
    else if (coding && *coding && reads_only && strcasecmp(coding, "identity") != 0)
        c->http.status =
            cb_fail(&c->http.error, CUBED_E_IO,
                    "the reply has the content-encoding %.60s, expected none "
                    "(accept-encoding is identity): have the server send the object as "
                    "it is stored",
                    coding);
    return c->http.status == CUBED_OK;
}

/* Gets the version from a reply, and records its kind. */
static void tell(const cb_remote_call *c, cubed_object_info *info)
{
    cb_remote *s = c->job->s;
    cubed_validator known = atomic_load(&s->validator), now = CUBED_VALIDATOR_VERSION;
    s->dialect->tell(c, info);
    if (!*info->version.text)
        now = CUBED_VALIDATOR_NONE;
    else if (s->dialect->judge_version)
        now = s->dialect->judge_version(info->version.text);
    while (now > known && !atomic_compare_exchange_weak(&s->validator, &known, now)) {
    }
}

cubed_validator cb_remote_validator(const cb_remote *s) { return atomic_load(&s->validator); }

static cb_http_verdict take_get(cb_remote_call *c)
{
    cubed_object_info info = {.size = c->http.total,
                              .modified = cb_http_date(&c->http, "last-modified")};
    if (!is_object(c)) return CB_HTTP_DONE;
    /* Without a content length the object ends with the reply. */
    if (info.size == UINT64_MAX) info.size = c->http.total = c->http.at;
    tell(c, &info);
    info.size = c->http.total;
    if (!is_expected(c, &info) || c->http.too_long) return CB_HTTP_DONE;
    if (!has_all(c)) return passing(c, "the reply ended before its length");
    if (c->job->s->dialect->is_whole && !c->job->s->dialect->is_whole(c))
        return passing(c, "the bytes do not have the checksum that the store has for them");
    for (size_t i = 0; i < c->npieces; i++) c->job->r->got += c->pieces[i].got;
    return CB_HTTP_DONE;
}

static cb_http_verdict take_head(cb_remote_call *c)
{
    cubed_object_info info = {.size = UINT64_MAX,
                              .modified = cb_http_date(&c->http, "last-modified"),
                              .replied = cb_http_date(&c->http, "date")};
    cb_remote *s = c->job->s;
    const bool probed = c->http.npieces > 0;
    if (!is_object(c)) return CB_HTTP_DONE;
    if (!probed && c->http.length <= 0 && s->dialect->probe && s->dialect->probe(s, c))
        return CB_HTTP_AGAIN;
    if (probed)
        info.size = c->http.total != UINT64_MAX ? c->http.total : c->http.at;
    else if (c->http.length >= 0)
        info.size = (uint64_t)c->http.length;
    tell(c, &info);
    if (info.size == UINT64_MAX) {
        c->http.status = cb_fail(&c->http.error, CUBED_E_IO,
                                 "the reply does not report the object's size (content-length)");
        return CB_HTTP_DONE;
    }
    if (!is_expected(c, &info)) return CB_HTTP_DONE;
    /* When the range was refused, it was beyond the end of the object. If it is within the object now, the object has changed. */
    if (c->pieces && c->pieces->offset != CUBED_RANGE_SUFFIX && c->pieces->offset < info.size) {
        c->what = CB_REMOTE_GET;
        return passing(c, "the object has changed while it was read");
    }
    return CB_HTTP_DONE;
}

/* Sets the error of a put: the stored object is not the object of this call, or there is no object. */
static cb_http_verdict not_own(cb_remote_call *c)
{
    const bool lost = c->upload && (c->ended || (!c->if_match && !c->if_none_match));
    c->http.status = cb_fail(&c->http.error, lost ? CUBED_E_IO : CUBED_E_EXISTS,
                             lost ? "another process or a rule of the bucket ended the upload"
                                  : "the object has another version than expected, or exists");
    c->http.error.transient = lost; /* a retry begins a new upload, so it may succeed */
    return CB_HTTP_DONE;
}

static cb_http_verdict take_put(cb_remote_call *c)
{
    const cb_dialect *d = c->job->s->dialect;
    c->job->info.size = c->job->r->size;
    d->tell(c, &c->job->info);
    c->job->info.size = c->job->r->size;
    if (c->what == CB_REMOTE_CHECK && !d->is_own(c)) return not_own(c);
    return CB_HTTP_DONE;
}

static cb_http_verdict other_than_expected(cb_remote_call *c);

static cb_http_verdict take_deleted(cb_remote_call *c)
{
    cb_remote_fault f = {"", ""};
    bool changed = false;
    c->job->s->dialect->read_deleted(c, &f, &changed);
    if (changed) return other_than_expected(c);
    if (!*f.code) return CB_HTTP_DONE;
    (void)fail_with(c, &f);
    return is_throttled(c, &f)                  ? CB_HTTP_THROTTLED
           : may_be_transient(c->http.code, &f) ? CB_HTTP_LATER
                                                : CB_HTTP_DONE;
}

static cb_http_verdict take(cb_remote_call *c)
{
    cb_remote *s = c->job->s;
    switch (c->what) {
    case CB_REMOTE_GET: return take_get(c);
    case CB_REMOTE_HEAD: return take_head(c);
    case CB_REMOTE_CHECK:
    case CB_REMOTE_PUT: return take_put(c);
    case CB_REMOTE_LIST:
        c->http.status = s->dialect->read_page(s, c, c->job->r, &c->http.error);
        return CB_HTTP_DONE;
    case CB_REMOTE_DELETE_MANY: return take_deleted(c);
    case CB_REMOTE_COPY:
        return s->dialect->judge_copy ? s->dialect->judge_copy(s, c) : CB_HTTP_DONE;
    case CB_REMOTE_CREATE:
    case CB_REMOTE_PART:
        if (s->dialect->read_upload && !s->dialect->read_upload(c))
            c->http.status = c->body.failed
                                 ? cb_fail(&c->http.error, CUBED_E_NOMEM, "no memory for a request")
                                 : cb_fail(&c->http.error, CUBED_E_IO,
                                           "the reply is not a reply to an upload in parts");
        return CB_HTTP_DONE;
    case CB_REMOTE_COMPLETE: return take_put(c);
    case CB_REMOTE_UPLOADS:
        c->http.status = s->dialect->read_uploads(s, c, c->job->r, &c->http.error);
        return CB_HTTP_DONE;
    case CB_REMOTE_ABORT:
    case CB_REMOTE_DELETE: break;
    }
    return CB_HTTP_DONE;
}

static bool puts_object(const cb_remote_call *c)
{
    return c->what == CB_REMOTE_PUT || c->what == CB_REMOTE_COMPLETE;
}

static cb_http_verdict other_than_expected(cb_remote_call *c)
{
    /* The object may come from this call: the reply to an earlier attempt was lost, or libcurl repeated a request after a reused
     * connection was closed. */
    if (puts_object(c) && *c->id) {
        c->what = CB_REMOTE_CHECK;
        return CB_HTTP_AGAIN;
    }
    c->http.status = cb_fail(&c->http.error, CUBED_E_EXISTS,
                             "the object has another version than expected, or exists");
    return CB_HTTP_DONE;
}

/* Returns true if "not found" refers to the object, and not to the bucket or the account. */
static bool is_of_object(const cb_remote_fault *f)
{
    static const char *const codes[] = {"", "NoSuchKey", "NotFound", "BlobNotFound"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (strcmp(f->code, codes[i]) == 0) return true;
    }
    return false;
}

static cb_http_verdict not_found(cb_remote_call *c, const cb_remote_fault *f)
{
    if (!is_of_object(f) || c->what == CB_REMOTE_LIST) {
        (void)fail_with(c, f);
        return CB_HTTP_DONE;
    }
    if (c->what == CB_REMOTE_DELETE || c->what == CB_REMOTE_ABORT) return CB_HTTP_DONE;
    if (c->what == CB_REMOTE_CHECK || (puts_object(c) && c->if_match)) {
        c->what = CB_REMOTE_PUT;
        return not_own(c);
    }
    if (puts_object(c) || c->what == CB_REMOTE_CREATE || c->what == CB_REMOTE_PART) {
        (void)fail_with(c, f);
        return CB_HTTP_DONE;
    }
    c->http.status = CUBED_E_NOT_FOUND;
    return CB_HTTP_DONE;
}

static cb_http_verdict judge(cb_http_call *http)
{
    cb_remote_call *c = (cb_remote_call *)http;
    cb_remote *s = c->job->s;
    cb_remote_fault f = {"", ""};
    http->status = CUBED_OK;
    if (http->code >= 200 && http->code < 300) {
        /* These calls may report a failure in the body of a successful reply. */
        if (c->what == CB_REMOTE_COPY || c->what == CB_REMOTE_COMPLETE) read_fault(c, &f);
        if (!*f.code) return take(c);
    } else {
        read_fault(c, &f);
    }
    const cb_http_verdict way = s->dialect->repair ? s->dialect->repair(s, c, &f) : CB_HTTP_DONE;
    if (way == CB_HTTP_AGAIN && c->repairs++ < 4) return CB_HTTP_AGAIN;
    if (is_throttled(c, &f)) {
        (void)fail_with(c, &f);
        return CB_HTTP_THROTTLED;
    }
    if (way == CB_HTTP_LATER || may_be_transient(http->code, &f)) {
        (void)fail_with(c, &f);
        return CB_HTTP_LATER;
    }
    if (c->what == CB_REMOTE_COMPLETE &&
        (strcmp(f.code, "NoSuchUpload") == 0 || strcmp(f.code, "InvalidBlockList") == 0)) {
        c->ended = true;
        return other_than_expected(c);
    }
    switch (http->code) {
    case 304:
    case 412: return other_than_expected(c);
    case 404: return not_found(c, &f);
    case 409:
        if (!puts_object(c) || !(c->if_match || c->if_none_match)) break;
        (void)fail_with(c, &f);
        return CB_HTTP_LATER;
    case 416:
        /* A GET of one byte that replaces a HEAD fails for an empty object, which has no first byte. */
        if (c->what == CB_REMOTE_HEAD && http->npieces) {
            uint64_t first, last;
            if (!cb_http_range(cb_http_header(http, "content-range"), &first, &last,
                               &http->total) ||
                first != UINT64_MAX)
                http->total = 0;
            return take_head(c);
        }
        if (c->what != CB_REMOTE_GET) break;
        c->what = CB_REMOTE_HEAD;
        return CB_HTTP_AGAIN;
    default: break;
    }
    (void)fail_with(c, &f);
    return CB_HTTP_DONE;
}

/* --- Vtable ------------------------------------------------------------------------------------------- */

/* Sets the throttle. Services count requests by prefix, but do not report the length of prefixes. The first folder is a good
 * guess. */
static cubed_status find_throttle(cb_remote *s, cubed_error *err)
{
    char name[1024];
    const char *bucket = strstr(s->head.url, "://") + 3, *folder = bucket + strcspn(bucket, "/");
    folder += *folder == '/';
    const int n = (int)(folder - s->head.url + (ptrdiff_t)strcspn(folder, "/"));
    snprintf(name, sizeof name, "%.*s", n, s->head.url);
    return cb_net_throttle(s->net, name, CB_HTTP_MOST, &s->throttle, err);
}

/* Forgets the requests of the parent after a fork. */
static void forget_requests(cb_remote *s) CB_UNCHECKED_LOCKS
{
    if (!cb_adopted_begin(&s->process)) return;
    s->jobs = NULL;
    s->njobs = 0;
    s->throttle = NULL;
    (void)find_throttle(s, NULL); /* if out of memory, there is no limit */
    cb_mutex_init(&s->lock);
    cb_cond_init(&s->idle);
    cb_adopted_end(&s->process);
}

static cubed_status check(const cb_remote *s, const cubed_store_request *r, cubed_error *err)
{
    const bool writes = r->op == CUBED_STORE_PUT || r->op == CUBED_STORE_DELETE;
    if (writes && !s->dialect->writes)
        return cb_fail(err, CUBED_E_UNSUPPORTED, "%s: stores of scheme %s are read only",
                       s->head.url, s->head.vt->scheme);
    if (r->op == CUBED_STORE_LIST && !s->dialect->lists)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s: stores of scheme %s cannot be listed; arrays in them are read by name, "
                       "groups if their metadata is consolidated",
                       s->head.url, s->head.vt->scheme);
    return CUBED_OK;
}

static void begin(cb_remote_job *j)
{
    cb_remote *s = j->s;
    cb_mutex_lock(&s->lock);
    j->next = s->jobs;
    if (s->jobs) s->jobs->before = j;
    s->jobs = j;
    s->njobs++;
    cb_mutex_unlock(&s->lock);
    j->status = cb_net_http(s->net, &j->http, &j->err);
    if (j->status == CUBED_OK)
        send_first(j);
    else
        complete(j);
}

void cb_remote_submit(cubed_store *store, cubed_store_request *const *requests, size_t n)
{
    cb_remote *s = (cb_remote *)store;
    forget_requests(s);
    for (size_t i = 0; i < n; i++) {
        cubed_store_request *r = requests[i];
        cb_remote_job *j = NULL;
        r->got = 0;
        r->status = check(s, r, r->err);
        if (r->status == CUBED_OK && !(r->op == CUBED_STORE_DELETE && r->nkeys == 0))
            r->status = new_job(s, r, CB_REMOTE_GET, NULL, &j, r->err);
        if (!j) {
            r->complete(r);
            continue;
        }
        begin(j);
    }
}

/* --- Internal requests -------------------------------------------------------------------------------- */

typedef struct waiting {
    cb_mutex lock;
    cb_cond over;
    size_t left CB_GUARDED_BY(&lock);
    /* one error per request, because requests may write their errors concurrently */
    cubed_error errors[CB_REMOTE_AT_ONCE];
} waiting;

static void one_is_done(cubed_store_request *r)
{
    waiting *x = r->data;
    cb_mutex_lock(&x->lock);
    if (--x->left == 0) cb_cond_signal(&x->over);
    cb_mutex_unlock(&x->lock);
}

cubed_status cb_remote_do(cb_remote *s, cb_remote_what what, cubed_store_request *requests,
                          const char *const *sources, size_t n, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    forget_requests(s);
    waiting *x = cb_alloc_zero(s->head.alloc, sizeof *x);
    if (!x) return cb_fail(err, CUBED_E_NOMEM, "no memory for requests");
    cb_mutex_init(&x->lock);
    cb_cond_init(&x->over);
    cb_mutex_lock(&x->lock);
    x->left = n;
    cb_mutex_unlock(&x->lock);
    for (size_t i = 0; i < n; i++) {
        cb_remote_job *j = NULL;
        cubed_store_request *r = &requests[i];
        r->err = &x->errors[i];
        r->complete = one_is_done;
        r->data = x;
        r->status = new_job(s, r, what, sources ? sources[i] : NULL, &j, r->err);
        if (j)
            begin(j);
        else
            one_is_done(r);
    }
    cb_mutex_lock(&x->lock);
    while (x->left > 0) cb_cond_wait(&x->over, &x->lock);
    cb_mutex_unlock(&x->lock);
    for (size_t i = 0; i < n && st == CUBED_OK; i++) {
        st = requests[i].status;
        if (st != CUBED_OK && err) *err = x->errors[i];
    }
    cb_cond_destroy(&x->over);
    cb_mutex_destroy(&x->lock);
    cb_free(s->head.alloc, x, sizeof *x);
    return st;
}

cubed_status cb_remote_copy(cubed_store *store, const char *const *from, const char *const *to,
                            size_t n, cubed_error *err)
{
    cubed_store_request requests[CB_REMOTE_AT_ONCE];
    cubed_status st = CUBED_OK;
    for (size_t i = 0, k; i < n && st == CUBED_OK; i += k) {
        k = cb_min_size(n - i, CB_REMOTE_AT_ONCE);
        for (size_t m = 0; m < k; m++)
            requests[m] = (cubed_store_request){.op = CUBED_STORE_PUT, .key = to[i + m]};
        st = cb_remote_do((cb_remote *)store, CB_REMOTE_COPY, requests, from + i, k, err);
    }
    return st;
}

/* Cancels the calls of a request, or of all with NULL. */
static void cancel(cb_remote *s, const cubed_store_request *r)
{
    bool any = false;
    cb_mutex_lock(&s->lock);
    for (cb_remote_job *j = s->jobs; j; j = j->next) {
        if (r && j->r != r) continue;
        /* The last call of an upload aborts it, and is not cancelled. */
        const size_t n = j->nparts ? j->nparts + 2 : j->ncalls;
        for (size_t i = 0; i < n; i++) atomic_store(&j->calls[i].http.cancelled, true);
        any = true;
    }
    cb_mutex_unlock(&s->lock);
    if (any) cb_net_look_at_cancelled(s->net);
}

void cb_remote_cancel(cubed_store *store, cubed_store_request *request)
{
    forget_requests((cb_remote *)store);
    cancel((cb_remote *)store, request);
}

void cb_remote_close(cubed_store *store)
{
    cb_remote *s = (cb_remote *)store;
    forget_requests(s);
    cancel(s, NULL);
    cb_mutex_lock(&s->lock);
    while (s->njobs > 0) cb_cond_wait(&s->idle, &s->lock);
    cb_mutex_unlock(&s->lock);
    cb_mutex_destroy(&s->lock);
    cb_cond_destroy(&s->idle);
    cb_zone_free(s->zone);
}

/* --- Opening ------------------------------------------------------------------------------------------ */

static cubed_status configure(cb_remote *s, cubed_error *err)
{
    const double day = 86400;
    int64_t connect = 0, stall = 0, refused = 0;
    CB_TRY(cb_net_get_seconds(s->net, s->zone, s->head.url, "connect_timeout", day, &connect, err));
    CB_TRY(cb_net_get_seconds(s->net, s->zone, s->head.url, "read_timeout", day, &stall, err));
    CB_TRY(
        cb_net_get_seconds(s->net, s->zone, s->head.url, "throttle_timeout", day, &refused, err));
    s->refused_ms = (uint32_t)refused;
    s->connect_ms = (uint32_t)connect;
    s->stall_ms = (uint32_t)stall;
    return cb_net_get_way(s->net, s->zone, s->head.url, &s->way, err);
}

static cubed_status get_bytes(cb_net *net, cb_zone *zone, const char *url, const char *name,
                              uint64_t least, uint64_t most, uint64_t *out, cubed_error *err)
{
    const char *text;
    CB_TRY(cb_net_get(net, zone, url, name, &text, err));
    if (!text || (cubed_parse_bytes(text, out) && *out >= least && *out <= most)) return CUBED_OK;
    return cb_fail(err, CUBED_E_ARG,
                   "storage option %s is \"%s\", expected bytes from %llu to %llu", name, text,
                   (unsigned long long)least, (unsigned long long)most);
}

cubed_status cb_remote_get_upload_sizes(cb_net *net, cb_zone *zone, const char *url,
                                        cb_upload_sizes *out, cubed_error *err)
{
    static const uint64_t mib = 1 << 20, gib = 1 << 30;
    uint64_t part = CB_REMOTE_PART_SIZE;
    out->from = CB_REMOTE_UPLOAD_FROM;
    /* Services limit the sizes of objects in one request, and of parts. */
    CB_TRY(get_bytes(net, zone, url, "multipart_threshold", 1, 5 * gib, &out->from, err));
    CB_TRY(get_bytes(net, zone, url, "multipart_chunksize", 5 * mib, 5 * gib, &part, err));
    out->part = (size_t)part;
    return CUBED_OK;
}

static cubed_status split_url(cb_remote *s, cubed_error *err)
{
    cb_buf text;
    cubed_status st = CUBED_OK;
    const char *host = strstr(s->head.url, "://") + 3, *root = host + strcspn(host, "/");
    char *bucket = cb_zone_memdup(s->zone, host, (size_t)(root - host) + 1);
    if (!bucket) return cb_fail(err, CUBED_E_NOMEM, "no memory for the store %s", s->head.url);
    bucket[root - host] = 0;
    s->bucket = bucket;
    if (!*bucket)
        return cb_fail(err, CUBED_E_ARG, "\"%s\" has no %s, expected %.*s%s/PATH", s->head.url,
                       s->dialect->writes ? "bucket" : "host", (int)(host - s->head.url),
                       s->head.url, s->dialect->writes ? "BUCKET" : "HOST");
    root += *root == '/';
    cb_buf_init(&text, s->head.alloc);
    cb_uri_decode(&text, root, strlen(root), false);
    s->root = text.failed ? NULL : cb_zone_strdup(s->zone, text.data ? text.data : "");
    if (!s->root)
        st = cb_fail(err, CUBED_E_NOMEM, "no memory for the store %s", s->head.url);
    else if (*s->root && cb_key_check(s->root, err) != CUBED_OK)
        st = cb_context(err, CUBED_E_ARG, "%s", s->head.url);
    cb_buf_free(&text);
    return st;
}

cubed_status cb_remote_open(cb_net *net, const cubed_store_vtable *vt, const cb_dialect *dialect,
                            const char *url, cubed_store **out, cubed_error *err)
{
    cb_zone *zone;
    CB_TRY(cb_net_check_options(net, url, dialect->options, err));
    CB_TRY(cb_zone_new(net->alloc, &zone, err));
    cb_remote *s = cb_zone_alloc(zone, dialect->size);
    const char *name = cb_zone_strdup(zone, url);
    if (!s || !name) {
        cb_zone_free(zone);
        return cb_fail(err, CUBED_E_NOMEM, "no memory for the store %s", url);
    }
    cb_mutex_init(&s->lock);
    cb_cond_init(&s->idle);
    s->head = (cubed_store){vt, net->alloc, name};
    s->dialect = dialect;
    s->net = net;
    s->zone = zone;
    cb_adopted_init(&s->process);
    cubed_status st = split_url(s, err);
    if (st == CUBED_OK) st = configure(s, err);
    if (st == CUBED_OK) st = find_throttle(s, err);
    if (st == CUBED_OK && dialect->set_rest) {
        st = dialect->set_rest(s, err);
        if (st != CUBED_OK) st = cb_context(err, st, "%s", url);
    }
    if (st == CUBED_OK)
        *out = &s->head;
    else
        cb_remote_close(&s->head);
    return st;
}

cubed_status cb_remote_around(cubed_store *store, const char *prefix, cubed_store **out, char *name,
                              size_t cap, cubed_error *err)
{
    const cb_remote *s = (cb_remote *)store;
    char key[8192];
    CB_TRY(cb_key_join(key, sizeof key, s->root, prefix, err));
    char *slash = strrchr(key, '/');
    const char *last = slash ? slash + 1 : key;
    if (!*last)
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s is a bucket, which cannot be replaced; name a target below it",
                       store->url);
    if (strlen(last) >= cap)
        return cb_fail(err, CUBED_E_ARG, "the name of %s is longer than %zu bytes", store->url,
                       cap - 1);
    memcpy(name, last, strlen(last) + 1);
    key[slash ? slash - key : 0] = 0;
    CB_TRY(s->dialect->open(s->net, store->url, out, err));
    cb_remote *up = (cb_remote *)*out;
    up->root = cb_zone_strdup(up->zone, key);
    if (up->root) return CUBED_OK;
    cb_remote_close(*out);
    *out = NULL;
    return cb_fail(err, CUBED_E_NOMEM, "no memory for the store %s", store->url);
}
