/* Declarations shared by the files that write NetCDF. */
#ifndef CB_EXPORT_NETCDF_PKG_H
#define CB_EXPORT_NETCDF_PKG_H

#include "base/json.h"
#include "export/netcdf.h"
#include "export/netcdf_library.h"

typedef struct cb_netcdf_dim {
    int group; /* index of its group in the list of entries */
    const char *name;
    int64_t n;
    int id;
} cb_netcdf_dim;

/* A group, or an array that is a variable. */
typedef struct cb_netcdf_entry {
    const char *path;
    bool is_array;
    int group; /* index of the parent entry; -1: no parent */
    int id;    /* ID of the group or variable */
    /* for strings: length of the variable's extra last dimension of characters; otherwise 0 */
    size_t width;
    cb_zarr_array *array;
} cb_netcdf_entry;

typedef struct cb_netcdf_writer {
    cb_netcdf_library nc;
    cubed_store *from;
    const char *path; /* path of the file being written */
    int file;         /* ID of the open file in libnetcdf; -1: the file is not open */
    bool created;     /* this writer created the file */
    cb_zone *zone;
    cb_netcdf_entry *list; /* parents first */
    int n, cap;
    cb_netcdf_dim *dims;
    int ndims, capdims;
} cb_netcdf_writer;

/* Reports an error of libnetcdf in `what`. `rc` must not be 0. */
cubed_status cb_netcdf_fail(const cb_netcdf_writer *w, int rc, const char *what, cubed_error *err);
/* Returns the type of variables; NC_NAT if NetCDF has no such type. */
nc_type cb_netcdf_type(cubed_dtype dtype);
/* Writes the attributes of a group (`meta` NULL) or of a variable, including those that its type needs. */
CUBED_MUST_CHECK cubed_status cb_netcdf_put_attrs(const cb_netcdf_writer *w, int group,
                                                  int variable, const char *text,
                                                  const cb_zarr_meta *meta, bool coordinate,
                                                  cubed_error *err);

#endif
