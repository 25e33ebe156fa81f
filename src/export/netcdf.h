/* Writes NetCDF-4 files from the contents of a store. */
#ifndef CB_EXPORT_NETCDF_H
#define CB_EXPORT_NETCDF_H

#include "zarr/zarr.h"

/* Checks that an array of this type and with these codecs (NULL: the default codecs) can be written as a variable of a NetCDF
 * file. `name` is the array's name in messages. */
CUBED_MUST_CHECK cubed_status cb_netcdf_check(const char *name, cubed_dtype dtype,
                                              const char *codecs_json, cubed_error *err);
/* Returns the maximum memory in bytes that is needed to write an array of `n` chunks of chunk_bytes bytes each. */
uint64_t cb_netcdf_mem(uint64_t chunk_bytes, uint64_t n);
/* Writes groups and arrays as groups and variables. An array at the root becomes the variable "data". `path` is a new file,
 * which is removed on failure. */
CUBED_MUST_CHECK cubed_status cb_netcdf_write(cubed_store *from, const cb_codecs *codecs,
                                              const char *path, bool durable, cubed_error *err);

#endif
