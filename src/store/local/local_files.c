/* Files and directories of the local store: paths, permissions, temporary names, writing and renaming. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mix.h"
#include "store/local/local.h"

cubed_status cb_local_path(const local_store *s, const char *key, char out[PATH_MAX],
                           cubed_error *err)
{
    const size_t root = s->root, n = strlen(key);
    if (root + 1 + n + 1 > PATH_MAX)
        return cb_fail(err, CUBED_E_ARG, "the path %s/%s is longer than %d bytes", s->path, key,
                       PATH_MAX - 1);
    memcpy(out, s->path, root);
    if (n) out[root] = '/';
    memcpy(out + root + (n > 0), key, n + 1);
    return CUBED_OK;
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a directory"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISLNK(mode)  ? "a link to nothing"
                            : "a device";
}

cubed_status cb_local_not_regular(const char *path, mode_t mode, cubed_error *err)
{
    return cb_fail(err, CUBED_E_FORMAT, "%s is %s, expected a regular file", path, kind_of(mode));
}

int cb_local_write_at(int fd, uint64_t offset, const char *src, size_t size)
{
    while (size > 0) {
        ssize_t n = pwrite(fd, src, size, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        src += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

/* Syncs the directory of a path, so that a new name survives a power failure. */
int cb_local_sync_parent(const local_store *s, const char *path)
{
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (slash)
        snprintf(dir, sizeof dir, "%.*s", slash > path ? (int)(slash - path) : 1, path);
    else
        strcpy(dir, ".");
    int fd = openat(s->dir, cb_local_at(s, dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno;
    int e = fsync(fd) != 0 ? errno : 0;
    close(fd);
    return e;
}

int cb_local_rename(const local_store *s, const char *from, const char *to)
{
    return renameat(s->dir, cb_local_at(s, from), s->dir, cb_local_at(s, to)) == 0 ? 0 : errno;
}

mode_t cb_local_file_mode(const local_store *s) { return s->is_private ? 0600 : 0666; }

mode_t cb_local_directory_mode(const local_store *s, size_t n)
{
    const bool ours = n > s->root ? s->is_private : n == s->root && s->root_is_private;
    return ours ? CB_LOCAL_PRIVATE : 0777;
}

bool cb_local_is_own(const local_store *s, const char *path, struct stat *info)
{
    return fstatat(s->dir, cb_local_at(s, path), info, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(info->st_mode) && info->st_uid == geteuid() &&
           (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool cb_local_is_foreign(const local_store *s, const char *path, struct stat *info)
{
    char probe[PATH_MAX];
    struct stat made;
    const char *slash = strrchr(path, '/');
    if (cb_local_is_own(s, path, info)) return false;
    if (!slash || (s->dir != AT_FDCWD && strlen(path) <= s->root)) return true;
    const int n =
        snprintf(probe, sizeof probe, "%.*s/" CB_LOCAL_TEMP "%jx-%jx", (int)(slash - path), path,
                 (uintmax_t)getpid(), (uintmax_t)cb_clock_ns());
    const char *at = cb_local_at(s, probe);
    if (n < 0 || n >= PATH_MAX || mkdirat(s->dir, at, CB_LOCAL_PRIVATE) != 0) return true;
    const bool kept = cb_local_is_own(s, probe, &made);
    (void)unlinkat(s->dir, at, AT_REMOVEDIR);
    return kept;
}

/* Creates a directory. Returns 0 or errno: EPERM if a private directory exists and may be another user's. */
static int make_directory(const local_store *s, const char *path, mode_t mode)
{
    const char *at = cb_local_at(s, path);
    struct stat info;
    int e = mkdirat(s->dir, at, mode) != 0 ? errno : 0;
    /* The check is repeated, because another process may have removed the directory in the meantime. */
    for (int tries = 0; e == EEXIST && mode == CB_LOCAL_PRIVATE; tries++) {
        if (!cb_local_is_foreign(s, path, &info)) break;
        if (tries == 3) return EPERM;
        e = mkdirat(s->dir, at, mode) != 0 ? errno : 0;
    }
    return e;
}

int cb_local_make_parents(const local_store *s, char *path)
{
    const size_t first = s->dir == AT_FDCWD ? 1 : s->root + 1;
    for (char *p = path + first; (p = strchr(p, '/')) != NULL; p++) {
        *p = 0;
        int e = make_directory(s, path, cb_local_directory_mode(s, (size_t)(p - path)));
        if (e == 0 && s->durable && (e = cb_local_sync_parent(s, path)) != 0)
            unlinkat(s->dir, cb_local_at(s, path), AT_REMOVEDIR); /* undo */
        *p = '/';
        if (e != 0 && e != EEXIST) return e;
    }
    return 0;
}

static void get_owner(local_store *s, char text[CB_OWNER_CAP])
{
    cb_mutex_lock(&s->lock);
    if (s->pid != getpid()) {
        cb_owner self;
        cb_owner_self(&self);
        cb_owner_format(&self, s->owner);
        s->pid = getpid();
    }
    memcpy(text, s->owner, CB_OWNER_CAP);
    cb_mutex_unlock(&s->lock);
}

/* Creates a file with a new name in the directory of `path`; `make` also creates the directory. Returns -1 and sets errno
 * on failure. */
static int open_temp(local_store *s, const char *path, bool make, char temp[PATH_MAX])
{
    int fd = -1, dir = (int)(strrchr(path, '/') - path) + 1;
    char owner[CB_OWNER_CAP];
    get_owner(s, owner);
    /* Retry if another store of this process has used the name, or another thread has removed the empty directory. */
    for (int tries = 0; fd < 0 && tries < 100; tries++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        int n = snprintf(temp, PATH_MAX, "%.*s" CB_LOCAL_TEMP "%s_%llu-%llx", dir, path, owner,
                         (unsigned long long)atomic_fetch_add(&s->puts, 1),
                         (unsigned long long)((uintptr_t)s ^ (uintptr_t)now.tv_nsec << 20));
        if (n < 0 || n >= PATH_MAX) {
            errno = ENAMETOOLONG;
            break;
        }
        fd = openat(s->dir, cb_local_at(s, temp), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                    cb_local_file_mode(s));
        if (fd >= 0) break;
        if (errno == ENOENT && make) {
            int e = cb_local_make_parents(s, temp);
            errno = e;
            if (e != 0 && e != ENOENT) break;
        } else if (errno != EEXIST) {
            break;
        }
    }
    return fd;
}

cubed_status cb_local_cannot_write(int e, const char *path, cubed_error *err)
{
    cubed_status st = cb_fail_errno(err, e, "cannot write %s", path);
    return st == CUBED_E_NOT_FOUND ? (err ? (err->status = CUBED_E_IO) : CUBED_E_IO) : st;
}

cubed_status cb_local_create(local_store *s, const char *path, bool make, char temp[PATH_MAX],
                             int *fd, cubed_error *err)
{
    struct stat info;
    const char *at = cb_local_at(s, path);
    /* A link to a regular file is replaced like a file. Anything else does not belong to the store. */
    if (fstatat(s->dir, at, &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(info.st_mode) &&
        (!S_ISLNK(info.st_mode) || fstatat(s->dir, at, &info, 0) != 0 || !S_ISREG(info.st_mode)))
        return cb_local_not_regular(path, info.st_mode, err);
    *fd = open_temp(s, path, make, temp);
    if (*fd >= 0) return CUBED_OK;
    return make ? cb_local_cannot_write(errno, path, err)
                : cb_fail_errno(err, errno, "cannot write %s", path);
}

void cb_local_info(const struct stat *info, cubed_object_info *out)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t v = cb_mix((uint64_t)info->st_ino);
    v = cb_mix(v ^ (uint64_t)info->st_mtim.tv_sec);
    v = cb_mix(v ^ (uint64_t)info->st_mtim.tv_nsec);
    v = cb_mix(v ^ (uint64_t)info->st_size);
    out->size = (uint64_t)info->st_size;
    out->modified = info->st_mtim.tv_sec;
    for (int i = 0; i < 16; i++) out->version.text[i] = digits[v >> (60 - 4 * i) & 15];
    out->version.text[16] = 0;
}

int cb_local_close_written(const local_store *s, int fd, cubed_object_info *out)
{
    struct stat info;
    int e = s->durable && fsync(fd) != 0 ? errno : 0;
    if (e == 0 && fstat(fd, &info) != 0) e = errno;
    if (close(fd) != 0 && e == 0) e = errno;
    if (e == 0) cb_local_info(&info, out);
    return e;
}

DIR *cb_local_open_dir(const local_store *s, const char *path)
{
    int fd = openat(s->dir, cb_local_at(s, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return NULL;
    DIR *dir = fdopendir(fd);
    if (dir) return dir;
    const int e = errno;
    close(fd);
    errno = e;
    return NULL;
}

cubed_status cb_local_open(const cubed_store_vtable *vt, const cubed_allocator *a, const char *path,
                           bool durable, cubed_store **out, cubed_error *err)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    size_t size = sizeof(local_store) + n + 1;
    local_store *s = cb_alloc_zero(a, size);
    if (!s) return cb_fail(err, CUBED_E_NOMEM, "no memory to open %s", path);
    s->head = (cubed_store){vt, a, s->path};
    s->durable = durable;
    s->dir = AT_FDCWD;
    s->root = n;
    s->size = size;
    cb_mutex_init(&s->lock);
    memcpy(s->path, path, n);
    *out = &s->head;
    return CUBED_OK;
}
