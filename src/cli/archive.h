/* Results that are one file. */
#ifndef CUBED_CLI_ARCHIVE_H
#define CUBED_CLI_ARCHIVE_H

#include "cli.h"

typedef struct archive {
    char *path, *staging; /* of the file, and of the store that becomes it */
    cubed_new_file *file; /* NULL: not begun */
    cubed_target *targets;
    cubed_plan_group *groups;
    int ntargets, ngroups;
    bool netcdf;
    const cli_picture *picture; /* NULL: it is none */
} archive;

/* Whether a result of that URL is to be in a file: of ZIP, or of NetCDF. */
bool archive_is_wanted(const char *url);
bool archive_is_netcdf(const char *url);
/* Whether it is to be in a file that has no path here, but a URL. */
bool archive_is_elsewhere(const char *url);
/* Whether its name is that of a picture, which `cubed plot` draws. */
bool archive_is_picture(const char *url);
/* Whether it is to be in a file of another kind, which nobody here writes. */
bool archive_is_unknown(const char *url);
/* Why no result goes to that URL: its suffix is of no known kind, or its directory is missing. `elsewhere`: another machine
 * may write it, whose directories are not known. NULL if it can; the caller's. */
char *archive_refuse(const char *url, bool elsewhere);
/* Targets and groups as they are made in the store; NULL, or what is wrong: the caller's. `picture` NULL: it is none. */
char *archive_begin(archive *a, const cubed_target *targets, int ntargets,
                    const cubed_plan_group *groups, int ngroups, const cli_picture *picture,
                    bool overwrite);
/* Takes the right to write the file, before anything is written. */
cubed_status archive_claim(archive *a, cubed_context *ctx, const cli_common *c, cubed_error *err);
/* When all of them are whole. */
cubed_status archive_end(archive *a, cubed_context *ctx, bool durable, cubed_error *err);
void archive_free(archive *a);

#endif
