/* Shared by the files that write NetCDF. */
#ifndef CB_EXPORT_NETCDF_PKG_H
#define CB_EXPORT_NETCDF_PKG_H

#include "base/json.h"
#include "export/netcdf.h"
#include "export/netcdf_library.h"

typedef struct cb_netcdf_dim {
    int group; /* whose it is: a number in the list of entries */
    const char *name;
    int64_t n;
    int id;
} cb_netcdf_dim;

/* A group, or an array that is a variable. */
typedef struct cb_netcdf_entry {
    const char *path;
    bool is_array;
    int group; /* the entry around it; -1: none */
    int id;    /* of the group or the variable */
    size_t
        width; /* of texts: characters of the variable's last dimension, which the array has not; else 0 */
    cb_zarr_array *array;
} cb_netcdf_entry;

typedef struct cb_netcdf_writer {
    cb_netcdf_library nc;
    cubed_store *from;
    const char *path; /* of the file that is written */
    int file;         /* -1: it is closed */
    bool created;     /* by this writer */
    cb_zone *zone;
    cb_netcdf_entry *list; /* parents first */
    int n, cap;
    cb_netcdf_dim *dims;
    int ndims, capdims;
} cb_netcdf_writer;

/* What libnetcdf said of `what`; rc is not 0. */
cubed_status cb_netcdf_fail(const cb_netcdf_writer *w, int rc, const char *what, cubed_error *err);
/* The type of variables; NC_NAT: there is none. */
nc_type cb_netcdf_type(cubed_dtype dtype);
/* Attributes of a group (`meta` NULL), or of a variable, with those that its type needs. */
CUBED_MUST_CHECK cubed_status cb_netcdf_put_attrs(const cb_netcdf_writer *w, int group,
                                                  int variable, const char *text,
                                                  const cb_zarr_meta *meta, bool coordinate,
                                                  cubed_error *err);

#endif
