#include "lang/lang_memory.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* check_layers: allow call: the language uses the public API only, which has no allocator for its callers */
void *lang_alloc(size_t size)
{
    return calloc(1, size ? size : 1); /* check_layers: allow call: see above */
}

void *lang_resize(void *p, size_t size)
{
    return realloc(p, size ? size : 1); /* check_layers: allow call: see above */
}

void lang_free(void *p) { free(p); /* check_layers: allow call: see above */ }

char *lang_strdup(const char *s) { return lang_printf("%s", s); }

char *lang_vprintf(const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, ap);
    char *s = n < 0 ? NULL : lang_alloc((size_t)n + 1);
    if (s) vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

char *lang_printf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = lang_vprintf(fmt, ap);
    va_end(ap);
    return s;
}

bool lang_parse_int(const char **text, int64_t *out)
{
    const char *digits = *text + (**text == '-');
    char *end;
    if (!isdigit((unsigned char)*digits)) return false;
    errno = 0;
    *out = strtoll(*text, &end, 10);
    if (errno != 0) return false;
    *text = end;
    return true;
}
