#include "export/netcdf_library.h"
#include "export/netcdf_pkg.h"

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

cubed_status cb_netcdf_fail(const cb_netcdf_writer *w, int rc, const char *what, cubed_error *err)
{
    const cubed_status st = rc == NC_ENOMEM                            ? CUBED_E_NOMEM
                            : rc == NC_EBADNAME || rc == NC_ENAMEINUSE ? CUBED_E_UNSUPPORTED
                                                                       : CUBED_E_IO;
    if (rc > 0) return cb_fail_errno(err, rc, "cannot write %s of %s", what, w->path);
    return cb_fail(err, st, "cannot write %s of %s: %s", what, w->path, w->nc.strerror(rc));
}
