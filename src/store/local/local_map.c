#define _GNU_SOURCE
#include "store/local/local_map.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mem/pages.h"
#include "store/local/local.h"

/* A mapping. `lo` is FREE, TAKEN while other fields change, or the start address. */
typedef struct window {
    _Atomic uintptr_t lo, hi;
    _Atomic(atomic_int *) cut;
    atomic_int name;
    /* Used only by the thread that mapped it: */
    int fd;
    struct stat info; /* info of the file when it was mapped */
} window;

enum { FREE, TAKEN };

/* check_layers: allow global: a signal handler belongs to the process, and can get its data only from global variables */
static struct {
    window windows[CB_MAP_WINDOWS];
    atomic_size_t bytes;
    atomic_bool changing; /* spin lock that protects the next three members */
    unsigned users;
    bool installed;
    struct sigaction before;
} map;

/* --- Signal handler ----------------------------------------------------------------------------------- */

/* Maps zeros from the page of `at` to the end of the mapping. mmap is only a system call, so a signal handler may call it. */
static bool replace_rest(const window *w, uintptr_t at)
{
    const uintptr_t page = at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    return mmap((void *)page, atomic_load(&w->hi) - page, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static void pass_on(int sig, siginfo_t *info, void *context)
{
    const struct sigaction *b = &map.before;
    if (b->sa_flags & SA_SIGINFO) {
        b->sa_sigaction(sig, info, context);
    } else if (b->sa_handler != SIG_DFL && b->sa_handler != SIG_IGN) {
        b->sa_handler(sig);
    } else if (info->si_code > 0 || b->sa_handler == SIG_DFL) {
        /* Default behaviour: a fault recurs immediately; a sent signal is raised again. */
        signal(sig, SIG_DFL);
        if (info->si_code <= 0) raise(sig);
    }
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    const int saved = errno;
    const uintptr_t at = (uintptr_t)info->si_addr;
    for (int i = 0; info->si_code > 0 && i < CB_MAP_WINDOWS; i++) {
        const window *w = &map.windows[i];
        const uintptr_t lo = atomic_load(&w->lo);
        if (lo <= TAKEN || at < lo || at >= atomic_load(&w->hi) || !replace_rest(w, at)) continue;
        atomic_store(atomic_load(&w->cut), atomic_load(&w->name));
        errno = saved;
        return;
    }
    pass_on(sig, info, context);
    errno = saved;
}

/* Takes the lock. Gives up after some attempts, because a forked child may inherit a lock whose owner does not exist there. */
static bool lock(void)
{
    for (int i = 0; i < 1000; i++) {
        if (!atomic_exchange(&map.changing, true)) return true;
        sched_yield();
    }
    return false;
}

static bool is_ours(void)
{
    struct sigaction now;
    return sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
           now.sa_sigaction == on_fault;
}

bool cb_map_begin(void)
{
    bool ok = true;
    if (!lock()) return false;
    if (!map.installed) {
        struct sigaction own = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
        own.sa_sigaction = on_fault;
        ok = sigemptyset(&own.sa_mask) == 0 && sigaction(SIGBUS, NULL, &map.before) == 0 &&
             sigaction(SIGBUS, &own, NULL) == 0;
        map.installed = ok;
    }
    /* If another handler was installed over ours, it may not pass faults on to ours. */
    ok = ok && is_ours();
    map.users += ok;
    atomic_store(&map.changing, false);
    return ok;
}

void cb_map_end(void)
{
    if (!lock()) return; /* the handler stays installed and passes signals on */
    /* If another handler was installed over ours, it may pass signals to ours, so ours stays. */
    if (--map.users == 0 && is_ours() && sigaction(SIGBUS, &map.before, NULL) == 0)
        map.installed = false;
    atomic_store(&map.changing, false);
}

/* --- Mappings ----------------------------------------------------------------------------------------- */

static window *take_window(size_t size)
{
    if (atomic_fetch_add(&map.bytes, size) + size <= CB_MAP_BYTES) {
        for (int i = 0; i < CB_MAP_WINDOWS; i++) {
            uintptr_t was = FREE;
            if (atomic_compare_exchange_strong(&map.windows[i].lo, &was, TAKEN))
                return &map.windows[i];
        }
    }
    atomic_fetch_sub(&map.bytes, size);
    return NULL;
}

static void give_window(window *w, size_t size)
{
    atomic_store(&w->lo, FREE);
    atomic_fetch_sub(&map.bytes, size);
}

/* Returns true if this thread may fault. A fault would kill a thread that blocks the signal. */
static bool may_fault(void)
{
    sigset_t mask;
    return pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0 && sigismember(&mask, SIGBUS) == 0;
}

void *cb_map_open(const cubed_store *s, const char *key, size_t size, bool all, atomic_int *cut,
                  int name)
{
    char path[PATH_MAX];
    const local_store *files = (const local_store *)s;
    void *data = MAP_FAILED;
    const size_t taken = cb_pages_round(size);
    if (!cb_store_has_files(s) || !may_fault() || cb_local_path(files, key, path, NULL) != CUBED_OK)
        return NULL;
    window *w = take_window(taken);
    if (!w) return NULL;
    int fd =
        openat(files->dir, cb_local_at(files, path), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &w->info) == 0 && S_ISREG(w->info.st_mode) &&
        (uint64_t)w->info.st_size == size)
        data = mmap(NULL, size, PROT_READ, MAP_SHARED | (all ? MAP_POPULATE : 0), fd, 0);
    if (data == MAP_FAILED) {
        if (fd >= 0) close(fd);
        give_window(w, taken);
        return NULL;
    }
    w->fd = fd;
    atomic_store(&w->hi, (uintptr_t)data + taken);
    atomic_store(&w->cut, cut);
    atomic_store(&w->name, name);
    atomic_store(&w->lo, (uintptr_t)data);
    return data;
}

void cb_map_bring(const void *data, size_t offset, size_t size)
{
    /* start of the page that contains `offset` */
    const size_t from = cb_pages_round(offset + 1) - cb_pages_round(1);
#ifdef MADV_POPULATE_READ
    /* Optional: if this fails or is not supported, pages are loaded by faults. */
    (void)madvise((char *)(uintptr_t)data + from, offset + size - from, MADV_POPULATE_READ);
#else
    (void)data, (void)from, (void)size;
#endif
}

/* The page cache decides whether mapping is faster than copying: pages in large folios are mapped many at a time, others one
 * by one. Times per KiB of chunks of 152 MB, measured with three page caches of two machines: 5, 40 and 74 ns for loading,
 * 0.4, 14 and 26 ns for unmapping, 114, 148 and 77 ns for copying. Reading in place costs a third of copying, so mapping was
 * faster with the first two. */
enum { TRIED = 8 << 20 };
static const double most = 0.42;

bool cb_map_pays(const cb_map_costs *mapped, const cb_map_costs *copied)
{
    const uint64_t bytes = atomic_load(&mapped->bytes), others = atomic_load(&copied->bytes);
    if (bytes < TRIED || others < TRIED) return bytes < TRIED;
    return (double)atomic_load(&mapped->ns) / (double)bytes <=
           most * (double)atomic_load(&copied->ns) / (double)others;
}

/* Returns false if the mapped file was truncated or changed after it was opened. Reads alone do not detect every truncation:
 * if a file ends within a page, the missing bytes of the page read as zeros, without a signal. */
static bool is_as_before(const window *w)
{
    struct stat now;
    return fstat(w->fd, &now) == 0 && now.st_size == w->info.st_size &&
           now.st_mtim.tv_sec == w->info.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == w->info.st_mtim.tv_nsec;
}

void cb_map_close(void *data, size_t size)
{
    for (int i = 0; i < CB_MAP_WINDOWS; i++) {
        window *w = &map.windows[i];
        uintptr_t is = (uintptr_t)data;
        if (!atomic_compare_exchange_strong(&w->lo, &is, TAKEN)) continue;
        if (!is_as_before(w)) atomic_store(atomic_load(&w->cut), atomic_load(&w->name));
        munmap(data, size);
        close(w->fd);
        give_window(w, cb_pages_round(size));
        return;
    }
}
