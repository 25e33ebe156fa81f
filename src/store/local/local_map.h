/* Files of the local store, used where the system keeps them.
 *
 * A file that somebody cuts while it is mapped raises SIGBUS in who reads it: no look at its size rules that out. So while somebody maps there is a handler, which puts zeros where the file has ended and says so. It is for
 * faults in windows of this file alone, and passes all others on to the handler before it.
 */
#ifndef CB_STORE_LOCAL_MAP_H
#define CB_STORE_LOCAL_MAP_H

#include <stdatomic.h>

#include "store/core/store.h"

/* Most windows of a process, and most bytes in all of them: address space, not memory of its own. */
#define CB_MAP_WINDOWS 64
#define CB_MAP_BYTES   ((size_t)4 << 30)

/* Whether objects of the store are files that can be mapped. */
bool cb_store_has_files(const cubed_store *s);
/* From here on, until cb_map_end is called as often, the handler is there. False: it cannot be, nothing is mapped, and
 * cb_map_end is not called. */
bool cb_map_begin(void);
void cb_map_end(void);
/* The object's bytes, if it has that size, until cb_map_close. NULL: it is to be read, which also tells what is wrong with
 * it. *cut becomes `name` (not 0) when the file has changed meanwhile; that is known at the latest when it is closed.
 * `all`: all of them will be read, so the process's tables get all pages at once; else see cb_map_bring. */
void *cb_map_open(const cubed_store *s, const char *key, size_t size, bool all, atomic_int *cut,
                  int name);
/* Bytes of a window that will be read: their pages come at once, which takes less time than a fault for every few. */
void cb_map_bring(const void *data, size_t offset, size_t size);
void cb_map_close(void *data, size_t size);
/* What bringing bytes of windows took of processors' time, or copying them. */
typedef struct cb_map_costs {
    atomic_uint_least64_t bytes, ns;
} cb_map_costs;

/* Whether the next bytes are to be mapped: some are, then some are copied, and from then on what takes less. */
bool cb_map_pays(const cb_map_costs *mapped, const cb_map_costs *copied);

#endif
