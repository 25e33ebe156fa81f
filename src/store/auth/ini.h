/* Profile files: sections of lines NAME = VALUE. */
#ifndef CB_STORE_INI_H
#define CB_STORE_INI_H

#include "base/alloc.h"

/* Reads a file of at most `most` bytes. Sets *out to NULL if it does not exist. CUBED_E_IO if it cannot be read. */
CUBED_MUST_CHECK cubed_status cb_read_file(cb_zone *zone, const char *path, size_t most,
                                           const char **out, cubed_error *err);
/* Returns the value of a name in [section], allocated in the zone, or NULL. Ignores comments and indented lines, which are
 * nested settings. Sets *found if the section exists. */
const char *cb_ini_get(cb_zone *zone, const char *text, const char *section, const char *name,
                       bool *found);

#endif
