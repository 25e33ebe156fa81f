/* Stores of objects as files in a directory. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/owner.h"
#include "store/local/local.h"
#include "store/local/local_map.h"

/* A temporary file that was not modified for this long (a day) is abandoned: a put takes minutes at most. */
#define ABANDONED_SECONDS 86400

/* Reports why no object is at the path, from the errno `e` of the operation `what`. A path through a dangling link is an error.
 * If the object is to be read (`strict`), a path through a file instead of a directory is also an error: the stored data was
 * moved or damaged. Otherwise the key does not exist. */
static cubed_status explain_absence(const local_store *s, char path[PATH_MAX], int e, bool strict,
                                    const char *what, cubed_error *err)
{
    struct stat info;
    if (e != ENOENT && e != ENOTDIR) return cb_fail_errno(err, e, "%s %s", what, path);
    const size_t root = s->root;
    const size_t length = strlen(path);
    char part[PATH_MAX];
    memcpy(part, path, length + 1);
    for (size_t n = length; n >= root && n > 0;) {
        part[n] = 0;
        if (fstatat(s->dir, cb_local_at(s, part), &info, AT_SYMLINK_NOFOLLOW) == 0) {
            if (S_ISLNK(info.st_mode) && fstatat(s->dir, cb_local_at(s, part), &info, 0) != 0)
                return cb_local_not_regular(part, S_IFLNK, err);
            if (!S_ISDIR(info.st_mode) && strict && n > root && length > n)
                return cb_fail(err, CUBED_E_FORMAT, "%s is not a directory, as %s expects", part,
                               path);
            break;
        }
        do n--;
        while (n > root && part[n] != '/');
    }
    return cb_fail_errno(err, ENOENT, "%s %s", what, path);
}

/* Opens a file for reading. Returns -1 and sets errno on failure. Does not wait for the other end of a FIFO, but waits for a
 * process with a lease on the file. */
