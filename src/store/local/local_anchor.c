/* Directories accessed by a descriptor, so that accesses are not redirected to other files if another process renames or replaces
 * the directory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/fs.h>
#include <sys/syscall.h>
#endif

#include "base/error.h"
#include "store/local/local.h"

#ifdef O_PATH
/* O_PATH needs no permission to list the directory. */
#define OPEN_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)
#else
#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#endif
/* Maximum number of attempts: another thread may remove an empty directory between two steps. */
enum { TRIES = 100 };

/* Raises the limit of open files to its maximum. A run holds one descriptor per array, so plans with about a thousand arrays
 * reach the default limit. That limit exists for programs that use select. */
static bool allow_more_files(void)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur == now.rlim_max) return false;
    now.rlim_cur = now.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &now) == 0;
}

static int open_directory(const local_store *s, const char *path)
{
    int fd = openat(s->dir, cb_local_at(s, path), OPEN_FLAGS);
    if (fd < 0 && errno == EMFILE && allow_more_files())
        fd = openat(s->dir, cb_local_at(s, path), OPEN_FLAGS);
    return fd;
}

cubed_status cb_local_anchor(cubed_store *store, const char *prefix, bool make, cubed_store **out,
                             cubed_error *err)
{
    const local_store *s = (local_store *)store;
    char path[PATH_MAX], below[PATH_MAX + 1];
    CB_TRY(cb_local_path(s, prefix, path, err));
    const size_t n = strlen(path);
    memcpy(below, path, n);
    memcpy(below + n, "/", 2);
    int fd = open_directory(s, path), e = fd < 0 ? errno : 0;
    for (int i = 0; i < TRIES && e == ENOENT && make; i++) {
        e = cb_local_make_parents(s, below);
        if (e == 0 || e == ENOENT) {
            fd = open_directory(s, path);
            e = fd < 0 ? errno : 0;
        }
    }
    if (e == EMFILE)
        return cb_fail(err, CUBED_E_IO,
                       "cannot open %s: this process has too many files open, and a run holds one "
                       "for each array that it writes: raise the limit (ulimit -n)",
                       path);
    if (e) return cb_fail_errno(err, e, "cannot open the directory %s", path);
    cubed_status st = cb_local_open(store->vt, store->alloc, path, s->durable, out, err);
    if (st != CUBED_OK) {
        close(fd);
        return st;
    }
    local_store *anchored = (local_store *)*out;
    anchored->dir = fd;
    anchored->is_private = s->is_private;
    return CUBED_OK;
}

/* Renames a file without replacing another. Returns 0 or errno; EEXIST if a file of that name exists. */
static int give_new_name(const local_store *s, const char *name, const char *path)
{
#ifdef __linux__
    if (syscall(SYS_renameat2, s->dir, name, AT_FDCWD, path, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
#endif
    if (linkat(s->dir, name, AT_FDCWD, path, 0) != 0) return errno;
    unlinkat(s->dir, name, 0);
    return 0;
}

static int sync_directory_of(const char *path)
{
    char above[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const int n = slash ? snprintf(above, sizeof above, "%.*s/", (int)(slash - path), path)
                        : snprintf(above, sizeof above, ".");
    if (n < 0 || n >= (int)sizeof above) return ENAMETOOLONG;
    const int fd = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno;
    const int e = fsync(fd) != 0 ? errno : 0;
    close(fd);
    return e;
}

cubed_status cb_store_publish(cubed_store *store, const char *key, const char *path, unsigned flags,
                              cubed_error *err)
{
    const bool replace = (flags & CB_PUBLISH_REPLACE) != 0;
    const local_store *s = (local_store *)store;
    char file[PATH_MAX];
    struct stat info;
    CB_CHECK(store->vt->anchor == cb_local_anchor && s->dir != AT_FDCWD, err);
    CB_TRY(cb_local_path(s, key, file, err));
    const char *name = cb_local_at(s, file);
    int e = 0;
    if (!replace)
        e = give_new_name(s, name, path);
    else if (renameat(s->dir, name, AT_FDCWD, path) != 0)
        e = errno;
    if (e == 0 && flags & CB_PUBLISH_DURABLE) e = sync_directory_of(path);
    if (e == EEXIST && !replace) return cb_fail(err, CUBED_E_EXISTS, "%s exists", path);
    /* ENOENT may also mean that the directory of the new name is missing. */
    if (e == ENOENT && fstatat(s->dir, name, &info, 0) != 0)
        return cb_fail(err, CUBED_E_NOT_FOUND, "%s is gone", file);
    if (e) (void)cb_fail_errno(err, e, "cannot write %s", path);
    if (e && err) err->status = CUBED_E_IO;
    return e ? CUBED_E_IO : CUBED_OK;
}
