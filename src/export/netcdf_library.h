/* Access to libnetcdf. It is loaded when the first file is written, because loading it and its dependencies takes time. */
#ifndef CB_EXPORT_NETCDF_LIBRARY_H
#define CB_EXPORT_NETCDF_LIBRARY_H

#include <netcdf.h>

#include "cubed/base.h"

#define CB_NETCDF_FUNCTIONS(F)                                                                     \
    F(create)                                                                                      \
    F(close)                                                                                       \
    F(enddef)                                                                                      \
    F(strerror)                                                                                    \
    F(def_grp)                                                                                     \
    F(def_dim)                                                                                     \
    F(def_var)                                                                                     \
    F(def_var_chunking)                                                                            \
    F(def_var_deflate)                                                                             \
    F(def_var_fill)                                                                                \
    F(set_var_chunk_cache)                                                                         \
    F(put_att)                                                                                     \
    F(put_att_text)                                                                                \
    F(put_vara)

typedef struct cb_netcdf_library {
#define MEMBER(name) __typeof__(nc_##name) *(name);
    CB_NETCDF_FUNCTIONS(MEMBER)
#undef MEMBER
} cb_netcdf_library;

/* Fails with CUBED_E_UNSUPPORTED if libnetcdf is not installed. It is never unloaded. */
CUBED_MUST_CHECK cubed_status cb_netcdf_load(cb_netcdf_library *out, cubed_error *err);
/* libnetcdf is not thread-safe: it and its data may be used only while this lock is held. */
void cb_netcdf_lock(void);
void cb_netcdf_unlock(void);

#endif
