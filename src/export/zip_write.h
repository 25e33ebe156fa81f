/* Writes ZIP archives from the contents of a store. */
#ifndef CB_EXPORT_ZIP_WRITE_H
#define CB_EXPORT_ZIP_WRITE_H

#include "store/core/store.h"

/* Writes the objects of a store to a ZIP archive, uncompressed, in order of their keys, without records of runs. `path` is
 * a new file, which is removed on failure. */
CUBED_MUST_CHECK cubed_status cb_zip_write(cubed_store *from, const char *path, bool durable,
                                           cubed_error *err);

#endif
