#include "lang/lang_memory.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* check_layers: allow call: the command's own memory; there is nothing to go back to without it */
static void *must(void *p)
{
    if (p) return p;
    fputs("cubed: out of memory\n", stderr); /* check_layers: allow call: see must() */
    exit(EXIT_FAILURE);                      /* check_layers: allow call: see must() */
}

void *lang_alloc(size_t size)
{
    return must(calloc(1, size ? size : 1)); /* check_layers: allow call: see must() */
}

void *lang_resize(void *p, size_t size)
{
    return must(realloc(p, size ? size : 1)); /* check_layers: allow call: see must() */
}

void lang_free(void *p) { free(p); /* check_layers: allow call: the other half of lang_alloc */ }

char *lang_strdup(const char *s) { return lang_printf("%s", s); }

char *lang_printf(const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, ap);
    char *s = lang_alloc((size_t)(n > 0 ? n : 0) + 1);
    vsnprintf(s, (size_t)(n > 0 ? n : 0) + 1, fmt, again);
    va_end(again);
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
