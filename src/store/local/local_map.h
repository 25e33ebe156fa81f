/* Maps files of the local store into memory.
 *
 * If another process truncates a mapped file, reading it raises SIGBUS, and no check of the size can prevent that. So a signal
 * handler is installed while files are mapped. It fills the missing part with zeros and reports it. It handles only faults in
 * mappings of this file, and passes other faults to the previous handler. */
#ifndef CB_STORE_LOCAL_MAP_H
#define CB_STORE_LOCAL_MAP_H

#include <stdatomic.h>

#include "store/core/store.h"

/* Maximum number of mappings in a process, and of their bytes in total. This is address space, not memory of the
 * process. */
#define CB_MAP_WINDOWS 64
#define CB_MAP_BYTES   ((size_t)4 << 30)

/* Returns true if the store's objects are files that can be mapped. */
bool cb_store_has_files(const cubed_store *s);
/* Installs the handler; it stays until cb_map_end was called as often as cb_map_begin. Returns false if installation is
 * impossible: then nothing can be mapped, and cb_map_end must not be called. */
bool cb_map_begin(void);
void cb_map_end(void);
/* Maps an object of exactly `size` bytes until cb_map_close. Returns NULL if the object cannot be mapped. The caller must then
 * read the object, and reading it reports any error.
 *
 * Sets *cut to `name` (not 0) if the file changes while it is mapped, at the latest in cb_map_close. `all`: all bytes will be
 * read, so all pages are loaded at once; otherwise use cb_map_bring. */
void *cb_map_open(const cubed_store *s, const char *key, size_t size, bool all, atomic_int *cut,
                  int name);
/* Loads pages that will be read, which is faster than a page fault for every few pages. */
void cb_map_bring(const void *data, size_t offset, size_t size);
void cb_map_close(void *data, size_t size);
/* Processor time spent on mapped or on copied bytes, to compare both methods. */
typedef struct cb_map_costs {
    atomic_uint_least64_t bytes, ns;
} cb_map_costs;

/* Returns whether to map the next bytes. Tries both methods on some bytes, then chooses the cheaper method. */
bool cb_map_pays(const cb_map_costs *mapped, const cb_map_costs *copied);

#endif
