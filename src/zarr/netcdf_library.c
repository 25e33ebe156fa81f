#include "zarr/netcdf_library.h"

#include "base/error.h"
#include "base/library.h"
#include "base/lock.h"

/* check_layers: allow global: the library that it is for has state of the process */
static cb_mutex lock = CB_MUTEX_INITIALIZER;

void cb_netcdf_lock(void) CB_UNCHECKED_LOCKS { cb_mutex_lock(&lock); }

void cb_netcdf_unlock(void) CB_UNCHECKED_LOCKS { cb_mutex_unlock(&lock); }

cubed_status cb_netcdf_load(cb_netcdf_library *out, cubed_error *err)
{
#define FUNCTION(name) {"nc_" #name, &out->name},
    const cb_library_function functions[] = {CB_NETCDF_FUNCTIONS(FUNCTION)};
#undef FUNCTION
    char missing[256];
    if (cb_library_load(CB_NETCDF_LIBRARY, functions, sizeof functions / sizeof *functions, missing,
                        sizeof missing))
        return CUBED_OK;
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "NetCDF is written by " CB_NETCDF_LIBRARY ", which is not there: %s: install it "
                   "(Debian's libnetcdf), or name a Zarr store",
                   missing);
}
