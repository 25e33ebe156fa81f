/* Conditional puts, and exchange of whole prefixes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/fs.h>
#include <sys/syscall.h>
#endif

#include "base/error.h"
#include "store/local/local.h"

/* Renames a file without replacing another. Returns 0 or errno; EEXIST if a file of that name exists. */
static int give_new_name(const local_store *s, const char *temp, const char *path)
{
    if (linkat(s->dir, temp, s->dir, path, 0) == 0) {
        unlinkat(s->dir, temp, 0);
        return 0;
    }
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return errno;
#ifdef __linux__
    /* The file system has no hard links, so the file is renamed instead. */
    if (syscall(SYS_renameat2, s->dir, temp, s->dir, path, RENAME_NOREPLACE) == 0) return 0;
#endif
    return errno;
}

/* Opens and locks the file at `path` if it has the expected version. Every writer that replaces the file holds this lock,
 * so the version stays valid. Returns -1 if the version differs or the file is missing; *e is errno or 0. */
static int lock_version(const local_store *s, const char *path, const cubed_store_request *r,
                        int *e)
{
    struct stat held, there;
    cubed_object_info info;
    bool writable = false;
    *e = 0;
    int fd = openat(s->dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        *e = errno == ENOENT ? 0 : errno;
        return -1;
    }
    while (flock(fd, LOCK_EX) != 0) {
        if (errno == EINTR) continue;
        /* NFS allows an exclusive lock only on a file open for writing. */
        if (errno == EBADF && !writable) {
            close(fd);
            writable = true;
            fd = openat(s->dir, path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
            if (fd >= 0) continue;
            *e = errno == ENOENT ? 0 : errno;
            return -1;
        }
        *e = errno;
        close(fd);
        return -1;
    }
    if (fstat(fd, &held) != 0 || fstatat(s->dir, path, &there, 0) != 0) {
        /* If the version cannot be read, this is an error and not a different version. */
        *e = errno == ENOENT ? 0 : errno;
    } else if (there.st_ino == held.st_ino && there.st_dev == held.st_dev) {
        cb_local_info(&held, &info);
        if (cubed_store_allows(r, info.version.text)) return fd;
    }
    close(fd);
    return -1;
}

int cb_local_replace(const local_store *s, const char *from, const char *to,
                     const cubed_store_request *r)
{
    const char *temp = cb_local_at(s, from), *path = cb_local_at(s, to);
    int e = 0;
    const bool any = r->if_none_match && strcmp(r->if_none_match, "*") != 0;
    if (!r->if_match && (!any || faccessat(s->dir, path, F_OK, 0) != 0)) {
        e = give_new_name(s, temp, path);
        if (e != EEXIST || !any) return e;
    }
    int fd = lock_version(s, path, r, &e);
    if (fd < 0) return e ? e : EEXIST;
    if (renameat(s->dir, temp, s->dir, path) != 0) e = errno;
    close(fd);
    return e;
}

/* Returns true if the link leads to a directory that contains the link, so that the path would be endless. */
static bool is_circle(const local_store *s, const char *path, const struct stat *to)
{
    char above[PATH_MAX];
    struct stat info;
    size_t n = strlen(path);
    memcpy(above, path, n + 1);
    while (n > s->root) {
        do n--;
        while (n > s->root && above[n] != '/');
        above[n] = 0;
        if (fstatat(s->dir, n ? cb_local_at(s, above) : "/", &info, 0) == 0 &&
            info.st_ino == to->st_ino && info.st_dev == to->st_dev)
            return true;
    }
    return false;
}

cubed_status cb_local_members(const local_store *s, const cubed_store_request *r, cubed_error *err)
{
    char path[PATH_MAX];
    struct stat info;
    cubed_status st = CUBED_OK;
    CB_TRY(cb_local_path(s, r->key, path, err));
    DIR *dir = cb_local_open_dir(s, path);
    if (!dir) {
        if (errno == ENOENT || errno == ENOTDIR) return CUBED_OK;
        return cb_fail_errno(err, errno, "cannot list %s", path);
    }
    const size_t n = strlen(path);
    while (st == CUBED_OK) {
        errno = 0;
        const struct dirent *e = readdir(dir);
        if (!e) {
            if (errno) st = cb_fail_errno(err, errno, "cannot list %s", path);
            break;
        }
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            strncmp(e->d_name, CB_LOCAL_TEMP, sizeof CB_LOCAL_TEMP - 1) == 0)
            continue;
        if (n + 1 + strlen(e->d_name) + 1 > PATH_MAX) {
            st = cb_fail(err, CUBED_E_IO, "a path below %s is too long", path);
            break;
        }
        cubed_store_entry entry = {.is_prefix = e->d_type == DT_DIR,
                                   .is_link = e->d_type == DT_LNK};
        if (e->d_type == DT_UNKNOWN &&
            fstatat(dirfd(dir), e->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
            entry.is_prefix = S_ISDIR(info.st_mode);
            entry.is_link = S_ISLNK(info.st_mode);
        }
        path[n] = '/';
        memcpy(path + n + 1, e->d_name, strlen(e->d_name) + 1);
        if (entry.is_link)
            entry.is_prefix = fstatat(s->dir, cb_local_at(s, path), &info, 0) == 0 &&
                              S_ISDIR(info.st_mode) && !is_circle(s, path, &info);
        entry.key = path + s->root + 1;
        st = r->entry(r->entry_ctx, &entry, err);
        path[n] = 0;
    }
    closedir(dir);
    return st;
}

/* Exchanges two names. Returns 0 or errno; EINVAL or ENOSYS if the system cannot exchange names. */
static int exchange(const local_store *s, const char *from, const char *to)
{
    const char *a = cb_local_at(s, from), *b = cb_local_at(s, to);
#if defined(__linux__)
    return syscall(SYS_renameat2, s->dir, a, s->dir, b, RENAME_EXCHANGE) == 0 ? 0 : errno;
#elif defined(__APPLE__)
    return renameatx_np(s->dir, a, s->dir, b, RENAME_SWAP) == 0 ? 0 : errno;
#else
    (void)a;
    (void)b;
    return ENOSYS;
#endif
}

cubed_status cb_local_swap(cubed_store *store, const char *a, const char *b, cubed_error *err)
{
    const local_store *s = (local_store *)store;
    char from[PATH_MAX], to[PATH_MAX], aside[PATH_MAX];
    CB_TRY(cb_local_path(s, a, from, err));
    CB_TRY(cb_local_path(s, b, to, err));
    int e = exchange(s, from, to);
    if (e == ENOENT) {
        e = cb_local_make_parents(s, to);
        if (e == 0 || e == EEXIST) e = cb_local_rename(s, from, to);
    }
    if (e == EINVAL || e == ENOSYS || e == EOPNOTSUPP) {
        int n = snprintf(aside, sizeof aside, "%s~", from);
        e = n < 0 || n >= PATH_MAX ? ENAMETOOLONG : cb_local_rename(s, to, aside);
        if (e == 0 && (e = cb_local_rename(s, from, to)) != 0) {
            const int back = cb_local_rename(s, aside, to);
            if (back) e = back;
        } else if (e == 0) {
            e = cb_local_rename(s, aside, from);
        }
    }
    if (e == 0 && s->durable) {
        e = cb_local_sync_parent(s, from);
        if (e == 0) e = cb_local_sync_parent(s, to);
    }
    return e ? cb_fail_errno(err, e, "cannot put %s in the place of %s", from, to) : CUBED_OK;
}

/* Returns true if a file system is mounted at the directory, which therefore cannot be renamed. */
static bool is_mounted(const char *path)
{
#if defined(__linux__) && defined(STATX_ATTR_MOUNT_ROOT)
    struct statx x;
    if (statx(AT_FDCWD, path, 0, 0, &x) == 0 &&
        (x.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0)
        return (x.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#endif
    char above[PATH_MAX];
    struct stat here, there;
    int n = snprintf(above, sizeof above, "%s/..", path);
    return n > 0 && n < PATH_MAX && stat(path, &here) == 0 && stat(above, &there) == 0 &&
           here.st_dev != there.st_dev;
}

cubed_status cb_local_around(cubed_store *store, const char *prefix, cubed_store **out, char *name,
                             size_t cap, cubed_error *err)
{
    const local_store *s = (local_store *)store;
    char path[PATH_MAX], real[PATH_MAX];
    /* A store that was opened by a descriptor does not know its path, and cannot continue here. */
    CB_CHECK(s->dir == AT_FDCWD, err);
    CB_TRY(cb_local_path(s, prefix, path, err));
    if (!realpath(path, real)) return cb_fail_errno(err, errno, "cannot inspect %s", path);
    char *slash = strrchr(real, '/');
    if (!slash[1] || is_mounted(real))
        return cb_fail(err, CUBED_E_UNSUPPORTED,
                       "%s is the mount point of a file system, which cannot be replaced; name a "
                       "target below it",
                       path);
    if (strlen(slash + 1) >= cap)
        return cb_fail(err, CUBED_E_ARG, "the name of %s is longer than %zu bytes", path, cap - 1);
    memcpy(name, slash + 1, strlen(slash + 1) + 1);
    slash[slash == real] = 0;
    CB_TRY(cb_local_open(store->vt, store->alloc, real, s->durable, out, err));
    ((local_store *)*out)->is_private = s->is_private;
    return CUBED_OK;
}
