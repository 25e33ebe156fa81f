#include "report/visible.h"

#include <stdio.h>
#include <string.h>

#include "cubed/base.h"
#include "report/report_text.h"

/* Returns the number of bytes of the control character at s, and sets *code, or returns 0. Control characters are the ASCII
 * control characters, and U+0080 to U+009F, which are two bytes in UTF-8. */
static size_t control(const unsigned char *s, unsigned *code)
{
    *code = s[0];
    if (s[0] < 0x20 || s[0] == 0x7f) return 1;
    *code = s[1];
    return s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f ? 2 : 0;
}

char *text_visible(const char *text, bool lines)
{
    const size_t bytes = strlen(text) + 1;
    char *shown = text_alloc(bytes, 1, NULL), *out = text_alloc(bytes, 4, NULL), *to = out;
    if (!shown || !out) {
        text_free(shown);
        text_free(out);
        return NULL;
    }
    memcpy(shown, text, bytes);
    cubed_hide_secrets(shown);
    for (const unsigned char *s = (const unsigned char *)shown; *s;) {
        unsigned code;
        const size_t n = control(s, &code);
        if (n == 0 || (lines && *s == '\n')) {
            *to++ = (char)*s++;
            continue;
        }
        to += snprintf(to, 5, "\\x%02x", code);
        s += n;
    }
    text_free(shown);
    return out;
}