static int open_to_read(const local_store *s, const char *path)
{
    struct stat info;
    const char *at = cb_local_at(s, path);
    int fd = openat(s->dir, at, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0 || errno != EWOULDBLOCK) return fd;
    if (fstatat(s->dir, at, &info, 0) == 0 && S_ISREG(info.st_mode))
        return openat(s->dir, at, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    errno = EWOULDBLOCK;
    return -1;
}

/* Opens an object and gets its info. Returns -1 on failure. Only regular files are opened: other files have no size and may
 * block. */
static int open_object(const local_store *s, const char *key, char path[PATH_MAX],
                       cubed_object_info *out, cubed_status *st, cubed_error *err)
{
    struct stat info;
    *st = cb_local_path(s, key, path, err);
    if (*st != CUBED_OK) return -1;
    int fd = open_to_read(s, path), e = fd < 0 ? errno : 0;
    bool seen = fd >= 0 ? fstat(fd, &info) == 0
                        : e != ENOENT && fstatat(s->dir, cb_local_at(s, path), &info, 0) == 0;
    if (fd >= 0 && !seen)
        *st = cb_fail_errno(err, errno, "cannot inspect %s", path);
    else if (seen && !S_ISREG(info.st_mode))
        *st = cb_local_not_regular(path, info.st_mode, err);
    else if (fd < 0)
        *st = explain_absence(s, path, e, true, "cannot open", err);
    else
        cb_local_info(&info, out);
    if (*st == CUBED_OK) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* Reads `size` bytes from an offset, or fewer at the end of the file. Returns 0 or errno. */
static int read_at(int fd, uint64_t offset, char *dst, size_t size, size_t *got)
{
    *got = 0;
    while (*got < size) {
        ssize_t n = pread(fd, dst + *got, size - *got, (off_t)(offset + *got));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) break;
        *got += (size_t)n;
    }
    return 0;
}

static cubed_status not_expected(const char *path, cubed_error *err)
{
    return cb_fail(err, CUBED_E_EXISTS, "%s has another version than expected, or exists", path);
}

/* Reads the ranges of a request. Returns 0 or errno. A file truncated after it was opened is read up to its new end. */
static int read_ranges(int fd, cubed_store_request *r)
{
    const cubed_range whole = {0, (size_t)r->info.size};
    const cubed_range *ranges = r->nranges ? r->ranges : &whole;
    const size_t n = r->nranges ? r->nranges : r->info.size <= r->cap;
    char *to = r->dst;
    for (size_t i = 0; i < n; i++) {
        const cubed_range x = cubed_range_within(ranges[i], r->info.size);
        size_t got;
        int e = read_at(fd, x.offset, to, x.size, &got);
        if (e) return e;
        r->got += got;
        to += ranges[i].size;
    }
    return 0;
}

static cubed_status local_get(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    char path[PATH_MAX];
    cubed_status st;
    int fd = open_object((local_store *)store, r->key, path, &r->info, &st, err);
    if (fd < 0) return st;
    r->got = 0;
    const bool allowed = cubed_store_allows(r, r->info.version.text);
    int e = allowed ? read_ranges(fd, r) : 0;
    close(fd);
    if (!allowed) return not_expected(path, err);
    return e ? cb_fail_errno(err, e, "cannot read %s", path) : CUBED_OK;
}

/* Writes a temporary file in the directory of `path`, to be renamed or unlinked, and gets its info. */
static cubed_status write_temp(local_store *s, const char *path, bool make, const void *src,
                               size_t size, char temp[PATH_MAX], cubed_object_info *out,
                               cubed_error *err)
{
    int fd;
    CB_TRY(cb_local_create(s, path, make, temp, &fd, err));
    const int written = cb_local_write_at(fd, 0, src, size);
    int e = cb_local_close_written(s, fd, out);
    if (written) e = written;
    if (e == 0) return CUBED_OK;
    unlinkat(s->dir, cb_local_at(s, temp), 0);
    return cb_fail_errno(err, e, "cannot write %s", path);
}

/* Sets a unique modification time and gets the info. The system's timestamps are some milliseconds apart and inode numbers
 * are reused, so two objects of the same size could have the same version. */
static int stamp(const local_store *s, const char *temp, cubed_object_info *out)
{
    struct stat info;
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 0}};
    clock_gettime(CLOCK_REALTIME, &times[1]);
    if (utimensat(s->dir, cb_local_at(s, temp), times, 0) != 0 ||
        fstatat(s->dir, cb_local_at(s, temp), &info, 0) != 0)
        return errno;
    cb_local_info(&info, out);
    return 0;
}

/* Removes directories that a deleted key leaves empty, up to the root. */
static void remove_empty_parents(const local_store *s, char *path)
{
    for (char *slash = strrchr(path, '/'); slash && (size_t)(slash - path) > s->root;
         slash = strrchr(path, '/')) {
        *slash = 0;
        if (unlinkat(s->dir, cb_local_at(s, path), AT_REMOVEDIR) != 0) return;
    }
}

/* Does not create the directory of an object that must have a certain version, because the directory exists. If the object is
 * deleted during the put, the temporary file may prevent the removal of the directory. */
static cubed_status local_put(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    local_store *s = (local_store *)store;
    char path[PATH_MAX], temp[PATH_MAX];
    cubed_error why = CUBED_ERROR_INIT;
    CB_TRY(cb_local_path(s, r->key, path, err));
    const cubed_status st =
        write_temp(s, path, !r->if_match, r->src, r->size, temp, &r->info, &why);
    if (st == CUBED_E_NOT_FOUND && r->if_match) return not_expected(path, err);
    if (st != CUBED_OK) {
        if (err) *err = why;
        return st;
    }
    const bool any = !r->if_match && !r->if_none_match;
    int e = any ? 0 : stamp(s, temp, &r->info);
    if (e == 0) e = any ? cb_local_rename(s, temp, path) : cb_local_replace(s, temp, path, r);
    if (e == 0 && s->durable) e = cb_local_sync_parent(s, path);
    if (e == 0) return CUBED_OK;
    unlinkat(s->dir, cb_local_at(s, temp), 0);
    if (e != EEXIST || any) return cb_fail_errno(err, e, "cannot write %s", path);
    const cubed_status changed = not_expected(path, err);
    remove_empty_parents(s, path);
    return changed;
}

