#include "export/netcdf_library.h"
#include "export/netcdf_pkg.h"

#include "base/error.h"
#include "base/library.h"
#include "base/lock.h"

/* check_layers: allow global: it guards a library with state of the process */
static cb_mutex lock = CB_MUTEX_INITIALIZER;

void cb_netcdf_lock(void) CB_UNCHECKED_LOCKS { cb_mutex_lock(&lock); }

void cb_netcdf_unlock(void) CB_UNCHECKED_LOCKS { cb_mutex_unlock(&lock); }

cubed_status cb_netcdf_load(cb_netcdf_library *out, cubed_error *err)
{
#define FUNCTION(name) {"nc_" #name, &out->name},
    const cb_library_function functions[] = {CB_NETCDF_FUNCTIONS(FUNCTION)};
#undef FUNCTION
    static const char *const needs[] = {"nc_open", "H5open", "curl_easy_init", NULL};
    char missing[512];
    if (cb_library_load(CB_NETCDF_LIBRARY, functions, sizeof functions / sizeof *functions, needs,
                        missing, sizeof missing))
        return CUBED_OK;
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "writing NetCDF needs " CB_NETCDF_LIBRARY
                   " (Debian's libnetcdf), which cannot be loaded: %s; a Zarr store can be written "
                   "without it",
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
