#include "store/http/http_reply.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "cubed/sys/store.h"

const char *cb_http_header(const cb_http_call *c, const char *name)
{
    const size_t n = strlen(name);
    const char *at = c->reply.data;
    if (!at) return NULL;
    for (const char *end = at + c->reply.size; at < end; at += strlen(at) + 1) {
        if (strncmp(at, name, n) == 0 && at[n] == ':') return at + n + 1 + (at[n + 1] == ' ');
    }
    return NULL;
}

void cb_http_reply_forget(cb_http_call *c)
{
    c->code = c->stop = 0;
    c->too_long = false;
    c->total = c->end = UINT64_MAX;
    c->length = -1;
    c->reply.size = c->text.size = 0;
    c->header_bytes = 0;
    c->header_lines = 0;
}

cb_http_stop cb_http_reply_line(cb_http_call *c, const char *line, size_t n)
{
    c->header_bytes += n;
    if (c->header_bytes > CB_HTTP_MOST_HEADERS || ++c->header_lines > CB_HTTP_MOST_LINES)
        return CB_HTTP_TOO_MANY_HEADERS;
    /* Only the last of several replies counts. Trailers after a body do not start a reply. */
    if (n >= 5 && memcmp(line, "HTTP/", 5) == 0 && c->code == 0) c->reply.size = 0;
    while (n > 0 && strchr("\r\n \t", line[n - 1])) n--;
    const char *colon = memchr(line, ':', n);
    if (!colon || memchr(line, 0, n)) return CB_HTTP_GOES_ON;
    if (c->code) return CB_HTTP_GOES_ON; /* ignore trailers */
    const size_t name = (size_t)(colon - line), start = c->reply.size;
    cb_buf_put(&c->reply, line, n);
    cb_buf_put(&c->reply, "", 1);
    if (c->reply.failed) return CB_HTTP_NO_MEMORY;
    for (size_t i = 0; i < name; i++) {
        char *letter = &c->reply.data[start + i];
        if (*letter >= 'A' && *letter <= 'Z') *letter = (char)(*letter - 'A' + 'a');
    }
    const char *added = c->reply.data + start, *length = cb_http_header(c, "content-length");
    const bool again = strncmp(added, "content-length:", 15) == 0 &&
                       strcmp(added + 15 + (added[15] == ' '), length) != 0;
    return again ? CB_HTTP_TWO_LENGTHS : CB_HTTP_GOES_ON;
}

bool cb_http_number(const char *text, const char **end, uint64_t *out)
{
    uint64_t x = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(x, (uint64_t)10, &x) ||
            __builtin_add_overflow(x, (uint64_t)(*at - '0'), &x))
            return false;
    }
    *end = at;
    *out = x;
    return at != text;
}

bool cb_http_range(const char *text, uint64_t *first, uint64_t *last, uint64_t *total)
{
    if (!text || strncmp(text, "bytes ", 6) != 0) return false;
    text += 6;
    *first = *last = *total = UINT64_MAX;
    if (text[0] == '*' && text[1] == '/') return cb_http_number(text + 2, &text, total) && !*text;
    if (!cb_http_number(text, &text, first) || *text != '-') return false;
    if (!cb_http_number(text + 1, &text, last) || *text != '/') return false;
    if (strcmp(text + 1, "*") == 0) return *first <= *last && *last < UINT64_MAX;
    return cb_http_number(text + 1, &text, total) && !*text && *first <= *last && *last < *total;
}

/* Determines the body's range in the object, and the size of the object. */
static cb_http_stop read_extent(cb_http_call *c, int64_t length)
{
    uint64_t first, last;
    c->at = 0;
    c->total = c->end = UINT64_MAX;
    if (c->code != 206) {
        if (length >= 0) c->total = c->end = (uint64_t)length;
        return CB_HTTP_GOES_ON;
    }
    if (!cb_http_range(cb_http_header(c, "content-range"), &first, &last, &c->total) ||
        first == UINT64_MAX)
        return CB_HTTP_WRONG_RANGE;
    if (c->total == UINT64_MAX) return CB_HTTP_NO_TOTAL;
    if (length >= 0 && (uint64_t)length != last - first + 1) return CB_HTTP_WRONG_RANGE;
    c->at = first;
    c->end = last + 1;
    return CB_HTTP_GOES_ON;
}

/* Returns true if the body includes the requested pieces, except bytes beyond the object's end. */
static bool has_pieces(const cb_http_call *c)
{
    const cb_http_piece *first = c->pieces, *last = first + c->npieces - 1;
    if (c->at > first->offset) return false;
    if (c->end == UINT64_MAX || c->end >= c->total) return true;
    return last->offset <= c->end && last->size <= c->end - last->offset;
}

cb_http_stop cb_http_reply_begin(cb_http_call *c, int code, int64_t length)
{
    c->code = code;
    if ((code != 200 && code != 206) || !c->npieces) return CB_HTTP_GOES_ON;
    cb_http_piece *first = c->pieces;
    c->piece = 0;
    for (size_t i = 0; i < c->npieces; i++) c->pieces[i].got = 0;
    const cb_http_stop stop = read_extent(c, length);
    if (stop) return stop;
    if (c->whole) {
        c->too_long = c->total != UINT64_MAX && c->total > first->size;
        if (c->too_long) return CB_HTTP_TOO_LONG;
    } else if (first->offset == CUBED_RANGE_SUFFIX) {
        /* no second request: its reply could have another offset if the object changed */
        c->may_hedge = false;
        if (c->total == UINT64_MAX) return CB_HTTP_NO_RANGES;
        const cubed_range r =
            cubed_range_within((cubed_range){CUBED_RANGE_SUFFIX, first->size}, c->total);
        first->offset = r.offset;
        first->size = r.size;
    }
    if (!has_pieces(c)) return CB_HTTP_WRONG_RANGE;
    return first->offset - c->at > CB_HTTP_MOST_SKIPPED ? CB_HTTP_NO_RANGES : CB_HTTP_GOES_ON;
}

