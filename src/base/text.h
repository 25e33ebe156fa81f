/* UTF-8, base64 (RFC 4648), times (RFC 3339), and texts that may be none. */
#ifndef CB_BASE_TEXT_H
#define CB_BASE_TEXT_H

#include <string.h>

#include "cubed/base.h"

/* NULL is like NULL alone. */
static inline bool cb_text_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The code point at s, which is valid UTF-8 (jansson checks), and the position behind it; NULL at the
 * end. */
const char *cb_utf8_next(const char *s, uint32_t *code);
/* The code point in front of n bytes that may be anything, and how many it takes; 0: they begin with none. */
size_t cb_utf8_take(const unsigned char *s, size_t n, uint32_t *code);
/* Writes 1 to 4 bytes; a number that is no code point becomes U+FFFD. Returns how many. */
size_t cb_utf8_put(uint32_t code, char *out);

/* 4 * ceil(n / 3) characters and a zero. */
void cb_base64_encode(const unsigned char *bytes, size_t n, char *out);
/* False if it is none, or has more than `cap` bytes. */
bool cb_base64_decode(const char *text, unsigned char *out, size_t cap, size_t *n);

/* Seconds since 1970 of "2026-11-23T17:00:00", which is UTC whatever follows; 0: it is none. */
int64_t cb_parse_utc(const char *text);

#endif
