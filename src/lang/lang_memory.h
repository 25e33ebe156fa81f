/* Memory and strings of the expression language. */
#ifndef CUBED_LANG_MEMORY_H
#define CUBED_LANG_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cubed/base.h"

/* Zeroed memory, freed with lang_free. */
void *lang_alloc(size_t size);
void *lang_resize(void *p, size_t size);
void lang_free(void *p);
char *lang_strdup(const char *s);
char *lang_printf(const char *fmt, ...) CUBED_PRINTF(1, 2);

/* Reads a decimal number that fits into *out, and moves *text behind it. */
bool lang_parse_int(const char **text, int64_t *out);

#endif