static cubed_status local_del(cubed_store *store, const char *key, cubed_error *err)
{
    const local_store *s = (local_store *)store;
    char path[PATH_MAX];
    CB_TRY(cb_local_path(s, key, path, err));
    if (unlinkat(s->dir, cb_local_at(s, path), 0) != 0 && errno != ENOENT && errno != ENOTDIR)
        return cb_fail_errno(err, errno, "cannot delete %s", path);
    remove_empty_parents(s, path);
    return CUBED_OK;
}

static cubed_status local_head(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    char path[PATH_MAX];
    struct stat info;
    const local_store *s = (local_store *)store;
    CB_TRY(cb_local_path(s, r->key, path, err));
    if (fstatat(s->dir, cb_local_at(s, path), &info, 0) != 0)
        return explain_absence(s, path, errno, false, "cannot inspect", err);
    if (!S_ISREG(info.st_mode)) return cb_local_not_regular(path, info.st_mode, err);
    cb_local_info(&info, &r->info);
    return cubed_store_allows(r, r->info.version.text) ? CUBED_OK : not_expected(path, err);
}

/* State of a listing. The path is extended in place during the walk. */
typedef struct walker {
    const local_store *s;
    char path[PATH_MAX];
    const char *key; /* the part of the path below the root */
    cubed_store_list_fn fn;
    void *ctx;
} walker;

typedef struct level {
    const struct level *up;
    dev_t dev;
    ino_t ino;
} level;

/* Returns true if a link leads to a directory above, which would be a cycle. */
static bool is_above(const level *l, const struct stat *info)
{
    for (; l; l = l->up) {
        if (l->dev == info->st_dev && l->ino == info->st_ino) return true;
    }
    return false;
}

/* Walks a directory; n is the length of its path. */
static cubed_status walk(walker *w, size_t n, const level *up, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    struct stat info;
    DIR *dir = cb_local_open_dir(w->s, w->path);
    if (!dir) {
        if (errno == ENOENT || errno == ENOTDIR) return CUBED_OK;
        return cb_fail_errno(err, errno, "cannot list %s", w->path);
    }
    if (fstat(dirfd(dir), &info) != 0) {
        st = cb_fail_errno(err, errno, "cannot inspect %s", w->path);
        goto out;
    }
    level here = {up, info.st_dev, info.st_ino};
    for (;;) {
        errno = 0;
        const struct dirent *e = readdir(dir);
        if (!e) {
            if (errno) st = cb_fail_errno(err, errno, "cannot list %s", w->path);
            break;
        }
        const char *name = e->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            strncmp(name, CB_LOCAL_TEMP, sizeof CB_LOCAL_TEMP - 1) == 0)
            continue;
        size_t extra = strlen(name) + 1;
        if (n + extra + 1 > PATH_MAX) {
            st = cb_fail(err, CUBED_E_IO, "a path below %s is too long", w->path);
            break;
        }
        /* List dangling links: reading them reports the error. */
        if (fstatat(dirfd(dir), name, &info, 0) != 0 &&
            ((errno != ENOENT && errno != ELOOP) ||
             fstatat(dirfd(dir), name, &info, AT_SYMLINK_NOFOLLOW) != 0)) {
            if (errno == ENOENT) continue; /* deleted during the listing */
            st = cb_fail_errno(err, errno, "cannot inspect %s/%s", w->path, name);
            break;
        }
        if (S_ISDIR(info.st_mode) && is_above(&here, &info)) continue;
        w->path[n] = '/';
        memcpy(w->path + n + 1, name, extra);
        st = S_ISDIR(info.st_mode) ? walk(w, n + extra, &here, err)
                                   : w->fn(w->ctx, w->key, (uint64_t)info.st_size, err);
        w->path[n] = 0;
        if (st != CUBED_OK) break;
    }
out:
    closedir(dir);
    return st;
}

static cubed_status tell_entry(void *ctx, const char *key, uint64_t size, cubed_error *err)
{
    const cubed_store_request *r = ctx;
    const cubed_store_entry e = {.key = key, .size = size};
    return r->entry(r->entry_ctx, &e, err);
}

