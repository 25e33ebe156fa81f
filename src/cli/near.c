/* Suggests a place if a place is missing: the most similar name among the groups, arrays and files next to it. */
#include "near.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "lang/guess.h"

static cubed_status try_member(void *ctx, const cubed_zarr_info *info, cubed_error *err)
{
    (void)err;
    lang_guess_try(ctx, info->path, strlen(info->path));
    return CUBED_OK;
}

static bool try_files(const char *folder, lang_guess *g)
{
    const struct dirent *e;
    DIR *d = opendir(folder);
    if (!d) return false;
    while ((e = readdir(d))) {
        if (e->d_name[0] != '.') lang_guess_try(g, e->d_name, strlen(e->d_name));
    }
    closedir(d);
    return true;
}

/* Searches the folder or group that contains `place` for names that resemble the last part of `place`. If it cannot be searched,
 * returns false, and removes this last part if *more is true. */
static bool search_parent(cubed_context *ctx, char *place, lang_guess *g, bool *more)
{
    size_t n, store;
    cubed_error ignored = CUBED_ERROR_INIT;
    for (size_t end = strlen(place); end > 1 && place[end - 1] == '/'; end--) place[end - 1] = 0;
    const bool within = cubed_url_path(place, &n, &store) && n > 0;
    char *slash = strrchr(place, '/');
    char *cut = within && (!slash || slash < place + store) ? place + store : slash;
    const bool root = cut == place && !within; /* `place` is the root of the file system */
    char *name = cut ? cut + (within && cut == place + store ? 2 : 1) : place;
    *more = cut && !root;
    lang_guess_init(g, name);
    if (!cut) return try_files(".", g);
    char *parent = root ? cli_strdup("/") : cli_printf("%.*s", (int)(cut - place), place);
    const bool files = !within && !strstr(place, "://") && try_files(parent, g);
    const bool group =
        !files && cubed_zarr_members(ctx, parent, false, try_member, g, &ignored) == CUBED_OK;
    cli_free(parent);
    if (!files && !group && *more) *cut = 0;
    return files || group;
}

/* Returns true if the message is about a missing array or group in a Zarr store or a file. */
static bool is_of_place(const char *message)
{
    static const char *const starts[] = {"there is no Zarr ", "there is no array at ",
                                         "there is no group "};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (strncmp(message, starts[i], strlen(starts[i])) == 0) return true;
    }
    return false;
}

cubed_status near_place(cubed_context *ctx, const char *url, cubed_status st, cubed_error *err)
{
    char text[GUESS_TEXT], *place;
    lang_guess g = {.word = ""};
    bool more = true;
    if (st != CUBED_E_NOT_FOUND || !is_of_place(err->message)) return st;
    place = cli_strdup(url);
    /* Repeats with the parent directory or group if that is missing as well. */
    while (more && !search_parent(ctx, place, &g, &more)) continue;
    const size_t n = strlen(err->message);
    snprintf(err->message + n, sizeof err->message - n, "%s", lang_guess_text(&g, text));
    cli_free(place);
    return st;
}
