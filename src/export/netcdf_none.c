/* Replaces the NetCDF writer in builds without libnetcdf's headers. */
#include "base/error.h"
#include "export/netcdf.h"

static cubed_status without(cubed_error *err)
{
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "cannot write NetCDF: this libcubed was built without libnetcdf (Debian's "
                   "libnetcdf-dev). Name a Zarr store (r.zarr) or an archive of one (r.zip)");
}

cubed_status cb_netcdf_check(const char *name, cubed_dtype dtype, const char *codecs_json,
                             cubed_error *err)
{
    (void)name;
    (void)dtype;
    (void)codecs_json;
    return without(err);
}

uint64_t cb_netcdf_mem(uint64_t chunk_bytes, uint64_t n)
{
    (void)n;
    return chunk_bytes;
}

cubed_status cb_netcdf_write(cubed_store *from, const cb_codecs *codecs, const char *path,
                             bool durable, cubed_error *err)
{
    (void)from;
    (void)codecs;
    (void)path;
    (void)durable;
    return without(err);
}
