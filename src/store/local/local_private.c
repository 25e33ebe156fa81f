/* Private directories. A new directory gets mode 0700. An existing directory must belong to this user, and must not be writable
 * by other users. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/local/local.h"
#include "store/local/local_map.h"

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode) ? "a directory" : S_ISLNK(mode) ? "a symbolic link" : "not a directory";
}

static cubed_status check(const local_store *s, const char *path, cubed_error *err)
{
    struct stat info = {.st_mode = 0};
    if (!cb_local_is_foreign(s, path, &info)) return CUBED_OK;
    return cb_fail(err, CUBED_E_EXISTS,
                   "%s is %s of user %u with mode %04o, expected a directory of user %u that no "
                   "other user can write: remove it, or name another work directory",
                   path, kind_of(info.st_mode), (unsigned)info.st_uid,
                   (unsigned)info.st_mode & 07777, (unsigned)geteuid());
}

void cb_store_keep_private(cubed_store *store)
{
    if (cb_store_has_files(store)) ((local_store *)store)->is_private = true;
}

cubed_status cb_store_check_private(const cubed_store *store, const char *prefix, cubed_error *err)
{
    char path[PATH_MAX];
    struct stat info;
    if (!cb_store_has_files(store)) return CUBED_OK;
    const local_store *s = (const local_store *)store;
    CB_TRY(cb_local_path(s, prefix, path, err));
    if (fstatat(s->dir, cb_local_at(s, path), &info, AT_SYMLINK_NOFOLLOW) == 0)
        return check(s, path, err);
    return errno == ENOENT || errno == ENOTDIR
               ? CUBED_OK
               : cb_fail_errno(err, errno, "cannot inspect %s", path);
}

cubed_status cb_store_make_private(cubed_store *store, const char *prefix, cubed_error *err)
{
    char path[PATH_MAX];
    local_store *s = (local_store *)store;
    if (!cb_store_has_files(store)) return CUBED_OK;
    CB_TRY(cb_local_path(s, prefix, path, err));
    s->is_private = true;
    if (!*prefix) s->root_is_private = true;
    const char *at = cb_local_at(s, path);
    int e = mkdirat(s->dir, at, CB_LOCAL_PRIVATE) != 0 ? errno : 0;
    if (e == ENOENT) {
        e = cb_local_make_parents(s, path);
        if (e == 0) e = mkdirat(s->dir, at, CB_LOCAL_PRIVATE) != 0 ? errno : 0;
    }
    if (e == EEXIST) return check(s, path, err);
    return e ? cb_fail_errno(err, e, "cannot make %s", path) : CUBED_OK;
}
