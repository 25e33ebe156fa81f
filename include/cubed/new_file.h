/* Files that results become. */
#ifndef CUBED_NEW_FILE_H
#define CUBED_NEW_FILE_H

#include "cubed/run.h"
#include "cubed/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The exclusive right of a process to write a file that results become: a ZIP archive, a NetCDF file, or another. */
typedef struct cubed_new_file cubed_new_file;
/* Suffix of the file's path that gives the path of the store to which results are written, with `overwrite` in their
 * targets. */
#define CUBED_NEW_FILE_STORE ".cubed-new/data"
typedef struct cubed_new_file_options {
    size_t struct_size;
    bool replace; /* publishing replaces a file at the path; false: such a file is CUBED_E_EXISTS */
    /* Keeps results that an earlier process left in the store, if its `contents` is the same string, such as the names
     * of the arrays, and that process cannot write any more; otherwise they are removed. */
    bool resume;
    const char *contents; /* NULL: "" */
} cubed_new_file_options;
#define CUBED_NEW_FILE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(cubed_new_file_options), false, false, NULL                                         \
    }
/* Takes the right to write the file at `path`, until cubed_new_file_end. A thread gives signs of life. A process that
 * has ended, or a silent process of another machine, loses the right and cannot publish its file any more.
 *
 * options   NULL: the defaults
 * takeover  when a process on another machine loses the right; NULL: the defaults
 *
 * Errors: CUBED_E_EXISTS if another process writes the file; the message names it.
 * Ownership: *out is the caller's. Thread safety: one thread per file. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_new_file_begin(cubed_context *ctx, const char *path,
                                                             const cubed_new_file_options *options,
                                                             const cubed_takeover_options *takeover,
                                                             cubed_new_file **out,
                                                             cubed_error *err);
/* Returns the path at which the caller writes a file of another kind, before it is published. */
CUBED_API const char *cubed_new_file_draft(const cubed_new_file *f);
/* Makes the file of everything in the store, chunk by chunk, and moves it to its path atomically. cubed_new_file_end
 * then removes the store. After an error the store stays for a process that resumes, if it has chunks.
 *
 * kind     CUBED_FILE_ZIP: an archive like zarr-python's ZipStore. CUBED_FILE_NETCDF: by libnetcdf, of a store of
 *          format 3: groups, arrays as variables (at the root: "data"), dimensions by their names, attributes. Codecs
 *          of the family of gzip and zlib set the level of deflation, "bytes" alone turns it off, all others mean level
 *          1. CUBED_FILE_NONE: the draft that the caller has written
 * durable  the file survives a power failure
 *
 * Errors: CUBED_E_EXISTS if another process has taken the right over, or if the path exists and is not to be replaced.
 * CUBED_E_UNSUPPORTED without libnetcdf. */
CUBED_API CUBED_MUST_CHECK cubed_status cubed_new_file_publish(cubed_new_file *f,
                                                               cubed_file_kind kind, bool durable,
                                                               cubed_error *err);
/* Gives up the right and frees `f`; NULL is allowed. Does nothing in a forked child of the process that has the right. */
CUBED_API void cubed_new_file_end(cubed_new_file *f);

#ifdef __cplusplus
}
#endif

#endif
