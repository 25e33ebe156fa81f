/* Replies of HTTP as they arrive: header lines and bytes of a body go into a call.
 *
 * No connection is needed, so fuzz/fuzz_http.c can try any bytes. The limits below hold for every server: none can make a
 * reply use more memory, or be read for longer. */
#ifndef CB_STORE_HTTP_REPLY_H
#define CB_STORE_HTTP_REPLY_H

#include "store/http/http_client.h"

/* Header lines of one attempt, with those of redirects, of interim replies (1xx) and of trailers. libcurl keeps a copy. */
enum { CB_HTTP_MOST_HEADERS = 32 << 10, CB_HTTP_MOST_LINES = 400 };
/* Text of an error: the rest is not read. */
enum { CB_HTTP_MOST_FAULT = 16 << 10 };
/* Text of other replies: documents about one object, and listings of up to 1,000 objects (5,000 of Azure's). */
enum { CB_HTTP_MOST_TEXT = 64 << 10, CB_HTTP_MOST_LISTING = 16 << 20 };
/* Bytes of an object that are read and dropped: before the range that was asked for, if the server ignores ranges, or to
 * find the end of an object whose length the server does not tell. */
enum { CB_HTTP_MOST_SKIPPED = 64 << 20 };
/* Bytes behind the range that are read so that the connection can be used again. */
enum { CB_HTTP_MOST_DRAINED = 256 << 10 };

typedef enum cb_http_stop {
    CB_HTTP_GOES_ON,
    CB_HTTP_ENOUGH,   /* the rest is not needed */
    CB_HTTP_TOO_LONG, /* the object is longer than `whole` allows */
    CB_HTTP_NO_RANGES,
    CB_HTTP_NO_TOTAL,
    CB_HTTP_WRONG_RANGE,
    CB_HTTP_LONGER,
    CB_HTTP_ENDLESS,
    CB_HTTP_TOO_MUCH_TEXT,
    CB_HTTP_TOO_MANY_HEADERS,
    CB_HTTP_TWO_LENGTHS,
    CB_HTTP_NO_MEMORY,
} cb_http_stop;

/* Before each attempt. */
void cb_http_reply_forget(cb_http_call *c);
/* A header line, with its line break. A line that begins with "HTTP/" begins another reply, whose headers replace all. */
cb_http_stop cb_http_reply_line(cb_http_call *c, const char *line, size_t n);
/* The body begins. `length` is its length, -1 if the server does not tell. */
cb_http_stop cb_http_reply_begin(cb_http_call *c, int code, int64_t length);
/* The next bytes of the body. */
cb_http_stop cb_http_reply_bytes(cb_http_call *c, const char *bytes, size_t n);
/* The end of an attempt that was stopped: CUBED_OK if the reply can be judged, else an error that says why not. */
CUBED_MUST_CHECK cubed_status cb_http_reply_end(cb_http_call *c);
/* The number that a text begins with, of digits alone and without overflow; false: none. */
bool cb_http_number(const char *text, const char **end, uint64_t *out);
/* "bytes FIRST-LAST/TOTAL", where TOTAL may be "*" (UINT64_MAX), or "bytes *\/TOTAL" of a range that is not there, whose
 * FIRST and LAST are UINT64_MAX. */
bool cb_http_range(const char *text, uint64_t *first, uint64_t *last, uint64_t *total);

#endif
