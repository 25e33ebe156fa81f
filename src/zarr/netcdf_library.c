#include "zarr/netcdf_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/error.h"

/* check_layers: allow global: the library that it is for has state of the process */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void cb_netcdf_lock(void) { pthread_mutex_lock(&lock); }

void cb_netcdf_unlock(void) { pthread_mutex_unlock(&lock); }

cubed_status cb_netcdf_load(cb_netcdf_library *out, cubed_error *err)
{
    void *object = dlopen(CB_NETCDF_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const char *missing = object ? NULL : "it";
    const char *why = object ? "" : dlerror();
    void *f;
#define LOAD(name)                                                                                 \
    f = object ? dlsym(object, "nc_" #name) : NULL;                                                \
    memcpy(&out->name, &f, sizeof f);                                                              \
    if (!f && !missing) missing = "nc_" #name;
    CB_NETCDF_FUNCTIONS(LOAD)
#undef LOAD
    if (!missing) return CUBED_OK;
    return cb_fail(err, CUBED_E_UNSUPPORTED,
                   "NetCDF is written by " CB_NETCDF_LIBRARY ", but %s is not there%s%s: install "
                   "it (Debian's libnetcdf), or name a Zarr store",
                   missing, why ? ": " : "", why ? why : "");
}
