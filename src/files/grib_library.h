/* Access to the library ecCodes, which decodes GRIB messages. It contains GRIB's tables of names, units, levels, grids and
 * packings. It is loaded when the first GRIB file is opened. All calls are made under one lock, because some builds of ecCodes
 * are not thread-safe. */
#ifndef CB_FILES_GRIB_LIBRARY_H
#define CB_FILES_GRIB_LIBRARY_H

#include "cubed/base.h"

typedef struct codes_handle codes_handle;
typedef struct grib_iterator grib_iterator;

/* Functions of ecCodes, without the prefix "codes_". */
#define CB_ECCODES_FUNCTIONS(F)                                                                    \
    F(context_get_default)                                                                         \
    F(context_set_logging_proc)                                                                    \
    F(set_codes_assertion_failed_proc)                                                             \
    F(handle_new_from_message)                                                                     \
    F(handle_delete)                                                                               \
    F(get_long)                                                                                    \
    F(get_long_array)                                                                              \
    F(get_double)                                                                                  \
    F(get_string)                                                                                  \
    F(get_size)                                                                                    \
    F(get_double_array)                                                                            \
    F(set_double)                                                                                  \
    F(grib_iterator_new)                                                                           \
    F(grib_iterator_next)                                                                          \
    F(grib_iterator_delete)                                                                        \
    F(get_error_message)

typedef struct cb_eccodes {
    void *(*context_get_default)(void);
    void (*context_set_logging_proc)(void *context,
                                     void (*log)(const void *context, int level, const char *text));
    void (*set_codes_assertion_failed_proc)(void (*fail)(const char *text));
    codes_handle *(*handle_new_from_message)(void *context, const void *data, size_t size);
    int (*handle_delete)(codes_handle *h);
    int (*get_long)(const codes_handle *h, const char *key, long *out);
    int (*get_long_array)(const codes_handle *h, const char *key, long *out, size_t *n);
    int (*get_double)(const codes_handle *h, const char *key, double *out);
    int (*get_string)(const codes_handle *h, const char *key, char *out, size_t *size);
    int (*get_size)(const codes_handle *h, const char *key, size_t *out);
    int (*get_double_array)(const codes_handle *h, const char *key, double *out, size_t *n);
    int (*set_double)(codes_handle *h, const char *key, double value);
    grib_iterator *(*grib_iterator_new)(const codes_handle *h, unsigned long flags, int *error);
    int (*grib_iterator_next)(grib_iterator *i, double *latitude, double *longitude, double *value);
    int (*grib_iterator_delete)(grib_iterator *i);
    const char *(*get_error_message)(int error);
} cb_eccodes;

typedef cubed_status (*cb_eccodes_fn)(const cb_eccodes *e, void *ctx, cubed_error *err);
/* Loads the library, and calls fn under its lock.
 *
 * If an assertion of the library fails in fn, fn is left by longjmp. So fn must not own anything except memory of ecCodes.
 * Afterwards the library's state is unknown, so this process does not use the library again.
 *
 * Errors: CUBED_E_UNSUPPORTED if the machine does not have the library; the message names the package to install. CUBED_E_FORMAT
 * if an assertion failed in this call, and CUBED_E_UNSUPPORTED if one failed in an earlier call. */
CUBED_MUST_CHECK cubed_status cb_eccodes_run(cb_eccodes_fn fn, void *ctx, cubed_error *err);
/* Unpacks the values of a message in scan order to `out`, which has room for n; NaN if missing. Call it in cb_eccodes_run.
 * CUBED_E_FORMAT if the message does not have n values. */
CUBED_MUST_CHECK cubed_status cb_eccodes_values(const cb_eccodes *e, const void *message,
                                                size_t size, double *out, size_t n,
                                                cubed_error *err);
typedef void (*cb_eccodes_point_fn)(void *ctx, uint64_t i, double latitude, double longitude);
/* Calls fn for each of the n points of the grid of a message, in scan order. Call it in cb_eccodes_run. CUBED_E_UNSUPPORTED if
 * the library does not know the positions; CUBED_E_FORMAT if the grid has another number of points. */
CUBED_MUST_CHECK cubed_status cb_eccodes_points(const cb_eccodes *e, const codes_handle *h,
                                                uint64_t n, cb_eccodes_point_fn fn, void *ctx,
                                                cubed_error *err);

#endif
