/* Memory and strings of the expression language. */
#ifndef CUBED_LANG_MEMORY_H
#define CUBED_LANG_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cubed/base.h"

/* Returns zeroed memory, or NULL if memory is exhausted. */
void *lang_alloc(size_t size);
/* Changes the size of a block from lang_alloc. If memory is exhausted, returns NULL and leaves the block unchanged. */
void *lang_resize(void *p, size_t size);
void lang_free(void *p);

/* Return a new string, or NULL if memory is exhausted. Free it with lang_free. */
char *lang_strdup(const char *s);
char *lang_printf(const char *fmt, ...) CUBED_PRINTF(1, 2);
char *lang_vprintf(const char *fmt, va_list ap);

/* Reads a decimal integer, and moves *text past it. Returns false if there is no integer, or if it does not fit into *out. */
bool lang_parse_int(const char **text, int64_t *out);

#endif
