#define _GNU_SOURCE
#include "base/text.h"

#include <string.h>
#include <time.h>

const char *cb_utf8_next(const char *s, uint32_t *code)
{
    const unsigned char *p = (const unsigned char *)s;
    if (*p == 0) return NULL;
    int more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
    uint32_t c = more == 0 ? *p : *p & (0x3fu >> more);
    for (int i = 1; i <= more; i++) c = c << 6 | (p[i] & 0x3fu);
    *code = c;
    return s + 1 + more;
}

size_t cb_utf8_take(const unsigned char *s, size_t n, uint32_t *code)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (n == 0 || (s[0] >= 0x80 && s[0] < 0xc0) || s[0] >= 0xf8) return 0;
    const size_t more = s[0] < 0x80 ? 0 : s[0] < 0xe0 ? 1 : s[0] < 0xf0 ? 2 : 3;
    uint32_t c = more == 0 ? s[0] : s[0] & (0x3fu >> more);
    if (more >= n) return 0;
    for (size_t i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (s[i] & 0x3fu);
    }
    if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
    *code = c;
    return more + 1;
}

size_t cb_utf8_put(uint32_t c, char *out)
{
    unsigned char *p = (unsigned char *)out;
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
    if (c < 0x80) {
        p[0] = (unsigned char)c;
        return 1;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    p[0] = (unsigned char)(lead[more] | c >> (6 * more));
    for (int i = 1; i <= more; i++) p[i] = (unsigned char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
    return (size_t)more + 1;
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void cb_base64_encode(const unsigned char *bytes, size_t n, char *out)
{
    for (size_t i = 0; i < n; i += 3, out += 4) {
        uint32_t part = (uint32_t)bytes[i] << 16;
        if (i + 1 < n) part |= (uint32_t)bytes[i + 1] << 8;
        if (i + 2 < n) part |= bytes[i + 2];
        for (int k = 0; k < 4; k++) out[k] = digits[part >> (18 - 6 * k) & 63];
        if (i + 1 >= n) out[2] = '=';
        if (i + 2 >= n) out[3] = '=';
    }
    *out = 0;
}

bool cb_base64_decode(const char *text, unsigned char *out, size_t cap, size_t *n)
{
    size_t length = strlen(text), have = 0;
    if (length % 4 != 0) return false;
    for (size_t i = 0; i < length; i += 4) {
        uint32_t part = 0;
        int padding = 0;
        for (size_t k = 0; k < 4; k++) {
            char c = text[i + k];
            if (c == '=' && i + 4 == length && (k == 3 || (k == 2 && text[i + 3] == '='))) {
                padding++;
                part <<= 6;
                continue;
            }
            const char *d = c ? strchr(digits, c) : NULL;
            if (!d) return false;
            part = part << 6 | (uint32_t)(d - digits);
        }
        for (int k = 0; k < 3 - padding; k++) {
            if (have == cap) return false;
            out[have++] = (unsigned char)(part >> (16 - 8 * k));
        }
    }
    *n = have;
    return true;
}

int64_t cb_parse_utc(const char *text)
{
    struct tm utc = {.tm_mday = 1};
    return strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) ? (int64_t)timegm(&utc) : 0;
}
