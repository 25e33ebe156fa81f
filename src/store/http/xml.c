#define _GNU_SOURCE
#include "store/http/xml.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Returns the position after the start tag <name ...>, or NULL. Sets *empty for <name/>. */
static const char *find_start(cb_xml_part in, const char *name, bool *empty)
{
    const size_t n = strlen(name);
    const char *at = in.text, *end = in.text + in.size;
    while ((at = memchr(at, '<', (size_t)(end - at)))) {
        at++;
        if ((size_t)(end - at) <= n) return NULL;
        if (memcmp(at, name, n) != 0 || !strchr(" \t\r\n/>", at[n])) continue;
        const char *close = memchr(at, '>', (size_t)(end - at));
        if (!close) return NULL;
        *empty = close[-1] == '/';
        return close + 1;
    }
    return NULL;
}

bool cb_xml_next(cb_xml_part *rest, const char *name, cb_xml_part *out)
{
    char tag[64] = "</";
    bool empty = false;
    const size_t n = strlen(name);
    const char *end = rest->text + rest->size, *from = find_start(*rest, name, &empty);
    if (!from || n + 4 > sizeof tag) return false;
    memcpy(tag + 2, name, n);
    tag[n + 2] = '>';
    const char *close = empty ? from : memmem(from, (size_t)(end - from), tag, n + 3);
    if (!close) return false;
    *out = (cb_xml_part){from, (size_t)(close - from)};
    *rest = (cb_xml_part){close, (size_t)(end - close)};
    return true;
}

bool cb_xml_find(cb_xml_part in, const char *name, cb_xml_part *out)
{
    return cb_xml_next(&in, name, out);
}

/* Appends the character of the reference "&name;". */
static bool put_reference(cb_buf *out, const char *name, size_t n)
{
    static const struct {
        const char *name;
        char c;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    char utf8[4], digits[12], *end;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].name) != n || memcmp(known[i].name, name, n) != 0) continue;
        cb_buf_put(out, &known[i].c, 1);
        return true;
    }
    if (n < 2 || n >= sizeof digits || name[0] != '#') return false;
    memcpy(digits, name + 1, n - 1);
    digits[n - 1] = 0;
    const bool hex = digits[0] == 'x';
    const unsigned long code = strtoul(digits + hex, &end, hex ? 16 : 10);
    if (*end || end == digits + hex || code == 0 || code > 0x10FFFF) return false;
    cb_buf_put(out, utf8, cb_utf8_put((uint32_t)code, utf8));
    return true;
}

bool cb_xml_put_text(cb_buf *out, cb_xml_part part)
{
    const char *at = part.text, *end = at + part.size;
    cb_buf_put(out, "", 0);
    while (at < end) {
        const char *amp = memchr(at, '&', (size_t)(end - at));
        cb_buf_put(out, at, (size_t)((amp ? amp : end) - at));
        if (!amp) return true;
        const char *semicolon = memchr(amp, ';', (size_t)(end - amp));
        if (!semicolon || !put_reference(out, amp + 1, (size_t)(semicolon - amp - 1))) return false;
        at = semicolon + 1;
    }
    return true;
}

bool cb_xml_escape(cb_buf *out, const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < 32 && !strchr("\t\r\n", c)) return false;
        if (c < 32 || strchr("&<>\"'", c))
            cb_buf_printf(out, "&#%d;", c);
        else
            cb_buf_put(out, text, 1);
    }
    return true;
}
