#include "store/auth/ini.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

cubed_status cb_read_file(cb_zone *zone, const char *path, size_t most, const char **out,
                          cubed_error *err)
{
    cubed_status st = CUBED_OK;
    *out = NULL;
    FILE *f = fopen(path, "rbe");
    if (!f) {
        if (errno == ENOENT || errno == ENOTDIR) return CUBED_OK;
        return cb_fail_errno(err, errno, "cannot read %s", path);
    }
    char *text = cb_zone_alloc(zone, most + 1);
    if (!text) CB_GO(cb_fail(err, CUBED_E_NOMEM, "no memory to read %s", path));
    const size_t n = fread(text, 1, most + 1, f);
    if (ferror(f)) CB_GO(cb_fail_errno(err, errno, "cannot read %s", path));
    if (n > most) CB_GO(cb_fail(err, CUBED_E_IO, "%s is longer than %zu bytes", path, most));
    text[n] = 0;
    *out = text;
out:
    (void)fclose(f);
    return st;
}

static size_t line_length(const char *at) { return strcspn(at, "\r\n"); }

/* Removes spaces and tabs at both ends. Updates *n to the remaining length. */
static const char *trim(const char *text, size_t *n)
{
    while (*n > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        --*n;
    }
    while (*n > 0 && (text[*n - 1] == ' ' || text[*n - 1] == '\t')) --*n;
    return text;
}

static bool equals(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(text, word, n) == 0;
}

const char *cb_ini_get(cb_zone *zone, const char *text, const char *section, const char *name,
                       bool *found)
{
    bool here = false;
    for (const char *at = text; *at;) {
        size_t n = line_length(at);
        const char *line = at;
        at += n;
        at += strspn(at, "\r\n");
        if (n == 0 || strchr("#; \t", *line)) continue;
        if (*line == '[') {
            const char *close = memchr(line, ']', n);
            size_t k = close ? (size_t)(close - line) - 1 : 0;
            const char *title = trim(line + 1, &k);
            here = equals(title, k, section);
            *found = *found || here;
            continue;
        }
        const char *sign = here ? memchr(line, '=', n) : NULL;
        if (!sign) continue;
        size_t k = (size_t)(sign - line), v = n - k - 1;
        const char *key = trim(line, &k), *value = trim(sign + 1, &v);
        if (!equals(key, k, name)) continue;
        char *copy = cb_zone_alloc(zone, v + 1);
        if (copy) memcpy(copy, value, v);
        return copy;
    }
    return NULL;
}
