/* Percent-encoding. */
#ifndef CB_STORE_URI_H
#define CB_STORE_URI_H

#include "base/alloc.h"

/* Appends text with percent-encoding. Letters, digits, "-._~" and the characters in `keep` are not encoded. */
void cb_uri_put(cb_buf *out, const char *text, const char *keep);
/* Appends n bytes of text with %XX decoded, and '+' decoded as a space if `plus`. A % without two digits is kept. */
void cb_uri_decode(cb_buf *out, const char *text, size_t n, bool plus);

#endif
