/* ZIP archives of what is in a store. */
#ifndef CB_EXPORT_ZIP_WRITE_H
#define CB_EXPORT_ZIP_WRITE_H

#include "store/core/store.h"

/* The objects of a store as a ZIP archive, stored as they are, in order of their keys; without records of runs. `path`
 * is a new file, which is removed on failure. */
CUBED_MUST_CHECK cubed_status cb_zip_write(cubed_store *from, const char *path, bool durable,
                                           cubed_error *err);

#endif
