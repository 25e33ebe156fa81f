/* Memory of this process according to the operating system, and the part used for code. */
#ifndef CB_MEM_PROCESS_H
#define CB_MEM_PROCESS_H

#include <stdatomic.h>

#include "cubed/run.h"

/* These functions return 0 if the system does not provide the number. */

/* Returns the peak resident memory. */
size_t cb_peak_rss(void);
/* Returns the resident memory. */
size_t cb_resident(void);
/* Returns the private memory, resident or not, which RLIMIT_DATA limits. */
size_t cb_private_memory(void);
/* Returns the resident memory by its kind. */
cubed_resident cb_resident_kinds(void);

/* Memory of this process for code: programs, libraries and their tables, without data. Thread-safe. */
typedef struct cb_code_memory {
    _Atomic uint64_t anonymous; /* counted bytes that are not backed by a file */
    /* If the process was measured before it had data: all resident bytes at that time, plus the bytes of later imports. 0: not
     * measured. */
    _Atomic uint64_t measured;
    /* Result of the last time that the process's mappings were read. Upper 32 bits: resident KiB of files. Lower 32 bits: the
     * part of these KiB that is code. 0: never read. */
    _Atomic uint64_t seen;
    atomic_bool drives; /* the process is the driver of runs, so it has data of its own */
} cb_code_memory;

/* Counts as code the memory that became resident since `before`. */
void cb_code_count(cb_code_memory *c, cubed_resident before);
/* Counts as code all resident memory of this process, which has no data yet. */
void cb_code_measured(cb_code_memory *c, uint64_t resident);
/* Returns the bytes used for code if they exceed `limit`, otherwise 0. Reading the process's mappings takes milliseconds. So they
 * are read only if the resident memory exceeds `limit` and the previous result is not sufficient to decide. */
uint64_t cb_code_above(cb_code_memory *c, uint64_t limit);

#endif
