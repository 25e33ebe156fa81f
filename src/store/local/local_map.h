/* Maps files of the local store into memory.
 *
 * If another process truncates a mapped file, reading the mapping raises SIGBUS. No check of the size can prevent this. So a
 * signal handler is installed while files are mapped. The handler maps zeros in place of the missing part and records the fault.
 * It handles only faults in mappings of cb_map_open, and passes other faults to the previous handler. */
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
/* Installs the signal handler. Calls are counted: the handler stays installed until cb_map_end was called as often as
 * cb_map_begin had returned true. Returns false if the handler cannot be used: then nothing can be mapped, and cb_map_end must
 * not be called. */
bool cb_map_begin(void);
void cb_map_end(void);
/* Maps an object of exactly `size` bytes until cb_map_close. Returns NULL if the object cannot be mapped. The caller must then
 * read the object, which also reports any error.
 *
 * all   all bytes will be read, so all pages are loaded immediately; otherwise load pages with cb_map_bring
 * cut   is set to `name` if the file changes while it is mapped, at the latest in cb_map_close
 * name  number by which the caller recognises this mapping; not 0 */
void *cb_map_open(const cubed_store *s, const char *key, size_t size, bool all, atomic_int *cut,
                  int name);
/* Loads the pages of a part of a mapping that will be read. This is faster than a page fault for every few pages. */
void cb_map_bring(const void *data, size_t offset, size_t size);
void cb_map_close(void *data, size_t size);
/* Processor time spent on mapped or on copied bytes, to compare both methods. */
typedef struct cb_map_costs {
    atomic_uint_least64_t bytes, ns;
} cb_map_costs;

/* Returns true if the next bytes should be mapped instead of copied. Tries both methods on 8 MiB each first. Then returns true if
 * mapping used at most 0.42 of the processor time that copying used per byte, because reading mapped bytes costs further time. */
bool cb_map_pays(const cb_map_costs *mapped, const cb_map_costs *copied);

#endif
