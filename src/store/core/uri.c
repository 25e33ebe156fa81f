#include "store/core/uri.h"

#include <ctype.h>
#include <string.h>

void cb_uri_put(cb_buf *out, const char *text, const char *keep)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if ((c < 128 && isalnum(c)) || strchr("-._~", c) || strchr(keep, c))
            cb_buf_put(out, &c, 1);
        else
            cb_buf_printf(out, "%%%02X", c);
    }
}

static int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void cb_uri_decode(cb_buf *out, const char *text, size_t n, bool plus)
{
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        const int high = c == '%' && i + 2 < n ? digit(text[i + 1]) : -1;
        const int low = high < 0 ? -1 : digit(text[i + 2]);
        if (low >= 0) {
            c = (char)(high * 16 + low);
            i += 2;
        } else if (plus && c == '+') {
            c = ' ';
        }
        cb_buf_put(out, &c, 1);
    }
}