/* Lists everything in one page. */
static cubed_status local_list(cubed_store *store, cubed_store_request *r, cubed_error *err)
{
    const local_store *s = (local_store *)store;
    if (r->delimiter) return cb_local_members(s, r, err);
    walker w = {.s = s, .fn = tell_entry, .ctx = r};
    CB_TRY(cb_local_path(s, r->key, w.path, err));
    w.key = w.path + s->root + 1;
    return walk(&w, strlen(w.path), NULL, err);
}

/* Removes the contents of the directory `fd` and closes it. Returns 0 or errno. */
static int remove_contents(int fd)
{
    int e = 0;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        e = errno;
        close(fd);
        return e;
    }
    while (e == 0) {
        errno = 0;
        const struct dirent *d = readdir(dir);
        if (!d) {
            e = errno;
            break;
        }
        const char *name = d->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (unlinkat(dirfd(dir), name, 0) == 0 || errno == ENOENT) continue;
        int why = errno;
        int below = openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below < 0) {
            /* If the name is not a directory either, reports why unlinkat failed; otherwise, why the directory did not open. */
            if (errno != ENOENT) e = errno == ENOTDIR || errno == ELOOP ? why : errno;
            continue;
        }
        e = remove_contents(below);
        if (e == 0 && unlinkat(dirfd(dir), name, AT_REMOVEDIR) != 0 && errno != ENOENT) e = errno;
    }
    closedir(dir);
    return e;
}

/* Removes a file or a directory with its contents. Returns 0 or errno; ENOTEMPTY if another writer added a file before a
 * directory was removed. */
static int clear_once(const local_store *s, const char *at, bool is_root)
{
    /* The root is not removed, and may be a link. */
    int fd = openat(s->dir, at, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (is_root ? 0 : O_NOFOLLOW));
    int e = 0;
    if (fd >= 0) {
        e = remove_contents(fd);
        if (e == 0 && !is_root && unlinkat(s->dir, at, AT_REMOVEDIR) != 0 && errno != ENOENT)
            e = errno;
    } else if (errno == ENOTDIR || errno == ELOOP) {
        struct stat info; /* a link, or a file, which has nothing below it */
        if (!is_root && fstatat(s->dir, at, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISLNK(info.st_mode) && unlinkat(s->dir, at, 0) != 0)
            e = errno;
    } else if (errno != ENOENT) {
        e = errno;
    }
    return e;
}

/* Maximum number of attempts. A run that lost the place may still write there. Each attempt removes directories that the run has
 * open, so its writes soon fail. */
enum { CLEAR_TRIES = 100 };

static cubed_status local_clear(cubed_store *store, const char *prefix, cubed_error *err)
{
    local_store *s = (local_store *)store;
    char path[PATH_MAX];
    CB_TRY(cb_local_path(s, prefix, path, err));
    int e = ENOTEMPTY;
    for (int i = 0; i < CLEAR_TRIES && (e == ENOTEMPTY || e == EEXIST); i++)
        e = clear_once(s, cb_local_at(s, path), !*prefix);
    if (e) return cb_fail_errno(err, e, "cannot clear %s", path);
    if (*prefix) remove_empty_parents(s, path);
    return CUBED_OK;
}

/* --- Files of killed writers -------------------------------------------------------------------------- */

static bool is_abandoned(const char *name, const struct stat *info)
{
    cb_owner owner;
    const char *end;
    struct timespec now;
    cb_owner_state state = cb_owner_parse(name + sizeof CB_LOCAL_TEMP - 1, &owner, &end)
                               ? cb_owner_alive(&owner)
                               : CB_OWNER_UNKNOWN;
    clock_gettime(CLOCK_REALTIME, &now);
    return state == CB_OWNER_GONE ||
           (state == CB_OWNER_UNKNOWN && info->st_mtim.tv_sec < now.tv_sec - ABANDONED_SECONDS);
}

typedef struct sweeper {
    walker w;
    bool dry_run;
} sweeper;

/* Checks one name with the prefix of temporary files, below the path of length n. */
static cubed_status sweep_one(sweeper *x, int dir, size_t n, const char *name, cubed_error *err)
{
    struct stat info;
    cubed_status st = CUBED_OK;
    if (fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode) ||
        !is_abandoned(name, &info))
        return CUBED_OK;
    if (!x->dry_run && unlinkat(dir, name, 0) != 0)
        return errno == ENOENT ? CUBED_OK
                               : cb_fail_errno(err, errno, "cannot delete %s/%s", x->w.path, name);
    snprintf(x->w.path + n, PATH_MAX - n, "/%s", name);
    if (x->w.fn) st = x->w.fn(x->w.ctx, x->w.key, (uint64_t)info.st_size, err);
    if (!x->dry_run) {
        char path[PATH_MAX];
        memcpy(path, x->w.path, sizeof path);
        remove_empty_parents(x->w.s, path);
    }
    x->w.path[n] = 0;
    return st;
}

