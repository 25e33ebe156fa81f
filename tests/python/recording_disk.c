/* Preloaded into a program, records its changes to files: writes, names, and syncs of files and directories. The tests of a
 * simulated disk replay the record (simulated_disk.py).
 *
 * CUBED_DISK_LOG names the record. Each entry is a line, followed by the written bytes if it is a write. Inodes name files
 * and directories. A call and its entry are one step for all threads and processes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int record = -1; /* descriptor of the record in this process */
static pid_t owner;     /* the process that opened it */

static long call(long number, long a, long b, long c, long d, long e)
{
    static long (*real)(long, ...);
    if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a, b, c, d, e);
}

/* A forked child opens the record again, because a lock belongs to the open file. */
static void lock(void)
{
    pthread_mutex_lock(&mutex);
    if (owner != getpid()) {
        const char *path = getenv("CUBED_DISK_LOG");
        owner = getpid();
        record = path ? (int)call(SYS_openat, AT_FDCWD, (long)path,
                                  O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600, 0)
                      : -1;
    }
    if (record >= 0) flock(record, LOCK_EX);
}

static void unlock(void)
{
    const int e = errno;
    if (record >= 0) flock(record, LOCK_UN);
    pthread_mutex_unlock(&mutex);
    errno = e;
}

static void put(const void *bytes, size_t size)
{
    const char *from = bytes;
    while (size > 0) {
        const long n = call(SYS_write, record, (long)from, (long)size, 0, 0);
        if (n <= 0) _exit(99);
        from += n;
        size -= (size_t)n;
    }
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    char line[PATH_MAX];
    va_list args;
    if (record < 0) return;
    va_start(args, format);
    const int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    put(line, (size_t)n);
}

/* A fork while another thread records would leave the child a mutex that is never unlocked. */
static void before_fork(void) { pthread_mutex_lock(&mutex); }

static void after_fork(void) { pthread_mutex_unlock(&mutex); }

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

/* A name in a directory, and the file that has the name: 0 if none. */
typedef struct name {
    uint64_t dir, file;
    bool is_dir;
    char text[NAME_MAX + 1];
} name;

static name look(int dir, const char *path)
{
    name at = {.file = 0};
    struct stat info;
    char above[PATH_MAX];
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    size_t begin = n;
    while (begin > 0 && path[begin - 1] != '/') begin--;
    snprintf(at.text, sizeof at.text, "%.*s", (int)(n - begin), path + begin);
    snprintf(above, sizeof above, "%.*s", (int)begin, path);
    if (fstatat(dir, begin ? above : ".", &info, 0) == 0) at.dir = info.st_ino;
    if (fstatat(dir, path, &info, AT_SYMLINK_NOFOLLOW) == 0) {
        at.file = info.st_ino;
        at.is_dir = S_ISDIR(info.st_mode);
    }
    return at;
}

static uint64_t inode(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? info.st_ino : 0;
}

/* --- Files -------------------------------------------------------------------------------------------- */

