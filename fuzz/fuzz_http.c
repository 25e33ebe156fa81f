/* Takes any bytes as the reply of an HTTP server: header lines up to an empty line, then a body in parts of a few bytes.
 *
 * The first byte chooses the request: a whole object, ranges, the end of an object, or a text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cubed/sys/store.h"
#include "store/http/http_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 64, PIECES = 2, GUARD = 0x5A };

static void require(bool holds)
{
    if (!holds) abort();
}

/* Sets the pieces of a call of one of four kinds. Their bytes go to dst[ROOM]. */
static void ask(cb_http_call *c, cb_http_piece pieces[PIECES],
                char *dst, /* NOLINT(readability-non-const-parameter): pieces write to it */
                unsigned kind)
{
    c->pieces = pieces;
    c->npieces = kind == 3 ? 0 : kind == 1 ? 2 : 1;
    c->whole = kind == 0;
    pieces[0] = (cb_http_piece){.size = kind == 0 ? ROOM : ROOM / 2, .dst = dst};
    pieces[1] = (cb_http_piece){.offset = 100, .size = ROOM / 2, .dst = dst + ROOM / 2};
    if (kind == 1) pieces[0].offset = 10;
    if (kind == 2) pieces[0].offset = CUBED_RANGE_SUFFIX;
}

/* Returns the content length according to the header; -1 if there is none. */
static int64_t length_of(const cb_http_call *c)
{
    const char *end, *text = cb_http_header(c, "content-length");
    uint64_t n;
    return text && cb_http_number(text, &end, &n) && n <= INT64_MAX ? (int64_t)n : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char dst[ROOM + 1];
    cb_http_piece pieces[PIECES];
    cb_http_call c;
    cb_http_stop stop = CB_HTTP_GOES_ON;
    const char *at = (const char *)data + 2, *end = (const char *)data + size;
    if (size < 2) return 0;
    memset(dst, GUARD, sizeof dst);
    cb_http_call_init(&c, &cb_system_allocator);
    cb_http_reply_forget(&c);
    ask(&c, pieces, dst, data[0] % 4);
    while (at < end && !stop) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        const char *next = line ? line + 1 : end;
        stop = cb_http_reply_line(&c, at, (size_t)(next - at));
        const bool empty = *at == '\n';
        at = next;
        if (empty) break;
    }
    if (!stop) stop = cb_http_reply_begin(&c, data[1] % 2 ? 206 : data[1], length_of(&c));
    for (size_t k = 0; at < end && !stop; at += k) {
        k = (size_t)(end - at) < 7 ? (size_t)(end - at) : 7;
        stop = cb_http_reply_bytes(&c, at, k);
    }
    c.stop = (int)stop;
    const cubed_status st = cb_http_reply_end(&c);
    require((st == CUBED_OK) == (c.error.message[0] == 0));
    require(dst[ROOM] == GUARD && c.reply.size <= CB_HTTP_MOST_HEADERS + CB_HTTP_MOST_LINES);
    require(c.text.size <= CB_HTTP_MOST_TEXT);
    for (size_t i = 0; i < c.npieces; i++) require(pieces[i].got <= pieces[i].size);
    cb_http_call_free(&c);
    return 0;
}
