/* Writing results to single files such as ZIP archives and NetCDF files. */
#ifndef CUBED_NEW_FILE_H
#define CUBED_NEW_FILE_H

#include "cubed/run.h"
#include "cubed/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The exclusive right of a process to write results to one file: a ZIP archive, a NetCDF file, or a file of another kind.
 * Results are first written to a store (CUBED_NEW_FILE_STORE) or a draft next to the file; publishing creates the file from
 * these results. */
typedef struct cubed_new_file cubed_new_file;
/* The store to which results are written first has the file's path and this suffix as its path. Targets in it have
 * `overwrite` set. */
#define CUBED_NEW_FILE_STORE ".cubed-new/data"
typedef struct cubed_new_file_options {
    size_t struct_size;
    bool
        replace; /* publishing replaces an existing file at the path; false: an existing file causes CUBED_E_EXISTS */
    /* Keeps results that an earlier process left in the store, if that process can no longer write, and passed the same string
     * as `contents`. In all other cases the results are removed. A typical string is the list of the names of the arrays. */
    bool resume;
    const char *contents; /* NULL: "" */
} cubed_new_file_options;
#define CUBED_NEW_FILE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cubed_new_file_options), false, false, NULL                                         \
    }
/* Acquires the right to write the file at `path`, until cubed_new_file_end. A background thread writes heartbeats of this
 * process. A process loses the right when it ends or, on another machine, when it writes no more heartbeats. It can then no
 * longer publish its file.
 *
 * options   NULL: the defaults
 * takeover  conditions under which a process on another machine loses the right; NULL: the defaults
 *
 * Errors: CUBED_E_EXISTS if another process writes the file; the message names it.
 * Ownership: *out is the caller's. Thread safety: one thread per file. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_new_file_begin(cubed_context *ctx, const char *path,
                                                             const cubed_new_file_options *options,
                                                             const cubed_takeover_options *takeover,
                                                             cubed_new_file **out,
                                                             cubed_error *err);
/* Returns the path at which the caller writes a file of another kind (CUBED_FILE_NONE) before publishing it. Valid until
 * cubed_new_file_end. */
CUBED_API const char *cubed_new_file_draft(const cubed_new_file *f);
/* Creates the file from all contents of the store, chunk by chunk, and moves it to its path atomically. cubed_new_file_end then
 * removes the store. After an error, a store that has chunks is kept for a process that resumes. `kind` selects the contents of
 * the file:
 *
 * CUBED_FILE_ZIP     an archive with the layout of zarr-python's ZipStore
 * CUBED_FILE_NETCDF  written by libnetcdf from a store of format 3: groups, arrays as variables (at the root: "data"),
 *                    dimensions by their names, attributes. The codecs gzip and zlib set the level of deflation, "bytes" alone
 *                    turns it off, and all other codecs mean level 1.
 * CUBED_FILE_NONE    the draft that the caller has written (cubed_new_file_draft)
 *
 * durable  makes the file survive a power failure
 *
 * Errors: CUBED_E_EXISTS if another process has taken over the right, or if the path exists and may not be replaced.
 * CUBED_E_UNSUPPORTED for NetCDF if libnetcdf is not installed. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_new_file_publish(cubed_new_file *f,
                                                               cubed_file_kind kind, bool durable,
                                                               cubed_error *err);
/* Releases the right and frees `f`; NULL is allowed. Does nothing in a forked child of the process that has the right. */
CUBED_API void cubed_new_file_end(cubed_new_file *f);

#ifdef __cplusplus
}
#endif

#endif
