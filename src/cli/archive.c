/* Results in a single file (--out r.zip, r.nc, map.png). Arrays are created in a store next to the file. When all arrays are
 * complete, the file is written or drawn from the store. */
#include "archive.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "picture.h"

/* Returns true if the store of `url` has a local path that is not a directory. */
static bool is_local(const char *url)
{
    size_t n, store;
    struct stat info;
    (void)cubed_url_path(url, &n, &store);
    char *name = cli_printf("%.*s", (int)store, url);
    const bool directory = stat(name, &info) == 0 && S_ISDIR(info.st_mode);
    const bool elsewhere = cli_is_url(name);
    cli_free(name);
    return !directory && !elsewhere;
}

static bool is_file(const char *url, cubed_file_kind kind)
{
    return cubed_url_file_kind(url) == kind && is_local(url);
}

bool archive_is_elsewhere(const char *url)
{
    const cubed_file_kind kind = cubed_url_file_kind(url);
    return kind != CUBED_FILE_NONE && kind != CUBED_FILE_REFERENCES && cli_is_url(url);
}

bool archive_is_netcdf(const char *url) { return is_file(url, CUBED_FILE_NETCDF); }

bool archive_is_wanted(const char *url)
{
    return is_file(url, CUBED_FILE_ZIP) || archive_is_netcdf(url);
}

bool archive_is_unknown(const char *url) { return is_file(url, CUBED_FILE_READ_ONLY); }

bool archive_is_picture(const char *url)
{
    static const char *const ends[] = {".png", ".svg", ".pdf"};
    size_t n, store;
    bool is = false;
    (void)cubed_url_path(url, &n, &store);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        is = is || (store > 4 && strncasecmp(url + store - 4, ends[i], 4) == 0);
    return is && is_local(url);
}

/* Returns the suffix of a file's name, such as "csv". Returns "" without a suffix, and for a suffix that cannot be a file
 * type ("r.2020"). */
static const char *suffix_of(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
    if (!dot || dot == name || (slash && dot <= slash + 1)) return "";
    return strspn(dot + 1, letters) > 0 ? dot + 1 : "";
}

/* Returns the directory of a path if it does not exist. The caller frees the string. Returns NULL if the directory exists. Also
 * returns NULL if its name contains "..", because the library resolves names such as "none/.." without accessing the disk. */
static char *missing_directory(const char *name)
{
    size_t n = strlen(name);
    while (n > 1 && name[n - 1] == '/') n--;
    while (n > 0 && name[n - 1] != '/') n--;
    while (n > 1 && name[n - 1] == '/') n--;
    char *above = cli_printf("%.*s", (int)n, name);
    if (n == 0 || strstr(above, "..") || access(above, F_OK) == 0) {
        cli_free(above);
        return NULL;
    }
    return above;
}

char *archive_refuse(const char *url, bool elsewhere)
{
    size_t n, store;
    (void)cubed_url_path(url, &n, &store);
    char *name = cli_printf("%.*s", (int)store, url), *wrong = NULL;
    struct stat info;
    const bool is_place = cli_is_url(name) || (stat(name, &info) == 0 && S_ISDIR(info.st_mode));
    const char *suffix = suffix_of(name);
    char *above = is_place || elsewhere ? NULL : missing_directory(name);
    if (above)
        wrong = cli_printf("%s: there is no directory %s: create it, or choose another place", url,
                           above);
    else if (!is_place && *suffix && strcmp(suffix, "zarr") != 0 && !archive_is_picture(url) &&
             cubed_url_file_kind(url) == CUBED_FILE_NONE)
        wrong = cli_printf("%s: results are not written as \".%s\", expected a Zarr store "
                           "(r.zarr), a file of NetCDF (r.nc) or an archive of a store (r.zip)",
                           url, suffix);
    cli_free(above);
    cli_free(name);
    return wrong;
}

static char *staged(const archive *a, const char *url)
{
    size_t n, store;
    const char *path = cubed_url_path(url, &n, &store);
    return cli_printf("%s%s%.*s", a->staging, n ? "::" : "", (int)n, path);
}

