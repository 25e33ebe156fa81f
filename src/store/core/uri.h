/* Percent-encoding. */
#ifndef CB_STORE_URI_H
#define CB_STORE_URI_H

#include "base/alloc.h"

/* Appends the text; all bytes but letters, digits, "-._~" and those of `keep` are encoded. */
void cb_uri_put(cb_buf *out, const char *text, const char *keep);
/* Appends n bytes of text with %XX decoded, and '+' as a space if `plus`; a % without two digits stands for itself. */
void cb_uri_decode(cb_buf *out, const char *text, size_t n, bool plus);

#endif