/* Copies the requested parts of the next n bytes of the object. */
static void put_bytes(cb_http_call *c, const char *bytes, size_t n)
{
    while (n > 0 && c->piece < c->npieces) {
        cb_http_piece *p = &c->pieces[c->piece];
        if (p->got == p->size) {
            c->piece++;
            continue;
        }
        const uint64_t wanted = p->offset + p->got;
        size_t k = n;
        if (c->at < wanted) {
            if (k > wanted - c->at) k = (size_t)(wanted - c->at);
        } else {
            if (k > p->size - p->got) k = p->size - p->got;
            memcpy(p->dst + p->got, bytes, k);
            p->got += k;
        }
        bytes += k;
        n -= k;
        c->at += k;
    }
    c->at += n;
    while (c->piece < c->npieces && c->pieces[c->piece].got == c->pieces[c->piece].size) c->piece++;
}

static cb_http_stop put_object(cb_http_call *c, const char *bytes, size_t n)
{
    if (n > c->end - c->at) return CB_HTTP_LONGER;
    put_bytes(c, bytes, n);
    if (c->piece < c->npieces) return CB_HTTP_GOES_ON;
    const cb_http_piece *last = &c->pieces[c->npieces - 1];
    const uint64_t behind = c->at - (last->offset + last->size);
    if (c->end != UINT64_MAX)
        return c->end - c->at > CB_HTTP_MOST_DRAINED ? CB_HTTP_ENOUGH : CB_HTTP_GOES_ON;
    if (c->whole) {
        c->too_long = behind > 0;
        return c->too_long ? CB_HTTP_TOO_LONG : CB_HTTP_GOES_ON;
    }
    /* The size of the object becomes known only at the end of the reply. */
    return behind > CB_HTTP_MOST_SKIPPED ? CB_HTTP_ENDLESS : CB_HTTP_GOES_ON;
}

static cb_http_stop put_text(cb_http_call *c, const char *bytes, size_t n)
{
    const bool fault = c->code < 200 || c->code > 299;
    const size_t most = fault          ? CB_HTTP_MOST_FAULT
                        : c->most_text ? c->most_text
                                       : CB_HTTP_MOST_TEXT;
    const size_t room = most - c->text.size;
    cb_buf_put(&c->text, bytes, n < room ? n : room);
    if (c->text.failed) return CB_HTTP_NO_MEMORY;
    if (n <= room) return CB_HTTP_GOES_ON;
    return fault ? CB_HTTP_ENOUGH : CB_HTTP_TOO_MUCH_TEXT;
}

cb_http_stop cb_http_reply_bytes(cb_http_call *c, const char *bytes, size_t n)
{
    const bool object = c->npieces && (c->code == 200 || c->code == 206);
    return object ? put_object(c, bytes, n) : put_text(c, bytes, n);
}

cubed_status cb_http_reply_end(cb_http_call *c)
{
    cubed_error *err = &c->error;
    const char *range = cb_http_header(c, "content-range");
    const int mb = 1 << 20;
    switch ((cb_http_stop)c->stop) {
    case CB_HTTP_GOES_ON:
    case CB_HTTP_ENOUGH:
    case CB_HTTP_TOO_LONG: return CUBED_OK;
    case CB_HTTP_NO_RANGES:
        return cb_fail(err, CUBED_E_IO,
                       "the server ignores ranges (the reply is %d, expected 206), and the bytes "
                       "that are needed are not within the first %d MiB: copy the data to a server "
                       "that supports ranges",
                       c->code, CB_HTTP_MOST_SKIPPED / mb);
    case CB_HTTP_NO_TOTAL:
        return cb_fail(err, CUBED_E_IO,
                       "the server does not report the object's length (content-range: %.60s)",
                       range);
    case CB_HTTP_WRONG_RANGE:
        return cb_fail(err, CUBED_E_IO,
                       "the server sent another range than requested (content-range: %.60s, "
                       "content-length: %.20s)",
                       range ? range : "none",
                       cb_http_header(c, "content-length") ? cb_http_header(c, "content-length")
                                                           : "none");
    case CB_HTTP_LONGER:
        return cb_fail(err, CUBED_E_IO,
                       "the server sent more bytes than it announced (expected the end at byte "
                       "%" PRIu64 ")",
                       c->end);
    case CB_HTTP_ENDLESS:
        return cb_fail(
            err, CUBED_E_IO,
            "the server does not report the object's length, and the object has not ended "
            "%d MiB after the bytes that are needed",
            CB_HTTP_MOST_SKIPPED / mb);
    case CB_HTTP_TOO_MUCH_TEXT:
        return cb_fail(err, CUBED_E_IO, "the reply is longer than %zu bytes, expected less",
                       c->most_text ? c->most_text : (size_t)CB_HTTP_MOST_TEXT);
    case CB_HTTP_TOO_MANY_HEADERS:
        return cb_fail(err, CUBED_E_IO, "the reply has more than %d bytes or %d lines of headers",
                       CB_HTTP_MOST_HEADERS, CB_HTTP_MOST_LINES);
    case CB_HTTP_TWO_LENGTHS:
        return cb_fail(err, CUBED_E_IO, "the reply has two lengths (content-length)");
    case CB_HTTP_NO_MEMORY: return cb_fail(err, CUBED_E_NOMEM, "out of memory: a reply");
    }
    return CUBED_E_IO;
}