static int open_file(int dir, const char *path, int flags, mode_t mode)
{
    const bool changes = (flags & (O_CREAT | O_TRUNC)) != 0 && (flags & O_TMPFILE) != O_TMPFILE;
    if (!changes) return (int)call(SYS_openat, dir, (long)path, flags, mode, 0);
    lock();
    const name before = look(dir, path);
    const int fd = (int)call(SYS_openat, dir, (long)path, flags, mode, 0);
    if (fd >= 0 && inode(fd)) {
        if (!before.file)
            note("create %ju %ju %s\n", (uintmax_t)inode(fd), (uintmax_t)before.dir, before.text);
        else if (flags & O_TRUNC)
            note("truncate %ju 0\n", (uintmax_t)inode(fd));
    }
    unlock();
    return fd;
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

#define OPEN(NAME)                                                                                 \
    int NAME(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        const mode_t mode = mode_of(flags, args);                                                  \
        va_end(args);                                                                              \
        return open_file(AT_FDCWD, path, flags, mode);                                             \
    }
#define OPENAT(NAME)                                                                               \
    int NAME(int dir, const char *path, int flags, ...)                                            \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        const mode_t mode = mode_of(flags, args);                                                  \
        va_end(args);                                                                              \
        return open_file(dir, path, flags, mode);                                                  \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

static void note_write(uint64_t file, uint64_t offset, const void *bytes, ssize_t size)
{
    if (size <= 0 || !file || record < 0) return;
    note("write %ju %ju %zd\n", (uintmax_t)file, (uintmax_t)offset, size);
    put(bytes, (size_t)size);
}

static ssize_t write_at(int fd, const void *bytes, size_t size, off_t offset)
{
    lock();
    const ssize_t n = call(SYS_pwrite64, fd, (long)bytes, (long)size, offset, 0);
    note_write(inode(fd), (uint64_t)offset, bytes, n);
    unlock();
    return n;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    return write_at(fd, bytes, size, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset)
{
    return write_at(fd, bytes, size, offset);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    if (!inode(fd)) return call(SYS_write, fd, (long)bytes, (long)size, 0, 0);
    lock();
    const ssize_t n = call(SYS_write, fd, (long)bytes, (long)size, 0, 0);
    note_write(inode(fd), n > 0 ? (uint64_t)(lseek(fd, 0, SEEK_CUR) - n) : 0, bytes, n);
    unlock();
    return n;
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
    ssize_t total = 0;
    for (int i = 0; i < n; i++) {
        const ssize_t got = write(fd, parts[i].iov_base, parts[i].iov_len);
        if (got < 0) return total ? total : got;
        total += got;
        if ((size_t)got < parts[i].iov_len) break;
    }
    return total;
}

static int resize(int fd, off_t size)
{
    lock();
    const int rc = (int)call(SYS_ftruncate, fd, size, 0, 0, 0);
    if (rc == 0) note("truncate %ju %ju\n", (uintmax_t)inode(fd), (uintmax_t)size);
    unlock();
    return rc;
}

int ftruncate(int fd, off_t size) { return resize(fd, size); }

int ftruncate64(int fd, off_t size) { return resize(fd, size); }

/* The disk is simulated: the real one has nothing to wait for. */
static int sync_file(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return -1;
    lock();
    note("sync %ju\n", (uintmax_t)info.st_ino);
    unlock();
    return 0;
}

int fsync(int fd) { return sync_file(fd); }

int fdatasync(int fd) { return sync_file(fd); }

/* --- Names -------------------------------------------------------------------------------------------- */

int mkdirat(int dir, const char *path, mode_t mode)
{
    lock();
    const int rc = (int)call(SYS_mkdirat, dir, (long)path, mode, 0, 0);
    if (rc == 0) {
        const int e = errno;
        const name at = look(dir, path);
        note("mkdir %ju %ju %s\n", (uintmax_t)at.file, (uintmax_t)at.dir, at.text);
        errno = e;
    }
    unlock();
    return rc;
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

static int change_name(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    lock();
    const name a = look(from_dir, from), b = look(to_dir, to);
    const int rc = (int)call(SYS_renameat2, from_dir, (long)from, to_dir, (long)to, flags);
    /* The directories and the files, then the two names in lines of their own. */
    if (rc == 0)
        note("%s %ju %ju %ju %ju\n%s\n%s\n", flags & RENAME_EXCHANGE ? "exchange" : "rename",
             (uintmax_t)a.file, (uintmax_t)a.dir, (uintmax_t)b.file, (uintmax_t)b.dir, a.text,
             b.text);
    unlock();
    return rc;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    return change_name(from_dir, from, to_dir, to, 0);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    return change_name(from_dir, from, to_dir, to, flags);
}

int rename(const char *from, const char *to)
{
    return change_name(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    lock();
    const int rc = (int)call(SYS_linkat, from_dir, (long)from, to_dir, (long)to, flags);
    if (rc == 0) {
        const name at = look(to_dir, to);
        note("link %ju %ju %s\n", (uintmax_t)at.file, (uintmax_t)at.dir, at.text);
    }
    unlock();
    return rc;
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int dir, const char *path, int flags)
{
    lock();
    const name at = look(dir, path);
    const int rc = (int)call(SYS_unlinkat, dir, (long)path, flags, 0, 0);
    if (rc == 0) note("unlink %ju %s\n", (uintmax_t)at.dir, at.text);
    unlock();
    return rc;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

long syscall(long number, ...)
{
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_renameat2)
        return change_name((int)a[0], (const char *)a[1], (int)a[2], (const char *)a[3],
                           (unsigned)a[4]);
    static long (*real)(long, ...);
    if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
