/* Long-lived data blocks, such as chunks of intermediates in memory, which are returned to the operating system when freed,
 * and a budget that several threads share. */
#ifndef CB_MEM_PAGES_H
#define CB_MEM_PAGES_H

#include "cubed/base.h"

/* Creates an anonymous mapping, page-aligned and zeroed; NULL if out of memory. size > 0. Uses huge pages if the size and
 * the system allow, because one page fault then replaces 512. */
void *cb_pages_map(size_t size);
void cb_pages_unmap(void *p, size_t size);
/* Lets the system reclaim the pages of a mapping when it lacks memory. Contents are undefined until a page is written again. */
void cb_pages_rest(void *p, size_t size);
/* Returns `size` rounded up to whole pages, which is the memory of a mapping; SIZE_MAX on overflow. */
size_t cb_pages_round(size_t size);

/* A byte counter with a limit and a high-water mark. Thread-safe and lock-free. */
typedef struct cb_budget {
    size_t limit;
    _Atomic size_t used;
    _Atomic size_t high_water;
} cb_budget;

void cb_budget_init(cb_budget *b, size_t limit);
/* Takes `size` bytes of the budget: adds them to the bytes in use. Returns false, and changes nothing, if the bytes in use
 * would exceed the limit. */
bool cb_budget_take(cb_budget *b, size_t size);
void cb_budget_give(cb_budget *b, size_t size);

/* Returns the memory of this machine that the process may use: the minimum of physical memory, the cgroup's limit (v1 or v2) and
 * RLIMIT_AS. */
size_t cb_machine_memory(void);
/* Returns the number of processes in this cgroup that the system has killed for lack of memory, or 0 if unknown. */
uint64_t cb_oom_kills(void);
/* Excludes all memory of this process, and of processes that it starts, from core dumps (Linux with /proc mounted). */
void cb_pages_keep_from_cores(void);

#endif
