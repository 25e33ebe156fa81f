/* UTF-8, base64 (RFC 4648), times (RFC 3339), and nullable strings. */
#ifndef CB_BASE_TEXT_H
#define CB_BASE_TEXT_H

#include <string.h>

#include "cubed/base.h"

/* Compares nullable strings: NULL equals only NULL. */
static inline bool cb_text_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Gets the code point at the start of s, and returns the position after it; NULL at the end of s. s must be valid UTF-8, such as
 * strings from jansson. */
const char *cb_utf8_next(const char *s, uint32_t *code);
/* Gets the first code point of n untrusted bytes. Returns its size in bytes; 0 if invalid. */
size_t cb_utf8_take(const unsigned char *s, size_t n, uint32_t *code);
/* Writes 1 to 4 bytes; an invalid code point becomes U+FFFD. Returns the number of bytes. */
size_t cb_utf8_put(uint32_t code, char *out);

/* Writes 4 * ceil(n / 3) characters and a terminating NUL. */
void cb_base64_encode(const unsigned char *bytes, size_t n, char *out);
/* Returns false if the text is invalid or decodes to more than `cap` bytes. */
bool cb_base64_decode(const char *text, unsigned char *out, size_t cap, size_t *n);

/* Parses "2026-11-23T17:00:00" as UTC; ignores all further characters. Returns seconds since 1970, or 0 if invalid. */
int64_t cb_parse_utc(const char *text);

#endif
