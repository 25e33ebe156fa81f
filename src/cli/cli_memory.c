/* Memory allocation of the command, which exits if memory is exhausted. */
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>

#include "cli.h"

/* check_layers: allow call: memory of the command, which exits if memory is exhausted */
void *cli_must(void *p)
{
    if (p) return p;
    fputs("cubed: out of memory\n", stderr);
    exit(EXIT_FAILURE);
}

/* Makes Jansson use allocation functions that exit if memory is exhausted, because it would otherwise drop members of
 * documents without an error. */
void cli_set_json_memory(void) { json_set_alloc_funcs(cli_alloc, cli_free); }

void *cli_alloc(size_t size)
{
    return cli_must(calloc(1, size ? size : 1)); /* check_layers: allow call: see cli_must() */
}

void *cli_resize(void *p, size_t size)
{
    return cli_must(realloc(p, size ? size : 1)); /* check_layers: allow call: see cli_must() */
}

void cli_free(void *p) { free(p); /* check_layers: allow call: the other half of cli_alloc */ }

char *cli_vprintf(const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *s = cli_alloc((size_t)(n > 0 ? n : 0) + 1);
    vsnprintf(s, (size_t)(n > 0 ? n : 0) + 1, fmt, again);
    va_end(again);
    return s;
}

char *cli_printf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = cli_vprintf(fmt, ap);
    va_end(ap);
    return s;
}

char *cli_strdup(const char *s) { return cli_printf("%s", s); }