/* Sweeps the directory at the path of length n. Does not follow links. */
static cubed_status sweep(sweeper *x, size_t n, cubed_error *err)
{
    cubed_status st = CUBED_OK;
    DIR *dir = cb_local_open_dir(x->w.s, x->w.path);
    if (!dir) {
        if (errno == ENOENT || errno == ENOTDIR) return CUBED_OK;
        return cb_fail_errno(err, errno, "cannot list %s", x->w.path);
    }
    const int fd = dirfd(dir);
    const struct dirent *e;
    while (st == CUBED_OK && (e = readdir(dir)) != NULL) {
        const char *name = e->d_name;
        struct stat info;
        size_t extra = strlen(name) + 1;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || n + extra + 1 > PATH_MAX) continue;
        if (strncmp(name, CB_LOCAL_TEMP, sizeof CB_LOCAL_TEMP - 1) == 0) {
            st = sweep_one(x, fd, n, name, err);
            continue;
        }
        bool is_dir = e->d_type == DT_DIR;
        if (e->d_type == DT_UNKNOWN)
            is_dir = fstatat(fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
        if (!is_dir) continue;
        snprintf(x->w.path + n, PATH_MAX - n, "/%s", name);
        st = sweep(x, n + extra, err);
        x->w.path[n] = 0;
    }
    closedir(dir);
    return st;
}

static cubed_status local_sweep(cubed_store *store, const char *prefix, unsigned flags,
                                cubed_store_list_fn fn, void *ctx, cubed_error *err)
{
    const local_store *s = (local_store *)store;
    sweeper x = {.w = {.s = s, .fn = fn, .ctx = ctx}, .dry_run = flags & CUBED_SWEEP_DRY_RUN};
    CB_TRY(cb_local_path(s, prefix, x.w.path, err));
    x.w.key = x.w.path + s->root + 1;
    return sweep(&x, strlen(x.w.path), err);
}

static void local_close(cubed_store *store)
{
    local_store *s = (local_store *)store;
    if (s->dir != AT_FDCWD) close(s->dir);
    cb_mutex_destroy(&s->lock);
    cb_free(store->alloc, s, s->size);
}

static void local_submit(cubed_store *store, cubed_store_request *const *requests, size_t n)
{
    static const cubed_store_functions functions = {.get = local_get,
                                                    .put = local_put,
                                                    .del = local_del,
                                                    .list = local_list,
                                                    .head = local_head};
    cubed_store_serve(store, &functions, requests, n);
}

static const cubed_store_vtable local_vtable = {
    .struct_size = sizeof(cubed_store_vtable),
    .version = CUBED_STORE_VERSION,
    .flags = CUBED_STORE_AT_ONCE,
    .scheme = "file",
    .submit = local_submit,
    .clear = local_clear,
    .sweep = local_sweep,
    .swap = cb_local_swap,
    .around = cb_local_around,
    .anchor = cb_local_anchor,
    .begin_pieces = cb_local_begin_pieces,
    .put_piece = cb_local_put_piece,
    .end_pieces = cb_local_end_pieces,
    .free_pieces = cb_local_free_pieces,
    .close = local_close,
};

bool cb_store_has_files(const cubed_store *s) { return s->vt == &local_vtable; }

cubed_status cb_store_open_local(const cubed_allocator *a, const char *path, bool durable,
                                 cubed_store **out, cubed_error *err)
{
    return cb_local_open(&local_vtable, a, path, durable, out, err);
}
