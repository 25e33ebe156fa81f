#define _GNU_SOURCE
#include "mem/pages.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/checked.h"

/* Size of a huge page on most machines. Machines with larger huge pages ignore the request. */
#define HUGE_PAGE ((size_t)2 << 20)

size_t cb_pages_round(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), r;
    if (cb_add_size(size, page - 1, &r)) return SIZE_MAX;
    return r & ~(page - 1);
}

void *cb_pages_map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    if (size >= HUGE_PAGE)
        (void)madvise(p, size, MADV_HUGEPAGE); /* kernels without huge pages ignore it */
    return p;
}

void cb_pages_unmap(void *p, size_t size)
{
    if (p) munmap(p, size);
}

void cb_pages_rest(void *p, size_t size)
{
    /* If madvise fails, the pages stay resident until they are unmapped. */
    (void)madvise(p, size, MADV_FREE);
}

void cb_budget_init(cb_budget *b, size_t limit)
{
    b->limit = limit;
    atomic_init(&b->used, 0);
    atomic_init(&b->high_water, 0);
}

bool cb_budget_take(cb_budget *b, size_t size)
{
    size_t used = atomic_load_explicit(&b->used, memory_order_relaxed), now;
    do {
        if (size > b->limit || used > b->limit - size) return false;
        now = used + size;
    } while (!atomic_compare_exchange_weak_explicit(&b->used, &used, now, memory_order_relaxed,
                                                    memory_order_relaxed));
    size_t high = atomic_load_explicit(&b->high_water, memory_order_relaxed);
    while (now > high &&
           !atomic_compare_exchange_weak_explicit(&b->high_water, &high, now, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
    return true;
}

void cb_budget_give(cb_budget *b, size_t size)
{
    atomic_fetch_sub_explicit(&b->used, size, memory_order_relaxed);
}

/* Reads a small file. Returns false if it cannot be read. */
static bool read_file(const char *path, char *out, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, out, cap - 1);
    close(fd);
    if (n < 0) return false;
    out[n] = 0;
    return true;
}

/* Reads a limit file, which contains a number or "max". */
static size_t read_limit(const char *path)
{
    char text[64], *end;
    if (!read_file(path, text, sizeof text)) return SIZE_MAX;
    unsigned long long v = strtoull(text, &end, 10);
    return end == text ? SIZE_MAX : (size_t)v;
}

/* Returns the path of the process's own cgroup: after ":memory:" in version 1, after "0::" in version 2. */
static char *own_cgroup(const char *controller, char *text, size_t cap)
{
    if (!read_file("/proc/self/cgroup", text, cap)) return NULL;
    char *own = strstr(text, controller);
    if (!own) return NULL;
    own += strlen(controller);
    own[strcspn(own, "\n")] = 0;
    return own;
}

/* Returns the minimum limit of the process's own cgroup and its parents. */
static size_t cgroup_limit(void)
{
    size_t least = read_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes"); /* version 1 */
    least = cb_min_size(least, read_limit("/sys/fs/cgroup/memory.max"));
    char text[4096], path[4096 + 64];
    char *own = own_cgroup("0::", text, sizeof text);
    if (!own) return least;
    for (char *slash = own + strlen(own); slash && slash != own; slash = strrchr(own, '/')) {
        *slash = 0;
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", own);
        least = cb_min_size(least, read_limit(path));
    }
    return least;
}

size_t cb_machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t least = pages > 0 && page > 0 ? cb_sat_mul((size_t)pages, (size_t)page) : SIZE_MAX;
    least = cb_min_size(least, cgroup_limit());
    struct rlimit as;
    if (getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY)
        least = cb_min_size(least, (size_t)as.rlim_cur);
    return least;
}

/* Reads the number after a word at the start of a line. Returns false if there is no such file or line. */
static bool read_count(const char *path, const char *word, uint64_t *out)
{
    char text[4096];
    if (!read_file(path, text, sizeof text)) return false;
    for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        if (strncmp(line, word, strlen(word)) != 0) continue;
        *out = strtoull(line + strlen(word), NULL, 10);
        return true;
    }
    return false;
}

uint64_t cb_oom_kills(void)
{
    static const struct {
        const char *controller, *root, *file;
    } versions[] = {{"0::", "/sys/fs/cgroup", "memory.events"},
                    {":memory:", "/sys/fs/cgroup/memory", "memory.oom_control"}};
    char text[4096], path[4096 + 64];
    uint64_t n = 0;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        const char *own = own_cgroup(versions[i].controller, text, sizeof text);
        if (!own) continue;
        snprintf(path, sizeof path, "%s%s/%s", versions[i].root, own, versions[i].file);
        if (read_count(path, "oom_kill ", &n)) return n;
        /* In a container, the path of the cgroup may be a path of the host. The container itself sees only the root of its own
         * cgroup. */
        snprintf(path, sizeof path, "%s/%s", versions[i].root, versions[i].file);
        if (read_count(path, "oom_kill ", &n)) return n;
    }
    return n;
}

void cb_pages_keep_from_cores(void)
{
    static const char headers[] =
        "0x10\n"; /* dump only the headers of programs and libraries, by which debuggers identify them */
    const int fd = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    const ssize_t ignored = write(fd, headers, sizeof headers - 1);
    (void)ignored;
    (void)close(fd);
}
