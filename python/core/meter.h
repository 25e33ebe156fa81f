/* How much memory NumPy's arrays take that are made between begin and end, in one thread.
 *
 * NumPy lets a context have its own allocator of arrays' data (NEP 49). This one counts and leaves the rest to
 * the allocator that was there. Arrays that live on keep it alive. */
#ifndef CORE_METER_H
#define CORE_METER_H

#include "core.h"

typedef struct core_meter {
    PyObject *mine, *before; /* allocators, as NumPy's capsules; NULL if NumPy has none */
} core_meter;

/* Never fails: without NumPy's interface nothing is counted. The caller has the GIL. */
void core_meter_begin(core_meter *m);
/* The most bytes at a time. */
uint64_t core_meter_end(core_meter *m);

#endif
