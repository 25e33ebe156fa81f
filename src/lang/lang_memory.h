/* Memory and strings of the expression language. */
#ifndef CUBED_LANG_MEMORY_H
#define CUBED_LANG_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cubed/base.h"

/* Returns zeroed memory, or NULL if the machine has none. */
void *lang_alloc(size_t size);
/* Changes the size of a block from lang_alloc. Returns NULL if the machine has no memory: the block stays as it is. */
void *lang_resize(void *p, size_t size);
void lang_free(void *p);

/* Strings of their own, freed with lang_free; NULL if the machine has no memory. */
char *lang_strdup(const char *s);
char *lang_printf(const char *fmt, ...) CUBED_PRINTF(1, 2);
char *lang_vprintf(const char *fmt, va_list ap);

/* Reads a decimal number that fits into *out, and moves *text behind it. */
bool lang_parse_int(const char **text, int64_t *out);

#endif