char *archive_begin(archive *a, const cubed_target *targets, int ntargets,
                    const cubed_plan_group *groups, int ngroups, const cli_picture *picture,
                    bool overwrite)
{
    size_t n, store;
    const char *unfit = NULL;
    (void)cubed_url_path(targets[0].url, &n, &store);
    a->path = cli_printf("%.*s", (int)store, targets[0].url);
    a->netcdf = archive_is_netcdf(targets[0].url);
    a->picture = picture;
    a->staging = cli_printf("%s" CUBED_NEW_FILE_STORE, a->path);
    a->targets = cli_alloc((size_t)ntargets * sizeof *a->targets);
    a->groups = cli_alloc(((size_t)ngroups + 1) * sizeof *a->groups);
    for (a->ntargets = 0; a->ntargets < ntargets; a->ntargets++) {
        const int i = a->ntargets;
        a->targets[i] = targets[i];
        a->targets[i].url = staged(a, targets[i].url);
        a->targets[i].overwrite = true; /* the targets replace arrays of an earlier attempt */
        a->targets[i].durable = false;
        if (!a->netcdf) continue;
        a->targets[i].zarr_format = 3;
        a->targets[i].shards = NULL;
    }
    for (a->ngroups = 0; a->ngroups < ngroups; a->ngroups++) {
        a->groups[a->ngroups] = groups[a->ngroups];
        a->groups[a->ngroups].url = staged(a, groups[a->ngroups].url);
        a->groups[a->ngroups].overwrite = true;
        if (a->netcdf && groups[a->ngroups].copy_of)
            unfit = unfit ? unfit : groups[a->ngroups].copy_of;
        if (a->netcdf) a->groups[a->ngroups].zarr_format = 3;
    }
    if (unfit)
        return cli_printf(
            "%s: its type or codecs are not supported, so it cannot be written to a NetCDF "
            "file: write to a Zarr store",
            unfit);
    if (!overwrite && access(a->path, F_OK) == 0)
        return cli_printf("%s exists: --overwrite replaces it", a->path);
    return NULL;
}

cubed_status archive_claim(archive *a, cubed_context *ctx, const cli_common *c, cubed_error *err)
{
    cubed_new_file_options o = CUBED_NEW_FILE_OPTIONS_INIT;
    cubed_takeover_options takeover = CUBED_TAKEOVER_OPTIONS_INIT;
    char *contents = cli_printf("%s", "");
    for (int i = 0; i < a->ntargets + a->ngroups; i++) {
        const char *url = i < a->ntargets ? a->targets[i].url : a->groups[i - a->ntargets].url;
        char *longer = cli_printf("%s%s\n", contents, url + strlen(a->staging));
        cli_free(contents);
        contents = longer;
    }
    o.replace = c->overwrite || c->resume;
    o.resume = c->resume;
    o.contents = contents;
    takeover.silence_seconds = c->silence_seconds;
    takeover.take_over = c->take_over;
    const cubed_status st = cubed_new_file_begin(ctx, a->path, &o, &takeover, &a->file, err);
    cli_free(contents);
    return st;
}

static cubed_status draw(archive *a, cubed_context *ctx, cubed_error *err)
{
    const cubed_status st =
        picture_draw(a->picture, ctx, a->staging, cubed_new_file_draft(a->file), a->path, err);
    return st == CUBED_OK ? cubed_new_file_publish(a->file, CUBED_FILE_NONE, false, err) : st;
}

cubed_status archive_end(archive *a, cubed_context *ctx, bool durable, cubed_error *err)
{
    if (a->picture) return draw(a, ctx, err);
    return cubed_new_file_publish(a->file, a->netcdf ? CUBED_FILE_NETCDF : CUBED_FILE_ZIP, durable,
                                  err);
}

void archive_free(archive *a)
{
    cubed_new_file_end(a->file);
    for (int i = 0; i < a->ntargets; i++) cli_free((char *)(uintptr_t)a->targets[i].url);
    for (int i = 0; i < a->ngroups; i++) cli_free((char *)(uintptr_t)a->groups[i].url);
    cli_free(a->targets);
    cli_free(a->groups);
    cli_free(a->path);
    cli_free(a->staging);
}
