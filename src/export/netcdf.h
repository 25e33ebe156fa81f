/* NetCDF-4 files of what is in a store. */
#ifndef CB_EXPORT_NETCDF_H
#define CB_EXPORT_NETCDF_H

#include "zarr/zarr.h"

/* Whether an array of that type, stored by these codecs (NULL: the default), can be a variable. `name` is the array's in
 * messages. */
CUBED_MUST_CHECK cubed_status cb_netcdf_check(const char *name, cubed_dtype dtype,
                                              const char *codecs_json, cubed_error *err);
/* The most memory that writing takes with chunks of so many bytes, `n` in all. */
uint64_t cb_netcdf_mem(uint64_t chunk_bytes, uint64_t n);
/* Groups and arrays as groups and variables: an array at the root is the variable "data". `path` is a new file,
 * which is removed on failure. */
CUBED_MUST_CHECK cubed_status cb_netcdf_write(cubed_store *from, const cb_codecs *codecs,
                                              const char *path, bool durable, cubed_error *err);

#endif
