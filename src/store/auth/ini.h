/* Files of profiles: sections of lines NAME = VALUE. */
#ifndef CB_STORE_INI_H
#define CB_STORE_INI_H

#include "base/alloc.h"

/* The file's text; NULL in *out if there is no such file. CUBED_E_IO for one that cannot be read. */
CUBED_MUST_CHECK cubed_status cb_read_file(cb_zone *zone, const char *path, size_t most,
                                           const char **out, cubed_error *err);
/* The value in [section] of the text, in the zone; NULL if there is none. Lines that go on behind spaces belong to
 * others, and are passed over, as are comments. *found: there is such a section. */
const char *cb_ini_get(cb_zone *zone, const char *text, const char *section, const char *name,
                       bool *found);

#endif
