/* Results that are a single file. */
#ifndef CUBED_CLI_ARCHIVE_H
#define CUBED_CLI_ARCHIVE_H

#include "cli.h"

typedef struct archive {
    char *path, *staging; /* paths of the file, and of the store from which it is written */
    cubed_new_file *file; /* the archive; NULL until writing begins */
    cubed_target *targets;
    cubed_plan_group *groups;
    int ntargets, ngroups;
    bool netcdf;
    const cli_picture *picture; /* NULL if the result is not drawn */
} archive;

/* Return true if `url` is a local path with the suffix of a single file. archive_is_wanted: a ZIP archive or a NetCDF file;
 * archive_is_netcdf: a NetCDF file. */
bool archive_is_wanted(const char *url);
bool archive_is_netcdf(const char *url);
/* Returns true if `url` has the suffix of a single file, but is not a local path. */
bool archive_is_elsewhere(const char *url);
/* Returns true if `url` is a local path with the suffix of an image file, which `cubed plot` draws. */
bool archive_is_picture(const char *url);
/* Returns true if `url` is a local path with the suffix of a file that can only be read. */
bool archive_is_unknown(const char *url);
/* Returns the reason why no result can be written to that URL: its suffix is unknown, or its directory is missing. Returns NULL
 * if results can be written. The caller frees the string. `elsewhere`: another machine may write the result, so the directory is
 * not checked. */
char *archive_refuse(const char *url, bool elsewhere);
/* Creates targets and groups in the store. Returns NULL, or an error message, which the caller frees. `picture` is NULL if the
 * result is not drawn. */
char *archive_begin(archive *a, const cubed_target *targets, int ntargets,
                    const cubed_plan_group *groups, int ngroups, const cli_picture *picture,
                    bool overwrite);
/* Claims the file for this process, so that no other process writes it. Call it before anything is written. */
cubed_status archive_claim(archive *a, cubed_context *ctx, const cli_common *c, cubed_error *err);
/* Writes the file from the store of the results. Call it when all targets are complete. */
cubed_status archive_end(archive *a, cubed_context *ctx, bool durable, cubed_error *err);
void archive_free(archive *a);

#endif
