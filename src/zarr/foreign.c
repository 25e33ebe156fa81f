/* Recognises stores that represent a file of another format as Zarr. */
#include <string.h>

#include "store/core/file_kind.h"
#include "zarr/zarr_pkg.h"

bool cb_zarr_is_foreign(const cubed_store *store)
{
    const cubed_file_kind kind = cb_store_file_kind(store->url, strlen(store->url));
    return kind == CUBED_FILE_NETCDF || kind == CUBED_FILE_READ_ONLY;
}
