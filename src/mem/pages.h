/* Long-lived data blocks (chunks of intermediates kept in memory) that go back to the operating
 * system when they are freed, and a budget that several threads draw on. */
#ifndef CB_MEM_PAGES_H
#define CB_MEM_PAGES_H

#include "cubed/base.h"

/* Anonymous mapping, page-aligned, zeroed; NULL when there is none. size > 0. Of huge pages where they fit in, if the system
 * has them: one is cleared where 512 small ones would be, each at a fault of its own. */
void *cb_pages_map(size_t size);
void cb_pages_unmap(void *p, size_t size);
/* `size` rounded up to whole pages: what a mapping really takes. SIZE_MAX on overflow. */
size_t cb_pages_round(size_t size);

/* A counter of bytes with a limit and a high-water mark; thread-safe, lock-free. */
typedef struct cb_budget {
    size_t limit;
    _Atomic size_t used;
    _Atomic size_t high_water;
} cb_budget;

void cb_budget_init(cb_budget *b, size_t limit);
/* false when it would pass the limit; nothing is taken then. */
bool cb_budget_take(cb_budget *b, size_t size);
void cb_budget_give(cb_budget *b, size_t size);

/* Memory of this machine that the process may use: the least of physical memory, the cgroup's
 * limit (v1 or v2) and RLIMIT_AS. */
size_t cb_machine_memory(void);
/* How many processes of this one's cgroup the system has killed for lack of memory; 0 where it does not tell. */
uint64_t cb_oom_kills(void);
/* From now on core files of this process, and of those that it starts, have nothing of its memory (Linux, where /proc is
 * mounted). */
void cb_pages_keep_from_cores(void);

#endif
