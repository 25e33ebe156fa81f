/* Parses HTTP replies as they arrive: stores header lines and bytes of the body in a call.
 *
 * Needs no connection, so fuzz/fuzz_http.c can test it with any bytes. The limits below apply to every server, so no server can
 * make a reply use more memory or last longer. */
#ifndef CB_STORE_HTTP_REPLY_H
#define CB_STORE_HTTP_REPLY_H

#include "store/http/http_client.h"

/* Maximum bytes and number of the header lines of one attempt, including those of redirects, interim replies (1xx) and trailers.
 * libcurl also keeps these lines in memory. */
enum { CB_HTTP_MOST_HEADERS = 32 << 10, CB_HTTP_MOST_LINES = 400 };
/* Maximum text of an error reply; the rest is not read. */
enum { CB_HTTP_MOST_FAULT = 16 << 10 };
/* Maximum text of other replies: documents about one object, and listings of up to 1,000 objects (Azure: 5,000). */
enum { CB_HTTP_MOST_TEXT = 64 << 10, CB_HTTP_MOST_LISTING = 16 << 20 };
/* Maximum bytes of an object that are read and discarded: before the requested range if the server ignores ranges, or to
 * find the end of an object of unknown length. */
enum { CB_HTTP_MOST_SKIPPED = 64 << 20 };
/* Maximum number of bytes after the requested range that are read and discarded, so that the connection can be reused. */
enum { CB_HTTP_MOST_DRAINED = 256 << 10 };

typedef enum cb_http_stop {
    CB_HTTP_GOES_ON,
    CB_HTTP_ENOUGH,   /* the rest of the body is not needed */
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

/* Resets the reply before each attempt. */
void cb_http_reply_forget(cb_http_call *c);
/* Processes a header line including its line break. A line that begins with "HTTP/" starts another reply and discards all
 * headers before it. */
cb_http_stop cb_http_reply_line(cb_http_call *c, const char *line, size_t n);
/* Starts the body. `length` is -1 if unknown. */
cb_http_stop cb_http_reply_begin(cb_http_call *c, int code, int64_t length);
/* Processes the next bytes of the body. */
cb_http_stop cb_http_reply_bytes(cb_http_call *c, const char *bytes, size_t n);
/* Ends an attempt that was stopped before the end of the reply, for the reason c->stop. Returns CUBED_OK if the reply can be
 * passed to `judge`, otherwise an error with the reason. */
CUBED_MUST_CHECK cubed_status cb_http_reply_end(cb_http_call *c);
/* Parses the number at the start of a text. The number must consist of digits and must not overflow. */
bool cb_http_number(const char *text, const char **end, uint64_t *out);
/* Parses "bytes FIRST-LAST/TOTAL", where TOTAL may be "*" (UINT64_MAX), or "bytes *\/TOTAL" for an unsatisfiable range
 * (FIRST and LAST are UINT64_MAX). */
bool cb_http_range(const char *text, uint64_t *first, uint64_t *last, uint64_t *total);

#endif
